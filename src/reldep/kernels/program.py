"""A kernel as a short program: functions of squared distances, joined from left to right.

Compiled code evaluates any kernel that has this form, from the tables of :func:`make_program`;
:func:`evaluate` evaluates it with NumPy. A sum of Gaussians, numbers times labels, and the slope of
a kernel in its bandwidth are all programs. Kernels of the same points share their distances.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.kernels.points import row_runs, squared_distances

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# The functions of a squared distance s, with a scale c: 2^(c s), 2^(c √s), c √s, and c for s > 0
# but 1 for s = 0.
GAUSSIAN, LAPLACE, ROOT, EQUAL = range(4)
OF_ROOTS = (LAPLACE, ROOT)

# How the values of a factor are joined to those of the factors before it.
FIRST, TIMES, PLUS = range(3)


@dataclass(frozen=True, eq=False)
class Factor:
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


# How, function and scale of a factor whose distances are known.
Term = tuple[int, int, float]


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
            moved = [Factor(how, f.function, f.points, f.scale) for f in rest[:1]]
            return [*start, *moved, *rest[1:]]
    return None


def joined_values(
    terms: Sequence[Term], distances: FloatArray, *, is_root: bool = False
) -> FloatArray:
    """Compute the values of terms of the same distances, in place.

    Parameters
    ----------
    terms : sequence of (how, function, scale)
    distances : ndarray, shape (rows, columns)
        Squared distances, overwritten by the values.
    is_root : bool, default False
        Whether these are the distances themselves, for functions of these only.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for run in row_runs(*distances.shape):
            part = distances[run]
            # The last term overwrites the distances; the others need them.
            before: FloatArray | None = None
            for place, (how, function, scale) in enumerate(terms, 1):
                values = part if place == len(terms) else part.copy()
                if function in OF_ROOTS and not is_root:
                    np.sqrt(values, out=values)
                if function == EQUAL:
                    values[...] = np.where(values == 0, 1.0, scale)
                else:
                    values *= scale if function == ROOT else scale * log(2)
                if function in (GAUSSIAN, LAPLACE):
                    np.exp(values, out=values)
                if before is not None:
                    (np.multiply if how == TIMES else np.add)(before, values, out=values)
                before = values
    return distances


def without_diagonal(block: FloatArray, run: slice) -> FloatArray:
    """Set the diagonal of the whole matrix to 0 in a run of its rows, in place."""
    own = np.arange(run.start, run.stop)
    block[own - run.start, own] = 0.0
    return block


def evaluate(kernels: Sequence[FittedKernel], run: slice) -> Iterator[FloatArray]:
    """Return, kernel by kernel, values of a run of rows with all rows; 0 on the diagonal.

    The caller may write into them. A program may differ from its kernel by row effects, which no
    dependence sees.
    """
    # The programs are kept, so that no other points can take the identity of theirs.
    programs = [kernel.program() for kernel in kernels]
    sources = [_only_points(program) for program in programs]
    left = Counter(map(id, sources))
    # A root is taken once for a kernel, its slope and its score, where none needs the square.
    squares = {
        id(points)
        for program, points in zip(programs, sources, strict=True)
        if any(factor.function not in OF_ROOTS for factor in program or ())
    }
    known: dict[int, FloatArray] = {}
    for kernel, program, points in zip(kernels, programs, sources, strict=True):
        if program is None or points is None:
            block = np.asarray(kernel(run, slice(0, len(kernel))), dtype=np.float64)
        else:
            at = id(points)
            is_root = at not in squares
            if at not in known:
                known[at] = squared_distances(points[run], points)
                if is_root:
                    np.sqrt(known[at], out=known[at])
            left[at] -= 1
            distances = known[at].copy() if left[at] else known.pop(at)
            terms = [(one.how, one.function, one.scale) for one in program]
            block = joined_values(terms, distances, is_root=is_root)
        yield without_diagonal(block, run)


def _only_points(program: list[Factor] | None) -> FloatArray | None:
    """Return the points of a program whose factors share them; None for labels."""
    if program is None or program[0].function == EQUAL:
        return None
    points = program[0].points
    if len(program) > 1 and any(factor.points is not points for factor in program):
        return None
    return points


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
    left, right = [], []
    sources: list[tuple[int, int]] = []
    factors, scales = [], []
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
    return Program(
        np.ascontiguousarray(np.hstack(left)),
        np.ascontiguousarray(np.vstack(right)),
        np.array(sources, dtype=np.int64),
        np.array(factors, dtype=np.int64),
        np.array(scales, dtype=np.float64),
        len(kernels),
    )
