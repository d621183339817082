"""Which observations drive an estimate, and what is left of it without them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.series import RowDependence


class WithoutTop(NamedTuple):
    """An estimate and its test without the most influential observations, which are `rows`."""

    rows: Rows
    estimate: float
    standard_error: float
    statistic: float
    pvalue: float


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
) -> tuple[float, float]:
    """Follow an estimate, to first order, when some observations are taken away.

    With influence values ``psi`` the estimate without the set S changes by
    ``-Σ_S psi_i / (m - |S| - r + 1)``, which for one row is exact for a U-statistic of order r (4
    for an HSIC, 1 for a mean), and its variance is that of the influence values that stay,
    centred anew and summed over units.

    Returns
    -------
    change : float
        To be added to the estimate.
    ratio : float
        The variance afterwards divided by the variance before.
    """
    m, k = len(psi), len(left_out)
    change = -float(psi[left_out].sum()) / max(m - k - order + 1, 1)
    # Those left out get the value 0 instead of being cut out: the others keep their places in
    # time and in their clusters.
    rest = psi + float(psi[left_out].sum()) / (m - k)
    rest[left_out] = 0.0
    before, after = (_variance(values, rows) for values in (psi, rest))
    ratio = after / before if before > 0 else 1.0
    return change, ratio * (m / (m - k)) ** 2


def _variance(psi: FloatArray, rows: RowDependence) -> float:
    """Return the largest sum of squares over rows, or over the sums of either clustering."""
    units = rows.codes(len(psi)) if rows.any else (np.arange(len(psi)),)
    return max(float(np.sum(np.bincount(codes, weights=psi) ** 2)) for codes in units)
