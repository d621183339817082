"""Second-order variance: the plug-in variance counts the second Hoeffding component twice.

The estimate is a mean of influence values (first component) plus a degenerate part (second
component) with covariance M. The plug-in covariance ``C = psi psi'/m²`` has in expectation the
first once and the second twice, as a jackknife variance does (Efron and Stein, 1981). So
``C - M`` is the covariance wanted, and M, which stays under independence, bounds it from below.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.covariance import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Pair


def pairs_of_second_component(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """List the pairs whose HSIC is needed: all pairs of the variables, with themselves too."""
    names = dict.fromkeys(name for pair in pairs if pair[0] != pair[1] for name in pair)
    return tuple(combinations_with_replacement(names, 2))


def second_component(hsic: Callable[[Pair], float], pairs: Sequence[Pair], n: int) -> FloatArray:
    """Estimate the covariance that the second component gives to the HSICs of the pairs.

    For the pairs (a, b) and (c, d)::

        2 (H_ac H_bd + H_ad H_bc) / n²

    exact where the two members of each pair are independent, of lower order than the whole
    covariance otherwise. A variable is never independent of itself: self-pairs get 0.

    Parameters
    ----------
    hsic : callable
        Gives the HSIC of a pair.
    pairs : sequence of Pair
    n : int
        Number of observations.
    """
    proper = [i for i, (first, second) in enumerate(pairs) if first != second]
    between = {(a, b): hsic((a, b)) for a, b in pairs_of_second_component(pairs)}
    between |= {(b, a): value for (a, b), value in between.items()}
    component = np.zeros((len(pairs), len(pairs)))
    for i in proper:
        for j in proper:
            (a, b), (c, d) = pairs[i], pairs[j]
            component[i, j] = between[a, c] * between[b, d] + between[a, d] * between[b, c]
    return component * (2.0 / n**2)


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
    # A jackknife's C, less what it counts too often of M, may be below 0: then M is the larger.
    own = np.where(np.diag(plug_in) > 0, np.diag(plug_in), np.diag(second))
    units = np.sqrt(np.where(own > 0, own, 1.0))
    scale = np.outer(units, units)
    part = positive_part(second / scale)
    return np.asarray((part + positive_part(plug_in / scale - 2.0 * part)) * scale)


def agreeing_with(covariance: FloatArray, weights: FloatArray, variance: float) -> FloatArray:
    """Move a covariance matrix along one contrast so that the contrast has this variance.

    The change has rank one and keeps the matrix positive semi-definite.
    """
    direction = covariance @ weights
    present = float(weights @ direction)
    # One that agrees already keeps its last digits, and zeros stay exactly 0.
    if abs(variance - present) <= ROUNDING * variance:
        return covariance
    change = (variance - present) / present**2
    return np.asarray(covariance + change * np.outer(direction, direction))


def positive_part(matrix: FloatArray) -> FloatArray:
    """Give the positive semi-definite part of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
