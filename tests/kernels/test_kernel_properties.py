"""What every kernel must be: symmetric, positive semi-definite, the same block by block."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import eval_legendre

import reldep
from reldep.data.objects import read_variable
from reldep.kernels import (
    Angles,
    Columns,
    Delta,
    EditDistance,
    Embedding,
    Gaussian,
    Haversine,
    Images,
    Jaccard,
    Laplace,
    MinMax,
    Periodic,
    Spectrum,
    Standardized,
    Text,
    TimeSeries,
    WeisfeilerLehman,
)
from reldep.kernels.choosing import as_kernel

WORDS = ("tea", "milk", "rice", "bread", "salt", "egg", "apple", "fish")


def strings(rng, m):
    return ["".join(rng.choice(list("ACGT"), rng.integers(4, 9))) for _ in range(m)]


def texts(rng, m):
    return [" ".join(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(m)]


def sets(rng, m):
    # The empty set is one of them.
    return [set(), *(set(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(m - 1))]


def counters(rng, m):
    return [Counter(rng.choice(WORDS, rng.integers(1, 9)).tolist()) for _ in range(m)]


def counts(rng, m):
    return rng.poisson(1.0, (m, 5))


def sparse_counts(rng, m):
    return sp.csr_array(counts(rng, m))


def graphs(rng, m):
    return [nx.gnp_random_graph(int(rng.integers(2, 8)), 0.4, seed=rng) for _ in range(m)]


def pictures(rng, m):
    return rng.integers(0, 256, (m, 9, 7, 3), dtype=np.uint8)


def series(rng, m):
    return [rng.normal(size=(rng.integers(1, 7), 2)) for _ in range(m)]


def angles(rng, m):
    return rng.uniform(-360, 720, (m, 2))


def places(rng, m):
    return np.column_stack([rng.uniform(-90, 90, m), rng.uniform(-180, 180, m)])


def frames(rng, m):
    return pd.DataFrame(
        {"age": rng.normal(50, 9, m), "sex": ["f", "m"] * (m // 2) + ["f"] * (m % 2)}
    )


CASES = {
    "Text": (Text(), texts),
    "Text stemmed": (Text("en", kernel="linear"), texts),
    "Spectrum": (Spectrum(2), strings),
    "Spectrum raw": (Spectrum(3, normalize=False), strings),
    "Jaccard": (Jaccard(), sets),
    "MinMax": (MinMax(), counts),
    "MinMax sparse": (MinMax(), sparse_counts),
    "MinMax counters": (MinMax(), counters),
    "WeisfeilerLehman": (WeisfeilerLehman(2), graphs),
    "WeisfeilerLehman raw": (WeisfeilerLehman(1, normalize=False), graphs),
    "Images": (Images(4), pictures),
    "Embedding": (Embedding(lambda a: a**2, batch_size=3, kernel="laplace"), counts),
    "Periodic": (Periodic(24.0), angles),
    "Angles": (Angles("degrees"), angles),
    "Angles vectors": (Angles("vectors", bandwidth=0.7), angles),
    "Haversine": (Haversine(), places),
    "Columns product": (Columns({"age": "gaussian", "sex": Delta()}), frames),
    "Columns sum": (Columns({"age": Laplace(), "sex": "delta"}, combine="sum"), frames),
    "Standardized": (Standardized(), angles),
    "rbf": ("rbf", counts),
    "chi2": ("chi2", counts),
    "laplacian": ("laplacian", counts),
    "cosine": ("cosine", angles),
}
# Slow, or no kernel in the strict sense: only their blocks are checked with the others.
CASES_BY_BLOCK = CASES | {
    "EditDistance": (EditDistance(), strings),
    "TimeSeries": (TimeSeries(), series),
}


def fitted(case, seed, m):
    kernel, make = CASES_BY_BLOCK[case]
    variable = read_variable(make(np.random.default_rng(seed), m), "v")
    return as_kernel(kernel, variable).fit(variable)


def smallest_eigenvalue(matrix):
    centre = np.eye(len(matrix)) - 1 / len(matrix)
    return np.linalg.eigvalsh(centre @ matrix @ centre).min()


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), m=st.integers(8, 20))
def test_kernels_are_positive_semi_definite(case, seed, m):
    matrix = fitted(case, seed, m).matrix()
    assert np.isfinite(matrix).all()
    assert smallest_eigenvalue(matrix) > -1e-9 * np.abs(matrix).max() * m


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_global_alignment_is_positive_semi_definite(seed):
    matrix = fitted("TimeSeries", seed, 12).matrix()
    assert smallest_eigenvalue(matrix) > -1e-9


@pytest.mark.parametrize("case", CASES_BY_BLOCK)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), cut=st.integers(1, 11), other=st.integers(1, 11))
def test_blocks_are_parts_of_the_whole(case, seed, cut, other):
    kernel = fitted(case, seed, 12)
    whole = kernel.matrix()
    assert len(kernel) == 12
    np.testing.assert_allclose(whole, whole.T, rtol=1e-12, atol=1e-14)
    for rows in (slice(0, cut), slice(cut, 12)):
        block = kernel(rows, slice(other, 12))
        np.testing.assert_allclose(block, whole[rows, other:], rtol=1e-9, atol=1e-12)
        # What a caller writes into a block stays there.
        block.fill(7.0)
    np.testing.assert_array_equal(kernel.matrix(), whole)


@pytest.mark.parametrize("case", CASES_BY_BLOCK)
def test_values_that_claim_the_unit_interval_lie_in_it(case):
    kernel = fitted(case, 1, 12)
    matrix = kernel.matrix()
    assert not kernel.in_unit_interval or (matrix.min() >= 0 and matrix.max() <= 1 + 1e-12)
    assert kernel.label == kernel.describe()["kernel"] != ""


@pytest.mark.parametrize("case", ["Text stemmed", "Spectrum", "WeisfeilerLehman"])
def test_explicit_features_multiply_to_the_kernel(case):
    kernel = fitted(case, 2, 15)
    phi = kernel.features()
    assert sp.issparse(phi)
    np.testing.assert_allclose((phi @ phi.T).toarray(), kernel.matrix(), atol=1e-14)


def test_which_kernels_are_characteristic():
    yes = [
        Jaccard(),
        MinMax(),
        Periodic(7),
        Angles("radians"),
        Haversine(),
        Standardized(),
        Images(max_side=None),
        Columns({"a": "auto", "b": Delta()}),
        Columns({"a": Gaussian()}, combine="sum"),
    ]
    no = [
        Text(),
        Spectrum(),
        EditDistance(),
        WeisfeilerLehman(),
        Images(),
        Images(max_side=None, kernel="linear"),
        Embedding(len),
        TimeSeries(),
        Standardized("linear"),
        Columns({"a": Gaussian(), "b": Delta()}, combine="sum"),
        Columns({"a": Gaussian(), "b": "linear"}),
        Columns({"a": lambda a, b: a @ b.T}),
    ]
    assert [kernel.is_characteristic for kernel in yes] == [True] * len(yes)
    assert [kernel.is_characteristic for kernel in no] == [False] * len(no)


def test_set_kernels_tell_apart_all_distributions_on_a_small_universe():
    """On all 16 sets of four elements no weights give the same mean as any others."""
    rows = np.array([[(i >> bit) & 1 for bit in range(4)] for i in range(16)])
    for kernel in (Jaccard(), MinMax()):
        matrix = kernel.fit(read_variable(rows, "v")).matrix()
        assert np.linalg.eigvalsh(matrix).min() > 0.01


def test_great_circle_kernel_tells_apart_all_distributions_on_the_sphere():
    """Universal on the sphere: every Legendre coefficient of the kernel is positive."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    theta = 0.5 * np.pi * (nodes + 1)
    for sigma in (0.05, 0.5, 3.0):
        profile = np.exp(-theta / sigma) * np.sin(theta) * weights
        coefficients = [profile @ eval_legendre(n, np.cos(theta)) for n in range(40)]
        assert min(coefficients) > 0


@pytest.mark.parametrize("case", CASES_BY_BLOCK)
def test_frozen_kernels_follow_a_permutation_of_the_observations(case):
    kernel, make = CASES_BY_BLOCK[case]
    variable = read_variable(make(np.random.default_rng(3), 10), "v")
    kernel = as_kernel(kernel, variable)
    before = kernel.fit(variable)
    order = np.random.default_rng(4).permutation(10)
    after = kernel.frozen(before).take(order).fit(variable.take(order))
    expected = before.matrix()[np.ix_(order, order)]
    np.testing.assert_allclose(after.matrix(), expected, rtol=1e-9, atol=1e-12)
    assert after.describe().get("bandwidth") == pytest.approx(before.describe().get("bandwidth"))


def test_texts_are_read_once_for_all_permutations(monkeypatch):
    rng = np.random.default_rng(5)
    read = []
    original = Text.rows
    monkeypatch.setattr(Text, "rows", lambda self, v: read.append(1) or original(self, v))
    y = rng.normal(size=30)
    reldep.dependence(
        y,
        texts(rng, 30),
        kernel=("auto", Text()),
        test="permutation",
        n_permutations=20,
        rng=1,
    )
    assert len(read) == 1


@pytest.mark.parametrize("case", CASES_BY_BLOCK)
def test_all_engines_agree(case):
    kernel, make = CASES_BY_BLOCK[case]
    rng = np.random.default_rng(6)
    data, y, z = make(rng, 24), rng.normal(size=24), rng.normal(size=24)
    engines = ["tiled"] + ["features"] * (case in {"Spectrum", "WeisfeilerLehman"})
    kernels = (kernel, "linear", "linear")
    expected = reldep.compare(data, y, z, kernel=kernels, engine="dense").statistic
    for engine in engines:
        found = reldep.compare(data, y, z, kernel=kernels, engine=engine).statistic
        assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    "case",
    ["Text", "Images", "Periodic", "Haversine", "EditDistance", "TimeSeries", "Standardized"],
)
def test_bandwidths_of_all_kinds_can_be_varied(case):
    before = fitted(case, 7, 12)
    after = before.scaled(2.0)
    assert after.describe()["bandwidth"] == pytest.approx(2 * before.describe()["bandwidth"])
    assert after.describe()["rule"] == "2 × median"
    off_diagonal = ~np.eye(12, dtype=bool)
    assert after.matrix()[off_diagonal].mean() > before.matrix()[off_diagonal].mean()
