"""Covariance of estimates from their influence values: independent, clustered or in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reldep._variables import FloatArray, IntArray


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
