"""The table of HSICs of blocks of rows: all that the blocks engine keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Pair, canonical, centre
from reldep.kernels.base import FittedKernel
from reldep.kernels.distances import evaluate
from reldep.system import seconds_in_words


class Block(NamedTuple):
    """Rows of kernels and, where rows depend on each other, the units of these rows."""

    kernels: Sequence[FittedKernel]
    rows: IntArray
    units: IntArray | None = None


class Row(NamedTuple):
    """What a block gives: a row of the table.

    Attributes
    ----------
    hsics : ndarray, shape (n_pairs,)
    n : int
        The rows of the block.
    split : ndarray, shape (n_pairs,), or None
        How far HSICs averaged over halves are from those of the block.
    sums, counts : ndarray, shapes (n_units, n_pairs) and (n_units,), or None
        Pseudo-values summed by unit, and the rows of each unit.
    """

    hsics: FloatArray
    n: int
    split: FloatArray | None = None
    sums: FloatArray | None = None
    counts: IntArray | None = None


@dataclass(frozen=True, eq=False)
class BlockTable:
    """HSICs of blocks of rows.

    Attributes
    ----------
    hsics : ndarray, shape (n_blocks, n_pairs)
        The unbiased HSICs of every block.
    sizes : ndarray of int, shape (n_blocks,)
        The rows of each block.
    pairs : tuple of (str, str)
        Which column belongs to which pair.
    unit_hsics : ndarray, shape (n_units, n_pairs), or None
        Where rows depend on each other: the mean pseudo-values of the units that vary
        independently.
    unit_sizes : ndarray of int, shape (n_units,), or None
    n_rows : int
        The rows that were there: more than those of all blocks where clusters are capped or the
        work was interrupted.
    n_planned : int
        The blocks that there would have been without an interrupt.
    seconds : float
        About how long all pairs of rows would take; 0 where they are no way out.
    splits : ndarray, shape (n_split, n_pairs), or None
        For some blocks, how far HSICs averaged over halves are from that of the block: their mean
        square is the variance of the second component of a block.
    each : callable or None
        Where rows depend on each other: returns what a function makes of every block, for
        :meth:`unit_products`.
    """

    hsics: FloatArray
    sizes: IntArray
    pairs: tuple[Pair, ...]
    unit_hsics: FloatArray | None = None
    unit_sizes: IntArray | None = None
    n_rows: int = 0
    n_planned: int = 0
    seconds: float = 0.0
    splits: FloatArray | None = None
    each: Callable[[Callable[[Block], FloatArray]], Iterable[FloatArray]] | None = None

    @classmethod
    def of(cls, rows: Sequence[Row], pairs: Sequence[Pair], **known: Any) -> BlockTable:
        """Return the table of these rows; `known` are further attributes."""
        sizes = np.array([row.n for row in rows])
        sums, counts = [row.sums for row in rows], [row.counts for row in rows]
        values = n_of_unit = None
        if sums[0] is not None:
            n_of_unit = np.sum(counts, axis=0)  # type: ignore[arg-type]
            there = n_of_unit > 0
            values = np.sum(sums, axis=0)[there] / n_of_unit[there, None]  # type: ignore[arg-type]
            n_of_unit = n_of_unit[there]
        splits = [row.split for row in rows if row.split is not None]
        return cls(
            np.array([row.hsics for row in rows]),
            sizes,
            tuple(pairs),
            values,
            n_of_unit,
            splits=np.array(splits) if splits else None,
            **{"n_rows": int(sizes.sum()), "n_planned": len(rows), **known},
        )

    @property
    def weights(self) -> FloatArray:
        """The share of every block in all rows."""
        return np.asarray(self.sizes / self.sizes.sum())

    @property
    def means(self) -> FloatArray:
        """The HSICs of all pairs, averaged over blocks."""
        return np.asarray(self.weights @ self.hsics)

    @property
    def constant(self) -> float:
        """Twice the mean square of 1/(pairs of rows): what scales the second component."""
        n, w = self.sizes, self.weights
        return float(2.0 * (w**2 / (n * (n - 3.0))).sum())

    def split_deviations(self) -> FloatArray | None:
        """Return `splits` in the scale of the averages over all blocks, one row per pair."""
        if self.splits is None:
            return None
        return np.asarray(np.sqrt((self.weights**2).sum()) * self.splits.T)

    def column(self, pair: Pair) -> int:
        """Return the column of a pair, in either order."""
        return [canonical(known) for known in self.pairs].index(canonical(pair))

    def unit_products(self) -> FloatArray:
        """Return the products of two centred kernels by pairs of units, shape (units, units).

        Only rows that share a block form a pair; the diagonal is 0.
        """
        if self.each is None:
            raise TypeError("the rows are independent: there are no units")
        parts = list(self.each(_products_of_units))
        total = np.zeros((max(map(len, parts)),) * 2)
        for part in parts:
            total[: len(part), : len(part)] += part
        np.fill_diagonal(total, 0.0)
        return total

    def note(self, loss: float | None = None) -> str:
        """Return in words how the HSICs were computed, and at what price.

        Parameters
        ----------
        loss : float, optional
            How much longer an interval is than with all pairs of rows, as a share.
        """
        rows, used = round(float(self.sizes.mean())), int(self.sizes.sum())
        words = f"Computed in {len(self.sizes):,} random blocks of {rows:,} rows"
        if loss is not None:
            longer = f"about {loss:.0%}" if loss >= 0.005 else "less than 1%"
            words += f": the interval is {longer} longer than with all pairs of rows"
        if self.seconds:
            words += f" (`engine='tiled'` takes {seconds_in_words(self.seconds)})"
        words += "."
        if loss is not None and loss > 0.1:
            words += f" `engine=Blocks(size={2 * rows})` halves that."
        if len(self.sizes) < self.n_planned:
            words += (
                f" Interrupted after {len(self.sizes):,} of {self.n_planned:,} blocks: the answer "
                f"is that of {used:,} of {self.n_rows:,} rows, chosen at random."
            )
        elif used < self.n_rows:
            words += (
                f" Of large clusters random rows were used: {used:,} of {self.n_rows:,} rows in "
                "all."
            )
        return words


def _products_of_units(block: Block) -> FloatArray:
    """Return the products of two centred kernels, summed over pairs of units of a block."""
    n, units = len(block.rows), np.asarray(block.units)
    kernels = [kernel.take(block.rows) for kernel in block.kernels]
    one, two = (centre(matrix) for matrix in evaluate(kernels, slice(0, n)))
    members = np.zeros((n, int(units.max()) + 1))
    members[np.arange(n), units] = 1.0
    return np.asarray(members.T @ (one * two) @ members / (n * (n - 3.0)))
