"""The paper's picture: two dependences, their two-sigma ellipse and the diagonal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.plotting.style import (
    GREY,
    Series,
    axes,
    label,
    legend_above,
    measure_of,
    readable,
    series,
    without_frame,
)
from reldep.words import MEASURE_NAMES, pvalue_text

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.results.comparison import Comparison

SIGMAS = 2.0


@readable
def ellipses(
    results: Comparison | Mapping[str, Comparison],
    ax: Any = None,
    draws: Any | Mapping[str, Any] | None = None,
) -> Any:
    """Draw the two dependences of one or several comparisons against each other.

    An ellipse is two standard deviations wide in every direction. Below the diagonal the
    source depends more on the first target; an ellipse that stays clear of the diagonal is a
    difference beyond chance.

    Parameters
    ----------
    results : Comparison or mapping of str to Comparison
        Several are drawn in the same Axes under their labels, say joint and split.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    draws : array_like, shape (r, 2), or mapping of str to such, optional
        Pairs of estimates from repetitions, drawn as dots; a mapping has the labels of
        `results`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> data = x, x + 0.5 * rng.normal(size=200), x + rng.normal(size=200)
    >>> both = {method: reldep.compare(*data, method=method) for method in ("joint", "split")}
    >>> ax = reldep.plotting.ellipses(both)
    >>> ax.get_xlabel()
    'CKA(source, first)'
    """
    named = results if isinstance(results, Mapping) else {results.method: results}
    if not named:
        raise InputError("results is empty; pass at least one comparison.")
    clouds = _clouds(draws, list(named))
    ax = axes(ax, size=(4.8, 5.0))
    drawn = []
    for i, (name, result) in enumerate(named.items()):
        drawn.append(ellipse_outline(result.estimates, result.covariance))
        _draw(ax, result, drawn[-1], clouds.get(name), name, series(i))
    drawn += [cloud.T for cloud in clouds.values()]
    _diagonal(ax, np.concatenate(drawn, axis=1))
    _name_sides(ax, list(named.values()))
    legend_above(ax)
    without_frame(ax)
    return ax


def ellipse_outline(
    centre: FloatArray, covariance: FloatArray, radius: float = SIGMAS
) -> FloatArray:
    """Trace the ellipse of points `radius` standard deviations from the centre."""
    values, vectors = np.linalg.eigh(covariance)
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = np.vstack([np.cos(angles), np.sin(angles)])
    stretch = vectors * np.sqrt(np.clip(values, 0.0, None))
    outline: FloatArray = centre[:, None] + radius * stretch @ circle
    return outline


def _clouds(draws: Any, labels: list[str]) -> dict[str, FloatArray]:
    """Check the draws and sort them by the label they belong to."""
    if draws is None:
        return {}
    named = draws if isinstance(draws, Mapping) else {labels[0]: draws}
    unknown = [name for name in named if name not in labels]
    if unknown:
        raise InputError(f"draws has {unknown[0]!r}, which results has not: {labels}.")
    clouds = {name: np.asarray(cloud, dtype=np.float64) for name, cloud in named.items()}
    for name, cloud in clouds.items():
        if cloud.ndim != 2 or cloud.shape[1] != 2 or not np.isfinite(cloud).all():
            raise InputError(
                f"draws of {name!r} has shape {cloud.shape}; pass finite pairs of estimates, one "
                "row per draw and two columns."
            )
    return clouds


def _draw(
    ax: Any,
    result: Comparison,
    outline: FloatArray,
    cloud: FloatArray | None,
    name: str,
    look: Series,
) -> None:
    if cloud is not None:
        dots = {"color": look.colour, "alpha": 0.55, "markersize": 3, "linestyle": "none"}
        ax.plot(*cloud.T, marker=look.marker, markeredgewidth=0, gid="draws", **dots)
    ax.fill(*outline, color=look.colour, alpha=0.12, linewidth=0)
    statistic = f"{result.statistic_name()} = {result.statistic:.2f}"
    text = f"{label(name)}: {statistic}, {pvalue_text(result.pvalue)}"
    ax.plot(*outline, color=look.colour, linestyle=look.line, linewidth=1.6, label=text)
    ax.plot(*result.estimates, look.marker, color=look.colour, markeredgecolor="white")


def _diagonal(ax: Any, points: FloatArray) -> None:
    low, high = float(points.min()), float(points.max())
    margin = 0.08 * (high - low)
    limits = (low - margin, high + margin)
    ax.plot(limits, limits, ":", color=GREY, linewidth=1.2, label="equal dependence")
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    # Few enough that numbers of five digits do not run into each other.
    ax.locator_params(nbins=6)


def _name_sides(ax: Any, results: list[Comparison]) -> None:
    """Write what the axes and the two sides of the diagonal stand for."""
    questions = {(r.source, r.first, r.second) for r in results}
    one = results[0]
    source, first, second = (
        (one.source, one.first, one.second)
        if len(questions) == 1
        else ("source", "first target", "second target")
    )
    measures = {r.measure for r in results}
    if len(measures) == 1:
        ax.set_xlabel(measure_of(one.measure, source, first))
        ax.set_ylabel(measure_of(one.measure, source, second))
    else:
        names = " or ".join(MEASURE_NAMES[measure] for measure in sorted(measures))
        ax.set(xlabel=f"{names} with the first", ylabel=f"{names} with the second")
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0}
    grey = {"xycoords": "axes fraction", "color": GREY, "fontsize": "small", "bbox": behind}
    ax.annotate(f"more on {label(first, 28)}", (0.98, 0.02), ha="right", va="bottom", **grey)
    ax.annotate(f"more on {label(second, 28)}", (0.02, 0.98), ha="left", va="top", **grey)
