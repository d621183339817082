"""The normal law: p-values, intervals, power and sample size."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

ROUNDING = 1e-12


def pvalue(statistic: float, alternative: str) -> float:
    """Give the p-value of a z statistic, accurate far into the tail.

    Tails are taken directly, never as 1 - cdf, which would print 0 where the truth is 1e-17.
    """
    if alternative == "greater":
        return float(ndtr(-statistic))
    if alternative == "less":
        return float(ndtr(statistic))
    return float(2.0 * ndtr(-abs(statistic)))


def interval(
    estimate: float, standard_error: float, confidence_level: float
) -> tuple[float, float]:
    """Give the two-sided normal interval around an estimate."""
    margin = float(ndtri(0.5 + confidence_level / 2)) * standard_error
    return estimate - margin, estimate + margin


def critical_value(alpha: float, alternative: str) -> float:
    """Give the z beyond which the test rejects at level alpha."""
    return float(-ndtri(alpha / 2 if alternative == "two-sided" else alpha))


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
        raise ValueError(
            f"the estimate {effect:.4g} does not point towards alternative={alternative!r}: no "
            f"number of observations gives it a power of {target:g}."
        )
    bar = critical_value(alpha, alternative)
    n = max(4, math.ceil(((bar + float(ndtri(target))) * deviation / effect) ** 2))
    # For two-sided tests the far tail adds a little power, so the formula may overshoot.
    while n > 4 and power(effect, deviation, n - 1, alpha, alternative) >= target:
        n -= 1
    return n


def is_negligible(variance: float, scale: float) -> bool:
    """Tell whether a variance is nothing but rounding on the given scale.

    A variance of a difference is itself a difference of numbers with sixteen digits.
    """
    return not np.isfinite(variance) or variance <= ROUNDING * scale
