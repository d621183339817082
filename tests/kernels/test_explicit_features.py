"""Kernels with explicit features: ΦΦ' is the kernel matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.kernels import Delta, Gaussian, Linear, Polynomial

NUMBERS = np.random.default_rng(1).normal(size=(23, 3)) + 0.5
SPARSE = sparse.random_array((23, 4), density=0.4, rng=np.random.default_rng(2), format="csr")
LETTERS = list("abcaabbcdacbbacadcbaabd")


def as_dense(features):
    return features if isinstance(features, np.ndarray) else features.toarray()


@pytest.mark.parametrize(
    ("kernel", "data", "n_columns"),
    [
        (Linear(), NUMBERS, 3),
        (Linear(), SPARSE, 4),
        (Linear(), LETTERS, 4),
        (Delta(), LETTERS, 4),
        (Polynomial(1, scale=2.0), NUMBERS, 3),
        (Polynomial(2), NUMBERS, 10),
        (Polynomial(3, offset=0.7, scale=0.3), NUMBERS, 20),
        (Polynomial(2, offset=0.0, scale=2.0), NUMBERS, 6),
        (Polynomial(4, offset=2.0), NUMBERS[:, :1], 5),
        (Polynomial(2), SPARSE, 15),
    ],
)
def test_features_reproduce_the_kernel_matrix(kernel, data, n_columns):
    fitted = kernel.fit(read_variable(data, "x"))
    features = as_dense(fitted.features())
    np.testing.assert_allclose(features @ features.T, fitted.matrix(), rtol=1e-12, atol=1e-13)
    assert features.shape[1] == fitted.n_features == n_columns


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)])
@pytest.mark.parametrize("data", [NUMBERS, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("rows", [slice(5, 11), slice(0, None, 7), np.array([20, 3, 3])])
def test_features_of_some_rows_are_rows_of_all_features(kernel, data, rows):
    fitted = kernel.fit(read_variable(data, "x"))
    np.testing.assert_array_equal(
        as_dense(fitted.features(rows)), as_dense(fitted.features())[rows]
    )


def test_a_run_of_labels_keeps_the_columns_of_labels_it_does_not_hold():
    fitted = Delta().fit(read_variable(LETTERS, "x"))
    assert fitted.features(slice(0, 2)).shape == (2, 4)


def test_a_polynomial_with_too_many_monomials_has_no_features():
    # C(61 + 2, 2) = 1953 monomials are expanded, C(62 + 2, 2) = 2016 are not.
    few, many = np.eye(70)[:, :61], np.eye(70)[:, :62]
    assert Polynomial(2).fit(read_variable(few, "x")).n_features == 1953
    assert Polynomial(2).fit(read_variable(many, "x")).n_features is None


def test_a_gaussian_kernel_has_no_finite_features():
    fitted = Gaussian(bandwidth=1.0).fit(read_variable(NUMBERS, "x"))
    assert fitted.features() is None
    assert fitted.n_features is None
