"""Kernels with explicit features: dot products of numbers, and equality of labels."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.arguments import check_count, check_positive
from reldep.data.variables import Labels, Mixed, Numeric, Sparse, Variable, joint_labels
from reldep.exceptions import InputError, InputTypeError, NoVariationError
from reldep.kernels.base import ALL_ROWS, FittedKernel, Kernel, Rows, stacked
from reldep.kernels.distances import EQUAL, FIRST, ORDINARY, Factor, dot_products, middle
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray, SparseArray


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
    """

    rows: FloatArray | SparseArray
    name: str
    degree: int = 1
    offset: float = 0.0
    scale: float = 1.0
    centre: FloatArray | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def own_label(self) -> str:
        return self.name

    def parameters(self) -> dict[str, Any]:
        return {"columns": int(self.rows.shape[1])}

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

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | SparseArray | None:
        """Return the rows themselves for the linear kernel, their monomials for a polynomial."""
        chosen = self.rows[rows]
        if self.degree == 1:
            return chosen
        n_letters = self.rows.shape[1] + (self.offset > 0)
        if comb(n_letters + self.degree - 1, self.degree) > 2_000:
            return None  # the kernel matrix costs less
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


class _Dot(Kernel):
    """What both kernels of dot products share."""

    degree: int
    offset: float
    scale: float

    def fitted(self, variable: Variable) -> FittedDot:
        rows, centre = _rows_of(variable), None
        if isinstance(variable, Numeric):
            centre = middle(variable.values)
            rows = rows - centre
        if self.degree == 1:
            return FittedDot(rows * np.sqrt(self.scale), str(self), centre=centre)
        return FittedDot(rows, str(self), int(self.degree), self.offset, self.scale, centre)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        # As written: fitted rows are centred, which dependence does not see but a user does.
        rows = _rows_of(stacked(first, second))
        products = self.scale * dot_products(rows[: len(first)], rows[len(first) :])
        return np.asarray((products + self.offset) ** self.degree)


def _rows_of(variable: Variable) -> Any:
    return indicators(variable) if isinstance(variable, Labels) else variable.values  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Linear(_Dot):
    """The linear kernel ``x'y``; labels are read as indicator (one-hot) columns.

    Dense data are centred on their median first, which changes no dependence and keeps digits.
    """

    accepts = (Numeric, Sparse, Labels)
    degree: ClassVar[int] = 1  # type: ignore[misc]
    offset: ClassVar[float] = 0.0  # type: ignore[misc]
    scale: ClassVar[float] = 1.0  # type: ignore[misc]


@dataclass(frozen=True)
class Polynomial(_Dot):
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

    accepts = (Numeric, Sparse)

    def __post_init__(self) -> None:
        # Powers of products beyond this degree overflow for ordinary data.
        check_count("degree", self.degree, at_least=1, at_most=100)
        check_positive("scale", self.scale)
        if self.offset != 0:
            check_positive("offset", self.offset)

    def __str__(self) -> str:
        return f"Polynomial(degree={self.degree}, offset={self.offset:g}, scale={self.scale:g})"


def indicators(labels: Labels, rows: slice | IntArray = ALL_ROWS) -> SparseArray:
    """Return the one-hot matrix of the labels, or some rows of it."""
    from scipy.sparse import csr_array

    codes = labels.codes[rows]
    entries = (np.ones(len(codes)), codes, np.arange(len(codes) + 1))
    return csr_array(entries, shape=(len(codes), len(labels.categories)))


@dataclass(frozen=True, eq=False)
class FittedLabels(FittedKernel):
    """Agreement over a floor: in each of some columns of labels, and in all of them at once.

    Attributes
    ----------
    parts : tuple of Labels
        The label columns and, if there are several, all of them as one.
    weights : tuple of float
        What agreement in each part adds.
    floor : float
    name : str
        The kernel with its parameters.
    """

    parts: tuple[Labels, ...]
    weights: tuple[float, ...]
    floor: float
    name: str

    def __len__(self) -> int:
        return len(self.parts[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        codes = self.parts[0].codes
        block = np.full((len(codes[rows]), len(codes[cols])), self.floor)
        for labels, weight in zip(self.parts, self.weights, strict=True):
            block += weight * np.equal(labels.codes[rows][:, None], labels.codes[cols])
        return block

    def program(self) -> list[Factor] | None:
        return [Factor(FIRST, EQUAL, self._points, self.floor)] if len(self.parts) == 1 else None

    @cached_property
    def _points(self) -> FloatArray:
        """The codes as points on a line: equal labels have distance 0."""
        return self.parts[0].codes.astype(np.float64)[:, None]

    def own_label(self) -> str:
        return self.name

    def features(self, rows: slice | IntArray = ALL_ROWS) -> SparseArray:
        """Return the one-hot matrices side by side, and a constant column for a floor."""
        from scipy.sparse import csr_array, hstack

        marks = [
            np.sqrt(weight) * indicators(labels, rows)
            for labels, weight in zip(self.parts, self.weights, strict=True)
        ]
        if self.floor:
            marks.append(csr_array(np.full((marks[0].shape[0], 1), np.sqrt(self.floor))))
        return marks[0] if len(marks) == 1 else hstack(marks, format="csr")


@dataclass(frozen=True)
class Delta(Kernel):
    """The kernel for categories: 1 for equal, 0 for different.

    On several columns two observations are equal if they agree in all of them. It equals the
    linear kernel on one-hot indicators.
    """

    accepts = (Labels, Mixed, Numeric)
    is_characteristic = True

    def fit(self, data: Any) -> FittedLabels:
        fitted: Any = super().fit(data)
        (labels,) = fitted.parts
        if len(np.unique(labels.codes)) == len(labels):
            raise NoVariationError(
                f"{labels.name} has a label of its own in each of {len(labels)} observations, so "
                "that its HSIC is 0 by construction. Leave out identifiers ('*,!id' takes all "
                "columns but id), pass numbers as numbers, and strings with Text() or Spectrum()."
            )
        return fitted  # type: ignore[no-any-return]

    def fitted(self, variable: Variable) -> FittedLabels:
        labels = _as_labels(variable)
        n = len(np.unique(labels.codes))
        return FittedLabels((labels,), (1.0,), 0.0, f"Delta({n} categories)")


@dataclass(frozen=True)
class Agreement(Kernel):
    """The share of labels in which two rows agree, above a floor.

    Made to be multiplied with a kernel of numbers: ``Gaussian() * Agreement()`` is the default for
    frames with both. A plain product with :class:`Delta` is 0 between rows of different labels, so
    that an irrelevant label hides what the numbers show; with a floor of ½ such rows still count
    half. Relations that change with the label are seen.

    On one label column the kernel is ``floor + (1 - floor) [equal]``. On several, half of what is
    above the floor goes by the share of columns that agree, half by whether all do.

    Parameters
    ----------
    floor : float, default 0.5
        The value between rows that agree in no label column, from 0 to below 1. With 0 and one
        column it is :class:`Delta`.

    Examples
    --------
    >>> from reldep.kernels import Agreement
    >>> Agreement()([["f", "old"], ["f", "young"], ["m", "young"]])
    array([[1.   , 0.625, 0.5  ],
           [0.625, 1.   , 0.625],
           [0.5  , 0.625, 1.   ]])
    """

    floor: float = 0.5

    accepts = (Mixed, Labels)
    is_characteristic = True

    def __post_init__(self) -> None:
        floor: Any = self.floor
        if not isinstance(floor, (int, float, np.number)) or not 0 <= floor < 1:
            raise InputError(f"`floor={self.floor!r}`; pass a number from 0 to below 1.")

    def fitted(self, variable: Variable) -> FittedLabels:
        parts = variable.parts if isinstance(variable, Mixed) else (variable,)
        columns = tuple(part for part in parts if isinstance(part, Labels))
        if not columns:
            raise InputTypeError(f"{variable.name} has no label columns; use another kernel.")
        n, floor = len(columns), float(self.floor)
        weights: tuple[float, ...] = (1.0 - floor,)
        if n > 1:
            # Single columns and all at once each share half of what is above the floor.
            half = 0.5 * (1.0 - floor)
            weights = (*[half / n] * n, half)
            columns += (joint_labels("all", [labels.codes for labels in columns]),)
        name = f"Agreement(floor={floor:g}, {counted(n, 'label column')})"
        return FittedLabels(columns, weights, floor, name)


def _as_labels(variable: Variable) -> Labels:
    if isinstance(variable, Labels):
        return variable
    if isinstance(variable, Numeric):
        return joint_labels(variable.name, [variable.values])
    if isinstance(variable, Mixed) and variable.numbers() is None:
        labels = variable.labels()
        if labels is not None:
            return replace(labels, name=variable.name)
    raise InputTypeError(f"{variable.name} has numbers next to labels; pass Gaussian() * Delta().")
