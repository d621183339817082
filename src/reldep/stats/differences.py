"""Differences of two dependences: jackknife-t tests, with intervals that agree with them.

The variance of a difference is taken under the hypothesis of no difference, on scales that
stabilise it; Student's t has degrees of freedom from the kurtosis of the deviations; an interval
holds exactly the values that the test does not reject.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.stats import student
from reldep.stats.covariance import ROUNDING
from reldep.stats.jackknife import FEWEST_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.jackknife import Jackknife

# The largest and smallest dependence at which a scale is used.
EDGE = 1e-6
# Numbers in one working array of a loop over pairs: about 8 MB.
CHUNK = 2**20
# Below this share of the summed variances a difference is computed row by row, not from products.
NEAR_TIE = 1e-6


@dataclass(frozen=True)
class TTest:
    """A t test of a number against 0, and the interval dual to it.

    Attributes
    ----------
    estimate : float
    standard_error : float
        Under the hypothesis that the number is 0. It is 0 for a tie: two dependences on which
        every observation has the same influence.
    df : float
        Degrees of freedom.
    error_here : float
        The standard error if the number is what was estimated.
    """

    estimate: float
    standard_error: float
    df: float
    error_here: float

    @property
    def statistic(self) -> float:
        """The estimate divided by its standard error; 0 for a tie."""
        return self.estimate / self.standard_error if self.standard_error > 0 else 0.0

    def pvalue(self, alternative: str = "two-sided") -> float:
        """Give the p-value for "greater", "less" or "two-sided"."""
        return student.pvalue(self.statistic, self.df, alternative)

    def log10_pvalue(self, alternative: str = "two-sided") -> float:
        """Give the p-value as a power of ten, also where it is too small for a number."""
        return student.log10_pvalue(self.statistic, self.df, alternative)

    def interval(
        self, confidence_level: float = 0.95, alternative: str = "two-sided"
    ) -> tuple[float, float]:
        """Return the interval or one-sided bound that excludes 0 if and only if the test rejects.

        The far limit of a one-sided alternative is infinite.
        """
        if alternative != "two-sided":
            # The bound at level 0.95 is a limit of the two-sided interval at level 0.90; below
            # level 0.5 it lies on the other side of the estimate.
            limits = self.interval(abs(2.0 * confidence_level - 1.0))
            lower = (alternative == "greater") == (confidence_level >= 0.5)
            bound = limits[0 if lower else 1]
            return (bound, math.inf) if alternative == "greater" else (-math.inf, bound)
        critical = student.quantile(0.5 + confidence_level / 2, np.array(self.df))
        low, high = dual_intervals(
            np.array(self.estimate),
            np.array(self.standard_error**2),
            np.array(self.error_here**2),
            critical,
        )
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of pairs of dependences, ``first - second``.

    Attributes
    ----------
    first, second : ndarray of int, shape (P,)
        Which dependences are compared.
    estimate : ndarray
    null_variance, here_variance : ndarray
        Under equality, and if the difference is what was estimated; 0 for ties.
    kurtosis : ndarray
        Of the deviations behind the null variance.
    level : ndarray
        The mean of the two dependences, on a scale from 0 to 1.
    n : int
        Number of units left out in turn.
    most_df : float
    """

    first: IntArray
    second: IntArray
    estimate: FloatArray
    null_variance: FloatArray
    here_variance: FloatArray
    kurtosis: FloatArray
    level: FloatArray
    n: int
    most_df: float

    @property
    def statistic(self) -> FloatArray:
        """The estimate divided by its standard error under equality; 0 for ties."""
        ratio = np.zeros_like(self.estimate)
        error = np.sqrt(self.null_variance)
        np.divide(self.estimate, error, out=ratio, where=error > 0)
        return ratio

    @property
    def df(self) -> FloatArray:
        """The degrees of freedom of each comparison by itself."""
        return degrees_of_freedom(self.kurtosis, self.n, self.most_df)

    def test(self, i: int) -> TTest:
        """Give one of the comparisons as a test of its own."""
        return TTest(
            float(self.estimate[i]),
            math.sqrt(self.null_variance[i]),
            float(self.df[i]),
            math.sqrt(self.here_variance[i]),
        )


def degrees_of_freedom(kurtosis: FloatArray, n: int, most: float = math.inf) -> FloatArray:
    """Return ``2(n-4)/(κ-1)``: a mean of n squares has relative variance (κ-1)/n (Satterthwaite).

    The 4 was chosen by simulation at n = 20. There are never more than n - 1. The kurtosis of four
    or five numbers says nothing: so few clusters have the most degrees of freedom.
    """
    most = min(most, n - 1.0)
    if n < FEWEST_ROWS:
        return np.full(np.shape(kurtosis), most)
    return np.minimum(2.0 * (n - 4) / np.maximum(kurtosis - 1.0, 1e-3), most)


def difference_test(jackknife: Jackknife, i: int, j: int) -> TTest:
    """Test whether dependence i is equal to dependence j."""
    return compare_pairs(jackknife, np.array([i]), np.array([j])).test(0)


def compare_pairs(jackknife: Jackknife, first: IntArray, second: IntArray) -> Differences:
    """Compare many pairs of dependences, each by itself.

    With S the jackknife covariance, C that of the second component, ``k = n/(n-4)``, and signed
    slopes w_b, w_r of the base and the root scale (see :func:`_slopes`)::

        V_null = max( min( w_b'S w_b - k w_b'C w_b,  w_r'S w_r - k w_b'C w_b / 2 ), w_0'C w_0 )
        V_here = max( w_0'S w_0 - k w_0'C w_0,  w_0'C w_0 ),     w_0 = (1, -1)

    The cost is O(p² n) for p dependences, or O(P n) where the P pairs are few.
    """
    n, k = jackknife.n, jackknife.excess
    slopes = _slopes(jackknife, first, second)
    own_second = jackknife.second_own()
    crossed = jackknife.second.between(first, second)

    def component(a: FloatArray | float, b: FloatArray | float) -> FloatArray:
        return a * a * own_second[first] + b * b * own_second[second] - 2.0 * a * b * crossed

    moments = _moments(jackknife.deviations, first, second, slopes)
    if not jackknife.keeps_rows:
        rows, weights = np.arange(len(first)), np.zeros((len(first), len(jackknife.values)))
        weights[rows, first], weights[rows, second] = slopes.base_first, -slopes.base_second
        moments = moments._replace(fourth=jackknife.fourth_powers(weights))
    factor = (n - 1) / n
    plain, base, root = (factor * part for part in (moments.plain, moments.base, moments.root))
    second_plain = component(1.0, 1.0)
    second_base = component(slopes.base_first, slopes.base_second)
    null = np.minimum(base - k * second_base, root - k * second_base / 2)
    null = np.maximum(null, second_plain)
    here = np.maximum(plain - k * second_plain, second_plain)
    variances = jackknife.variances()
    tie = plain <= ROUNDING * (variances[first] + variances[second])
    estimate = jackknife.values[first] - jackknife.values[second]
    return Differences(
        first,
        second,
        np.where(tie, 0.0, estimate),
        np.where(tie, 0.0, null),
        np.where(tie, 0.0, here),
        _kurtosis(moments, n),
        slopes.level,
        n,
        jackknife.most_df,
    )


class Slopes(NamedTuple):
    """Slopes of two scales at both dependences, relative to the secant between them."""

    base_first: FloatArray
    base_second: FloatArray
    root_first: FloatArray
    root_second: FloatArray
    level: FloatArray


def _slopes(jackknife: Jackknife, first: IntArray, second: IntArray) -> Slopes:
    """Give the slopes at ``t = (max(θ/u, 0) + 1/n)/(1 + 2/n)``.

    Base and root scale are t and √t for "hsic", atanh t and atanh √t for measures up to 1.
    Only weights change with the scale: the difference stays unbiased and the hypothesis stays
    that the two are equal.
    """
    common = np.sqrt(jackknife.scale[first] * jackknife.scale[second])
    t, s = (inside(jackknife.values[side] / common, jackknife.n) for side in (first, second))
    return scale_slopes(jackknife.bounded, t, s)


def inside(values: FloatArray, n: int | FloatArray) -> FloatArray:
    """Move dependences a little away from 0 and 1, where the slopes of scales are infinite."""
    moved = (np.maximum(values, 0.0) + 1.0 / n) / (1.0 + 2.0 / n)
    return np.clip(moved, EDGE, 1.0 - EDGE)


def scale_slopes(bounded: bool, t: FloatArray, s: FloatArray) -> Slopes:
    """Give the slopes of the base and the root scale at two dependences."""
    base, root = _SCALES[bounded]
    return Slopes(*_relative(base, t, s), *_relative(root, t, s), level=(t + s) / 2)


class _Scale(NamedTuple):
    """A function of a dependence, and its slope."""

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


# By whether the measure is bounded by 1: the base scale and the root scale.
_SCALES = {
    False: (
        _Scale(lambda t: t, np.ones_like),
        _Scale(np.sqrt, lambda t: 0.5 / np.sqrt(t)),
    ),
    True: (
        _Scale(np.arctanh, lambda t: 1.0 / (1.0 - t * t)),
        _Scale(lambda t: np.arctanh(np.sqrt(t)), lambda t: 0.5 / (np.sqrt(t) * (1.0 - t))),
    ),
}


def _relative(scale: _Scale, t: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the slopes at t and s divided by the slope of the secant between them."""
    step = t - s
    equal = np.abs(step) < 1e-7
    rise = scale.value(t) - scale.value(s)
    secant = np.where(equal, scale.slope((t + s) / 2), rise / np.where(equal, 1.0, step))
    return scale.slope(t) / secant, scale.slope(s) / secant


class _Moments(NamedTuple):
    """Sums over units of squares of weighted differences, and of fourth powers for the base."""

    plain: FloatArray
    base: FloatArray
    root: FloatArray
    fourth: FloatArray


def _moments(J: FloatArray, first: IntArray, second: IntArray, slopes: Slopes) -> _Moments:
    """Sum over the units, from products of all with all if that is less work."""
    p = len(J)
    if 4 * len(first) < p * p or p < 8:
        return _direct_moments(J, first, second, slopes)
    squares = J * J
    own2 = np.einsum("ij->i", squares)
    own4 = np.einsum("ij,ij->i", squares, squares)
    cross = (J @ J.T)[first, second]
    cross22 = (squares @ squares.T)[first, second]
    products = (squares * J) @ J.T
    cross31, cross13 = products[first, second], products[second, first]
    a, b = slopes.base_first, slopes.base_second

    def square(a: FloatArray | float, b: FloatArray | float) -> FloatArray:
        return np.asarray(a * a * own2[first] + b * b * own2[second] - 2.0 * a * b * cross)

    plain = square(1.0, 1.0)
    fourth = a**4 * own4[first] + b**4 * own4[second] + 6.0 * (a * b) ** 2 * cross22
    fourth -= 4.0 * a * b * (a * a * cross31 + b * b * cross13)
    found = _Moments(plain, square(a, b), square(slopes.root_first, slopes.root_second), fourth)
    # Sums of nearly equal rows cancel; these few pairs are taken one by one.
    near = np.flatnonzero(plain <= NEAR_TIE * (own2[first] + own2[second]))
    if len(near):
        exact = _direct_moments(
            J, first[near], second[near], Slopes(*(part[near] for part in slopes))
        )
        for part, value in zip(found, exact, strict=True):
            part[near] = value
    return found


def _direct_moments(J: FloatArray, first: IntArray, second: IntArray, slopes: Slopes) -> _Moments:
    found = np.empty((4, len(first)))
    for run in runs(len(first), J.shape[1]):
        one, two = J[first[run]], J[second[run]]
        base = slopes.base_first[run, None] * one - slopes.base_second[run, None] * two
        root = slopes.root_first[run, None] * one - slopes.root_second[run, None] * two
        found[0, run] = np.einsum("ij,ij->i", one - two, one - two)
        base *= base
        found[1, run] = base.sum(axis=1)
        found[2, run] = np.einsum("ij,ij->i", root, root)
        found[3, run] = np.einsum("ij,ij->i", base, base)
    return _Moments(*found)


def _kurtosis(moments: _Moments, n: int) -> FloatArray:
    """Give the kurtosis of the deviations; that of a normal law where there are none."""
    kurtosis = np.full(len(moments.base), 3.0)
    np.divide(n * moments.fourth, moments.base**2, out=kurtosis, where=moments.base > 0)
    return kurtosis


def runs(length: int, width: int) -> Iterator[slice]:
    """Cut a range into runs that keep a working array of this width small."""
    size = max(1, CHUNK // max(1, width))
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def dual_intervals(
    estimate: FloatArray, null: FloatArray, here: FloatArray, critical: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give ``{x : (D-x)² ≤ q² V(x)}``, the values that the test does not reject.

    V is linear from `null` at x = 0 to `here` at x = D, and constant outside.
    """
    size = np.abs(estimate)
    near, far = critical * np.sqrt(null), critical * np.sqrt(here)
    zero_inside = near >= size
    slope = (here - null) / np.where(zero_inside, 1.0, size)
    # (d-x)² = q² (V_null + slope x) for 0 ≤ x ≤ d: the smaller root of a quadratic equation.
    half = size + critical**2 * slope / 2
    inner = half - np.sqrt(np.maximum(half**2 - (size**2 - near**2), 0.0))
    low, high = np.where(zero_inside, size - near, inner), size + far
    positive = estimate >= 0
    return np.where(positive, low, -high), np.where(positive, high, -low)
