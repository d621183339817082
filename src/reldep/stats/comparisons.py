"""Many differences of dependences at once: scores, adjusted p-values, intervals, ranks.

Every jackknife-t statistic is mapped through Student's t, with pooled degrees of freedom, to a
normal score; the scores are compared with the maxima of joint normal draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.stats import student
from reldep.stats.differences import Differences, compare_pairs, dual_intervals
from reldep.stats.joint_draws import critical_value, tail_probability
from reldep.stats.pooling import lift_variances, pooled_degrees
from reldep.stats.score_intervals import own_kurtosis, score_variance

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.jackknife import Jackknife
    from reldep.stats.joint_draws import JointDraws

# The deviations of this many comparisons tell how much of their noise is common.
ROWS_FOR_SHARE = 20_000
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Differences of many pairs of dependences, made comparable with each other.

    Attributes
    ----------
    differences : Differences
        Each by itself.
    lift : ndarray, shape (P,)
        By how much the variances are lifted towards their trend; at least 1.
    df : ndarray, shape (P,)
        Pooled degrees of freedom.
    score : ndarray, shape (P,)
        Normal scores: positive where the first of a pair depends more; 0 for ties.
    pvalue : ndarray, shape (P,)
        Two-sided and not adjusted; 1 for ties.
    """

    differences: Differences
    lift: FloatArray
    df: FloatArray
    score: FloatArray
    pvalue: FloatArray

    @classmethod
    def scored(cls, differences: Differences, lift: FloatArray, df: FloatArray) -> Comparisons:
        """Map the statistics to the normal law."""
        score = student.normal_scores(differences.statistic / np.sqrt(lift), df)
        return cls(
            differences, lift, df, score, np.asarray(2.0 * scipy.special.ndtr(-np.abs(score)))
        )

    def __len__(self) -> int:
        return len(self.score)

    @property
    def estimate(self) -> FloatArray:
        """The differences, first minus second."""
        return self.differences.estimate

    @property
    def statistic(self) -> FloatArray:
        """Every difference divided by its standard error; 0 for ties."""
        return np.asarray(self.differences.statistic / np.sqrt(self.lift))

    @property
    def standard_error(self) -> FloatArray:
        """Of every difference, under equality."""
        return np.sqrt(self.lift * self.differences.null_variance)

    def intervals(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Give the interval of every difference for a critical value of the scores."""
        found = self.differences
        return dual_intervals(
            found.estimate,
            self.lift * found.null_variance,
            self.lift * found.here_variance,
            student.quantile_at(critical, self.df),
        )


def compare_many(
    jackknife: Jackknife, first: IntArray, second: IntArray, *, lifted: bool = True
) -> Comparisons:
    """Compare many pairs of dependences.

    Parameters
    ----------
    jackknife : Jackknife
    first, second : ndarray of int, shape (P,)
        ``np.triu_indices(p, 1)`` for all pairs of p dependences.
    lifted : bool, default True
        Whether variances are lifted to their trend. For scans, whose comparisons are of
        different sources, it costs power and is not needed.
    """
    found = compare_pairs(jackknife, first, second)
    lift = np.ones(len(first))
    if len(first) == 1:
        # A single comparison has nothing to be pooled with.
        return Comparisons.scored(found, lift, found.df)
    df = pooled_degrees(found.kurtosis, found.n, found.most_df)
    largest = float(found.null_variance.max(initial=0.0))
    kept = np.flatnonzero(found.null_variance > TIE * largest)
    # Rows that are not held are so many that their variances have no noise to be lifted for.
    if lifted and jackknife.keeps_rows and len(kept):
        chosen = np.linspace(0, len(kept) - 1, min(len(kept), ROWS_FOR_SHARE)).astype(np.int64)
        rows = (
            jackknife.deviations[first[kept[chosen]]] - jackknife.deviations[second[kept[chosen]]]
        )
        lift[kept], df[kept] = lift_variances(
            found.null_variance[kept], df[kept], found.level[kept], rows
        )
    return Comparisons.scored(found, lift, df)


def compare_normally(
    values: FloatArray, variances: FloatArray, n: int, df: float = math.inf
) -> Comparisons:
    """Compare all pairs of estimates whose differences have known variances.

    Parameters
    ----------
    values : ndarray, shape (p,)
    variances : ndarray, shape (p, p)
        Of every difference; 0 for a tie.
    n : int
        Number of observations.
    df : float
        Degrees of freedom of every difference; infinity for the normal law.
    """
    first, second = np.triu_indices(len(values), k=1)
    spread = variances[first, second]
    estimate = np.where(spread > 0, values[first] - values[second], 0.0)
    same = np.full(len(first), 3.0)
    found = Differences(first, second, estimate, spread, spread, same, same, n, df)
    return Comparisons.scored(found, np.ones(len(first)), np.full(len(first), df))


def adjusted_pvalues(
    comparisons: Comparisons, method: str, draws: JointDraws, maxima: FloatArray
) -> FloatArray:
    """Adjust the p-values of all comparisons for their number.

    Parameters
    ----------
    comparisons : Comparisons
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
    raw = comparisons.pvalue
    if method == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(raw))
    if method == "holm":
        return holm(raw)
    if method == "single-step":
        beyond = len(maxima) - np.searchsorted(maxima, np.abs(comparisons.score), side="left")
        simulated, bound = tail_probability(beyond, len(maxima)), np.minimum(1.0, len(raw) * raw)
    else:
        bound = holm(raw)
        simulated = _step_down(comparisons, draws, bound)
    return np.clip(simulated, raw, bound)


def holm(pvalues: FloatArray) -> FloatArray:
    """Adjust by Holm's step-down procedure (1979)."""
    order = np.argsort(pvalues, kind="stable")
    n = len(pvalues)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(pvalues[order] * np.arange(n, 0, -1)))
    return adjusted


def _step_down(comparisons: Comparisons, draws: JointDraws, bound: FloatArray) -> FloatArray:
    """Compare each pair with those not more extreme (Westfall and Young, 1993)."""
    rising = np.argsort(np.abs(comparisons.score), kind="stable")
    # Where Holm's bound is below the resolution of the draws it decides, so no draw is needed.
    open_cases = rising[bound[rising] > 1.0 / (1.0 + draws.n_draws)]
    simulated = bound.copy()
    if len(open_cases):
        count = draws.successive_exceedances(
            comparisons.differences.first[open_cases],
            comparisons.differences.second[open_cases],
            comparisons.score[open_cases],
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
        """List the dependences that may be the strongest: the set holds it with confidence."""
        return np.flatnonzero(self.best_pvalues > 1.0 - confidence_level)

    def ranges(self, confidence_level: float) -> tuple[IntArray, IntArray]:
        """Give a range of every rank; all ranges hold at once.

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


def rank_dependences(comparisons: Comparisons, draws: JointDraws, p: int) -> Ranks:
    """Rank p dependences of which all pairs were compared, in one pass over the draws.

    The p-value of being the best compares by how much the strongest other leads with two-sided
    maxima of the dependence's own comparisons. One-sided maxima lose a tied best too often: the
    skewness of one dependence is not averaged away.
    """
    found = comparisons.differences
    ahead = np.zeros((p, p))
    ahead[found.first, found.second] = -comparisons.score
    ahead[found.second, found.first] = comparisons.score
    gaps = ahead.max(axis=1)
    beyond = np.zeros(p, dtype=np.int64)
    largest = []
    for leads in draws.leads():
        largest.append(leads.max(axis=0))
        beyond += (leads >= gaps[:, None]).sum(axis=1)
    return Ranks(
        ranks=1 + (ahead > 0).sum(axis=1),
        best_pvalues=np.where(gaps > 0, tail_probability(beyond, draws.n_draws), 1.0),
        ahead=ahead,
        maxima=np.sort(np.concatenate(largest)).astype(np.float64),
    )


def simultaneous_intervals(
    jackknife: Jackknife, maxima: FloatArray, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Give intervals of all dependences that hold at once.

    Parameters
    ----------
    jackknife : Jackknife
    maxima : ndarray
        Of :meth:`~reldep.stats.joint_draws.JointDraws.value_maxima`.
    confidence_level : float
    """
    df = pooled_degrees(own_kurtosis(jackknife), jackknife.n, jackknife.most_df)
    critical = student.quantile_at(critical_value(maxima, confidence_level), df)
    low, high = score_variance(jackknife).limits(critical, floor=True)
    return jackknife.scale * low, jackknife.scale * high
