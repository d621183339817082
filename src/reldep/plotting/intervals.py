"""Intervals: a forest, a ranking of targets, dependences on a ruler, two against each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reldep.data.variables import FloatArray
from reldep.plotting import style
from reldep.stats.correlation import as_correlation
from reldep.words import MEASURE_NAMES, percent

# More rows than this get smaller dots and letters.
MANY = 30


@style.readable
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
    ax = style.axes(ax, size=_size(len(names)))
    looks = [(style.BLUE, "o")] * (len(names) - apart) + [(style.ORANGE, "D")] * apart
    _intervals(ax, names, values, low, high, looks)
    if apart:
        ax.axhline(apart - 0.5, color=style.GREY, linewidth=0.6)
    ax.set_xlabel(xlabel)
    return ax


@style.readable
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
    ax = style.axes(ax, size=_size(len(names) + 1))
    looks = [(style.ORANGE, "D") if best else (style.BLUE, "o") for best in may_be_best]
    _intervals(ax, names, values, low, high, looks)
    _write_ranks(ax, ranks)
    ax.set_xlabel(style.label(xlabel, 90))
    ax.plot([], [], "D", color=style.ORANGE, label="may be the strongest")
    if not all(may_be_best):
        ax.plot([], [], "o", color=style.BLUE, label="is not the strongest")
    if hidden:
        ax.plot([], [], " ", label=f"{hidden} weaker not drawn")
    style.legend_above(ax)
    return ax


def _size(rows: int) -> tuple[float, float]:
    return 7.0, 1.1 + style.row_height(rows) * rows


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
    ax.axvline(0.0, color=style.GREY, linewidth=1, linestyle=":")
    for i, (colour, marker) in enumerate(looks):
        height = len(values) - 1 - i
        limits = max(low[i], min(ends) - room), min(high[i], max(ends) + room)
        ax.plot(limits, (height, height), color=colour, linewidth=small / 2.5)
        ax.plot(values[i], height, marker, color=colour, markersize=small)
    ax.set_ylim(-0.6, len(values) - 0.4)
    ax.set_yticks(range(len(names) - 1, -1, -1), style.labels(list(names), 40))
    if len(values) > MANY:
        ax.tick_params(axis="y", labelsize="small")
    style.without_frame(ax)


def _write_ranks(ax: Any, ranks: Sequence[tuple[int, int]]) -> None:
    """Draw the ranks that each target may have at the right edge."""
    offset = {"textcoords": "offset points"}
    small = "small" if len(ranks) <= MANY else "x-small"
    for i, (first, last) in enumerate(ranks):
        text = f"{first}–{last}" if first != last else f"{first}"
        place = {"xycoords": ("axes fraction", "data"), "xytext": (6, 0), "va": "center"}
        ax.annotate(text, (1.0, len(ranks) - 1 - i), fontsize=small, **place, **offset)
    place = {"xycoords": "axes fraction", "xytext": (6, 4), "color": style.GREY}
    ax.annotate("rank", (1.0, 1.0), fontsize="small", **place, **offset)


@style.readable
def strength(
    names: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    ax: Any = None,
    *,
    shown: Sequence[bool] | None = None,
    measure: str = "cka",
    kernel: str = "laplace",
) -> Any:
    """Draw dependences with their intervals on two rulers: the measure, and correlations.

    The upper ruler has the correlation at which two normal variables have the dependence on the
    lower one. A dependence that is not shown to exist is drawn hollow.

    Parameters
    ----------
    names : sequence of str
        One per dependence.
    values, low, high : sequence of float
        Estimates with the limits of their intervals.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    shown : sequence of bool, optional
        Which dependences are shown to exist; by default those whose interval is above 0.
    measure : {"cka", "dcor"}, default "cka"
    kernel : {"laplace", "gaussian", "linear", "distance"}, default "laplace"
        The curve between the two rulers, as in :func:`reldep.stats.correlation.as_correlation`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.strength(["age ~ height"], [0.115], [0.05], [0.2])
    >>> round(float(ax.lines[-1].get_xdata()[0]), 2)
    0.5
    """
    n = len(names)
    filled = [start > 0 for start in low] if shown is None else shown
    ax = style.axes(ax, size=(7.0, 1.5 + style.row_height(n) * n))
    for mark in np.arange(1, 10) / 10:
        ax.axvline(mark, color=style.PALE, linewidth=0.8, zorder=0)
    places = as_correlation([values, low, high], kernel)
    for i, (value, start, end) in enumerate(places.T):
        height, fill = n - 1 - i, style.BLUE if filled[i] else "white"
        ax.plot((start, end), (height, height), color=style.BLUE, linewidth=1.8)
        ax.plot(value, height, "o", color=style.BLUE, markerfacecolor=fill, markersize=6)
    ax.set(xlim=(0, 1), ylim=(-0.7, n - 0.3), yticks=range(n - 1, -1, -1))
    ax.set_yticklabels(style.labels(list(names), 40))
    ax.tick_params(axis="y", length=0)
    ax.set_xticks(*_marks(kernel))
    ax.set_xlabel(MEASURE_NAMES[measure])
    above = ax.secondary_xaxis("top")
    above.set_xticks(np.arange(11) / 10)
    above.set_xlabel("as strong as this correlation", color=style.GREY)
    ax.spines[["left", "right"]].set_visible(False)
    return ax


def _marks(kernel: str) -> tuple[list[float], list[str]]:
    """Return where values of the measure stand on the ruler of correlations, and their labels."""
    marks = (0.0, 0.01, 0.05, *(i / 10 for i in range(1, 11)))
    places = as_correlation(marks, kernel).tolist()
    kept = [0]
    for i in range(1, len(marks) - 1):
        # A label needs a twentieth of the ruler.
        if min(places[i] - places[kept[-1]], places[-1] - places[i]) >= 0.05:
            kept.append(i)
    kept.append(len(marks) - 1)
    return [places[i] for i in kept], [f"{marks[i]:g}" for i in kept]


@style.readable
def region(
    estimates: npt.ArrayLike,
    covariance: npt.ArrayLike,
    interval: Sequence[float],
    ax: Any = None,
    *,
    names: Sequence[str] = ("source", "first", "second"),
    measure: str = "cka",
    df: float = math.inf,
    level: float = 0.95,
) -> Any:
    """Draw two dependences with their joint confidence region and the interval of the difference.

    The ellipse contains both dependences at once with confidence `level`. It does not decide the
    comparison: an ellipse that crosses the diagonal may belong to a difference that is
    significant, because it has to be right about two numbers. The interval below it, and the two
    dashed lines with the same limits, decide: the diagonal lies between the lines if and only if
    the interval contains 0.

    Parameters
    ----------
    estimates : array_like, shape (2,)
        The dependence of the source on the first and on the second target.
    covariance : array_like, shape (2, 2)
        Of the estimates.
    interval : pair of float
        The limits of the difference, first minus second; an infinite limit makes it one-sided.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    names : sequence of three str
        The source and the two targets.
    measure : {"cka", "hsic", "dcor"}, default "cka"
    df : float, default infinity
        Degrees of freedom of the covariance.
    level : float, default 0.95
        The confidence level of the region and of the interval.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the region; those of the difference are their only child.

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.region([0.6, 0.4], [[0.01, 0.004], [0.004, 0.01]], (-0.02, 0.42))
    >>> ax.get_xlabel()
    'CKA(source, first)'
    """
    centre = style.shaped("estimates", estimates, (2,), "two dependences")
    spread = style.shaped("covariance", covariance, (2, 2), "the 2 × 2 covariance of the estimates")
    ax = style.axes(ax, size=(4.6, 5.6))
    outline = ellipse_outline(centre, spread, radius(level, df))
    limits = _square(outline, interval)
    ax.fill(*outline, color=style.BLUE, alpha=0.15, linewidth=0)
    ax.plot(*outline, color=style.BLUE, linewidth=1.6)
    ax.plot(*centre, "o", color=style.BLUE, markeredgecolor="white")
    ax.plot(limits, limits, ":", color=style.GREY, linewidth=1.2)
    for limit in interval:
        if math.isfinite(limit):
            ax.plot((limits[0], limits[1]), (limits[0] - limit, limits[1] - limit), **_EDGE)
    # The strip hangs below: what room there is must be under the square, not above it.
    ax.set(xlim=limits, ylim=limits, aspect="equal", anchor="N")
    # Few enough that numbers of five digits do not run into each other.
    ax.locator_params(nbins=6)
    source, first, second = names
    ax.set_xlabel(style.measure_of(measure, source, first))
    ax.set_ylabel(style.measure_of(measure, source, second))
    ax.set_title(f"{percent(level)} region of both", fontsize="small", loc="left", color=style.BLUE)
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0}
    grey = {"xycoords": "axes fraction", "color": style.GREY, "fontsize": "small", "bbox": behind}
    sides = [f"{style.label(name, 28)} stronger" for name in (first, second)]
    ax.annotate(sides[0], (0.98, 0.02), ha="right", va="bottom", **grey)
    ax.annotate(sides[1], (0.02, 0.98), ha="left", va="top", **grey)
    style.without_frame(ax)
    _difference(ax, (first, second), float(centre[0] - centre[1]), interval, level)
    return ax


_EDGE: dict[str, Any] = {"color": style.ORANGE, "linewidth": 1.0, "linestyle": (0, (4, 2))}


def radius(level: float, df: float = math.inf) -> float:
    """Return how many standard deviations from its centre a joint region of two numbers reaches.

    The root of ``2 F(level; 2, df)``, in closed form: two estimates that are right together need
    more room than one.
    """
    if math.isinf(df):
        return math.sqrt(-2.0 * math.log1p(-level))
    return math.sqrt(df * math.expm1(-2.0 / df * math.log1p(-level)))


def ellipse_outline(centre: FloatArray, covariance: FloatArray, radius: float) -> FloatArray:
    """Return the points of the ellipse `radius` standard deviations from its centre."""
    values, vectors = np.linalg.eigh(covariance)
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = np.vstack([np.cos(angles), np.sin(angles)])
    stretch = vectors * np.sqrt(np.clip(values, 0.0, None))
    outline: FloatArray = centre[:, None] + radius * stretch @ circle
    return outline


def _square(outline: FloatArray, interval: Sequence[float]) -> tuple[float, float]:
    """Return limits of both axes that show the region, and some of each line beside it."""
    low, high = float(outline.min()), float(outline.max())
    margin = 0.08 * (high - low) or 0.1
    # A line beyond the corner of the square would not be seen.
    reach = max((abs(limit) for limit in interval if math.isfinite(limit)), default=0.0)
    missing = max(0.0, 1.15 * reach - (high - low + 2 * margin)) / 2
    return low - margin - missing, high + margin + missing


def _difference(
    ax: Any, targets: Sequence[str], estimate: float, interval: Sequence[float], level: float
) -> None:
    """Draw the interval of the difference below the region, the stronger minus the weaker."""
    # Far enough below that there is room for the labels of both.
    strip = ax.inset_axes((0.0, -0.45, 1.0, 0.16))
    low, high = interval
    stronger, weaker = (style.label(name, 16) for name in targets)
    if estimate < 0:
        stronger, weaker = weaker, stronger
        estimate, low, high = -estimate, -high, -low
    ends = [limit for limit in (low, high, estimate, 0.0) if math.isfinite(limit)]
    room = 0.12 * (max(ends) - min(ends)) or 1.0
    shown = (min(ends) - room, max(ends) + room)
    strip.axvline(0.0, color=style.GREY, linewidth=1.2, linestyle=":")
    strip.plot((max(low, shown[0]), min(high, shown[1])), (0, 0), color=style.ORANGE, linewidth=2)
    for limit, marker in ((low, "<"), (high, ">")):
        if math.isfinite(limit):
            strip.plot(limit, 0, "|", color=style.ORANGE, markersize=9, markeredgewidth=2)
        else:
            strip.plot(
                shown[marker == ">"], 0, marker, color=style.ORANGE, markersize=6, clip_on=False
            )
    strip.plot(estimate, 0, "D", color=style.ORANGE, markersize=6, markeredgecolor="white")
    strip.set(xlim=shown, ylim=(-1, 1), yticks=[])
    strip.locator_params(axis="x", nbins=6)
    sided = "" if math.isfinite(low) and math.isfinite(high) else "one-sided "
    text = f"{stronger} − {weaker}, with its {sided}{percent(level)} interval"
    strip.set_title(text, fontsize="small", loc="left", color=style.ORANGE)
    strip.spines[["top", "right", "left"]].set_visible(False)
