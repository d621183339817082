"""Intervals that are symmetric on the scale of square roots."""

import numpy as np

from reldep.stats.dependences import root_scale_intervals


def test_they_are_squares_of_symmetric_ones():
    estimates, errors, c = np.array([4.0, 1.0]), np.array([0.5, 0.3]), 2.0
    low, high = root_scale_intervals(estimates, errors, c)
    roots, margin = np.sqrt(estimates), c * errors / (2 * np.sqrt(estimates))
    np.testing.assert_allclose(low, (roots - margin) ** 2)
    np.testing.assert_allclose(high, (roots + margin) ** 2)


def test_they_reach_zero_where_plain_ones_do():
    estimates = np.array([0.5, -0.1, -5.0, 2.0])
    low, high = root_scale_intervals(estimates, np.array([0.4, 0.4, 0.4, 0.0]), 2.0)
    assert low.tolist() == [0.0, -0.1, -5.8, 2.0]
    assert (high[:2] > estimates[:2] + 0.8).all()
    assert high[3] == 2.0
