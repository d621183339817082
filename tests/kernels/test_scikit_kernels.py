"""Kernels of scikit-learn, by object and by name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

import reldep
from reldep.data.objects import read_variable
from reldep.kernels import Columns, Gaussian, check_kernel
from reldep.kernels.choosing import NAMED, as_kernel, is_characteristic
from reldep.kernels.custom import PAIRWISE_NAMES

ALL = slice(None)

RNG = np.random.default_rng(2)
X = RNG.random((30, 3))
Y = X + 0.3 * RNG.random((30, 3))


def fitted(spec, data=X):
    variable = read_variable(data, "v")
    return as_kernel(spec, variable).fit(variable)


def test_every_pairwise_name_is_ours_or_scikit_learns():
    assert set(PAIRWISE_KERNEL_FUNCTIONS) == set(PAIRWISE_NAMES) | {"linear", "polynomial", "rbf"}
    assert not set(PAIRWISE_NAMES) & set(NAMED)


@pytest.mark.parametrize("name", PAIRWISE_NAMES)
def test_names_stand_for_the_functions_of_scikit_learn(name):
    np.testing.assert_allclose(
        fitted(name)(ALL, ALL), pairwise_kernels(X, X, metric=name), rtol=1e-13
    )
    assert fitted(name).label == name


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.5), 2.0 * Matern(0.7, nu=1.5), RationalQuadratic() + WhiteKernel(0.1), DotProduct()],
    ids=str,
)
def test_objects_are_taken_as_they_are(kernel):
    np.testing.assert_array_equal(fitted(kernel)(ALL, ALL), kernel(X, X))
    assert fitted(kernel).label == str(kernel)


def test_rbf_of_scikit_learn_is_our_gaussian():
    ours = reldep.hsic(X, Y, kernel=Gaussian(0.5))
    assert reldep.hsic(X, Y, kernel=RBF(0.5)) == pytest.approx(ours, rel=1e-12)
    assert reldep.hsic(X, Y, kernel=(RBF(0.5), Gaussian(0.5))) == pytest.approx(ours, rel=1e-12)


def test_noise_on_the_diagonal_changes_nothing():
    with_noise = reldep.hsic(X, Y, kernel=RBF(0.5) + WhiteKernel(3.0))
    assert with_noise == pytest.approx(reldep.hsic(X, Y, kernel=RBF(0.5)), rel=1e-12)


def test_sparse_rows_go_through_the_names():
    np.testing.assert_allclose(
        fitted("cosine", sp.csr_array(X))(ALL, ALL), fitted("cosine")(ALL, ALL)
    )


def test_which_of_scikit_learns_kernels_are_characteristic():
    yes = ["rbf", "laplacian", RBF(), Matern(), RationalQuadratic(), 2.0 * RBF(), RBF() * Matern()]
    yes += [RBF() + DotProduct(), DotProduct() + RBF()]
    no = ["cosine", "sigmoid", "poly", DotProduct(), RBF() * DotProduct(), WhiteKernel()]
    no += [ConstantKernel(2.0) * ConstantKernel(3.0), DotProduct() + WhiteKernel()]
    assert [is_characteristic(spec) for spec in yes] == [True] * len(yes)
    assert [is_characteristic(spec) for spec in no] == [False] * len(no)
    assert Columns({"a": "rbf"}).is_characteristic


def test_sigmoid_is_no_kernel_and_check_kernel_sees_it():
    report = check_kernel("sigmoid", 5 * X - 3, raise_on_failure=False)
    assert report.smallest_eigenvalue < -1e-3
