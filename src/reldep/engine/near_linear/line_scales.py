"""Scales of the distances on one column of many rows, from counts and sums in narrow bins.

The distance between two rows in different bins is a difference of sums; only distances within a
bin are not known, and of twenty thousand bins these are few and short. So the mean distance comes
out to about ten digits, in one pass over rows in any order, and how each row moves it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.files.partitions import Block

# The mean distance within a bin over the deviation there, for evenly spread values.
EVEN = 2.0 / np.sqrt(3.0)

HALVINGS = 60


@dataclass(frozen=True, eq=False)
class BinSums:
    """Counts of rows in bins, and sums of how far above the edge they lie and of its square."""

    values: dict[str, FloatArray]

    def __add__(self, other: BinSums) -> BinSums:
        return BinSums({name: part + other.values[name] for name, part in self.values.items()})


@dataclass(frozen=True, eq=False)
class BinPass:
    """The pass over blocks that fills bins.

    Attributes
    ----------
    edges : mapping of str to ndarray
        By variable of one column: the lower edges of its bins, rising.
    """

    edges: Mapping[str, FloatArray]

    def __call__(self, block: Block) -> BinSums:
        """Count and add up the rows of a block."""
        found = {}
        for name, edges in self.edges.items():
            values = block.values[name][:, 0]
            bins = bins_of(edges, values)
            above = values - edges[bins]
            parts = (None, above, above * above)
            found[name] = np.array([np.bincount(bins, part, len(edges)) for part in parts])
        return BinSums(found)


def bins_of(edges: FloatArray, values: FloatArray) -> FloatArray:
    """Find the bin of every value; what lies below the first edge belongs to the first bin."""
    return np.maximum(np.searchsorted(edges, values, side="right") - 1, 0)


@dataclass(frozen=True, eq=False)
class LineScale:
    """The distribution of one column over bins.

    Attributes
    ----------
    edges : ndarray, shape (b,)
    sums : ndarray, shape (3, b)
        As in :class:`BinSums`.
    """

    edges: FloatArray
    sums: FloatArray

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.sums[0].sum())

    @cached_property
    def _origin(self) -> float:
        """A value in the middle: sums from there keep their digits."""
        return float(self.edges[np.searchsorted(np.cumsum(self.sums[0]), self.n / 2)])

    @cached_property
    def _totals(self) -> FloatArray:
        """The sum of the values of each bin, from the origin."""
        return np.asarray(self.sums[1] + self.sums[0] * (self.edges - self._origin))

    @cached_property
    def _before(self) -> tuple[FloatArray, FloatArray]:
        """How many rows lie in bins before each, and the sum of their values."""
        count, total = (np.concatenate([[0.0], np.cumsum(x)]) for x in (self.sums[0], self._totals))
        return count, total

    def mean_distance(self) -> float:
        """Give the mean distance between different rows."""
        counts, before = self.sums[0], self._before
        between = float(np.sum(before[0][:-1] * self._totals - counts * before[1][:-1]))
        held = counts > 0
        n = counts[held]
        variance = self.sums[2][held] / n - (self.sums[1][held] / n) ** 2
        within = float(np.sum(n * (n - 1) / 2 * EVEN * np.sqrt(np.maximum(variance, 0.0))))
        return (between + within) / (self.n * (self.n - 1) / 2)

    def distances_from(self, values: FloatArray) -> FloatArray:
        """Give the mean distance of some rows from all others."""
        bins = bins_of(self.edges, values)
        x = values - self._origin
        count, total = self._before
        own, own_total = self.sums[0][bins], self._totals[bins]
        below = x * count[bins] - total[bins]
        above = (total[-1] - total[bins + 1]) - x * (count[-1] - count[bins + 1])
        inside = np.abs(own * x - own_total)
        return np.asarray((below + above + inside) / (self.n - 1))

    @cached_property
    def _atoms(self) -> tuple[FloatArray, FloatArray]:
        """The mean of every bin that holds rows, and how many rows lie up to it."""
        held = self.sums[0] > 0
        means = self.edges[held] + self.sums[1][held] / self.sums[0][held]
        return means, np.cumsum(self.sums[0][held])

    def shares_within(self, values: FloatArray, distance: float) -> FloatArray:
        """Give the share of the other rows that lie within a distance of some rows."""
        means, up_to = self._atoms
        counts = np.concatenate([[0.0], up_to])
        last = counts[np.searchsorted(means, values + distance, side="right")]
        first = counts[np.searchsorted(means, values - distance, side="left")]
        return np.asarray((last - first - 1.0) / (self.n - 1))

    def _share_of_pairs(self, distance: float) -> float:
        means, up_to = self._atoms
        weights = np.diff(up_to, prepend=0.0)
        return float(weights @ self.shares_within(means, distance)) / self.n

    def median_distance(self) -> float:
        """Give the median distance between different rows, to about the width of a bin."""
        means, _ = self._atoms
        low, high = 0.0, float(means[-1] - means[0])
        if self._share_of_pairs(low) >= 0.5:
            raise InputError(
                "half of the distances between observations are 0 (ties), so their median says "
                "nothing. Pass Gaussian(bandwidth='mean'), or `kernel='delta'`."
            )
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self._share_of_pairs(middle) < 0.5:
                low = middle
            else:
                high = middle
        return high


@dataclass(frozen=True, eq=False)
class MovesOnLine:
    """How each row moves the scale of a column, from its bins.

    Attributes
    ----------
    scale : LineScale
    median : float or None
        The median distance; None for the mean.
    mean : float
        The mean distance, or the mean share of rows within the median.
    factor : float
        What a unit of the difference moves the bandwidth by.
    """

    scale: LineScale
    median: float | None
    mean: float
    factor: float

    @classmethod
    def of_mean(cls, scale: LineScale, mean: float, factor: float) -> MovesOnLine:
        """Follow the mean distance: a row moves it by ``2 (mean_j d_ij - mean d)``."""
        return cls(scale, None, mean, 2.0 * factor)

    @classmethod
    def of_median(
        cls, scale: LineScale, median: float, factor: float, density: float
    ) -> MovesOnLine:
        """Follow the median: a row moves it by ``-2 (F_i - mean F) / f``."""
        means, up_to = scale._atoms
        weights = np.diff(up_to, prepend=0.0)
        mean = float(weights @ scale.shares_within(means, median)) / scale.n
        return cls(scale, median, mean, -2.0 * factor / density)

    def __call__(self, block: Block, name: str) -> FloatArray:
        """Give the influence of the rows of a block on the bandwidth of a variable."""
        values = block.values[name][:, 0]
        if self.median is None:
            return self.factor * (self.scale.distances_from(values) - self.mean)
        return self.factor * (self.scale.shares_within(values, self.median) - self.mean)


@dataclass(frozen=True, eq=False)
class MovesOfSample:
    """How the rows of a sample move the bandwidth that was taken from them.

    The other rows do not move it; these do so all the more. Noise from the choice of the sample
    enters the variance in this way.

    Attributes
    ----------
    keys : ndarray
        The random keys of the sampled rows, rising.
    values : ndarray
        Their influence on the bandwidth, times rows in all over rows sampled.
    seed : int
    """

    keys: FloatArray
    values: FloatArray
    seed: int

    def __call__(self, block: Block, name: str) -> FloatArray:  # noqa: ARG002
        """Give the influence of the rows of a block."""
        keys = block.keys(self.seed)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.values[at], 0.0)
