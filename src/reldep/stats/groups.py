"""One dependence in several independent groups: is it the same in all of them?

Each group has a jackknife of its own. Jackknife-t at the groups' estimates rejects too often where
groups differ in size, because an estimate and its variance rise and fall together. So the
variance is taken as a function of the dependence, see :mod:`reldep.stats.estimates`. Nothing
more need be known for a deviance of an estimate e (Wedderburn, 1974)::

    d(x) = 2 ∫_x^e (e - t) / V(t) dt

Its signed root is much closer to a normal law than ``(e - x)/√V(x)``, which is as skewed as the
estimate of a small group. Groups are compared by this quasi-likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from reldep.data.variables import BoolArray, FloatArray, IntArray
from reldep.engine.clusters import ROUNDING
from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.estimates import Estimates
from reldep.stats.intervals import HALVINGS, LARGEST, SMALLEST_SECOND
from reldep.stats.simultaneous import critical_value, single_step

# Degrees of freedom that all groups lend to the slope of each, see `_slopes`: 8 rejected too often
# where groups have unlike laws.
LENT_DF = 4.0
# Gauss-Legendre quadrature of deviances: to rounding, unless a range begins at 0 and is many
# standard errors long, where p-values are 0 all the same.
NODES, WEIGHTS = (part[:, None, None] for part in np.polynomial.legendre.leggauss(24))


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
        return single_step(score, self.maxima, self.pvalue)

    def intervals(
        self, confidence_level: float, *, simultaneous: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Return intervals of all differences, that hold at once or each by itself."""
        if simultaneous:
            critical = critical_value(self.maxima, confidence_level)
        else:
            critical = -float(scipy.special.ndtri(0.5 - confidence_level / 2))
        if critical not in self._limits:
            self._limits[critical] = self.pairs.intervals(critical)
        low, high = self._limits[critical]
        return self.unit * low, self.unit * high

    @cached_property
    def _limits(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        """Intervals by critical value: the sentence and the table of an answer have the same."""
        return {}


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
    def of(cls, found: Sequence[Estimates]) -> Groups:
        """Return the only dependence of the estimates of every group."""

        def each(name: str) -> FloatArray:
            return np.array([getattr(one, name)[0] for one in found])

        values, scale = each("values"), each("scale")
        variance, second = each("jackknife_variances"), each("second_variances")
        if not np.isfinite(variance).all():
            raise InputError(
                "in some group a variable does not vary without one of the rows, as a label that "
                "two rows have; the group's dependence has no standard error. Leave the group out."
            )
        excess = np.array([one.units.excess for one in found])
        sizes = np.array([one.n for one in found])
        df = np.array([float(one.df(one.kurtosis)[0]) for one in found])
        bounded = found[0].is_bounded
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
        """Return the signed root of the deviance of the first two groups from equality."""
        return float(self.pairs(np.array([[0, 1]])).roots()[0][0])

    def pairs(self, members: IntArray) -> TwoDependences:
        """Return pairs of groups, one row of two numbers for each."""
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
    """Return how much variance a unit of dependence brings to each group's estimate.

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
    # No less than half of the chance deviation, which is that of one row in the mean group.
    mean_start = max(mean_start, 0.5 * len(sizes) / float(sizes.sum()))
    own = df / (df + LENT_DF)
    pooled = own * rows + (1.0 - own) * mean_rows
    return np.asarray(pooled / (own * start + (1.0 - own) * mean_start) / sizes)


@dataclass(frozen=True, eq=False)
class QuasiLikelihood:
    """Sets of k independent estimates, with their variances as functions of the truth.

    ::

        V(x) = second (1-x²)² + slope x (1-x)²     for measures up to 1
        V(x) = second + slope x                     else

    Below 0 and, for measures up to 1, just below 1 the variance changes no more.

    Attributes
    ----------
    estimate, second, slope : ndarray, shape (P, k)
        Second and slope are positive.
    bounded : bool
    """

    estimate: FloatArray
    second: FloatArray
    slope: FloatArray
    bounded: bool

    def sets(self, members: IntArray) -> QuasiLikelihood:
        """Make sets of the members of the only set there is; one row of `members` for each."""
        return self._mapped(lambda part: part[0][members])

    def twice(self) -> QuasiLikelihood:
        """Repeat all sets."""
        return self._mapped(lambda part: np.tile(part, (2, 1)))

    def _mapped(self, change: Callable[[FloatArray], FloatArray]) -> QuasiLikelihood:
        return QuasiLikelihood(
            change(self.estimate), change(self.second), change(self.slope), self.bounded
        )

    def variance(self, x: FloatArray) -> FloatArray:
        """Return the variance of every estimate if its truth is x; x has shape (P, k) or (P, 1)."""
        if not self.bounded:
            return np.asarray(self.second + self.slope * np.maximum(x, 0.0))
        x = np.clip(x, 0.0, LARGEST)
        return np.asarray((1.0 - x) ** 2 * (self.second * (1.0 + x) ** 2 + self.slope * x))

    def deviance(self, x: FloatArray) -> FloatArray:
        """Return the deviance of every estimate from x."""
        e, x = np.broadcast_arrays(self.estimate, x)
        if self.bounded:
            e, x = np.minimum(e, LARGEST), np.minimum(x, LARGEST)
        below = (e - np.minimum(x, 0.0)) ** 2 - (e - np.minimum(e, 0.0)) ** 2
        found = below / self.second + self._above_zero(e, x)
        square = (e - x) ** 2 / self.variance(x)
        return np.where(square < 100 * ROUNDING, square, np.maximum(found, 0.0))

    def _above_zero(self, e: FloatArray, x: FloatArray) -> FloatArray:
        """Integrate over positive t by Gauss's rule, on a scale on which all is smooth.

        1/V falls from 0 on like ``1/(t + κ)`` and rises towards 1 like ``1/(1-t)²``; the scale is
        the logarithm of ``(t + κ)/(1 - t)``, or of ``t + κ`` where there is no end.
        """
        start, stop = np.maximum(x, 0.0), np.maximum(e, 0.0)
        near = 2.0 * self.second + self.slope if self.bounded else self.slope
        kappa = self.second / near
        end = 1.0 if self.bounded else 0.0  # the reciprocal of where the range ends
        low, high = (np.log((t + kappa) / (1.0 - end * t)) for t in (start, stop))
        middle, half = (low + high) / 2, (high - low) / 2
        ratio = np.exp(middle + half * NODES)
        t = (ratio - kappa) / (1.0 + end * ratio)
        step = (t + kappa) * (1.0 - end * t) / (1.0 + end * kappa)
        return np.asarray(2.0 * half * (WEIGHTS * (e - t) * step / self.variance(t)).sum(axis=0))

    def common(self, shift: FloatArray | float = 0.0) -> FloatArray:
        """Return the value from which the deviances add up to the least; shape (P, 1).

        Parameters
        ----------
        shift : ndarray, shape (P, k), or 0
            By how much the truth of every estimate exceeds the value in common.
        """
        values = self.estimate - shift
        # The deviance is least there, so that half of the digits are enough.
        low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
        for _ in range(HALVINGS // 2):
            middle = (low + high) / 2
            score = ((values - middle) / self.variance(middle + shift)).sum(axis=1, keepdims=True)
            low, high = np.where(score > 0, middle, low), np.where(score > 0, high, middle)
        return np.asarray((low + high) / 2)


@dataclass(frozen=True, eq=False)
class TwoDependences:
    """Pairs of independent dependences: tests and intervals of ``first - second``.

    Attributes
    ----------
    both : QuasiLikelihood
        Sets of two.
    df : ndarray, shape (P, 2)
        The degrees of freedom behind each variance.
    """

    both: QuasiLikelihood
    df: FloatArray

    @property
    def difference(self) -> FloatArray:
        """The estimated differences."""
        return self.both.estimate[:, 0] - self.both.estimate[:, 1]

    def roots(self, difference: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Return the signed root of the deviance from a difference, and its degrees of freedom."""
        shift = np.zeros_like(self.both.estimate)
        shift[:, 0] = difference
        truth = self.both.common(shift) + shift
        variances = self.both.variance(truth)
        noise = ((variances / variances.sum(axis=1, keepdims=True)) ** 2 / self.df).sum(axis=1)
        size = np.sqrt(self.both.deviance(truth).sum(axis=1))
        return np.sign(self.difference - difference) * size, 1.0 / noise

    def intervals(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Return the differences that the test does not reject.

        Parameters
        ----------
        critical : float
            The critical value of a normal law; Student's with any df has the same level.
        """
        count = len(self.df)
        # Both limits are looked for at once.
        twice = TwoDependences(self.both.twice(), np.tile(self.df, (2, 1)))
        limits = twice._limits(critical, np.repeat([-1.0, 1.0], count))
        return limits[:count], limits[count:]

    def _limits(self, critical: float, side: FloatArray) -> FloatArray:
        """Return the limit of every pair on its side, by bisection."""

        def kept(difference: FloatArray) -> BoolArray:
            root, df = self.roots(difference)
            return np.asarray(np.abs(root) <= student.quantile_at(critical, df))

        found, zero = self.difference, np.zeros(len(side))
        # What the test says of 0 is asked by itself, so that the interval never disagrees.
        towards_zero, zero_kept = side * found < 0, kept(zero)
        inside = np.where(towards_zero & zero_kept, zero, found)
        far = self._far(side, kept)
        outside = np.where(towards_zero & ~zero_kept, zero, far)
        everything = kept(outside)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            within = kept(middle)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return np.where(everything, far, inside)

    def _far(self, side: FloatArray, kept: Callable[[FloatArray], BoolArray]) -> FloatArray:
        """Return differences beyond every interval, or the largest that there are."""
        if self.both.bounded:
            return side
        spread = np.sqrt(self.both.variance(self.both.estimate).sum(axis=1))
        far: FloatArray = side * (np.abs(self.both.estimate).sum(axis=1) + spread)
        for _ in range(HALVINGS):
            near = kept(far)
            if not near.any():
                break
            far = np.where(near, 2.0 * far, far)
        return far
