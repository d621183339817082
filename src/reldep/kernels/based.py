"""Powers of distances that keep their digits when some points are far from the others.

The distances from a point at 1e12 are all about 1e12, and what tells them apart is lost in their
last digits. Seen from the centre they are not large: ``|x|^p + |y|^p - |x - y|^p`` differs from
``-|x - y|^p`` by a function of x and one of y, which no dependence sees, and stays near the size
of the smaller of the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.base import FittedKernel
from reldep.kernels.sizes import typical_size

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

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

    def __call__(self, rows: slice, cols: slice) -> FloatArray:
        """Fill a block: from angles where one point is much farther than the other.

        With ``r = |y| / |x| < 1`` and the cosine c between them,
        ``|x - y|² = |x|² (1 + r² - 2rc)``, so that
        ``|x|^p - |x - y|^p = -|x|^p expm1(p/2 log1p(r² - 2rc))`` without cancellation.
        """
        p = self.exponent
        lengths, directions = self._polar
        own, others = lengths[rows, None], lengths[None, cols]
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

    def _distances(self, rows: slice, cols: slice) -> FloatArray:
        """Give distances from differences, whose squares no number need hold."""
        total = np.zeros((len(self.rows[rows]), len(self.rows[cols])))
        for column in self.rows.T:
            np.hypot(total, column[rows, None] - column[None, cols], out=total)
        return total


def has_far(rows: FloatArray) -> bool:
    """Tell whether some rows lie much farther from the centre than most."""
    sizes = np.abs(rows).max(axis=1)
    return bool(sizes.max() > FAR * typical_size(sizes))
