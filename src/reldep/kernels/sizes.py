"""How large numbers are, and powers of distances that keep their digits.

A centre that far values do not move, and powers of two as units. The distances from a point at
1e12 are all about 1e12, and what tells them apart is lost in their last digits. Seen from the
centre they are not large: ``|x|^p + |y|^p - |x - y|^p`` differs from ``-|x - y|^p`` by a function
of x and one of y, which no dependence sees, and stays near the size of the smaller of the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.kernels.base import FittedKernel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows

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


# A point that lies so many times as far from the centre as most.
FAR = 1e4

# From this ratio of two lengths on, their difference is computed as such.
ALIKE = 0.5


@dataclass(frozen=True, eq=False)
class FittedBased(FittedKernel):
    """``|x|^p + |y|^p - |x - y|^p`` between the rows of a dense matrix.

    Attributes
    ----------
    rows : ndarray
        The points, less their median.
    exponent : float
        p.
    label_text : str
    factor : float
        The values are multiplied by this.
    """

    rows: FloatArray
    exponent: float
    label_text: str
    factor: float = 1.0

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def label(self) -> str:
        return self.label_text

    @property
    def nanoseconds(self) -> float:
        return 60.0 + 12.0 * float(self.rows.shape[1])

    def take(self, rows: IntArray) -> FittedBased:
        return replace(self, rows=self.rows[rows])

    @cached_property
    def _polar(self) -> tuple[FloatArray, FloatArray]:
        """The distance of each row from the centre, and its direction."""
        largest = np.abs(self.rows).max(axis=1)
        scale = np.where(largest > 0, largest, 1.0)
        scaled = self.rows / scale[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        directions = scaled / np.where(lengths > 0, lengths, 1.0)[:, None]
        return lengths * largest, directions

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        """Fill a block: from angles where one point is much farther than the other.

        With ``r = |y| / |x| < 1`` and the cosine c between them,
        ``|x - y|² = |x|² (1 + r² - 2rc)``, so that
        ``|x|^p - |x - y|^p = -|x|^p expm1(p/2 log1p(r² - 2rc))`` without cancellation.
        """
        p = self.exponent
        lengths, directions = self._polar
        own, others = lengths[rows][:, None], lengths[None, cols]
        longer, shorter = np.maximum(own, others), np.minimum(own, others)
        ratio = np.divide(shorter, longer, out=np.zeros(longer.shape), where=longer > 0)
        turned = ratio**2 - 2.0 * ratio * (directions[rows] @ directions[cols].T)
        block: FloatArray = np.expm1(0.5 * p * np.log1p(np.maximum(turned, -0.75)))
        block *= -(longer**p)
        alike = ratio > ALIKE
        if alike.any():
            apart = self._distances(rows, cols)
            block[alike] = (longer**p - apart**p)[alike]
        block += shorter**p
        block *= self.factor
        return block

    def _distances(self, rows: Rows, cols: Rows) -> FloatArray:
        """Give distances from differences, whose squares no number need hold."""
        total = np.zeros((len(self.rows[rows]), len(self.rows[cols])))
        for column in self.rows.T:
            np.hypot(total, column[rows][:, None] - column[cols], out=total)
        return total


def has_far(rows: FloatArray) -> bool:
    """Tell whether some rows lie much farther from the centre than most."""
    sizes = np.abs(rows).max(axis=1)
    return bool(sizes.max() > FAR * typical_size(sizes))
