"""Dots: which observations drive an answer, which of many effects stand out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.plotting.style import (
    BLUE,
    GREY,
    ORANGE,
    axes,
    label,
    legend_above,
    readable,
    without_frame,
)
from reldep.stats.diagnostics import most_influential

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray, IntArray
    from reldep.results.tested import Result

# A vector picture with more dots than this is slow to open.
MOST_VECTOR_DOTS = 3000

# The least distance between two labels below each other, in points.
LINE_HEIGHT = 11.0


@readable
def influence(result: Result, ax: Any = None, *, top: int = 5) -> Any:
    """Draw how much each observation adds to the estimate.

    Observations with the largest influence, of either sign, are labelled: with their line in the
    file, their row in the input or their identifier. Well-behaved data make a band; a few dots
    far away carry the answer.

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
    >>> ax = reldep.plotting.influence(reldep.compare(x, x**2, np.sin(3 * x)), top=3)
    >>> len(ax.texts)
    3
    """
    psi = result.influence_values()
    rows = result.provenance.rows
    chosen = most_influential(psi, max(0, top))
    rest = np.setdiff1d(np.arange(len(psi)), chosen)
    places, axis_name = _places(rows)
    ax = axes(ax, size=(6.4, 3.4))
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=":")
    _dots(ax, places[rest], psi[rest], many=len(psi) > MOST_VECTOR_DOTS)
    ax.plot(places[chosen], psi[chosen], "D", color=ORANGE, markersize=5)
    for name, place, value in zip(
        rows.take(chosen).values(), places[chosen], psi[chosen], strict=True
    ):
        _name_row(ax, label(name, 16), int(place), float(value))
    ax.margins(x=0.03, y=0.12)
    ax.set(xlabel=axis_name, ylabel="influence on the estimate")
    without_frame(ax)
    return ax


def _places(rows: Rows) -> tuple[IntArray, str]:
    """Give where each row stands on the axis, and the name of that axis."""
    if rows.noun == "line":
        return np.asarray(rows.values()), "line of the file"
    if rows.labels is None:
        return rows.positions, "row in the input"
    return rows.positions, "position in the input"


def _dots(ax: Any, x: Any, y: FloatArray, *, many: bool) -> None:
    """Draw small dots, as an image inside a vector picture where they are very many."""
    ax.plot(x, y, "o", color=BLUE, markersize=1.5 if many else 3, rasterized=many)


def _name_row(ax: Any, name: str, place: int, psi: float) -> None:
    """Write the row's name on the far side of its dot."""
    above = psi >= 0
    ax.annotate(
        name,
        (place, psi),
        xytext=(0, 6 if above else -6),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize="small",
    )


@readable
def volcano(
    effects: Any,
    log10_pvalues: Any,
    names: Sequence[str] | None = None,
    ax: Any = None,
    *,
    significant: Any = None,
    top: int = 10,
    xlabel: str = "difference",
) -> Any:
    """Draw many effects against the strength of their evidence.

    Parameters
    ----------
    effects : array_like, shape (g,)
    log10_pvalues : array_like, shape (g,)
        Decimal logarithms of the p-values, which cannot underflow.
    names : sequence of str, optional
        What the effects belong to; needed for labels.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    significant : array_like of bool, shape (g,), optional
        Effects drawn as diamonds in another colour, such as those below a false-discovery rate.
    top : int, default 10
        How many of the effects with the smallest p-values are labelled.
    xlabel : str, default "difference"

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.volcano([0.3, -0.1], [-9.0, -0.5], ["MYC", "TP53"], top=1)
    >>> [text.get_text() for text in ax.texts]
    ['MYC']
    """
    x, evidence = (
        np.asarray(effects, dtype=np.float64),
        -np.asarray(log10_pvalues, dtype=np.float64),
    )
    shown = np.zeros(x.shape, dtype=bool) if significant is None else np.asarray(significant, bool)
    if x.ndim != 1 or not x.shape == evidence.shape == shown.shape or len(x) == 0:
        raise InputError(
            f"effects has shape {x.shape}, log10_pvalues {evidence.shape}, significant "
            f"{shown.shape}; pass one number of each per effect."
        )
    if names is not None and len(names) != len(x):
        raise InputError(f"names has {len(names)} entries for {len(x)} effects.")
    ax = axes(ax, size=(6.0, 4.6))
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle=":")
    many = len(x) > MOST_VECTOR_DOTS
    _dots(ax, x[~shown], evidence[~shown], many=many)
    if significant is not None:
        text = f"significant: {int(shown.sum()):,} of {len(x):,}"
        dots = {"color": ORANGE, "markersize": 4, "rasterized": many}
        ax.plot(x[shown], evidence[shown], "D", label=text, **dots)
        legend_above(ax)
    ax.margins(x=0.18, y=0.08)
    ax.set_ylim(bottom=min(0.0, float(evidence.min())))
    ax.set(xlabel=xlabel, ylabel="−log₁₀ of the p-value")
    if names is not None:
        strongest = np.argsort(-evidence, kind="stable")[: max(0, top)]
        _name_dots(ax, [label(names[i], 20) for i in strongest], x[strongest], evidence[strongest])
    without_frame(ax)
    return ax


def _name_dots(ax: Any, names: Sequence[str], x: FloatArray, y: FloatArray) -> None:
    """Write names beside their dots, outwards, moved down where two would overlap."""
    low, high = ax.get_ylim()
    points = 0.75 * 72.0 * ax.figure.get_size_inches()[1] / (high - low)
    free = {True: np.inf, False: np.inf}
    for name, place, height in zip(names, x, y, strict=True):
        right = bool(place >= 0)
        wanted = height * points
        written = min(wanted, free[right] - LINE_HEIGHT)
        free[right] = written
        ax.annotate(
            name,
            (place, height),
            xytext=(7 if right else -7, written - wanted),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5},
        )
