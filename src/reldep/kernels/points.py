"""Points in a vector space and the distances between them, in blocks.

Dense points are centred on their median when they are read: distances do not change, and the
products ``|x|² + |y|² - 2x'y`` lose far fewer digits. The mean would not do, for one far value
would move all others away from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.variables import Numeric, Sparse
from reldep.kernels.dot import dot_nanoseconds, dot_products
from reldep.kernels.sizes import exponent_of, in_units, is_ordinary, middle, typical_size
from reldep.system import available_cores, on_all_cores, worth_compiling

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows

# Up to this many columns the direct differences of cdist beat a matrix product.
FEW_COLUMNS = 24

# Blocks of so few differences are not worth the third of a second in which cdist is loaded.
SMALL_BLOCK = 1_000_000

# Below this share of |x|² + |y|² the product formula has lost about half its digits and the
# entry is computed again from the difference itself.
CANCELLATION = 1e-7
MOST_DIFFERENCES = 4_000_000

# Values of an ordinary size are squared as they are; others are measured in a unit of their own.
ORDINARY = (1e-100, 1e100)

# So many points have their mean distances from single precision, if none is so many times farther
# from the middle than is typical.
SINGLE_FROM = 6_000
SINGLE_RANGE = 1e6

# A point that no number can hold is put here.
FARTHEST = 1e308


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of a dense or sparse matrix with their squared norms.

    Attributes
    ----------
    rows : ndarray or csr_array
        In multiples of `unit`.
    squared_norms : ndarray
    unit : float
        A power of two; 1 for values whose squares a number can hold.
    """

    rows: FloatArray | csr_array
    squared_norms: FloatArray
    unit: float = 1.0

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_columns(self) -> int:
        """The dimension of the space."""
        return int(self.rows.shape[1])

    @property
    def is_binary(self) -> bool:
        """Whether there is one column, of two values."""
        if self.is_sparse or self.n_columns != 1:
            return False
        return bool(np.isin(self.rows, (self.rows.min(), self.rows.max())).all())

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are held as a sparse matrix."""
        return not isinstance(self.rows, np.ndarray)

    @property
    def few_columns(self) -> FloatArray | None:
        """The coordinates, one a row, if they are dense and so few that differences are quick."""
        if isinstance(self.rows, np.ndarray) and self.n_columns <= FEW_COLUMNS:
            return self.rows.T
        return None

    @property
    def nanoseconds(self) -> float:
        """About what a distance costs in a block on one core."""
        if self.few_columns is not None:
            return 1.5 + 0.7 * self.n_columns
        return 12.0 + dot_nanoseconds(self.rows)

    @cached_property
    def order(self) -> IntArray:
        """What sorts points of one column."""
        return np.argsort(np.asarray(self.rows)[:, 0])

    @cached_property
    def typical_norm(self) -> float:
        """The median of the norms that are not 0; not the mean, which far values take along."""
        positive = self.squared_norms[self.squared_norms > 0]
        return float(np.sqrt(np.median(positive))) if len(positive) else 0.0

    @property
    def has_quick_means(self) -> bool:
        """Whether compiled code finds the mean distances, without a matrix of them."""
        return self.few_columns is not None and worth_compiling(len(self))

    @cached_property
    def mean_distances(self) -> FloatArray:
        """The mean distance of each point from the others.

        From `SINGLE_FROM` points on each distance has seven digits, and their mean nine or more.
        """
        n = len(self)
        if not self.has_quick_means:
            distances = self.squared_distances(slice(0, n), slice(0, n))
            return np.asarray(np.sqrt(distances, out=distances).sum(axis=1) / (n - 1))
        from reldep.kernels.compiled import add_distances

        columns = np.array(np.asarray(self.rows).T, order="C")
        size = self.typical_norm
        farthest = float(np.sqrt(self.squared_norms.max()))
        in_single = n >= SINGLE_FROM and farthest < SINGLE_RANGE * size
        if in_single:
            columns = (columns / size).astype(np.float32)
        n_parts = available_cores()

        def part(start: int) -> FloatArray:
            sums = np.zeros(n)
            add_distances(columns, start, n_parts, sums)
            return sums

        total: FloatArray = np.sum(on_all_cores(part, range(n_parts)), axis=0)
        return total / (n - 1) * (size if in_single else 1.0)

    @property
    def known_mean_distances(self) -> FloatArray | None:
        """The mean distances, if they have been asked for before."""
        found: FloatArray | None = vars(self).get("mean_distances")
        return found

    @classmethod
    def of(cls, variable: Numeric | Sparse) -> Points:
        """Read the rows of a variable; dense ones are centred."""
        if isinstance(variable, Numeric):
            with np.errstate(over="ignore"):  # what overflows is brought back
                rows = _finite(variable.values - middle(variable.values))
                unit = _unit(rows)
                rows = rows if unit == 1 else rows / unit
                return cls._of_rows(np.ascontiguousarray(rows), unit)
        unit = _unit(variable.values.data)
        return cls._of_rows(variable.values if unit == 1 else variable.values * (1.0 / unit), unit)

    @classmethod
    def _of_rows(cls, rows: FloatArray | csr_array, unit: float = 1.0) -> Points:
        """Add the squared norms of the rows."""
        if isinstance(rows, np.ndarray):
            rows = _finite(rows)
            rows.flags.writeable = False
            return cls(rows, np.einsum("ij,ij->i", rows, rows), unit)
        squares = rows.multiply(rows)
        return cls(rows, np.asarray(squares.sum(axis=1), dtype=np.float64).ravel(), unit)

    def take(self, rows: IntArray) -> Points:
        """Keep some of the points, in the order given."""
        return Points(self.rows[rows], self.squared_norms[rows], self.unit)

    def of_ordinary_size(self) -> Points:
        """Give points whose distances have a constant ratio to these and can be raised to powers.

        Their `unit` is 1, so that the ratio is forgotten.
        """
        typical = typical_size(self.rows)
        if self.unit == 1 and is_ordinary(2.0 * np.log2(typical)):
            return self
        with np.errstate(over="ignore"):  # what overflows is brought back
            return Points._of_rows(in_units(self.rows, exponent_of(typical)))

    def squared_distances(self, rows: Rows, cols: Rows) -> FloatArray:
        """Give |x_i - x_j|² for a block, without negative values and with an exact diagonal."""
        if self.few_columns is not None:
            return _squared_differences(np.asarray(self.rows[rows]), np.asarray(self.rows[cols]))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is repaired
            block = dot_products(self.rows, rows, cols)
            block *= -2.0
            sizes = self.squared_norms[rows][:, None] + self.squared_norms[cols]
            block += sizes
        self._repair_cancelled(block, CANCELLATION * sizes, rows, cols)
        return block

    def squared_pairs(self) -> FloatArray:
        """Give |x_i - x_j|² for all i < j, row by row."""
        n = len(self)
        if self.few_columns is not None and n * self.rows.size > SMALL_BLOCK:
            from scipy.spatial.distance import pdist

            return np.asarray(pdist(self.rows, "sqeuclidean"))
        block = self.squared_distances(slice(0, n), slice(0, n))
        return np.concatenate([row[i + 1 :] for i, row in enumerate(block)])

    def _repair_cancelled(
        self, block: FloatArray, threshold: FloatArray, rows: Rows, cols: Rows
    ) -> None:
        """Recompute, from differences, the entries that the product formula spoilt."""
        # Not "block <= threshold": what overflowed is no number, and compares with none.
        i, j = np.nonzero(~(block > threshold))
        # Ties can be many and rows long, so that not all differences are made at once.
        step = max(1, MOST_DIFFERENCES // self.n_columns)
        places = np.arange(len(self))
        first, second = places[rows], places[cols]
        for start in range(0, len(i), step):
            at = i[start : start + step], j[start : start + step]
            difference: Any = self.rows[first[at[0]]] - self.rows[second[at[1]]]
            if self.is_sparse:
                block[at] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
            else:
                block[at] = np.einsum("ij,ij->i", difference, difference)


def _squared_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """Give the squared distances between rows of few columns, summed in the order of these."""
    if len(first) * second.size > SMALL_BLOCK:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(first, second, "sqeuclidean"))
    with np.errstate(over="ignore"):  # as in cdist: a distance beyond all numbers is infinite
        block = first[:, :1] - second[:, 0]
        block *= block
        difference = np.empty_like(block)
        for own, others in zip(first.T[1:], second.T[1:], strict=True):
            np.subtract(own[:, None], others, out=difference)
            difference *= difference
            block += difference
    return block


def _finite(values: FloatArray) -> FloatArray:
    """Put what no number can hold farther away than any bandwidth reaches."""
    if np.isfinite(values).all():
        return values
    return np.nan_to_num(values, posinf=FARTHEST, neginf=-FARTHEST)


def _unit(values: FloatArray) -> float:
    """Choose the power of two in which values are measured: that of their typical size."""
    sizes = np.abs(values)
    n_positive = np.count_nonzero(sizes)
    n_tiny = np.count_nonzero(sizes <= ORDINARY[0]) - (sizes.size - n_positive)
    n_huge = np.count_nonzero(sizes >= ORDINARY[1])
    # Most are ordinary, so that their median need not be found.
    if 2 * max(n_tiny, n_huge) < n_positive or not n_positive:
        return 1.0
    typical = typical_size(values)
    return 1.0 if ORDINARY[0] < typical < ORDINARY[1] else float(2.0 ** exponent_of(typical))
