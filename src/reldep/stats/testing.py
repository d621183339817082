"""A test of one number: p-values, intervals and power from an estimate and its variance.

Student's t with infinitely many degrees of freedom is the normal law, so one class serves the
published test and the small-sample one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from scipy.special import log_ndtr, ndtr, ndtri, stdtr, stdtrit

from reldep.exceptions import InputError, Option

LN10 = math.log(10.0)


class Interval(NamedTuple):
    """The limits of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Test:
    """An estimate and what is needed to test whether it is 0.

    Attributes
    ----------
    estimate : float
    variance : float
        Of the estimate if its true value is 0.
    df : float
        Degrees of freedom of Student's t; infinity for the normal law.
    variance_here : float or None
        Of the estimate if its true value is the estimate; None if that is the same.
    """

    __test__ = False  # it is not a test case of pytest's

    estimate: float
    variance: float
    df: float = math.inf
    variance_here: float | None = None

    @property
    def standard_error(self) -> float:
        """The standard deviation of the estimate."""
        return math.sqrt(self.variance)

    @property
    def statistic(self) -> float:
        """The estimate over its standard error."""
        return self.estimate / self.standard_error

    def pvalue(self, alternative: str) -> float:
        """Give the p-value, accurate far into the tail.

        Tails are taken directly, never as 1 - cdf, which would print 0 where the truth is 1e-17.
        """
        return tail(self.statistic, self.df, alternative)

    def log10_pvalue(self, alternative: str) -> float:
        """Give the decimal logarithm of the p-value, which cannot underflow."""
        return log10_tail(self.statistic, self.df, alternative)

    def interval(self, confidence_level: float) -> Interval:
        """Give the interval that excludes 0 exactly if the two-sided test rejects.

        It holds every x with ``(estimate - x)² <= q² V(x)``, where V runs in a straight line
        from `variance` at 0 to `variance_here` at the estimate and is constant beyond.
        """
        q = quantile(0.5 + confidence_level / 2, self.df)
        null, here = self.variance, self.variance_here
        if here is None:
            margin = q * math.sqrt(null)
            return Interval(self.estimate - margin, self.estimate + margin)
        d = abs(self.estimate)
        inner = d - q * math.sqrt(null)
        if inner > 0:
            # (d - x)² = q² (null + s x) has two roots; the smaller is the limit.
            b = 2.0 * d + q * q * (here - null) / d
            inner = (b - math.sqrt(max(b * b - 4.0 * (d * d - q * q * null), 0.0))) / 2.0
        outer = d + q * math.sqrt(here)
        return Interval(inner, outer) if self.estimate >= 0 else Interval(-outer, -inner)


def tail(statistic: float, df: float, alternative: str) -> float:
    """Give the p-value of a statistic under Student's t (the normal law for infinite df)."""
    if alternative == "two-sided":
        return 2.0 * tail(-abs(statistic), df, "less")
    signed = -statistic if alternative == "greater" else statistic
    return float(ndtr(signed) if math.isinf(df) else stdtr(df, signed))


def log10_tail(statistic: float, df: float, alternative: str) -> float:
    """Give the decimal logarithm of :func:`tail`, also where that is too small for a number."""
    if alternative == "two-sided":
        return math.log10(2.0) + log10_tail(-abs(statistic), df, "less")
    signed = -statistic if alternative == "greater" else statistic
    if math.isinf(df):
        return float(log_ndtr(signed)) / LN10
    probability = float(stdtr(df, signed))
    if probability > 1e-290:
        return math.log10(probability)
    return _log_student_tail(-signed, df) / LN10


def _log_student_tail(t: float, df: float) -> float:
    """Give the logarithm of P(T > t) for t far in the tail, by its continued leading terms.

    ``P(T > t) = ½ I_x(df/2, ½)`` with ``x = df / (df + t²)``, which for small x is
    ``x^(df/2) / (df B(df/2, ½)) · (1 + x df / (2 (df + 2)) + ...)``.
    """
    log_x = -math.log1p(t * t / df)
    log_beta = math.lgamma(df / 2) + math.lgamma(0.5) - math.lgamma((df + 1) / 2)
    x, term, total = math.exp(log_x), 1.0, 1.0
    # The series of the incomplete beta function; a few hundred terms reach rounding error.
    for k in range(1, 2000):
        term *= x * (k - 0.5) / k
        addition = term * (df / 2) / (df / 2 + k)
        total += addition
        if addition < 1e-17 * total:
            break
    return df / 2 * log_x - math.log(df) - log_beta + math.log(total)


def quantile(probability: float, df: float) -> float:
    """Give a quantile of Student's t."""
    return float(ndtri(probability) if math.isinf(df) else stdtrit(df, probability))


def critical_value(alpha: float, alternative: str, df: float = math.inf) -> float:
    """Give the value beyond which the test rejects at level alpha."""
    return -quantile(alpha / 2 if alternative == "two-sided" else alpha, df)


def power(effect: float, deviation: float, n: float, alpha: float, alternative: str) -> float:
    """Give the probability that the test rejects with n observations.

    ``Φ(√n Δ/σ - z)`` for "greater", with Δ the effect and σ the deviation of one observation,
    so that σ²/n is the variance of the estimate.
    """
    drift = math.sqrt(n) * effect / deviation
    bar = critical_value(alpha, alternative)
    if alternative == "greater":
        return float(ndtr(drift - bar))
    if alternative == "less":
        return float(ndtr(-drift - bar))
    return float(ndtr(drift - bar) + ndtr(-drift - bar))


def sample_size(
    effect: float, deviation: float, target: float, alpha: float, alternative: str
) -> int:
    """Find the smallest number of observations that reaches the power `target`."""
    towards = {"greater": effect > 0, "less": effect < 0, "two-sided": effect != 0}[alternative]
    if not towards:
        raise InputError(
            [
                f"the estimate {effect:.4g} does not point towards ",
                Option("alternative", alternative),
            ],
            f"no number of observations gives it a power of {target:g}.",
        )
    bar = critical_value(alpha, alternative)
    n = max(4, math.ceil(((bar + float(ndtri(target))) * deviation / effect) ** 2))
    # For two-sided tests the far tail adds a little power, so the formula may overshoot.
    while n > 4 and power(effect, deviation, n - 1, alpha, alternative) >= target:
        n -= 1
    return n
