"""Is there any dependence at all? Also where rows depend on each other: clusters and series.

Rows of one cluster, or near in time, are alike in both variables without one variable depending
on the other. Sums over pairs of whole clusters are compared, or whole series shifted, so that this
likeness is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Pair, centre
from reldep.engine.clusters import ROUNDING, ClusteredKernel, Clustering, block_products
from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.estimates import Estimates, check_energies
from reldep.stats.student import smallest_size
from reldep.stats.units import ORDER

if TYPE_CHECKING:
    from reldep.engine.influence import Influence


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
        """Return how the p-value was found."""
        if self.n_permutations is None:
            return self.test
        return f"{self.test}, {self.n_permutations:,} random orders"


def independence_test(
    correlation: float, n: int, blocks: IntArray | None = None, share: float = 1.0
) -> IndependenceTest:
    """Test independence by the chi-square approximation.

    For independent variables ``n·C + 1``, with C the unbiased correlation (CKA or squared
    distance correlation), is close to a chi-square variable of one degree of freedom or to the
    left of it, which makes the p-value conservative (Shen, Panda and Vogelstein, 2022). For HSICs
    averaged over blocks of rows it is one of as many degrees of freedom as there are blocks.

    Parameters
    ----------
    correlation : float
    n : int
    blocks : ndarray of int, optional
        The rows of every block, if HSICs are averages over blocks.
    share : float, default 1
        The share of the rows that residuals are worth. Residuals of two variables by one
        regression share what it took from the rows: the mean of ``n·C + 1`` is ``1/share``.
    """
    values = np.array([correlation])
    statistic = float(_statistics(values, n, blocks, share)[0])
    log_pvalue = float(independence_log_pvalues(values, n, blocks, share)[0])
    return IndependenceTest(statistic, math.exp(log_pvalue), log_pvalue / math.log(10))


def independence_log_pvalues(
    correlations: FloatArray, n: int, blocks: IntArray | None = None, share: float = 1.0
) -> FloatArray:
    """Return natural logarithms of the p-values of :func:`independence_test`, for many pairs."""
    statistics = np.maximum(_statistics(correlations, n, blocks, share), 0.0)
    if blocks is None:
        # A chi-square variable of one degree of freedom is a squared normal one.
        return student.log_pvalues(np.sqrt(statistics), np.array(np.inf), "two-sided")
    x, a = statistics / 2.0, len(blocks) / 2.0
    far = np.maximum(x, 2.0 * a)
    # The first term of the tail's expansion, which does not underflow.
    tail = (a - 1.0) * np.log(far) - far - scipy.special.gammaln(a)
    tail -= np.log1p((1.0 - a) / far)
    exactly = scipy.stats.gamma.logsf(x, a)
    return np.asarray(np.where(np.isfinite(exactly), exactly, tail))


def _statistics(
    correlations: FloatArray, n: int, blocks: IntArray | None, share: float
) -> FloatArray:
    """Return chi-square statistics of correlations, of rows or of HSICs averaged over G blocks.

    Under independence a block of n rows has an HSIC of variance ``2 H_xx H_yy / (n(n-3))``, and the
    upper tail of its distribution is at most that of a chi-square variable of one degree of
    freedom: with z the estimate over its standard error, ``G + √(2G) z`` has G.
    """
    if blocks is None:
        return np.asarray(share * (n * correlations + 1.0))
    G, shares = len(blocks), blocks / blocks.sum()
    error = np.sqrt(2.0 * (shares**2 / (blocks * (blocks - 3.0))).sum()) / share
    return np.asarray(np.maximum(G + math.sqrt(2.0 * G) * correlations / error, 0.0))


def independence_power(correlation: float, deviation: float, n: float, alpha: float) -> float:
    """Return the probability that the chi-square test rejects with n observations.

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
    """Return the smallest number of observations that reaches the power `target`."""
    if not correlation > 0:
        raise InputError(
            f"the estimated correlation {correlation:.4g} is not positive; no number of "
            f"observations gives the test of independence a power of {target:g}."
        )
    return smallest_size(
        lambda n: independence_power(correlation, deviation, n, alpha), target, ORDER
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
    """Return the p-value of a permutation test, ``(1 + count) / (1 + B)``, which is never 0."""
    # Permutations that change nothing, as of equal categories, give the same up to rounding.
    tolerance = ROUNDING * float(np.abs(permuted).max(initial=abs(observed)))
    count = int((permuted >= observed - tolerance).sum())
    return (1.0 + count) / (1.0 + len(permuted))


def dependent_test(statistic: float, pvalue: float, how: str) -> IndependenceTest:
    """Return a test for rows that depend on each other."""
    return IndependenceTest(statistic, pvalue, math.log10(pvalue), how, statistic_name="statistic")


def t_test(value: float, error: float, df: float) -> IndependenceTest:
    """Compare an estimate with its standard error, where rows are too many to be held."""
    statistic = value / error
    return IndependenceTest(
        statistic,
        student.pvalue(statistic, df, "greater"),
        student.log10_pvalue(statistic, df, "greater"),
        "t test of the estimate",
        statistic_name="t",
    )


def cluster_independence(
    X: ClusteredKernel,
    Y: ClusteredKernel,
    clustering: Clustering,
    n_permutations: int,
    rng: np.random.Generator,
) -> IndependenceTest:
    """Test independence of two variables whose rows come in clusters.

    A variable that is constant within clusters has one value per cluster: these values are
    permuted over the clusters, which is exact. Otherwise the sum of the block products of
    centred kernels is compared with an F law, or with flips of the sign of whole clusters
    where these are fewer than 10.

    No rows are permuted within clusters, nor whole clusters by the places of their rows. In a
    complete design, where every subject has the same days, the latter change nothing; the former
    reject independence too often where the errors of a subject are correlated in time. The
    block products need neither: they allow any dependence within clusters, and the order of the
    rows does not matter.
    """
    if X.is_constant(clustering) or Y.is_constant(clustering):
        # Then the statistic is the HSIC of G clusters, and each has its mean kernel.
        one, two = centre(X.blocks.copy()), Y.blocks
        scale = clustering.n * (clustering.n - 3)
        orders = (rng.permutation(clustering.n) for _ in range(n_permutations))
        permuted = [np.vdot(one, two[np.ix_(order, order)]) / scale for order in orders]
        observed = float(np.vdot(one, two) / scale)
        pvalue = permutation_pvalue(observed, np.array(permuted))
        return dependent_test(observed, pvalue, "permutations of whole clusters")
    products = block_products(X.centred(clustering), Y.centred(clustering), clustering)
    return products_test(products, n_permutations, rng)


def products_test(products: FloatArray, n_flips: int, rng: np.random.Generator) -> IndependenceTest:
    """Test independence by sums of products of centred kernels over pairs of units.

    With fewer units than 10 the F law rejects too often: .083 at 6, where flips of signs reject
    .052 (of 1,000 samples at 5%).
    """
    return block_f_test(products) if len(products) >= 10 else sign_flip_test(products, n_flips, rng)


def joined_units(products: FloatArray, count: int) -> FloatArray:
    """Join adjacent units of a series until there are at most `count`; the diagonal stays 0."""
    n = len(products)
    starts = np.unique(np.linspace(0, n, min(count, n), endpoint=False).round().astype(np.int64))
    joined = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
    np.fill_diagonal(joined, 0.0)
    return np.asarray(joined)


def block_f_test(products: FloatArray) -> IndependenceTest:
    """Compare the self-normalised sum of block products with F(1, G-1).

    With P the products between clusters, ``x = 1 + ΣP/√ΣP²`` takes the place of the chi-square
    variable of independent rows; its variance comes from the blocks themselves.
    """
    G = len(products)
    x = 1.0 + float(products.sum() / np.sqrt((products**2).sum()))
    x = min(max(x, 0.0), G - 0.01)
    statistic = x * (G - 1) / (G - x)
    pvalue = float(scipy.special.fdtrc(1.0, G - 1.0, statistic))
    return dependent_test(statistic, pvalue, "F law of sums over pairs of clusters")


def sign_flip_test(
    products: FloatArray, n_flips: int, rng: np.random.Generator
) -> IndependenceTest:
    """Compare the sum of block products with its values after flips of the clusters' signs."""
    flips = rng.choice([-1.0, 1.0], size=(n_flips, len(products)))
    flipped = np.einsum("bi,ij,bj->b", flips, products, flips)
    observed = float(products.sum())
    pvalue = permutation_pvalue(observed, flipped)
    return dependent_test(observed, pvalue, "sign flips of whole clusters")


def circular_shifts(K: FloatArray, L: FloatArray) -> FloatArray:
    """Compute the HSIC of x_t and y_{t+s} for all circular shifts s, in O(m² log m).

    For every lag d the entries ``(i, i+d)`` of both centred kernels form two series, and the sum
    over i of their products is, for all shifts at once, a circular correlation.
    """
    m = len(K)
    at = np.arange(m)
    total = np.zeros(m // 2 + 1, dtype=np.complex128)
    one, two = centre(K.copy()), centre(L.copy())
    for lag in range(1, m):
        along = (at + lag) % m
        total += np.conj(np.fft.rfft(one[at, along])) * np.fft.rfft(two[at, along])
    return np.asarray(np.fft.irfft(total, m) / (m * (m - 3)))


def circular_test(K: FloatArray, L: FloatArray) -> IndependenceTest:
    """Test independence of two stationary series by all circular shifts of one.

    No shift keeps a dependence, and every shift keeps the memory of each series. The p-value is
    at least 1/m.
    """
    shifted = circular_shifts(K, L)
    pvalue = permutation_pvalue(float(shifted[0]), shifted[1:])
    return dependent_test(float(shifted[0]), pvalue, "circular shifts of the series")


def independence_pvalues(influence: Influence, pairs: Sequence[Pair], n: int) -> dict[Pair, float]:
    """Screen every pair for independence by its unbiased correlation.

    ``p = P(χ² > n·C + 1)``, see :func:`~reldep.stats.independence.independence_test`. Where the
    self-pairs are not known, the estimate over its standard error is compared with the normal
    law; under independence that standard error is too large, so few pairs pass by mistake.
    Self-pairs are left out.
    """
    found: dict[Pair, float] = {}
    known: list[Pair] = []
    correlations = []
    for x, y in pairs:
        if x == y:
            continue
        energy = _energy(influence, (x, y))
        if energy is None:
            found[x, y] = _normal_screen(influence, (x, y))
            continue
        known.append((x, y))
        size = np.sqrt(energy) * influence.unevenness((x, y)) if energy > 0 else np.inf
        correlations.append(influence.hsic((x, y)) / size)
    screened = independence_log_pvalues(
        np.array(correlations, dtype=np.float64), n, influence.block_sizes, influence.share
    )
    found |= dict(zip(known, np.exp(screened).tolist(), strict=True))
    return {pair: found[pair] for pair in pairs if pair in found}


def unbiased_correlation(influence: Influence, pair: Pair) -> float:
    """Return ``H_xy / √(H_xx H_yy)``, from HSICs alone."""
    x, y = pair
    energies = np.array([influence.hsic((name, name)) for name in pair])
    check_energies(energies, pair)
    return influence.hsic((x, y)) / float(np.sqrt(energies.prod()))


def _normal_screen(influence: Influence, pair: Pair) -> float:
    row = influence.row(pair)
    standard_error = np.linalg.norm(influence.psi[row]) / influence.n_observations
    return float(scipy.special.ndtr(-influence.estimates[row] / standard_error))


def _energy(influence: Influence, pair: Pair) -> float | None:
    """Return ``H_xx H_yy``, the square of the largest HSIC the pair could have."""
    try:
        return influence.hsic((pair[0], pair[0])) * influence.hsic((pair[1], pair[1]))
    except KeyError:
        return None


def relation_pvalues(
    influence: Influence, dependences: Estimates, n: int | None = None
) -> tuple[float | None, ...]:
    """Return the p-value of independence of every pair; None for a variable with itself.

    Parameters
    ----------
    influence : Influence
    dependences : Estimates
    n : int, optional
        The number of rows behind each pair, where it is not that of all.
    """
    if dependences.rows.any:
        # Rows that depend on each other make the chi-square law of the screen too narrow.
        ratios = dependences.values / dependences.standard_errors
        df = np.array(dependences.n_units() - 1.0)
        return tuple(np.exp(student.log_pvalues(ratios, df, "greater")).tolist())
    found = independence_pvalues(influence, dependences.pairs, n or influence.n_observations)
    return tuple(found.get(pair) for pair in dependences.pairs)
