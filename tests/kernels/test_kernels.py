"""Kernels of numbers, matrices and functions, and how they combine."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import reldep
import reldep.kernels as rk

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
    sparse = sp.csr_array(np.eye(4))
    product = rk.FunctionKernel(lambda a, b: (a @ b.T).toarray()).fit(sparse)
    assert len(product) == 4


def test_kernels_print_as_they_are_written():
    assert repr(rk.Precomputed(np.eye(3))) == "Precomputed(3×3)"
    product = rk.Gaussian() * rk.Delta()
    assert product.take(np.arange(2)) == product


def test_the_negative_of_a_distance_is_a_kernel():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    x = np.random.default_rng(0).normal(size=6)
    negative = reldep.hsic(rk.Precomputed(-D), x, kernel="distance")
    assert negative == pytest.approx(reldep.hsic(np.arange(6.0), x, kernel="distance"))
    assert len(rk.Precomputed(np.zeros((3, 3)))) == 3


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


def test_fitted_kernels_are_frozen_values():
    fitted = rk.Gaussian().fit(np.arange(9.0) ** 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.points = None
    with pytest.raises(ValueError, match="read-only"):
        fitted.points.rows[0] = 0
    assert list(fitted.describe()) == ["kernel", "bandwidth", "rule", "columns"]


def test_a_sum_inside_a_product_has_its_effects_of_row_and_column():
    x = np.random.default_rng(4).normal(size=(12, 1)) + 3
    found = ((rk.Gaussian(1.0) + rk.Polynomial(2)) * rk.Laplace(1.0))(x)
    gaps = np.abs(x - x.T)
    expected = (np.exp(-(gaps**2) / 2) + (x @ x.T + 1) ** 2) * np.exp(-gaps)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("columns", "expected"), [(61, 1953), (62, None)])
def test_a_polynomial_with_too_many_monomials_has_no_features(columns, expected):
    # C(61 + 2, 2) = 1953 monomials are expanded, C(62 + 2, 2) = 2016 are not.
    phi = rk.Polynomial(2).fit(np.eye(70)[:, :columns]).features(slice(0, 1))
    assert (None if phi is None else phi.shape[1]) == expected


def test_fine_structure_shows_that_one_scale_does_not_see():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 150)
    y = np.sin(8 * np.pi * x) + 0.3 * rng.normal(size=150)
    fine, plain = (reldep.cka(x, y, kernel=(k, "gaussian")) for k in ("gaussians", "gaussian"))
    assert fine > 2 * plain


@pytest.mark.parametrize("rule", [1.5, "median", "mean"])
def test_gaussians_are_the_sum_of_their_scales(rule):
    x = np.random.default_rng(5).normal(size=(12, 2))
    fitted = rk.Gaussians(rule, 0.5).fit(x)
    width = fitted.describe()["bandwidth"]
    expected = sum(rk.Gaussian(width * f)(x) for f in (0.25, 0.5, 1, 2, 4))
    np.testing.assert_allclose(fitted(ALL, ALL), expected, rtol=1e-12)
    np.testing.assert_allclose(rk.Gaussians(rule, 0.5)(x, x[:3]), expected[:, :3], rtol=1e-12)
    assert fitted.label == f"Gaussians(bandwidth={width:.6g} × 0.25, 0.5, 1, 2, 4)"
    assert fitted.scaled(2.0).describe()["bandwidth"] == pytest.approx(2 * width)
