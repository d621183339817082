"""A statistic over the bandwidth; dots for observations and effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.plotting import style

# A vector picture with more dots than this is slow to open.
MOST_VECTOR_DOTS = 3000


@style.readable
def bandwidths(
    factors: npt.ArrayLike,
    statistics: npt.ArrayLike,
    single: npt.ArrayLike,
    band: npt.ArrayLike,
    ax: Any = None,
    *,
    law: str = "t",
    first: str = "first",
) -> Any:
    """Draw a statistic over multiples of the bandwidth, with its critical values.

    Within the grey band the difference is not significant once all bandwidths are allowed for;
    the dashed lines hold for each bandwidth by itself.

    Parameters
    ----------
    factors : array_like, shape (k,)
        Multiples of the bandwidth.
    statistics : array_like, shape (k,)
    single, band : array_like, shape (k,)
        Critical values of the statistic, for one bandwidth and for all at once.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    law : str, default "t"
        The name of the statistic.
    first : str, default "first"
        The target that is stronger where the statistic is positive.

    Returns
    -------
    matplotlib.axes.Axes
    """
    at, heights, bars, wide = (
        np.asarray(one, dtype=np.float64) for one in (factors, statistics, single, band)
    )
    ax = style.axes(ax, size=(5.6, 3.8))
    ax.fill_between(at, -wide, wide, color=style.PALE, alpha=0.6, linewidth=0)
    ax.axhline(0.0, color=style.GREY, linewidth=1, linestyle=":")
    for line in (-bars, bars):
        ax.plot(at, line, color=style.GREY, linewidth=1, linestyle="--")
    ax.plot(at, heights, "o-", color=style.BLUE, markersize=4, clip_on=False)
    ax.set_xscale("log", base=2)
    ax.xaxis.get_major_locator().set_params(numticks=6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.margins(x=0.0)
    crossings = _crossings(at, heights)
    text = f"sign changes at {', '.join(f'{x:.2g}' for x in crossings)} times the bandwidth"
    for i, crossing in enumerate(crossings):
        ax.axvline(crossing, color=style.ORANGE, linewidth=1.4, label=text if i == 0 else None)
    if crossings:
        style.legend_above(ax)
    place = {"xycoords": ("axes fraction", "data"), "xytext": (3, 0), "va": "center"}
    look = {"textcoords": "offset points", "color": style.GREY, "fontsize": "small"}
    ax.annotate(f"{law} = ±{bars[-1]:.2f}", (1.0, bars[-1]), **place, **look)
    ax.set_xlabel("bandwidth, as a multiple of the one used")
    ax.set_ylabel(f"{law}, positive: {style.label(first, 20)} stronger")
    style.without_frame(ax)
    return ax


def _crossings(factors: FloatArray, heights: FloatArray) -> list[float]:
    """Return where a curve crosses 0, by the straight line between neighbours."""
    found = []
    for i in np.flatnonzero(heights[:-1] * heights[1:] < 0):
        share = heights[i] / (heights[i] - heights[i + 1])
        found.append(float(factors[i] * (factors[i + 1] / factors[i]) ** share))
    return found


@style.readable
def influence(
    psi: npt.ArrayLike,
    ax: Any = None,
    *,
    places: npt.ArrayLike | None = None,
    named: Mapping[int, str] | None = None,
    xlabel: str = "row in the input",
) -> Any:
    """Draw how much each observation adds to an estimate.

    Well-behaved data make a band; a few dots far away carry the answer.

    Parameters
    ----------
    psi : array_like, shape (n,)
        Influence values.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    places : array_like, shape (n,), optional
        Where each observation stands on the axis; by default its position.
    named : mapping of int to str, optional
        Names of the observations that are marked, by position.
    xlabel : str

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.influence([0.1, -0.2, 1.5, 0.3], named={2: "patient 7"})
    >>> [text.get_text() for text in ax.texts]
    ['patient 7']
    """
    values = np.asarray(psi, dtype=np.float64)
    at = np.arange(len(values)) if places is None else np.asarray(places)
    marked = {} if named is None else dict(named)
    rest = np.setdiff1d(np.arange(len(values)), list(marked))
    ax = style.axes(ax, size=(6.4, 3.4))
    ax.axhline(0.0, color=style.GREY, linewidth=1, linestyle=":")
    _dots(ax, at[rest], values[rest], many=len(values) > MOST_VECTOR_DOTS)
    ax.plot(at[list(marked)], values[list(marked)], "D", color=style.ORANGE, markersize=5)
    for i, name in marked.items():
        # On the far side of its dot.
        up, base = (1, "bottom") if values[i] >= 0 else (-1, "top")
        side = {"xytext": (0, 6 * up), "textcoords": "offset points", "ha": "center", "va": base}
        ax.annotate(style.label(name, 16), (at[i], values[i]), fontsize="small", **side)
    ax.margins(x=0.03, y=0.12)
    ax.set(xlabel=xlabel, ylabel="influence on the estimate")
    style.without_frame(ax)
    return ax


def _dots(ax: Any, x: Any, y: FloatArray, *, many: bool) -> None:
    """Draw small dots, as an image inside a vector picture where they are very many."""
    ax.plot(x, y, "o", color=style.BLUE, markersize=1.5 if many else 3, rasterized=many)


@style.readable
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
    n = np.size(effects)
    if n == 0:
        raise InputError("`effects` is empty; pass at least one.")
    x = style.shaped("effects", effects, (n,), "one number per effect")
    evidence = -style.shaped("log10_pvalues", log10_pvalues, (n,), "one per effect")
    marked = np.zeros(n) if significant is None else significant
    shown = style.shaped("significant", marked, (n,), "one per effect") > 0
    names = None if names is None else style.named("names", names, n)
    ax = style.axes(ax, size=(6.0, 4.6))
    ax.axvline(0.0, color=style.GREY, linewidth=1, linestyle=":")
    many = len(x) > MOST_VECTOR_DOTS
    _dots(ax, x[~shown], evidence[~shown], many=many)
    if significant is not None:
        text = f"significant: {int(shown.sum()):,} of {len(x):,}"
        dots = {"color": style.ORANGE, "markersize": 4, "rasterized": many}
        ax.plot(x[shown], evidence[shown], "D", label=text, **dots)
        style.legend_above(ax)
    ax.margins(x=0.18, y=0.08)
    ax.set_ylim(bottom=min(0.0, float(evidence.min())))
    ax.set(xlabel=style.label(xlabel, 90), ylabel="−log₁₀ of the p-value")
    if names is not None:
        strongest = np.argsort(-evidence, kind="stable")[: max(0, top)]
        _name_dots(
            ax, [style.label(names[i], 20) for i in strongest], x[strongest], evidence[strongest]
        )
    style.without_frame(ax)
    return ax


def _name_dots(ax: Any, names: Sequence[str], x: FloatArray, y: FloatArray) -> None:
    """Draw names next to their dots, outwards, moved down where two would overlap.

    Names that would be below the axis are left out.
    """
    low, high = ax.get_ylim()
    points = 0.75 * 72.0 * ax.figure.get_size_inches()[1] / (high - low)
    free = {True: np.inf, False: np.inf}
    for name, place, height in zip(names, x, y, strict=True):
        right = bool(place >= 0)
        wanted = height * points
        # Two labels below each other are eleven points apart.
        written = min(wanted, free[right] - 11.0)
        if written < low * points:
            continue  # no room is left above the axis
        free[right] = written
        ax.annotate(
            name,
            (place, height),
            xytext=(7 if right else -7, written - wanted),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.5},
        )
