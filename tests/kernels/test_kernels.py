"""Each kernel by its formula, in blocks and whole, on dense and sparse rows."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reldep
from reldep.data.objects import read_variable
from reldep.engine import Dense, Tiled
from reldep.kernels import (
    Columns,
    Delta,
    Distance,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
)

VECTOR_KERNELS = [
    Gaussian(),
    Gaussian(1.3),
    Gaussian(factor=0.5),
    Laplace(),
    Laplace(2),
    Linear(),
    Polynomial(3, 0.5, 0.2),
    Polynomial(1, 0.5, 0.2),
    Distance(),
    Distance(0.7),
    Delta(),
    Gaussian() * Laplace(),
    Gaussian() + Linear(),
    (Gaussian() + Linear()) * Laplace(),
]


def rows(m, d, seed=0):
    table = np.random.default_rng(seed).normal(size=(m, d)) + 5
    table[1] = table[0]
    return table


def formula(kernel: Kernel, x):
    """The kernel matrix by definition."""
    difference = x[:, None] - x[None]
    d = np.sqrt(np.square(difference).sum(axis=2))
    median = np.median(d[np.triu_indices(len(x), 1)])
    if isinstance(kernel, (Gaussian, Laplace)):
        sigma = kernel.factor * (median if kernel.bandwidth == "median" else kernel.bandwidth)
        return (
            np.exp(-(d**2) / (2 * sigma**2)) if isinstance(kernel, Gaussian) else np.exp(-d / sigma)
        )
    if isinstance(kernel, Distance):
        return -(d**kernel.exponent)
    if isinstance(kernel, Delta):
        return (d == 0).astype(float)
    centre = np.sort(x, axis=0)[[(len(x) - 1) // 2]]
    if isinstance(kernel, Linear):
        return (x - centre) @ (x - centre).T

    def power(a, b):
        return (kernel.scale * a @ b.T + kernel.offset) ** kernel.degree

    # Less the effects of row and column, as seen from the median.
    return power(x, x) - power(x, centre) - power(centre, x) + power(centre, centre)


@pytest.mark.parametrize("d", [1, 3, 60])
@pytest.mark.parametrize("kernel", VECTOR_KERNELS[:11], ids=str)
def test_kernels_follow_their_formula(kernel, d):
    x = rows(20, d)
    matrix = kernel.fit(read_variable(x, "x")).matrix()
    np.testing.assert_allclose(matrix, formula(kernel, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_blocks_are_parts_of_the_whole_and_symmetric(kernel, sparse):
    x = rows(23, 30)
    if sparse:
        if isinstance(kernel, Delta):
            return
        x = sp.csr_array(np.where(x > 5.5, x, 0.0))
    fitted = kernel.fit(read_variable(x, "x"))
    whole = fitted.matrix()
    assert len(fitted) == 23
    np.testing.assert_allclose(fitted(slice(3, 9), slice(7, 23)), whole[3:9, 7:23], rtol=1e-12)
    np.testing.assert_allclose(whole, whole.T, rtol=1e-12)
    assert fitted.label


@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
@given(seed=st.integers(0, 1000), m=st.integers(4, 20))
def test_kernels_are_positive_semi_definite_once_centred(kernel, seed, m):
    matrix = formula_free_matrix(kernel, seed, m)
    centre = np.eye(m) - 1 / m
    smallest = np.linalg.eigvalsh(centre @ matrix @ centre).min()
    assert smallest > -1e-9 * np.abs(matrix).max() * m


def formula_free_matrix(kernel, seed, m):
    x = np.random.default_rng(seed).normal(size=(m, 2)).round(1)
    x[-1] = x[0]
    x[1:3] = [[7.0, 1.0], [-3.0, 2.0]]
    return kernel.fit(read_variable(x, "x")).matrix()


def test_near_duplicates_in_many_columns_keep_their_small_distances():
    base = np.random.default_rng(1).normal(size=2000) * 100
    x = np.vstack([base, base, base + 1e-7, -base, 2 * base])
    for data in (x, sp.csr_array(x)):
        distances = -Distance().fit(read_variable(data, "x")).matrix()
        assert distances[0, 1] == 0
        assert distances[0, 2] == pytest.approx(np.sqrt(2000) * 1e-7, rel=1e-6)


def test_explicit_features_multiply_to_the_kernel():
    words = read_variable(list("abcabca"), "w")
    numbers = read_variable(rows(9, 4), "x")
    for fitted in (Delta().fit(words), Linear().fit(words)):
        phi = fitted.features()
        np.testing.assert_array_equal((phi @ phi.T).toarray(), fitted.matrix())
    phi = Linear().fit(numbers).features()
    np.testing.assert_allclose(phi @ phi.T, Linear().fit(numbers).matrix())
    assert Gaussian().fit(numbers).features() is None


def test_linear_on_labels_is_delta():
    words = read_variable(list("abcabca"), "w")
    np.testing.assert_array_equal(Linear().fit(words).matrix(), Delta().fit(words).matrix())


def test_fitted_kernels_are_frozen_values():
    fitted = Gaussian().fit(read_variable(rows(9, 2), "x"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.profile = None
    with pytest.raises(ValueError, match="read-only"):
        fitted.points.rows[0] = 0
    assert list(fitted.describe()) == ["kernel", "bandwidth", "rule"]
    assert fitted.describe()["rule"] == "median"
    assert (
        Gaussian(factor=2.0).fit(read_variable(rows(9, 2), "x")).describe()["rule"] == "2 × median"
    )


def test_which_kernels_are_characteristic():
    characteristic = [Gaussian(), Laplace(), Delta(), Distance(), Gaussian() * Delta()]
    others = [Linear(), Polynomial(), Distance(2), Gaussian() + Delta(), Gaussian() * Linear()]
    assert all(kernel.is_characteristic for kernel in characteristic)
    assert not any(kernel.is_characteristic for kernel in others)
    assert not Precomputed(np.eye(3)).is_characteristic


def test_scaled_kernels_multiply_their_factor():
    assert Gaussian(factor=2).scaled(3) == Gaussian(factor=6)
    assert Laplace(5.0).scaled(0.5) == Laplace(5.0, 0.5)


def test_functions_see_labels_as_values_and_objects_as_they_are():
    words = read_variable(list("abca"), "w")
    same = FunctionKernel(lambda a, b: a[:, None] == b).fit(words)
    np.testing.assert_array_equal(same.matrix(), Delta().fit(words).matrix())
    sets = read_variable([{1}, {1, 2}, {3}, {1}], "s")
    overlap = FunctionKernel(lambda a, b: [[len(p & q) for q in b] for p in a]).fit(sets)
    assert overlap.matrix()[0].tolist() == [1, 1, 0, 1]
    assert len(overlap) == 4
    sparse = read_variable(sp.csr_array(np.eye(4)), "e")
    product = FunctionKernel(lambda a, b: (a @ b.T).toarray()).fit(sparse)
    assert len(product) == 4


def test_precomputed_matrices_tell_whether_they_lie_in_the_unit_interval():
    x = read_variable(np.arange(3.0), "x")
    unit = np.array([[1, 0.2, 0.1], [0.2, 1, 0.5], [0.1, 0.5, 1]])
    assert Precomputed(unit).fit(x).in_unit_interval
    assert not Precomputed(-unit).fit(x).in_unit_interval
    assert repr(Precomputed(unit)) == "Precomputed(3×3)"
    product = Gaussian() * Delta()
    assert product.fit(read_variable(rows(5, 1), "x")).in_unit_interval
    assert product.take(np.arange(2)) == product


def test_kernels_combine_with_kernels_only():
    with pytest.raises(TypeError):
        Gaussian() + 1
    with pytest.raises(TypeError):
        Gaussian() * "delta"


def test_a_precomputed_distance_is_refused_and_its_negative_is_not():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    with pytest.raises(ValueError, match=r"like a matrix of distances; .* pass Precomputed\(-D\)"):
        Precomputed(D)
    x = np.random.default_rng(0).normal(size=6)
    negative = reldep.hsic(Precomputed(-D), x, kernel="distance")
    assert negative == pytest.approx(reldep.hsic(np.arange(6.0), x, kernel="distance"))
    assert len(Precomputed(np.zeros((3, 3)))) == 3


@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_a_matrix_of_the_wrong_size_is_a_mistake_in_the_input(missing):
    x = np.random.default_rng(0).normal(size=20)
    gaps = np.where(np.arange(20) == 19, np.nan, x) if missing == "drop" else x
    with pytest.raises(ValueError, match="5 rows"):
        reldep.hsic(gaps, x, kernel=(Precomputed(np.eye(5)), "gaussian"), missing=missing)


def test_columns_follow_a_selection_of_rows():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30)})
    y = frame["a"].to_numpy() + rng.normal(size=30)
    y[[3, 17]] = np.nan
    known = Precomputed(np.exp(-(np.subtract.outer(frame["a"].values, frame["a"].values) ** 2)))
    kernel = Columns({"a": known, "b": Gaussian(1.0)})
    dropped = reldep.dependence(frame, y, kernel=(kernel, "gaussian"), missing="drop")
    kept = ~np.isnan(y)
    both = Columns({"a": Gaussian(np.sqrt(0.5)), "b": Gaussian(1.0)})
    plain = reldep.dependence(frame[kept], y[kept], kernel=(both, "gaussian"))
    assert dropped.estimate == pytest.approx(plain.estimate)


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3, 0.0, 0.5), Polynomial(4)], ids=str)
def test_far_from_zero_a_polynomial_keeps_its_digits(kernel):
    """With exact fractions as the reference, 1e8 away from 0."""
    x = np.round(np.random.default_rng(0).normal(size=6), 3)
    far = [Fraction(value).limit_denominator(1000) + 10**8 for value in x]
    scale, offset = Fraction(kernel.scale), Fraction(kernel.offset)
    exact = [[(scale * a * b + offset) ** kernel.degree for b in far] for a in far]
    means = [sum(row) / len(far) for row in exact]
    middle = sum(means) / len(far)
    centred = [
        [float(exact[i][j] - means[i] - means[j] + middle) for j in range(6)] for i in range(6)
    ]
    fitted = kernel.fit(read_variable(np.array([float(value) for value in far]), "far"))
    centre = np.eye(6) - 1 / 6
    size = np.abs(centred).max()
    # The inputs themselves are only known to 1e-16 of 1e8.
    np.testing.assert_allclose(centre @ fitted.matrix() @ centre, centred, atol=1e-7 * size)
    features = fitted.features()
    np.testing.assert_allclose(features @ features.T, fitted.matrix(), rtol=1e-9, atol=1e-9 * size)


def test_engines_agree_on_a_polynomial_far_from_zero():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 60))
    engines = (Dense(), Tiled(compiled=True), Tiled(compiled=False), "features")
    values = [
        reldep.cka(x + 1e8, x + y, kernel=(Polynomial(2), "linear"), engine=engine)
        for engine in engines
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-9)


def test_in_a_product_a_polynomial_counts_whole():
    x = np.random.default_rng(2).normal(3.0, 1.0, (9, 2))
    kernel = Polynomial(2) * Gaussian(1.0)
    whole = kernel.fit(read_variable(x, "x")).matrix()
    np.testing.assert_allclose(whole, Polynomial(2)(x) * Gaussian(1.0)(x), rtol=1e-9)
