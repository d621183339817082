"""Tiles: the sums of the two sweeps over the upper triangle, in pieces that add up.

Every engine that does not hold whole matrices is made of these functions. A
:class:`Sweeps` knows the kernels and what is wanted; ``sweeps.first(tiles)`` and
``sweeps.second(vectors, tiles)`` give plain arrays for any list of tiles, and the arrays of
different lists are simply added, on threads or on a cluster::

    sweeps = Sweeps.prepare(kernels, wanted)
    tiles = upper_tiles(sweeps.n, sweeps.tile_size)
    first = sweeps.first(tiles)                       # or a sum over parts of the list
    second = sweeps.second(sweeps.vectors(first), tiles)
    terms = sweeps.terms(first, second)

All of it is plain data and can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reldep.engine.blocks import BlockSums, Shifts, nanoseconds_of
from reldep.engine.sweeps.recipe import Between, CompiledSums, Draft, Recipe, suits_single_precision
from reldep.engine.terms import Pair, Terms, Wanted
from reldep.engine.threads import over_runs
from reldep.system import worth_compiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.blocks import Tile
    from reldep.engine.sweeps.recipe import Filler
    from reldep.kernels.base import FittedKernel

# Compiled code keeps to the cache by itself and only wants few calls, but enough tiles to deal
# out to threads; blocks that NumPy fills are larger than the cache anyway, and small ones let a
# job be stopped.
COMPILED_TILES = (256, 512, 1024)
COMPILED_TILES_A_SIDE = 16
BLOCK_TILE = 512

# Temporary blocks beside those that a thread fills.
TEMPORARY_BLOCKS = 4

# Nanoseconds on one core for adding a value, or a product of two, to a sum; and what single
# precision takes of the time of double.
SUM_VALUE = 0.5
SINGLE_SHARE = 0.5

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
    all_sums, crossed_sums : BlockSums or CompiledSums
        Of all kernels in the first sweep, and of those in `crossed` in the second.
    mixed : bool
        Whether the second sweep has single precision and shifts of its own.
    """

    names: tuple[str, ...]
    n: int
    wanted: Wanted
    all_sums: BlockSums | CompiledSums
    crossed_sums: BlockSums | CompiledSums
    mixed: bool = False

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
        precision : {"double", "mixed", "single"}
            Of the values that compiled code makes, see :class:`reldep.engine.Tiled`; sums are
            always double.
        compiled : bool, optional
            Whether to use compiled code; by default from 2,000 observations on, where numba
            can be imported.
        """
        names = wanted.names()
        used = [kernels[name] for name in names]
        n = len(used[0])
        if compiled is None:
            compiled = worth_compiling(n)
        crossed = _in_pairs(wanted.crossed_pairs(), names)
        mixed = compiled and precision == "mixed" and suits_mixed([kernels[x] for x in crossed])
        precision = "single" if compiled and precision == "single" else "double"
        shifts = Shifts.of(used, precision)

        def sums_of(chosen: Sequence[str], off: Shifts, precision: str) -> BlockSums | CompiledSums:
            fitted = tuple(kernels[name] for name in chosen)
            off = off.take([names.index(name) for name in chosen])
            if compiled:
                return CompiledSums(Recipe.of(fitted, precision), off)
            return BlockSums(fitted, off)

        if mixed:
            effects = {names.index(name): level_effects(kernels[name]) for name in crossed}
            all_sums = sums_of(names, shifts.with_effects(effects), precision)
            crossed_sums = sums_of(crossed, shifts.in_single_precision(), "single")
            return cls(names, n, wanted, all_sums, crossed_sums, mixed=True)
        all_sums = sums_of(names, shifts, precision)
        same = crossed in (names, ())
        crossed_sums = all_sums if same else sums_of(crossed, shifts, precision)
        return cls(names, n, wanted, all_sums, crossed_sums)

    @property
    def n_given(self) -> int:
        """How many blocks a tile are filled by NumPy."""
        return len(self.all_sums.given)

    @property
    def tile_size(self) -> int:
        """The size of tiles that suits these kernels."""
        return tile_size(self.n, self.n_given)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The kernels of the second sweep; none if there is no second sweep."""
        return _in_pairs(self.wanted.crossed_pairs(), self.names)

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
        pairs = _numbered(self.wanted.product_pairs(), self.names)
        sums = np.zeros((len(self.names) + len(pairs), self.n))
        for batch, blocks in _filled(self.all_sums, tiles):
            self.all_sums.add_sums(batch, blocks, pairs, sums)
            if kept is not None and blocks.size:
                kept[batch[0].corner] = blocks
        return sums

    def vectors(self, first: FloatArray) -> FloatArray:
        """Pick from the finished first sweep what the second multiplies kernels by.

        These are the row sums of the kernels in `crossed`, minus their mean: what the mean adds
        is known without a second sweep.
        """
        chosen = first[[self.names.index(name) for name in self.crossed]]
        return np.asarray(chosen - chosen.mean(axis=1, keepdims=True))

    def second(
        self, vectors: FloatArray, tiles: Iterable[Tile], kept: Kept | None = None
    ) -> FloatArray:
        """Multiply either kernel of each pair by the vector of the other, over some tiles.

        Parameters
        ----------
        vectors : ndarray, shape (n_crossed, n)
            ``sweeps.vectors(first)`` after all tiles are added up.
        tiles : iterable of Tile
        kept : dict, optional
            What `first` kept.

        Returns
        -------
        ndarray, shape (n_crossed_pairs, n)
            Of the tiles and their mirror images.
        """
        pairs = _numbered(self.wanted.crossed_pairs(), self.crossed)
        sums = np.zeros((len(pairs), self.n))
        same = [self.all_sums.given.index(filler) for filler in self.crossed_sums.given]
        for batch, blocks in _filled(self.crossed_sums, tiles, kept, same):
            self.crossed_sums.add_crossed(batch, blocks, pairs, vectors, sums)
        return sums

    def terms(self, first: FloatArray, second: FloatArray | None = None) -> Terms:
        """Name the finished sums.

        Parameters
        ----------
        first : ndarray
        second : ndarray, optional
            None where there is no second sweep.
        """
        shifts = self.all_sums.shifts
        row_sums = dict(zip(self.names, first, strict=False))
        products = dict(zip(self.wanted.product_pairs(), first[len(row_sums) :], strict=True))
        crossed = {} if second is None else self._crossed(row_sums, self.vectors(first), second)
        off = {name: shifts.off_row_means(i) for i, name in enumerate(self.names)}
        sizes, spreads = (
            dict(zip(self.names, found.tolist(), strict=True))
            for found in (shifts.sizes, shifts.spreads)
        )
        return Terms(self.n, row_sums, products, crossed, off, sizes, spreads=spreads)

    def _crossed(
        self, row_sums: Mapping[str, FloatArray], vectors: FloatArray, second: FloatArray
    ) -> dict[Pair, FloatArray]:
        """Finish ``K~l + L~k`` from what the second sweep gives of ``v = l - mean(l)``.

        ``K~l = K~v + mean(l) k``. Where the sweeps shift differently, the difference is added.
        """
        centred = dict(zip(self.crossed, vectors, strict=True))
        found = {}
        for (x, y), total in zip(self.wanted.crossed_pairs(), second, strict=True):
            k, l = row_sums[x], row_sums[y]  # noqa: E741
            whole = total + l.mean() * k + k.mean() * l
            if self.mixed:
                whole += self._reshifted(x, centred[y]) + self._reshifted(y, centred[x])
                # Σ K~l is k'l: what the second sweep has rounded differently moves no HSIC.
                whole += (2.0 * (k @ l) - whole.sum()) / self.n
            found[x, y] = whole
        return found

    def _reshifted(self, name: str, vector: FloatArray) -> FloatArray:
        """Add what the first sweep takes off a kernel and the second does not, times a vector.

        With ``K - f_i - f_j`` in the first, ``K - c`` in the second and ``Σv = 0``:
        ``Σ_j≠i (c - f_i - f_j) v_j = (2 f_i - c) v_i - f'v``.
        """
        shifts = self.all_sums.shifts
        i, j = self.names.index(name), self.crossed.index(name)
        f = shifts.effects[shifts.effect_of[i]]
        c = self.crossed_sums.shifts.constants[j]
        return np.asarray((2.0 * f - c) * vector - f @ vector)


# For fewer observations single precision saves no time, and its rounding averages out less.
MIXED_FROM = 6_000

# Observations from which the effects of rows are estimated.
LEVEL_ROWS = 256


def suits_mixed(kernels: Sequence[FittedKernel]) -> bool:
    """Whether the second sweep over these kernels may be in single precision."""
    is_large = len(kernels) > 0 and len(kernels[0]) >= MIXED_FROM
    return is_large and all(map(suits_single_precision, kernels))


def level_effects(kernel: FittedKernel) -> FloatArray:
    """Estimate the effects of rows from their means over some rows.

    Taken off, they leave row sums that are small, so that few digits of the second sweep matter.
    """
    between = Between.of(kernel)
    n = len(kernel)
    if between is None:
        raise NotImplementedError(f"{kernel.label} is not compiled.")
    others = between.points(np.linspace(0, n - 1, LEVEL_ROWS).astype(np.int64))
    means = np.empty(n)

    def fill(places: Iterable[slice]) -> int:
        for place in places:
            means[place] = between.means(between.points(place), others)
        return 1

    over_runs(fill, n, len(others))
    return np.asarray(means - 0.5 * means.mean())


@dataclass(frozen=True)
class Outline:
    """A job of two sweeps as a planner sees it.

    Attributes
    ----------
    n : int
    wanted : Wanted
    given : tuple of Points or FittedKernel
        What NumPy fills blocks of.
    compiled, again : float
        What compiled code takes for a value of every kernel, in the first sweep and the second.
    row_bytes : int
        What the columns that compiled code reads hold of each observation.
    """

    n: int
    wanted: Wanted
    given: tuple[Filler, ...]
    compiled: float
    again: float = 0.0
    row_bytes: int = 0

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
        crossed = [kernels[name] for name in _in_pairs(wanted.crossed_pairs(), wanted.names())]
        second, mixed = Draft.of(crossed), suits_mixed(crossed)
        again = second.nanoseconds * (SINGLE_SHARE if mixed else 1.0)
        row_bytes = 8 * len(draft.columns) + 4 * len(second.columns) * mixed
        return cls(n, wanted, tuple(draft.given), draft.nanoseconds, again, row_bytes)

    def working_memory(self, threads: int, tile: int | None = None) -> int:
        """Count the bytes that are held whatever the budget: sums, and blocks in work."""
        size = min(tile or tile_size(self.n, len(self.given)), self.n)
        # Each thread has a piece in work and one that waits to be added.
        sums = 8 * self.n * self.wanted.n_sums() * (2 * threads + 1)
        n_blocks = len(self.given) + TEMPORARY_BLOCKS if self.given else 0
        return sums + 8 * threads * n_blocks * size**2 + self.n * self.row_bytes

    @property
    def kept_memory(self) -> int:
        """Count the bytes of all blocks that the second sweep could use again."""
        return 8 * len(self.given) * self.n**2 // 2 if self.wanted.crossed_pairs() else 0

    def seconds(self, *, keeps: bool) -> float:
        """Estimate both sweeps over the upper triangle on one core."""
        n_sweeps = 2 if self.wanted.crossed_pairs() else 1
        value = SUM_VALUE * self.wanted.n_sums() + self.compiled + self.again
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


def _numbered(pairs: Sequence[Pair], names: Sequence[str]) -> IntArray:
    rows = [(names.index(x), names.index(y)) for x, y in pairs]
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
