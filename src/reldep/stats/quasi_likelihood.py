"""Quasi-likelihood of independent dependences: do they have a value in common?

Of an estimate e nothing is known but its variance as a function of the true value, see
:mod:`reldep.stats.score_intervals`. That is enough for a deviance (Wedderburn, 1974)::

    d(x) = 2 ∫_x^e (e - t) / V(t) dt

Its signed root is much closer to a normal law than ``(e - x)/√V(x)``, which is as skewed as the
estimate of a small group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats import student
from reldep.stats.score_intervals import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.data.variables import BoolArray, FloatArray, IntArray

# Halvings towards the value in common. The deviance is least there, so that half the digits do.
HALVINGS = 26
# Halvings towards the limits of an interval, and doublings of a range that may be too short.
LIMIT_HALVINGS = 34
DOUBLINGS = 60
# Deviations smaller than this, in standard errors, have their square as deviance.
SMALL = 1e-5
NODES, WEIGHTS = (part[:, None, None] for part in np.polynomial.legendre.leggauss(24))


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
        """Give the variance of every estimate if its truth is x; x has shape (P, k) or (P, 1)."""
        if not self.bounded:
            return np.asarray(self.second + self.slope * np.maximum(x, 0.0))
        x = np.clip(x, 0.0, LARGEST)
        return np.asarray((1.0 - x) ** 2 * (self.second * (1.0 + x) ** 2 + self.slope * x))

    def deviance(self, x: FloatArray) -> FloatArray:
        """Give the deviance of every estimate from x."""
        e, x = np.broadcast_arrays(self.estimate, x)
        if self.bounded:
            e, x = np.minimum(e, LARGEST), np.minimum(x, LARGEST)
        below = (e - np.minimum(x, 0.0)) ** 2 - (e - np.minimum(e, 0.0)) ** 2
        found = below / self.second + self._above_zero(e, x)
        square = (e - x) ** 2 / self.variance(x)
        return np.where(square < SMALL**2, square, np.maximum(found, 0.0))

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
        """Find the value from which the deviances add up to the least; shape (P, 1).

        Parameters
        ----------
        shift : ndarray, shape (P, k), or 0
            By how much the truth of every estimate exceeds the value in common.
        """
        values = self.estimate - shift
        low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
        for _ in range(HALVINGS):
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
        """Give the signed root of the deviance from a difference, and its degrees of freedom."""
        shift = np.zeros_like(self.both.estimate)
        shift[:, 0] = difference
        truth = self.both.common(shift) + shift
        variances = self.both.variance(truth)
        noise = ((variances / variances.sum(axis=1, keepdims=True)) ** 2 / self.df).sum(axis=1)
        size = np.sqrt(self.both.deviance(truth).sum(axis=1))
        return np.sign(self.difference - difference) * size, 1.0 / noise

    def intervals(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Give the differences that the test does not reject.

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
        """Find the limit of every pair on its side, by bisection."""

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
        for _ in range(LIMIT_HALVINGS):
            middle = (inside + outside) / 2
            within = kept(middle)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return np.where(everything, far, inside)

    def _far(self, side: FloatArray, kept: Callable[[FloatArray], BoolArray]) -> FloatArray:
        """Give differences beyond every interval, or the largest that there are."""
        if self.both.bounded:
            return side
        spread = np.sqrt(self.both.variance(self.both.estimate).sum(axis=1))
        far: FloatArray = side * (np.abs(self.both.estimate).sum(axis=1) + spread)
        for _ in range(DOUBLINGS):
            near = kept(far)
            if not near.any():
                break
            far = np.where(near, 2.0 * far, far)
        return far
