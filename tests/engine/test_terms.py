"""The finishing formula against the definition of the U-statistic."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute_force
from reldep.data.variables import Numeric
from reldep.engine import Dense, Wanted, compute_influence
from reldep.engine.dense import most_held
from reldep.engine.terms import hsic, row_means
from reldep.kernels import Gaussian, Precomputed
from reldep.kernels.points import Points


def random_kernels(m, seed, names="xyz"):
    rng = np.random.default_rng(seed)
    kernels = {}
    for name in names:
        matrix = rng.normal(size=(m, m))
        rows = Numeric(name, np.arange(m, dtype=float)[:, None])
        kernels[name] = Precomputed(matrix + matrix.T).fit(rows)
    return kernels


PAIRS = (("x", "y"), ("x", "z"), ("x", "x"), ("z", "y"))


@pytest.mark.parametrize("m", range(5, 10))
def test_conditional_means_are_averages_over_all_4_tuples(m):
    kernels = random_kernels(m, seed=m)
    influence = compute_influence(kernels, PAIRS, Dense())
    for pair, row in zip(PAIRS, influence.values, strict=True):
        K, L = (kernels[name].matrix() for name in pair)
        expected = brute_force.conditional_means(K, L)
        np.testing.assert_allclose(row, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("m", [4, 5, 7])
def test_hsic_alone_is_the_average_over_all_4_tuples(m):
    kernels = random_kernels(m, seed=100 + m)
    terms = Dense().terms(kernels, Wanted(pairs=(), means=PAIRS))
    assert terms.crossed == {}
    for pair in PAIRS:
        K, L = (kernels[name].matrix() for name in pair)
        assert hsic(terms, pair) == pytest.approx(brute_force.hsic(K, L), rel=1e-10, abs=1e-12)


def test_mean_of_conditional_means_is_hsic():
    kernels = random_kernels(50, seed=1)
    influence = compute_influence(kernels, PAIRS, Dense())
    terms = Dense().terms(kernels, Wanted(pairs=PAIRS))
    np.testing.assert_allclose(
        influence.estimates, [hsic(terms, pair) for pair in PAIRS], rtol=1e-11, atol=1e-13
    )


def test_row_means_undo_the_shift():
    kernels = random_kernels(12, seed=2, names="x")
    terms = Dense().terms(kernels, Wanted(pairs=(), row_sums=("x",)))
    matrix = kernels["x"].matrix()
    np.fill_diagonal(matrix, 0)
    np.testing.assert_allclose(row_means(terms, "x"), matrix.sum(axis=1) / 11, rtol=1e-12)


def test_each_kernel_matrix_is_evaluated_once():
    calls = []

    class Counting:
        def __init__(self, name, kernel):
            self.name, self.kernel = name, kernel

        in_unit_interval = is_bounded = False

        def __len__(self):
            return len(self.kernel)

        def __call__(self, rows, cols):
            calls.append(self.name)
            return self.kernel(rows, cols)

    kernels = {n: Counting(n, k) for n, k in random_kernels(8, seed=3).items()}
    Dense().terms(kernels, Wanted(PAIRS))
    assert sorted(calls) == ["x", "y", "z"]


def conditional(K, L):
    rows = Numeric("x", np.arange(len(K), dtype=float)[:, None])
    kernels = {"x": Precomputed(K).fit(rows), "y": Precomputed(L).fit(rows)}
    return compute_influence(kernels, [("x", "y")], Dense()).values[0]


@st.composite
def symmetric_pairs(draw):
    m = draw(st.integers(5, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K, L = rng.normal(size=(2, m, m))
    return K + K.T, L + L.T, rng


@given(symmetric_pairs(), st.floats(-50, 50))
def test_a_constant_and_a_sum_of_functions_change_nothing(matrices, constant):
    K, L, rng = matrices
    f = rng.normal(size=len(K))
    changed = K + constant + f[:, None] + f[None, :]
    np.testing.assert_allclose(conditional(changed, L), conditional(K, L), rtol=1e-8, atol=1e-9)


@given(symmetric_pairs())
def test_the_diagonal_never_matters(matrices):
    K, L, rng = matrices
    changed = K + np.diag(rng.normal(size=len(K)))
    np.testing.assert_allclose(conditional(changed, L), conditional(K, L), rtol=1e-10, atol=1e-12)


@given(symmetric_pairs(), st.floats(-5, 5))
def test_scaling_a_kernel_scales_the_conditional_means(matrices, c):
    K, L, _ = matrices
    if abs(c) < 1e-3:
        return
    np.testing.assert_allclose(conditional(c * K, L), c * conditional(K, L), rtol=1e-9, atol=1e-11)


@given(symmetric_pairs())
def test_relabelling_observations_permutes_the_conditional_means(matrices):
    K, L, rng = matrices
    order = rng.permutation(len(K))
    permuted = conditional(K[np.ix_(order, order)], L[np.ix_(order, order)])
    np.testing.assert_allclose(permuted, conditional(K, L)[order], rtol=1e-9, atol=1e-12)


@given(symmetric_pairs())
def test_a_pair_is_the_same_in_both_orders(matrices):
    K, L, _ = matrices
    np.testing.assert_allclose(conditional(K, L), conditional(L, K), rtol=1e-10, atol=1e-12)


def test_the_matrices_of_many_targets_come_and_go():
    """One source with many targets holds two matrices at a time, all pairs hold all."""
    targets = [f"y{i}" for i in range(50)]
    star = tuple(("x", name) for name in targets)
    alone = tuple((name, name) for name in ("x", *targets))
    groups = [["x"], *([name] for name in targets)]
    assert most_held(groups, star) == 2
    assert most_held(groups, (*star, *alone)) == 2
    everything = tuple(itertools.combinations(["x", *targets], 2))
    assert most_held(groups, everything) == 51


def test_memory_does_not_grow_with_the_number_of_targets():
    rng = np.random.default_rng(0)
    rows = {name: Numeric(name, rng.normal(size=(300, 1))) for name in ["x", *map(str, range(30))]}
    kernels = {name: Gaussian(1.0).fit(row) for name, row in rows.items()}
    wanted = Wanted(tuple(("x", name) for name in kernels if name != "x"))
    Dense().terms(kernels, wanted)
    tracemalloc.start()
    Dense().terms(kernels, wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * Dense().cost(kernels, wanted).memory < 10 * 8 * 300**2


def test_one_kernel_with_many_bandwidths_measures_its_distances_once(monkeypatch):
    calls = []
    original = Points.squared_distances
    monkeypatch.setattr(
        Points, "squared_distances", lambda self, *a: calls.append(1) or original(self, *a)
    )
    rng = np.random.default_rng(0)
    fitted = {name: Gaussian(1.0).fit(Numeric(name, rng.normal(size=(40, 2)))) for name in "xy"}
    many = {f"{name}{f}": fitted[name].scaled(f) for name in "xy" for f in (0.5, 1.0, 2.0, 4.0)}
    pairs = [(f"x{f}", f"y{f}") for f in (0.5, 1.0, 2.0, 4.0)]
    together = compute_influence(many, pairs, Dense())
    assert len(calls) == 2
    for row, (x, y) in enumerate(pairs):
        alone = compute_influence({x: many[x], y: many[y]}, [(x, y)], Dense())
        np.testing.assert_allclose(together.values[row], alone.values[0], rtol=1e-12)


def test_a_row_is_found_by_either_order_of_its_pair():
    kernels = random_kernels(8, seed=3)
    found = compute_influence(kernels, [("x", "y"), ("z", "x")], Dense())
    assert [found.row(p) for p in (("y", "x"), ("x", "z"), ("z", "x"))] == [0, 1, 1]
    with pytest.raises(KeyError):
        found.row(("y", "z"))
