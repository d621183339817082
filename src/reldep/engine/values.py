"""Kernel values by NumPy: kernels of the same points share their distances."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.program import EQUAL, LAPLACE, ROOT, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.program import Factor

# Up to this many columns differences are taken; beyond, one matrix product is faster (measured).
FEW_COLUMNS = 3

# Below this share of |x|² + |y|² a squared distance by a product has lost half its digits.
CANCELLED = 1e-7

# Largest squared distance: its root times a value that has decayed to 0 is still 0.
FARTHEST = 1e300

# Values that are computed at a time, so that they stay in the second-level cache (256 KB).
VALUES_AT_A_TIME = 32_768


def fill(
    kernels: Sequence[FittedKernel],
    rows: slice,
    cols: slice,
    known: dict[int, FloatArray] | None = None,
) -> Iterator[tuple[int, FloatArray]]:
    """Return a block of values of each kernel, with its number; the caller may write into it.

    A program may differ from its kernel by row effects, which no dependence sees.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    rows, cols : slice
    known : dict of int to ndarray, optional
        Squared distances by the identity of their points: used, and filled for a later call.
    """
    sharing: dict[int, list[tuple[int, list[Factor]]]] = {}
    for i, kernel in enumerate(kernels):
        program = kernel.program()
        sources = {id(factor.points) for factor in program or ()}
        if program is None or len(sources) != 1 or program[0].function == EQUAL:
            yield i, np.asarray(kernel(rows, cols), dtype=np.float64)
        else:
            sharing.setdefault(sources.pop(), []).append((i, program))
    for source, members in sharing.items():
        points = members[0][1][0].points
        squared = None if known is None else known.get(source)
        if squared is None:
            squared = squared_distances(points[rows], points[cols])
        if known is not None:
            known[source] = squared
        kept = members if known is not None else members[1:]
        for i, program in kept:
            yield i, evaluate(program, squared.copy())
        if known is None:
            yield members[0][0], evaluate(members[0][1], squared)


def squared_distances(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return squared distances between the rows of x and those of y, at most FARTHEST.

    Of many columns they come from a matrix product; those that cancelled are computed again.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if x.shape[1] <= FEW_COLUMNS:
            squared = np.subtract.outer(x[:, 0], y[:, 0])
            np.square(squared, out=squared)
            if x.shape[1] > 1:
                one = np.empty_like(squared)
                for c in range(1, x.shape[1]):
                    np.subtract.outer(x[:, c], y[:, c], out=one)
                    squared += np.square(one, out=one)
        else:
            norms = np.add.outer(np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y))
            squared = norms - 2.0 * (x @ y.T)
            i, j = np.nonzero(~(squared >= CANCELLED * norms))
            for start in range(0, len(i), VALUES_AT_A_TIME):
                part = slice(start, start + VALUES_AT_A_TIME)
                apart = x[i[part]] - y[j[part]]
                squared[i[part], j[part]] = np.einsum("ij,ij->i", apart, apart)
        return np.minimum(squared, FARTHEST, out=squared)


def evaluate(program: Sequence[Factor], squared: FloatArray) -> FloatArray:
    """Overwrite squared distances with the values of a program of one set of points."""
    step = max(1, VALUES_AT_A_TIME // max(1, squared.shape[-1]))
    with np.errstate(under="ignore"):
        for start in range(0, len(squared), step):
            part = squared[start : start + step]
            if len(program) == 1:
                _apply(program[0], part)
                continue
            values = _apply(program[0], part.copy())
            for factor in program[1:]:
                combine = np.multiply if factor.how == TIMES else np.add
                combine(values, _apply(factor, part.copy()), out=values)
            part[...] = values
    return squared


def _apply(factor: Factor, squared: FloatArray) -> FloatArray:
    if factor.function == EQUAL:
        squared[...] = np.where(squared == 0, 1.0, factor.scale)
        return squared
    if factor.function in (LAPLACE, ROOT):
        np.sqrt(squared, out=squared)
    if factor.function == ROOT:
        squared *= factor.scale
        return squared
    squared *= factor.scale * log(2)
    return np.exp(squared, out=squared)
