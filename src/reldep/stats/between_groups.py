"""One dependence in several independent groups: is it the same in all of them?

Each group has a jackknife of its own. The variance of each estimate is taken at the value that
the groups would have in common, as a score test does; jackknife-t at the estimates rejects too
often where groups differ in size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.stats import student
from reldep.stats.differences import dual_intervals
from reldep.stats.joint_draws import critical_value, tail_probability
from reldep.stats.score_intervals import ScoreVariance, own_degrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.jackknife import Jackknife

# Steps of the iteration between the common value and the weights; four are enough.
STEPS = 4


@dataclass(frozen=True)
class WelchTest:
    """A test that groups have one value in common, by Welch's F (1951).

    Attributes
    ----------
    common : float
        The value that they would have in common.
    statistic, df_between, df_within, pvalue : float
    """

    common: float
    statistic: float
    df_between: float
    df_within: float
    pvalue: float


@dataclass(frozen=True, eq=False)
class GroupDifferences:
    """Differences between all pairs of groups, ``first - second``.

    Attributes
    ----------
    first, second : ndarray of int
    estimate : ndarray
    null_variance, here_variance : ndarray
        If the two groups had their value in common, and at the estimates.
    df : ndarray
    score : ndarray
        Normal scores of the t statistics.
    maxima : ndarray
        Sorted draws of the largest score under equality of all groups.
    """

    first: IntArray
    second: IntArray
    estimate: FloatArray
    null_variance: FloatArray
    here_variance: FloatArray
    df: FloatArray
    score: FloatArray
    maxima: FloatArray

    @property
    def pvalue(self) -> FloatArray:
        """Two-sided, of each pair by itself."""
        statistic = self.estimate / np.sqrt(self.null_variance)
        return np.minimum(2.0 * np.exp(student.log_tail(np.abs(statistic), self.df)), 1.0)

    @property
    def adjusted(self) -> FloatArray:
        """Two-sided, adjusted for the number of pairs."""
        beyond = len(self.maxima) - np.searchsorted(self.maxima, np.abs(self.score), side="left")
        simulated = tail_probability(beyond, len(self.maxima))
        return np.clip(simulated, self.pvalue, np.minimum(1.0, len(self.score) * self.pvalue))

    def intervals(
        self, confidence_level: float, *, simultaneous: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Give intervals of all differences, that hold at once or each by itself."""
        if simultaneous:
            critical = critical_value(self.maxima, confidence_level)
            quantile = student.quantile_at(critical, self.df)
        else:
            quantile = student.quantile(0.5 + confidence_level / 2, self.df)
        return dual_intervals(self.estimate, self.null_variance, self.here_variance, quantile)


@dataclass(frozen=True, eq=False)
class Groups:
    """The same dependence in n independent groups.

    Attributes
    ----------
    values : ndarray, shape (n,)
    sizes : ndarray of int
    df : ndarray
    variance : ScoreVariance
        In units of `unit`.
    unit : float
        For "hsic" the geometric mean of the groups' scales; else 1.
    """

    values: FloatArray
    sizes: IntArray
    df: FloatArray
    variance: ScoreVariance
    unit: float

    @classmethod
    def of(cls, jackknives: Sequence[Jackknife], i: int = 0) -> Groups:
        """Put together dependence i of the jackknife of every group."""
        unit = float(np.exp(np.mean([np.log(found.scale[i]) for found in jackknives])))
        values = np.array([found.values[i] for found in jackknives])
        sizes = np.array([found.n for found in jackknives])
        variance = ScoreVariance.of(
            values / unit,
            np.array([found.variances()[i] for found in jackknives]) / unit**2,
            np.array([found.second_own()[i] for found in jackknives]) / unit**2,
            sizes.astype(np.float64),
            np.array([found.excess for found in jackknives]),
            jackknives[0].bounded,
        )
        df = np.array([own_degrees(found)[i] for found in jackknives])
        return cls(values, sizes, df, variance, unit)

    def variances_at(self, value: float) -> FloatArray:
        """Give the variance of every group's estimate if its true value were this."""
        x = max(value / self.unit, 0.0)
        return self.unit**2 * self.variance(np.full(len(self.values), self._bounded(x)))

    def variances_here(self) -> FloatArray:
        """Give the variance of every group's estimate at the estimate."""
        return self.unit**2 * self.variance(self.variance.start)

    def _bounded(self, x: float) -> float:
        return min(x, 0.9999) if self.variance.bounded else x

    def common(self, chosen: IntArray) -> tuple[float, FloatArray]:
        """Find the value that some groups would have in common, and their weights there."""
        values, sizes = self.values[chosen], self.sizes[chosen]
        value = float(sizes @ values / sizes.sum())
        weights = np.ones(len(values))
        for _ in range(STEPS):
            weights = 1.0 / self.variances_at(value)[chosen]
            value = float(weights @ values / weights.sum())
        return value, weights

    def test(self, chosen: IntArray | None = None) -> WelchTest:
        """Test that all groups, or those chosen, have one dependence."""
        chosen = np.arange(len(self.values)) if chosen is None else chosen
        n = len(chosen)
        common, weights = self.common(chosen)
        spread = float(weights @ (self.values[chosen] - common) ** 2)
        noise = float(((1.0 - weights / weights.sum()) ** 2 / self.df[chosen]).sum())
        statistic = spread / (n - 1) / (1.0 + 2.0 * (n - 2) / (n**2 - 1) * noise)
        within = (n**2 - 1) / (3.0 * noise)
        return WelchTest(
            common,
            statistic,
            n - 1.0,
            within,
            float(scipy.special.fdtrc(n - 1.0, within, statistic)),
        )

    def differences(self, n_draws: int, rng: np.random.Generator) -> GroupDifferences:
        """Compare all pairs of groups; the joint law is simulated from independent groups."""
        n = len(self.values)
        first, second = np.triu_indices(n, 1)
        pairs = [np.array(pair) for pair in zip(first, second, strict=True)]
        tests = [self.test(pair) for pair in pairs]
        null = np.array(
            [
                self.variances_at(test.common)[pair].sum()
                for test, pair in zip(tests, pairs, strict=True)
            ]
        )
        here = self.variances_here()
        df = np.array([test.df_within for test in tests])
        estimate = self.values[first] - self.values[second]
        errors = np.sqrt(here)[:, None] * rng.standard_normal((n, n_draws))
        scale = np.sqrt(here[first] + here[second])[:, None]
        maxima = np.sort((np.abs(errors[first] - errors[second]) / scale).max(axis=0))
        score = student.normal_scores(estimate / np.sqrt(null), df)
        return GroupDifferences(
            first, second, estimate, null, here[first] + here[second], df, score, maxima
        )
