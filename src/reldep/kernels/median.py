"""The median heuristic: the bandwidth that the data themselves propose.

The median is exact. Up to `WHOLE_UP_TO` observations all distances are held; above, they
stream by in blocks and the middle ones are selected in O(m) memory. Above `EXACT_UP_TO`
observations the median is that of a random subsample of so many, and the fitted kernel says
so: it lies within about half a percent of the full one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.selection import DistanceStream

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.points import Points

WHOLE_UP_TO = 2_000
EXACT_UP_TO = 20_000


@dataclass(frozen=True)
class MedianDistance:
    """The median of the pairwise distances and how it was found.

    Attributes
    ----------
    value : float
        The median of all distances or, where more than half of them are 0, of the others.
    has_ties : bool
        Whether the plain median was 0.
    subsample : int or None
        The number of observations that were drawn; None if all were used.
    """

    value: float
    has_ties: bool = False
    subsample: int | None = None

    @property
    def rule(self) -> str:
        """Say in words which distances the median is of."""
        rule = "median of the non-zero distances" if self.has_ties else "median"
        if self.subsample is None:
            return rule
        return f"{rule}{'' if self.has_ties else ' distance'} of {self.subsample:,} rows at random"


def median_distance(points: Points, rng: np.random.Generator | None = None) -> MedianDistance:
    """Find the median of the distances between different observations.

    Parameters
    ----------
    points : Points
    rng : numpy.random.Generator, optional
        Draws the subsample of more than `EXACT_UP_TO` observations; by default with seed 0.
    """
    n = len(points)
    if n <= WHOLE_UP_TO:
        return MedianDistance(*_median_of_all(pairwise_distances(points)))
    if n <= EXACT_UP_TO:
        return MedianDistance(*_median_of_stream(DistanceStream(points)))
    rng = np.random.default_rng(0) if rng is None else rng
    rows = np.sort(rng.choice(n, EXACT_UP_TO, replace=False))
    stream = DistanceStream(points.take(rows))
    return MedianDistance(*_median_of_stream(stream), subsample=EXACT_UP_TO)


def pairwise_distances(points: Points) -> FloatArray:
    """Give the m(m-1)/2 distances between different observations."""
    n = len(points)
    everything = slice(0, n)
    squared = points.squared_distances(everything, everything)
    distances: FloatArray = np.sqrt(squared[np.triu_indices(n, k=1)])
    return distances


def _median_of_all(distances: FloatArray) -> tuple[float, bool]:
    median = float(np.median(distances))
    if median > 0:
        return median, False
    positive = distances[distances > 0]
    _check_any(len(positive))
    return float(np.median(positive)), True


def _median_of_stream(stream: DistanceStream) -> tuple[float, bool]:
    median = _middle(stream, 0)
    if median > 0:
        return median, False
    n_zeros = stream.count_zeros()
    _check_any(stream.n_distances - n_zeros)
    return _middle(stream, n_zeros), True


def _check_any(n_positive: int) -> None:
    if not n_positive:
        raise ValueError(
            "all distances that the median bandwidth is taken of are 0; rescale the values if "
            'they are tiny, pass a bandwidth as in Gaussian(bandwidth=1.0), or kernel="delta".'
        )


def _middle(stream: DistanceStream, n_left_out: int) -> float:
    """Average the middle two, or take the middle one, of all but the smallest so many."""
    n = stream.n_distances - n_left_out
    ranks = n_left_out + (n - 1) // 2, n_left_out + n // 2
    low, high = (np.sqrt(stream.squared_distance_at(rank)) for rank in ranks)
    return float((low + high) / 2)
