"""The kernel for time series: a sum over all alignments of two series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.variables import Items, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.mapped import tables_of
from reldep.kernels.points import Points
from reldep.kernels.scale import BandwidthKernel, FittedBandwidth, Scale, scale_of
from reldep.system import numba_is_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows


# Minimum number of cells for compiled code: below it, loading takes longer than NumPy (measured).
COMPILED_CELLS = 20_000_000

# Anti-diagonals between two checks of the scale; each multiplies sums by at most 3, so that 16 of
# them cannot overflow.
STEPS_BETWEEN_SCALES = 16


@dataclass(frozen=True, eq=False)
class SeriesStore:
    """Series end to end: one row per measurement, and where each series starts.

    Attributes
    ----------
    points : ndarray, shape (measurements, total length)
    turned : ndarray, shape (measurements, total length)
        The same with every series reversed in time.
    starts : ndarray, shape (m + 1,)
    """

    points: FloatArray
    turned: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, series: Sequence[FloatArray]) -> SeriesStore:
        """Return the store of a list of series."""
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
        """Whether the whole matrix has enough cells and numba is available."""
        return float(self.lengths.sum()) ** 2 >= COMPILED_CELLS and numba_is_there()


def log_alignments(store: SeriesStore, rows: Rows, cols: Rows, bandwidth: float) -> FloatArray:
    """Return the logarithm of the sum over all alignments, for a block of pairs."""
    places = np.arange(len(store))
    first, second = places[rows], places[cols]
    if not store.is_worth_compiling:
        return _by_numpy(store, first, second, bandwidth)
    from reldep.kernels.structured.alignment_loops import fill_log_alignments

    out = np.empty((len(first), len(second)))
    c = -0.5 / bandwidth**2
    same = np.array_equal(first, second)
    fill_log_alignments(store.points, store.turned, store.starts, first, second, same, c, out)
    return out


def log_self_alignments(store: SeriesStore, bandwidth: float) -> FloatArray:
    """Return the logarithm of the sum over all alignments of every series with itself."""
    places = (slice(i, i + 1) for i in range(len(store)))
    return np.array([log_alignments(store, at, at, bandwidth)[0, 0] for at in places])


def _by_numpy(
    store: SeriesStore, first: IntArray, second: IntArray, bandwidth: float
) -> FloatArray:
    """Return the alignments of each series of the first selection with all of the second."""
    turned, lengths = _padded(store, second)
    out = [
        _against_all(
            store.points[:, store.starts[i] : store.starts[i + 1]], turned, lengths, bandwidth
        )
        for i in first
    ]
    return np.array(out).reshape(-1, len(second))


def _padded(store: SeriesStore, places: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the turned series as one array, aligned at their ends and padded with zeros."""
    lengths = store.lengths[places]
    longest = int(lengths.max())
    padded = np.zeros((len(places), longest, len(store.points)))
    for row, place in zip(padded, places, strict=True):
        own = store.turned[:, store.starts[place] : store.starts[place + 1]].T
        row[longest - len(own) :] = own
    return padded, lengths


def _against_all(
    series: FloatArray, turned: FloatArray, lengths: IntArray, bandwidth: float
) -> FloatArray:
    """Return the alignments of one series with many, one anti-diagonal at a time."""
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


# Maximum number of time points for the median distance; its error is then about 2 %.
POINTS_FOR_MEDIAN = 1000


@dataclass(frozen=True, eq=False)
class FittedTimeSeries(FittedBandwidth):
    """Global alignment between series, scaled to 1 on equal series."""

    store: SeriesStore

    def __len__(self) -> int:
        return len(self.store)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        block = log_alignments(self.store, rows, cols, self.chosen.width)
        block -= 0.5 * (self._own[rows][:, None] + self._own[cols])
        return np.exp(block, out=block)

    @cached_property
    def _own(self) -> FloatArray:
        return log_self_alignments(self.store, self.chosen.width)


@dataclass(frozen=True)
class TimeSeries(BandwidthKernel):
    """The global alignment kernel between time series, of the same or of different lengths.

    Two series are similar if stretching time makes them match. The kernel adds up all
    alignments, each weighted by how close the aligned points are, and is scaled to 1 on
    equal series. With the local weight of Cuturi (2011), ``κ / (2 - κ)`` for a Gaussian κ, it is
    positive semi-definite; whether it is characteristic is not known. Each pair costs the
    product of the two lengths.

    Where time points correspond to each other one by one, ``Gaussian()`` on the rows is much
    faster.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        σ of the local Gaussian. "median" is the rule of Cuturi (2011): the median distance
        between time points (a random 1,000 of them where there are more) times the square root
        of the median length.
    factor : float, default 1
        Multiplies the bandwidth.

    Notes
    -----
    The data are a table (one series per row), a list of sequences of numbers or of pandas or polars
    series, or a list or array of tables with one row per time and one column per measurement.

    References
    ----------
    Cuturi (2011), Fast global alignment kernels, ICML.

    Examples
    --------
    >>> from reldep.kernels import TimeSeries
    >>> TimeSeries(bandwidth=2)([[1, 2, 3], [1, 2, 2, 3], [3, 1, 0]]).round(3)
    array([[1.   , 0.839, 0.068],
           [0.839, 1.   , 0.043],
           [0.068, 0.043, 1.   ]])
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Items)

    def fit(self, variable: Variable) -> FittedTimeSeries:
        self.check_accepts(variable)
        series = tables_of(variable, "time")
        median = None
        if self.needs_scale:
            if all(np.array_equal(table, series[0]) for table in series):
                raise InputError(f"all {len(series)} series of {variable.name} are the same.")
            median = _median_rule(series)
        return FittedTimeSeries(self.choose(median), SeriesStore.of(series))


def _median_rule(series: list[FloatArray]) -> Scale:
    """Return the median distance between time points times the root of the median length."""
    points = np.concatenate(series)
    if len(points) > POINTS_FOR_MEDIAN:
        points = np.random.default_rng(0).choice(points, POINTS_FOR_MEDIAN, replace=False)
    found = scale_of(Points.of(Numeric("points", points)), "median")
    length = float(np.median([len(table) for table in series]))
    return replace(found, value=found.value * np.sqrt(length))
