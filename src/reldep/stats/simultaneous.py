"""Many normal estimates at once: simulated laws of the largest of many statistics.

The studentised errors of p estimates and of their p(p-1)/2 differences have a joint normal law
that one p×p covariance fixes. Draws of the p errors are enough: the differences are formed a
few at a time and only their maxima are kept, so that no p²×p² correlation ever exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.covariance import is_negligible
from reldep.stats.dependences import differences_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.data.variables import FloatArray, IntArray

# Working memory of a step, in numbers; about 8 MB, which stays in the processor's cache.
CHUNK = 2**20


def difference_variances(covariance: FloatArray) -> FloatArray:
    """Give the variance of every difference of two estimates; exactly 0 for ties."""
    variances, scale = differences_of(covariance)
    return np.where(is_negligible(variances, scale), 0.0, variances)


def inverse_deviations(variances: FloatArray) -> FloatArray:
    """Give 1/sqrt(variance), and 0 where there is no variance: such a statistic is always 0."""
    inverse = np.zeros_like(variances)
    np.divide(1.0, np.sqrt(variances), out=inverse, where=variances > 0)
    return inverse


def root_scale_interval(
    estimates: FloatArray, errors: FloatArray, critical: float
) -> tuple[FloatArray, FloatArray]:
    """Give intervals of dependences that are symmetric on the scale of square roots.

    A dependence is a squared norm: its deviation is about proportional to its root, so that
    small estimates come with small errors and plain normal intervals miss on one side. On the
    scale of roots the deviation is stable, and squaring back gives::

        H ± c·s + c² s² / (4 max(H, s))

    Where the plain interval reaches 0, so does this one; limits below 0 only make sense for
    kernels that are not positive definite, whose HSIC may be negative.
    """
    margin = critical * errors
    scale = np.maximum(estimates, errors)
    shift = np.zeros_like(margin)
    np.divide(margin**2, 4.0 * scale, out=shift, where=scale > 0)
    low = np.where(estimates > margin, estimates - margin + shift, np.minimum(0.0, estimates))
    low = np.where(estimates < -margin, estimates - margin, low)
    return low, estimates + margin + shift


@dataclass(frozen=True, eq=False)
class JointNormal:
    """Draws of the errors of p estimates, with what is needed to studentise them.

    Attributes
    ----------
    draws : ndarray, shape (p, B)
    covariance : ndarray, shape (p, p)
        The covariance they were drawn from.
    """

    draws: FloatArray
    covariance: FloatArray

    @classmethod
    def simulate(
        cls, covariance: FloatArray, n_simulations: int, rng: np.random.Generator
    ) -> JointNormal:
        """Draw from the normal law of mean 0; a singular covariance is welcome."""
        values, vectors = np.linalg.eigh(covariance)
        kept = values > 1e-14 * max(float(values[-1]), 0.0)
        factor = vectors[:, kept] * np.sqrt(values[kept])
        return cls(factor @ rng.standard_normal((int(kept.sum()), n_simulations)), covariance)

    @property
    def n_simulations(self) -> int:
        """How many draws there are."""
        return int(self.draws.shape[1])

    def target_maxima(self) -> FloatArray:
        """Draw the largest ``|T_a| / s_a`` over all estimates, sorted."""
        inverse = inverse_deviations(np.diag(self.covariance).copy())
        return np.sort(np.abs(self.draws * inverse[:, None]).max(axis=0))

    def leads(self) -> Iterator[FloatArray]:
        """Draw ``max_b (T_b - T_a) / s_ab`` for every a: by how much the best other leads.

        Yields
        ------
        ndarray, shape (p, c)
            For a run of c draws. Its largest entry per draw is the largest ``|T_a - T_b|/s_ab``
            over all pairs, since every pair is in it with both signs.
        """
        inverse = inverse_deviations(difference_variances(self.covariance))
        p = len(self.draws)
        for chosen in _runs(self.n_simulations, p):
            drawn = self.draws[:, chosen]
            largest = np.zeros_like(drawn)
            for a in range(p - 1):
                ahead = (drawn[a + 1 :] - drawn[a]) * inverse[a + 1 :, a, None]
                np.maximum(largest[a], ahead.max(axis=0), out=largest[a])
                np.negative(ahead, out=ahead)
                np.maximum(largest[a + 1 :], ahead, out=largest[a + 1 :])
            yield largest

    def successive_exceedances(
        self, first: IntArray, second: IntArray, statistics: FloatArray
    ) -> IntArray:
        """Count, for every pair, the draws in which it or a pair before it is as extreme.

        The pairs are in rising order of ``|statistic|``, so that this is the count of the
        step-down procedure: a pair competes only with those that are not more extreme.
        """
        inverse = inverse_deviations(difference_variances(self.covariance))[first, second]
        count = np.zeros(len(first), dtype=np.int64)
        for chosen in _runs(self.n_simulations, len(first)):
            drawn = self.draws[:, chosen]
            extremes = drawn[first]
            extremes -= drawn[second]
            np.abs(extremes, out=extremes)
            extremes *= inverse[:, None]
            np.maximum.accumulate(extremes, axis=0, out=extremes)
            count += (extremes >= np.abs(statistics)[:, None]).sum(axis=1)
        return count


def _runs(n_simulations: int, height: int) -> Iterator[slice]:
    """Cut the draws into runs that keep a working array of this height small."""
    size = max(1, CHUNK // max(1, height))
    for start in range(0, n_simulations, size):
        yield slice(start, min(start + size, n_simulations))


def tail_probability(count: IntArray, n_simulations: int) -> FloatArray:
    """Turn counts of draws at least as extreme into p-values that are never 0."""
    return np.asarray((1.0 + count) / (1.0 + n_simulations))


def quantile(sorted_maxima: FloatArray, confidence_level: float) -> float:
    """Give the critical value that agrees with :func:`tail_probability`.

    A statistic beyond it has a p-value of at most ``1 - confidence_level``.
    """
    n = len(sorted_maxima)
    place = math.ceil(confidence_level * (n + 1))
    if place > n:
        raise ValueError(
            f"confidence_level={confidence_level!r} needs more than n_simulations={n} draws; "
            f"pass n_simulations of at least {math.ceil(1 / (1 - confidence_level))}."
        )
    return float(sorted_maxima[place - 1])
