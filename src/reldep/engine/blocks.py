"""Sums of tiles with NumPy alone: whole blocks of kernel values, any kernel.

It stands in where numba is not installed or not worth loading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.tiles import Tile
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Fill the blocks of all kernels of a tile, then sum them.

    Attributes
    ----------
    kernels : tuple of FittedKernel
    shifts : ndarray, shape (n_kernels,)
    """

    kernels: tuple[FittedKernel, ...]
    shifts: FloatArray

    @property
    def given(self) -> tuple[FittedKernel, ...]:
        """What is filled before the sums of a tile: all kernels."""
        return self.kernels

    @property
    def itemsize(self) -> int:
        """Bytes of an entry of a block."""
        return 8

    def fill(self, tile: Tile) -> FloatArray:
        """Fill, shift, and leave of a diagonal tile the entries above the diagonal."""
        blocks = np.empty((len(self.kernels), *tile.shape))
        for i, block in fill_blocks(self.kernels, tile.rows, tile.cols):
            np.subtract(block, self.shifts[i], out=blocks[i])
        if tile.is_diagonal:
            blocks[:, *np.tril_indices(len(blocks[0]))] = 0.0
        return blocks

    def add_sums(
        self, tiles: Iterable[Tile], blocks: FloatArray, pairs: IntArray, sums: FloatArray
    ) -> None:
        """Add row sums of kernels, then of products of kernels."""
        for tile in tiles:
            for total, block in zip(sums, blocks, strict=False):
                total[tile.rows] += block.sum(axis=1)
                total[tile.cols] += block.sum(axis=0)
            for total, (x, y) in zip(sums[len(blocks) :], pairs, strict=True):
                total[tile.rows] += np.einsum("ij,ij->i", blocks[x], blocks[y])
                total[tile.cols] += np.einsum("ij,ij->j", blocks[x], blocks[y])

    def add_multiplied(
        self,
        tiles: Iterable[Tile],
        blocks: FloatArray,
        multiplied: IntArray,
        vectors: FloatArray,
        sums: FloatArray,
    ) -> None:
        """Add kernels times vectors."""
        for tile in tiles:
            for total, (v, u) in zip(sums, multiplied, strict=True):
                total[tile.rows] += blocks[v] @ vectors[u, tile.cols]
                total[tile.cols] += vectors[u, tile.rows] @ blocks[v]


def fill_blocks(
    kernels: Sequence[FittedKernel], rows: slice, cols: slice
) -> Iterable[tuple[int, FloatArray]]:
    """Fill one block a kernel, and give each with the number of its kernel.

    Kernels on the same points (a kernel and its derivative, say) differ in a function of
    the distance only, and the distance is the costly part.
    """
    sharing: dict[int, list[tuple[int, FittedRadial]]] = {}
    for i, kernel in enumerate(kernels):
        if isinstance(kernel, FittedRadial):
            sharing.setdefault(id(kernel.points), []).append((i, kernel))
        else:
            yield i, kernel(rows, cols)
    for radial in sharing.values():
        points: Points = radial[0][1].points
        squared = points.squared_distances(rows, cols)
        for i, kernel in radial[1:]:
            # A profile writes in place, so all but one work on a copy.
            yield i, kernel.profile(squared.copy())
        yield radial[0][0], radial[0][1].profile(squared)
