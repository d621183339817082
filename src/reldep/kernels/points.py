"""Points in a vector space and the distances between them, in blocks.

Dense points are centred when they are read: distances do not change, and the products
``|x|² + |y|² - 2x'y`` lose far fewer digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.variables import Numeric, Sparse
from reldep.kernels.dot import dot_products

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray

# Up to this many columns the direct differences of cdist beat a matrix product.
FEW_COLUMNS = 24

# Below this share of |x|² + |y|² the product formula has lost about half its digits and the
# entry is computed again from the difference itself.
CANCELLATION = 1e-7
MOST_DIFFERENCES = 4_000_000


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of a dense or sparse matrix with their squared norms."""

    rows: FloatArray | csr_array
    squared_norms: FloatArray

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_columns(self) -> int:
        """The dimension of the space."""
        return int(self.rows.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are held as a sparse matrix."""
        return not isinstance(self.rows, np.ndarray)

    @classmethod
    def of(cls, variable: Numeric | Sparse) -> Points:
        """Read the rows of a variable; dense ones are centred."""
        if isinstance(variable, Numeric):
            rows = np.ascontiguousarray(variable.values - variable.values.mean(axis=0))
            rows.flags.writeable = False
            return cls(rows, np.einsum("ij,ij->i", rows, rows))
        squares = variable.values.multiply(variable.values)
        return cls(variable.values, np.asarray(squares.sum(axis=1), dtype=np.float64).ravel())

    def take(self, rows: IntArray) -> Points:
        """Keep some of the points, in the order given."""
        return Points(self.rows[rows], self.squared_norms[rows])

    def squared_distances(self, rows: slice, cols: slice) -> FloatArray:
        """Give |x_i - x_j|² for a block, without negative values and with an exact diagonal."""
        if not self.is_sparse and self.n_columns <= FEW_COLUMNS:
            from scipy.spatial.distance import cdist

            block: FloatArray = cdist(self.rows[rows], self.rows[cols], "sqeuclidean")
            return block
        block = dot_products(self.rows, rows, cols)
        block *= -2.0
        sizes = self.squared_norms[rows, None] + self.squared_norms[None, cols]
        block += sizes
        self._repair_cancelled(block, CANCELLATION * sizes, rows, cols)
        return block

    def _repair_cancelled(
        self, block: FloatArray, threshold: FloatArray, rows: slice, cols: slice
    ) -> None:
        """Recompute, from differences, the entries that the product formula spoilt."""
        i, j = np.nonzero(block <= threshold)
        # Ties can be many and rows long, so that not all differences are made at once.
        step = max(1, MOST_DIFFERENCES // self.n_columns)
        for start in range(0, len(i), step):
            at = i[start : start + step], j[start : start + step]
            difference: Any = self.rows[at[0] + rows.start] - self.rows[at[1] + cols.start]
            if self.is_sparse:
                block[at] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
            else:
                block[at] = np.einsum("ij,ij->i", difference, difference)
