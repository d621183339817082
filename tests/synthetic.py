"""The paper's synthetic data, written out once more: the tests do not trust the package's own."""

from __future__ import annotations

import numpy as np


def spirals(m, gamma3, seed, gamma1=0.3, gamma2=0.3):
    """The paper's synthetic data: source, first, second."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, m)

    def noisy(x, y, gamma):
        return np.column_stack([x, y]) + gamma * rng.normal(size=(m, 2))

    return (
        noisy(t, np.sin(t), gamma1),
        noisy(t * np.cos(t), t * np.sin(t), gamma2),
        noisy(t * np.cos(t), t * np.sin(t), gamma3),
    )
