"""Products of matrices over a few rows at a time give the numbers of pair by pair."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from reldep.data.variables import Labels, Numeric
from reldep.engine import Dense, compute_influence, dense
from reldep.engine.terms import Wanted
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear

M = 23


def fitted(kernel):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(M, 5)) + rng.normal(size=(M, 1))
    kernels = {f"v{i}": kernel.fit(Numeric(f"v{i}", values[:, [i]])) for i in range(5)}
    codes = rng.integers(3, size=M)
    kernels["label"] = Delta().fit(Labels("label", codes, ("a", "b", "c")))
    return kernels


@pytest.mark.parametrize(
    "kernel", [Laplace(bandwidth="mean"), Gaussian(), Distance(), Linear()], ids=str
)
@pytest.mark.parametrize("held", [200_000_000, 1])
def test_many_pairs_are_computed_as_few_are(kernel, held, monkeypatch):
    kernels = fitted(kernel)
    # A of some pairs, and HSICs of others: also of two variables that are in no pair of A.
    pairs = [("v0", "v1"), ("v1", "v0"), ("v2", "v2"), ("v0", "label")]
    means = list(combinations_with_replacement(kernels, 2))
    few = compute_influence(kernels, pairs, Dense(), bandwidths=True, means=means)
    monkeypatch.setattr(dense, "MANY_PAIRS", 1)
    monkeypatch.setattr(dense, "HELD_BYTES", held)
    many = compute_influence(kernels, pairs, Dense(), bandwidths=True, means=means)
    for name in ("values", "bandwidth_psi"):
        np.testing.assert_allclose(getattr(many, name), getattr(few, name), rtol=1e-9, atol=1e-13)
    for pair in means:
        np.testing.assert_allclose(many.hsic(pair), few.hsic(pair), rtol=1e-9, atol=1e-13)


def test_memory_does_not_grow_with_the_number_of_matrices(monkeypatch):
    kernels = fitted(Linear())
    wanted = Wanted((("v0", "v1"),), means=tuple(combinations_with_replacement(kernels, 2)))
    monkeypatch.setattr(dense, "MANY_PAIRS", 1)
    rows = 8 * M * (1 + 4 * len(wanted.names()))
    assert Dense().cost(kernels, wanted).memory == 2 * dense.HELD_BYTES + rows
