"""Is there any dependence at all?"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.exceptions import InputError
from reldep.stats import student

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray

# Permutations that change nothing, as of equal categories, give the same value up to rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class IndependenceTest:
    """A test of independence.

    Attributes
    ----------
    statistic, pvalue, log10_pvalue : float
    test : str
        How the p-value was found.
    n_permutations : int or None
        How often the rows were shuffled.
    statistic_name : str
        What the statistic is; by default n times the unbiased correlation, plus 1.
    """

    statistic: float
    pvalue: float
    log10_pvalue: float
    test: str = "chi-square"
    n_permutations: int | None = None
    statistic_name: str = "chi-square"

    def in_words(self) -> str:
        """Say how the p-value was found."""
        if self.n_permutations is None:
            return self.test
        return f"{self.test}, {self.n_permutations:,} random orders"


def independence_test(correlation: float, n: int) -> IndependenceTest:
    """Test independence by the chi-square approximation.

    For independent variables ``n·C + 1``, with C the unbiased correlation (CKA or squared
    distance correlation), is close to a chi-square variable of one degree of freedom or to the
    left of it, which makes the p-value conservative (Shen, Panda and Vogelstein, 2022).
    """
    statistic = n * correlation + 1.0
    root = math.sqrt(max(statistic, 0.0))
    # A chi-square variable of one degree of freedom is a squared normal one.
    return IndependenceTest(
        statistic,
        student.pvalue(root, math.inf, "two-sided"),
        student.log10_pvalue(root, math.inf, "two-sided"),
    )


def independence_pvalues_of(correlations: FloatArray, n: int) -> FloatArray:
    """Give the p-values of :func:`independence_test` for many correlations."""
    root = np.sqrt(np.maximum(n * correlations + 1.0, 0.0))
    return np.asarray(np.minimum(2.0 * scipy.special.ndtr(-root), 1.0))


def independence_power(correlation: float, deviation: float, n: float, alpha: float) -> float:
    """Give the probability that the chi-square test rejects with n observations.

    It rejects where ``n·C + 1`` exceeds the quantile q, that is where C exceeds (q-1)/n; C is
    normal around the correlation with standard deviation ``deviation/√n``.
    """
    bar = (float(scipy.special.chdtri(1.0, alpha)) - 1.0) / n
    # A variable and its copy have the same correlation in every sample.
    if not deviation > 0:
        return float(correlation > bar)
    return float(scipy.special.ndtr(math.sqrt(n) * (correlation - bar) / deviation))


def independence_sample_size(
    correlation: float, deviation: float, target: float, alpha: float
) -> int:
    """Find the smallest number of observations that reaches the power `target`."""
    if not correlation > 0:
        raise InputError(
            f"the estimated correlation {correlation:.4g} is not positive",
            f"no number of observations gives the test of independence a power of {target:g}.",
        )
    enough = 4
    while independence_power(correlation, deviation, enough, alpha) < target:
        enough *= 2
    # Power grows with n, so halving the range finds the place where it passes the target.
    return bisect_left(
        range(enough + 1),
        target,
        lo=4,
        key=lambda n: independence_power(correlation, deviation, n, alpha),
    )


def permutation_test(statistic: float, observed: float, permuted: FloatArray) -> IndependenceTest:
    """Test independence by permutations of the rows of one variable.

    Parameters
    ----------
    statistic : float
        What is reported as the statistic.
    observed : float
        The HSIC of the data.
    permuted : ndarray, shape (B,)
        The HSICs after random permutations.
    """
    pvalue = permutation_pvalue(observed, permuted)
    return IndependenceTest(statistic, pvalue, math.log10(pvalue), "permutation", len(permuted))


def permutation_pvalue(observed: float, permuted: FloatArray) -> float:
    """Give the p-value of a permutation test, ``(1 + count) / (1 + B)``, which is never 0."""
    tolerance = ROUNDING * float(np.abs(permuted).max(initial=abs(observed)))
    count = int((permuted >= observed - tolerance).sum())
    return (1.0 + count) / (1.0 + len(permuted))
