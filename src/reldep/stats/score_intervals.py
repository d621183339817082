"""Intervals of one dependence: its variance is taken at every value that is considered.

As Wilson's interval for a proportion: a small dependence has a small variance, so an interval
with one standard error misses on one side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats import student
from reldep.stats.differences import degrees_of_freedom

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.stats.jackknife import Jackknife

# A normalised measure is taken to be at most this: at 1 its variance is 0.
LARGEST = 0.9999
SMALLEST_SECOND = 1e-30
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class ScoreVariance:
    """The variance of estimated dependences as a function of the true ones.

    In units of ``√(H_xx H_yy)``, with e the estimate, v its jackknife variance, c the variance of
    its second component and k the excess::

        V(x) = c ((1-x²)/(1-e²))² + v x (1-x)² / ((e + off)(1-e)²)     bounded by 1
        V(x) = c + v x / (e + off)                                      else

    The offset plays the part of the bias of the biased HSIC: near e = 0 the slope stays positive
    although v less the second component is noise; at a large e it makes V(e) = v - k c.

    Attributes
    ----------
    estimate : ndarray, shape (p,)
    start : ndarray
        The estimate, moved into the range of the measure.
    second, slope : ndarray
    bounded : bool
    """

    estimate: FloatArray
    start: FloatArray
    second: FloatArray
    slope: FloatArray
    bounded: bool

    @classmethod
    def of(
        cls,
        estimate: FloatArray,
        variance: FloatArray,
        second: FloatArray,
        n: int | FloatArray,
        excess: float | FloatArray,
        bounded: bool,
    ) -> ScoreVariance:
        """Prepare the curve from the jackknife of each dependence by itself."""
        start = np.clip(estimate, 0.0, LARGEST if bounded else None)
        second = np.maximum(second, SMALLEST_SECOND)
        top = np.maximum(1.0, start**2 / (4.0 * second)) / n
        rest = variance - (excess + 1.0) * second
        ratio = start * (excess + 1.0) * second / np.where(rest > 0, rest, 1.0)
        offset = np.where(rest > 0, np.clip(ratio, 1.0 / n, top), top)
        bend = (1.0 - start) ** 2 if bounded else 1.0
        return cls(estimate, start, second, variance / ((start + offset) * bend), bounded)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Give the variance if the true dependence is x."""
        if not self.bounded:
            return self.second + self.slope * x
        shrunk = self.second * ((1.0 - x * x) / (1.0 - self.start**2)) ** 2
        return np.asarray(shrunk + self.slope * x * (1.0 - x) ** 2)

    def limits(self, critical: FloatArray, floor: bool = False) -> tuple[FloatArray, FloatArray]:
        """Give ``{x : |e - x| ≤ q √V(x)}``, by bisection from the estimate to either side.

        Parameters
        ----------
        critical : ndarray
            q.
        floor : bool, default False
            Never take a variance below that at the estimate. Far in the tail, where many
            intervals are to hold at once, V alone is too short.
        """
        here = self(self.start) if floor else np.zeros_like(self.start)

        def inside(x: FloatArray) -> FloatArray:
            margin = critical * np.sqrt(np.maximum(self(x), here))
            return np.asarray(np.abs(self.estimate - x) <= margin)

        def limit(outer: FloatArray) -> FloatArray:
            all_inside, low, high = inside(outer), self.start, outer
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                within = inside(middle)
                low, high = np.where(within, middle, low), np.where(within, high, middle)
            return np.where(all_inside, outer, low)

        return limit(np.zeros_like(self.start)), limit(self._beyond(critical))

    def _beyond(self, critical: FloatArray) -> FloatArray:
        """Give a value that no interval reaches: the largest of the measure, if it has one."""
        if self.bounded:
            return np.ones_like(self.start)
        # With V linear the far root of a quadratic equation is below this.
        spread = np.sqrt(self.second + self.slope * self.start)
        return np.asarray(self.start + critical**2 * self.slope + 4.0 * critical * spread)


def score_variance(jackknife: Jackknife) -> ScoreVariance:
    """Prepare the curve of every dependence of a jackknife, in units of its scale."""
    unit = jackknife.scale
    return ScoreVariance.of(
        jackknife.values / unit,
        jackknife.variances() / unit**2,
        jackknife.second_own() / unit**2,
        jackknife.n,
        jackknife.excess,
        jackknife.bounded,
    )


def own_degrees(jackknife: Jackknife) -> FloatArray:
    """Give the degrees of freedom of every dependence by itself."""
    return degrees_of_freedom(own_kurtosis(jackknife), jackknife.n, jackknife.most_df)


def own_kurtosis(jackknife: Jackknife) -> FloatArray:
    """Give the kurtosis of the deviations of every dependence."""
    squares = jackknife.deviations**2
    second, fourth = squares.sum(axis=1), np.einsum("ij,ij->i", squares, squares)
    if not jackknife.keeps_rows:
        fourth = jackknife.fourth_powers(np.eye(len(second)))
    kurtosis = np.full(len(second), 3.0)
    np.divide(jackknife.n * fourth, second**2, out=kurtosis, where=second > 0)
    return kurtosis


def score_intervals(
    jackknife: Jackknife, confidence_level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Give an interval of every dependence, each by itself."""
    critical = student.quantile(0.5 + confidence_level / 2, own_degrees(jackknife))
    low, high = score_variance(jackknife).limits(critical)
    return jackknife.scale * low, jackknife.scale * high


def single_interval(
    jackknife: Jackknife, i: int, confidence_level: float = 0.95
) -> tuple[float, float]:
    """Give the interval of one dependence."""
    low, high = score_intervals(jackknife, confidence_level)
    return float(low[i]), float(high[i])
