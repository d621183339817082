"""Curves: power over the number of observations, a statistic over the bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.plotting import style
from reldep.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from reldep.data.variables import FloatArray

_SMALL = {"color": style.GREY, "fontsize": "small"}
_BESIDE = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", **_SMALL}


@style.readable
def power(
    n: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    ax: Any = None,
    *,
    pilot: int | None = None,
    alpha: float = 0.05,
) -> Any:
    """Draw the power of tests over the number of observations.

    Parameters
    ----------
    n : sequence of int
        Numbers of observations.
    curves : mapping of str to sequence of float
        The power of each test at every `n`.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    pilot : int, optional
        The size of the pilot study, which is marked.
    alpha : float, default 0.05
        The level of the tests.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=80)
    >>> pilot = reldep.compare(x, x + rng.normal(size=80), x + 2 * rng.normal(size=80))
    >>> n = range(20, 400, 20)
    >>> ax = reldep.plotting.power(n, {"joint": [pilot.power(i) for i in n]}, pilot=80)
    >>> ax.get_ylabel()
    'power at the 5% level'
    """
    if not curves:
        raise InputError("`curves` is empty; pass the power of at least one test.")
    ax = style.axes(ax, size=(5.6, 4.0))
    for i, (name, heights) in enumerate(curves.items()):
        look = style.series(i)
        ax.plot(n, heights, color=look.colour, linestyle=look.line, label=style.label(name))
    # The power that studies are usually planned for.
    ax.axhline(0.8, color=style.GREY, linewidth=1, linestyle=":")
    aside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), **_BESIDE}
    ax.annotate("80%", (1.0, 0.8), **aside)
    if pilot is not None:
        ax.axvline(pilot, color=style.GREY, linewidth=0.8)
        offset: dict[str, Any] = {"xytext": (3, 3), "textcoords": "offset points", **_SMALL}
        ax.annotate("pilot", (pilot, 0.0), **offset)
    ax.set(xlabel="observations", ylabel=f"power at the {percent(alpha)} level", ylim=(0, 1.02))
    ax.set_xlim(0, max(n))
    style.legend_above(ax, columns=2)
    style.without_frame(ax)
    return ax


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
    aside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), **_BESIDE}
    ax.annotate(f"{law} = ±{bars[-1]:.2f}", (1.0, bars[-1]), **aside)
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
