"""How an answer was computed, so that it can be understood and repeated; what to read."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from reldep.report.markup import Markup, element, facts, joined, section
from reldep.report.tabular import html_table
from reldep.words import number

if TYPE_CHECKING:
    from reldep.results.answer import Answer

MEASURES_IN_WORDS = {
    "hsic": (
        "HSIC (the Hilbert-Schmidt independence criterion) is 0 for independent variables and "
        "grows with any kind of dependence, straight or curved. It has the scale of its kernels, "
        "so compare it only between targets measured alike."
    ),
    "cka": (
        "CKA (centred kernel alignment) is HSIC on a scale from 0 (independent) to 1 (the same, as "
        "far as the kernels can tell), so that targets of different kinds can be compared."
    ),
    "dcor": (
        "The squared distance correlation is 0 for independent variables and 1 for a straight "
        "line; targets of different kinds can be compared."
    ),
}

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


def computed(answer: Answer, command: str | None) -> Markup:
    """Write the choices, kernels, versions and the call that repeats the answer."""
    chosen = {name: value for name, value in answer.settings().items() if value}
    return section(
        "How it was computed",
        facts({**chosen, **versions()}),
        _kernels(answer),
        _repetition(command or answer.provenance.call),
        name="computed",
    )


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that compute.

    They come from the packages themselves: a source tree that is not installed has no metadata.
    """
    import numpy
    import scipy

    import reldep

    return {
        "Python": platform.python_version(),
        "reldep": reldep.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }


def _kernels(answer: Answer) -> Markup:
    """List the fitted kernel of every variable with its parameters."""
    fitted = list(answer.provenance.kernels.items())
    columns = {
        "variable": [name for name, _ in fitted[:MOST_KERNELS]],
        "kernel": [kernel["kernel"] for _, kernel in fitted[:MOST_KERNELS]],
        "parameters": [_parameters(kernel) for _, kernel in fitted[:MOST_KERNELS]],
    }
    more = len(fitted) - MOST_KERNELS
    left_out = f" The first {MOST_KERNELS} of {len(fitted)} variables." if more > 0 else ""
    headings = {name: name for name in columns}
    return html_table(columns, headings, f"The kernel of every variable, as fitted.{left_out}")


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


def references(answer: Answer) -> Markup:
    """List what to read and to cite: the answer names its sources by key or gives them whole."""
    sources: tuple[str | tuple[str, str], ...] = answer.references()
    named = [REFERENCES[source] if isinstance(source, str) else source for source in sources]
    items = [element("li", text, " ", element("a", url, href=url)) for text, url in named]
    return section("References", element("ul", *items), name="references")
