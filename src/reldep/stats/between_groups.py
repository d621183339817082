"""One dependence in several independent groups: is it the same in all of them?

Each group has a jackknife of its own. Jackknife-t at the groups' estimates rejects too often where
groups differ in size, because an estimate and its variance rise and fall together. So the
variance is taken as a function of the dependence, and groups are compared by their quasi-
likelihood (:mod:`reldep.stats.quasi_likelihood`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.stats import student
from reldep.stats.joint_draws import critical_value, tail_probability
from reldep.stats.quasi_likelihood import QuasiLikelihood, TwoDependences
from reldep.stats.score_intervals import LARGEST, SMALLEST_SECOND, own_degrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.jackknife import Jackknife

# Degrees of freedom that all groups lend to the slope of each, see `_slopes`.
LENT_DF = 4.0
# The least mean dependence that a slope is divided by, in rows.
FEWEST_ROWS_OF_DEPENDENCE = 0.5


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
    statistic : ndarray
        Signed roots of the deviance from equality.
    df : ndarray
        Their degrees of freedom.
    standard_error : ndarray
        The estimate divided by the statistic.
    maxima : ndarray
        Sorted draws of the largest normal score under equality of all groups.
    pairs : TwoDependences
        In units of `unit`.
    unit : float
    """

    first: IntArray
    second: IntArray
    estimate: FloatArray
    statistic: FloatArray
    df: FloatArray
    standard_error: FloatArray
    maxima: FloatArray
    pairs: TwoDependences
    unit: float

    @property
    def pvalue(self) -> FloatArray:
        """Two-sided, of each pair by itself."""
        return np.minimum(2.0 * np.exp(student.log_tail(np.abs(self.statistic), self.df)), 1.0)

    @property
    def adjusted(self) -> FloatArray:
        """Two-sided, adjusted for the number of pairs."""
        score = np.abs(student.normal_scores(self.statistic, self.df))
        beyond = len(self.maxima) - np.searchsorted(self.maxima, score, side="left")
        simulated = tail_probability(beyond, len(self.maxima))
        return np.clip(simulated, self.pvalue, np.minimum(1.0, len(score) * self.pvalue))

    def intervals(
        self, confidence_level: float, *, simultaneous: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Give intervals of all differences, that hold at once or each by itself."""
        if simultaneous:
            critical = critical_value(self.maxima, confidence_level)
        else:
            critical = -float(scipy.special.ndtri(0.5 - confidence_level / 2))
        low, high = self.pairs.intervals(critical)
        return self.unit * low, self.unit * high


@dataclass(frozen=True, eq=False)
class Groups:
    """The same dependence in n independent groups.

    Attributes
    ----------
    values : ndarray, shape (n,)
    sizes : ndarray of int
    df : ndarray
    likelihood : QuasiLikelihood
        All groups as one set, in units of `unit`.
    unit : float
        For "hsic" the geometric mean of the groups' scales; else 1.
    """

    values: FloatArray
    sizes: IntArray
    df: FloatArray
    likelihood: QuasiLikelihood
    unit: float

    @classmethod
    def of(cls, jackknives: Sequence[Jackknife], i: int = 0) -> Groups:
        """Put together dependence i of the jackknife of every group."""
        return cls.from_moments(
            np.array([found.values[i] for found in jackknives]),
            np.array([found.variances()[i] for found in jackknives]),
            np.array([found.second_own()[i] for found in jackknives]),
            np.array([found.scale[i] for found in jackknives]),
            np.array([found.n for found in jackknives]),
            np.array([found.excess for found in jackknives]),
            np.array([own_degrees(found)[i] for found in jackknives]),
            jackknives[0].bounded,
        )

    @classmethod
    def from_moments(
        cls,
        values: FloatArray,
        variance: FloatArray,
        second: FloatArray,
        scale: FloatArray,
        sizes: IntArray,
        excess: FloatArray,
        df: FloatArray,
        bounded: bool,
    ) -> Groups:
        """Put together what the jackknife of every group says of its dependence.

        Parameters
        ----------
        values, variance, second : ndarray, shape (n,)
            The dependences, their jackknife variances and those of their second components.
        scale, sizes, excess, df : ndarray
            See :class:`reldep.stats.jackknife.Jackknife`.
        bounded : bool
        """
        unit = float(np.exp(np.log(scale).mean()))
        variance = variance / unit**2
        second = np.maximum(second / unit**2, SMALLEST_SECOND)
        start = np.clip(values / unit, 0.0, LARGEST if bounded else None)
        first_order = np.maximum(variance - (excess + 1.0) * second, 0.0)
        if bounded:
            first_order = first_order / (1.0 - start) ** 2
            second = second / (1.0 - start**2) ** 2
        slope = np.maximum(_slopes(first_order, start, sizes, df), second)
        likelihood = QuasiLikelihood((values / unit)[None], second[None], slope[None], bounded)
        return cls(values, sizes, df, likelihood, unit)

    def test(self) -> WelchTest:
        """Test that all groups have one dependence."""
        n = len(self.values)
        common = self.likelihood.common()
        weights = 1.0 / self.likelihood.variance(common)[0]
        spread = float(self.likelihood.deviance(common).sum())
        noise = float(((1.0 - weights / weights.sum()) ** 2 / self.df).sum())
        statistic = spread / (n - 1) / (1.0 + 2.0 * (n - 2) / (n**2 - 1) * noise)
        within = (n**2 - 1) / (3.0 * noise)
        return WelchTest(
            self.unit * float(common[0, 0]),
            statistic,
            n - 1.0,
            within,
            float(scipy.special.fdtrc(n - 1.0, within, statistic)),
        )

    def signed_root(self) -> float:
        """Give the signed root of the deviance of the first two groups from equality."""
        return float(self.pairs(np.array([[0, 1]])).roots()[0][0])

    def pairs(self, members: IntArray) -> TwoDependences:
        """Give pairs of groups, one row of two numbers for each."""
        return TwoDependences(self.likelihood.sets(members), self.df[members])

    def differences(self, n_draws: int, rng: np.random.Generator) -> GroupDifferences:
        """Compare all pairs of groups; the joint law is simulated from independent groups."""
        n = len(self.values)
        first, second = np.triu_indices(n, 1)
        pairs = self.pairs(np.column_stack([first, second]))
        statistic, df = pairs.roots()
        here = self.likelihood.variance(self.likelihood.estimate)[0]
        spread = np.sqrt(here[first] + here[second])
        errors = np.sqrt(here)[:, None] * rng.standard_normal((n, n_draws))
        largest = (np.abs(errors[first] - errors[second]) / spread[:, None]).max(axis=0)
        estimate = self.values[first] - self.values[second]
        # Where two groups are equal both are 0, and their ratio has this limit.
        error = self.unit * spread
        np.divide(estimate, statistic, out=error, where=statistic != 0)
        return GroupDifferences(
            first, second, estimate, statistic, df, error, np.sort(largest), pairs, self.unit
        )


def _slopes(
    first_order: FloatArray, start: FloatArray, sizes: IntArray, df: FloatArray
) -> FloatArray:
    """Give how much variance a unit of dependence brings to each group's estimate.

    The part of a group's variance that is proportional to its dependence, divided by its
    dependence, is far too large on average where the estimate may be near 0. So the variance of a
    row's influence and the dependence are each averaged with those of all groups before one is
    divided by the other. All groups together count as `LENT_DF` degrees of freedom: a group of
    20 rows borrows a fifth, a group of 200 next to nothing, and in large groups with
    unlike laws each variance is its own.
    """
    rows = first_order * sizes
    shares = sizes / sizes.sum()
    mean_rows, mean_start = float(shares @ rows), float(shares @ start)
    mean_start = max(mean_start, FEWEST_ROWS_OF_DEPENDENCE * len(sizes) / float(sizes.sum()))
    own = df / (df + LENT_DF)
    pooled = own * rows + (1.0 - own) * mean_rows
    return np.asarray(pooled / (own * start + (1.0 - own) * mean_start) / sizes)
