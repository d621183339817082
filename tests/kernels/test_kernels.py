"""Kernels of all kinds: what they take, and what sets each apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

import reldep
import reldep.kernels as rk
from reldep import Survival
from reldep.engine.influence import compute_influence
from reldep.kernels.choosing import NAMED, is_characteristic
from reldep.kernels.custom import PAIRWISE_NAMES

ALL = slice(None)


def test_near_duplicates_in_sparse_columns_keep_their_small_distances():
    base = np.random.default_rng(1).normal(size=2000) * 100
    x = sp.csr_array(np.vstack([base, base, base + 1e-7, -base, 2 * base]))
    distances = -rk.Distance().fit(x)(ALL, ALL)
    assert distances[0, 1] == 0
    assert distances[0, 2] == pytest.approx(np.sqrt(2000) * 1e-7, rel=1e-6)


def test_functions_see_labels_as_values_and_objects_as_they_are():
    words = list("abca")
    same = rk.FunctionKernel(lambda a, b: a[:, None] == b).fit(words)
    np.testing.assert_array_equal(same(ALL, ALL), rk.Delta().fit(words)(ALL, ALL))
    sets = [{1}, {1, 2}, {3}, {1}]
    overlap = rk.FunctionKernel(lambda a, b: [[len(p & q) for q in b] for p in a]).fit(sets)
    assert overlap(ALL, ALL)[0].tolist() == [1, 1, 0, 1]
    assert len(overlap) == 4
    product = rk.FunctionKernel(lambda a, b: (a @ b.T).toarray()).fit(sp.csr_array(np.eye(4)))
    assert len(product) == 4


@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_a_matrix_of_the_wrong_size_is_a_mistake_in_the_input(missing):
    x = np.random.default_rng(0).normal(size=20)
    gaps = np.where(np.arange(20) == 19, np.nan, x) if missing == "drop" else x
    with pytest.raises(ValueError, match="5 rows"):
        reldep.hsic(gaps, x, kernel=(rk.Precomputed(np.eye(5)), "gaussian"), missing=missing)


def test_columns_follow_a_selection_of_rows():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30)})
    y = frame["a"].to_numpy() + rng.normal(size=30)
    y[[3, 17]] = np.nan
    known = rk.Precomputed(np.exp(-(np.subtract.outer(frame["a"].values, frame["a"].values) ** 2)))
    kernel = rk.Columns({"a": known, "b": rk.Gaussian(1.0)})
    dropped = reldep.dependence(frame, y, kernel=(kernel, "gaussian"), missing="drop")
    kept = ~np.isnan(y)
    both = rk.Columns({"a": rk.Gaussian(np.sqrt(0.5)), "b": rk.Gaussian(1.0)})
    plain = reldep.dependence(frame[kept], y[kept], kernel=(both, "gaussian"))
    assert dropped.estimate == pytest.approx(plain.estimate)


@pytest.mark.parametrize(("columns", "expected"), [(61, 1953), (62, None)])
def test_a_polynomial_with_too_many_monomials_has_no_features(columns, expected):
    # C(61 + 2, 2) = 1953 monomials are expanded, C(62 + 2, 2) = 2016 are not.
    phi = rk.Polynomial(2).fit(np.eye(70)[:, :columns]).features(slice(0, 1))
    assert (None if phi is None else phi.shape[1]) == expected


def test_following_the_deviations_comes_near_to_leaving_rows_out():
    """The influence with the deviations predicts what a sample without a row gives."""
    rng = np.random.default_rng(1)
    m = 150
    x = rng.normal(size=(m, 3)) * [1.0, 100.0, 0.01]
    y = x[:, 0] + 0.3 * x[:, 0] ** 2 + 0.5 * rng.normal(size=m)
    kernel = (rk.Standardized(rk.Gaussian("mean")), rk.Gaussian(1.0))
    whole = reldep.hsic(x, y, kernel=kernel)
    rows = np.arange(m)
    moved = [whole - reldep.hsic(x[rows != i], y[rows != i], kernel=kernel) for i in rows[:40]]
    fitted = {n: k.fit(v) for n, k, v in zip("xy", kernel, (x, y), strict=True)}
    influence = compute_influence(fitted, [("x", "y")], "dense", bandwidths=True)
    fixed = influence.psi[0, :40]
    followed = fixed + influence.bandwidth_psi[0, :40]
    errors = [np.std(m * np.array(moved) - psi) for psi in (fixed, followed)]
    assert errors[1] < 0.3 * errors[0]


def test_blocks_of_pixels_are_averaged_channel_by_channel():
    pictures = np.random.default_rng(5).integers(0, 256, (6, 5, 8, 3), dtype=np.uint8)
    reduced = rk.Images(max_side=3).reduce(pictures)
    # 5 × 8 pixels in blocks of 3: 2 × 3, the last ones smaller.
    assert reduced.shape == (6, 2, 3, 3)
    assert reduced[1, 0, 0, 2] == pytest.approx(pictures[1, :3, :3, 2].mean())
    assert reduced[4, 1, 2, 0] == pytest.approx(pictures[4, 3:, 6:, 0].mean())


def test_set_kernels_tell_apart_all_distributions_on_a_small_universe():
    """On all 16 sets of four elements no weights give the same mean as any others."""
    rows = np.array([[(i >> bit) & 1 for bit in range(4)] for i in range(16)])
    for kernel in (rk.Jaccard(), rk.MinMax()):
        assert np.linalg.eigvalsh(kernel(rows)).min() > 0.01


def test_edit_distance_is_not_positive_semi_definite_on_every_set_of_strings():
    words = ["abb", "aba", "aaba", "aab", "aa"]
    report = rk.check_kernel(rk.EditDistance(bandwidth=10), words, raise_on_failure=False)
    assert report.smallest_eigenvalue < -0.1
    assert rk.check_kernel(rk.Spectrum(2), words).ok


def walks(n, longest, n_columns, *, equal):
    rng = np.random.default_rng(longest)
    lengths = [longest if equal else rng.integers(longest // 2, longest + 1) for _ in range(n)]
    return [rng.normal(size=(length, n_columns)).cumsum(axis=0) for length in lengths]


@pytest.mark.parametrize(
    ("data", "bandwidth"),
    [
        (walks(9, 30, 1, equal=True), 20.0),
        (walks(9, 30, 2, equal=False), 20.0),
        (walks(4, 450, 1, equal=False), 300.0),
        (walks(6, 20, 1, equal=False), 0.3),
        ([np.array([[1.0]]), np.array([[2.0], [1.0]]), np.array([[0.0]])], 1.0),
    ],
    ids=["equal lengths", "tables", "long", "narrow", "single points"],
)
def test_the_values_of_series_are_those_of_tslearn(data, bandwidth):
    from tslearn.metrics import cdist_gak
    from tslearn.utils import to_time_series_dataset

    fitted = rk.TimeSeries(bandwidth).fit(data)
    expected = cdist_gak(to_time_series_dataset(data), sigma=bandwidth)
    np.testing.assert_allclose(fitted(ALL, ALL), expected, atol=1e-11)
    half = len(data) // 2
    block = fitted(slice(0, half), slice(half, len(data)))
    np.testing.assert_allclose(block, expected[:half, half:], atol=1e-11)


def lifetimes(m, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    lifetime, left = rng.exponential(np.exp(-x)), rng.exponential(1.5, m)
    return x, np.minimum(lifetime, left), lifetime <= left


def test_with_a_constant_weight_a_group_has_its_log_rank_statistic():
    x, time, event = lifetimes(60, seed=1)
    group = x > 0
    values = rk.LogRank(1e6)(Survival(time, event))
    signed = np.sign(values[0]) * np.sqrt(np.diag(values))
    variance = sum(
        (p := (group & (time >= t)).sum() / (n := (time >= t).sum())) * (1 - p) * (n > 1)
        for t in np.unique(time[event])
    )
    first, second = (
        stats.CensoredData.right_censored(time[rows], ~event[rows]) for rows in (group, ~group)
    )
    z = abs(stats.logrank(first, second).statistic)
    assert abs(signed[group].sum()) / np.sqrt(variance) == pytest.approx(z, rel=1e-6)


def test_lifetimes_without_a_time_can_be_dropped():
    x, time, event = lifetimes(40)
    patients = Survival(np.where(np.arange(40) == 3, np.nan, time), event)
    assert reldep.dependence(patients, x, missing="drop").n_observations == 39


def test_every_pairwise_name_is_ours_or_scikit_learns():
    assert set(PAIRWISE_KERNEL_FUNCTIONS) == set(PAIRWISE_NAMES) | {"linear", "polynomial", "rbf"}
    assert not set(PAIRWISE_NAMES) & set(NAMED)


def test_which_of_scikit_learns_kernels_are_characteristic():
    yes = ["rbf", "laplacian", RBF(), Matern(), RationalQuadratic(), 2.0 * RBF(), RBF() * Matern()]
    yes += [RBF() + DotProduct(), DotProduct() + RBF(), rk.Columns({"a": "rbf"})]
    no = ["cosine", "sigmoid", "poly", DotProduct(), RBF() * DotProduct(), WhiteKernel()]
    no += [ConstantKernel(2.0) * ConstantKernel(3.0), DotProduct() + WhiteKernel()]
    assert [is_characteristic(spec) for spec in (*yes, *no)] == [True] * len(yes) + [False] * len(
        no
    )
