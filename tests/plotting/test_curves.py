from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

import reldep
from reldep import plotting

FACTORS, STATISTICS = [0.25, 0.5, 1.0, 2.0], np.array([-4.0, -2.0, 2.0, 3.0])


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(statistics=STATISTICS):
    return plotting.bandwidths(FACTORS, statistics, np.full(4, 1.96), np.full(4, 2.2), first="y")


def test_the_statistic_is_drawn_over_the_bandwidth_with_both_critical_values():
    ax = drawn()
    (curve,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(curve.get_ydata(), STATISTICS)
    assert ax.get_xscale() == "log"
    dashed = {float(line.get_ydata()[0]) for line in ax.lines if line.get_linestyle() == "--"}
    assert dashed == {-1.96, 1.96}
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-2.2, 2.2)
    assert ax.texts[0].get_text() == "t = ±1.96"
    assert ax.get_ylabel() == "t, positive: y stronger"


def test_sign_change_is_marked_where_the_curve_crosses_zero():
    ax = drawn()
    (mark,) = [line for line in ax.lines if line.get_label().startswith("sign changes")]
    # Halfway between 0.5 and 1 on the logarithmic axis: the statistic is -2 and 2 there.
    np.testing.assert_allclose(mark.get_xdata(), 0.5**0.5)
    assert legend(ax) == ["sign changes at 0.71 times the bandwidth"]
    assert drawn(np.abs(STATISTICS)).get_legend() is None


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_an_answer_draws_the_critical_values_of_its_own_test(triple, alternative, picture_of):
    answer = reldep.sensitivity(*triple, factors=[0.5, 1, 2], alternative=alternative)
    ax = picture_of(answer)
    upper = next(
        line for line in ax.lines if line.get_linestyle() == "--" and line.get_ydata()[0] > 0
    )
    tail = 0.025 if alternative == "two-sided" else 0.05
    np.testing.assert_allclose(
        upper.get_ydata(), t.isf(tail, [one.df for one in answer.across.tests])
    )
