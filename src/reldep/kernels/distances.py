"""Distances between points, and kernels as short programs: functions of these, joined in a row.

Dense points are read less their median: distances do not change, and the products
``|x|² + |y|² - 2x'y`` lose far fewer digits; one far value would move the mean. The unit is a power
of two near the size of a typical value, so that no unit of the data makes squares overflow.

A sum of Gaussians, numbers times labels, and the slope of a kernel in its bandwidth are programs:
compiled code evaluates the tables of :func:`make_program`, and NumPy the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np

from reldep.data.variables import FloatArray, IntArray, Numeric, Sparse, SparseArray
from reldep.kernels.base import FittedKernel, Rows

# Below this share of |x|² + |y|² the product formula has lost half its digits, and the distance is
# computed again from the differences.
CANCELLED = 1e-7

# Values beyond 2^REACH units are moved closer, see `within_reach`; their squares, times those of a
# bandwidth, are then numbers.
REACH = 332

# Kernel values from 2^-50 to 2^50 can be multiplied by each other and raised to the fourth power.
ORDINARY = 50


# The functions of a squared distance s, with a scale c: 2^(c s), 2^(c √s), c √s, and c for s > 0
# but 1 for s = 0.
GAUSSIAN, LAPLACE, ROOT, EQUAL = range(4)

# How the values of a factor are joined to those of the factors before it.
FIRST, TIMES, PLUS = range(3)


def row_runs(n_rows: int, n_columns: int, at_a_time: int = 65_536, fewest: int = 1) -> list[slice]:
    """Return runs of rows of a table that stay in the second-level cache: 512 KB.

    Half and twice as many values take the same time (measured).
    """
    step = max(fewest, at_a_time // max(1, n_columns))
    if n_rows <= step:
        return [slice(0, n_rows)]
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def middle(values: FloatArray, sampled: int = 10_000) -> FloatArray:
    """Return the median of each column; of two middle values the lower, which cannot overflow.

    Of many rows a sample is enough, because any centre will do that far values do not move.
    """
    if len(values) > sampled:
        values = values[np.random.default_rng(0).integers(len(values), size=sampled)]
    half = (len(values) - 1) // 2
    return np.asarray(np.partition(values, half, axis=0)[half])


def typical_exponent(values: FloatArray, sampled: int = 100_000) -> int:
    """Return the exponent of a power of two near the median size of the values other than 0."""
    some = values.ravel()[:: max(1, values.size // sampled)]
    sizes = np.abs(some[some != 0])
    if not len(sizes):
        sizes = np.abs(values[values != 0])
    if not len(sizes):
        return 0
    half = len(sizes) // 2
    return int(np.frexp(np.partition(sizes, half)[half])[1]) - 1


def within_reach(values: FloatArray, exponent: int) -> FloatArray:
    """Return values in units of 2^exponent, with the farthest ones moved closer.

    Beyond 2^REACH the logarithm grows in place of the value. Such values stay farther from all
    others, and from each other, than any bandwidth reaches.
    """
    with np.errstate(over="ignore"):  # what overflows is replaced
        scaled = np.ldexp(values, -exponent)
    far = np.abs(scaled) > 2.0**REACH
    if far.any():
        beyond = np.log2(np.abs(values[far])) - exponent - REACH
        scaled[far] = np.copysign(2.0**REACH * (1.0 + beyond), values[far])
    return scaled


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of a dense or sparse matrix.

    Attributes
    ----------
    rows : ndarray or csr_array
        In multiples of `unit`; dense rows less their median.
    unit : float
        A power of two.
    """

    rows: FloatArray | SparseArray
    unit: float = 1.0

    @classmethod
    def of(cls, variable: Numeric | Sparse, *, keep_far: bool = False) -> Points:
        """Return the points of a variable.

        Parameters
        ----------
        variable : Numeric or Sparse
        keep_far : bool, default False
            Keep the distances of far values exact, for kernels that are not bounded.
        """
        values = variable.values
        if not isinstance(values, np.ndarray):
            exponent = typical_exponent(values.data)
            rows: Any = values.copy()
            rows.data = within_reach(values.data, exponent)
            return cls(rows, 2.0**exponent)
        with np.errstate(over="ignore"):
            values = values - middle(values)
        if not np.isfinite(values).all():
            values = np.nan_to_num(values)  # infinity becomes the largest number
        exponent = typical_exponent(values)
        if keep_far:
            with np.errstate(over="ignore"):
                rows = np.nan_to_num(np.ldexp(values, -exponent))
        else:
            rows = within_reach(values, exponent)
        rows.flags.writeable = False
        return cls(rows, 2.0**exponent)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def squared_norms(self) -> FloatArray:
        """|x|² of every point, in squared units."""
        return _squares(self.rows)

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
        """Whether the rows are a sparse matrix."""
        return not isinstance(self.rows, np.ndarray)

    def is_in_ordinary_unit(self, power: float) -> bool:
        """Return True if this power of the unit can be multiplied with others."""
        return bool(abs(power * np.log2(self.unit)) < ORDINARY)

    def take(self, rows: IntArray) -> Points:
        """Return some of the points, in the order given."""
        return Points(self.rows[rows], self.unit)

    def squared_distances(self, rows: Rows, cols: Rows) -> FloatArray:
        """Return |x_i - x_j|² for a block, in squared units; never negative, 0 for equal points."""
        norms = None
        if is_by_product(self.rows):
            norms = self.squared_norms[rows], self.squared_norms[cols]
        return squared_distances(self.rows[rows], self.rows[cols], norms)

    def _runs(self) -> list[slice]:
        """Return runs of rows whose distances from all others fit into the cache.

        Products of fewer than 256 rows would read the others from memory every time.
        """
        return row_runs(len(self), len(self), fewest=256 if is_by_product(self.rows) else 1)

    def squared_pairs(self) -> FloatArray:
        """Return |x_i - x_j|² for all i < j, row by row, in squared units."""
        parts = []
        for run in self._runs():
            block = self.squared_distances(run, slice(run.start, None))
            parts += [row[i + 1 :] for i, row in enumerate(block)]
        return np.concatenate(parts)

    @cached_property
    def mean_distances(self) -> FloatArray:
        """The mean distance of each point from the others, in units."""
        sums = np.zeros(len(self))
        for run in self._runs():
            # Distances from later runs count for both of their points.
            block = self.squared_distances(run, slice(run.start, None))
            np.sqrt(block, out=block)
            sums[run] += block.sum(axis=1)
            sums[run.stop :] += block[:, len(block) :].sum(axis=0)
        return sums / (len(self) - 1)


def dot_products(first: Any, second: Any) -> FloatArray:
    """Return the products of rows of two dense or two sparse matrices as a dense array."""
    product = first @ second.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())


def is_by_product(rows: FloatArray | SparseArray) -> bool:
    """Return True if distances between these rows come from a matrix product.

    It is faster than differences from four columns on (measured).
    """
    return not isinstance(rows, np.ndarray) or rows.shape[1] >= 4


def squared_distances(
    first: FloatArray | SparseArray,
    second: FloatArray | SparseArray,
    norms: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return squared distances between rows of two matrices.

    Parameters
    ----------
    first, second : ndarray or csr_array
    norms : tuple of two ndarray, optional
        Their squared norms, if these are known.
    """
    by_product = is_by_product(first)
    if by_product:
        block = dot_products(first, second)
        own, others = (_squares(first), _squares(second)) if norms is None else norms
    else:
        block = np.empty((len(first), len(second)))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is repaired
        for part in row_runs(*block.shape):
            if by_product:
                _from_products(first[part], second, own[part], others, block[part])
            else:
                _from_differences(first[part], second, block[part])
    return block


def _from_differences(first: Any, second: Any, out: FloatArray) -> None:
    """Fill in squared distances, one column after the other."""
    np.subtract(first[:, :1], second[:, 0], out=out)
    out *= out
    difference = np.empty_like(out)
    for column in range(1, first.shape[1]):
        np.subtract(first[:, column, None], second[:, column], out=difference)
        difference *= difference
        out += difference


def _from_products(
    first: Any, second: Any, norms: FloatArray, others: FloatArray, out: FloatArray
) -> None:
    """Overwrite products with squared distances."""
    out *= -2.0
    sizes = norms[:, None] + others
    out += sizes
    sizes *= CANCELLED
    # Not "out <= sizes": what overflowed is not a number, and compares with none.
    i, j = np.nonzero(~(out > sizes))
    # Ties can be many and rows long: at most 32 MB of differences are computed at a time.
    for run in row_runs(len(i), first.shape[1], 4_000_000):
        out[i[run], j[run]] = _squares(first[i[run]] - second[j[run]])


def _squares(rows: Any) -> FloatArray:
    """Return the squared norm of each row."""
    if isinstance(rows, np.ndarray):
        with np.errstate(over="ignore"):
            return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


class Factor(NamedTuple):
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
            return [*start, rest[0]._replace(how=how), *rest[1:]]
    return None


def fill_values(
    programs: Sequence[Sequence[Factor]], squared: FloatArray, blocks: Sequence[FloatArray]
) -> None:
    """Fill in the values of programs of the same points, from their squared distances.

    A few rows at a time stay in the cache. Roots, and the values of a kernel of one factor that is
    also a factor of its slope, are computed once.

    Parameters
    ----------
    programs : sequence of programs
    squared : ndarray, shape (rows, columns)
        Roots may take its place.
    blocks : sequence of ndarray
        One for each program.
    """
    needs_squares = GAUSSIAN in {factor.function for program in programs for factor in program}
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for run in row_runs(*squared.shape):
            squares = squared[run]
            roots = np.sqrt(squares, out=None if needs_squares else squares)
            known: dict[tuple[int, float], FloatArray] = {}
            for program, block in zip(programs, blocks, strict=True):
                out = block[run]
                for how, function, _, scale in program:
                    values = known.get((function, scale))
                    if values is None:
                        values = out if how == FIRST else np.empty(out.shape)
                        of = squares if function == GAUSSIAN else roots
                        np.multiply(of, scale if function == ROOT else scale * log(2), out=values)
                        if function != ROOT:
                            np.exp(values, out=values)
                    if how != FIRST:
                        (np.multiply if how == TIMES else np.add)(out, values, out=out)
                    elif values is not out:
                        out[...] = values
                if len(program) == 1:
                    known[function, scale] = out


def evaluate(
    kernels: Sequence[FittedKernel], run: slice, out: Sequence[FloatArray] = ()
) -> list[FloatArray]:
    """Return values of a run of rows with all rows, by kernel; 0 on the diagonal.

    Kernels of the same points share their distances. A program may differ from its kernel by row
    effects, which no dependence sees.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    run : slice
    out : sequence of ndarray, optional
        Where the values of the first kernels go; by default all are new arrays.
    """
    shape = run.stop - run.start, len(kernels[0])
    blocks = [*out, *(np.empty(shape) for _ in kernels[len(out) :])]
    same: dict[int, list[tuple[Sequence[Factor], FloatArray]]] = {}
    for kernel, block in zip(kernels, blocks, strict=True):
        program = kernel.program() or ()
        sources = {id(factor.points) for factor in program}
        if len(sources) == 1 and program[0].function != EQUAL:
            same.setdefault(sources.pop(), []).append((program, block))
        else:
            block[...] = kernel(run, slice(0, len(kernel)))
    for members in same.values():
        programs, own = zip(*members, strict=True)
        points = programs[0][0].points
        fill_values(programs, squared_distances(points[run], points), own)
    for block in blocks:
        np.fill_diagonal(block[:, run], 0.0)
    return blocks


class Program(NamedTuple):
    """Kernels of the same rows, for compiled loops.

    Attributes
    ----------
    left, right : ndarray, shapes (m, width) and (width, m)
        ``-2x, |x|², 1`` and ``x, 1, |x|²`` of every set of points, side by side: the product of a
        row and a column is a squared distance.
    sources : ndarray of int, shape (n_sources, 2)
        First and last column of each set of points.
    factors : ndarray of int, shape (n_factors, 4)
        Kernel, source, function and how it joins the factors before.
    scales : ndarray, shape (n_factors,)
    n_kernels : int
    """

    left: FloatArray
    right: FloatArray
    sources: IntArray
    factors: IntArray
    scales: FloatArray
    n_kernels: int


def make_program(
    kernels: Sequence[FittedKernel], rows: slice | IntArray = slice(None)
) -> Program | None:
    """Return the tables of some kernels on some rows, or None if one is not a program."""
    programs = [kernel.program() for kernel in kernels]
    left, right, factors, scales = [], [], [], []
    sources: list[tuple[int, int]] = []
    known: dict[int, int] = {}
    at = 0
    for k, program in enumerate(programs):
        if program is None:
            return None
        for factor in program:
            if id(factor.points) not in known:
                x = np.asarray(factor.points[rows], dtype=np.float64)
                with np.errstate(over="ignore"):
                    norms, ones = np.einsum("ij,ij->i", x, x), np.ones(len(x))
                known[id(factor.points)] = len(sources)
                left.append(np.column_stack([-2.0 * x, norms, ones]))
                right.append(np.vstack([x.T, ones, norms]))
                sources.append((at, at + x.shape[1]))
                at += x.shape[1] + 2
            factors.append((k, known[id(factor.points)], factor.function, factor.how))
            scales.append(factor.scale)
    tables = np.array(sources), np.array(factors), np.array(scales)
    return Program(np.hstack(left), np.ascontiguousarray(np.vstack(right)), *tables, len(kernels))
