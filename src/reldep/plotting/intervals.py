"""Intervals side by side: a forest of dependences, a ranking of targets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Sequence

# More rows than this get smaller dots and letters.
MANY = 30


@readable
def forest(
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    ax: Any = None,
    *,
    apart: int = 0,
    xlabel: str = "CKA with 95% intervals",
) -> Any:
    """Draw estimates as points with their intervals, one row each.

    Parameters
    ----------
    names : sequence of str
    values, low, high : sequence of float
        Estimates with the limits of their intervals; an infinite limit reaches the edge.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    apart : int, default 0
        How many rows at the bottom stand apart, such as a difference of the others.
    xlabel : str

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.forest(["x ~ y", "x ~ z"], [0.6, 0.4], [0.5, 0.2], [0.7, 0.6])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['x ~ y', 'x ~ z']
    """
    ax = axes(ax, size=_size(len(names)))
    looks = [(BLUE, "o")] * (len(names) - apart) + [(ORANGE, "D")] * apart
    _intervals(ax, names, values, low, high, looks)
    if apart:
        ax.axhline(apart - 0.5, color=GREY, linewidth=0.6)
    ax.set_xlabel(xlabel)
    return ax


@readable
def ranking(
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    ranks: Sequence[tuple[int, int]],
    may_be_best: Sequence[bool],
    ax: Any = None,
    *,
    xlabel: str = "CKA with simultaneous 95% intervals",
    hidden: int = 0,
) -> Any:
    """Draw targets from the strongest to the weakest, with intervals and ranks.

    Targets that may be the strongest are diamonds in another colour; the range of ranks that a
    target may have stands at the right.

    Parameters
    ----------
    names : sequence of str
        The targets, the strongest first.
    values, low, high : sequence of float
        Estimates with the limits of their intervals.
    ranks : sequence of pair of int
        The first and the last rank that each target may have.
    may_be_best : sequence of bool
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    xlabel : str
    hidden : int, default 0
        How many weaker targets are not among these.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, size=_size(len(names) + 1))
    looks = [(ORANGE, "D") if best else (BLUE, "o") for best in may_be_best]
    _intervals(ax, names, values, low, high, looks)
    _write_ranks(ax, ranks)
    ax.set_xlabel(label(xlabel, 90))
    ax.plot([], [], "D", color=ORANGE, label="may be the strongest")
    if not all(may_be_best):
        ax.plot([], [], "o", color=BLUE, label="is not the strongest")
    if hidden:
        ax.plot([], [], " ", label=f"{hidden} weaker not drawn")
    legend_above(ax)
    return ax


def _size(rows: int) -> tuple[float, float]:
    return 7.0, 1.1 + row_height(rows) * rows


def _intervals(
    ax: Any,
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    looks: Sequence[tuple[str, str]],
) -> None:
    """Draw one interval per row, from the top, each with its colour and marker."""
    small = 5 if len(values) <= MANY else 3.5
    ends = [one for one in (*low, *high, *values, 0.0) if math.isfinite(one)]
    room = 0.05 * (max(ends) - min(ends))
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle=":")
    for i, (colour, marker) in enumerate(looks):
        height = len(values) - 1 - i
        limits = max(low[i], min(ends) - room), min(high[i], max(ends) + room)
        ax.plot(limits, (height, height), color=colour, linewidth=small / 2.5)
        ax.plot(values[i], height, marker, color=colour, markersize=small)
    ax.set_ylim(-0.6, len(values) - 0.4)
    ax.set_yticks(range(len(names) - 1, -1, -1), labels(list(names), 40))
    if len(values) > MANY:
        ax.tick_params(axis="y", labelsize="small")
    without_frame(ax)


def _write_ranks(ax: Any, ranks: Sequence[tuple[int, int]]) -> None:
    """Draw the ranks that each target may have at the right edge."""
    offset = {"textcoords": "offset points"}
    small = "small" if len(ranks) <= MANY else "x-small"
    for i, (first, last) in enumerate(ranks):
        text = f"{first}–{last}" if first != last else f"{first}"
        place = {"xycoords": ("axes fraction", "data"), "xytext": (6, 0), "va": "center"}
        ax.annotate(text, (1.0, len(ranks) - 1 - i), fontsize=small, **place, **offset)
    place = {"xycoords": "axes fraction", "xytext": (6, 4), "color": GREY}
    ax.annotate("rank", (1.0, 1.0), fontsize="small", **place, **offset)
