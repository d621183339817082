"""Figures of the synthetic experiment."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from reldep.datasets import make_spirals
from reldep.plotting.intervals import ellipse_outline
from reldep.plotting.style import GREY, legend_above, without_frame
from reproduction.output import Rows, series
from reproduction.paper import LEVEL
from reproduction.repetitions import Cell, Records
from reproduction.synthetic.draws import METHODS, TESTS

SCATTER_GAMMA3 = 0.6
SCATTER_POINTS = 500


def scatter(seed: int) -> Figure:
    """Draw one sample of the source and of both targets."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    spirals = make_spirals(SCATTER_POINTS, gamma3=SCATTER_GAMMA3, rng=seed)
    titles = ("source, γ1 = 0.3", "first, γ2 = 0.3", f"second, γ3 = {SCATTER_GAMMA3}")
    for i, (ax, title, block) in enumerate(
        zip(figure.subplots(1, 3), titles, spirals.values(), strict=True)
    ):
        ax.plot(*block.T, ".", markersize=3, color=series(i).colour)
        ax.set_title(title, fontsize="medium")
        without_frame(ax)
    return figure


def power(rows: Rows) -> Figure:
    """Draw power against γ3, with binomial bands."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    for i, test in enumerate(TESTS):
        chosen = [row for row in rows if row["test"] == test]
        gammas, heights, low, high = (
            [row[key] for row in chosen] for key in ("gamma3", "power", "low_95", "high_95")
        )
        look = series(i)
        ax.fill_between(gammas, low, high, color=look.colour, alpha=0.15, linewidth=0)
        ax.plot(
            gammas,
            heights,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
            label=test,
        )
    ax.axhline(LEVEL, color=GREY, linewidth=1, linestyle=":")
    ax.annotate("5%", (1.0, LEVEL), xycoords=("axes fraction", "data"), color=GREY)
    ax.set(xlabel="noise γ3 of the second target", ylabel=f"rejected, m = {rows[0]['m']}")
    ax.set_ylim(-0.02, 1.02)
    legend_above(ax, columns=2)
    without_frame(ax)
    return figure


def two_hsics(cells: list[tuple[Cell, Records]]) -> Figure:
    """Draw both HSICs of every draw, their two-sigma ellipses and the diagonal."""
    columns = len(cells) // 2
    figure = Figure(figsize=(3.2 * columns, 6.6), layout="constrained")
    for ax, (cell, records) in zip(figure.subplots(2, columns).flat, cells, strict=True):
        for i, method in reversed(list(enumerate(METHODS))):
            _draw_method(ax, records, method, i)
        low, high = ax.get_xlim()
        ax.axline((low, low), (high, high), color=GREY, linestyle=":", linewidth=1.2)
        ax.set_title(f"γ3 = {cell.settings['gamma3']}, m = {cell.settings['m']}", fontsize="medium")
        ax.ticklabel_format(style="sci", scilimits=(-2, 2))
        ax.set(xlabel="HSIC(source, first)", ylabel="HSIC(source, second)")
        without_frame(ax)
    figure.axes[0].legend(frameon=False, fontsize="small", loc="upper left")
    return figure


def _draw_method(ax: Any, records: Records, method: str, i: int) -> None:
    """Draw the cloud of one test and the ellipse of its average estimated covariance."""
    look = series(i)
    points = np.array([records[f"{method}_{name}"] for name in ("xy", "xz")])
    var_xy, cov, var_xz = (records[f"{method}_{v}"].mean() for v in ("var_xy", "cov", "var_xz"))
    outline = ellipse_outline(points.mean(axis=1), np.array([[var_xy, cov], [cov, var_xz]]), 2.0)
    ax.plot(*points, look.marker, markersize=2.5, color=look.colour, alpha=0.5, markeredgewidth=0)
    ax.plot(*outline, color=look.colour, linestyle=look.line, linewidth=1.5, label=method)
