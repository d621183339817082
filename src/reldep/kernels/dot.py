"""Kernels that are functions of the dot product: Linear and Polynomial."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_count
from reldep.data.variables import Labels, Numeric, Sparse, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import ALL_ROWS, FittedKernel, Kernel, stacked
from reldep.kernels.categorical import indicators
from reldep.kernels.sizes import in_units, is_ordinary, middle, two_largest
from reldep.system import worth_compiling

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows

HIGHEST_DEGREE = 100

# Above this many columns the expansion of a polynomial costs more than its kernel matrix.
MOST_MONOMIALS = 2_000

# Values whose powers are so many times what is left of them lose digits; so few monomials cost no
# more than the powers. So many rows tell.
FAR, FEW_MONOMIALS = 1e6, 100
SAMPLED = 1_000

# Binary digits of a number.
DIGITS = 53

# Nanoseconds for a column of dense rows and for a stored entry of a sparse row.
DENSE_COLUMN, SPARSE_ENTRY = 0.1, 1.0


@dataclass(frozen=True, eq=False)
class FittedDot(FittedKernel):
    """``(scale·x'y + offset)^degree`` between the rows of a matrix.

    Attributes
    ----------
    rows : ndarray or sparse matrix
        The points or, where there is a `centre`, the points less that.
    label_text : str
    degree, offset, scale : int, float, float
    centre : ndarray or None
        The median of the points. With it, the values come less the effects of row and column,
        ``k(x, y) - k(x, centre) - k(centre, y) + k(centre, centre)``: dependence does not see
        these, and far from 0 they are so large that nothing else would be left of the digits.
    """

    rows: FloatArray | csr_array
    label_text: str
    degree: int = 1
    offset: float = 0.0
    scale: float = 1.0
    centre: FloatArray | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        block = dot_products(self.rows, rows, cols)
        if self.degree == 1:
            return block
        block *= self.scale
        if self.centre is not None:
            slant = self.scale * (self.rows @ self.centre)
            level = self.offset + self.scale * float(self.centre @ self.centre)
            return power_less_effects(block, slant[rows], slant[cols], level, self.degree)
        block += self.offset
        return np.power(block, self.degree, out=block)

    @property
    def whole(self) -> FittedDot:
        """The kernel with its effects of row and column; of degree 1, centred on the mean."""
        if self.centre is None:
            return self
        back = self.centre if self.degree > 1 else -self.rows.mean(axis=0)
        return replace(self, rows=self.rows + back, centre=None)

    @property
    def label(self) -> str:
        return self.label_text

    def describe(self) -> dict[str, Any]:
        return {"kernel": self.label, "columns": int(self.rows.shape[1])}

    @property
    def nanoseconds(self) -> float:
        return 2.0 * self.degree + dot_nanoseconds(self.rows)

    def take(self, rows: IntArray) -> FittedDot:
        return replace(self, rows=self.rows[rows])

    def features(self, rows: slice | IntArray = ALL_ROWS) -> FloatArray | csr_array | None:
        """Give the rows themselves for the linear kernel, their monomials for a polynomial."""
        if self.degree == 1:
            return self.rows[rows]
        if self._n_monomials() > MOST_MONOMIALS:
            return None
        chosen = self.rows[rows]
        values = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
        root = np.sqrt(self.scale)
        less = self.centre is not None
        centre = np.zeros(values.shape[1]) if self.centre is None else root * self.centre
        return monomials(root * values, self.degree, self.offset, centre, less=less)

    def conditioned(self) -> FittedDot:
        """Give the dot product of centred monomials where the values differ little for their size.

        A power of large products has no digits left for their differences. Some of the rows tell.
        """
        if self.degree == 1 or self._n_monomials() > FEW_MONOMIALS:
            return self
        some = slice(0, None, max(1, len(self) // SAMPLED))
        features = self.features(some)
        if not isinstance(features, np.ndarray) or not isinstance(self.rows, np.ndarray):
            return self
        points = self.rows[some] if self.centre is None else self.rows[some] + self.centre
        base = self.offset + self.scale * np.square(points).sum(axis=1).max()
        left = np.square(features - middle(features)).sum(axis=1).max()
        if base**self.degree <= FAR * left:
            return self
        features = np.asarray(self.features())
        return FittedDot(features - middle(features), self.label_text)

    def proportional(self) -> FittedDot:
        """Give the kernel of the rows in units of their usual size; its base is about 1."""
        first, second = two_largest(self.rows)
        if first == 0:
            return self
        # Far from 0 the products are those of the centre.
        away = 0.0
        if self.centre is not None and self.degree > 1:
            away = float(np.abs(self.centre).max())
        twice = np.log2(max(first, away)) + np.log2(max(second, away))
        unit = int(twice // 2)
        base = twice + (np.log2(self.scale) if self.degree > 1 else 0.0)
        if self.offset > 0:
            level = float(np.log2(self.offset))
            if base < level - DIGITS:
                # Beside the offset products are so small that their powers are lost in rounding.
                return FittedDot(in_units(self.rows, unit), self.label_text, centre=self.centre)
            base = max(base, level)
        if is_ordinary(base * self.degree):
            return self
        return replace(
            self,
            rows=in_units(self.rows, unit),
            offset=float(np.ldexp(self.offset, -int(base))),
            scale=float(np.ldexp(self.scale, 2 * unit - int(base))),
            centre=None if self.centre is None else in_units(self.centre, unit),
        )

    def _n_monomials(self) -> int:
        n_letters = self.rows.shape[1] + (self.offset > 0)
        return comb(n_letters + self.degree - 1, self.degree)


def power_less_effects(
    products: FloatArray, first: FloatArray, second: FloatArray, level: float, degree: int
) -> FloatArray:
    """Give ``(u + a + b + C)^d - (a + C)^d - (b + C)^d + C^d`` without cancellation.

    Parameters
    ----------
    products : ndarray
        u, the products of centred rows.
    first, second : ndarray
        a and b, the products of the centred rows and columns with the centre.
    level : float
        C, the kernel's base at the centre.
    degree : int
        d.
    """
    rest = first[:, None] + second[None] + level
    # The terms that hold u, by Horner's rule; then those that hold a and b, but not u.
    total = np.ones_like(products)
    for power in range(degree - 1, 0, -1):
        total *= products
        total += comb(degree, power) * rest ** (degree - power)
    total *= products
    for p in range(1, degree):
        for q in range(1, degree - p + 1):
            ways = comb(degree, p) * comb(degree - p, q)
            total += ways * level ** (degree - p - q) * np.outer(first**p, second**q)
    return total


def monomials(
    values: FloatArray,
    degree: int,
    offset: float,
    centre: FloatArray | None = None,
    *,
    less: bool = False,
) -> FloatArray:
    """Expand rows so that ``ΦΦ' = (x'y + offset)^degree``.

    By the multinomial theorem the power is a sum over all products of `degree` factors taken
    from x_1 y_1, …, x_d y_d and `offset`; a product that can be ordered in c ways has weight c.
    Its column is ``√c`` times the product of the coordinates (and of ``√offset``). The rows are
    `values` plus `centre`; with `less`, the expansion of the centre is subtracted, factor by
    factor.
    """
    centres = np.zeros(values.shape[1]) if centre is None else centre
    letters = values.T
    if offset > 0:
        letters = np.vstack([letters, np.zeros(len(values))])
        centres = np.append(centres, np.sqrt(offset))
    words = list(combinations_with_replacement(range(len(letters)), degree))
    expanded = np.empty((len(values), len(words)))
    for column, word in enumerate(words):
        orders = factorial(degree) / prod(factorial(word.count(letter)) for letter in set(word))
        gap, at_centre = np.zeros(len(values)), 1.0
        for letter in word:
            gap = gap * (centres[letter] + letters[letter]) + at_centre * letters[letter]
            at_centre *= float(centres[letter])
        expanded[:, column] = np.sqrt(orders) * (gap if less else gap + at_centre)
    return expanded


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel ``x'y``; labels are read as indicator (one-hot) columns.

    Dense data are centred on their median first, which changes no dependence and keeps digits.
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels)

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedDot:  # noqa: ARG002
        self.check_accepts(variable)
        if isinstance(variable, Numeric):
            centre = middle(variable.values)
            return FittedDot(variable.values - centre, "Linear()", centre=centre)
        if isinstance(variable, Labels):
            return FittedDot(indicators(variable), "Linear()")
        return FittedDot(variable.values, "Linear()")  # type: ignore[attr-defined]

    def between(self, first: Variable, second: Variable) -> FloatArray:
        # As written, x'y: fitted rows are centred, which dependence does not see but a user does.
        self.check_accepts(first)
        both = stacked(first, second)
        rows = indicators(both) if isinstance(both, Labels) else both.values  # type: ignore[attr-defined]
        n = len(first)
        return dot_products(rows, slice(0, n), slice(n, len(both)))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel ``(scale·x'y + offset)^degree``.

    Parameters
    ----------
    degree : int, default 2
        From 1 to 100.
    offset : float, default 1
        At least 0; with 0 only the highest degree is seen.
    scale : float, default 1
    """

    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)

    def __post_init__(self) -> None:
        check_count("degree", self.degree, at_least=1, at_most=HIGHEST_DEGREE)
        largest = sys.float_info.max
        if not 0 <= self.offset <= largest or not 0 < self.scale <= largest:
            raise InputError(
                f"`offset={self.offset!r}`, scale={self.scale!r}; pass an offset of at least 0 and "
                "a positive scale, or the kernel is not positive semi-definite."
            )

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedDot:  # noqa: ARG002
        self.check_accepts(variable)
        text = f"Polynomial(degree={self.degree}, offset={self.offset:g}, scale={self.scale:g})"
        rows = variable.values  # type: ignore[attr-defined]
        centre = middle(rows) if isinstance(variable, Numeric) else None
        if centre is not None:
            rows = rows - centre
        if self.degree == 1:
            return FittedDot(rows * np.sqrt(self.scale), text, centre=centre)
        return FittedDot(rows, text, int(self.degree), self.offset, self.scale, centre)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        self.check_accepts(first)
        both = stacked(first, second)
        places = slice(0, len(first)), slice(len(first), len(both))
        products = self.scale * dot_products(both.values, *places)  # type: ignore[attr-defined]
        return np.asarray((products + self.offset) ** self.degree)


def dot_products(matrix: FloatArray | csr_array, rows: Rows, cols: Rows) -> FloatArray:
    """Give x_i'x_j for a block as a new, dense array."""
    if isinstance(matrix, np.ndarray):
        product: FloatArray = matrix[rows] @ matrix[cols].T
        return product
    if worth_compiling(matrix.shape[0]):
        return _sparse_products(matrix[rows], matrix[cols])
    dense: FloatArray = (matrix[rows] @ matrix[cols].T).toarray()
    return dense


def dot_nanoseconds(matrix: FloatArray | csr_array) -> float:
    """Estimate what the dot product of two rows costs on one core."""
    if isinstance(matrix, np.ndarray):
        return DENSE_COLUMN * float(matrix.shape[1])
    return SPARSE_ENTRY * float(matrix.nnz / max(1, matrix.shape[0]))


def _sparse_products(first: csr_array, second: csr_array) -> FloatArray:
    """Multiply without the detour over a sparse result, which here is hardly ever sparse."""
    from reldep.kernels.compiled import add_sparse_products

    out = np.zeros((first.shape[0], second.shape[0]))
    add_sparse_products(*_parts(first), *_parts(second.T.tocsr()), out)
    return out


def _parts(table: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Take a matrix apart, with one type of index and of number: one function to compile."""
    return (
        table.indptr.astype(np.int64),
        table.indices.astype(np.int64),
        table.data.astype(np.float64),
    )
