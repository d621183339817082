"""The median heuristic: the bandwidth that the data themselves propose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reldep._variables import FloatArray
    from reldep.kernels.points import Points


def pairwise_distances(points: Points) -> FloatArray:
    """Give the m(m-1)/2 distances between different observations."""
    n = len(points)
    everything = slice(0, n)
    squared = points.squared_distances(everything, everything)
    distances: FloatArray = np.sqrt(squared[np.triu_indices(n, k=1)])
    return distances


def median_distance(points: Points) -> tuple[float, bool]:
    """Find the exact median of the pairwise distances.

    Returns
    -------
    median : float
        The median of all distances or, where more than half of them are 0, of the others.
    has_ties : bool
        Whether the plain median was 0.
    """
    distances = pairwise_distances(points)
    median = float(np.median(distances))
    if median > 0:
        return median, False
    return float(np.median(distances[distances > 0])), True
