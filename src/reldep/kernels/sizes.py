"""How large numbers are: a centre that far values do not move, and powers of two as units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray

# Kernel values from 2^-50 to 2^50 can be multiplied by each other and raised to the fourth power.
ORDINARY = 50


def middle(values: FloatArray) -> FloatArray:
    """Give the median of each column; of two middle values the lower, which cannot overflow.

    The mean would not do as a centre, for one far value would move all others away from 0.
    """
    half = (len(values) - 1) // 2
    return np.asarray(np.partition(values, half, axis=0)[half])


def typical_size(values: FloatArray | csr_array) -> float:
    """Give the median size of the entries that are not 0; 1 if all are 0."""
    sizes = np.abs(values if isinstance(values, np.ndarray) else values.data)
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else 1.0


def two_largest(rows: FloatArray | csr_array) -> tuple[float, float]:
    """Give the largest entry of all, and of the rows without the one that has it.

    The product of two rows has the size of both: one far row alone does not make it large.
    """
    largest = abs(rows).max(axis=1)
    sizes = np.asarray(largest if isinstance(rows, np.ndarray) else largest.todense()).ravel()
    second, first = np.partition(sizes, len(sizes) - 2)[-2:].tolist()
    return first, second or first


def is_ordinary(exponent: float) -> bool:
    """Tell whether kernel values of the size 2^exponent need no other unit."""
    return abs(exponent) < ORDINARY


def exponent_of(size: float) -> int:
    """Give the exponent of the power of two next below a positive number."""
    return int(np.floor(np.log2(size)))


def in_units(rows: Any, exponent: int) -> Any:
    """Measure the rows of a dense or sparse matrix in units of 2^exponent, which loses no digit."""
    if isinstance(rows, np.ndarray):
        return np.ldexp(rows, -exponent)
    scaled = rows.copy()
    scaled.data = np.ldexp(rows.data, -exponent)
    return scaled


def standardised(
    values: FloatArray, others: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bring each column to mean 0 and standard deviation 1, and other rows along with it.

    Columns are measured in units of their largest value on the way, whose squares are numbers.

    Returns
    -------
    values, others : ndarray
    varies : ndarray of bool
        Whether there is any variation in a column; one without it becomes 0.
    """
    exponents = np.frexp(np.abs(values).max(axis=0))[1]
    inside, outside = (np.ldexp(table, -exponents) for table in (values, others))
    centre, deviation = inside.mean(axis=0), inside.std(axis=0)
    varies = ~(values == values[0]).all(axis=0)
    deviation[~varies] = 1.0
    return (inside - centre) / deviation, (outside - centre) / deviation, varies
