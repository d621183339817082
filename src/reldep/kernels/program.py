"""A kernel as a short program: functions of squared distances, joined from left to right.

Compiled code evaluates any kernel that has this form; :func:`joined_values` evaluates it with
NumPy. A sum of Gaussians, numbers times labels, and the slope of a kernel in its bandwidth are all
programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray

# The functions of a squared distance s, with a scale c: 2^(c s), 2^(c √s), c √s, and c for s > 0
# but 1 for s = 0.
GAUSSIAN, LAPLACE, ROOT, EQUAL = range(4)

# How the values of a factor are joined to those of the factors before it.
FIRST, TIMES, PLUS = range(3)

# Values that are computed at a time, so that they stay in the second-level cache: 512 KB (half and
# twice as many take the same time).
VALUES_AT_A_TIME = 65_536


@dataclass(frozen=True, eq=False)
class Factor:
    """One function of the distances between points.

    Attributes
    ----------
    how : int
        FIRST, TIMES or PLUS.
    function : int
        GAUSSIAN, LAPLACE, ROOT or EQUAL.
    points : ndarray, shape (m, columns)
        The points, less their median and in a unit of a power of two; category codes for EQUAL.
        Factors of the same distances share the array, so that distances are computed once.
    scale : float
        c, for distances in the unit of `points`.
    """

    how: int
    function: int
    points: FloatArray
    scale: float


# How, function and scale of a factor whose distances are known.
Term = tuple[int, int, float]


def joined(
    first: Sequence[Factor] | None, second: Sequence[Factor] | None, how: int
) -> list[Factor] | None:
    """Return the program of a sum or a product of two kernels; None if there is no program.

    Factors join from left to right. A second operand of several factors is possible only if they
    all join in the same way, or if the order of the operands can be turned.
    """
    if first is None or second is None:
        return None
    for start, rest in ((first, second), (second, first)):
        if all(factor.how == how for factor in rest[1:]):
            moved = [Factor(how, f.function, f.points, f.scale) for f in rest[:1]]
            return [*start, *moved, *rest[1:]]
    return None


def joined_values(terms: Sequence[Term], squared: FloatArray) -> FloatArray:
    """Compute the values of terms of the same squared distances, in place.

    Parameters
    ----------
    terms : sequence of (how, function, scale)
    squared : ndarray, shape (rows, columns)
        Overwritten by the values.
    """
    step = max(1, VALUES_AT_A_TIME // max(1, squared.shape[-1]))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for start in range(0, len(squared), step):
            part = squared[start : start + step]
            # The last term overwrites the distances; the others need them.
            before: FloatArray | None = None
            for place, (how, function, scale) in enumerate(terms, 1):
                values = part if place == len(terms) else part.copy()
                if function in (LAPLACE, ROOT):
                    np.sqrt(values, out=values)
                if function == EQUAL:
                    values[...] = np.where(values == 0, 1.0, scale)
                else:
                    values *= scale if function == ROOT else scale * log(2)
                if function in (GAUSSIAN, LAPLACE):
                    np.exp(values, out=values)
                if before is not None:
                    (np.multiply if how == TIMES else np.add)(before, values, out=values)
                before = values
    return squared
