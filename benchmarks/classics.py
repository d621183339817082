"""Tests of two overlapping Pearson correlations, from their published formulas."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, stdtr


def williams(r12, r13, r23, n):
    """Return Williams's t (1959) and its two-sided p-value with n - 3 degrees of freedom.

    As in Steiger (1980, equation 7), with ``|R|`` the determinant of the correlation matrix.
    """
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / below)
    return t, 2 * stdtr(n - 3, -np.abs(t))


def steiger(r12, r13, r23, n):
    """Return Steiger's Z (1980, equation 14) and its two-sided p-value.

    The covariance of the two Fisher transforms is taken at the mean of the two correlations.
    """
    mean = (r12 + r13) / 2
    covariance = r23 * (1 - 2 * mean**2) - mean**2 * (1 - 2 * mean**2 - r23**2) / 2
    correlation = covariance / (1 - mean**2) ** 2
    z = (np.arctanh(r12) - np.arctanh(r13)) * np.sqrt((n - 3) / (2 - 2 * correlation))
    return z, 2 * ndtr(-np.abs(z))


def correlations(x, y, z):
    """Return the three correlations of samples of shape (B, m)."""
    scaled = [(v - v.mean(axis=1, keepdims=True)) for v in (x, y, z)]
    scaled = [v / np.sqrt((v**2).sum(axis=1, keepdims=True)) for v in scaled]
    return tuple((scaled[a] * scaled[b]).sum(axis=1) for a, b in ((0, 1), (0, 2), (1, 2)))
