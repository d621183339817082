"""Blocks: tiles of the upper triangle, what is taken off their values, and sums with NumPy alone.

The NumPy path takes any kernel. It stands in where numba is not installed or not worth loading.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points

# The mean of a kernel is estimated from blocks between this many short runs of observations, and
# the effects of rows from their values with these observations.
REFERENCE_RUNS = 8
REFERENCE_RUN_LENGTH = 8

# A kernel that does not know what its values cost is tried out for so many seconds.
TRIAL_SECONDS = 0.002


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
class Shifts:
    """What is taken off the values of some kernels before anything is summed.

    A constant is enough for values in [0, 1]. Where values have no bound, one far observation
    would drown the others in the sums of its rounding; there each row has an effect of its own,
    and ``f_i + f_j`` is taken off. Neither changes an HSIC.

    Attributes
    ----------
    constants : ndarray, shape (n_kernels,)
    effect_of : ndarray of int, shape (n_kernels,)
        The row of `effects`; -1 for a kernel that has none.
    bounded : ndarray of int, shape (n_kernels,)
        1 for values in [0, 1], else 0.
    effects : ndarray, shape (n_effects, n)
    sizes, spreads : ndarray, shape (n_kernels,)
        The size of the values themselves, and of what is left of them.
    """

    constants: FloatArray
    effect_of: IntArray
    bounded: IntArray
    effects: FloatArray
    sizes: FloatArray
    spreads: FloatArray

    @classmethod
    def of(cls, kernels: Sequence[FittedKernel], precision: str = "double") -> Shifts:
        """Estimate the shifts of some kernels."""
        constants, sizes, spreads = (np.zeros(len(kernels)) for _ in range(3))
        numbers = np.full(len(kernels), -1)
        effects: list[FloatArray] = []
        for i, kernel in enumerate(kernels):
            sample = list(_sample(kernel))
            values = np.concatenate([block.ravel() for *_, block in sample])
            constants[i], sizes[i] = values.mean(), _root_mean_square(values)
            if kernel.in_unit_interval:
                spreads[i] = values.std()
                continue
            numbers[i], constants[i] = len(effects), 0.0
            effect = row_effects(kernel)
            effects.append(effect)
            left = [subtract_effects(block, effect[a], effect[b]).ravel() for a, b, block in sample]
            spreads[i] = _root_mean_square(np.concatenate(left))
            sizes[i] = max(sizes[i], 2.0 * np.abs(effect).mean())
        stacked = np.array(effects).reshape(-1, len(kernels[0]))
        found = cls(constants, numbers.astype(np.int64), _bounded(kernels), stacked, sizes, spreads)
        return found.in_single_precision() if precision == "single" else found

    def in_single_precision(self) -> Shifts:
        """Round them: the shift that is reported must be the one that is subtracted."""
        return replace(
            self,
            constants=self.constants.astype(np.float32).astype(np.float64),
            effects=self.effects.astype(np.float32).astype(np.float64),
        )

    def with_effects(self, effects: Mapping[int, FloatArray]) -> Shifts:
        """Take effects of rows off some kernels, by number, in place of constants."""
        constants, effect_of = self.constants.copy(), self.effect_of.copy()
        chosen = list(effects)
        constants[chosen] = 0.0
        effect_of[chosen] = len(self.effects) + np.arange(len(chosen))
        stacked = np.concatenate([self.effects, list(effects.values())])
        return replace(self, constants=constants, effect_of=effect_of, effects=stacked)

    def take(self, chosen: Sequence[int]) -> Shifts:
        """Keep those of some kernels."""
        numbers = list(chosen)
        return Shifts(
            self.constants[numbers],
            self.effect_of[numbers],
            self.bounded[numbers],
            self.effects,
            self.sizes[numbers],
            self.spreads[numbers],
        )

    def off_row_means(self, i: int) -> float | FloatArray:
        """Say what the shift of a kernel takes off the mean of each row over the others."""
        if self.effect_of[i] < 0:
            return float(self.constants[i])
        return off_row_means(self.effects[self.effect_of[i]])

    def subtract(self, i: int, block: FloatArray, rows: slice, cols: slice) -> FloatArray:
        """Take the shift of a kernel off a block, in place."""
        if self.effect_of[i] < 0:
            block -= self.constants[i]
            return block
        effect = self.effects[self.effect_of[i]]
        return subtract_effects(block, effect[rows], effect[cols])


def _bounded(kernels: Sequence[FittedKernel]) -> IntArray:
    return np.array([kernel.in_unit_interval for kernel in kernels], dtype=np.int64)


def subtract_effects(block: FloatArray, own: FloatArray, others: FloatArray) -> FloatArray:
    """Take ``f_i + f_j`` off a block, in place: the larger first, which loses no digit."""
    first, second = own[:, None], others[None, :]
    lowest, highest = min(own.min(), others.min()), max(own.max(), others.max())
    if lowest < 0 < highest:
        own_is_larger = np.abs(first) > np.abs(second)
        block -= np.where(own_is_larger, first, second)
        block -= np.where(own_is_larger, second, first)
        return block
    larger, smaller = (np.maximum, np.minimum) if lowest >= 0 else (np.minimum, np.maximum)
    effects = larger(first, second)
    block -= effects
    block -= smaller(first, second, out=effects)
    return block


def levelling_effects(sums: FloatArray) -> FloatArray:
    """Find the effects that leave row sums of 0, from the sums of rows without the diagonal.

    They solve ``Σ_j≠i (K_ij - f_i - f_j) = 0`` for all i. Rows are the last axis.
    """
    m = sums.shape[-1]
    total = sums.sum(axis=-1, keepdims=True)
    return np.asarray((sums - total / (2.0 * (m - 1))) / (m - 2))


def off_row_means(effect: FloatArray) -> FloatArray:
    """Say what ``f_i + f_j`` takes off the mean of each row over the others."""
    result: FloatArray = effect + (effect.sum() - effect) / (len(effect) - 1)
    return result


def _reference_runs(n: int) -> list[slice]:
    length = min(REFERENCE_RUN_LENGTH, max(1, n // 2))
    starts = np.unique(np.linspace(0, n - length, REFERENCE_RUNS).astype(int)).tolist()
    return [slice(start, start + length) for start in starts]


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _sample(kernel: FittedKernel) -> Iterator[tuple[slice, slice, FloatArray]]:
    """Give blocks of values off the diagonal, between runs of observations all over the data."""
    runs = _reference_runs(len(kernel))
    for i, rows in enumerate(runs):
        for cols in runs[i + 1 :]:
            if rows.stop <= cols.start:
                yield rows, cols, kernel(rows, cols)


def row_effects(kernel: FittedKernel) -> FloatArray:
    """Estimate the effect of each row: its median value with some observations.

    The median, for a far observation may be among those.
    """
    n = len(kernel)
    values = np.concatenate([kernel(run, slice(0, n)) for run in _reference_runs(n)])
    typical = np.median(values, axis=0)
    effects: FloatArray = typical - 0.5 * np.median(typical)
    return effects


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Fill the blocks of all kernels of a tile, then sum them.

    Attributes
    ----------
    kernels : tuple of FittedKernel
    shifts : Shifts
    """

    kernels: tuple[FittedKernel, ...]
    shifts: Shifts

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
            blocks[i] = self.shifts.subtract(i, block, tile.rows, tile.cols)
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

    def add_crossed(
        self,
        tiles: Iterable[Tile],
        blocks: FloatArray,
        pairs: IntArray,
        vectors: FloatArray,
        sums: FloatArray,
    ) -> None:
        """Add either kernel of each pair times the vector of the other."""
        for tile in tiles:
            for total, (x, y) in zip(sums, pairs, strict=True):
                for kernel, vector in ((x, y), (y, x)):
                    total[tile.rows] += blocks[kernel] @ vectors[vector, tile.cols]
                    total[tile.cols] += vectors[vector, tile.rows] @ blocks[kernel]


def fill_blocks(
    kernels: Sequence[FittedKernel], rows: slice, cols: slice
) -> Iterable[tuple[int, FloatArray]]:
    """Fill one block a kernel, and give each with the number of its kernel.

    Kernels on the same points (a kernel and its derivative, or one kernel with many bandwidths)
    differ in a function of the distance only, and the distance is the costly part.
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
            yield i, kernel.of_distances(squared.copy())
        yield radial[0][0], radial[0][1].of_distances(squared)


def nanoseconds_of(filler: Any) -> float:
    """Estimate what a value costs in a block on one core; try it out where nobody knows."""
    known: float | None = filler.nanoseconds
    if known is not None:
        return known
    n, size = len(filler), 4
    filler(slice(0, 1), slice(n - 1, n))
    while True:
        started = process_time()
        filler(slice(0, size), slice(n - size, n))
        seconds = process_time() - started
        if seconds > TRIAL_SECONDS or 2 * size > n // 2:
            return 1e9 * seconds / size**2
        size *= 2
