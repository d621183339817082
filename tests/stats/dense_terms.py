"""Conditional means and HSICs from dense kernel matrices, for tests of what is done with them."""

from __future__ import annotations

import numpy as np

from brute_force import equation_8
from reldep.engine import Influence
from reldep.stats.estimates import estimate_dependences
from reldep.stats.pairwise import differences


def gaussian(x, bandwidth=1.0):
    x = np.asarray(x, float).reshape(len(x), -1)
    return np.exp(-((x[:, None] - x[None]) ** 2).sum(2) / (2 * bandwidth**2))


def distance(x):
    x = np.asarray(x, float).reshape(len(x), -1)
    return -np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))


def hsic(K, L):
    """The unbiased HSIC in its closed form (Song et al., 2012)."""
    m = len(K)
    K, L = K * (1 - np.eye(m)), L * (1 - np.eye(m))
    k, l = K.sum(1), L.sum(1)  # noqa: E741
    total = (K * L).sum() + k.sum() * l.sum() / ((m - 1) * (m - 2)) - 2 * k @ l / (m - 2)
    return total / (m * (m - 3))


def all_means(kernels):
    """A of all pairs of the variables, self-pairs included, and the pairs."""
    names = list(kernels)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    return np.array([equation_8(kernels[a], kernels[b]) for a, b in pairs]), pairs


def triple(seed=0, m=30, noises=(0.6, 1.2)):
    """A source and two targets."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    y, z = (x + noise * rng.normal(size=m) for noise in noises)
    return {"x": x, "y": y, "z": z}


def of_means(means, pairs, moved=None):
    """A with these conditional means, and with what bandwidths add to influence values."""
    names = dict.fromkeys(name for pair in pairs for name in pair)
    moved = np.zeros_like(means) if moved is None else moved
    return Influence(means, tuple(pairs), tuple(names), means.shape[1], bandwidth_psi=moved)


def left_out(means, pairs, wanted, measure, moved=None):
    """Estimates of the wanted pairs, with every row left out in turn."""
    return estimate_dependences(of_means(means, pairs, moved), wanted, measure, "jackknife")


def compared(found, i=0, j=1):
    """The test that dependences i and j are equal."""
    return differences(found, np.array([i]), np.array([j]))[0]
