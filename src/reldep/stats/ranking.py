"""Many targets: all differences, adjusted p-values, the best and the ranks.

All of it follows from the estimates and one covariance; nothing here sees data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from reldep.stats.simultaneous import (
    JointNormal,
    inverse_deviations,
    quantile,
    tail_probability,
)

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Differences:
    """All differences of two estimates, one entry a pair ``first < second``.

    Attributes
    ----------
    first, second : ndarray of int
        Which estimates are compared.
    difference, standard_error, statistic : ndarray
        ``first - second``, its deviation and their ratio. A tie (deviation 0) has statistic 0.
    pvalue : ndarray
        Two-sided and unadjusted; 1 for a tie.
    """

    first: IntArray
    second: IntArray
    difference: FloatArray
    standard_error: FloatArray
    statistic: FloatArray
    pvalue: FloatArray

    def __len__(self) -> int:
        return len(self.first)

    def interval(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Give the interval of every difference for a critical value."""
        margin = critical * self.standard_error
        return self.difference - margin, self.difference + margin


@dataclass(frozen=True, eq=False)
class Order:
    """How the estimates stand to each other, with confidence.

    Attributes
    ----------
    ranks : ndarray of int
        1 is the strongest; ties share the smaller number.
    rank_low, rank_high : ndarray of int
        All true ranks lie between these at once, with the confidence asked for.
    best_pvalues : ndarray
        The p-value of "no other is stronger" for every estimate; 1 for the strongest.
    """

    ranks: IntArray
    rank_low: IntArray
    rank_high: IntArray
    best_pvalues: FloatArray


def differences(estimates: FloatArray, variances: FloatArray) -> Differences:
    """Studentise all differences.

    Parameters
    ----------
    estimates : ndarray, shape (p,)
    variances : ndarray, shape (p, p)
        Of every difference; 0 means a tie.
    """
    first, second = np.triu_indices(len(estimates), k=1)
    spread = variances[first, second]
    difference = np.where(spread > 0, estimates[first] - estimates[second], 0.0)
    statistic = difference * inverse_deviations(spread)
    return Differences(
        first,
        second,
        difference,
        np.sqrt(spread),
        statistic,
        np.asarray(2.0 * ndtr(-np.abs(statistic))),
    )


def adjusted_pvalues(
    found: Differences, method: str, law: JointNormal, maxima: FloatArray
) -> FloatArray:
    """Adjust the p-values of all differences for their number.

    Parameters
    ----------
    found : Differences
    law : JointNormal
    maxima : ndarray
        The sorted maxima of all differences under that law, from :func:`order_of`.
    method : {"single-step", "step-down", "holm", "bh"}
        The first two simulate the largest statistic under the joint law and control the chance
        of any false claim; "holm" does so for any law; "bh" controls the share of false claims
        (Benjamini and Hochberg, 1995).

    Notes
    -----
    A simulated p-value cannot be smaller than ``1/(B+1)``. Where Bonferroni's (Holm's) bound is
    smaller still it is taken, since it holds for every law.
    """
    if method == "bh":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(found.pvalue, method="bh"))
    if method == "holm":
        return holm(found.pvalue)
    if method == "step-down":
        bound = holm(found.pvalue)
        simulated = _step_down(found, law, bound)
    else:
        bound = np.minimum(1.0, len(found) * found.pvalue)
        simulated = _single_step(found, maxima)
    return np.clip(simulated, found.pvalue, bound)


def _single_step(found: Differences, maxima: FloatArray) -> FloatArray:
    beyond = len(maxima) - np.searchsorted(maxima, np.abs(found.statistic), side="left")
    return tail_probability(beyond, len(maxima))


def _step_down(found: Differences, law: JointNormal, bound: FloatArray) -> FloatArray:
    """Compare each pair with those not more extreme (Westfall and Young, 1993)."""
    rising = np.argsort(np.abs(found.statistic), kind="stable")
    # Where Holm's bound is below the resolution of the draws it decides, so no draw is needed.
    open_cases = rising[bound[rising] > 1.0 / (1.0 + law.n_simulations)]
    simulated = bound.copy()
    if len(open_cases):
        count = law.successive_exceedances(
            found.first[open_cases], found.second[open_cases], found.statistic[open_cases]
        )
        # A claim never gets a smaller p-value than one more extreme than it.
        falling = tail_probability(count, law.n_simulations)[::-1]
        simulated[open_cases] = np.maximum.accumulate(falling)[::-1]
    return simulated


def holm(pvalues: FloatArray) -> FloatArray:
    """Adjust by Holm's step-down procedure (1979)."""
    order = np.argsort(pvalues, kind="stable")
    n = len(pvalues)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(pvalues[order] * np.arange(n, 0, -1)))
    return adjusted


def order_of(
    estimates: FloatArray,
    variances: FloatArray,
    law: JointNormal,
    confidence_level: float,
) -> tuple[Order, FloatArray]:
    """Rank the estimates, with confidence sets, in one pass over the draws.

    The set of ranks follows Mogstad, Romano, Shaikh and Wilhelm (2024): at least as many are
    stronger as have a simultaneous interval above 0, and so on. The p-value of being the best
    is that of a one-sided comparison with all others (Hsu, 1984): the set of those above α
    contains the strongest with probability at least 1 - α.

    Returns
    -------
    Order
    ndarray
        The sorted maxima of ``|T_a - T_b| / s_ab``, for intervals at any level.
    """
    ahead = (estimates[None, :] - estimates[:, None]) * inverse_deviations(variances)
    gaps = ahead.max(axis=1)
    beyond = np.zeros(len(estimates), dtype=np.int64)
    largest = []
    for leads in law.leads():
        largest.append(leads.max(axis=0))
        beyond += (leads >= gaps[:, None]).sum(axis=1)
    maxima = np.sort(np.concatenate(largest))
    critical = quantile(maxima, confidence_level)
    best_pvalues = np.where(gaps > 0, tail_probability(beyond, law.n_simulations), 1.0)
    # The sharper comparison with the best may exclude a target that the comparison of all pairs
    # does not: its ranks then start at 2, so that the two never contradict each other.
    excluded = best_pvalues <= 1.0 - confidence_level
    rank_low = 1 + (ahead > critical).sum(axis=1)
    p = len(estimates)
    order = Order(
        ranks=1 + (ahead > 0).sum(axis=1),
        rank_low=np.maximum(rank_low, np.where(excluded, 2, 1)),
        rank_high=p - (ahead < -critical).sum(axis=1),
        best_pvalues=best_pvalues,
    )
    return order, maxima
