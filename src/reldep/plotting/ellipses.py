"""The paper's picture: two dependences, their two-sigma ellipse and the diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.plotting.style import BLUE, GREY, MEASURE_LABELS, ORANGE, axes, without_frame

if TYPE_CHECKING:
    from reldep._variables import FloatArray
    from reldep.results import Comparison

SIGMAS = 2.0


def ellipses(result: Comparison, ax: Any = None) -> Any:
    """Draw the two dependences of a comparison against each other.

    The ellipse is two standard deviations wide in every direction. Below the diagonal the
    source depends more on the first target; an ellipse that stays clear of the diagonal is a
    difference beyond chance.

    Parameters
    ----------
    result : Comparison
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, size=(4.6, 4.4))
    colour = BLUE if result.estimate >= 0 else ORANGE
    outline = ellipse_outline(result.estimates, result.covariance)
    ax.fill(*outline, color=colour, alpha=0.18, linewidth=0)
    ax.plot(*outline, color=colour, linewidth=1.5, label="two standard deviations")
    ax.plot(*result.estimates, "o", color=colour, label="estimate")
    _diagonal(ax, outline, result)
    measure = MEASURE_LABELS[result.measure]
    ax.set_xlabel(f"{measure}({result.source}, {result.first})")
    ax.set_ylabel(f"{measure}({result.source}, {result.second})")
    ax.set_title(f"{result.method}, z = {result.statistic:.2f}", fontsize="medium")
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    without_frame(ax)
    return ax


def ellipse_outline(centre: FloatArray, covariance: FloatArray) -> FloatArray:
    """Trace the ellipse of points `SIGMAS` standard deviations from the centre."""
    values, vectors = np.linalg.eigh(covariance)
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = np.vstack([np.cos(angles), np.sin(angles)])
    stretch = vectors * np.sqrt(np.clip(values, 0.0, None))
    outline: FloatArray = centre[:, None] + SIGMAS * stretch @ circle
    return outline


def _diagonal(ax: Any, outline: FloatArray, result: Comparison) -> None:
    low, high = float(outline.min()), float(outline.max())
    margin = 0.08 * (high - low)
    limits = (low - margin, high + margin)
    ax.plot(limits, limits, "--", color=GREY, linewidth=1, label="equal dependence")
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.annotate(
        f"more on {result.first}",
        (0.98, 0.03),
        xycoords="axes fraction",
        ha="right",
        color=GREY,
        fontsize="small",
    )
