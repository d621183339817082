"""A forest plot: every dependence of a result with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.plotting.style import BLUE, GREY, MEASURE_LABELS, axes, without_frame

if TYPE_CHECKING:
    from reldep.results.base import Result


def forest(result: Result, ax: Any = None) -> Any:
    """Draw every dependence of a result as a point with its 95 % interval.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = result.table()
    labels = table["dependence"]
    ax = axes(ax, size=(6.0, 1.2 + 0.4 * len(labels)))
    heights = range(len(labels) - 1, -1, -1)
    ax.hlines(heights, table["low_95"], table["high_95"], color=BLUE, linewidth=2)
    ax.plot(table[result.measure], heights, "o", color=BLUE)
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle="--")
    ax.set_yticks(list(heights), labels)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.set_xlabel(f"{MEASURE_LABELS[result.measure]} with 95 % interval")
    without_frame(ax)
    return ax
