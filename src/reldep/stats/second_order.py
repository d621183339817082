"""Second-order variance: the plug-in variance counts the second Hoeffding component twice.

The estimate is a mean of influence values (first component) plus a degenerate part (second
component) with covariance M. The plug-in covariance ``C = psi psi'/m²`` has in expectation the
first once and the second twice, as a jackknife variance does (Efron and Stein, 1981). So
``C - M`` is the covariance wanted, and M, which stays under independence, bounds it from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray


def second_order_covariance(plug_in: FloatArray, second: FloatArray) -> FloatArray:
    """Give the covariance matrix of several estimates, corrected for the second component.

    ``M + (C - 2M)₊``, with ₊ the positive semi-definite part: the matrix form of
    ``max(C - M, M)``. It is never smaller than either, whatever the contrast, and is ``C - M``
    wherever the first component dominates.

    Parameters
    ----------
    plug_in : ndarray, shape (p, p)
        C.
    second : ndarray, shape (p, p)
        M.
    """
    # In units of each estimate's own deviation, so that the result does not depend on scales.
    deviations = np.sqrt(np.diag(plug_in))
    units = np.where(deviations > 0, deviations, 1.0)
    scale = np.outer(units, units)
    part = _positive_part(second / scale)
    return np.asarray((part + _positive_part(plug_in / scale - 2.0 * part)) * scale)


def agreeing_with(covariance: FloatArray, weights: FloatArray, variance: float) -> FloatArray:
    """Move a covariance matrix along one contrast so that the contrast has this variance.

    The change has rank one and keeps the matrix positive semi-definite.
    """
    direction = covariance @ weights
    present = float(weights @ direction)
    change = (variance - present) / present**2
    return np.asarray(covariance + change * np.outer(direction, direction))


def _positive_part(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
