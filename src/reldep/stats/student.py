"""Student's t law: tails of any size, quantiles, normal scores, and the power of a test.

A plan from the estimate of a pilot takes the estimate for the truth. Pilots that look good are
often lucky, so a second plan starts from the lower 80% limit of the effect ("safeguard power",
Perugini, Gallucci and Costantini, 2014).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.stats.units import FEWEST_ROWS

if TYPE_CHECKING:
    from reldep.stats.pairwise import Test


# Tails smaller than this come from a continued fraction on the log scale, which converges fast.
SMALLEST = 1e-280
# With more degrees of freedom than this the law is normal to sixteen digits.
NORMAL_DF = 1e15


def pvalue(statistic: float, df: float, alternative: str) -> float:
    """Return the p-value of a t statistic; 0 only where it is too small for a double."""
    return float(np.exp(log_pvalues(np.array(statistic), np.array(df), alternative)))


def log10_pvalue(statistic: float, df: float, alternative: str) -> float:
    """Return the decimal logarithm of the p-value, which is finite for every finite statistic.

    Examples
    --------
    >>> from reldep.stats.student import log10_pvalue
    >>> round(log10_pvalue(60.0, float("inf"), "greater"), 3)
    -783.907
    """
    found = log_pvalues(np.array(statistic), np.array(df), alternative)
    return float(found) / math.log(10.0)


def log_pvalues(statistic: FloatArray, df: FloatArray, alternative: str) -> FloatArray:
    """Return natural logarithms of the p-values of t statistics."""
    if alternative == "two-sided":
        both = math.log(2.0) + log_tail(np.abs(statistic), df)
        return np.asarray(np.minimum(both, 0.0))
    return log_tail(statistic if alternative == "greater" else -statistic, df)


def log_tail(statistic: FloatArray, df: FloatArray) -> FloatArray:
    """Return ``log P(T > statistic)`` for Student's T, however far out.

    Far out, with ``x = df/(df + t²)``, the tail is half the incomplete beta function
    ``I_x(df/2, 1/2)``, whose continued fraction (DLMF 8.17.22) is evaluated on the log scale.
    """
    t, degrees = np.broadcast_arrays(
        np.asarray(statistic, dtype=np.float64), np.asarray(df, dtype=np.float64)
    )
    result = np.asarray(scipy.special.log_ndtr(-t))
    student = degrees <= NORMAL_DF
    tail = scipy.special.stdtr(np.where(student, degrees, 1.0), -t)
    near, far = student & (tail > SMALLEST), student & (tail <= SMALLEST)
    result[near] = np.log(tail[near])
    if far.any():
        result[far] = _log_far_tail(t[far], degrees[far])
    return result


def _log_far_tail(t: FloatArray, df: FloatArray) -> FloatArray:
    a, b = df / 2.0, 0.5
    # log x and log(1 - x) from the ratio t²/df, so that no digit is lost near x = 1.
    ratio = (t / np.sqrt(df)) ** 2
    log_x = -np.log1p(ratio)
    log_y = -np.log1p(1.0 / ratio)
    front = a * log_x + b * log_y - np.log(a) - scipy.special.betaln(a, b)
    fraction = _continued_fraction(a, b, np.exp(log_x))
    return np.asarray(front + np.log(fraction) - math.log(2.0))


def _continued_fraction(a: FloatArray, b: float, x: FloatArray) -> FloatArray:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method."""
    c = np.ones_like(x)
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value = d.copy()
    for n in range(1, 400):  # a tail below 1e-280 takes far fewer steps
        even = n * (b - n) * x / ((a + 2 * n - 1.0) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1.0))
        change = np.ones_like(x)
        for numerator in (even, odd):
            d = 1.0 / (1.0 + numerator * d)
            c = 1.0 + numerator / c
            change *= d * c
        value *= change
        if not np.any(np.abs(change - 1.0) > 1e-15):
            break
    return value


def quantile(level: float, df: FloatArray) -> FloatArray:
    """Return the t that Student's law exceeds with probability ``1 - level``."""
    return quantile_at(float(-scipy.special.ndtri(1.0 - level)), df)


def quantile_at(critical: float, df: FloatArray) -> FloatArray:
    """Return the t quantiles at the level of one normal critical value."""
    degrees = np.asarray(df, dtype=np.float64)
    student = -scipy.special.stdtrit(np.minimum(degrees, NORMAL_DF), scipy.special.ndtr(-critical))
    return np.where(degrees < NORMAL_DF, student, critical)


def normal_scores(statistic: FloatArray, df: FloatArray) -> FloatArray:
    """Return ``Φ⁻¹(F_df(t))``, the normal score of a t statistic, accurate in both tails.

    A score has the same p-value under the normal law as the statistic has under its own t, so
    statistics with different degrees of freedom can be compared with one critical value.
    """
    tail = log_tail(np.abs(statistic), df)
    return np.asarray(np.sign(statistic) * -scipy.special.ndtri_exp(tail))


@dataclass(frozen=True)
class Pilot:
    """What a pilot shows about a test with another number of observations.

    Attributes
    ----------
    effect : float
        The difference to be found.
    null_deviation : float
        √n times the standard error that the test divides by.
    deviation : float
        √n times the standard error of the estimate.
    df_per_row : float
        Degrees of freedom for each row beyond the fourth.
    """

    effect: float
    null_deviation: float
    deviation: float
    df_per_row: float

    @classmethod
    def of(cls, test: Test, n: int, effect: float | None = None) -> Pilot:
        """Return the pilot of a test of n observations; by default the effect is its estimate."""
        check_planned(test.null)
        root = math.sqrt(n)
        return cls(
            test.estimate if effect is None else effect,
            root * test.standard_error,
            root * math.sqrt(test.here),
            test.df / max(n - 4, 1),
        )

    def power(self, n: float, alpha: float, alternative: str) -> float:
        """Return the probability that the test rejects with n observations.

        The estimate is normal around the effect; the test divides by the standard error under
        the hypothesis, of which the degrees of freedom grow with n.
        """
        df = self.df_per_row * max(n - 4, 1)
        drift = math.sqrt(n) * self.effect / self.deviation
        tail = alpha / 2 if alternative == "two-sided" else alpha
        bar = float(quantile(1.0 - tail, np.array(df))) * self.null_deviation
        bar /= self.deviation
        upper, lower = _beyond(bar, drift, df), _beyond(bar, -drift, df)
        return {"greater": upper, "less": lower}.get(alternative, upper + lower)

    def sample_size(self, target: float, alpha: float, alternative: str) -> int:
        """Return the smallest number of observations that reaches the power `target`."""
        towards = {"greater": self.effect > 0, "less": self.effect < 0}
        if not towards.get(alternative, self.effect != 0):
            raise InputError(
                f"the estimate {self.effect:.4g} does not point towards "
                f"`alternative={alternative!r}`: no number of observations gives it a power of "
                f"{target:g}."
            )
        return smallest_size(lambda n: self.power(n, alpha, alternative), target, FEWEST_ROWS)


def smallest_size(power: Callable[[int], float], target: float, least: int) -> int:
    """Return the smallest number of rows at which a power that grows with it is `target`."""
    enough = least
    # At most about 10¹² rows, more than anybody has.
    while power(enough) < target and enough < 10**12:
        enough *= 2
    return bisect_left(range(enough + 1), target, lo=least, key=power)


def _beyond(bar: float, drift: float, df: float) -> float:
    """Return the probability that a noncentral t variable exceeds a bar."""
    # From here on the law is normal to five digits, and scipy's noncentral t is slow.
    if df > 2_000:
        return float(scipy.special.ndtr(drift - bar))
    return float(1.0 - scipy.special.nctdtr(df, drift, bar))


def check_planned(variance: float) -> None:
    """Raise if an estimate has no standard error."""
    if not math.isfinite(variance):
        raise InputError("the estimate has no standard error, so that nothing can be planned.")


def careful_effect(test: Test, alternative: str) -> float:
    """Return the lower 80% limit of the size of an effect; 0 where it may be none.

    For "greater" the lower limit of the difference; for "less" the upper one; for "two-sided"
    the limit nearer to 0.
    """
    # The two-sided interval of 60% has a one-sided limit of 80% at either end.
    low, high = test.interval(0.6)
    if alternative == "greater" or (alternative == "two-sided" and test.estimate > 0):
        return max(low, 0.0)
    return min(high, 0.0)
