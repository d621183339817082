"""The features engine, against rational arithmetic."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.data.variables import Labels
from reldep.engine import Dense, Features, compute_influence
from reldep.kernels import Linear
from reldep.kernels.explicit import FittedDelta, FittedDot


def hsic(kernels):
    return float(compute_influence(kernels, [("x", "y")], Features()).estimates[0])


def exact_hsic_of_numbers(x, y):
    """HSIC of linear kernels of two columns of integers, in rational arithmetic."""
    x, y = [int(v) for v in x], [int(v) for v in y]
    m = len(x)
    sum_x, sum_y = sum(x), sum(y)
    k = [v * (sum_x - v) for v in x]
    l = [v * (sum_y - v) for v in y]  # noqa: E741
    products = [a * b for a, b in zip(x, y, strict=True)]
    trace = sum(products) ** 2 - sum(p * p for p in products)
    crossed = sum(a * b for a, b in zip(k, l, strict=True))
    total = trace + Fraction(sum(k) * sum(l), (m - 1) * (m - 2)) - Fraction(2 * crossed, m - 2)
    return total / (m * (m - 3))


def relative_gap(value, exact):
    """|value - exact| / |exact| without rounding the exact value."""
    return float(abs(Fraction(value) - exact) / abs(exact))


def test_hsic_of_100_000_numbers_agrees_with_rational_arithmetic():
    rng = np.random.default_rng(3)
    x = rng.integers(-50, 50, 100_000)
    y = x // 10 + rng.integers(-60, 60, 100_000)
    kernels = {k: Linear().fit(read_variable(v + 1_000.0, k)) for k, v in (("x", x), ("y", y))}
    assert relative_gap(hsic(kernels), exact_hsic_of_numbers(x, y)) < 1e-12


def test_features_far_from_the_origin_keep_their_digits():
    # FittedDot is given raw rows here: no kernel has centred them.
    rng = np.random.default_rng(4)
    x = rng.integers(-50, 50, 50_000)
    y = x + rng.integers(-60, 60, 50_000)
    kernels = {
        "x": FittedDot(x[:, None] + 1e6, "raw"),
        "y": FittedDot(sparse.csr_array(y[:, None] * 1.0), "raw"),
    }
    found = hsic(kernels)
    assert relative_gap(found, exact_hsic_of_numbers(x, y)) < 1e-9


def test_hsic_of_labels_is_that_of_their_table_of_counts():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 7, 200_000)
    y = (x + rng.integers(0, 5, 200_000)) % 6
    kernels = {
        name: FittedDelta(Labels(name, codes, tuple(range(7))))
        for name, codes in zip("xy", (x, y), strict=True)
    }
    found = hsic(kernels)
    table = np.zeros((7, 6), dtype=object)
    np.add.at(table, (x, y), 1)
    m, rows, cols = len(x), table.sum(axis=1), table.sum(axis=0)
    trace = (table * (table - 1)).sum()
    k, l = rows - 1, cols - 1  # noqa: E741
    crossed = (table * np.multiply.outer(k, l)).sum()
    total = trace + Fraction(int((rows * k).sum() * (cols * l).sum()), (m - 1) * (m - 2))
    total -= Fraction(2 * int(crossed), m - 2)
    assert relative_gap(found, total / (m * (m - 3))) < 1e-10


def test_more_columns_than_rows_are_turned_into_the_row_space():
    rng = np.random.default_rng(8)
    wide = {name: FittedDot(rng.normal(size=(12, 5_000)), "wide") for name in "xy"}
    tracemalloc.start()
    found = compute_influence(wide, [("x", "y")], Features()).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = compute_influence(wide, [("x", "y")], Dense()).values
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert peak < 20e6  # a 5,000 × 5,000 product would take 200 MB
