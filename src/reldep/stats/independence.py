"""Is there any dependence at all?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc

if TYPE_CHECKING:
    from reldep._variables import FloatArray

# Permutations that change nothing, as of equal categories, give the same value up to rounding.
ROUNDING = 1e-10


def independence_test(correlation: float, n: int) -> tuple[float, float]:
    """Test independence by the chi-square approximation.

    For independent variables ``n·C + 1``, with C the unbiased correlation (CKA or squared
    distance correlation), is close to a chi-square variable of one degree of freedom or to the
    left of it, which makes the p-value conservative (Shen, Panda and Vogelstein, 2022).

    Returns
    -------
    statistic, pvalue : float
    """
    statistic = n * correlation + 1.0
    return statistic, float(chdtrc(1.0, max(statistic, 0.0)))


def permutation_pvalue(observed: float, permuted: FloatArray) -> float:
    """Give the p-value of a permutation test, ``(1 + count) / (1 + B)``, which is never 0.

    Parameters
    ----------
    observed : float
        The HSIC of the data.
    permuted : ndarray, shape (B,)
        The HSICs after random permutations of one variable.
    """
    tolerance = ROUNDING * float(np.abs(permuted).max(initial=abs(observed)))
    count = int((permuted >= observed - tolerance).sum())
    return (1.0 + count) / (1.0 + len(permuted))
