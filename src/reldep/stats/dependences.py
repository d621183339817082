"""Several dependences estimated from the same A: values, errors, tests and intervals.

Every question asks for the same things, so that two questions about the same numbers give the
same answer. What stands behind them differs: plug-in variances, the jackknife, two halves of the
rows, or two crossed clusterings. :mod:`reldep.stats.estimation` makes them from A.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from reldep.exceptions import InputError
from reldep.stats.comparisons import (
    Comparisons,
    compare_many,
    compare_normally,
    simultaneous_intervals,
)
from reldep.stats.contrasts import contrast_test, split_test
from reldep.stats.covariance import INDEPENDENT_ROWS, RowDependence, is_negligible
from reldep.stats.diagnostics import variance_shares
from reldep.stats.differences import TTest
from reldep.stats.joint_draws import critical_value
from reldep.stats.score_intervals import single_interval
from reldep.stats.second_order import (
    agreeing_with,
    positive_part,
    second_order_covariance,
)
from reldep.stats.testing import Interval, Intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair
    from reldep.stats.jackknife import Jackknife

# An HSIC is a mean over 4-tuples of rows; with 4 rows all conditional means are that one tuple.
FEWEST_FOR_ERRORS = 5


@dataclass(frozen=True, eq=False)
class Dependences(ABC):
    """Estimates of several dependences with all that tests and intervals need.

    Attributes
    ----------
    pairs : tuple of Pair
    measure, variance : str
    values : ndarray, shape (p,)
    psi : ndarray, shape (p, m)
        The influence of every observation on every value; rows sum to 0, and ``psi psi' / m²``
        is the covariance of the values to first order.
    rows : RowDependence
        With the lag that was chosen, where that was left open.
    """

    pairs: tuple[Pair, ...]
    measure: str
    variance: str
    values: FloatArray
    psi: FloatArray
    rows: RowDependence

    keeps_rows: ClassVar[bool] = True
    """Whether `psi` has a column for every observation, or only their sums of products."""

    @property
    def n_observations(self) -> int:
        """How many observations there are."""
        return int(self.psi.shape[1])

    @property
    @abstractmethod
    def covariance(self) -> FloatArray:
        """The covariance of the values, positive semi-definite."""

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every value."""
        return np.sqrt(np.diag(self.covariance))

    @abstractmethod
    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the interval of one dependence."""

    @abstractmethod
    def compare_all(self) -> Comparisons:
        """Compare all pairs of dependences at once.

        The rule is that of :meth:`test`, so that a ranking of two targets and their comparison
        agree. A tie (the same influence on both, as identical targets or copies on another
        scale have) has a variance of exactly 0.
        """

    @abstractmethod
    def deviations(self) -> FloatArray:
        """Give a root D of the covariance: ``D D'`` is proportional to it."""

    @abstractmethod
    def simultaneous_intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Give intervals of all dependences that hold at once.

        Parameters
        ----------
        maxima : ndarray
            Simulated largest studentised errors of the dependences, sorted.
        confidence_level : float
        """

    @abstractmethod
    def estimate(self, weights: FloatArray) -> TTest:
        """Estimate a weighted sum of the dependences; a standard error of 0 is a tie."""

    def test(self, weights: FloatArray) -> TTest:
        """Test whether a weighted sum of the dependences is 0."""
        test = self.estimate(weights)
        if not test.standard_error > 0:
            listed = ", ".join(f"{x} ~ {y}" for x, y in self.pairs)
            raise InputError(
                f"the estimated variance of the contrast of {listed} is 0: the dependences are the "
                "same for every observation, as when two variables are identical or copies of "
                "each other. There is nothing to test; compare different variables."
            )
        return test

    def only(self, which: Sequence[int]) -> Self:
        """Keep some of the dependences, with the errors that they have among all."""
        kept = list(which)
        return replace(
            self,
            pairs=tuple(self.pairs[i] for i in kept),
            values=self.values[kept],
            psi=self.psi[kept],
            **self._only(kept),
        )

    def _only(self, kept: list[int]) -> dict[str, Any]:  # noqa: ARG002
        """Give what stands behind some of the dependences."""
        return {}

    def without(self, rows: IntArray) -> FloatArray | None:  # noqa: ARG002
        """Give all values without some rows, where that is known exactly."""
        return None

    def lag_correlation(self, weights: FloatArray) -> float:
        """Correlate the influence on a weighted sum with that of the next row."""
        psi = weights @ self.psi
        energy = float(psi @ psi)
        return float(psi[1:] @ psi[:-1]) / energy if energy > 0 else 0.0

    def largest_share(self, weights: FloatArray) -> tuple[float, int]:
        """Give the largest share of a row in the variance of a weighted sum, and the row."""
        shares = variance_shares(weights @ self.psi)
        top = int(np.argmax(shares))
        return float(shares[top]), top

    def n_units(self) -> int:
        """Give the number of units that vary independently: rows, clusters or blocks."""
        return self.rows.n_blocks or self.rows.n_clusters or self.n_observations

    def covariance_with(self, weights: FloatArray, variance: float) -> FloatArray:
        """Give the covariance in which a contrast has exactly this variance."""
        return agreeing_with(self.covariance, weights, variance)


@dataclass(frozen=True, eq=False)
class PlugIn(Dependences):
    """Dependences with a variance from their influence values, and the normal law.

    Attributes
    ----------
    second : ndarray, shape (p, p), or None
        The covariance of the second Hoeffding component, for variances that take it off.
    """

    second: FloatArray | None

    def _only(self, kept: list[int]) -> dict[str, Any]:
        return {"second": None if self.second is None else self.second[np.ix_(kept, kept)]}

    @cached_property
    def plug_in(self) -> FloatArray:
        """The covariance of the values to first order; made only when it is asked for."""
        return self.rows.covariance(self.psi)

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every value, without the whole covariance if that will do."""
        if self.second is not None:
            return super().standard_errors
        return np.sqrt(self.rows.variances(self.psi))

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the values."""
        if self.second is None:
            return self.plug_in
        return second_order_covariance(self.plug_in, self.second)

    @property
    def df(self) -> float:
        """The degrees of freedom: one less than there are clusters, infinite without them."""
        n_clusters = self.rows.n_clusters
        # With the published variance the published law is kept.
        if n_clusters is None or self.variance in ("fixed-kernel", "bandwidth-aware"):
            return math.inf
        return n_clusters - 1.0

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the interval of one dependence."""
        # A variable and its copy have no variance, whatever the second component is.
        error = float(self.standard_errors[i]) if self.psi[i].any() else 0.0
        test = TTest(float(self.values[i]), error, self.df, error)
        return Interval(*test.interval(confidence_level))

    def compare_all(self) -> Comparisons:
        """Compare all pairs of dependences at once."""
        variances = self._difference_variances()
        return compare_normally(self.values, variances, self.n_observations, self.df)

    def deviations(self) -> FloatArray:
        """Give a root of the covariance, which rows that depend on each other enter."""
        return root_of(self.covariance)

    def simultaneous_intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Give intervals of all dependences, symmetric on the scale of square roots."""
        critical = critical_value(maxima, confidence_level)
        return root_scale_intervals(self.values, self.standard_errors, critical)

    def _difference_variances(self) -> FloatArray:
        plug_in, scale = differences_of(self.plug_in)
        variances = plug_in
        if self.second is not None:
            variances = corrected_variance(plug_in, differences_of(self.second)[0])
        return np.where(is_negligible(plug_in, scale), 0.0, variances)

    def estimate(self, weights: FloatArray) -> TTest:
        """Estimate a weighted sum of the dependences."""
        if self.n_observations < FEWEST_FOR_ERRORS:
            raise InputError(
                f"{self.n_observations} observations have no standard error: they are a single "
                f"4-tuple. At least {FEWEST_FOR_ERRORS} are needed. Use more data."
            )
        plug_in = float(weights @ self.plug_in @ weights)
        scale = float(weights**2 @ np.diag(self.plug_in))
        variance = 0.0
        if scale > 0 and not is_negligible(plug_in, scale):
            second = 0.0 if self.second is None else float(weights @ self.second @ weights)
            variance = float(corrected_variance(plug_in, second))
        error = math.sqrt(variance)
        return TTest(float(weights @ self.values), error, self.df, error)


@dataclass(frozen=True, eq=False)
class Jackknifed(Dependences):
    """Dependences with jackknife-t tests and intervals.

    Attributes
    ----------
    jackknife : Jackknife
    """

    jackknife: Jackknife

    @classmethod
    def of(cls, pairs: tuple[Pair, ...], left_out: Jackknife) -> Jackknifed:
        """Take the dependences of independent rows from their jackknife."""
        m = left_out.n
        # On the scale of influence values, so that psi psi'/m² is the jackknife covariance.
        psi = -math.sqrt(m * (m - 1)) * left_out.deviations
        return cls(
            pairs, left_out.measure, "jackknife", left_out.values, psi, INDEPENDENT_ROWS, left_out
        )

    def _only(self, kept: list[int]) -> dict[str, Any]:
        return {"jackknife": self.jackknife.only(kept)}

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every value."""
        second = self.jackknife.second_own()
        whole = self.jackknife.variances() - (self.jackknife.excess - 1.0) * second
        return np.sqrt(corrected_variance(whole, second))

    @property
    def covariance(self) -> FloatArray:
        """The jackknife covariance less what it counts too often of the second component."""
        whole, second = self.jackknife.covariance(), self.jackknife.second_matrix()
        excess = self.jackknife.excess
        return second_order_covariance(whole - (excess - 1.0) * second, second)

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the score interval of one dependence."""
        return Interval(*single_interval(self.jackknife, i, confidence_level))

    def compare_all(self) -> Comparisons:
        """Compare all pairs of dependences at once."""
        first, second = np.triu_indices(len(self.values), k=1)
        return compare_many(self.jackknife, first, second)

    def without(self, rows: IntArray) -> FloatArray | None:
        """Give all values without one row."""
        if len(rows) != 1 or self.jackknife.n != self.n_observations:
            return None
        return self.jackknife.without(int(rows[0]))

    def deviations(self) -> FloatArray:
        """Give the leave-one-out deviations."""
        return self.jackknife.deviations

    def simultaneous_intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Give score intervals of all dependences that hold at once."""
        return Intervals(*simultaneous_intervals(self.jackknife, maxima, confidence_level))

    def estimate(self, weights: FloatArray) -> TTest:
        """Estimate a weighted sum of the dependences."""
        return contrast_test(self.jackknife, weights)


@dataclass(frozen=True, eq=False)
class Halves(Dependences):
    """Two dependences, each from a jackknife of its own half of the rows.

    Attributes
    ----------
    sides : tuple of two Jackknifed
    """

    sides: tuple[Jackknifed, Jackknifed]

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the two values, which is 0 between them."""
        return np.diag([float(side.covariance[0, 0]) for side in self.sides])

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the interval of one of the two dependences."""
        return self.sides[i].interval(0, confidence_level)

    def compare_all(self) -> Comparisons:
        """Compare the two dependences."""
        variance = self.estimate(np.array([1.0, -1.0])).standard_error ** 2
        spread = np.array([[0.0, variance], [variance, 0.0]])
        return compare_normally(self.values, spread, self.n_observations)

    def deviations(self) -> FloatArray:
        """Give a root of the covariance."""
        return np.sqrt(self.covariance)

    def simultaneous_intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Give intervals of both dependences that hold at once."""
        critical = critical_value(maxima, confidence_level)
        return root_scale_intervals(self.values, self.standard_errors, critical)

    def estimate(self, weights: FloatArray) -> TTest:
        """Estimate a weighted sum of the dependences."""
        first, second = (side.jackknife for side in self.sides)
        test = split_test(first, second)
        size = abs(float(weights[0]))
        sign = math.copysign(size, float(weights[0]))
        return TTest(
            sign * test.estimate, size * test.standard_error, test.df, size * test.error_here
        )


@dataclass(frozen=True, eq=False)
class Crossed(Dependences):
    """Dependences where rows share either of two crossed clusterings.

    The variance is ``max(V_1 + V_2 - V_12, V_1, V_2)``, with V_12 of the cells that have both in
    common, and Student's t has the fewer clusters less 1 degrees of freedom (Cameron, Gelbach
    and Miller, 2011).

    Attributes
    ----------
    sides : tuple of three Jackknife
        By the first clustering, by the second, and by their cells.
    """

    sides: tuple[Jackknife, ...]

    def _only(self, kept: list[int]) -> dict[str, Any]:
        return {"sides": tuple(side.only(kept) for side in self.sides)}

    @property
    def df(self) -> float:
        """The fewer clusters less 1."""
        return min(side.n for side in self.sides) - 1.0

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the values."""
        first, second, both = (side.covariance() for side in self.sides)
        return positive_part(first + second - both)

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the interval of one dependence."""
        weights = np.zeros(len(self.values))
        weights[i] = 1.0
        return Interval(*self.estimate(weights).interval(confidence_level))

    def compare_all(self) -> Comparisons:
        """Compare all pairs of dependences at once."""
        variances, scale = differences_of(self.covariance)
        spread = np.where(is_negligible(variances, scale), 0.0, variances)
        return compare_normally(self.values, spread, self.n_observations, self.df)

    def deviations(self) -> FloatArray:
        """Give a root of the covariance."""
        return root_of(self.covariance)

    def simultaneous_intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Give intervals of all dependences that hold at once."""
        critical = critical_value(maxima, confidence_level)
        return root_scale_intervals(self.values, self.standard_errors, critical)

    def estimate(self, weights: FloatArray) -> TTest:
        """Estimate a weighted sum of the dependences."""
        tests = [contrast_test(side, weights) for side in self.sides]
        null = _crossed([test.standard_error for test in tests])
        here = _crossed([test.error_here for test in tests])
        return TTest(tests[0].estimate, null, self.df, here)


def _crossed(errors: Sequence[float]) -> float:
    first, second, both = (error**2 for error in errors)
    return math.sqrt(max(first + second - both, first, second))


def root_of(covariance: FloatArray) -> FloatArray:
    """Give D with ``D D'`` the covariance; a singular one is welcome."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-14 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def corrected_variance(plug_in: FloatArray | float, second: FloatArray | float) -> FloatArray:
    """Take the second component off, which a plug-in variance counts twice.

    ``max(V - V2, V2)``. Where few observations make V2 negative there is nothing to subtract.
    """
    part = np.maximum(second, 0.0)
    return np.asarray(np.maximum(plug_in - part, part))


def differences_of(covariance_matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the variance of every difference, and the scale on which it may be rounding only."""
    own = np.diag(covariance_matrix)
    scale = own[:, None] + own[None, :]
    return np.asarray(scale - 2.0 * covariance_matrix), scale


def root_scale_intervals(estimates: FloatArray, errors: FloatArray, critical: float) -> Intervals:
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
    return Intervals(low, estimates + margin + shift)
