"""Rows in clusters: tuples from different clusters, exact deletions, and tests of independence."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import f as f_law

from reldep.engine.clusters import (
    ClusteredKernel,
    Clustering,
    block_products,
    masked_hsic,
    masked_hsics,
)
from reldep.stats.estimates import estimates
from reldep.stats.independence import (
    block_f_test,
    circular_shifts,
    circular_test,
    cluster_independence,
    sign_flip_test,
)
from reldep.stats.units import Units
from stats.dense_terms import all_means, compared, distance, gaussian, hsic, left_out, triple

TWO = [("x", "y"), ("x", "z")]
# Of an independent implementation: clustered(), clusters of equal weight.
# Estimate, standard error, degrees of freedom, two-sided p-value.
REFERENCE = {
    "hsic": (0.0067823656754953665, 0.014508519507333067, 3.568990009064983, 0.6672553696591983),
    "cka": (0.058273564776424175, 0.17372468482317985, 4.115390223801528, 0.7537013306868103),
    "dcor": (0.11618739396274991, 0.1991625064853668, 4.567958545995455, 0.5872423095584307),
}


def clustered(sizes=(3, 5, 2, 7, 4, 4, 6, 3), seed=2):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    m = len(codes)
    x = rng.normal(size=len(sizes))[codes] + rng.normal(size=m)
    return codes, {"x": x, "y": x + rng.normal(size=m), "z": x + 1.5 * rng.normal(size=m)}


def kernels_of(data, clustering, kernel=gaussian):
    return {name: ClusteredKernel.of(kernel(x), clustering) for name, x in data.items()}


def found_of(kernels, measure, clustering):
    return estimates(Units.clusters(kernels, TWO, clustering), measure, TWO)


def by_definition(K, L, codes, weights):
    """Averages over ordered pairs, triples and 4-tuples of rows in different clusters, by loops."""
    averages = []
    for size, term in (
        (2, lambda i, j: K[i, j] * L[i, j]),
        (3, lambda i, j, q: K[i, j] * L[i, q]),
        (4, lambda i, j, q, r: K[i, j] * L[q, r]),
    ):
        tuples = [
            rows
            for rows in permutations(range(len(codes)), size)
            if len({codes[row] for row in rows}) == size
        ]
        heavy = [np.prod(weights[list(rows)]) for rows in tuples]
        averages.append(np.average([term(*rows) for rows in tuples], weights=heavy))
    return averages[0] - 2 * averages[1] + averages[2]


@pytest.mark.parametrize("by_rows", [True, False])
def test_the_statistic_and_its_deletions_are_those_of_the_definition(by_rows):
    codes = np.array([3, 0, 1, 1, 5, 2, 4, 0, 2])
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9))
    clustering = Clustering.of(codes, by_rows=by_rows)
    weights = np.ones(9) if by_rows else 1 / np.bincount(codes)[codes]
    K, L = gaussian(x), gaussian(y)
    value, without = masked_hsic(
        ClusteredKernel.of(K, clustering), ClusteredKernel.of(L, clustering), clustering
    )
    assert value == pytest.approx(by_definition(K, L, codes, weights), rel=1e-11)
    for g in range(6):
        rest = codes != g
        again = by_definition(
            K[np.ix_(rest, rest)], L[np.ix_(rest, rest)], codes[rest], weights[rest]
        )
        assert without[g] == pytest.approx(again, rel=1e-10, abs=1e-13)


def test_clusters_of_one_row_give_the_ordinary_jackknife():
    data = triple(0, 15)
    clustering = Clustering.of(np.random.default_rng(0).permutation(15))
    value, _ = masked_hsic(*(kernels_of(data, clustering)[name] for name in "xy"), clustering)
    assert value == pytest.approx(hsic(gaussian(data["x"]), gaussian(data["y"])), rel=1e-11)
    kernels = {name: gaussian(x) for name, x in data.items()}
    rows = left_out(*all_means(kernels), TWO, "cka")
    found = found_of(kernels_of(data, clustering), "cka", clustering)
    assert found.values == pytest.approx(rows.values, rel=1e-11)
    assert found.covariance == pytest.approx(rows.covariance, rel=1e-10)
    assert found.second_variances == pytest.approx(rows.second_variances, rel=1e-10)
    assert compared(found, 0, 1).pvalue() == pytest.approx(compared(rows, 0, 1).pvalue())


@pytest.mark.parametrize("measure", sorted(REFERENCE))
def test_numbers_of_an_independent_implementation(measure):
    codes, data = clustered()
    clustering = Clustering.of(codes)
    kernels = kernels_of(data, clustering, distance if measure == "dcor" else gaussian)
    test = compared(found_of(kernels, measure, clustering), 0, 1)
    found = (test.estimate, test.standard_error, test.df, test.pvalue())
    assert found == pytest.approx(REFERENCE[measure], rel=1e-10)


def test_a_bandwidth_moves_with_the_clusters():
    """The linear part of the deletion is the slope times the change of the bandwidth."""
    codes, data = clustered()
    clustering = Clustering.of(codes)
    moves = np.random.default_rng(0).normal(size=len(codes))
    shift = clustering.shift(moves)
    expected = [-moves[codes == g].sum() / (codes != g).sum() for g in range(8)]
    assert shift == pytest.approx(expected)
    x = data["x"][:, None]
    K = gaussian(x)
    slope = K * (x - x.T) ** 2
    fixed = kernels_of(data, clustering)
    moving = {**fixed, "x": ClusteredKernel.of(K, clustering, slope=slope, shift=1e-6 * shift)}
    wider = ClusteredKernel.of(gaussian(x, 1 + 1e-6), clustering)
    base = masked_hsic(fixed["x"], fixed["y"], clustering)[0]
    rise = masked_hsic(wider, fixed["y"], clustering)[0] - base
    one = found_of(moving, "hsic", clustering)
    two = found_of(fixed, "hsic", clustering)
    change = (one.deviations - two.deviations)[0]
    assert change == pytest.approx(rise * (shift - shift.mean()), rel=1e-4)


def test_values_of_clusters_are_permuted():
    """The statistic is that of the definition, after any permutation of the values."""
    rng = np.random.default_rng(1)
    codes, data = clustered()
    clustering = Clustering.of(codes)
    values = rng.normal(size=8)
    Y = kernels_of(data, clustering)["y"]
    found = cluster_independence(
        ClusteredKernel.of(gaussian(values[codes]), clustering), Y, clustering, 39, rng
    )
    hsics = []
    rng = np.random.default_rng(1)
    rng.normal(size=8)
    for order in [np.arange(8), *(np.argsort(rng.permutation(8)) for _ in range(39))]:
        moved = ClusteredKernel.of(gaussian(values[order][codes]), clustering)
        hsics.append(masked_hsic(moved, Y, clustering)[0])
    assert found.statistic == pytest.approx(hsics[0])
    assert found.pvalue == np.mean(np.array(hsics) >= hsics[0] - 1e-12)


def test_independent_clusters_are_found_dependent_at_the_level_only():
    """Copies within clusters; an ordinary permutation test rejects in most samples."""
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(150):
        codes = np.repeat(np.arange(12), rng.integers(1, 6, size=12))
        x, y = rng.normal(size=(2, 12))
        noise = 0.3 * rng.normal(size=(2, len(codes)))
        clustering = Clustering.of(codes)
        kernels = kernels_of({"x": x[codes] + noise[0], "y": y[codes] + noise[1]}, clustering)
        rejected += cluster_independence(*kernels.values(), clustering, 0, rng).pvalue < 0.05
    # Binomial(150, 0.065): 19 or more have probability 0.002.
    assert rejected <= 18


def test_the_f_law_of_block_products():
    codes, data = clustered()
    clustering = Clustering.of(codes)
    centred = [kernels_of(data, clustering)[name].centred(clustering) for name in "xy"]
    products = block_products(*centred, clustering)
    x = 1 + products.sum() / np.sqrt((products**2).sum())
    assert block_f_test(products).pvalue == pytest.approx(f_law.sf(x * 7 / (8 - x), 1, 7))


def test_few_clusters_of_different_sizes_flip_signs():
    codes, data = clustered()
    clustering = Clustering.of(codes)
    kernels = kernels_of(data, clustering)
    test = cluster_independence(
        kernels["x"], kernels["y"], clustering, 499, np.random.default_rng(0)
    )
    assert test.test == "sign flips of whole clusters"
    products = np.ones((3, 3)) - np.eye(3)
    # All 8 flips of signs: 6 for equal signs (2 of 8), -2 for the others.
    found = sign_flip_test(products, 4000, np.random.default_rng(0))
    assert found.pvalue == pytest.approx(0.25, abs=0.03)


def test_circular_shifts_are_hsics_of_shifted_series():
    data = triple(0, 13)
    K, L = gaussian(data["x"]), gaussian(data["y"])
    shifted = circular_shifts(K, L)
    for s in range(13):
        rows = (np.arange(13) + s) % 13
        assert shifted[s] == pytest.approx(hsic(K, L[np.ix_(rows, rows)]), rel=1e-9, abs=1e-14)
    assert circular_test(K, L).pvalue == (1 + np.sum(shifted[1:] >= shifted[0])) / 13


def test_the_hsics_of_all_pairs_are_each_that_of_one():
    codes, data = clustered()
    clustering = Clustering.of(codes)
    kernels = list(kernels_of(data, clustering).values())
    table = masked_hsics(kernels, clustering)
    for i, one in enumerate(kernels):
        for j, other in enumerate(kernels):
            expected = masked_hsic(one, other, clustering)[0]
            assert table[i, j] == pytest.approx(expected, rel=1e-10)
