"""The kernel for time series: a sum over all alignments of two series.

Importing this module imports numba, so it is imported when the kernel is first named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from reldep.data.variables import FloatArray, IntArray, Items, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import Rows
from reldep.kernels.mapped import tables_of
from reldep.kernels.scale import BandwidthKernel, FittedBandwidth, sampled_median
from reldep.system import compile_loop

compiled = partial(compile_loop, nogil=True)


@compiled
def fill_log_alignments(
    points: FloatArray,
    starts: IntArray,
    first: IntArray,
    second: IntArray,
    symmetric: bool,
    c: float,
    out: FloatArray,
) -> None:
    """Fill the block between two selections of series."""
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    sums = np.zeros((3, longest + 2))
    for i in range(out.shape[0]):
        x = points[:, starts[first[i]] : starts[first[i] + 1]]
        for j in range(i if symmetric else 0, out.shape[1]):
            y = points[:, starts[second[j]] : starts[second[j] + 1]]
            out[i, j] = log_alignment(x, y, c, sums)
            if symmetric:
                out[j, i] = out[i, j]


@compiled
def log_alignment(x: FloatArray, y: FloatArray, c: float, sums: FloatArray) -> float:
    """Return the logarithm of the sum over all alignments of two series.

    Cell (i, k - i) of anti-diagonal k stands at place i + 1 of its buffer and is κ / (2 - κ) times
    the sum of the three cells that lead to it, with κ = exp(c |x_i - y_(k-i)|²); places next to
    existing cells are 0.
    """
    n, m = x.shape[1], y.shape[1]
    sums[:, : n + 2] = 0.0
    before, last, new = sums[0], sums[1], sums[2]
    before[0] = 1.0
    log_scale = 0.0
    for k in range(n + m - 1):
        low, high = max(0, k - m + 1), min(n, k + 1)
        for i in range(low, high):
            squared = 0.0
            for row in range(len(x)):
                gap = x[row, i] - y[row, k - i]
                squared += gap * gap
            near = np.exp(c * squared)
            new[i + 1] = near / (2.0 - near) * (last[i] + last[i + 1] + before[i])
        before[0] = 0.0
        # A later anti-diagonal looks one place beyond either end.
        new[low] = 0.0
        new[high + 1] = 0.0
        before, last, new = last, new, before
        # Every step multiplies sums by at most 3, so that 16 of them cannot overflow.
        if k % 16 == 15:
            size = max(np.max(last[: n + 1]), np.max(before[: n + 1]))
            if size > 0.0:
                for i in range(n + 2):
                    last[i] /= size
                    before[i] /= size
                log_scale += np.log(size)
    return log_scale + np.log(last[n]) if last[n] > 0.0 else -np.inf


@dataclass(frozen=True, eq=False)
class FittedTimeSeries(FittedBandwidth):
    """Global alignment between series, scaled to 1 on equal series.

    Attributes
    ----------
    points : ndarray, shape (measurements, total length)
        All series end to end.
    starts : ndarray of int, shape (m + 1,)
        Where each series starts.
    """

    points: FloatArray
    starts: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        places = np.arange(len(self))
        block = self._log_sums(places[rows], places[cols])
        block -= 0.5 * (self._own[rows][:, None] + self._own[cols])
        return np.exp(block, out=block)

    @cached_property
    def _own(self) -> FloatArray:
        places = np.arange(len(self))
        return np.array([self._log_sums(places[[i]], places[[i]])[0, 0] for i in places])

    def _log_sums(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the logarithm of the sum over all alignments, for every pair of series."""
        out = np.empty((len(first), len(second)))
        same = np.array_equal(first, second)
        c = -0.5 / self.chosen.width**2
        fill_log_alignments(self.points, self.starts, first, second, same, c, out)
        return out


@dataclass(frozen=True)
class TimeSeries(BandwidthKernel):
    """The global alignment kernel between time series, of the same or of different lengths.

    Two series are similar if stretching time makes them match. The kernel adds up all
    alignments, each weighted by how close the aligned points are, and is scaled to 1 on
    equal series. With the local weight of Cuturi (2011), ``κ / (2 - κ)`` for a Gaussian κ, it is
    positive semi-definite; whether it is characteristic is not known. Each pair costs the
    product of the two lengths, in compiled code.

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

    accepts = (Numeric, Items)

    def fitted(self, variable: Variable) -> FittedTimeSeries:
        series = tables_of(variable, "time")
        median = None
        if self.needs_scale:
            if all(np.array_equal(table, series[0]) for table in series):
                raise InputError(f"all {len(series)} series of {variable.name} are the same.")
            found = sampled_median(np.concatenate(series))
            length = float(np.median([len(table) for table in series]))
            median = replace(found, value=found.value * np.sqrt(length))
        points = np.ascontiguousarray(np.concatenate(series).T)
        starts = np.cumsum([0, *map(len, series)]).astype(np.int64)
        return FittedTimeSeries(self.choose(median), points, starts)
