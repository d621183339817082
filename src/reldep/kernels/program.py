"""A kernel as a short program: functions of squared distances, joined from left to right.

Compiled code evaluates any kernel that has this form, from the tables of :func:`make_program`;
:func:`evaluate` evaluates it with NumPy. A sum of Gaussians, numbers times labels, and the slope of
a kernel in its bandwidth are all programs. Kernels of the same points share their distances.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.kernels.points import row_runs, squared_distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# The functions of a squared distance s, with a scale c: 2^(c s), 2^(c √s), c √s, and c for s > 0
# but 1 for s = 0.
GAUSSIAN, LAPLACE, ROOT, EQUAL = range(4)

# How the values of a factor are joined to those of the factors before it.
FIRST, TIMES, PLUS = range(3)


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
