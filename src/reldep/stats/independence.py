"""Is there any dependence at all?"""

from __future__ import annotations

from scipy.special import chdtrc


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
