"""Is there any dependence at all? Also where rows depend on each other: clusters and series.

Rows of one cluster, or near in time, are alike in both variables without one variable depending
on the other. Whole clusters are permuted, or whole series shifted, so that this likeness is kept.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.clusters import block_products, masked_hsic

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.stats.clusters import ClusteredKernel, Clustering

# Permutations that change nothing, as of equal categories, give the same value up to rounding.
ROUNDING = 1e-10

# With fewer clusters than this the F law of block products rejects too often.
FEWEST_FOR_F = 10


@dataclass(frozen=True)
class IndependenceTest:
    """A test of independence.

    Attributes
    ----------
    statistic, pvalue, log10_pvalue : float
    test : str
        How the p-value was found.
    n_permutations : int or None
        How often the rows were shuffled.
    statistic_name : str
        What the statistic is; by default n times the unbiased correlation, plus 1.
    """

    statistic: float
    pvalue: float
    log10_pvalue: float
    test: str = "chi-square"
    n_permutations: int | None = None
    statistic_name: str = "chi-square"

    def in_words(self) -> str:
        """Say how the p-value was found."""
        if self.n_permutations is None:
            return self.test
        return f"{self.test}, {self.n_permutations:,} random orders"


def independence_test(correlation: float, n: int) -> IndependenceTest:
    """Test independence by the chi-square approximation.

    For independent variables ``n·C + 1``, with C the unbiased correlation (CKA or squared
    distance correlation), is close to a chi-square variable of one degree of freedom or to the
    left of it, which makes the p-value conservative (Shen, Panda and Vogelstein, 2022).
    """
    statistic = n * correlation + 1.0
    root = math.sqrt(max(statistic, 0.0))
    # A chi-square variable of one degree of freedom is a squared normal one.
    return IndependenceTest(
        statistic,
        student.pvalue(root, math.inf, "two-sided"),
        student.log10_pvalue(root, math.inf, "two-sided"),
    )


def independence_pvalues_of(correlations: FloatArray, n: int) -> FloatArray:
    """Give the p-values of :func:`independence_test` for many correlations."""
    root = np.sqrt(np.maximum(n * correlations + 1.0, 0.0))
    return np.asarray(np.minimum(2.0 * scipy.special.ndtr(-root), 1.0))


def independence_power(correlation: float, deviation: float, n: float, alpha: float) -> float:
    """Give the probability that the chi-square test rejects with n observations.

    It rejects where ``n·C + 1`` exceeds the quantile q, that is where C exceeds (q-1)/n; C is
    normal around the correlation with standard deviation ``deviation/√n``.
    """
    bar = (float(scipy.special.chdtri(1.0, alpha)) - 1.0) / n
    # A variable and its copy have the same correlation in every sample.
    if not deviation > 0:
        return float(correlation > bar)
    return float(scipy.special.ndtr(math.sqrt(n) * (correlation - bar) / deviation))


def independence_sample_size(
    correlation: float, deviation: float, target: float, alpha: float
) -> int:
    """Find the smallest number of observations that reaches the power `target`."""
    if not correlation > 0:
        raise InputError(
            f"the estimated correlation {correlation:.4g} is not positive",
            f"no number of observations gives the test of independence a power of {target:g}.",
        )
    enough = 4
    while independence_power(correlation, deviation, enough, alpha) < target:
        enough *= 2
    # Power grows with n, so halving the range finds the place where it passes the target.
    return bisect_left(
        range(enough + 1),
        target,
        lo=4,
        key=lambda n: independence_power(correlation, deviation, n, alpha),
    )


def permutation_test(statistic: float, observed: float, permuted: FloatArray) -> IndependenceTest:
    """Test independence by permutations of the rows of one variable.

    Parameters
    ----------
    statistic : float
        What is reported as the statistic.
    observed : float
        The HSIC of the data.
    permuted : ndarray, shape (B,)
        The HSICs after random permutations.
    """
    pvalue = permutation_pvalue(observed, permuted)
    return IndependenceTest(statistic, pvalue, math.log10(pvalue), "permutation", len(permuted))


def permutation_pvalue(observed: float, permuted: FloatArray) -> float:
    """Give the p-value of a permutation test, ``(1 + count) / (1 + B)``, which is never 0."""
    tolerance = ROUNDING * float(np.abs(permuted).max(initial=abs(observed)))
    count = int((permuted >= observed - tolerance).sum())
    return (1.0 + count) / (1.0 + len(permuted))


@dataclass(frozen=True)
class ShuffledTest:
    """A test of independence.

    Attributes
    ----------
    statistic : float
    pvalue : float
    method : str
        In words: how the p-value was found.
    """

    statistic: float
    pvalue: float
    method: str


def cluster_independence(
    X: ClusteredKernel,
    Y: ClusteredKernel,
    clustering: Clustering,
    n_permutations: int,
    rng: np.random.Generator,
) -> ShuffledTest:
    """Test independence of two variables whose rows come in clusters.

    Clusters of one size are permuted as a whole, which is exact. Where sizes differ the sum of
    the block products of centred kernels is compared with an F law, or with flips of the sign
    of whole clusters where these are fewer than 10.
    """
    if (clustering.sizes == clustering.sizes[0]).all():
        observed = masked_hsic(X, Y, clustering)[0]
        permuted = permuted_hsics(X, Y, clustering, n_permutations, rng)
        return ShuffledTest(
            observed, permutation_pvalue(observed, permuted), "permutations of whole clusters"
        )
    products = block_products(X.centred(clustering), Y.centred(clustering), clustering)
    if clustering.n >= FEWEST_FOR_F:
        return block_f_test(products)
    return sign_flip_test(products, n_permutations, rng)


def permuted_hsics(
    X: ClusteredKernel,
    Y: ClusteredKernel,
    clustering: Clustering,
    n_permutations: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Compute the HSIC after random permutations of the clusters of Y, all of one size."""
    size = int(clustering.sizes[0])
    counts = clustering.counts()[0]
    w = clustering.weights
    weighted = X.matrix * w[:, None] * w[None, :]
    k, b = X.row_sums, X.cluster_sums
    l, c = Y.row_sums, Y.cluster_sums  # noqa: E741
    found = np.empty(n_permutations)
    for at in range(n_permutations):
        order = rng.permutation(clustering.n)
        rows = (clustering.start[order][:, None] + np.arange(size)).ravel()
        pairs = np.vdot(weighted, Y.matrix[np.ix_(rows, rows)])
        shared = (X.to_clusters * Y.to_clusters[np.ix_(rows, order)]).sum(axis=1)
        triples = w @ (k * l[rows] - shared)
        fours = b.sum() * c.sum() - 4.0 * (b @ c[order])
        fours += 2.0 * np.vdot(X.blocks, Y.blocks[np.ix_(order, order)])
        found[at] = pairs / counts.pairs - 2.0 * triples / counts.triples + fours / counts.fours
    return found


def block_f_test(products: FloatArray) -> ShuffledTest:
    """Compare the self-normalised sum of block products with F(1, G-1).

    With P the products between clusters, ``x = 1 + ΣP/√ΣP²`` takes the place of the chi-square
    variable of independent rows; its variance comes from the blocks themselves.
    """
    G = len(products)
    x = 1.0 + float(products.sum() / np.sqrt((products**2).sum()))
    x = min(max(x, 0.0), G - 0.01)
    statistic = x * (G - 1) / (G - x)
    return ShuffledTest(
        statistic,
        float(scipy.special.fdtrc(1.0, G - 1.0, statistic)),
        "F law of sums over pairs of clusters",
    )


def sign_flip_test(products: FloatArray, n_flips: int, rng: np.random.Generator) -> ShuffledTest:
    """Compare the sum of block products with its values after flips of the clusters' signs."""
    flips = rng.choice([-1.0, 1.0], size=(n_flips, len(products)))
    flipped = np.einsum("bi,ij,bj->b", flips, products, flips)
    observed = float(products.sum())
    return ShuffledTest(
        observed, permutation_pvalue(observed, flipped), "sign flips of whole clusters"
    )


def circular_shifts(K: FloatArray, L: FloatArray) -> FloatArray:
    """Compute the HSIC of x_t and y_{t+s} for all circular shifts s, in O(m² log m).

    For every lag d the entries ``(i, i+d)`` of both centred kernels form two series, and the sum
    over i of their products is, for all shifts at once, a circular correlation.
    """
    m = len(K)
    at = np.arange(m)
    total = np.zeros(m // 2 + 1, dtype=np.complex128)
    one, two = _u_centred(K), _u_centred(L)
    for lag in range(1, m):
        along = (at + lag) % m
        total += np.conj(np.fft.rfft(one[at, along])) * np.fft.rfft(two[at, along])
    return np.asarray(np.fft.irfft(total, m) / (m * (m - 3)))


def circular_test(K: FloatArray, L: FloatArray) -> ShuffledTest:
    """Test independence of two stationary series by all circular shifts of one.

    No shift keeps a dependence, and every shift keeps the memory of each series. The p-value is
    at least 1/m.
    """
    shifted = circular_shifts(K, L)
    return ShuffledTest(
        float(shifted[0]),
        permutation_pvalue(float(shifted[0]), shifted[1:]),
        "circular shifts of the series",
    )


def _u_centred(K: FloatArray) -> FloatArray:
    """Centre a kernel so that the mean product over pairs of rows is the unbiased HSIC."""
    m = len(K)
    matrix = K.copy()
    np.fill_diagonal(matrix, 0.0)
    sums = matrix.sum(axis=1)
    matrix -= (sums[:, None] + sums) / (m - 2) - sums.sum() / ((m - 1) * (m - 2))
    np.fill_diagonal(matrix, 0.0)
    return matrix
