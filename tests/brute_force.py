"""The U-statistic by its definition: an average over all 4-tuples of distinct observations.

The oracle for everything else. Slow on purpose: it shares no formula with the package.
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
