"""Which observations drive an estimate, and what is left of it without them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.series import RowDependence


def variance_shares(psi: FloatArray) -> FloatArray:
    """Return each observation's share of the variance of independent rows, ``psi_i² / Σ psi²``."""
    squares = psi**2
    total = squares.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(squares, total, out=np.zeros_like(squares), where=total > 0))


def largest_shares(psi: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the largest share of an observation in each row's variance, and which it is."""
    shares = variance_shares(psi)
    return shares.max(axis=1), np.argmax(shares, axis=1)


def most_influential(psi: FloatArray, k: int) -> IntArray:
    """Return the k observations with the largest influence in either direction, largest first."""
    return np.asarray(np.argsort(-np.abs(psi), kind="stable")[:k])


def leave_out(
    psi: FloatArray, left_out: IntArray, rows: RowDependence, order: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Follow an estimate, to first order, when observations are taken away one after another.

    With influence values ``psi`` the estimate without the first k observations of `left_out`, the
    set S, changes by ``-Σ_S psi_i / (m - k - r + 1)``, which for one row is exact for a U-statistic
    of order r (4 for an HSIC, 1 for a mean). Its variance is that of the influence values that
    stay, centred anew and summed over units.

    Returns
    -------
    change : ndarray, shape of `left_out`
        To be added to the estimate.
    ratio : ndarray
        The variance afterwards divided by the variance before.
    """
    m, k = len(psi), np.arange(1, len(left_out) + 1)
    taken = np.cumsum(psi[left_out])
    change = -taken / np.maximum(m - k - order + 1, 1)
    units = rows.codes(m) if rows.any else (np.arange(m),)
    before = max(_squares(psi, codes, left_out[:0], taken)[0] for codes in units)
    after = np.max([_squares(psi, codes, left_out, taken)[1:] for codes in units], axis=0)
    ratio = after / before if before > 0 else np.ones(len(k))
    return change, ratio * (m / (m - k)) ** 2


def _squares(psi: FloatArray, codes: IntArray, left_out: IntArray, taken: FloatArray) -> FloatArray:
    """Return the sum of squared sums over units, with all rows and after each that is left out.

    The others keep their units and are centred anew: each gets ``taken / (m - k)`` more.
    """
    sums, sizes = np.bincount(codes, weights=psi), np.bincount(codes).astype(np.float64)
    found = [float(sums @ sums)]
    squares, crossed, counts = found[0], float(sums @ sizes), float(sizes @ sizes)
    for k, row in enumerate(left_out.tolist()):
        unit, own = codes[row], float(psi[row])
        old, n = sums[unit], sizes[unit]
        squares += own * (own - 2.0 * old)
        crossed += own - old - own * n
        counts += 1.0 - 2.0 * n
        sums[unit], sizes[unit] = old - own, n - 1.0
        shift = taken[k] / (len(psi) - k - 1)
        found.append(squares + 2.0 * shift * crossed + shift**2 * counts)
    return np.array(found)
