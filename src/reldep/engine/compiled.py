"""Sums of tiles by compiled code; what it cannot make itself is given to it in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.blocks import fill_blocks
from reldep.kernels.points import Points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.recipe import Recipe
    from reldep.engine.tiles import Tile
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class CompiledSums:
    """Follow a recipe, row by row in cache.

    Attributes
    ----------
    recipe : Recipe
    shifts : ndarray, shape (n_kernels,)
    """

    recipe: Recipe
    shifts: FloatArray

    @property
    def given(self) -> tuple[Points | FittedKernel, ...]:
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
        nothing, no_vectors = np.empty((0, 2), dtype=np.int64), np.empty((0, sums.shape[1]))
        self._sweep(blocks, pairs, nothing, no_vectors, tiles, sums)

    def add_multiplied(
        self,
        tiles: Sequence[Tile],
        blocks: FloatArray,
        multiplied: IntArray,
        vectors: FloatArray,
        sums: FloatArray,
    ) -> None:
        """Add kernels times vectors."""
        nothing = np.empty((0, 2), dtype=np.int64)
        self._sweep(blocks, nothing, multiplied, vectors, tiles, sums)

    def _sweep(
        self,
        blocks: FloatArray,
        pairs: IntArray,
        multiplied: IntArray,
        vectors: FloatArray,
        tiles: Sequence[Tile],
        sums: FloatArray,
    ) -> None:
        from reldep.engine.fills import sweep

        bounds = [(t.rows.start, t.rows.stop, t.cols.start, t.cols.stop) for t in tiles]
        arguments: list[Any] = [
            self.recipe.columns,
            blocks,
            *self.recipe.tables,
            self.shifts.astype(self.recipe.columns.dtype),
            pairs,
            multiplied,
            np.ascontiguousarray(vectors),
            np.array(bounds, dtype=np.int64).reshape(-1, 4),
            sums,
        ]
        # An array that came over a network is read-only, which would be another type to compile.
        sweep(*(a if a.flags.writeable else a.copy() for a in arguments))
