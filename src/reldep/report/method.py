"""How a result was computed, so that it can be understood and repeated; what to read."""

from __future__ import annotations

import importlib
import platform
from typing import TYPE_CHECKING, Any

from reldep.report.cells import html_table
from reldep.report.markup import Markup, element, facts, joined, section
from reldep.results import Ranking
from reldep.words import MEASURE_NAMES, number

if TYPE_CHECKING:
    from reldep.results.base import Answer

PACKAGES = ("reldep", "numpy", "scipy")

# Most variables are a ranking's targets; beyond this the kernels are counted, not listed.
MOST_KERNELS = 40

REFERENCES = {
    "test": (
        "Bounliphone, W., Gretton, A., Tenenhaus, A., Blaschko, M. (2015). A low variance "
        "consistent test of relative dependency. ICML, PMLR 37, 20–29.",
        "https://proceedings.mlr.press/v37/bounliphone15.html",
    ),
    "hsic": (
        "Song, L., Smola, A., Gretton, A., Bedo, J., Borgwardt, K. (2012). Feature selection via "
        "dependence maximization. Journal of Machine Learning Research 13, 1393–1434. (The "
        "unbiased estimate of HSIC.)",
        "https://jmlr.org/papers/v13/song12a.html",
    ),
    "cka": (
        "Kornblith, S., Norouzi, M., Lee, H., Hinton, G. (2019). Similarity of neural network "
        "representations revisited. ICML, PMLR 97, 3519–3529.",
        "https://proceedings.mlr.press/v97/kornblith19a.html",
    ),
    "dcor": (
        "Székely, G. J., Rizzo, M. L. (2013). The distance correlation t-test of independence in "
        "high dimension. Journal of Multivariate Analysis 117, 193–213.",
        "https://doi.org/10.1016/j.jmva.2013.02.012",
    ),
    "ranking": (
        "Mogstad, M., Romano, J. P., Shaikh, A. M., Wilhelm, D. (2024). Inference for ranks with "
        "applications to mobility across neighbourhoods and academic achievement across "
        "countries. Review of Economic Studies 91, 476–518.",
        "https://doi.org/10.1093/restud/rdad006",
    ),
}


def computed(result: Answer, command: str | None) -> Markup:
    """Write kernels, engine, versions and the call that repeats the result."""
    return section(
        "How it was computed",
        facts({**_settings(result), **versions()}),
        _kernels(result),
        _repetition(command or result.provenance.call),
        name="computed",
    )


def _settings(result: Any) -> dict[str, str]:
    provenance = result.provenance
    dropped = f" ({provenance.n_dropped:,} incomplete dropped)" if provenance.n_dropped else ""
    chosen = {
        "Measure": MEASURE_NAMES[result.measure],
        "Method": getattr(result, "method", None),
        "Alternative": getattr(result, "alternative", None),
        "Test of independence": getattr(result, "test", None),
        "Adjustment of p-values": getattr(result, "adjust", None),
        "Variance": result.variance,
        "Observations": f"{result.n_observations:,}{dropped}",
        "Engine": provenance.engine,
        "Random seed": provenance.seed,
    }
    return {name: str(value) for name, value in chosen.items() if value not in (None, "")}


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that compute.

    The modules say them; the record of installed packages has none for a source tree.
    """
    found = {"Python": platform.python_version()}
    return found | {name: importlib.import_module(name).__version__ for name in PACKAGES}


def _kernels(result: Answer) -> Markup:
    """List the fitted kernel of every variable with its parameters."""
    fitted = list(result.provenance.kernels.items())
    columns = {
        "variable": [name for name, _ in fitted[:MOST_KERNELS]],
        "kernel": [kernel["kernel"] for _, kernel in fitted[:MOST_KERNELS]],
        "parameters": [_parameters(kernel) for _, kernel in fitted[:MOST_KERNELS]],
    }
    more = len(fitted) - MOST_KERNELS
    left_out = f" The first {MOST_KERNELS} of {len(fitted)} variables." if more > 0 else ""
    return html_table(columns, f"The kernel of every variable, as fitted.{left_out}")


def _parameters(kernel: Any) -> str:
    written = [
        f"{name} = {number(value, 6) if isinstance(value, float) else value}"
        for name, value in kernel.items()
        # Yes or no says something about the kernel's values, not about the fit.
        if name != "kernel" and not isinstance(value, bool)
    ]
    return ", ".join(written) or "none"


def _repetition(command: str) -> Markup:
    if not command:
        return Markup()
    return joined(
        element("p", "To repeat it:"), element("pre", element("code", command), tabindex="0")
    )


def references(result: Answer) -> Markup:
    """List what to read and to cite."""
    wanted = ["test", "hsic"]
    wanted += [result.measure] if result.measure != "hsic" else []
    wanted += ["ranking"] if isinstance(result, Ranking) else []
    items = [
        element("li", text, " ", element("a", url, href=url))
        for text, url in (REFERENCES[name] for name in wanted)
    ]
    return section("References", element("ul", *items), name="references")
