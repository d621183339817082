"""Tiles: the sums of the two sweeps over the upper triangle, in pieces that add up.

Every engine that does not hold whole matrices is made of these functions. A
:class:`Sweeps` knows the kernels and what is wanted; ``sweeps.first(tiles)`` and
``sweeps.second(row_sums, tiles)`` give plain arrays for any list of tiles, and the arrays of
different lists are simply added, on threads or on a cluster::

    sweeps = Sweeps.prepare(kernels, wanted)
    tiles = upper_tiles(sweeps.n, sweeps.tile_size)
    first = sweeps.first(tiles)                       # or a sum over parts of the list
    second = sweeps.second(sweeps.row_sums(first), tiles)
    terms = sweeps.terms(first, second)

All of it is plain data and can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reldep.engine.blocks import BlockSums
from reldep.engine.compiled import CompiledSums
from reldep.engine.recipe import Recipe
from reldep.engine.terms import Pair, Terms, Wanted
from reldep.kernels.machine import worth_compiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# Compiled code keeps to the cache by itself and only wants few calls, but enough tiles to deal
# out to threads; blocks that NumPy fills are larger than the cache anyway, and small ones let a
# job be stopped.
COMPILED_TILES = (256, 512, 1024)
COMPILED_TILES_A_SIDE = 16
BLOCK_TILE = 512

# The shift is estimated from blocks between this many short runs of observations.
SHIFT_RUNS = 8
SHIFT_RUN_LENGTH = 8

# Blocks that the first sweep filled, by the corner of their tile, for the second.
Kept: TypeAlias = "dict[tuple[int, int], FloatArray]"


@dataclass(frozen=True, eq=False)
class Tile:
    """A block of the upper triangle: the entries (i, j) of rows × cols with i < j count."""

    rows: slice
    cols: slice

    @property
    def corner(self) -> tuple[int, int]:
        """The first row and the first column."""
        return self.rows.start, self.cols.start

    @property
    def is_diagonal(self) -> bool:
        """Whether the tile lies on the diagonal, so that only its upper half counts."""
        return bool(self.rows.start == self.cols.start)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.rows.stop - self.rows.start, self.cols.stop - self.cols.start

    @property
    def n_entries(self) -> int:
        """The number of entries of the whole block."""
        height, width = self.shape
        return height * width


def upper_tiles(n: int, size: int) -> list[Tile]:
    """Cover the upper triangle of an n×n matrix by square tiles, ragged at the end."""
    runs = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    return [Tile(rows, cols) for i, rows in enumerate(runs) for cols in runs[i:]]


@dataclass(frozen=True, eq=False)
class Sweeps:
    """The kernels, what is wanted of them, and the two sweeps that give it.

    Attributes
    ----------
    names : tuple of str
        The kernels that are needed, in the order of the row sums.
    n : int
        The number of observations.
    wanted : Wanted
    shifts : mapping of str to float
        About the mean of each kernel; subtracted before anything is summed.
    """

    names: tuple[str, ...]
    n: int
    wanted: Wanted
    shifts: Mapping[str, float]
    all_sums: BlockSums | CompiledSums
    crossed_sums: BlockSums | CompiledSums

    @classmethod
    def prepare(
        cls,
        kernels: Mapping[str, FittedKernel],
        wanted: Wanted,
        *,
        precision: str = "double",
        compiled: bool | None = None,
    ) -> Sweeps:
        """Choose the kernels that are needed and estimate their shifts.

        Parameters
        ----------
        kernels : mapping of str to FittedKernel
        wanted : Wanted
        precision : {"double", "single"}
            Of the values that compiled code makes; sums are always double.
        compiled : bool, optional
            Whether to use compiled code; by default from 2,000 observations on, where numba
            can be imported.
        """
        names = wanted.names()
        n = len(kernels[names[0]])
        if compiled is None:
            compiled = worth_compiling(n)
        shifts = {name: estimate_mean(kernels[name]) for name in names}
        if compiled and precision == "single":
            # The shift that is reported must be the one that is subtracted.
            shifts = {name: float(np.float32(shift)) for name, shift in shifts.items()}

        def sums_of(chosen: Sequence[str]) -> BlockSums | CompiledSums:
            used = tuple(kernels[name] for name in chosen)
            constants = np.array([shifts[name] for name in chosen])
            if compiled:
                return CompiledSums(Recipe.of(used, precision), constants)
            return BlockSums(used, constants)

        all_sums = sums_of(names)
        crossed = _in_pairs(wanted.crossed_pairs(), names)
        crossed_sums = all_sums if crossed in (names, ()) else sums_of(crossed)
        return cls(names, n, wanted, shifts, all_sums, crossed_sums)

    @property
    def n_given(self) -> int:
        """How many blocks a tile are filled by NumPy."""
        return len(self.all_sums.given)

    @property
    def tile_size(self) -> int:
        """The size of tiles that suits these kernels."""
        if self.n_given:
            return BLOCK_TILE
        wanted = self.n / COMPILED_TILES_A_SIDE
        return next((size for size in COMPILED_TILES if size >= wanted), COMPILED_TILES[-1])

    @property
    def multiplied(self) -> tuple[Pair, ...]:
        """The products of the second sweep: kernel (first) times row sums (second)."""
        return self.wanted.multiplied()

    def first(self, tiles: Iterable[Tile], kept: Kept | None = None) -> FloatArray:
        """Sum kernels and products of kernels over some tiles.

        Parameters
        ----------
        tiles : iterable of Tile
        kept : dict, optional
            Takes the blocks that NumPy filled, for `second`.

        Returns
        -------
        ndarray, shape (n_kernels + n_product_pairs, n)
            Row sums ``K~ 1``, then ``(K~ ∘ L~) 1``, of the tiles and their mirror images.
        """
        pairs = _numbered(self.wanted.product_pairs(), self.names, self.names)
        sums = np.zeros((len(self.names) + len(pairs), self.n))
        for batch, blocks in _filled(self.all_sums, tiles):
            self.all_sums.add_sums(batch, blocks, pairs, sums)
            if kept is not None and blocks.size:
                kept[batch[0].corner] = blocks
        return sums

    def row_sums(self, first: FloatArray) -> FloatArray:
        """Pick from the finished first sweep what the second sweep needs."""
        return first[: len(self.names)]

    def second(
        self, row_sums: FloatArray, tiles: Iterable[Tile], kept: Kept | None = None
    ) -> FloatArray:
        """Multiply kernels by the row sums of their partners, over some tiles.

        Parameters
        ----------
        row_sums : ndarray, shape (n_kernels, n)
            Of the whole matrix: ``sweeps.row_sums(first)`` after all tiles are added up.
        tiles : iterable of Tile
        kept : dict, optional
            What `first` kept.

        Returns
        -------
        ndarray, shape (n_multiplied, n)
            ``K~ l`` for each of `multiplied`, of the tiles and their mirror images.
        """
        crossed = _in_pairs(self.wanted.crossed_pairs(), self.names)
        multiplied = _numbered(self.multiplied, crossed, self.names)
        sums = np.zeros((len(multiplied), self.n))
        if not len(multiplied):
            return sums
        same = [self.all_sums.given.index(filler) for filler in self.crossed_sums.given]
        for batch, blocks in _filled(self.crossed_sums, tiles, kept, same):
            self.crossed_sums.add_multiplied(batch, blocks, multiplied, row_sums, sums)
        return sums

    def terms(self, first: FloatArray, second: FloatArray) -> Terms:
        """Name the finished sums."""
        row_sums = dict(zip(self.names, self.row_sums(first), strict=True))
        products = dict(zip(self.wanted.product_pairs(), first[len(row_sums) :], strict=True))
        multiplied = dict(zip(self.multiplied, second, strict=True))
        crossed = {
            (x, y): (multiplied[x, y], multiplied[y, x]) for x, y in self.wanted.crossed_pairs()
        }
        return Terms(self.n, row_sums, products, crossed, self.shifts)


def estimate_mean(kernel: FittedKernel) -> float:
    """Estimate the mean off the diagonal from runs of observations spread over the data."""
    n = len(kernel)
    length = min(SHIFT_RUN_LENGTH, max(1, n // 2))
    starts = np.unique(np.linspace(0, n - length, SHIFT_RUNS).astype(int)).tolist()
    runs = [slice(start, start + length) for start in starts]
    blocks = [
        kernel(rows, cols)
        for i, rows in enumerate(runs)
        for cols in runs[i + 1 :]
        if rows.stop <= cols.start
    ]
    return float(np.mean([block.mean() for block in blocks]))


def _in_pairs(pairs: Sequence[Pair], names: Sequence[str]) -> tuple[str, ...]:
    used = {name for pair in pairs for name in pair}
    return tuple(name for name in names if name in used)


def _numbered(pairs: Sequence[Pair], first: Sequence[str], second: Sequence[str]) -> IntArray:
    rows = [(first.index(x), second.index(y)) for x, y in pairs]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _filled(
    sums: BlockSums | CompiledSums,
    tiles: Iterable[Tile],
    kept: Kept | None = None,
    same: Sequence[int] = (),
) -> Iterator[tuple[Sequence[Tile], FloatArray]]:
    """Go through the tiles with their blocks: one by one, or at once where there are none."""
    if not sums.given:
        yield list(tiles), np.empty((0, 0, 0), np.float32 if sums.itemsize == 4 else np.float64)
        return
    for tile in tiles:
        if kept is None or tile.corner not in kept:
            yield [tile], sums.fill(tile)
        else:
            blocks = kept[tile.corner]
            yield [tile], blocks if len(same) == len(blocks) else blocks[list(same)]
