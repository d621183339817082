"""The whole report as one file that needs nothing else."""

from __future__ import annotations

import importlib.resources
from typing import TYPE_CHECKING

from reldep.data.checks import check_level
from reldep.report.checks import bandwidths, cautions, influential_rows
from reldep.report.markup import Markup, element, joined
from reldep.report.method import computed, references, versions
from reldep.report.opening import opening, picture, table

if TYPE_CHECKING:
    from reldep.results.base import Answer
    from reldep.results.sensitivity import Sensitivity

# Nothing is loaded and nothing runs, whatever a name in the data may contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(
    result: Answer,
    *,
    alpha: float = 0.05,
    sensitivity: Sensitivity | None = None,
    command: str | None = None,
) -> str:
    """Write a report about a result as an HTML document.

    Parameters
    ----------
    result : Comparison, Contrast, Dependence or Ranking
    alpha : float, default 0.05
        The level of the answer.
    sensitivity : Sensitivity, optional
        Adds a section about the bandwidth.
    command : str, optional
        What to type to repeat the result; by default the Python call.

    Returns
    -------
    str
    """
    check_level("alpha", alpha)
    body = element(
        "main",
        opening(result, alpha),
        picture(result),
        table(result),
        cautions(result, sensitivity),
        bandwidths(sensitivity, alpha),
        influential_rows(result),
        computed(result, command),
        references(result),
    )
    return "<!DOCTYPE html>\n" + element(
        "html", _head(result), element("body", body, _foot()), lang="en"
    )


def _head(result: Answer) -> Markup:
    css = importlib.resources.files("reldep.report").joinpath("style.css").read_text("utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", result.question()),
        element("style", Markup(css)),
    )


def _foot() -> Markup:
    made = f"Made with reldep {versions()['reldep']}."
    return joined("\n", element("footer", made))
