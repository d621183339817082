"""Which observations drive an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.plotting.style import BLUE, GREY, ORANGE, axes, without_frame
from reldep.stats.diagnostics import most_influential

if TYPE_CHECKING:
    from reldep.results.base import Result

# A vector picture with more dots than this is slow to open.
MOST_VECTOR_DOTS = 3000


def influence(result: Result, ax: Any = None, *, top: int = 5) -> Any:
    """Draw how much each observation adds to the estimate.

    Observations with the largest influence, of either sign, are labelled with their row in the
    input. Well-behaved data make a band; a few dots far away carry the answer.

    Parameters
    ----------
    result : Comparison, Contrast or Dependence
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    top : int, default 5
        How many observations are labelled.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> ax = reldep.plotting.influence(reldep.compare(x, x**2, x**3), top=3)
    >>> len(ax.texts)
    3
    """
    psi = result.influence_values()
    rows = result.provenance.rows
    chosen = most_influential(psi, max(0, top))
    rest = np.setdiff1d(np.arange(len(psi)), chosen)
    ax = axes(ax, size=(6.4, 3.4))
    small = 3 if len(psi) <= MOST_VECTOR_DOTS else 1.5
    raster = len(psi) > MOST_VECTOR_DOTS
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=":")
    ax.plot(rows[rest], psi[rest], "o", color=BLUE, markersize=small, rasterized=raster)
    ax.plot(rows[chosen], psi[chosen], "D", color=ORANGE, markersize=5)
    for i in chosen:
        _name_row(ax, int(rows[i]), float(psi[i]))
    ax.margins(x=0.03, y=0.12)
    ax.set(xlabel="row in the input", ylabel="influence on the estimate")
    without_frame(ax)
    return ax


def _name_row(ax: Any, row: int, psi: float) -> None:
    """Write the row's number on the far side of its dot."""
    above = psi >= 0
    ax.annotate(
        str(row),
        (row, psi),
        xytext=(0, 6 if above else -6),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize="small",
    )
