"""Both sides of every size at which another algorithm takes over.

The answer on either side agrees with one exact reference on the same data; units, the order of the
arguments and of the rows do not matter; the levels of the tests are the nominal ones.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binom

import reldep
from reldep.engine.choose import SIZES as SIZES_OF_ENGINES
from reldep.kernels import Gaussian, Laplace
from test_method_page import Page

# The last number of rows of one algorithm, by its name, and the columns to look at it with.
TABLE = {
    "dense_rows": (SIZES_OF_ENGINES.dense_rows, 1),
    "followed_rows": (SIZES_OF_ENGINES.followed_rows, 3),
}

# Sizes that are not numbers of rows, or are too large for an exact reference here: these tests of
# tests/engine/test_engines.py pass them as parameters and compare both sides with the definition.
ELSEWHERE = {
    **dict.fromkeys(
        ("line_features", "feature_products", "sparse_product", "tiled_seconds", "slow_rows"),
        "both sides of every size",
    ),
    "again_rows": "products with a far observation",
    "scan_columns": "a scan gives the numbers of single questions",
}


def test_every_size_at_which_another_algorithm_takes_over_has_a_row():
    declared = {field.name for field in fields(SIZES_OF_ENGINES)}
    assert declared == set(TABLE) | set(ELSEWHERE)


@pytest.mark.parametrize("n", [5_000, 5_001])
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace("mean")], ids=str)
def test_scales_of_all_and_of_sampled_distances_agree(kernel, n):
    """Beyond 5,000 rows some distances are sampled, each row as often as any other."""
    x = np.random.default_rng(n).normal(size=(n, 2))
    distances = pdist(x)
    exact = np.median(distances) if kernel.bandwidth == "median" else distances.mean()
    found = kernel.fit(x).describe()["bandwidth"]
    assert found == pytest.approx(exact, rel=1e-12 if n == 5_000 else 2e-3)
    assert ("sampled" in kernel.fit(x).describe()["rule"]) == (n > 5_000)


@pytest.mark.parametrize("n", [10_000, 10_001])
def test_centres_of_all_and_of_sampled_rows_keep_the_same_digits(n):
    """Beyond 10,000 rows points are centred on the median of some; any centre changes nothing."""
    x, noise = np.random.default_rng(n).normal(size=(2, n))
    y = x + noise
    near, far = (reldep.hsic(x + shift, y - shift, kernel="linear") for shift in (0.0, 2.0**20))
    # The U-statistic of two columns is that of their products.
    x, y = x - x.mean(), y - y.mean()
    k, l, q = -(x**2), -(y**2), x * y  # noqa: E741
    total = q.sum() ** 2 - (q**2).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2))
    expected = (total - 2 * (k @ l) / (n - 2)) / (n * (n - 3))
    assert near == pytest.approx(expected, rel=1e-9)
    assert far == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("n", [4_096, 4_097])
def test_permutations_of_more_rows_than_matrices_can_hold_are_refused(n):
    x, y = np.random.default_rng(n).normal(size=(2, n))
    options = {"test": "permutation", "n_permutations": 19, "rng": 0}
    if n == 4_096:
        assert reldep.dependence(x, x + y, **options).pvalue == 0.05
    else:
        with pytest.raises(ValueError, match=r"4,097 observations are more than 4,096; use"):
            reldep.dependence(x, y, **options)


SIDES = [
    pytest.param(n, columns, id=f"{what} at {n}")
    for what, (last, columns) in TABLE.items()
    for n in (last, last + 1)
]
sides = pytest.mark.parametrize(("n", "columns"), SIDES)


def sample(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    y = x + rng.normal(size=x.shape)
    return {"x": x, "y": y, "z": np.sin(2 * x) + 0.7 * rng.standard_t(4, size=x.shape)}


@sides
@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_answers_on_either_side_are_those_of_the_method_page(n, columns, measure):
    data = sample(n, columns)
    found = reldep.compare(*data.values(), measure=measure)
    difference, null, _, _ = Page(data, measure).compare()
    assert found.estimate == pytest.approx(difference, rel=1e-8)
    # Of many rows some distances show how the bandwidth moves the answer.
    assert found.statistic == pytest.approx(difference / np.sqrt(null), rel=1e-3)


@sides
@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_units_and_orders_do_not_matter(n, columns, measure):
    data = sample(n, columns)
    first = reldep.compare(*data.values(), measure=measure)
    x, y, z = data.values()
    others = {
        "units": reldep.compare(1e-6 * x, 1e4 * y, 1e6 * z, measure=measure),
        "targets": reldep.compare(x, z, y, measure=measure),
        "rows": reldep.compare(x[::-1], y[::-1], z[::-1], measure=measure),
    }
    for what, other in others.items():
        sign = -1 if what == "targets" else 1
        assert sign * other.estimate == pytest.approx(first.estimate, rel=1e-8), what
        assert other.standard_error == pytest.approx(first.standard_error, rel=5e-3), what


SIZES = sorted({side.values[0] for side in SIDES})


def is_level(n_rejected, n_tests, level=0.05):
    """Check a number of rejections by the binomial law, at odds of one in a thousand."""
    return n_rejected <= binom.isf(1e-3, n_tests, level)


@pytest.mark.parametrize("n", SIZES)
def test_independent_variables_are_called_dependent_in_five_percent(n):
    """All pairs of twelve columns: 66 p-values that are nearly independent of each other."""
    columns = np.random.default_rng(n).normal(size=(12, n))
    found = reldep.matrix(dict(zip("abcdefghijkl", columns, strict=True)))
    pvalues = found.to_frame()["pvalue"].to_numpy()
    assert is_level((pvalues < 0.05).sum(), len(pvalues))
    x, y = columns[:2]
    assert reldep.dependence(x, y).pvalue == pytest.approx(pvalues[0], rel=0.3, abs=0.02)


@pytest.mark.parametrize("n", SIZES)
def test_a_dependence_that_exists_is_found(n):
    x, noise = np.random.default_rng(n).normal(size=(2, n))
    assert reldep.dependence(x, 0.2 * x + noise).pvalue < 1e-4


@pytest.mark.parametrize("n", SIZES)
def test_equally_strong_dependences_differ_in_five_percent(n):
    rng, rejected = np.random.default_rng(n), 0
    for _ in range(12):
        x, one, other = rng.normal(size=(3, n))
        found = reldep.compare(x, x + one, x + other, alternative="two-sided")
        rejected += found.pvalue < 0.05
    assert is_level(rejected, 12)
