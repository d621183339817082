"""The second-order variance, as numbers and as a matrix."""

import numpy as np
import pytest

from reldep.stats.dependences import corrected_variance
from reldep.stats.second_order import agreeing_with, second_order_covariance


def positive(rng, p, scale=1.0):
    root = rng.normal(size=(p, p))
    return scale * root @ root.T


def smallest_eigenvalue(matrix):
    return np.linalg.eigvalsh(matrix).min() / np.abs(matrix).max()


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        (10.0, 1.0, 9.0),  # dependence: take the second component off once
        (2.0, 1.5, 1.5),  # independence: it is all there is
        (3.0, -0.5, 3.0),  # few rows, a negative estimate: nothing to take off
        (-0.5, 1e-12, 1e-12),  # what is left of C is below 0: M is the larger
    ],
)
def test_one_estimate_has_the_larger_of_the_two_variances(whole, part, expected):
    matrices = np.array([[whole]]), np.array([[part]])
    assert corrected_variance(whole, part) == expected
    assert second_order_covariance(*matrices)[0, 0] == pytest.approx(expected)


def test_where_the_first_component_dominates_the_second_is_taken_off_once():
    rng = np.random.default_rng(0)
    second = positive(rng, 4)
    plug_in = 2 * second + positive(rng, 4)
    assert second_order_covariance(plug_in, second) == pytest.approx(plug_in - second)


def test_no_contrast_has_less_variance_than_by_its_own_rule():
    rng = np.random.default_rng(1)
    for _ in range(50):
        plug_in, second = positive(rng, 4), positive(rng, 4, 0.5)
        matrix = second_order_covariance(plug_in, second)
        weights = rng.normal(size=4)
        own = corrected_variance(weights @ plug_in @ weights, weights @ second @ weights)
        assert weights @ matrix @ weights >= own * (1 - 1e-12)
        assert smallest_eigenvalue(matrix) > -1e-12


def test_the_matrix_does_not_depend_on_the_scale_of_an_estimate():
    rng = np.random.default_rng(2)
    plug_in, second = positive(rng, 3), positive(rng, 3, 0.5)
    units = np.diag([1.0, 1e-4, 1e3])
    scaled = second_order_covariance(units @ plug_in @ units, units @ second @ units)
    assert scaled == pytest.approx(units @ second_order_covariance(plug_in, second) @ units)


def test_an_estimate_without_variance_keeps_none():
    plug_in = np.diag([0.0, 4.0])
    assert second_order_covariance(plug_in, np.diag([0.0, 1.0])) == pytest.approx(
        np.diag([0.0, 3.0])
    )


@pytest.mark.parametrize("variance", [1e-6, 0.5, 20.0])
def test_a_matrix_is_moved_to_agree_with_a_contrast(variance):
    rng = np.random.default_rng(3)
    matrix, weights = positive(rng, 3), np.array([1.0, -2.0, 0.5])
    moved = agreeing_with(matrix, weights, variance)
    assert weights @ moved @ weights == pytest.approx(variance)
    assert smallest_eigenvalue(moved) > -1e-12
    assert np.linalg.matrix_rank(moved - matrix, tol=1e-9) == 1


def test_a_matrix_that_agrees_already_is_left_alone():
    matrix = np.diag([0.00075, 0.001332])
    weights = np.array([1.0, -1.0])
    nearly = float(weights @ matrix @ weights) * (1 + 1e-15)
    assert (agreeing_with(matrix, weights, nearly) == matrix).all()
    assert (agreeing_with(np.zeros((1, 1)), np.ones(1), 0.0) == 0).all()
