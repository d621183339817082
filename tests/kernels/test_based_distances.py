"""Distances as seen from the centre: the same dependence, with digits left for near points."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.kernels import Distance, Gaussian, Laplace, Linear, Polynomial
from reldep.kernels.sizes import FittedBased

EVERYTHING = slice(0, 12)


def with_far_rows(columns, far=1e5):
    rows = np.random.default_rng(2).normal(size=(12, columns))
    rows[3] *= far
    rows[7] = -far * rows[7]
    rows[9] = 0.0
    rows[10] = rows[3]
    return rows - np.sort(rows, axis=0)[5]


@pytest.mark.parametrize("columns", [1, 2, 40])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.3, 2.0])
def test_they_differ_from_distances_by_the_effects_of_row_and_column(columns, exponent):
    rows = with_far_rows(columns)
    fitted = Distance(exponent).fit(read_variable(rows, "x"))
    based = fitted.conditioned()
    assert isinstance(based, FittedBased)
    lengths = np.linalg.norm(rows, axis=1) ** exponent
    expected = fitted.matrix() + lengths[:, None] + lengths
    np.testing.assert_allclose(based.matrix(), expected, atol=1e-14 * np.abs(expected).max())
    some = np.array([3, 9, 1])
    taken = based.take(some).matrix()
    np.testing.assert_allclose(taken, based.matrix()[np.ix_(some, some)], rtol=1e-12)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_near_points_keep_all_their_digits(exponent):
    """Judged by decimal arithmetic with a hundred digits."""
    rows = with_far_rows(1, far=1e30)
    found = Distance(exponent).fit(read_variable(rows, "x")).conditioned().matrix()
    with localcontext() as context:
        context.prec = 100
        exact, p = [Decimal(float(v)) for v in rows.ravel()], Decimal(exponent)
        expected = [
            [float(abs(a) ** p + abs(b) ** p - abs(a - b) ** p) for a in exact] for b in exact
        ]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_points_without_far_ones_are_left_alone():
    fitted = Distance().fit(read_variable(np.arange(12.0), "x"))
    assert fitted.conditioned() is fitted


@pytest.mark.parametrize("size", [1e-300, 1e-120, 1e120, 1e300])
@pytest.mark.parametrize("kernel", [Linear(), Distance(), Polynomial(2, 0.0)], ids=str)
def test_a_proportional_kernel_has_a_constant_ratio_to_the_kernel(kernel, size):
    rows = np.random.default_rng(3).normal(size=(12, 2))
    plain = kernel.fit(read_variable(rows, "x")).matrix()
    found = kernel.fit(read_variable(size * rows, "x")).proportional().matrix()
    off_diagonal = ~np.eye(12, dtype=bool) & (np.abs(plain) > 1e-3)
    ratios = (found / np.where(plain == 0, 1.0, plain))[off_diagonal]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    assert 1e-20 < abs(ratios[0]) < 1e20


def test_a_sum_inside_a_product_has_its_effects_of_row_and_column():
    x = np.random.default_rng(4).normal(size=(12, 1)) + 3
    kernel = (Gaussian(1.0) + Polynomial(2)) * Laplace(1.0)
    found = kernel.fit(read_variable(x, "x")).matrix()
    gaps = np.abs(x - x.T)
    expected = (np.exp(-(gaps**2) / 2) + (x @ x.T + 1) ** 2) * np.exp(-gaps)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
