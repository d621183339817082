"""Two dependences against each other: the picture and the test cannot disagree."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import reldep

SPREAD = [[0.01, 0.004], [0.004, 0.02]]


def drawn(interval, **options):
    figure = Figure(layout="constrained")
    ax = reldep.plotting.region([0.6, 0.4], SPREAD, interval, figure, **options)
    figure.canvas.draw()
    return ax


@pytest.mark.parametrize(("level", "df"), [(0.9, 3.0), (0.95, 14.2), (0.95, math.inf)])
def test_the_region_is_that_of_two_numbers_at_once(level, df):
    outline = drawn((0.01, 0.39), level=level, df=df).lines[0].get_xydata() - [0.6, 0.4]
    expected = 2 * stats.f.ppf(level, 2, df) if df < math.inf else stats.chi2.ppf(level, 2)
    far = np.einsum("ij,jk,ik->i", outline, np.linalg.inv(SPREAD), outline)
    np.testing.assert_allclose(far, expected)


@pytest.mark.parametrize("interval", [(0.01, 0.39), (-0.2, 0.6), (0.05, math.inf)])
def test_the_diagonal_lies_between_the_lines_if_and_only_if_the_interval_contains_0(interval):
    ax = drawn(interval)
    lines = [line for line in ax.lines if line.get_color() == "#D55E00"]
    offsets = [line.get_xdata()[0] - line.get_ydata()[0] for line in lines]
    assert offsets == pytest.approx([limit for limit in interval if math.isfinite(limit)])


def test_the_interval_below_is_that_of_the_answer():
    (strip,) = drawn((0.05, 0.35), names=("x", "y", "z")).child_axes
    interval = next(line for line in strip.lines if len(line.get_xdata()) == 2)
    bounds = [tuple(line.get_xdata()) for line in strip.lines]
    assert interval.get_xdata()[0] in (0.0, 0.05)
    assert (0.05, 0.35) in bounds
    assert "95% interval" in strip.get_title(loc="left")
    assert "y − z" in strip.get_title(loc="left")
    (open_end,) = drawn((0.05, math.inf)).child_axes
    assert "one-sided" in open_end.get_title(loc="left")


def test_the_interval_below_is_that_of_the_sentence_the_stronger_first():
    figure = Figure()
    ax = reldep.plotting.region([0.3, 0.5], SPREAD, (-0.35, -0.05), figure, names="xyz")
    (strip,) = ax.child_axes
    assert strip.get_title(loc="left").startswith("z − y")
    assert (0.05, 0.35) in [tuple(line.get_xdata()) for line in strip.lines]


def test_a_region_without_spread_is_drawn_without_complaint():
    figure = Figure()
    ax = reldep.plotting.region([0.5, 0.5], np.zeros((2, 2)), (0.0, 0.0), figure)
    assert ax.get_xlim()[0] < 0.5 < ax.get_xlim()[1]


def test_the_interval_below_stays_in_the_figure_next_to_another_region():
    figure = Figure(figsize=(9.2, 6.4), layout="constrained")
    for ax in figure.subplots(1, 2):
        reldep.plotting.region([0.6, 0.4], SPREAD, (0.1, 0.3), ax)
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert ax.child_axes[0].get_tightbbox().y0 >= 0
