"""The kernel for time series: a sum over all alignments of two series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.variables import Items, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.mapped import tables_of
from reldep.kernels.scale import BandwidthKernel, FittedBandwidth, sampled_median

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows


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
        from reldep.kernels.structured.alignment_loops import fill_log_alignments

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

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Items)

    def fit(self, variable: Variable) -> FittedTimeSeries:
        self.check_accepts(variable)
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
