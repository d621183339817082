"""The U-statistic by its definition, and by the formula that the paper prints.

The oracles for everything else: they share no formula with the package. The definition, an average
over all 4-tuples of distinct observations, is slow on purpose.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def kernel_of_four(K, L, four):
    """The symmetrised kernel h(i, j, q, r) of the unbiased HSIC (Song et al., 2012, eq. 5)."""
    total = 0.0
    for t, u, v, w in permutations(four):
        total += K[t, u] * (L[t, u] + L[v, w] - 2 * L[t, v])
    return total / 24


def hsic(K, L):
    values = [kernel_of_four(K, L, four) for four in combinations(range(len(K)), 4)]
    return float(np.mean(values))


def conditional_means(K, L):
    """For each i the average of h over the 4-tuples that contain i."""
    m = len(K)
    sums, counts = np.zeros(m), np.zeros(m)
    for four in combinations(range(m), 4):
        value = kernel_of_four(K, L, four)
        for i in four:
            sums[i] += value
            counts[i] += 1
    return sums / counts


def equation_8(K, L):
    """The conditional means as the paper prints them, with row sums and crossed products."""
    m = len(K)
    K, L = K * (1 - np.eye(m)), L * (1 - np.eye(m))
    k, l, q = K.sum(1), L.sum(1), (K * L).sum(1)  # noqa: E741
    h = (m - 2) ** 2 * q - m * k * l + (m - 2) * (q.sum() - K @ l - L @ k)
    return (h + l.sum() * k + k.sum() * l - k @ l) / (2 * (m - 1) * (m - 2) * (m - 3))


def centred(K):
    """A kernel matrix without its diagonal and its row effects, as every dependence sees it."""
    m = len(K)
    K = K * (1 - np.eye(m))
    f = (K.sum(1) - K.sum() / (2 * (m - 1))) / (m - 2)
    return (K - f[:, None] - f) * (1 - np.eye(m))
