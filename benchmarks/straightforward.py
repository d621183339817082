"""The relative test as one would write it down from the paper: whole matrices, NumPy and SciPy.

It is the yardstick for speed and memory, and an independent check of the numbers. It knows no
tiles, no threads of its own and no shift; the formulas are those of the paper's section 3.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import norm


def gaussian_matrix(rows: np.ndarray) -> np.ndarray:
    """Fill the Gaussian kernel matrix, with the median distance as bandwidth and no diagonal."""
    distances = pdist(rows)
    bandwidth = np.median(distances)
    kernel = squareform(np.exp(-(distances**2) / (2 * bandwidth**2)))
    np.fill_diagonal(kernel, 0)
    return kernel


def hsic(K: np.ndarray, L: np.ndarray) -> float:
    """Give the unbiased HSIC of two matrices with zero diagonal."""
    m = len(K)
    total = (K * L).sum() + K.sum() * L.sum() / ((m - 1) * (m - 2))
    return (total - 2 / (m - 2) * (K.sum(axis=0) @ L.sum(axis=0))) / (m * (m - 3))


def conditional_sums(K: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Give the vector h of the paper's equation 8."""
    m = len(K)
    k, l = K.sum(axis=1), L.sum(axis=1)  # noqa: E741
    q = (K * L).sum(axis=1)
    h = (m - 2) ** 2 * q - m * k * l + (m - 2) * (q.sum() - K @ l - L @ k)
    return h + l.sum() * k + k.sum() * l - k @ l


def compare(source: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Test whether the source depends more on the first: z and the one-sided p-value."""
    K, L, M = (gaussian_matrix(rows) for rows in (source, first, second))
    m = len(K)
    estimates = np.array([hsic(K, L), hsic(K, M)])
    h = np.array([conditional_sums(K, L), conditional_sums(K, M)])
    a = h / (2 * (m - 1) * (m - 2) * (m - 3))
    covariance = 16 / m * (a @ a.T / m - np.outer(estimates, estimates))
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    z = (estimates[0] - estimates[1]) / np.sqrt(variance)
    return float(z), float(norm.sf(z))
