"""Recipes: what the compiled sweeps compute, as tables of numbers, and the sums they give.

A kernel is a product or a sum of factors; a factor is a function (such as a power) of a source; a
source is the squared distance between points of few columns, which the compiled code computes
itself, or a block that is *given* to it for each tile: distances from a matrix product, or the
values of any kernel it does not know. Kernels on the same points share a source. What a kernel is
in compiled code it says itself (:attr:`~reldep.kernels.base.FittedKernel.formula`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reldep.engine.blocks import fill_blocks
from reldep.kernels.base import EQUAL, LINEAR, NEAR, POWER, POWER_ROOT
from reldep.kernels.composite import FittedProduct, FittedSum
from reldep.kernels.points import Points
from reldep.system import numba_is_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.blocks import Shifts, Tile
    from reldep.kernels.base import FittedKernel, Formula

# What fills a given block: points their squared distances, a kernel its values.
Filler: TypeAlias = "Points | FittedKernel"

# Powers of two whose exponent is above these are normal numbers, with something to spare.
NORMAL_FROM = {"f8": -1000.0, "f4": -120.0}

# How factors are combined.
PRODUCT, SUM = range(2)

# Whole numbers up to this are exact in single precision.
MOST_SINGLE_CODES = 2**24

# Nanoseconds on one core: for a column of a squared distance, and for a function of it.
COLUMN_VALUE, FUNCTION_VALUE = 0.2, 0.75


@dataclass(frozen=True, eq=False)
class Recipe:
    """Tables for :mod:`reldep.engine.sweeps.fills`, and what must be given to it.

    Attributes
    ----------
    columns : ndarray, shape (n_columns, n)
        All points of few columns, one coordinate a row.
    sources : ndarray, shape (n_sources, 3)
        First and last column, and -1; or the number of a given block in third place.
    factors : ndarray, shape (n_factors, 2)
        Function and source.
    parameters : ndarray, shape (n_factors, 2)
        Of the functions.
    combinations : ndarray, shape (n_kernels, 3)
        First and last factor, and how they are combined.
    given : tuple of Points or FittedKernel
        What fills the given blocks.
    """

    columns: FloatArray
    sources: IntArray
    factors: IntArray
    parameters: FloatArray
    combinations: IntArray
    given: tuple[Filler, ...]

    @classmethod
    def of(cls, kernels: Sequence[FittedKernel], precision: str = "double") -> Recipe:
        """Write the recipe of some kernels."""
        return Draft.of(kernels, precision).finished(len(kernels[0]))

    @property
    def tables(self) -> tuple[Any, ...]:
        """The tables in the order in which compiled code takes them, after the given blocks."""
        return self.sources, self.factors, self.parameters, self.combinations


@dataclass
class Draft:
    """A recipe in the making; also what a planner looks at, for it copies no data."""

    dtype: str
    columns: list[Any] = field(default_factory=list)
    sources: list[tuple[int, int, int]] = field(default_factory=list)
    factors: list[tuple[int, int]] = field(default_factory=list)
    parameters: list[tuple[float, float]] = field(default_factory=list)
    combinations: list[tuple[int, int, int]] = field(default_factory=list)
    given: list[Filler] = field(default_factory=list)
    number_of: dict[int, int] = field(default_factory=dict)
    of_one: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, kernels: Sequence[FittedKernel], precision: str = "double") -> Draft:
        """Write down some kernels."""
        draft = cls("f4" if precision == "single" else "f8")
        if precision == "single":
            formulas = [part.formula for kernel in kernels for part in parts_of(kernel)]
            users = Counter(id(formula.source) for formula in formulas if formula is not None)
            draft.of_one = {source for source, count in users.items() if count == 1}
        for kernel in kernels:
            draft.add(kernel)
        return draft

    @property
    def nanoseconds(self) -> float:
        """About what compiled code takes on one core for a value of every kernel."""
        return COLUMN_VALUE * len(self.columns) + FUNCTION_VALUE * len(self.factors)

    def add(self, kernel: FittedKernel) -> None:
        """Add a kernel, as a combination of one or more factors."""
        start = len(self.factors)
        for part in parts_of(kernel):
            (function, c, a), source = self._factor(part)
            self.factors.append((function, source))
            self.parameters.append((c, a))
        operation = SUM if isinstance(kernel, FittedSum) else PRODUCT
        self.combinations.append((start, len(self.factors), operation))

    def _factor(self, part: FittedKernel) -> tuple[tuple[int, float, float], int]:
        formula = part.formula
        if formula is None:
            return (LINEAR, 1.0, 0.0), self._given(part)
        function = formula.function
        if function == POWER and self._stays_normal(formula):
            function = NEAR
        if id(formula.source) in self.of_one:
            formula = in_own_width(formula)
        return (function, formula.c, formula.a), self._source(formula)

    def _stays_normal(self, formula: Formula) -> bool:
        """Whether 2^(cs) is a normal number for every distance that there can be."""
        points: Points = formula.source
        return bool(4.0 * formula.c * points.squared_norms.max() > NORMAL_FROM[self.dtype])

    def _source(self, formula: Formula) -> int:
        if formula.columns is None:
            return self._given(formula.source)
        owner = id(formula.source)
        if owner not in self.number_of:
            self.number_of[owner] = len(self.sources)
            first = len(self.columns)
            self.columns.extend(formula.columns)
            self.sources.append((first, len(self.columns), -1))
        return self.number_of[owner]

    def _given(self, filler: Filler) -> int:
        if id(filler) not in self.number_of:
            self.number_of[id(filler)] = len(self.sources)
            self.sources.append((0, 0, len(self.given)))
            self.given.append(filler)
        return self.number_of[id(filler)]

    def finished(self, n: int) -> Recipe:
        """Turn the lists into arrays."""
        columns = np.array(self.columns, self.dtype).reshape(-1, n)
        return Recipe(
            columns,
            np.array(self.sources, dtype=np.int64),
            np.array(self.factors, dtype=np.int64),
            np.array(self.parameters, self.dtype),
            np.array(self.combinations, dtype=np.int64),
            tuple(self.given),
        )


def parts_of(kernel: FittedKernel) -> tuple[FittedKernel, ...]:
    """Give the factors of a product or the terms of a sum; any other kernel is its only part."""
    return kernel.factors if isinstance(kernel, (FittedProduct, FittedSum)) else (kernel,)


def in_own_width(formula: Formula) -> Formula:
    """Measure coordinates so that the power's coefficient is -1.

    In single precision a rounded coefficient would be another bandwidth, the same for all values;
    the rounding of coordinates is different for each and averages out.
    """
    if formula.columns is None or formula.function not in (POWER, POWER_ROOT):
        return formula
    scale = float(np.sqrt(-formula.c)) if formula.function == POWER else -formula.c
    return replace(formula, c=-1.0, columns=np.asarray(scale * formula.columns))


# Squares of coordinates, in units of the width, whose mean may not be larger in single precision.
NEAR_ENOUGH = 64.0


def suits_single_precision(kernel: FittedKernel) -> bool:
    """Whether single precision gives all values of a kernel to about seven digits."""
    return all(map(_part_suits_single, parts_of(kernel)))


def _part_suits_single(part: FittedKernel) -> bool:
    formula = part.formula
    if formula is None or formula.columns is None:
        return False
    if formula.function == EQUAL:
        return len(part) < MOST_SINGLE_CODES
    if formula.function not in (POWER, POWER_ROOT):
        return False
    squares = float(np.mean(formula.source.squared_norms))
    width = -formula.c if formula.function == POWER else formula.c**2
    return width * squares <= NEAR_ENOUGH


@dataclass(frozen=True, eq=False)
class Between:
    """The values of one kernel between any observations, by compiled code.

    Attributes
    ----------
    recipe : Recipe
        Of that kernel alone, with nothing given.
    """

    recipe: Recipe

    @classmethod
    def of(cls, kernel: FittedKernel) -> Between | None:
        """Prepare a kernel; None for one that compiled code does not know wholly."""
        if not numba_is_there():
            return None
        draft = Draft.of([kernel])
        return None if draft.given else cls(draft.finished(len(kernel)))

    def points(self, rows: slice | IntArray) -> FloatArray:
        """Give the coordinates of some observations, one a row."""
        return np.ascontiguousarray(self.recipe.columns[:, rows])

    def values(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        """Give the values between some coordinates and few others, one of these a row."""
        from reldep.engine.sweeps.fills import fill_between

        block = np.empty((others.shape[1], rows.shape[1]))
        arguments: list[Any] = [rows, others, *self.recipe.tables, block]
        fill_between(*arguments)
        return block

    def means(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        """Give the mean value of each of some rows with all others."""
        from reldep.engine.sweeps.fills import mean_between

        means = np.empty(rows.shape[1])
        arguments: list[Any] = [rows, others, *self.recipe.tables, means]
        mean_between(*arguments)
        return means


@dataclass(frozen=True, eq=False)
class CompiledSums:
    """Follow a recipe, row by row in cache.

    Attributes
    ----------
    recipe : Recipe
    shifts : Shifts
    """

    recipe: Recipe
    shifts: Shifts

    @property
    def given(self) -> tuple[Filler, ...]:
        """What is filled before the sums of a tile: what compiled code cannot make."""
        return self.recipe.given

    @property
    def itemsize(self) -> int:
        """Bytes of an entry of a block."""
        return self.recipe.columns.itemsize

    def fill(self, tile: Tile) -> FloatArray:
        """Fill the given blocks."""
        blocks = np.empty((len(self.given), *tile.shape), self.recipe.columns.dtype)
        kernels = {}
        for g, filler in enumerate(self.given):
            if isinstance(filler, Points):
                blocks[g] = filler.squared_distances(tile.rows, tile.cols)
            else:
                kernels[g] = filler
        numbers = list(kernels)
        for i, block in fill_blocks(list(kernels.values()), tile.rows, tile.cols):
            blocks[numbers[i]] = block
        return blocks

    def add_sums(
        self, tiles: Sequence[Tile], blocks: FloatArray, pairs: IntArray, sums: FloatArray
    ) -> None:
        """Add row sums of kernels, then of products of kernels."""
        self._sweep(blocks, pairs, np.empty((0, sums.shape[1])), tiles, sums)

    def add_crossed(
        self,
        tiles: Sequence[Tile],
        blocks: FloatArray,
        pairs: IntArray,
        vectors: FloatArray,
        sums: FloatArray,
    ) -> None:
        """Add either kernel of each pair times the vector of the other."""
        self._sweep(blocks, pairs, vectors, tiles, sums)

    def _sweep(
        self,
        blocks: FloatArray,
        pairs: IntArray,
        vectors: FloatArray,
        tiles: Sequence[Tile],
        sums: FloatArray,
    ) -> None:
        from reldep.engine.sweeps.fills import sweep

        bounds = [(t.rows.start, t.rows.stop, t.cols.start, t.cols.stop) for t in tiles]
        dtype = self.recipe.columns.dtype
        arguments: list[Any] = [
            self.recipe.columns,
            blocks,
            *self.recipe.tables,
            self.shifts.constants.astype(dtype),
            self.shifts.effect_of,
            self.shifts.bounded,
            self.shifts.effects.astype(dtype, copy=False),
            pairs,
            np.ascontiguousarray(vectors, dtype=dtype),
            np.array(bounds, dtype=np.int64).reshape(-1, 4),
            sums,
        ]
        # An array that came over a network is read-only, which would be another type to compile.
        sweep(*(a if a.flags.writeable else a.copy() for a in arguments))
