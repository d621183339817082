"""Intervals of dependences, each by itself or all at once.

As Wilson's interval for a proportion: a small dependence has a small variance, so the variance is
taken at every value that is considered; an interval with one standard error misses on one side.

An interval contains possible values only, from 0 to, for a bounded measure, 1. An unbiased estimate
of a small dependence may be below 0; its interval then starts at 0, above the estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.data.variables import FloatArray

if TYPE_CHECKING:
    from reldep.stats.estimates import Estimates

# A normalised measure is taken to be at most this: at 1 its variance is 0.
LARGEST = 0.9999
# The least variance of a second component, where none is known: far below that of 1e9 rows.
SMALLEST_SECOND = 1e-30
# Halvings that find a limit to the last of the 52 bits of a double.
HALVINGS = 52


class Interval(NamedTuple):
    """The limits of a confidence interval."""

    low: float
    high: float


class Intervals(NamedTuple):
    """The limits of several confidence intervals."""

    low: FloatArray
    high: FloatArray


class Score(NamedTuple):
    """What the variance of estimated dependences needs, in units of ``√(H_xx H_yy)``.

    Attributes
    ----------
    estimate : ndarray, shape (p,)
    variance : ndarray
        The jackknife variance; where it is infinite, which it is for bounded measures only, the
        interval has all values from 0 to 1.
    second : ndarray
        The variance of the second component.
    n : ndarray or int
        The number of units.
    excess : ndarray or float
        How many times too often the jackknife counts the second component.
    is_bounded : bool
        Whether the measure is at most 1.
    """

    estimate: FloatArray
    variance: FloatArray
    second: FloatArray
    n: int | FloatArray
    excess: float | FloatArray
    is_bounded: bool

    def limits(self, quantiles: FloatArray, *, is_floored: bool = False) -> Intervals:
        """Return ``{x : |e - x| ≤ q √V(x)}``, by bisection from the estimate to either side.

        With e the estimate, v its jackknife variance, c that of the second component::

            V(x) = c ((1-x²)/(1-e²))² + v x (1-x)² / ((e + off)(1-e)²)     bounded by 1
            V(x) = c + v x / (e + off)                                      else

        The offset plays the part of the bias of the biased HSIC: near e = 0 the slope stays
        positive although v less the second component is noise; at a large e it makes
        V(e) = v - k c.

        Parameters
        ----------
        quantiles : ndarray
            q.
        is_floored : bool, default False
            Never take a variance below that at the estimate. Far in the tail, where many
            intervals are to hold at once, V alone is too short.
        """
        unknown = np.isinf(self.variance)
        if unknown.any():
            known = self._replace(variance=np.where(unknown, 0.0, self.variance))
            low, high = known.limits(quantiles, is_floored=is_floored)
            return Intervals(np.where(unknown, 0.0, low), np.where(unknown, 1.0, high))
        e, v, k = self.estimate, self.variance, self.excess
        start = np.clip(e, 0.0, LARGEST if self.is_bounded else None)
        c = np.maximum(self.second, SMALLEST_SECOND)
        top = np.maximum(1.0, start**2 / (4.0 * c)) / self.n
        rest = v - (k + 1.0) * c
        ratio = start * (k + 1.0) * c / np.where(rest > 0, rest, 1.0)
        offset = np.where(rest > 0, np.clip(ratio, 1.0 / self.n, top), top)
        slope = v / ((start + offset) * ((1.0 - start) ** 2 if self.is_bounded else 1.0))

        def variance(x: FloatArray) -> FloatArray:
            if not self.is_bounded:
                return np.asarray(c + slope * x)
            shrunk = c * ((1.0 - x * x) / (1.0 - start**2)) ** 2
            return np.asarray(shrunk + slope * x * (1.0 - x) ** 2)

        least = variance(start) if is_floored else np.zeros_like(start)

        def inside(x: FloatArray) -> FloatArray:
            margin = quantiles * np.sqrt(np.maximum(variance(x), least))
            return np.asarray(np.abs(e - x) <= margin)

        def limit(outer: FloatArray) -> FloatArray:
            all_inside, low, high = inside(outer), start, outer
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                within = inside(middle)
                low, high = np.where(within, middle, low), np.where(within, high, middle)
            return np.where(all_inside, outer, low)

        far = np.ones_like(start)
        if not self.is_bounded:
            # With V linear the far root of a quadratic equation is below this.
            spread = np.sqrt(variance(start))
            far = start + quantiles**2 * slope + 4.0 * quantiles * spread
        return Intervals(limit(np.zeros_like(start)), limit(far))


def limits(found: Estimates, quantiles: FloatArray, *, is_floored: bool = False) -> Intervals:
    """Return the interval of every dependence for these quantiles; see :meth:`Score.limits`."""
    unit = found.scale
    if not found.units.is_small:
        margin, shift = quantiles * found.standard_errors, None
        if found.units.is_linear and is_floored:
            # Symmetric on the scale of square roots: the deviation of an HSIC is about
            # proportional to its root, and plain intervals of many miss on one side.
            size = np.maximum(found.values, found.standard_errors)
            shift = margin**2 / (4.0 * np.where(size > 0, size, 1.0))
        return margins(found.values, margin, found.is_bounded, shift)
    score = Score(
        found.values / unit,
        found.jackknife_variances / unit**2,
        found.second_variances / unit**2,
        found.n,
        found.units.excess,
        found.is_bounded,
    )
    low, high = score.limits(quantiles, is_floored=is_floored)
    return Intervals(unit * low, unit * high)


def margins(
    values: FloatArray, margin: FloatArray, is_bounded: bool, shift: FloatArray | None = None
) -> Intervals:
    """Return values less and plus a margin, within their range; both ends moved by a shift."""
    moved = np.zeros_like(margin) if shift is None else shift
    ends = np.where(values > margin, values - margin + moved, 0.0), values + margin + moved
    low, high = (np.clip(end, 0.0, 1.0 if is_bounded else None) for end in ends)
    return Intervals(low, high)
