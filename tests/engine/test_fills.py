"""The compiled exponential and loops against NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from reldep.engine import fills
from reldep.engine.recipe import (
    EQUAL,
    EXP,
    EXP_ROOT,
    LINEAR,
    PRODUCT,
    ROOT,
    SIDE,
    SLOPE,
    SLOPE_ROOT,
    SUM,
    Recipe,
)
from reldep.kernels import Gaussian
from reldep.kernels.compiled import WIDTH, compiled, exponential, squared_distances_along

pytestmark = pytest.mark.xdist_group("compiled")


@compiled
def exponentials(x, shift, out):
    for j in range(len(x)):
        out[j] = exponential(x[j], shift)


def evaluated(x, shift=0.0):
    out = np.empty_like(x)
    exponentials(x, x.dtype.type(shift), out)
    return out


def relative_error(x):
    """Against the exponential in at least 18 digits, or in 53 bits more than single has."""
    exact = np.exp(x.astype(np.longdouble if x.dtype == np.float64 else np.float64))
    return float(np.abs(evaluated(x) / exact - 1).max())


def test_the_exponential_is_right_to_fourteen_digits_over_its_whole_range():
    dense = np.linspace(-708.38, 709.0, 500_001)
    tiny = np.logspace(-320, 0, 10_001)
    # Halfway between two multiples of log 2 the remainder is largest.
    halfway = (np.arange(-1021, 1023) + 0.5) * math.log(2)
    for x in (dense, tiny, -tiny, halfway, np.nextafter(halfway, 0), np.nextafter(halfway, -800)):
        assert relative_error(x) < 1e-15


def test_the_exponential_is_zero_where_it_would_not_be_a_normal_number():
    x = np.array([-708.4, -745.2, -1e4, -1e300, -np.inf])
    assert (evaluated(x) == 0).all()
    assert (evaluated(x, shift=0.25) == -0.25).all()
    assert np.exp(-708.39) < 2.3e-308


def test_the_exponential_is_exactly_one_at_zero():
    assert (evaluated(np.array([0.0, -0.0])) == 1).all()


def test_the_single_precision_exponential_is_right_to_six_digits():
    assert relative_error(np.linspace(-87.3, 80.0, 500_001).astype(np.float32)) < 3e-7
    assert (evaluated(np.array([-88, -1e30, -np.inf], dtype=np.float32)) == 0).all()


def test_uncompiled_the_exponential_is_that_of_numpy():
    assert exponential(-1.5, 0.25) == np.exp(-1.5) - 0.25


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 24])
def test_squared_distances_are_those_of_scipy_to_the_last_bit(d):
    points = np.random.default_rng(d).normal(size=(201, d))
    columns = np.array(points.T, order="C")
    out = np.zeros((2, 201))
    squared_distances_along(columns[:, 7], columns, 0, d, 201, out, 1)
    assert np.array_equal(out[1], cdist(points[7:8], points, "sqeuclidean")[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("number", "function"),
    [
        (LINEAR, lambda s, c, a: c * s),
        (ROOT, lambda s, c, a: c * np.sqrt(s)),
        (EXP, lambda s, c, a: np.exp(c * s)),
        (EXP_ROOT, lambda s, c, a: np.exp(c * np.sqrt(s))),
        (EQUAL, lambda s, c, a: s == 0),
        (SLOPE, lambda s, c, a: a * s * np.exp(c * s)),
        (SLOPE_ROOT, lambda s, c, a: a * np.sqrt(s) * np.exp(c * np.sqrt(s))),
        (SIDE, lambda s, c, a: np.select([s == 0, s > c], [a, -0.5], 0.5)),
    ],
    ids=["linear", "root", "exp", "exp of root", "equal", "slope", "slope of root", "side"],
)
def test_each_function_is_evaluated_minus_the_shift(number, function, dtype):
    source = np.random.default_rng(0).integers(0, 9, size=(2, WIDTH)).astype(dtype)
    out = np.zeros((3, WIDTH), dtype)
    c = 3.0 if number == SIDE else -0.5
    fills.evaluate(number, dtype(c), dtype(0.25), dtype(0.125), source, 1, 100, out, 2)
    expected = function(source[1, :100].astype(np.float64), c, 0.25) - 0.125
    np.testing.assert_allclose(out[2, :100], expected, rtol=10 * np.finfo(dtype).eps)
    assert not out[2, 100:].any()
    assert not out[:2].any()


@pytest.mark.parametrize(("operation", "function"), [(PRODUCT, np.prod), (SUM, np.sum)])
def test_factors_are_combined_and_the_shift_is_subtracted_once(operation, function):
    sources = np.random.default_rng(1).normal(size=(4, WIDTH))
    factors = np.array([(LINEAR, s) for s in range(3)])
    values = np.empty((1, WIDTH))
    fills.evaluate_kernels(
        factors,
        np.ones((3, 2)),
        np.array([(0, 3, operation)]),
        np.array([0.5]),
        WIDTH,
        sources,
        values,
    )
    np.testing.assert_allclose(values[0], function(sources[:3], axis=0) - 0.5, rtol=1e-12)


def test_a_recipe_in_single_precision_holds_single_columns():
    from reldep._reading import read_variable

    rows = read_variable(np.random.default_rng(0).normal(size=(20, 3)), "x")
    recipe = Recipe.of([Gaussian(bandwidth=2.0).fit(rows)], "single")
    assert recipe.columns.dtype == recipe.parameters.dtype == np.float32
    assert recipe.parameters.tolist() == [[-0.125, 0.0]]
