"""TimeSeries: all alignments by hand, the median rule, and every refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from reldep.kernels import TimeSeries

ALL = slice(None)

SERIES = [[1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0], [0.5, -1.0], [2.0]]


def alignments(n, m):
    """All ways through a grid by steps right, down or both."""
    if n == 0 and m == 0:
        yield [(0, 0)]
        return
    for i, j in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        if i >= 0 and j >= 0:
            for path in alignments(i, j):
                yield [*path, (n, m)]


def alignment_sum(x, y, sigma):
    kappa = np.exp(-np.square(np.subtract.outer(x, y)) / (2 * sigma**2))
    local = kappa / (2 - kappa)
    paths = alignments(len(x) - 1, len(y) - 1)
    return sum(np.prod([local[cell] for cell in path]) for path in paths)


def test_the_kernel_adds_up_all_alignments():
    sums = np.array([[alignment_sum(x, y, 2.0) for y in SERIES] for x in SERIES])
    sizes = np.sqrt(np.diag(sums))
    expected = sums / np.outer(sizes, sizes)
    np.testing.assert_allclose(TimeSeries(bandwidth=2)(SERIES), expected, rtol=1e-12)


def test_long_series_neither_overflow_nor_vanish():
    t = np.linspace(0, 30, 500)
    values = TimeSeries(bandwidth=20)([np.sin(t), np.sin(t + 0.1), np.cos(2 * t)])
    assert np.isfinite(values).all()
    assert values[0, 1] > values[0, 2] > 0


def test_tables_arrays_and_lists_are_series():
    table = np.random.default_rng(0).normal(size=(5, 4))
    expected = TimeSeries(bandwidth=3)(table)
    for data in (table.tolist(), table[..., None], [row[:, None] for row in table]):
        np.testing.assert_allclose(TimeSeries(bandwidth=3)(data), expected)


def test_the_bandwidth_is_the_median_distance_times_the_root_of_the_median_length():
    fitted = TimeSeries(factor=0.5).fit(SERIES)
    points = np.concatenate(SERIES)
    distances = np.abs(points[:, None] - points)[np.triu_indices(len(points), 1)]
    described = fitted.describe()
    assert described["bandwidth"] == pytest.approx(0.5 * np.median(distances) * np.sqrt(2.5))
    assert described["rule"] == "0.5 × median"
    assert fitted.label == f"TimeSeries(bandwidth={described['bandwidth']:.6g})"
    assert fitted.scaled(2.0).describe()["bandwidth"] == pytest.approx(2 * described["bandwidth"])


def test_the_median_over_many_points_is_repeatable_and_close():
    data = np.random.default_rng(1).normal(size=(40, 50))
    first, second = (TimeSeries().fit(data).describe()["bandwidth"] for _ in range(2))
    assert first == second
    # The median distance of two standard normal numbers is √2 · 0.6745.
    assert first == pytest.approx(np.sqrt(2) * 0.6745 * np.sqrt(50), rel=0.05)


def test_flat_series_take_the_median_of_the_other_distances():
    data = np.zeros((6, 5))
    data[0, 0] = 3.0
    fitted = TimeSeries().fit(data)
    assert fitted.describe()["rule"] == "median of the non-zero distances"
    assert fitted.describe()["bandwidth"] == pytest.approx(3 * np.sqrt(5))


def walks(n, longest, n_columns, *, equal):
    rng = np.random.default_rng(longest)
    lengths = [longest if equal else rng.integers(longest // 2, longest + 1) for _ in range(n)]
    return [rng.normal(size=(length, n_columns)).cumsum(axis=0) for length in lengths]


@pytest.mark.parametrize(
    ("data", "bandwidth"),
    [
        (walks(9, 30, 1, equal=True), 20.0),
        (walks(9, 30, 2, equal=False), 20.0),
        (walks(4, 450, 1, equal=False), 300.0),
        (walks(6, 20, 1, equal=False), 0.3),
        ([np.array([[1.0]]), np.array([[2.0], [1.0]]), np.array([[0.0]])], 1.0),
    ],
    ids=["equal lengths", "tables", "long", "narrow", "single points"],
)
def test_the_values_are_those_of_tslearn(data, bandwidth):
    from tslearn.metrics import cdist_gak
    from tslearn.utils import to_time_series_dataset

    fitted = TimeSeries(bandwidth).fit(data)
    expected = cdist_gak(to_time_series_dataset(data), sigma=bandwidth)
    np.testing.assert_allclose(fitted(ALL, ALL), expected, atol=1e-11)
    half = len(data) // 2
    block = fitted(slice(0, half), slice(half, len(data)))
    np.testing.assert_allclose(block, expected[:half, half:], atol=1e-11)


def test_series_of_pandas_and_polars_are_series():
    expected = TimeSeries(bandwidth=2)(SERIES)
    for library in (pd.Series, pl.Series):
        values = TimeSeries(bandwidth=2)([library(row) for row in SERIES])
        np.testing.assert_array_equal(values, expected)
    frames = [pd.DataFrame({"level": row}) for row in SERIES]
    np.testing.assert_array_equal(TimeSeries(bandwidth=2)(frames), expected)
