"""Both sides of every size at which another algorithm takes over.

The answer on either side agrees with one exact reference on the same data; units, the order of the
arguments and of the rows do not matter; the levels of the tests are the nominal ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binom

import reldep
from reldep.engine.choose import SIZES as SIZES_OF_ENGINES
from reldep.kernels import Gaussian, Laplace

PAIRS = [("x", "y"), ("x", "z"), ("x", "x"), ("y", "y"), ("z", "z")]


@dataclass(frozen=True)
class Threshold:
    """A number of rows up to which one algorithm serves, and another from the next on."""

    what: str
    last: int
    columns: int

    def __str__(self):
        return f"{self.what}, {self.last} rows, {self.columns} columns"


TABLE = [
    Threshold("dense_rows", SIZES_OF_ENGINES.dense_rows, 1),
    Threshold("followed_rows", SIZES_OF_ENGINES.followed_rows, 3),
]

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
    assert declared == {row.what for row in TABLE} | set(ELSEWHERE)


@pytest.mark.parametrize("n", [5_000, 5_001])
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace("mean")], ids=str)
def test_scales_of_all_and_of_sampled_distances_agree(kernel, n):
    """Beyond 5,000 rows some distances are sampled, each row as often as any other."""
    x = np.random.default_rng(n).normal(size=(n, 2))
    distances = pdist(x)
    exact = np.median(distances) if kernel.bandwidth == "median" else distances.mean()
    found = kernel.fit(x).describe()["bandwidth"]
    assert found == pytest.approx(exact, rel=1e-12 if n == 5_000 else 2e-3)


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


SIDES = [(row, n) for row in TABLE for n in (row.last, row.last + 1)]
sides = pytest.mark.parametrize(("row", "n"), SIDES, ids=[f"{row} at {n}" for row, n in SIDES])


def sample(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    y = x + rng.normal(size=x.shape)
    return {"x": x, "y": y, "z": np.sin(2 * x) + 0.7 * rng.standard_t(4, size=x.shape)}


class Exact:
    """Laplace kernels at the mean distance, some rows of each matrix at a time, by definition.

    With `measure="dcor"` the kernels are distances, which have no bandwidth.
    """

    def __init__(self, variables, measure):
        self.is_distance = measure == "dcor"
        self.variables = {name: np.asarray(values) for name, values in variables.items()}
        self.n = len(self.variables["x"])
        self.distances = {name: self.row_means(name, self.distance) for name in variables}
        self.widths = {name: means.mean() for name, means in self.distances.items()}
        self.effects = {}
        for name in variables:
            sums = (self.n - 1) * self.row_means(name, self.kernel)
            self.effects[name] = (sums - sums.sum() / (2 * (self.n - 1))) / (self.n - 2)

    def runs(self):
        return (slice(start, start + 500) for start in range(0, self.n, 500))

    def distance(self, name, rows):
        points = self.variables[name]
        squares = sum((points[rows, None, c] - points[:, c]) ** 2 for c in range(points.shape[1]))
        return np.sqrt(squares)

    def kernel(self, name, rows):
        distances = self.distance(name, rows)
        return -distances if self.is_distance else np.exp(-distances / self.widths[name])

    def slope(self, name, rows):
        scaled = self.distance(name, rows) / self.widths[name]
        return scaled * np.exp(-scaled)

    def row_means(self, name, of):
        return np.concatenate(
            [self.without_diagonal(of(name, rows), rows).sum(1) for rows in self.runs()]
        ) / (self.n - 1)

    @staticmethod
    def without_diagonal(block, rows):
        block[np.arange(len(block)), np.arange(len(block)) + rows.start] = 0.0
        return block

    def centred(self, name, rows):
        effects = self.effects[name]
        return self.without_diagonal(self.kernel(name, rows) - effects[rows, None] - effects, rows)

    def difference(self):
        """Return CKA(x, y) - CKA(x, z) and its jackknife standard error."""
        m = self.n
        q, moved = np.zeros((len(PAIRS), m)), np.zeros(len(PAIRS) * 2)
        for rows in self.runs():
            blocks = {name: self.centred(name, rows) for name in self.variables}
            slopes = {} if self.is_distance else {n: self.slope(n, rows) for n in self.variables}
            for p, (a, b) in enumerate(PAIRS):
                q[p, rows] = (blocks[a] * blocks[b]).sum(1)
                for side, (own, other) in enumerate(((a, b), (b, a))):
                    if slopes:
                        moved[2 * p + side] += (slopes[own] * blocks[other]).sum()
        A = ((m - 2) * q + q.sum(1, keepdims=True)) / (2 * (m - 1) * (m - 3))
        H = A.mean(1, keepdims=True)
        without = H - 4 * (A - H) / (m - 4)
        for p, pair in enumerate(PAIRS):
            for side, name in enumerate(pair):
                leverage = 2 * (self.distances[name] / self.widths[name] - 1)
                without[p] -= moved[2 * p + side] / (m * (m - 3)) * leverage / (m - 1)

        def theta(values):
            xy, xz, xx, yy, zz = values
            return xy / np.sqrt(xx * yy) - xz / np.sqrt(xx * zz)

        left_out = theta(without)
        variance = (m - 1) / m * ((left_out - left_out.mean()) ** 2).sum()
        return float(theta(H)[0]), float(np.sqrt(variance))


@pytest.mark.parametrize("row", TABLE, ids=str)
@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_answers_on_either_side_are_those_of_all_pairs(row, measure):
    """The two samples differ by one row, so that errors have the same factor for small samples."""
    ratios = []
    for n in (row.last, row.last + 1):
        data = {name: values[:n] for name, values in sample(row.last + 1, row.columns).items()}
        found = reldep.compare(*data.values(), measure=measure)
        estimate, error = Exact(data, measure).difference()
        assert found.estimate == pytest.approx(estimate, rel=1e-8)
        ratios.append(found.standard_error / error)
    assert ratios[0] == pytest.approx(1, abs=0.1)
    assert ratios[1] == pytest.approx(ratios[0], rel=5e-3)


@sides
@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_units_and_orders_do_not_matter(row, n, measure):
    data = sample(n, row.columns)
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


SIZES = sorted({n for _, n in SIDES})


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
