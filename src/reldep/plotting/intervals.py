"""Intervals side by side: a forest of dependences, a ranking of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.exceptions import InputError
from reldep.plotting.style import (
    BLUE,
    GREY,
    ORANGE,
    axes,
    label,
    labels,
    legend_above,
    readable,
    row_height,
    without_frame,
)
from reldep.words import MEASURE_NAMES, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.results.answer import Answer
    from reldep.results.ranking import Ranking


# What tables call their estimates, where that is not the name of the measure.
ESTIMATES = ("estimate", "difference")


@readable
def forest(result: Answer, ax: Any = None) -> Any:
    """Draw every dependence of an answer as a point with its interval.

    The difference or the contrast, where the answer has one, stands apart at the bottom. The
    intervals of a ranking hold for all targets at once, at its own level; others are 95% each.

    Parameters
    ----------
    result : Answer
        Its table names a dependence in the first column and has the columns ``low`` and
        ``high`` beside the estimate.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> ax = reldep.plotting.forest(reldep.compare(x, x**2, np.sin(3 * x)))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['source ~ first', 'source ~ second', 'difference']
    """
    table = result.table()
    first, *others = table
    source = getattr(result, "source", None)
    names = [
        str(name) if first != "target" or source is None else f"{source} ~ {name}"
        for name in table[first]
    ]
    values = table[next(name for name in (result.measure, *ESTIMATES) if name in others)]
    ax = axes(ax, size=_tall(len(names)))
    # What has no estimate of its own among the dependences is made of them.
    apart = len(names) - len(getattr(result, "estimates", names))
    looks = [(BLUE, "o")] * (len(names) - apart) + [(ORANGE, "D")] * apart
    _intervals(ax, values, table["low"], table["high"], looks)
    if apart:
        ax.axhline(apart - 0.5, color=GREY, linewidth=0.6)
    ax.set_yticks(_heights(len(names)), labels(names, 40))
    ax.set_xlabel(f"{MEASURE_NAMES[result.measure]} with {_kind_of_interval(result)}")
    return ax


def _kind_of_interval(result: Any) -> str:
    """Name the intervals; an answer that has a level of its own made them to hold together."""
    level = getattr(result, "confidence_level", None)
    return "95% interval" if level is None else f"simultaneous {percent(level)} intervals"


@readable
def ranking(result: Ranking, ax: Any = None, *, top: int = 60) -> Any:
    """Draw the targets from the strongest to the weakest, with intervals and ranks.

    Targets that may be the strongest are diamonds in another colour; beside each target stands
    the range of ranks it may have. Intervals and ranks hold for all targets at once.

    Parameters
    ----------
    result : Ranking
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    top : int, default 60
        The most targets drawn, the strongest first.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if top < 1:
        raise InputError(f"`top={top!r}` draws no target; draw at least one.")
    table = {name: column[:top] for name, column in result.table().items()}
    names, best = table["target"], table["may_be_best"]
    ax = axes(ax, size=_tall(len(names) + 1))
    looks = [(ORANGE, "D") if may_be_best else (BLUE, "o") for may_be_best in best]
    _intervals(ax, table["estimate"], table["low"], table["high"], looks)
    ax.set_yticks(_heights(len(names)), labels(names, 40))
    _write_ranks(ax, table["rank_low"], table["rank_high"])
    level = percent(result.confidence_level)
    measure = MEASURE_NAMES[result.measure]
    ax.set_xlabel(f"{measure} with {label(result.source)}, simultaneous {level} intervals")
    _explain(ax, all(best), len(result.targets) - len(names))
    return ax


def _tall(rows: int) -> tuple[float, float]:
    return 7.0, 1.1 + row_height(rows) * rows


def _heights(rows: int) -> list[int]:
    """Give the height of every row, the first on top."""
    return list(range(rows - 1, -1, -1))


def _intervals(
    ax: Any,
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    looks: Sequence[tuple[str, str]],
) -> None:
    """Draw one interval a row, from the top, each with its colour and marker."""
    heights = _heights(len(values))
    small = 5 if len(values) <= 30 else 3.5
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle=":")
    for i, (height, (colour, marker)) in enumerate(zip(heights, looks, strict=True)):
        ax.plot((low[i], high[i]), (height, height), color=colour, linewidth=small / 2.5)
        ax.plot(values[i], height, marker, color=colour, markersize=small)
    ax.set_ylim(-0.6, len(values) - 0.4)
    if len(values) > 30:
        ax.tick_params(axis="y", labelsize="small")
    without_frame(ax)


def _write_ranks(ax: Any, low: Sequence[int], high: Sequence[int]) -> None:
    """Write the ranks each target may have at the right edge."""
    style = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    small = "small" if len(low) <= 30 else "x-small"
    heights = _heights(len(low))
    for height, first, last in zip(heights, low, high, strict=True):
        text = f"{first}–{last}" if first != last else f"{first}"
        ax.annotate(text, (1.0, height), xytext=(6, 0), va="center", fontsize=small, **style)
    ax.annotate(
        "rank",
        (1.0, 1.0),
        xycoords="axes fraction",
        xytext=(6, 4),
        textcoords="offset points",
        color=GREY,
        fontsize="small",
    )


def _explain(ax: Any, all_may_be_best: bool, hidden: int) -> None:
    ax.plot([], [], "D", color=ORANGE, label="may be the strongest")
    if not all_may_be_best:
        ax.plot([], [], "o", color=BLUE, label="is not the strongest")
    if hidden:
        ax.plot([], [], " ", label=f"{hidden} weaker not drawn")
    legend_above(ax)
