"""Kernels that are functions of the dot product: Linear and Polynomial."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_count, check_positive
from reldep.data.variables import Labels, Numeric, Sparse, Variable
from reldep.kernels.base import ALL_ROWS, FittedKernel, Kernel, stacked
from reldep.kernels.categorical import indicators
from reldep.kernels.points import ORDINARY, dot_products, middle

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import Rows

# Maximum number of monomials in an expansion: above it the kernel matrix costs less.
MOST_MONOMIALS = 2_000


@dataclass(frozen=True, eq=False)
class FittedDot(FittedKernel):
    """``(scale·x'y + offset)^degree`` between the rows of a matrix.

    Attributes
    ----------
    rows : ndarray or sparse matrix
        The points or, if there is a `centre`, the points less that.
    name : str
    degree, offset, scale : int, float, float
    centre : ndarray or None
        The median of the points. With it, the values come less the effects of row and column,
        ``k(x, y) - k(x, centre) - k(centre, y) + k(centre, centre)``: dependence does not see
        these, and far from 0 they are so large that nothing else would be left of the digits.
    title : str
        The map that made the rows, in front of the label.
    """

    rows: FloatArray | csr_array
    name: str
    degree: int = 1
    offset: float = 0.0
    scale: float = 1.0
    centre: FloatArray | None = None
    title: str = field(default="", kw_only=True)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def label(self) -> str:
        return f"{self.title}: {self.name}" if self.title else self.name

    def describe(self) -> dict[str, Any]:
        return {"kernel": self.label, "columns": int(self.rows.shape[1])}

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        block = dot_products(self.rows[rows], self.rows[cols])
        if self.degree == 1:
            return block
        block *= self.scale
        if self.centre is not None:
            slant = self.scale * (self.rows @ self.centre)
            level = self.offset + self.scale * float(self.centre @ self.centre)
            return power_less_effects(block, slant[rows], slant[cols], level, self.degree)
        block += self.offset
        return np.power(block, self.degree, out=block)

    def whole(self) -> FittedDot:
        """Return the kernel with its effects of row and column; of degree 1, about the mean."""
        if self.centre is None:
            return self
        back = self.centre if self.degree > 1 else -self.rows.mean(axis=0)
        return replace(self, rows=self.rows + back, centre=None)

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | csr_array | None:
        """Return the rows themselves for the linear kernel, their monomials for a polynomial."""
        chosen = self.rows[rows]
        if self.degree == 1:
            return chosen
        if self._n_monomials() > MOST_MONOMIALS:
            return None
        values = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
        root = np.sqrt(self.scale)
        less = self.centre is not None
        centre = np.zeros(values.shape[1]) if self.centre is None else root * self.centre
        return monomials(root * values, self.degree, self.offset, centre, less=less)

    def in_own_unit(self) -> FittedDot:
        """Return the kernel divided by a power of two if its largest base is far from 1."""
        away = 0.0 if self.centre is None or self.degree == 1 else float(np.abs(self.centre).max())
        size = max(float(abs(self.rows).max()), away)
        if size == 0:
            return self
        unit = int(np.floor(np.log2(size)))
        rows: Any = self.rows.copy()
        if isinstance(rows, np.ndarray):
            rows = np.ldexp(rows, -unit)
        else:
            rows.data = np.ldexp(rows.data, -unit)
        centre = None if self.centre is None else np.ldexp(self.centre, -unit)
        base = 2 * unit + (int(np.floor(np.log2(self.scale))) if self.degree > 1 else 0)
        if self.offset > 0:
            level = int(np.floor(np.log2(self.offset)))
            if base < level - sys.float_info.mant_dig:
                # Products vanish next to the offset: what is left of the power is linear.
                return FittedDot(rows, self.name, centre=centre, title=self.title)
            base = max(base, level)
        if abs(base * self.degree) < ORDINARY:
            return self
        return replace(
            self,
            rows=rows,
            offset=float(np.ldexp(self.offset, -base)),
            scale=float(np.ldexp(self.scale, 2 * unit - base)) if self.degree > 1 else 1.0,
            centre=centre,
        )

    def _n_monomials(self) -> int:
        n_letters = self.rows.shape[1] + (self.offset > 0)
        return comb(n_letters + self.degree - 1, self.degree)


def power_less_effects(
    products: FloatArray, first: FloatArray, second: FloatArray, level: float, degree: int
) -> FloatArray:
    """Return ``(u + a + b + C)^d - (a + C)^d - (b + C)^d + C^d`` without cancellation.

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
    # The terms that contain u, by Horner's rule; then those that contain a and b, but not u.
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
    """Return rows expanded so that ``ΦΦ' = (x'y + offset)^degree``.

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

    def fit(self, variable: Variable) -> FittedDot:
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
        return dot_products(rows[: len(first)], rows[len(first) :])


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
        # Powers of products beyond this degree overflow for ordinary data.
        check_count("degree", self.degree, at_least=1, at_most=100)
        check_positive("scale", self.scale)
        if self.offset != 0:
            check_positive("offset", self.offset)

    def fit(self, variable: Variable) -> FittedDot:
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
        rows = stacked(first, second).values  # type: ignore[attr-defined]
        products = self.scale * dot_products(rows[: len(first)], rows[len(first) :])
        return np.asarray((products + self.offset) ** self.degree)
