"""Covariance of estimates from their influence values: independent, clustered or in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reldep.data.variables import BoolArray, FloatArray, IntArray

# An autoregression nearer to a random walk than this asks for lags beyond any sample.
LARGEST_AUTOCORRELATION = 0.97

# A variance of a difference is itself a difference of numbers with sixteen digits.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RowDependence:
    """Which rows may depend on each other.

    Attributes
    ----------
    clusters : ndarray of int or None
        The number of each row's cluster.
    max_lag : int, "auto" or None
        How many steps apart rows in time order may depend on each other.
    second_clusters : ndarray of int or None
        A second clustering, crossed with the first.
    n_blocks : int or None
        The number of blocks that a series was cut into.
    """

    clusters: IntArray | None = None
    max_lag: int | str | None = None
    second_clusters: IntArray | None = None
    n_blocks: int | None = None

    @property
    def any(self) -> bool:
        """Whether rows are said to depend on each other at all."""
        return self.clusters is not None or bool(self.max_lag)

    def in_blocks(self, n_blocks: int) -> RowDependence:
        """Note the number of blocks that a series was cut into."""
        return RowDependence(None, self.max_lag, None, n_blocks)

    def in_words(self) -> str:
        """Say which rows may depend on each other; nothing if none do."""
        if self.n_blocks is not None:
            return f"rows in time order, in {self.n_blocks} blocks"
        if self.max_lag is not None:
            return f"rows up to {self.max_lag} apart may depend on each other"
        if self.second_clusters is not None:
            second = len(np.unique(self.second_clusters))
            return f"{self.n_clusters} clusters crossed with {second}"
        return "" if self.n_clusters is None else f"{self.n_clusters} clusters"

    def settled(self, psi: FloatArray) -> RowDependence:
        """Choose the lag from influence values in time order, where it was left open."""
        if self.max_lag != "auto":
            return self
        return RowDependence(self.clusters, automatic_lag(psi))

    def covariance(self, psi: FloatArray) -> FloatArray:
        """Estimate the covariance of estimates whose influence values are the rows of `psi`."""
        lag = self.settled(psi).max_lag
        return covariance(psi, clusters=self.clusters, max_lag=None if lag is None else int(lag))

    def variances(self, psi: FloatArray) -> FloatArray:
        """Give the diagonal of :meth:`covariance`, row by row."""
        if not self.any:
            return np.asarray(np.einsum("ij,ij->i", psi, psi) / psi.shape[1] ** 2)
        return np.array([float(self.covariance(row[None, :])[0, 0]) for row in psi])

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))


INDEPENDENT_ROWS = RowDependence()


def covariance(
    psi: FloatArray, *, clusters: IntArray | None = None, max_lag: int | None = None
) -> FloatArray:
    """Estimate the covariance of estimates whose influence values are the rows of `psi`.

    Parameters
    ----------
    psi : ndarray, shape (p, m)
    clusters : ndarray of int, optional
        Observations of the same cluster may depend on each other; their influence values are
        added up before squaring.
    max_lag : int, optional
        Observations up to this many steps apart may depend on each other; autocovariances are
        added with Bartlett's weights, which keeps the estimate positive semi-definite
        (Newey and West, 1987).
    """
    m = psi.shape[1]
    lags = max_lag or 0
    if clusters is not None:
        psi = cluster_sums(psi, clusters)
    total: FloatArray = np.asarray(psi @ psi.T)
    for lag in range(1, lags + 1):
        lagged = psi[:, lag:] @ psi[:, :-lag].T
        total += (1.0 - lag / (lags + 1.0)) * (lagged + lagged.T)
    return np.asarray(total / m**2)


def cluster_sums(psi: FloatArray, clusters: IntArray) -> FloatArray:
    """Add up the influence values within each cluster."""
    sums = np.zeros((psi.shape[0], int(clusters.max()) + 1))
    for row, values in zip(sums, psi, strict=True):
        row[:] = np.bincount(clusters, weights=values, minlength=len(row))
    return sums


def automatic_lag(psi: FloatArray) -> int:
    """Choose the lag up to which observations may depend on each other from the data.

    Andrews' (1991) plug-in for Bartlett's weights, which minimises the mean squared error of
    the variance if each series is a first-order autoregression with coefficient ρ and
    innovation variance s::

        lag = 1.1447 (α m)^(1/3),  α = Σ 4 ρ² s² / ((1-ρ)⁶ (1+ρ)²) / Σ s² / (1-ρ)⁴

    rounded up, and at most a quarter of the observations.

    Parameters
    ----------
    psi : ndarray, shape (p, m)
        The influence values, in time order, on what is tested.
    """
    m = psi.shape[1]
    before, after = psi[:, :-1], psi[:, 1:]
    energy = np.einsum("ij,ij->i", before, before)
    rho = np.einsum("ij,ij->i", before, after) / np.where(energy > 0, energy, 1.0)
    rho = np.clip(rho, -LARGEST_AUTOCORRELATION, LARGEST_AUTOCORRELATION)
    innovations = ((after - rho[:, None] * before) ** 2).mean(axis=1) ** 2
    rough = float((4.0 * rho**2 * innovations / ((1.0 - rho) ** 6 * (1.0 + rho) ** 2)).sum())
    smooth = float((innovations / (1.0 - rho) ** 4).sum())
    if not smooth > 0:
        return 0
    lag = np.ceil(1.1447 * (rough / smooth * m) ** (1.0 / 3.0))
    return int(min(lag, m // 4))


def is_negligible(variance: FloatArray | float, scale: FloatArray | float) -> BoolArray:
    """Tell whether a variance is nothing but rounding on the given scale."""
    return np.asarray(~np.isfinite(variance) | (np.asarray(variance) <= ROUNDING * scale))
