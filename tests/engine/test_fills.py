"""Compiled powers and loops against NumPy and SciPy."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from reldep.data.objects import read_variable
from reldep.engine import Tiled, Wanted
from reldep.engine.sweeps import fills
from reldep.engine.sweeps.recipe import PRODUCT, SUM, Recipe, suits_single_precision
from reldep.engine.terms import row_means
from reldep.kernels import Distance, Gaussian, Laplace, Linear
from reldep.kernels.base import (
    EQUAL,
    LINEAR,
    NEAR,
    POWER,
    POWER_ROOT,
    ROOT,
    SIDE,
    SLOPE,
    SLOPE_ROOT,
)
from reldep.kernels.compiled import (
    WIDTH,
    compiled,
    power_of_two,
    power_of_two_or_zero,
    squared_distances_along,
)


@compiled
def powers(c, s, shift, out):
    for j in range(len(s)):
        out[0, j] = power_of_two(c, s[j], shift)
        out[1, j] = power_of_two_or_zero(c, s[j], shift)


def evaluated(x, c=1.0, shift=0.0):
    out = np.empty((2, len(x)), x.dtype)
    powers(x.dtype.type(c), x, x.dtype.type(shift), out)
    return out


def relative_error(x):
    """Against at least 18 digits, or 53 bits where single precision has 24."""
    exact = np.exp2(x.astype(np.longdouble if x.dtype == np.float64 else np.float64))
    return float(np.abs(evaluated(x) / exact - 1).max())


def test_powers_are_right_to_fourteen_digits_over_their_whole_range():
    dense = np.linspace(-1021.99, 1023.0, 500_001)
    tiny = np.logspace(-320, 0, 10_001)
    # Halfway between two whole numbers the remainder is largest.
    halfway = np.arange(-1021, 1023) + 0.5
    for x in (dense, tiny, -tiny, halfway, np.nextafter(halfway, 0), np.nextafter(halfway, -2e3)):
        assert relative_error(x) < 1e-15


def test_a_power_is_zero_where_it_would_not_be_a_normal_number():
    x = np.array([-1022.5, -1075, -1e4, -1e300, -np.inf])
    assert (evaluated(x)[1] == 0).all()
    assert (evaluated(x, shift=0.25)[1] == -0.25).all()
    assert np.finfo(np.float64).tiny == 2.0**-1022


def test_powers_of_whole_numbers_are_exact():
    x = np.arange(-1021.0, 1023.0)
    assert np.array_equal(evaluated(x), np.exp2([x, x]))


def test_powers_in_single_precision_are_right_to_six_digits():
    assert relative_error(np.linspace(-125.9, 120.0, 500_001).astype(np.float32)) < 3e-7
    assert (evaluated(np.array([-127, -1e30, -np.inf], dtype=np.float32))[1] == 0).all()


def test_the_factor_costs_no_accuracy():
    s = np.linspace(0, 300, 100_001)
    c = -1 / math.log(8)
    exact = np.exp2(np.longdouble(c) * s.astype(np.longdouble))
    assert float(np.abs(evaluated(s, c) / exact - 1).max()) < 3e-14
    assert float(np.abs(evaluated(s, c) - exact).max()) < 5e-16


@pytest.mark.parametrize("function", [power_of_two, power_of_two_or_zero])
def test_uncompiled_powers_are_those_of_python(function):
    assert function(-0.5, 3.0, 0.25) == 2**-1.5 - 0.25


def test_uncompiled_powers_that_are_not_normal_are_zero():
    assert power_of_two_or_zero(-1.0, 1030.0, 0.5) == -0.5


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 24])
def test_squared_distances_are_those_of_scipy_to_the_last_bit(d):
    points = np.random.default_rng(d).normal(size=(201, d))
    columns = np.array(points.T, order="C")
    out = np.zeros((2, 201))
    squared_distances_along(columns, 7, columns, 0, d, 201, out, 1)
    assert np.array_equal(out[1], cdist(points[7:8], points, "sqeuclidean")[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("number", "function"),
    [
        (LINEAR, lambda s, c, a: c * s),
        (ROOT, lambda s, c, a: c * np.sqrt(s)),
        (POWER, lambda s, c, a: 2 ** (c * s)),
        (NEAR, lambda s, c, a: 2 ** (c * s)),
        (POWER_ROOT, lambda s, c, a: 2 ** (c * np.sqrt(s))),
        (EQUAL, lambda s, c, a: np.where(s == 0, a, c)),
        (SLOPE, lambda s, c, a: a * s * 2 ** (c * s)),
        (SLOPE_ROOT, lambda s, c, a: a * np.sqrt(s) * 2 ** (c * np.sqrt(s))),
        (SIDE, lambda s, c, a: np.select([s == 0, s > c], [a, -0.5], 0.5)),
    ],
    ids=[
        "linear",
        "root",
        "power",
        "near",
        "power of root",
        "equal",
        "slope",
        "slope of root",
        "side",
    ],
)
def test_each_function_is_evaluated_minus_the_shift(number, function, dtype):
    source = np.random.default_rng(0).integers(0, 9, size=(2, WIDTH)).astype(dtype)
    out = np.zeros((2, 3, WIDTH), dtype)
    c = 3.0 if number == SIDE else -0.5
    fills.evaluate(number, dtype(c), dtype(0.25), dtype(0.125), source, 1, 100, out, 1, 2)
    expected = function(source[1, :100].astype(np.float64), c, 0.25) - 0.125
    np.testing.assert_allclose(out[1, 2, :100], expected, rtol=10 * np.finfo(dtype).eps)
    assert not out[1, 2, 100:].any()
    assert not out[0].any()
    assert not out[1, :2].any()


@pytest.mark.parametrize(("operation", "function"), [(PRODUCT, np.prod), (SUM, np.sum)])
def test_factors_are_combined_and_the_shift_is_subtracted_once(operation, function):
    sources = np.random.default_rng(1).normal(size=(3, WIDTH))
    factors = np.array([(LINEAR, s) for s in range(3)])
    values = np.empty((1, 1, WIDTH))
    fills.evaluate_kernels(
        factors,
        np.ones((3, 2)),
        np.array([(0, 3, operation)]),
        np.array([0.5]),
        WIDTH,
        sources,
        np.empty_like(values),
        values,
        0,
    )
    np.testing.assert_allclose(values[0, 0], function(sources, axis=0) - 0.5, rtol=1e-12)


def gaussian_on(rows, bandwidth):
    return Gaussian(bandwidth=bandwidth).fit(read_variable(rows, "x"))


def test_a_recipe_in_single_precision_holds_single_columns():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    kernel = gaussian_on(rows, 2.0)
    recipe = Recipe.of([kernel], "single")
    assert recipe.columns.dtype == recipe.parameters.dtype == np.float32
    # Coordinates carry the width, so that a rounded coefficient is no other bandwidth.
    np.testing.assert_array_equal(recipe.parameters, [[-1.0, 0.0]])
    width = math.sqrt(0.125 / math.log(2))
    np.testing.assert_allclose(recipe.columns, width * kernel.points.rows.T, rtol=1e-6, atol=1e-7)


def test_kernels_that_share_points_share_them_in_single_precision_too():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    kernel = gaussian_on(rows, 2.0)
    recipe = Recipe.of([kernel, kernel.scaled(2.0)], "single")
    assert len(recipe.columns) == 3
    expected = [[-0.125 / math.log(2), 0.0], [-0.03125 / math.log(2), 0.0]]
    np.testing.assert_allclose(recipe.parameters, expected, rtol=1e-7)


@pytest.mark.parametrize(
    ("kernel", "suits"),
    [
        (Gaussian(2.0), True),
        (Laplace(2.0), True),
        (Gaussian(0.01), False),
        (Distance(), False),
        (Linear(), False),
    ],
)
def test_single_precision_is_for_bounded_kernels_of_a_width_not_far_below_that_of_the_data(
    kernel, suits
):
    rows = np.random.default_rng(0).normal(size=(50, 3))
    assert suits_single_precision(kernel.fit(read_variable(rows, "x"))) is suits


def test_one_cloud_far_away_does_not_suit_single_precision():
    rows = np.random.default_rng(0).normal(size=(50, 1))
    rows[:20] += 1e3
    assert not suits_single_precision(gaussian_on(rows, 1.0))


def test_far_points_get_the_function_that_gives_zero():
    rows = np.zeros((20, 1))
    rows[0] = 60.0
    functions = [
        Recipe.of([gaussian_on(rows, width)], precision).factors[0, 0]
        for width, precision in ((10.0, "double"), (1.0, "double"), (6.0, "single"))
    ]
    assert functions == [NEAR, POWER, POWER]
    kernel = gaussian_on(rows, 1.0)
    wanted = Wanted((), row_sums=("x",))
    terms = Tiled(compiled=True).terms({"x": kernel}, wanted)
    np.testing.assert_allclose(row_means(terms, "x"), [0.0] + [18 / 19] * 19, atol=1e-15)


READ_ONLY = """
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
import numpy as np
from reldep.kernels.compiled import count_up_to
print(count_up_to(np.arange(4.0), 1.0))
"""


def test_where_nothing_can_be_written_code_is_compiled_without_a_cache():
    answer = subprocess.run(
        [sys.executable, "-c", READ_ONLY],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert answer.stdout == "3\n"
