"""How large is large: dependences on a ruler of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.plotting.style import BLUE, GREY, PALE, axes, labels, readable, row_height
from reldep.stats.correlation import as_correlation
from reldep.words import MEASURE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

# Values of the measure that are marked where there is room, and the room of a label as a share of
# the ruler.
MARKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ROOM = 0.05


@readable
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
    ax = axes(ax, size=(7.0, 1.5 + row_height(n) * n))
    for mark in np.arange(1, 10) / 10:
        ax.axvline(mark, color=PALE, linewidth=0.8, zorder=0)
    places = as_correlation([values, low, high], kernel)
    for i, (value, start, end) in enumerate(places.T):
        height, fill = n - 1 - i, BLUE if filled[i] else "white"
        ax.plot((start, end), (height, height), color=BLUE, linewidth=1.8)
        ax.plot(value, height, "o", color=BLUE, markerfacecolor=fill, markersize=6)
    ax.set(xlim=(0, 1), ylim=(-0.7, n - 0.3), yticks=range(n - 1, -1, -1))
    ax.set_yticklabels(labels(list(names), 40))
    ax.tick_params(axis="y", length=0)
    ax.set_xticks(*_marks(kernel))
    ax.set_xlabel(MEASURE_NAMES[measure])
    above = ax.secondary_xaxis("top")
    above.set_xticks(np.arange(11) / 10)
    above.set_xlabel("as strong as this correlation", color=GREY)
    ax.spines[["left", "right"]].set_visible(False)
    return ax


def _marks(kernel: str) -> tuple[list[float], list[str]]:
    """Return where values of the measure stand on the ruler of correlations, and their labels."""
    places = as_correlation(MARKS, kernel).tolist()
    kept = [0]
    for i in range(1, len(MARKS) - 1):
        if places[i] - places[kept[-1]] >= ROOM and places[-1] - places[i] >= ROOM:
            kept.append(i)
    kept.append(len(MARKS) - 1)
    return [places[i] for i in kept], [f"{MARKS[i]:g}" for i in kept]
