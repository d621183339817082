"""Columns, Standardized, sums and products: frames column by column."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.engine.influence import compute_influence
from reldep.kernels import (
    Columns,
    Delta,
    Gaussian,
    Laplace,
    Linear,
    Periodic,
    Standardized,
    Text,
)

M = 20
RNG = np.random.default_rng(11)
FRAME = pl.DataFrame(
    {
        "age": RNG.normal(50, 10, M),
        "weight": RNG.normal(7e4, 1e4, M),
        "hour": RNG.uniform(0, 24, M),
        "sex": ["f", "m"] * (M // 2),
        "note": [f"{word} and {i}" for i, word in enumerate(["good day", "bad night"] * (M // 2))],
    }
)
NUMBERS = ["age", "weight"]


PARTS = {
    "age": Gaussian()(FRAME["age"]),
    "hour": Periodic(24)(FRAME["hour"]),
    "sex": Delta()(FRAME["sex"]),
    "weight": Laplace()(FRAME["weight"]),
    "note": Text()(FRAME["note"]),
}
KERNELS = {
    "age": "gaussian",
    "hour": Periodic(24),
    "sex": Delta(),
    "weight": "laplace",
    "note": Text(),
}


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), FRAME.to_arrow()], ids=type)
def test_each_column_gets_its_own_kernel(frame):
    product = np.prod(list(PARTS.values()), axis=0)
    np.testing.assert_allclose(Columns(KERNELS)(frame), product, rtol=1e-12)
    summed = np.sum(list(PARTS.values()), axis=0)
    np.testing.assert_allclose(Columns(KERNELS, combine="sum")(frame), summed, rtol=1e-12)


def test_several_columns_can_share_a_kernel():
    shared = Columns({("age", "weight"): Standardized(), "sex": Delta()}, others="drop")
    expected = Standardized()(FRAME[NUMBERS]) * PARTS["sex"]
    np.testing.assert_allclose(shared(FRAME), expected)


def test_one_column_is_its_kernel_alone():
    only = Columns({"age": Gaussian()}, others="drop")
    np.testing.assert_array_equal(only(FRAME), PARTS["age"])
    assert only.fit(FRAME).label.startswith("Gaussian")


def test_columns_combine_with_other_kernels():
    frame = FRAME[["age", "sex"]]
    kernel = Columns({"age": Gaussian(), "sex": Delta()}) + Linear()
    expected = PARTS["age"] * PARTS["sex"] + Linear()(FRAME["age"])
    np.testing.assert_allclose(kernel(frame), expected)


def test_standardising_undoes_the_units():
    metric = np.column_stack([FRAME["age"], FRAME["weight"]])
    imperial = metric * [1.0, 0.00220462] + [0.0, 3.0]
    np.testing.assert_allclose(Standardized()(metric), Standardized()(imperial))
    scaled = metric / metric.std(axis=0)
    np.testing.assert_allclose(Standardized("laplace")(metric), Laplace()(scaled))


def test_standardising_leaves_a_constant_column_constant():
    with_constant = np.column_stack([FRAME["age"], np.full(M, 0.1)])
    np.testing.assert_allclose(Standardized()(with_constant), PARTS["age"])


def test_in_large_units_a_column_hides_what_standardising_shows():
    grams = RNG.normal(0, 1e4, 200)
    signal = RNG.normal(size=200)
    table = np.column_stack([grams, signal])
    y = signal + 0.5 * RNG.normal(size=200)
    plain = reldep.dependence(table, y, kernel="gaussian")
    equal = reldep.dependence(table, y, kernel=(Standardized(), "auto"))
    assert plain.pvalue > 0.01
    assert equal.pvalue < 1e-6


def test_following_the_deviations_comes_near_to_leaving_rows_out():
    """The influence with the deviations predicts what a sample without a row gives."""
    rng = np.random.default_rng(1)
    m = 150
    x = rng.normal(size=(m, 3)) * [1.0, 100.0, 0.01]
    y = x[:, 0] + 0.3 * x[:, 0] ** 2 + 0.5 * rng.normal(size=m)
    kernel = (Standardized(Gaussian("mean")), Gaussian(1.0))
    whole = reldep.hsic(x, y, kernel=kernel)
    rows = np.arange(m)
    moved = [whole - reldep.hsic(x[rows != i], y[rows != i], kernel=kernel) for i in rows[:40]]
    blocks = {"x": x, "y": y}
    fitted = {n: k.fit(blocks[n]) for n, k in zip("xy", kernel, strict=True)}
    influence = compute_influence(fitted, [("x", "y")], "dense", bandwidths=True)
    fixed = influence.psi[0, :40]
    followed = fixed + influence.bandwidth_psi[0, :40]
    errors = [np.std(m * np.array(moved) - psi) for psi in (fixed, followed)]
    assert errors[1] < 0.3 * errors[0]
