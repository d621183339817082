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

from reldep.engine.blocks import BlockSums, Shifts, nanoseconds_of
from reldep.engine.recipe import CompiledSums, Draft, Recipe
from reldep.engine.terms import Pair, Terms, Wanted
from reldep.kernels.machine import worth_compiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.blocks import Tile
    from reldep.engine.recipe import Filler
    from reldep.kernels.base import FittedKernel

# Compiled code keeps to the cache by itself and only wants few calls, but enough tiles to deal
# out to threads; blocks that NumPy fills are larger than the cache anyway, and small ones let a
# job be stopped.
COMPILED_TILES = (256, 512, 1024)
COMPILED_TILES_A_SIDE = 16
BLOCK_TILE = 512

# Temporary blocks beside those that a thread fills.
TEMPORARY_BLOCKS = 4

# Nanoseconds on one core for adding a value, or a product of two, to a sum.
SUM_VALUE = 0.5

# Blocks that the first sweep filled, by the corner of their tile, for the second.
Kept: TypeAlias = "dict[tuple[int, int], FloatArray]"


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
    shifts : Shifts
        What is taken off each kernel before anything is summed.
    """

    names: tuple[str, ...]
    n: int
    wanted: Wanted
    shifts: Shifts
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
        shifted: bool = True,
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
        shifted : bool, default True
            Whether to take off shifts, which sums over many rows need to keep their digits.
        """
        names = wanted.names()
        n = len(kernels[names[0]])
        if compiled is None:
            compiled = worth_compiling(n)
        in_compiled_code = precision if compiled else "double"
        chosen_kernels = [kernels[name] for name in names]
        shifts = Shifts.none(chosen_kernels)
        if shifted:
            shifts = Shifts.of(chosen_kernels, in_compiled_code)

        def sums_of(chosen: Sequence[str]) -> BlockSums | CompiledSums:
            used = tuple(kernels[name] for name in chosen)
            off = shifts.take([names.index(name) for name in chosen])
            if compiled:
                return CompiledSums(Recipe.of(used, precision), off)
            return BlockSums(used, off)

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
        return tile_size(self.n, self.n_given)

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
        shifts = {name: self.shifts.off_row_means(i) for i, name in enumerate(self.names)}
        sizes = dict(zip(self.names, self.shifts.sizes.tolist(), strict=True))
        return Terms(self.n, row_sums, products, crossed, shifts, sizes)


@dataclass(frozen=True)
class Outline:
    """A job of two sweeps as a planner sees it.

    Attributes
    ----------
    n : int
    wanted : Wanted
    given : tuple of Points or FittedKernel
        What NumPy fills blocks of.
    compiled : float
        What compiled code takes for a value of every kernel.
    """

    n: int
    wanted: Wanted
    given: tuple[Filler, ...]
    compiled: float

    @classmethod
    def of(
        cls, kernels: Mapping[str, FittedKernel], wanted: Wanted, *, compiled: bool | None = None
    ) -> Outline:
        """Look at the kernels as :meth:`Sweeps.prepare` does, without touching the data."""
        used = [kernels[name] for name in wanted.names()]
        n = len(used[0])
        if not (worth_compiling(n) if compiled is None else compiled):
            return cls(n, wanted, tuple(used), 0.0)
        draft = Draft.of(used)
        return cls(n, wanted, tuple(draft.given), draft.nanoseconds)

    def working_memory(self, threads: int, tile: int | None = None) -> int:
        """Count the bytes that are held whatever the budget: sums, and blocks in work."""
        size = min(tile or tile_size(self.n, len(self.given)), self.n)
        # Each thread has a piece in work and one that waits to be added.
        sums = 8 * self.n * self.wanted.n_sums() * (2 * threads + 1)
        n_blocks = len(self.given) + TEMPORARY_BLOCKS if self.given else 0
        return sums + 8 * threads * n_blocks * size**2

    @property
    def kept_memory(self) -> int:
        """Count the bytes of all blocks that the second sweep could use again."""
        return 8 * len(self.given) * self.n**2 // 2 if self.wanted.crossed_pairs() else 0

    def seconds(self, *, keeps: bool) -> float:
        """Estimate both sweeps over the upper triangle on one core."""
        n_sweeps = 2 if self.wanted.crossed_pairs() else 1
        value = SUM_VALUE * self.wanted.n_sums() + n_sweeps * self.compiled
        value += sum(map(nanoseconds_of, self.given)) * (1 if keeps else n_sweeps)
        return value * self.n**2 / 2 * 1e-9


def tile_size(n: int, n_given: int) -> int:
    """Choose the size of tiles for kernels of which NumPy fills so many blocks."""
    if n_given:
        return BLOCK_TILE
    wanted = n / COMPILED_TILES_A_SIDE
    return next((size for size in COMPILED_TILES if size >= wanted), COMPILED_TILES[-1])


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
