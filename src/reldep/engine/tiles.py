"""Tiles: the sums of the two sweeps over the upper triangle, in pieces that add up.

Every engine that does not hold whole matrices is made of these functions. A
:class:`Sweeps` knows the kernels and what is wanted; ``sweeps.first(tiles)`` and
``sweeps.second(row_sums, tiles)`` give plain arrays for any list of tiles, and the arrays of
different lists are simply added, on threads or on a cluster::

    sweeps = Sweeps.prepare(kernels, wanted)
    tiles = upper_tiles(sweeps.n, size)
    first = sweeps.first(tiles)                       # or a sum over parts of the list
    second = sweeps.second(sweeps.row_sums(first), tiles)
    terms = sweeps.terms(first, second)

All of it is plain data and can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.blocks import fill_blocks
from reldep.engine.terms import Pair, Terms, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep._variables import FloatArray
    from reldep.kernels.base import FittedKernel

# The shift is estimated from blocks between this many short runs of observations.
SHIFT_RUNS = 12
SHIFT_RUN_LENGTH = 8


@dataclass(frozen=True, eq=False)
class Tile:
    """A block of the upper triangle: the entries (i, j) of rows × cols with i < j count."""

    rows: slice
    cols: slice

    @property
    def is_diagonal(self) -> bool:
        """Whether the tile lies on the diagonal, so that only its upper half counts."""
        return bool(self.rows.start == self.cols.start)

    @property
    def n_entries(self) -> int:
        """The number of entries of the whole block."""
        height: int = self.rows.stop - self.rows.start
        width: int = self.cols.stop - self.cols.start
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
    kernels : mapping of str to FittedKernel
        Only those that are needed.
    wanted : Wanted
    shifts : mapping of str to float
        About the mean of each kernel; subtracted before anything is summed.
    """

    kernels: Mapping[str, FittedKernel]
    wanted: Wanted
    shifts: Mapping[str, float]

    @classmethod
    def prepare(cls, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Sweeps:
        """Choose the kernels that are needed and estimate their shifts."""
        needed = {name: kernels[name] for name in wanted.names()}
        shifts = {name: estimate_mean(kernel) for name, kernel in needed.items()}
        return cls(needed, wanted, shifts)

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(next(iter(self.kernels.values())))

    @property
    def multiplied(self) -> tuple[Pair, ...]:
        """The products of the second sweep: kernel (first) times row sums (second)."""
        both = [ordered for x, y in self.wanted.crossed_pairs() for ordered in ((x, y), (y, x))]
        return tuple(dict.fromkeys(both))

    def first(self, tiles: Sequence[Tile]) -> FloatArray:
        """Sum kernels and products of kernels over some tiles.

        Returns
        -------
        ndarray, shape (n_kernels + n_product_pairs, n)
            Row sums ``K~ 1``, then ``(K~ ∘ L~) 1``, of the tiles and their mirror images.
        """
        names = list(self.kernels)
        pairs = self.wanted.product_pairs()
        sums = np.zeros((len(names) + len(pairs), self.n))
        for tile in tiles:
            blocks = self._blocks(names, tile)
            for total, name in zip(sums, names, strict=False):
                total[tile.rows] += blocks[name].sum(axis=1)
                total[tile.cols] += blocks[name].sum(axis=0)
            for total, (x, y) in zip(sums[len(names) :], pairs, strict=True):
                total[tile.rows] += np.einsum("ij,ij->i", blocks[x], blocks[y])
                total[tile.cols] += np.einsum("ij,ij->j", blocks[x], blocks[y])
        return sums

    def row_sums(self, first: FloatArray) -> FloatArray:
        """Pick from the finished first sweep what the second sweep needs."""
        return first[: len(self.kernels)]

    def second(self, row_sums: FloatArray, tiles: Sequence[Tile]) -> FloatArray:
        """Multiply kernels by the row sums of their partners, over some tiles.

        Parameters
        ----------
        row_sums : ndarray, shape (n_kernels, n)
            Of the whole matrix: ``sweeps.row_sums(first)`` after all tiles are added up.
        tiles : sequence of Tile

        Returns
        -------
        ndarray, shape (n_multiplied, n)
            ``K~ l`` for each of `multiplied`, of the tiles and their mirror images.
        """
        vectors = dict(zip(self.kernels, row_sums, strict=True))
        sums = np.zeros((len(self.multiplied), self.n))
        names = list(dict.fromkeys(name for name, _ in self.multiplied))
        for tile in tiles:
            blocks = self._blocks(names, tile)
            for total, (name, partner) in zip(sums, self.multiplied, strict=True):
                total[tile.rows] += blocks[name] @ vectors[partner][tile.cols]
                total[tile.cols] += vectors[partner][tile.rows] @ blocks[name]
        return sums

    def terms(self, first: FloatArray, second: FloatArray) -> Terms:
        """Name the finished sums."""
        row_sums = dict(zip(self.kernels, self.row_sums(first), strict=True))
        products = dict(zip(self.wanted.product_pairs(), first[len(row_sums) :], strict=True))
        multiplied = dict(zip(self.multiplied, second, strict=True))
        crossed = {
            (x, y): (multiplied[x, y], multiplied[y, x]) for x, y in self.wanted.crossed_pairs()
        }
        return Terms(self.n, row_sums, products, crossed, self.shifts)

    def _blocks(self, names: Sequence[str], tile: Tile) -> dict[str, FloatArray]:
        """Fill, shift, and leave of a diagonal tile the entries above the diagonal."""
        blocks = fill_blocks([self.kernels[name] for name in names], tile.rows, tile.cols)
        for block, name in zip(blocks, names, strict=True):
            block -= self.shifts[name]
            if tile.is_diagonal:
                block[np.tril_indices(len(block))] = 0.0
        return dict(zip(names, blocks, strict=True))


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
