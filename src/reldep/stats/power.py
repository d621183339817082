"""How many observations does it take? Power by Student's law, and a careful plan.

A plan from the estimate of a pilot takes the estimate for the truth. Pilots that look good are
often lucky, so a second plan starts from the lower 80% limit of the effect ("safeguard power",
Perugini, Gallucci and Costantini, 2014).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.units import FEWEST_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.stats.pairwise import Test


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
            root * test.error_here,
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
        bar = float(student.quantile(1.0 - tail, np.array(df))) * self.null_deviation
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
