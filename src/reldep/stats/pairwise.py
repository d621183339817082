"""Differences and weighted sums of dependences: t tests, with intervals that agree with them.

The variance of a difference is taken under the hypothesis of no difference, on scales that
stabilise it; Student's t has degrees of freedom from the kurtosis of the deviations; an interval
contains exactly the values that the test does not reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.clusters import ROUNDING
from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.units import FEWEST_FOR_ERRORS

if TYPE_CHECKING:
    from reldep.stats.estimates import Estimates

# How near to 0 and 1 a dependence may come where the slope of a scale is taken, and how near two
# may be before their secant is a slope: a slope of 1e6 squared keeps four digits.
EDGE = 1e-6
# Numbers in one working array of a loop over pairs: about 8 MB.
CHUNK = 2**20


@dataclass(frozen=True, eq=False)
class Tests:
    """t tests of numbers against 0, and the intervals dual to them.

    A variance of 0 is a tie. An infinite one is not known: the test never rejects.

    Attributes
    ----------
    estimate : ndarray, shape (P,)
    null : ndarray
        The variance if the number is 0.
    here : ndarray
        The variance if the number is what was estimated.
    df : ndarray
        Degrees of freedom.
    kurtosis : ndarray
        Of the deviations behind `null`.
    """

    estimate: FloatArray
    null: FloatArray
    here: FloatArray
    df: FloatArray
    kurtosis: FloatArray

    __test__ = False  # not for pytest

    def __len__(self) -> int:
        return len(self.estimate)

    def __getitem__(self, i: int) -> Test:
        parts = self.estimate[i], self.null[i], self.here[i], self.df[i]
        return Test(*map(float, parts))

    def __iter__(self) -> Iterator[Test]:
        return map(self.__getitem__, range(len(self)))

    @property
    def standard_error(self) -> FloatArray:
        """Under the hypothesis; 0 for ties."""
        return np.sqrt(self.null)

    @property
    def statistic(self) -> FloatArray:
        """The estimate divided by its standard error; 0 for ties."""
        error = self.standard_error
        return np.divide(self.estimate, error, out=np.zeros_like(error), where=error > 0)

    @property
    def score(self) -> FloatArray:
        """Normal scores of the statistics, which can be compared with one critical value."""
        return student.normal_scores(self.statistic, self.df)

    @property
    def pvalue(self) -> FloatArray:
        """Two-sided and not adjusted; 1 for ties."""
        return np.exp(self.log_pvalues("two-sided"))

    def log_pvalues(self, alternative: str) -> FloatArray:
        """Return natural logarithms of the p-values, however small they are."""
        return student.log_pvalues(self.statistic, self.df, alternative)

    def intervals(self, critical: float) -> tuple[FloatArray, FloatArray]:
        """Return the intervals for a critical value of the normal scores."""
        quantiles = student.quantile_at(critical, self.df)
        return dual_intervals(self.estimate, self.null, self.here, quantiles)


@dataclass(frozen=True)
class Test:
    """One of :class:`Tests`, with plain numbers.

    Attributes
    ----------
    estimate, null, here, df : float
        See :class:`Tests`.
    """

    estimate: float
    null: float
    here: float
    df: float

    __test__ = False  # not for pytest

    @property
    def standard_error(self) -> float:
        """Under the hypothesis that the number is 0; 0 for a tie."""
        return float(np.sqrt(self.null))

    @property
    def statistic(self) -> float:
        """The estimate divided by its standard error; 0 for a tie."""
        return self.estimate / self.standard_error if self.null > 0 else 0.0

    def pvalue(self, alternative: str = "two-sided") -> float:
        """Return the p-value for "greater", "less" or "two-sided"."""
        return student.pvalue(self.statistic, self.df, alternative)

    def log10_pvalue(self, alternative: str = "two-sided") -> float:
        """Return the decimal logarithm of the p-value, which is finite for every statistic."""
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
        quantile = student.quantile(0.5 + confidence_level / 2, np.array(self.df))
        low, high = dual_intervals(
            np.array(self.estimate), np.array(self.null), np.array(self.here), quantile
        )
        return float(low), float(high)

    def scaled(self, factor: float) -> Self:
        """Return the test of this many times the number."""
        square = factor**2
        return type(self)(factor * self.estimate, square * self.null, square * self.here, self.df)


def dual_intervals(
    estimate: FloatArray, null: FloatArray, here: FloatArray, quantiles: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ``{x : (D-x)² ≤ q² V(x)}``, the values that the test does not reject.

    V is linear from `null` at x = 0 to `here` at x = D, and constant outside. An infinite
    variance rejects nothing.
    """
    known = np.isfinite(null)
    if not known.all():
        null, here = (np.where(known, part, 0.0) for part in (null, here))
        low, high = dual_intervals(estimate, null, here, quantiles)
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)
    size = np.abs(estimate)
    near, far = quantiles * np.sqrt(null), quantiles * np.sqrt(here)
    zero_inside = near >= size
    slope = (here - null) / np.where(zero_inside, 1.0, size)
    # (d-x)² = q² (V_null + slope x) for 0 ≤ x ≤ d: the smaller root of a quadratic equation.
    half = size + quantiles**2 * slope / 2
    inner = half - np.sqrt(np.maximum(half**2 - (size**2 - near**2), 0.0))
    low, high = np.where(zero_inside, size - near, inner), size + far
    positive = estimate >= 0
    return np.where(positive, low, -high), np.where(positive, high, -low)


class Scale(NamedTuple):
    """A function of a dependence, and its slope."""

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]

    def relative(self, both: FloatArray) -> FloatArray:
        """Return the slopes at two rows of values divided by those of the secants between them."""
        step, rise = both[0] - both[1], np.subtract(*self.value(both))
        equal = np.abs(step) < EDGE
        middle = self.slope((both[0] + both[1]) / 2)
        return self.slope(both) / np.where(equal, middle, rise / np.where(equal, 1.0, step))


PLAIN = Scale(lambda t: t, np.ones_like)
# The base scale, the root scale and the measure itself: of an HSIC, and of a measure up to 1.
OF_HSIC = (PLAIN, Scale(np.sqrt, lambda t: 0.5 / np.sqrt(t)), PLAIN)
BOUNDED = (
    Scale(np.arctanh, lambda t: 1.0 / (1.0 - t * t)),
    Scale(lambda t: np.arctanh(np.sqrt(t)), lambda t: 0.5 / (np.sqrt(t) * (1.0 - t))),
    PLAIN,
)


def differences(
    found: Estimates, first: IntArray, second: IntArray, *, is_pooled: bool = False
) -> Tests:
    """Test whether dependences `first` and `second` are equal, pair by pair.

    With S the jackknife covariance, C that of the second component, k its excess, and signed
    slopes w_b, w_r of the base and the root scale::

        V_null = max( min( w_b'S w_b - k w_b'C w_b,  w_r'S w_r - k w_b'C w_b / 2 ), w_0'C w_0 )
        V_here = max( w_0'S w_0 - k w_0'C w_0,  w_0'C w_0 ),     w_0 = (1, -1)

    The slopes are taken at ``t = (max(θ/u, 0) + 1/n)/(1 + 2/n)``. Only weights change with the
    scale: the difference stays unbiased, and the hypothesis stays that the two are equal. The
    cost is O(P n) for P pairs.
    """
    if found.sides:
        sides = [differences(side, first, second) for side in found.sides]
        null, here = (joined(*(getattr(side, name) for side in sides)) for name in ("null", "here"))
        df = np.full(len(first), found.units.most_df)
        return Tests(sides[0].estimate, null, here, df, sides[0].kurtosis)
    scales = BOUNDED if found.is_bounded else OF_HSIC
    if not found.units.is_small:
        scales = (PLAIN, PLAIN, PLAIN)
    both = levels(found, first, second)
    slopes = np.array([scale.relative(both) for scale in scales])
    (V_base, V_root, V), kurtosis = _moments(found, first, second, slopes)
    own, (a, b), k = found.second_variances, slopes[0], found.units.excess
    crossed = found.second(first, second)
    C = own[first] + own[second] - 2.0 * crossed
    C_base = a * a * own[first] + b * b * own[second] - 2.0 * a * b * crossed
    null = np.maximum(np.minimum(V_base - k * C_base, V_root - k * C_base / 2), C)
    here = np.maximum(V - k * C, C)
    variances, unknown = (
        found.jackknife_variances,
        found.is_unknown[first] | found.is_unknown[second],
    )
    tie = (ROUNDING * (variances[first] + variances[second]) >= V) & ~unknown
    estimate = np.where(tie, 0.0, found.values[first] - found.values[second])
    null = np.where(unknown, np.inf, np.where(tie, 0.0, null))
    here = np.where(unknown, np.inf, np.where(tie, 0.0, here))
    return Tests(estimate, null, here, found.df(kurtosis, is_pooled=is_pooled), kurtosis)


def levels(found: Estimates, first: IntArray, second: IntArray) -> FloatArray:
    """Return both dependences on a scale from 0 to 1, a little away from its ends; shape (2, P).

    The slopes of scales are infinite there.
    """
    n, common = found.n, np.sqrt(found.scale[first] * found.scale[second])
    values = np.array([found.values[first], found.values[second]]) / common
    moved = (np.maximum(values, 0.0) + 1.0 / n) / (1.0 + 2.0 / n)
    return np.clip(moved, EDGE, 1.0 - EDGE)


def _moments(
    found: Estimates, first: IntArray, second: IntArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the jackknife variances of weighted differences, and the kurtosis of the first ones.

    Parameters
    ----------
    found : Estimates
    first, second : ndarray of int, shape (P,)
    slopes : ndarray, shape (scales, 2, P)
        The weights of both dependences on every scale.
    """
    n, sums, fourth = found.n, np.empty((len(slopes), len(first))), np.empty(len(first))
    for run in runs(len(first), n):
        one, two = found.deviations[first[run]], found.deviations[second[run]]
        for k, (a, b) in enumerate(slopes[:, :, run, None]):
            squares = np.square(a * one - b * two)
            sums[k, run] = squares.sum(axis=1)
            if k == 0:
                fourth[run] = np.einsum("ij,ij->i", squares, squares)
    kurtosis = np.full(len(first), 3.0)
    np.divide(n * fourth, sums[0] ** 2, out=kurtosis, where=sums[0] > 0)
    return (n - 1) / n * sums, kurtosis


def contrast(found: Estimates, weights: FloatArray) -> Test:
    """Estimate a weighted sum of dependences, and test whether it is 0; no variance is a tie.

    Two weights that add up to 0 ask for a difference, which is tested as one. For any other
    contrast w the variance is ``max( w'S w - k w'C w,  w'C w )``.
    """
    if found.units.is_linear and found.n_observations < FEWEST_FOR_ERRORS:
        raise InputError(
            f"{found.n_observations} observations have no standard error: they are a single "
            f"4-tuple. At least {FEWEST_FOR_ERRORS} are needed; use more data."
        )
    if found.sides:
        tests = [contrast(side, weights) for side in found.sides]
        null, here = (
            float(joined(*(np.array(getattr(test, name)) for test in tests)))
            for name in ("null", "here")
        )
        return Test(tests[0].estimate, null, here, found.units.most_df)
    used = np.flatnonzero(weights)
    if len(used) == 2 and weights[used].sum() == 0:
        return differences(found, used[:1], used[1:])[0].scaled(float(weights[used[0]]))
    w = weights[used]
    x = w @ found.deviations[used]
    whole = (found.n - 1) / found.n * float(x @ x)
    part = float(w @ found.second(used[:, None], used) @ w)
    variance = max(whole - found.units.excess * part, part)
    if found.is_unknown[used].any():
        variance = math.inf
    elif whole <= ROUNDING * float(w**2 @ found.jackknife_variances[used]):
        variance = 0.0
    df = float(found.df(kurtosis_of(x)))
    return Test(float(w @ found.values[used]), variance, variance, df)


def joined(first: FloatArray, second: FloatArray, both: FloatArray) -> FloatArray:
    """Return the variance where rows share either of two clusterings.

    ``max(V_1 + V_2 - V_12, V_1, V_2)``, with V_12 by the cells that have both in common.
    """
    with np.errstate(invalid="ignore"):  # of infinite variances the sum is not a number
        return np.fmax(first + second - both, np.maximum(first, second))


def crossed(first: Estimates, second: Estimates, cells: Estimates) -> Estimates:
    """Join estimates by either clustering and by their cells, where rows share either.

    The covariance is ``V_1 + V_2 - V_12`` with V_12 of the cells that have both in common; a single
    variance is not below V_1 or V_2. Student's t has the fewer clusters less 1 degrees of
    freedom (Cameron, Gelbach and Miller, 2011).

    Returns
    -------
    Estimates
        Whose deviations are a root of that covariance, for joint draws.
    """
    sides = (first, second, cells)
    deviations = crossed_deviations(*(side.deviations for side in sides))
    units = replace(
        first.units,
        is_small=False,
        constant=0.0,
        most_df=min(first.units.most_df, second.units.most_df),
    )
    fragile = tuple({variable for side in sides for variable in side.fragile})
    return replace(first, deviations=deviations, units=units, sides=sides, fragile=fragile)


def crossed_deviations(first: FloatArray, second: FloatArray, cells: FloatArray) -> FloatArray:
    """Return deviations whose covariance is ``V_1 + V_2 - V_12``, from those of each clustering."""
    one, two, both = ((J.shape[1] - 1) / J.shape[1] * J @ J.T for J in (first, second, cells))
    root = root_of(positive_part(one + two - both))
    n = max(root.shape[1] + 1, 2)
    # Zeros fill up the columns, and (n-1)/n J J' is the covariance.
    deviations = np.zeros((len(root), n))
    deviations[:, : root.shape[1]] = np.sqrt(n / (n - 1.0)) * root
    return deviations


def cells_of(first: IntArray, second: IntArray) -> IntArray:
    """Return the number of the cell of every row in two crossed clusterings."""
    together = np.column_stack([first, second])
    return np.asarray(np.unique(together, axis=0, return_inverse=True)[1]).reshape(-1)


def root_of(covariance: FloatArray) -> FloatArray:
    """Return D with ``D D'`` the covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ROUNDING * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def positive_part(matrix: FloatArray) -> FloatArray:
    """Return the positive semi-definite part of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def kurtosis_of(deviations: FloatArray) -> FloatArray:
    """Return the kurtosis of each row; that of a normal law where there is no variation."""
    squares = deviations**2
    second = squares.mean(axis=-1)
    fourth = np.einsum("...j,...j->...", squares, squares) / deviations.shape[-1]
    found = np.full(np.shape(second), 3.0)
    np.divide(fourth, second**2, out=found, where=second > 0)
    return found


def runs(length: int, width: int) -> Iterator[slice]:
    """Cut a range into runs that keep a working array of this width small."""
    size = max(1, CHUNK // max(1, width))
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))
