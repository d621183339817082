"""How a bandwidth chosen by the data moves with every observation.

The median heuristic makes a kernel a function of the sample. A :class:`BandwidthProbe` holds
what an engine needs to follow that: the slope of the kernel in its bandwidth, and on which
side of the median each distance lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.median import pairwise_distances

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points

# The density of the distances is one number: so many evenly spaced rows, 125,000 distances,
# give it to a few per cent.
DENSITY_ROWS = 500

# Where this share of the distances, ties apart, is equal to the median, the median stays where
# it is when an observation is added: integers with few levels, categories coded as numbers.
ATOM_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class BandwidthProbe:
    """A data-driven bandwidth σ = factor × median and what depends on it.

    Attributes
    ----------
    slope : FittedKernel
        ∂K/∂σ.
    side : FittedKernel
        +1/2 for distances up to the median and -1/2 beyond it: the mean of row i is
        ``F_i - 1/2``, with F_i the share of observations within the median of observation i.
    density : float
        The density of the pairwise distances at the median.
    factor : float
        The bandwidth as a multiple of the median.
    """

    slope: FittedKernel
    side: FittedKernel
    density: float
    factor: float = 1.0

    def influence(self, side_means: FloatArray) -> FloatArray:
        """Give the influence of every observation on the bandwidth.

        The median solves ``mean_i F_i(σ) = 1/2`` over pairs, so an observation moves it by
        ``-2 (F_i - 1/2) / f``; the 2 counts both members of a pair.

        Parameters
        ----------
        side_means : ndarray, shape (m,)
            The mean of each row of `side`.
        """
        centred = side_means - side_means.mean()
        return np.asarray(-2.0 * self.factor / self.density * centred)


def density_at(points: Points, median: float) -> float:
    """Estimate the density of the pairwise distances at their median.

    A Gaussian kernel density estimate on at most :data:`DENSITY_ROWS` evenly spaced rows. Its
    width is Silverman's, ``0.9 min(s, IQR/1.34) N^(-1/5)`` with N the number of pairs of all
    rows, which goes to 0 at a rate for which the density of a function of pairs is estimated
    at the speed of a mean (Frees, 1994). Distances of 0 (ties) are left out of the width.

    Returns
    -------
    float
        ``inf`` where the median sits on an atom and does not move.
    """
    n = len(points)
    rows = np.unique(np.linspace(0, n - 1, min(n, DENSITY_ROWS)).astype(np.int64))
    distances = pairwise_distances(points.take(rows))
    away = np.abs(distances - median)
    positive = distances[distances > 0]
    atom = np.count_nonzero(away <= 1e-9 * median)
    if (
        not len(positive)
        or positive.min() == positive.max()
        or atom > max(1.0, ATOM_SHARE * len(positive))
    ):
        return float("inf")
    width = 0.9 * _spread(positive) * (n * (n - 1) / 2) ** -0.2
    bumps = np.exp(-0.5 * (away[away < 6.0 * width] / width) ** 2)
    return float(bumps.sum() / (len(distances) * width * np.sqrt(2.0 * np.pi)))


def _spread(values: FloatArray) -> float:
    """Give the deviation, or that of a normal law with the same middle half if smaller."""
    low, high = np.percentile(values, [25, 75])
    middle = float(high - low) / 1.34
    deviation = float(values.std())
    return min(deviation, middle) if middle > 0 else deviation
