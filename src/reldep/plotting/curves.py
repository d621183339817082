"""Curves: power over the number of observations, z over the bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import MINIMUM_OBSERVATIONS, check_level
from reldep.exceptions import InputError
from reldep.plotting.style import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    axes,
    label,
    legend_above,
    readable,
    series,
    without_frame,
)
from reldep.stats.student import quantile
from reldep.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reldep.data.variables import IntArray
    from reldep.results.bandwidth_curve import Sensitivity
    from reldep.results.tested import Result

TARGET_POWER = 0.8


@readable
def power(
    results: Result | Mapping[str, Result],
    ax: Any = None,
    *,
    n: Sequence[int] | None = None,
    alpha: float = 0.05,
) -> Any:
    """Draw the power of a test over the number of observations, as a pilot study foretells it.

    For a joint comparison the curve of the split test is drawn beside it.

    Parameters
    ----------
    results : Result or mapping of str to Result
        A pilot result, or several under their labels.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    n : sequence of int, optional
        Numbers of observations; by default as far as the first curve needs for 80%.
    alpha : float, default 0.05

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
    >>> ax = reldep.plotting.power(pilot)
    >>> ax.get_ylabel()
    'power at the 5% level'
    """
    check_level("alpha", alpha)
    curves = _power_curves(results, alpha)
    pilot = next(iter(results.values())) if isinstance(results, Mapping) else results
    sizes = _sizes(pilot, alpha) if n is None else np.asarray(n)
    ax = axes(ax, size=(5.6, 4.0))
    for i, (name, curve) in enumerate(curves.items()):
        look = series(i)
        heights = [curve(size) for size in sizes]
        ax.plot(sizes, heights, color=look.colour, linestyle=look.line, label=label(name))
    ax.axhline(TARGET_POWER, color=GREY, linewidth=1, linestyle=":")
    ax.annotate("80%", (1.0, TARGET_POWER), xycoords=("axes fraction", "data"), **_beside)
    ax.axvline(pilot.n_observations, color=GREY, linewidth=0.8)
    ax.annotate(
        "pilot", (pilot.n_observations, 0.0), xytext=(3, 3), textcoords="offset points", **_small
    )
    ax.set(xlabel="observations", ylabel=f"power at the {percent(alpha)} level", ylim=(0, 1.02))
    ax.set_xlim(0, float(sizes.max()))
    legend_above(ax, columns=2)
    without_frame(ax)
    return ax


@readable
def sensitivity(result: Sensitivity, ax: Any = None, *, alpha: float = 0.05) -> Any:
    """Draw the statistic over multiples of the bandwidth, with the lines of significance.

    Within the grey band a difference is not significant once all bandwidths are allowed for;
    dashed lines hold at each bandwidth by itself.

    Parameters
    ----------
    result : Sensitivity
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    alpha : float, default 0.05
        The level of the critical lines.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_level("alpha", alpha)
    tail = alpha / 2 if result.alternative == "two-sided" else alpha
    bars = quantile(1.0 - tail, np.array([one.df for one in result.comparisons]))
    name = result.headings()["statistic"]
    ax = axes(ax, size=(5.6, 3.8))
    wide = result.across.bars(alpha, result.alternative)
    ax.fill_between(result.factors, -wide, wide, color=PALE, alpha=0.6, linewidth=0)
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=":")
    for line in (-bars, bars):
        ax.plot(result.factors, line, color=GREY, linewidth=1, linestyle="--")
    ax.plot(result.factors, result.statistics, "o-", color=BLUE, markersize=4, clip_on=False)
    ax.set_xscale("log", base=2)
    ax.xaxis.get_major_locator().set_params(numticks=6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.margins(x=0.0)
    _mark_sign_changes(ax, result)
    ax.annotate(
        f"{name} = ±{bars[-1]:.2f}", (1.0, bars[-1]), xycoords=("axes fraction", "data"), **_beside
    )
    ax.set_xlabel("bandwidth, as a multiple of the one used")
    ax.set_ylabel(f"{name}, positive: more on {label(result.first, 20)}")
    without_frame(ax)
    return ax


def _mark_sign_changes(ax: Any, result: Sensitivity) -> None:
    """Draw a line where the curve crosses 0, by the straight line between neighbours."""
    crossings = []
    for before, after in result.sign_changes:
        z = result.statistics[np.isin(result.factors, (before, after))]
        share = z[0] / (z[0] - z[1])
        crossings.append(before * (after / before) ** share)
    if not crossings:
        return
    text = f"sign changes at {', '.join(f'{x:.2g}' for x in crossings)} times the bandwidth"
    for i, crossing in enumerate(crossings):
        ax.axvline(crossing, color=ORANGE, linewidth=1.4, label=text if i == 0 else None)
    legend_above(ax)


_small = {"color": GREY, "fontsize": "small"}
_beside = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", **_small}


def _power_curves(
    results: Result | Mapping[str, Result], alpha: float
) -> dict[str, Callable[[int], float]]:
    if isinstance(results, Mapping):
        if not results:
            raise InputError("results is empty; pass at least one result.")
        return {name: partial(result.power, alpha=alpha) for name, result in results.items()}
    # A comparison can tell the power of more than the method it used.
    methods = getattr(results, "plannable_methods", None)
    if methods is None:
        return {"test": partial(results.power, alpha=alpha)}
    plan: Any = results.power
    return {name: partial(plan, alpha=alpha, method=name) for name in methods()}


def _sizes(pilot: Result, alpha: float) -> IntArray:
    """Choose numbers of observations that show where the pilot's curve reaches 80%."""
    try:
        needed = pilot.sample_size(TARGET_POWER, alpha=alpha)
    except ValueError:
        # The estimate points the other way: no number of observations would be enough.
        needed = 0
    last = max(2 * pilot.n_observations, round(1.3 * needed))
    return np.unique(np.linspace(MINIMUM_OBSERVATIONS, last, 200).round().astype(np.int64))
