"""Two dependences against each other: their joint region, and the interval of their difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.plotting import style
from reldep.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from reldep.data.variables import FloatArray


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
    _name_sides(ax, f"{style.label(first, 28)} stronger", f"{style.label(second, 28)} stronger")
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


def _name_sides(ax: Any, below: str, above: str) -> None:
    """Draw what the two sides of the diagonal stand for."""
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0}
    grey = {"xycoords": "axes fraction", "color": style.GREY, "fontsize": "small", "bbox": behind}
    ax.annotate(below, (0.98, 0.02), ha="right", va="bottom", **grey)
    ax.annotate(above, (0.02, 0.98), ha="left", va="top", **grey)
    ax.spines[["top", "right"]].set_visible(False)


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
