"""Blocks: the kernels of one tile, with distances computed once for all that share them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep._variables import FloatArray
    from reldep.kernels.base import FittedKernel


def fill_blocks(kernels: Sequence[FittedKernel], rows: slice, cols: slice) -> list[FloatArray]:
    """Fill one block a kernel.

    Kernels on the same points (a kernel and its derivative, say) differ in a function of
    the distance only, and the distance is the costly part.
    """
    users: dict[int, list[int]] = {}
    for i, kernel in enumerate(kernels):
        if isinstance(kernel, FittedRadial):
            users.setdefault(id(kernel.points), []).append(i)
    blocks: dict[int, FloatArray] = {}
    for sharing in users.values():
        blocks |= _fill_radial(kernels, sharing, rows, cols)
    return [blocks[i] if i in blocks else kernel(rows, cols) for i, kernel in enumerate(kernels)]


def _fill_radial(
    kernels: Sequence[FittedKernel], sharing: Sequence[int], rows: slice, cols: slice
) -> dict[int, FloatArray]:
    radial = {i: kernel for i in sharing if isinstance(kernel := kernels[i], FittedRadial)}
    points = radial[sharing[0]].points
    squared = points.squared_distances(rows, cols)
    last = sharing[-1]
    # A profile writes in place, so all but the last work on a copy.
    return {
        i: kernel.profile(squared if i == last else squared.copy()) for i, kernel in radial.items()
    }
