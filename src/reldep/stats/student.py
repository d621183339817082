"""Student's t law: tails of any size, quantiles, and the normal score of a t statistic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray

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
