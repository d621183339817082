"""Many variables beside a few fixed ones: the same A as from the engines, one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest

from reldep.data.variables import Labels, Numeric
from reldep.engine.choose import SIZES
from reldep.engine.scan import Batches, EngineBatches, make_batches
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear

M = 40


def table(n=30, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(M, n))
    values[:, 1] = np.round(values[:, 1])
    values[:, 2] *= 1e-4
    return [Numeric(f"v{i}", values[:, [i]]) for i in range(n)]


def fixed_kernels(kernel):
    rng = np.random.default_rng(1)
    blocks = [Numeric("y", rng.normal(size=(M, 3))), Numeric("z", rng.normal(size=(M, 1)))]
    return [kernel.fit(block) for block in blocks]


def by_engine(fixed):
    return EngineBatches(dict(zip("yz", fixed, strict=True)))


KERNELS = [
    Laplace(bandwidth="mean"),
    Gaussian(),
    Gaussian(bandwidth="mean", factor=0.5),
    Laplace(bandwidth=0.7),
    Distance(),
    Distance(exponent=1.5),
    Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n", [SIZES.scan_columns, SIZES.scan_columns - 1])
def test_batches_agree_with_the_engines(kernel, n):
    """Few columns are done without compiled code."""
    fixed, variables = fixed_kernels(kernel), table(n)
    one = Batches(fixed).batch([kernel] * n, variables)
    other = by_engine(fixed).batch([kernel] * n, variables)
    for name in ("means", "moves"):
        size = np.abs(getattr(other, name)).max(axis=(1, 2), keepdims=True)
        gap = np.abs(getattr(one, name) - getattr(other, name))
        assert (gap <= 1e-11 * size).all(), name


def test_the_fixed_variables_agree_with_the_engines():
    fixed = fixed_kernels(Laplace(bandwidth="mean"))
    one, other = Batches(fixed), by_engine(fixed)
    for name in ("own_means", "own_moves", "hsics"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11, atol=1e-15)


def test_variables_of_several_kinds_go_side_by_side():
    variables = table(25)
    codes = np.random.default_rng(2).integers(3, size=M)
    variables[4] = Labels("label", codes, ("a", "b", "c"))
    kernels = [Laplace(bandwidth="mean")] * 25
    kernels[4], kernels[7] = Delta(), Linear()
    fixed = fixed_kernels(Gaussian())
    one = Batches(fixed).batch(kernels, variables)
    other = by_engine(fixed).batch(kernels, variables)
    size = np.abs(other.means).max(axis=(1, 2), keepdims=True)
    assert (np.abs(one.means - other.means) <= 1e-11 * size).all()


def test_a_column_with_a_single_other_value_has_no_energy():
    values = np.zeros((M, 1))
    values[3] = 1.0
    variables = [Numeric("one", values)] * 25
    kernel = Laplace(bandwidth="mean")
    made = Batches(fixed_kernels(kernel)).batch([kernel] * 25, variables)
    assert not made.means.any()


def test_another_engine_goes_one_variable_at_a_time():
    fixed = dict(zip("ab", fixed_kernels(Linear()), strict=True))
    assert isinstance(make_batches(fixed, "auto"), Batches)
    assert isinstance(make_batches(fixed, "tiled"), EngineBatches)
