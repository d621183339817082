"""The global alignment kernel: compiled for many or long series, in NumPy for few.

The sum over all alignments of two series obeys, with the local weight w of two points::

    M[i, j] = w(x_i, y_j) (M[i-1, j] + M[i, j-1] + M[i-1, j-1])

Cells on an anti-diagonal do not depend on each other, so a whole one is computed at a time; with
the second series turned round, both series are read forwards along it. Sums grow or shrink by
powers of the length, so they are scaled and the logarithm of the scale is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.machine import numba_is_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray

# From this many cells on, compiled code is worth the wait until it is loaded.
COMPILED_CELLS = 20_000_000

# The scale is looked at after so many anti-diagonals; in between, sums grow by 3 at most.
STEPS_BETWEEN_SCALES = 16

# What a cell costs, in nanoseconds.
COMPILED_CELL, NUMPY_CELL = 7.0, 40.0


@dataclass(frozen=True, eq=False)
class SeriesStore:
    """Series end to end: one row per measurement, and where each series starts.

    Attributes
    ----------
    points : ndarray, shape (measurements, total length)
    turned : ndarray, shape (measurements, total length)
        The same with every series turned round.
    starts : ndarray, shape (m + 1,)
    """

    points: FloatArray
    turned: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, series: Sequence[FloatArray]) -> SeriesStore:
        """Lay series out end to end."""
        starts = np.cumsum([0, *map(len, series)]).astype(np.int64)
        return cls(
            np.ascontiguousarray(np.concatenate(series).T),
            np.ascontiguousarray(np.concatenate([table[::-1] for table in series]).T),
            starts,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IntArray:
        """The number of times of every series."""
        return np.diff(self.starts)

    @property
    def is_worth_compiling(self) -> bool:
        """Whether the whole matrix has enough cells, and there is a compiler."""
        return float(self.lengths.sum()) ** 2 >= COMPILED_CELLS and numba_is_there()


def log_alignments(store: SeriesStore, rows: slice, cols: slice, bandwidth: float) -> FloatArray:
    """Give the logarithm of the sum over all alignments, for a block of pairs."""
    if not store.is_worth_compiling:
        return _by_numpy(store, rows, cols, bandwidth)
    from reldep.kernels.alignment_loops import fill_log_alignments

    first, second = range(len(store))[rows], range(len(store))[cols]
    out = np.empty((len(first), len(second)))
    c = -0.5 / (bandwidth**2 * np.log(2.0))
    limits = (first.start, second.start)
    fill_log_alignments(store.points, store.turned, store.starts, *limits, rows == cols, c, out)
    return out


def log_self_alignments(store: SeriesStore, bandwidth: float) -> FloatArray:
    """Give the logarithm of the sum over all alignments of every series with itself."""
    places = (slice(i, i + 1) for i in range(len(store)))
    return np.array([log_alignments(store, at, at, bandwidth)[0, 0] for at in places])


def _by_numpy(store: SeriesStore, rows: slice, cols: slice, bandwidth: float) -> FloatArray:
    """Align each of the rows with all of the columns at once."""
    second = range(len(store))[cols]
    turned, lengths = _padded(store, second)
    out = [
        _against_all(
            store.points[:, store.starts[i] : store.starts[i + 1]], turned, lengths, bandwidth
        )
        for i in range(len(store))[rows]
    ]
    return np.array(out).reshape(-1, len(second))


def _padded(store: SeriesStore, places: range) -> tuple[FloatArray, IntArray]:
    """Give the turned series as one array that ends together, filled up with zeros in front."""
    lengths = store.lengths[places.start : places.stop]
    longest = int(lengths.max())
    padded = np.zeros((len(places), longest, len(store.points)))
    for row, place in zip(padded, places, strict=True):
        own = store.turned[:, store.starts[place] : store.starts[place + 1]].T
        row[longest - len(own) :] = own
    return padded, lengths


def _against_all(
    series: FloatArray, turned: FloatArray, lengths: IntArray, bandwidth: float
) -> FloatArray:
    """Align one series with many, an anti-diagonal at a time."""
    n, longest = series.shape[1], turned.shape[1]
    before, last = np.zeros((len(turned), n + 1)), np.zeros((len(turned), n + 1))
    before[:, 0] = 1.0
    log_scale, found = np.zeros(len(turned)), np.empty(len(turned))
    for k in range(n + longest - 1):
        low, high = max(0, k - longest + 1), min(n, k + 1)
        others = turned[:, longest - 1 - k + low : longest - 1 - k + high]
        squared = ((series.T[low:high] - others) ** 2).sum(axis=2)
        weights = np.exp(squared * (-0.5 / bandwidth**2))
        weights /= 2.0 - weights
        sums = last[:, low:high] + last[:, low + 1 : high + 1] + before[:, low:high]
        before, last = last, np.zeros_like(last)
        last[:, low + 1 : high + 1] = weights * sums
        before[:, 0] = 0.0
        ends = np.flatnonzero(lengths == k - n + 2)
        with np.errstate(divide="ignore"):
            found[ends] = np.log(last[ends, n]) + log_scale[ends]
        if k % STEPS_BETWEEN_SCALES == STEPS_BETWEEN_SCALES - 1:
            size = np.maximum(last.max(axis=1), before.max(axis=1))
            size[size == 0] = 1.0
            last, before = last / size[:, None], before / size[:, None]
            log_scale += np.log(size)
    return found
