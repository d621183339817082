"""The ruler of correlations: dependences stand where the curve puts them."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import reldep


def drawn(**options):
    figure = Figure()
    values, low, high = [0.115, 0.02], [0.05, 0.0], [0.2, 0.06]
    ax = reldep.plotting.strength(["a ~ b", "a ~ c"], values, low, high, figure, **options)
    figure.canvas.draw()
    return ax


def test_a_dependence_stands_at_its_correlation():
    ax = drawn()
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert dots[0].get_xdata()[0] == pytest.approx(0.5, abs=1e-3)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a ~ b", "a ~ c"]


def test_what_is_not_shown_to_exist_is_hollow():
    dots = [line for line in drawn().lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, True]


@pytest.mark.parametrize("kernel", ["laplace", "gaussian", "linear", "distance"])
def test_marks_are_far_enough_apart_to_be_read(kernel):
    places = drawn(kernel=kernel).get_xticks()
    assert places[0] == 0
    assert places[-1] == pytest.approx(1)
    assert np.diff(places).min() >= 0.045
