"""Intervals, rulers and regions stand where the numbers put them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import reldep
from reldep import plotting


@pytest.fixture(scope="module")
def contrast(triple):
    x, y, z = triple
    weights = {("x", "y"): 1, ("x", "z"): -1, ("y", "z"): 0.5}
    return reldep.contrast({"x": x, "y": y, "z": z}, weights)


def tick_names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def intervals(ax):
    """The drawn intervals, from the top; helping lines are grey."""
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 2]
    return [line.get_xdata() for line in drawn if line.get_color() != "#595959"]


def markers(ax):
    return [line.get_marker() for line in ax.lines if len(line.get_xdata()) == 1]


def test_every_dependence_and_the_contrast_has_its_interval(contrast):
    ax = contrast.plot()
    assert tick_names(ax) == ["x ~ y", "x ~ z", "y ~ z", "contrast"]
    table = contrast.describe().table.as_dict()
    limits = np.transpose([table["low"], table["high"]])
    np.testing.assert_allclose(intervals(ax), limits, rtol=1e-12)
    # The contrast looks different without colour.
    assert markers(ax) == ["o", "o", "o", "D"]


def test_one_dependence_is_one_row(triple):
    ax = reldep.dependence(*triple[:2], measure="hsic").plot()
    assert tick_names(ax) == ["x ~ y"]
    assert ax.get_xlabel() == "HSIC with 95% interval"
    # CKA stands on the ruler of correlations.
    found = reldep.dependence(*triple[:2])
    ax = found.plot()
    assert ax.get_xlabel() == "CKA"
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(found.as_correlation())


def test_an_interval_without_end_reaches_the_edge():
    ax = plotting.forest(["a", "b"], [0.2, 0.3], [0.1, -math.inf], [math.inf, 0.4])
    ax.figure.canvas.draw()
    assert np.isfinite(intervals(ax)).all()
    assert intervals(ax)[0][1] > 0.4


def test_long_names_are_shortened_in_the_middle():
    names = tick_names(plotting.forest(["$x$ ~ " + "long " * 40], [0.2], [0.1], [0.3]))
    assert len(names[0]) <= 44
    assert "…" in names[0]
    assert names[0].startswith(r"\$x\$")


def test_targets_are_sorted_with_ranks_and_the_possibly_best_marked(ranking):
    ax = ranking.plot()
    table = ranking.describe().table.as_dict()
    assert tick_names(ax) == table["target"]
    assert markers(ax) == ["D" if best else "o" for best in table["may_be_best"]]
    ranks = [
        f"{low}–{high}" if low != high else f"{low}"
        for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
    ]
    assert [text.get_text() for text in ax.texts] == [*ranks, "rank"]
    assert ax.get_xlabel() == "HSIC with source, simultaneous 95% intervals"


def test_sixty_of_many_targets_are_drawn_in_smaller_rows(triple):
    rng = np.random.default_rng(0)
    targets = {f"t{i}": triple[0] + rng.normal(size=80) for i in range(61)}
    ax = reldep.rank(triple[0], targets, n_simulations=400).plot()
    assert len(tick_names(ax)) == 60
    assert ax.figure.get_size_inches()[1] < 15
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "1 weaker not drawn"


def ruler(**options):
    figure = Figure()
    values, low, high = [0.115, 0.02], [0.05, 0.0], [0.2, 0.06]
    ax = plotting.strength(["a ~ b", "a ~ c"], values, low, high, figure, **options)
    figure.canvas.draw()
    return ax


def test_a_dependence_stands_at_its_correlation():
    ax = ruler()
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert dots[0].get_xdata()[0] == pytest.approx(0.5, abs=1e-3)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a ~ b", "a ~ c"]


def test_what_is_not_shown_to_exist_is_hollow():
    dots = [line for line in ruler().lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, True]


@pytest.mark.parametrize("kernel", ["laplace", "gaussian", "linear", "distance"])
def test_marks_are_far_enough_apart_to_be_read(kernel):
    places = ruler(kernel=kernel).get_xticks()
    assert places[0] == 0
    assert places[-1] == pytest.approx(1)
    assert np.diff(places).min() >= 0.045


SPREAD = [[0.01, 0.004], [0.004, 0.02]]


def region(interval, **options):
    figure = Figure(layout="constrained")
    ax = plotting.region([0.6, 0.4], SPREAD, interval, figure, **options)
    figure.canvas.draw()
    return ax


@pytest.mark.parametrize(("level", "df"), [(0.9, 3.0), (0.95, 14.2), (0.95, math.inf)])
def test_the_region_is_that_of_two_numbers_at_once(level, df):
    outline = region((0.01, 0.39), level=level, df=df).lines[0].get_xydata() - [0.6, 0.4]
    expected = 2 * stats.f.ppf(level, 2, df) if df < math.inf else stats.chi2.ppf(level, 2)
    far = np.einsum("ij,jk,ik->i", outline, np.linalg.inv(SPREAD), outline)
    np.testing.assert_allclose(far, expected)


@pytest.mark.parametrize("interval", [(0.01, 0.39), (-0.2, 0.6), (0.05, math.inf)])
def test_the_diagonal_lies_between_the_lines_if_and_only_if_the_interval_contains_0(interval):
    ax = region(interval)
    lines = [line for line in ax.lines if line.get_color() == "#D55E00"]
    offsets = [line.get_xdata()[0] - line.get_ydata()[0] for line in lines]
    assert offsets == pytest.approx([limit for limit in interval if math.isfinite(limit)])


def test_the_interval_below_is_that_of_the_answer():
    (strip,) = region((0.05, 0.35), names=("x", "y", "z")).child_axes
    interval = next(line for line in strip.lines if len(line.get_xdata()) == 2)
    bounds = [tuple(line.get_xdata()) for line in strip.lines]
    assert interval.get_xdata()[0] in (0.0, 0.05)
    assert (0.05, 0.35) in bounds
    assert "95% interval" in strip.get_title(loc="left")
    assert "y − z" in strip.get_title(loc="left")
    (open_end,) = region((0.05, math.inf)).child_axes
    assert "one-sided" in open_end.get_title(loc="left")


def test_the_interval_below_is_that_of_the_sentence_the_stronger_first():
    figure = Figure()
    ax = plotting.region([0.3, 0.5], SPREAD, (-0.35, -0.05), figure, names="xyz")
    (strip,) = ax.child_axes
    assert strip.get_title(loc="left").startswith("z − y")
    assert (0.05, 0.35) in [tuple(line.get_xdata()) for line in strip.lines]


def test_a_region_without_spread_is_drawn_without_complaint():
    figure = Figure()
    ax = plotting.region([0.5, 0.5], np.zeros((2, 2)), (0.0, 0.0), figure)
    assert ax.get_xlim()[0] < 0.5 < ax.get_xlim()[1]


def test_the_interval_below_stays_in_the_figure_next_to_another_region():
    figure = Figure(figsize=(9.2, 6.4), layout="constrained")
    for ax in figure.subplots(1, 2):
        plotting.region([0.6, 0.4], SPREAD, (0.1, 0.3), ax)
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert ax.child_axes[0].get_tightbbox().y0 >= 0
