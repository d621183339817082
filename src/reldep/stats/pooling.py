"""What many comparisons tell about the variance of each: pooled degrees of freedom, and a lift.

The largest of many statistics is likely one whose variance came out too small. Two repairs of the
far tail: the kurtosis behind the degrees of freedom is corrected for its bias and is at least the
average one, and a variance far below the trend of all is lifted towards it, never lowered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.jackknife import FEWEST_ROWS

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# With fewer comparisons than these there is no trend to speak of, or only a constant one.
FEWEST_TO_LIFT = 10
FEWEST_FOR_TREND = 45
# Where no noise is left the law is as good as normal.
LEAST_NOISE = 1e-9


def pooled_degrees(
    kurtosis: FloatArray, n: int | IntArray, most: FloatArray | float = np.inf
) -> FloatArray:
    """Give degrees of freedom ``2(n-4)/(G-1)`` with the kurtosis corrected and pooled.

    ``G = 3 + (n-1)((n+1)(κ-3) + 6)/((n-2)(n-3))`` is the usual small-sample correction; each G is
    at least the mean of all, since a kurtosis by itself is noisy and low where it matters. The
    number of rows n may differ from one to another. There are never more than n - 1.
    """
    most = np.minimum(most, np.asarray(n) - 1.0)
    if np.min(n) < FEWEST_ROWS:
        return np.asarray(np.broadcast_to(most, np.shape(kurtosis)))
    corrected = 3.0 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (kurtosis - 3.0) + 6.0)
    corrected = np.maximum(corrected, corrected.mean())
    return np.asarray(np.minimum(2.0 * (n - 4) / np.maximum(corrected - 1.0, 1e-3), most))


def lift_variances(
    variances: FloatArray, df: FloatArray, levels: FloatArray, rows: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lift variances towards their trend in the level of dependence.

    Parameters
    ----------
    variances, df : ndarray, shape (P,)
        Of the comparisons; variances are positive.
    levels : ndarray, shape (P,)
        The mean of the two dependences of each.
    rows : ndarray, shape (k, n)
        The deviations of an even selection of the comparisons. They tell how much of the noise
        is common to all and cannot be pooled away.

    Returns
    -------
    lift : ndarray, shape (P,)
        By how much to multiply each variance; at least 1.
    df : ndarray, shape (P,)
        The degrees of freedom afterwards.
    """
    P = len(variances)
    if P < FEWEST_TO_LIFT:
        return np.ones(P), df
    terms = _trend_terms(levels)
    basis = np.linalg.qr(terms)[0]
    logs = np.log(variances)
    trend = basis @ (basis.T @ logs)
    scatter = float(np.sum((logs - trend) ** 2)) / (P - basis.shape[1])
    noise = 2.0 / df
    share = _share_of_own_noise(rows, terms)
    own_noise = share * noise
    true_spread = max(scatter - float(own_noise.mean()), 0.0)
    whole = own_noise + true_spread
    weight = np.divide(own_noise, whole, out=np.zeros_like(whole), where=whole > 0)
    lift = np.maximum(np.exp(weight * (trend - logs)), 1.0)
    left = (1.0 - share) * noise + (1.0 - weight) * own_noise
    return lift, 2.0 / np.maximum(left, LEAST_NOISE)


def _trend_terms(levels: FloatArray) -> FloatArray:
    """Give 1, g, g² for the regression; only 1 where there are few comparisons."""
    ones = np.ones(len(levels))
    if len(levels) < FEWEST_FOR_TREND:
        return ones[:, None]
    centred = levels - levels.mean()
    return np.column_stack([ones, centred, centred**2])


def _share_of_own_noise(rows: FloatArray, terms: FloatArray) -> float:
    """Give the share of the noise of log variances that comparisons do not have in common."""
    taken = np.linspace(0, len(terms) - 1, len(rows)).astype(np.int64)
    basis = np.linalg.qr(terms[taken])[0]
    relative = rows * rows
    relative /= relative.mean(axis=1, keepdims=True)
    relative -= 1.0
    common = float(np.sum((basis.T @ relative) ** 2) / np.sum(relative * relative))
    share = (1.0 - common) * len(rows) / max(len(rows) - basis.shape[1], 1)
    return float(np.clip(share, 0.0, 1.0))
