"""Kernel values by NumPy: kernels of the same points share their distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.points import squared_distances
from reldep.kernels.program import EQUAL, joined_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.program import Factor


def fill(
    kernels: Sequence[FittedKernel],
    rows: slice,
    cols: slice,
    known: dict[int, tuple[FloatArray, FloatArray]] | None = None,
) -> Iterator[tuple[int, FloatArray]]:
    """Return a block of values of each kernel, with its number; the caller may write into it.

    A program may differ from its kernel by row effects, which no dependence sees.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    rows, cols : slice
    known : dict of int to (points, squared distances), optional
        By the identity of the points: used, and filled for a later call. The points are kept with
        them, since the identity of an array that is gone may become that of another.
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
        _, squared = (None, None) if known is None else known.get(source, (None, None))
        if squared is None:
            squared = squared_distances(points[rows], points[cols])
        if known is not None:
            known[source] = points, squared
        kept = members if known is not None else members[1:]
        for i, program in kept:
            yield i, _values(program, squared.copy())
        if known is None:
            yield members[0][0], _values(members[0][1], squared)


def _values(program: Sequence[Factor], squared: FloatArray) -> FloatArray:
    """Overwrite squared distances with the values of a program of one set of points."""
    return joined_values([(part.how, part.function, part.scale) for part in program], squared)
