"""Kernels made ready for engines: values by NumPy, or tables for compiled loops.

Kernels of the same points share their distances either way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.engine.centred import without_diagonal
from reldep.kernels.points import squared_distances
from reldep.kernels.program import EQUAL, joined_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.program import Factor


def evaluate(kernels: Sequence[FittedKernel], run: slice) -> Iterator[FloatArray]:
    """Return, kernel by kernel, values of a run of rows with all rows; 0 on the diagonal.

    The caller may write into them. A program may differ from its kernel by row effects, which no
    dependence sees.
    """
    # The programs are kept, so that no other points can take the identity of theirs.
    programs = [kernel.program() for kernel in kernels]
    sources = [_only_points(program) for program in programs]
    left = Counter(map(id, sources))
    known: dict[int, FloatArray] = {}
    for kernel, program, points in zip(kernels, programs, sources, strict=True):
        if program is None or points is None:
            block = np.asarray(kernel(run, slice(0, len(kernel))), dtype=np.float64)
        else:
            at = id(points)
            if at not in known:
                known[at] = squared_distances(points[run], points)
            left[at] -= 1
            squared = known[at].copy() if left[at] else known.pop(at)
            block = joined_values([(one.how, one.function, one.scale) for one in program], squared)
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
