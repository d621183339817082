"""The first page of a report: the question, the answer, the picture and the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.report.cells import html_table
from reldep.report.figures import figure
from reldep.report.markup import Markup, element, facts, joined, section
from reldep.results import Comparison, Contrast, Ranking, Sensitivity
from reldep.words import (
    MEASURE_NAMES,
    interval_text,
    listed,
    number,
    percent,
    pvalue_text,
)

if TYPE_CHECKING:
    from reldep.results.base import Answer

MEASURES_IN_WORDS = {
    "hsic": (
        "HSIC (the Hilbert-Schmidt independence criterion) is 0 for independent variables and "
        "grows with any kind of dependence, straight or curved. It has the scale of its kernels, "
        "so compare it between targets measured alike."
    ),
    "cka": (
        "CKA (centred kernel alignment) is HSIC on a scale from 0, independent, to 1, the same up "
        "to what the kernels see; targets of different kinds can be compared."
    ),
    "dcor": (
        "The squared distance correlation is 0 for independent variables and 1 for a straight "
        "line; targets of different kinds can be compared."
    ),
}


def opening(result: Answer, alpha: float) -> Markup:
    """Write the question as the title and the answer below it."""
    return joined(
        element("h1", result.question()),
        element("p", result.sentence(alpha), class_="answer"),
        facts({**_key_numbers(result, alpha), "Observations": f"{result.n_observations:,}"}),
    )


def _key_numbers(result: Any, alpha: float) -> dict[str, str]:
    measure = MEASURE_NAMES[result.measure]
    if isinstance(result, Ranking):
        level = percent(result.confidence_level)
        return {
            f"May be the strongest ({level})": listed(result.best),
            "Targets": f"{len(result.targets):,}",
            "Measure": measure,
        }
    if isinstance(result, Sensitivity):
        low, high = float(result.statistics.min()), float(result.statistics.max())
        return {"z over all bandwidths": interval_text(low, high), "Measure": measure}
    low, high = result.confidence_interval(1 - alpha)
    is_z = isinstance(result, Contrast)
    return {
        f"{'Difference' if isinstance(result, Comparison) else 'Estimate'} ({measure})": number(
            result.estimate
        ),
        f"{percent(1 - alpha)} interval": interval_text(low, high),
        "z" if is_z else "Statistic": f"{result.statistic:.2f}",
        f"p-value ({result.alternative})" if is_z else "p-value of independence": pvalue_text(
            result.pvalue
        ).removeprefix("p = "),
    }


def picture(result: Answer) -> Markup:
    """Draw the result's natural picture."""
    from reldep import plotting

    alt, caption = _in_words(result)
    drawn = [figure(result.plot, alt=alt, caption=caption)]
    if isinstance(result, Ranking):
        drawn.append(
            figure(
                lambda canvas: plotting.pairwise(result, canvas),
                alt=f"Matrix of the differences between all {len(result.targets)} targets.",
                caption=(
                    "Which targets differ: each cell compares the stronger target, its row, with "
                    "the weaker, its column. Coloured cells differ beyond chance, all pairs "
                    "considered at once."
                ),
            )
        )
    return section("Picture", *drawn, name="picture")


def _in_words(result: Any) -> tuple[str, str]:
    """Say what the picture shows: once for those who do not see it, once as a caption."""
    measure = MEASURE_NAMES[result.measure]
    if isinstance(result, Comparison):
        first, second = (number(float(value)) for value in result.estimates)
        return (
            f"Ellipse of two standard deviations around the two dependences: {measure} {first} "
            f"with {result.first}, {second} with {result.second}; the diagonal means equality.",
            "Both dependences with the ellipse of two standard deviations. Below the diagonal "
            f"{result.source} depends more on {result.first}, above it more on {result.second}; "
            "an ellipse clear of the diagonal is a difference beyond chance.",
        )
    if isinstance(result, Ranking):
        return (
            f"Dependence of {result.source} on each target with its interval, the strongest on "
            f"top; possibly the strongest: {listed(result.best)}.",
            "Targets from the strongest to the weakest. Intervals and the ranks at the right hold "
            f"for all targets at once at {percent(result.confidence_level)}; diamonds may be the "
            "strongest.",
        )
    if isinstance(result, Sensitivity):
        return sensitivity_in_words(result)
    return (
        f"Every dependence with its 95 % interval; the estimate is {number(result.estimate)}.",
        "Every dependence with its 95 % interval.",
    )


def sensitivity_in_words(result: Sensitivity) -> tuple[str, str]:
    """Say what the picture of a sensitivity curve shows, and how to read it."""
    low, high = (number(float(z)) for z in (result.statistics.min(), result.statistics.max()))
    return (
        f"Curve of z over multiples of the bandwidths: from {low} to {high}.",
        "z over multiples of the bandwidths used; in the grey band the difference is not beyond "
        "chance. The bandwidth sets the scale at which dependence is looked for, so a change of "
        "sign means that the question has different answers at different scales.",
    )


def table(result: Answer) -> Markup:
    """Write the table of the result and what its measure means."""
    level = percent(result.confidence_level if isinstance(result, Ranking) else 0.95)
    every = " that hold for all targets at once" if isinstance(result, Ranking) else ""
    caption = f"Estimates with standard errors and {level} intervals{every}."
    return section(
        "Table",
        html_table(result.table(), caption),
        element("p", MEASURES_IN_WORDS[result.measure]),
        name="table",
    )


def fragment(result: Answer) -> Markup:
    """Write the answer and the table only, as a notebook shows it."""
    cautions = [
        element("p", element("strong", "Caution: "), caution) for caution in result.warnings
    ]
    caption = f"{result.n_observations} observations; variance: {result.variance}."
    return element(
        "div",
        element("p", element("strong", result.sentence())),
        html_table(result.table(), caption, most=30),
        *cautions,
    )


__all__ = ["fragment", "opening", "picture", "table"]
