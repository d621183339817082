"""What could change the answer: cautions, the bandwidth, single rows."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from reldep.data.checks import MINIMUM_OBSERVATIONS
from reldep.report.cells import html_table
from reldep.report.figures import figure
from reldep.report.markup import Markup, element, section
from reldep.report.opening import sensitivity_in_words
from reldep.results.base import Answer, Result
from reldep.words import number, pvalue_text
from reldep.stats.diagnostics import most_influential, variance_shares

if TYPE_CHECKING:
    from reldep.exceptions import ReldepWarning
    from reldep.results.sensitivity import Sensitivity

# How many of the most influential rows are shown, and left out to see what remains.
TOP = 5


def cautions(result: Answer, sensitivity: Sensitivity | None) -> Markup:
    """Write every caution with what its kind means."""
    given = list(result.warnings)
    if sensitivity is not None:
        known = {str(caution) for caution in given}
        given += [caution for caution in sensitivity.warnings if str(caution) not in known]
    if not given:
        return section("Cautions", element("p", "None: no check found a problem."), name="cautions")
    return section("Cautions", *map(_caution, given), name="cautions")


def _caution(caution: ReldepWarning) -> Markup:
    kind = type(caution)
    # The first line of the class's documentation is the meaning of the kind.
    meaning = (inspect.getdoc(kind) or "").split("\n")[0].replace("``", "")
    title = _spaced(kind.__name__.removesuffix("Warning"))
    return element(
        "div",
        element("strong", f"{title}: "),
        caution,
        element("p", f"What it means: {meaning}") if meaning else "",
        class_="caution",
    )


def _spaced(name: str) -> str:
    """Write a class name as words: SmallSample as "Small sample"."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
    return words.capitalize()


def bandwidths(sensitivity: Sensitivity | None, alpha: float) -> Markup:
    """Show the answer over a range of bandwidths, where that was computed."""
    if sensitivity is None:
        return Markup()
    alt, caption = sensitivity_in_words(sensitivity)
    return section(
        "Does the answer depend on the bandwidth?",
        element("p", sensitivity.sentence(alpha)),
        figure(sensitivity.plot, alt=alt, caption=caption),
        html_table(sensitivity.table(), "The comparison at every multiple of the bandwidths."),
        name="bandwidths",
    )


def influential_rows(result: Any) -> Markup:
    """Show which observations drive one estimate; a ranking has many, and no such section."""
    if not isinstance(result, Result):
        return Markup()
    from reldep import plotting

    psi = result.influence_values()
    chosen = most_influential(psi, TOP)
    columns = {
        "row": [str(row) for row in result.provenance.rows[chosen]],
        "influence": psi[chosen].tolist(),
        "share_of_variance": [f"{share:.1%}" for share in variance_shares(psi)[chosen]],
    }
    return section(
        "Most influential rows",
        html_table(columns, f"The {len(chosen)} observations with the largest influence."),
        _what_remains(result),
        figure(
            lambda canvas: plotting.influence(result, canvas, top=TOP),
            alt=(
                f"Influence of each of {result.n_observations} observations on the estimate; the "
                f"largest belong to rows {', '.join(columns['row'])}."
            ),
            caption=(
                "What each observation adds to the estimate. Rows count from 0 in the input. A few "
                "dots far from all others carry the answer: check them."
            ),
        ),
        name="influential",
    )


def _what_remains(result: Result) -> Markup:
    """Say what is left of the estimate without the most influential rows."""
    left_out = min(TOP, result.n_observations - MINIMUM_OBSERVATIONS)
    if left_out < 1:
        return Markup()
    rest = result.without_top(left_out)
    return element(
        "p",
        f"Without the {left_out} most influential rows the estimate would be about "
        f"{number(rest.estimate)} in place of {number(result.estimate)} (z = {rest.statistic:.2f}, "
        f"{pvalue_text(rest.pvalue)}).",
    )
