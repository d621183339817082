"""Intervals side by side: a forest of dependences, a ranking of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.plotting.style import (
    BLUE,
    GREY,
    ORANGE,
    axes,
    label,
    row_height,
    without_frame,
)
from reldep.results.text import MEASURE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.results.base import Result


def forest(result: Result, ax: Any = None) -> Any:
    """Draw every dependence of a result as a point with its 95 % interval.

    The difference or the contrast, where the result has one, stands apart at the bottom.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> ax = reldep.plotting.forest(reldep.compare(x, x**2, x**3))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['source ~ first', 'source ~ second', 'difference']
    """
    table = result.table()
    names: Sequence[str] = table["dependence"]
    apart = len(names) - len(result.estimates)
    ax = axes(ax, size=(6.4, 1.1 + row_height(len(names)) * len(names)))
    heights = list(range(len(names) - 1, -1, -1))
    for i, height in enumerate(heights):
        is_pair = i < len(names) - apart
        colour, marker = (BLUE, "o") if is_pair else (ORANGE, "D")
        ax.plot((table["low_95"][i], table["high_95"][i]), (height, height), color=colour, lw=2)
        ax.plot(table[result.measure][i], height, marker, color=colour)
    if apart:
        ax.axhline(apart - 0.5, color=GREY, linewidth=0.6)
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle=":")
    ax.set_yticks(heights, [label(name, 44) for name in names])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlabel(f"{MEASURE_NAMES[result.measure]} with 95 % interval")
    without_frame(ax)
    return ax
