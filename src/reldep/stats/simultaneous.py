"""Many dependences at once: joint draws, adjusted p-values, simultaneous intervals, ranks.

With leave-one-out deviations J and standard normal weights w, ``Z = J w`` has the joint normal law
of the errors of all dependences, up to a factor that studentising takes off. Draws come in
blocks and only maxima and counts are kept: no matrix of pairs by pairs ever exists. Every t
statistic is mapped to a normal score and compared with the maxima of these draws.

The largest of many statistics is likely one whose variance came out too small. Two repairs of the
far tail: the kurtosis behind the degrees of freedom is at least the average one, and a variance
far below the trend of all is lifted towards it, never lowered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.clusters import ROUNDING
from reldep.exceptions import InputError
from reldep.stats.pairwise import Tests, differences, levels, runs
from reldep.system import available_cores, on_all_cores

if TYPE_CHECKING:
    from reldep.stats.estimates import Estimates

# Single precision: a critical value is a quantile of simulated numbers.
SingleArray: TypeAlias = npt.NDArray[np.float32]

# Draws in a block; each block has a random seed of its own, so that answers repeat.
BLOCK = 256
# With fewer comparisons than these there is no trend, or only a constant one: those of 5 and of 10
# targets, not tuned.
FEWEST_TO_LIFT, FEWEST_FOR_TREND = 10, 45


@dataclass(frozen=True, eq=False)
class Pairwise(Tests):
    """Differences of all pairs of dependences, made comparable with each other.

    Attributes
    ----------
    estimate, null, here, df, kurtosis
        Of every difference ``first - second``; variances are lifted to their trend, degrees of
        freedom pooled.
    first, second : ndarray of int, shape (P,)
        Which dependences are compared.
    """

    first: IntArray
    second: IntArray


def all_differences(found: Estimates) -> Pairwise:
    """Compare all pairs of dependences; a single pair has nothing to be pooled with."""
    first, second = np.triu_indices(len(found.values), k=1)
    tests = differences(found, first, second, is_pooled=len(first) > 1)
    lift, df = np.ones(len(first)), tests.df.copy()
    known = np.where(np.isfinite(tests.null), tests.null, 0.0)
    kept = np.flatnonzero(known > ROUNDING * float(known.max(initial=0.0)))
    if found.units.is_small and len(first) > 1 and len(kept):
        # The deviations of 20,000 comparisons show how much of their noise is common, to 1%.
        chosen = np.linspace(0, len(kept) - 1, min(len(kept), 20_000)).astype(np.int64)
        some = kept[chosen]
        rows = found.deviations[first[some]] - found.deviations[second[some]]
        level = levels(found, first[kept], second[kept]).mean(axis=0)
        lift[kept], df[kept] = lift_variances(tests.null[kept], df[kept], level, rows)
    null, here = lift * tests.null, lift * tests.here
    return Pairwise(tests.estimate, null, here, df, tests.kurtosis, first, second)


def lift_variances(
    variances: FloatArray, df: FloatArray, levels: FloatArray, rows: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lift variances towards their trend in the level of dependence.

    Parameters
    ----------
    variances, df : ndarray, shape (P,)
        Of the comparisons; variances are positive.
    levels : ndarray, shape (P,)
        The mean of the two dependences of each.
    rows : ndarray, shape (k, n)
        The deviations of an even selection of the comparisons. They show how much of the noise
        is common to all and cannot be pooled away.

    Returns
    -------
    lift : ndarray, shape (P,)
        By how much to multiply each variance; at least 1.
    df : ndarray, shape (P,)
        The degrees of freedom afterwards.
    """
    P = len(variances)
    if P < FEWEST_TO_LIFT:
        return np.ones(P), df
    # 1, g, g² for the regression; only 1 where there are few comparisons.
    powers = 1 if P < FEWEST_FOR_TREND else 3
    terms = np.vander(levels - levels.mean(), powers, increasing=True)
    basis = np.linalg.qr(terms)[0]
    logs = np.log(variances)
    trend = basis @ (basis.T @ logs)
    scatter = float(np.sum((logs - trend) ** 2)) / (P - basis.shape[1])
    noise = 2.0 / df
    share = _share_of_own_noise(rows, terms)
    own_noise = share * noise
    true_spread = max(scatter - float(own_noise.mean()), 0.0)
    whole = own_noise + true_spread
    weight = np.divide(own_noise, whole, out=np.zeros_like(whole), where=whole > 0)
    lift = np.maximum(np.exp(weight * (trend - logs)), 1.0)
    left = (1.0 - share) * noise + (1.0 - weight) * own_noise
    return lift, 2.0 / np.maximum(left, ROUNDING)


def _share_of_own_noise(rows: FloatArray, terms: FloatArray) -> float:
    """Return the share of the noise of log variances that comparisons do not have in common."""
    taken = np.linspace(0, len(terms) - 1, len(rows)).astype(np.int64)
    basis = np.linalg.qr(terms[taken])[0]
    relative = rows * rows
    relative /= relative.mean(axis=1, keepdims=True)
    relative -= 1.0
    common = float(np.sum((basis.T @ relative) ** 2) / np.sum(relative * relative))
    share = (1.0 - common) * len(rows) / max(len(rows) - basis.shape[1], 1)
    return float(np.clip(share, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Draws of the errors of p dependences.

    Attributes
    ----------
    root : ndarray, shape (p, r)
        ``root @ root.T`` is proportional to the covariance of the errors.
    n_draws : int
    seed : int
    """

    root: SingleArray
    n_draws: int
    seed: int

    @classmethod
    def of(
        cls, deviations: FloatArray | SingleArray, n_draws: int, rng: np.random.Generator
    ) -> JointDraws:
        """Prepare draws for leave-one-out deviations, shape (p, n)."""
        p, n = deviations.shape
        largest = float(np.abs(deviations).max(initial=0.0))
        scaled = deviations / largest if largest > 0 else deviations
        if n > 2 * p:
            # Fewer numbers to draw: a root of the p×p covariance in place of the deviations.
            values, vectors = np.linalg.eigh(scaled @ scaled.T)
            scaled = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(scaled.astype(np.float32), n_draws, int(rng.integers(2**62)))

    def blocks(self) -> Iterator[SingleArray]:
        """Draw Z, shape (p, c), block by block."""
        for number, start in enumerate(range(0, self.n_draws, BLOCK)):
            rng = np.random.default_rng([self.seed, number])
            size = (self.root.shape[1], BLOCK)
            weights = rng.standard_normal(size, dtype=np.float32)
            yield self.root @ weights[:, : min(BLOCK, self.n_draws - start)]

    def value_maxima(self, *, signed: bool = False) -> FloatArray:
        """Draw the largest ``|Z_a| / s_a`` over all dependences, sorted; or of ``Z_a / s_a``."""
        inverse = _inverse_root(np.einsum("ij,ij->i", self.root, self.root), 0.0)
        drawn = []
        for Z in self.blocks():
            scaled = Z * inverse[:, None]
            drawn.append((scaled if signed else np.abs(scaled)).max(axis=0))
        return np.sort(np.concatenate(drawn)).astype(np.float64)

    def leads(self) -> Iterator[SingleArray]:
        """Draw ``max_b |Z_b - Z_a| / s_ab`` for every a, shape (p, c), block by block.

        The largest entry of a draw is the largest over all pairs.
        """
        gram = self.root.astype(np.float64)
        gram = gram @ gram.T
        own = np.diag(gram)
        total = own[:, None] + own[None, :]
        inverse = _inverse_root(total - 2.0 * gram, ROUNDING * total)
        for Z in self.blocks():
            yield largest_leads(Z, inverse)

    def successive_exceedances(
        self, first: IntArray, second: IntArray, scores: FloatArray
    ) -> IntArray:
        """Count, for every comparison, the draws in which it or one before it is as extreme.

        The comparisons are in rising order of ``|score|``, so that this is the count of the
        step-down procedure: each competes only with those that are not more extreme.
        """
        inverse = self._inverse_of(first, second)
        count = np.zeros(len(first), dtype=np.int64)
        bars = np.abs(scores).astype(np.float32)
        for Z in self.blocks():
            so_far = np.zeros(Z.shape[1], dtype=np.float32)
            for run in runs(len(first), BLOCK):
                extremes = np.abs(Z[first[run]] - Z[second[run]])
                extremes *= inverse[run, None]
                np.maximum(extremes[0], so_far, out=extremes[0])
                np.maximum.accumulate(extremes, axis=0, out=extremes)
                so_far = extremes[-1]
                count[run] += (extremes >= bars[run, None]).sum(axis=1)
        return count

    def _inverse_of(self, first: IntArray, second: IntArray) -> SingleArray:
        inverse = np.empty(len(first), dtype=np.float32)
        own = np.einsum("ij,ij->i", self.root, self.root)
        for run in runs(len(first), BLOCK):
            gap = (self.root[first[run]] - self.root[second[run]]).astype(np.float64)
            total = (own[first[run]] + own[second[run]]).astype(np.float64)
            inverse[run] = _inverse_root(np.einsum("ij,ij->i", gap, gap), ROUNDING * total)
        return inverse


def _inverse_root(variances: FloatArray, zero: FloatArray | float) -> SingleArray:
    """Return 1/√variance, and 0 where there is no variance: such a statistic is always 0."""
    inverse = np.zeros(variances.shape)
    np.divide(1.0, np.sqrt(np.maximum(variances, 0.0)), out=inverse, where=variances > zero)
    return inverse.astype(np.float32)


def largest_leads(Z: SingleArray, inverse: SingleArray, compiled_from: int = 100) -> SingleArray:
    """Return ``max_b |Z_b - Z_a| inverse_ab`` for every a and every draw.

    Parameters
    ----------
    Z : ndarray, shape (p, c)
        One draw per column.
    inverse : ndarray, shape (p, p)
        Symmetric.
    compiled_from : int, default 100
        The number of values for which compiled code is worth loading.
    """
    if len(Z) >= compiled_from:
        return _compiled_leads(Z, inverse)
    return _leads_by_rows(Z, inverse)


def _leads_by_rows(Z: SingleArray, inverse: SingleArray) -> SingleArray:
    largest = np.zeros_like(Z)
    work = np.empty_like(Z)
    for a in range(len(Z) - 1):
        ahead = work[a + 1 :]
        np.subtract(Z[a + 1 :], Z[a], out=ahead)
        ahead *= inverse[a + 1 :, a, None]
        np.abs(ahead, out=ahead)
        np.maximum(largest[a], ahead.max(axis=0), out=largest[a])
        np.maximum(largest[a + 1 :], ahead, out=largest[a + 1 :])
    return largest


def _compiled_leads(Z: SingleArray, inverse: SingleArray) -> SingleArray:
    """Work on a share of the draws on every core."""
    from reldep.engine.loops import raise_leads

    largest = np.zeros_like(Z)
    n_threads = available_cores()
    cuts = np.linspace(0, Z.shape[1], n_threads + 1).astype(np.int64)

    def work(k: int) -> None:
        raise_leads(Z, inverse, cuts[k], cuts[k + 1], largest)

    on_all_cores(work, range(n_threads))
    return largest


def tail_probability(count: IntArray, n_draws: int) -> FloatArray:
    """Return p-values, never 0, from counts of draws at least as extreme."""
    return np.asarray((1.0 + count) / (1.0 + n_draws))


def critical_value(sorted_maxima: FloatArray, confidence_level: float) -> float:
    """Return the quantile that agrees with :func:`tail_probability`.

    A score beyond it has an adjusted p-value of at most ``1 - confidence_level``.
    """
    n = len(sorted_maxima)
    place = math.ceil(confidence_level * (n + 1))
    if place > n:
        needed = math.ceil(1.0 / (1.0 - confidence_level))
        raise InputError(
            f"`confidence_level={confidence_level}` needs more than {n} draws of the joint law; "
            f"pass `n_simulations={needed}` or more."
        )
    return float(sorted_maxima[place - 1])


def adjusted_pvalues(
    found: Pairwise, method: str, draws: JointDraws, maxima: FloatArray
) -> FloatArray:
    """Adjust the p-values of all comparisons for their number.

    Parameters
    ----------
    found : Pairwise
    method : {"single-step", "step-down", "holm", "bh"}
        The first two compare with the simulated largest score and control the chance of any
        false claim; "holm" does so for any joint law; "bh" controls the expected share of false
        claims (Benjamini and Hochberg, 1995).
    draws : JointDraws
    maxima : ndarray
        Sorted maxima over all comparisons under that law.

    Notes
    -----
    A simulated p-value cannot be smaller than ``1/(B+1)``. Where Bonferroni's (Holm's) bound is
    smaller still it is taken, since it holds for every joint law.
    """
    raw = found.pvalue
    if method == "bh":
        return false_discovery_rates(raw)
    if method == "holm":
        return holm(raw)
    if method == "single-step":
        return single_step(np.abs(found.score), maxima, raw)
    bound = holm(raw)
    return np.clip(_step_down(found, draws, bound), raw, bound)


def single_step(sizes: FloatArray, maxima: FloatArray, raw: FloatArray) -> FloatArray:
    """Compare scores with sorted maxima of all; between raw p-values and Bonferroni's bound."""
    return np.clip(maxima_pvalues(sizes, maxima), raw, np.minimum(1.0, len(raw) * raw))


def maxima_pvalues(sizes: FloatArray, maxima: FloatArray) -> FloatArray:
    """Return the p-values of scores by sorted maxima under their joint law."""
    beyond = len(maxima) - np.searchsorted(maxima, sizes, side="left")
    return tail_probability(beyond, len(maxima))


def false_discovery_rates(pvalues: FloatArray) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg's procedure, which controls the share of errors."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(pvalues))


def holm(pvalues: FloatArray) -> FloatArray:
    """Adjust by Holm's step-down procedure (1979)."""
    order = np.argsort(pvalues, kind="stable")
    n = len(pvalues)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(pvalues[order] * np.arange(n, 0, -1)))
    return adjusted


def _step_down(found: Pairwise, draws: JointDraws, bound: FloatArray) -> FloatArray:
    """Compare each pair with those not more extreme (Westfall and Young, 1993)."""
    rising = np.argsort(np.abs(found.score), kind="stable")
    # Where Holm's bound is below the resolution of the draws it decides, so no draw is needed.
    open_cases = rising[bound[rising] > 1.0 / (1.0 + draws.n_draws)]
    simulated = bound.copy()
    if len(open_cases):
        count = draws.successive_exceedances(
            found.first[open_cases],
            found.second[open_cases],
            found.score[open_cases],
        )
        # A claim never gets a smaller p-value than one more extreme than it.
        falling = tail_probability(count, draws.n_draws)[::-1]
        simulated[open_cases] = np.maximum.accumulate(falling)[::-1]
    return simulated


@dataclass(frozen=True, eq=False)
class Ranks:
    """How p dependences stand to each other, with confidence.

    Attributes
    ----------
    ranks : ndarray of int, shape (p,)
        1 is the strongest; ties share the smaller number.
    best_pvalues : ndarray, shape (p,)
        The p-value of "no other is stronger"; 1 for the strongest.
    ahead : ndarray, shape (p, p)
        Entry [a, b] is the score by which b leads a.
    maxima : ndarray
        Sorted maxima over all pairs, for intervals and p-values at any level.
    """

    ranks: IntArray
    best_pvalues: FloatArray
    ahead: FloatArray
    maxima: FloatArray

    def best(self, confidence_level: float) -> IntArray:
        """Return the dependences that may be the strongest; the set contains it with confidence."""
        return np.flatnonzero(self.best_pvalues > 1.0 - confidence_level)

    def ranges(self, confidence_level: float) -> tuple[IntArray, IntArray]:
        """Return a range of every rank; all ranges hold at once.

        As many are stronger than one as lead it significantly (Mogstad, Romano, Shaikh and
        Wilhelm, 2024). One that is not among the best cannot have rank 1: the set of the best
        looks at one dependence at a time and is sharper than the ranges for all at once.

        Notes
        -----
        Ranges and set together are wrong where a range misses or the one strongest is lost, each
        with probability at most ``1 - confidence_level``. Of several that are exactly equal in
        truth, some may be denied rank 1; whichever of them is called the strongest is kept with
        confidence.
        """
        critical = critical_value(self.maxima, confidence_level)
        low = 1 + (self.ahead > critical).sum(axis=1)
        high = len(self.ahead) - (self.ahead < -critical).sum(axis=1)
        not_best = self.best_pvalues <= 1.0 - confidence_level
        return np.where(not_best, np.maximum(low, 2), low), np.where(
            not_best, np.maximum(high, 2), high
        )


def rank_dependences(compared: Pairwise, draws: JointDraws, p: int) -> Ranks:
    """Rank p dependences of which all pairs were compared, in one pass over the draws.

    The p-value of being the best compares by how much the strongest other leads with two-sided
    maxima of the dependence's own comparisons. One-sided maxima lose a tied best too often: the
    skewness of one dependence is not averaged away.
    """
    ahead = np.zeros((p, p))
    ahead[compared.first, compared.second] = -compared.score
    ahead[compared.second, compared.first] = compared.score
    larger = np.zeros((p, p), dtype=bool)
    larger[compared.first, compared.second] = compared.estimate < 0
    larger[compared.second, compared.first] = compared.estimate > 0
    gaps = ahead.max(axis=1)
    beyond = np.zeros(p, dtype=np.int64)
    largest = []
    for leads in draws.leads():
        largest.append(leads.max(axis=0))
        beyond += (leads >= gaps[:, None]).sum(axis=1)
    return Ranks(
        ranks=1 + larger.sum(axis=1),
        best_pvalues=np.where(gaps > 0, tail_probability(beyond, draws.n_draws), 1.0),
        ahead=ahead,
        maxima=np.sort(np.concatenate(largest)).astype(np.float64),
    )
