"""Limits of intervals, and what a pilot study foretells: power and sample size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import scipy

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray


class Interval(NamedTuple):
    """The limits of a confidence interval."""

    low: float
    high: float


class Intervals(NamedTuple):
    """The limits of several confidence intervals."""

    low: FloatArray
    high: FloatArray


def critical_value(alpha: float, alternative: str) -> float:
    """Give the z beyond which the normal test rejects at level alpha."""
    return float(-scipy.special.ndtri(alpha / 2 if alternative == "two-sided" else alpha))


def power(effect: float, deviation: float, n: float, alpha: float, alternative: str) -> float:
    """Give the probability that the test rejects with n observations.

    ``Φ(√n Δ/σ - z)`` for "greater", with Δ the effect and σ the deviation of one observation,
    so that σ²/n is the variance of the estimate.
    """
    drift = math.sqrt(n) * effect / deviation
    bar = critical_value(alpha, alternative)
    if alternative == "greater":
        return float(scipy.special.ndtr(drift - bar))
    if alternative == "less":
        return float(scipy.special.ndtr(-drift - bar))
    return float(scipy.special.ndtr(drift - bar) + scipy.special.ndtr(-drift - bar))


def sample_size(
    effect: float, deviation: float, target: float, alpha: float, alternative: str
) -> int:
    """Find the smallest number of observations that reaches the power `target`."""
    towards = {"greater": effect > 0, "less": effect < 0, "two-sided": effect != 0}[alternative]
    if not towards:
        raise InputError(
            f"the estimate {effect:.4g} does not point towards `alternative={alternative!r}`; no "
            f"number of observations gives it a power of {target:g}."
        )
    bar = critical_value(alpha, alternative)
    n = max(4, math.ceil(((bar + float(scipy.special.ndtri(target))) * deviation / effect) ** 2))
    # For two-sided tests the far tail adds a little power, so the formula may overshoot.
    while n > 4 and power(effect, deviation, n - 1, alpha, alternative) >= target:
        n -= 1
    return n
