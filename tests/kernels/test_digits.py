"""Kernel values keep their digits: in any unit, next to far values, for near duplicates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from reldep.kernels import Distance, Gaussian, Gaussians, Laplace, Linear, Polynomial, Standardized

ALL = slice(None)


def fitted(kernel, values):
    return kernel.fit(values)


def centred(matrix):
    """Take off the effects of rows and columns, exactly where the entries are fractions."""
    m = len(matrix)
    matrix = matrix.copy()
    matrix[np.arange(m), np.arange(m)] = 0
    effects = (matrix.sum(1) - matrix.sum() / (2 * (m - 1))) / (m - 2)
    matrix = matrix - effects[:, None] - effects[None]
    matrix[np.arange(m), np.arange(m)] = 0
    return matrix


def off(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def long_distances(values):
    x = np.asarray(values, dtype=np.longdouble).reshape(len(values), -1)
    return np.sqrt(np.square(x[:, None] - x[None]).sum(-1))


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e-20, 1e7, 1e150, 1e300])
@pytest.mark.parametrize("columns", [1, 3, 9])
@pytest.mark.parametrize(
    "kernel", [Laplace("mean"), Gaussian(), Gaussians("mean"), Standardized(Laplace())]
)
def test_units_do_not_change_a_bounded_kernel(kernel, columns, unit):
    x = np.random.default_rng(1).normal(size=(30, columns))
    plain, scaled = fitted(kernel, x), fitted(kernel, unit * x)
    assert off(scaled(ALL, ALL), plain(ALL, ALL)) < 1e-13
    for one, other in zip(scaled.bandwidths(), plain.bandwidths(), strict=True):
        assert off(one.slope(ALL, ALL), other.slope(ALL, ALL)) < 1e-12
        assert off(one.score(ALL, ALL), other.score(ALL, ALL)) < 1e-9


@pytest.mark.parametrize("columns", [1, 8])
@pytest.mark.parametrize("far", [1e5, 1e20, 1e160, 1e200, 1e308])
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Laplace(0.7), Gaussians()])
def test_far_values_leave_the_others_their_digits(kernel, far, columns):
    x = np.random.default_rng(3).normal(size=(25, columns))
    x[:3, 0] = far, -far, far * 0.5
    kernel = fitted(kernel, x)
    values = kernel(ALL, ALL)
    if kernel.describe()["rule"] == "given":
        assert off(values[3:, 3:], fitted(Laplace(0.7), x[3:])(ALL, ALL)) < 1e-12
    assert (values[:3, 3:] == 0).all()
    assert (values[:3, :3][~np.eye(3, dtype=bool)] == 0).all()
    for width in kernel.bandwidths():
        slope = width.slope(ALL, ALL)
        assert np.isfinite(slope).all()
        assert (slope[:3] == 0).all()
        for factor in width.slope.program():
            assert np.isfinite(np.square(factor.points)).all()


@pytest.mark.parametrize("far", [1e3, 1e8, 1e12, 1e120])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("columns", [1, 4])
def test_distances_from_a_far_observation_differ_by_the_effect_of_its_row(columns, exponent, far):
    x = np.random.default_rng(4).normal(size=(12, columns))
    x[0, -1] = far
    kernel = fitted(Distance(exponent), x)
    found = centred(kernel(ALL, ALL))
    near = -(long_distances(x[1:]) ** exponent)
    # Up to the effects of rows, the far row is the limit of |x|^p - |x - y|^p.
    y = x.astype(np.longdouble)
    lengths = np.sqrt(np.square(y).sum(1))
    scale = lengths[0] ** exponent
    turned = (lengths[1:] ** 2 - 2 * y[1:] @ y[0]) / lengths[0] ** 2
    against = -scale * np.expm1(exponent / 2 * np.log1p(turned)) + lengths[1:] ** exponent
    expected = np.zeros((12, 12), dtype=np.longdouble)
    expected[1:, 1:] = near + lengths[1:, None] ** exponent + lengths[1:] ** exponent
    expected[0, 1:] = expected[1:, 0] = against
    assert off(found, centred(expected).astype(float)) < 1e-11
    assert (kernel.program() is None) == (far > 1e4 or exponent != 1)


@pytest.mark.parametrize("centre", [0.0, 100.0, 1e8])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3, offset=0.5)])
def test_powers_of_values_far_from_zero_keep_their_differences(kernel, centre):
    x = np.random.default_rng(5).normal(size=(9, 2)).round(3) + centre
    rows = [[Fraction(value) for value in row] for row in x.tolist()]
    products = np.array(
        [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    )
    if isinstance(kernel, Polynomial):
        products = (products + Fraction(kernel.offset)) ** kernel.degree
    expected = centred(products).astype(float)
    fit = fitted(kernel, x)
    assert off(centred(fit(ALL, ALL)), expected) < 1e-9
    phi = fit.features()
    assert off(centred(phi @ phi.T), expected) < 1e-7
    assert off(centred(fit.in_own_unit()(ALL, ALL)) * fit_ratio(fit), expected) < 1e-9


def fit_ratio(fit):
    """Return the constant between a kernel and the same in its own unit."""
    plain, own = fit(ALL, ALL), fit.in_own_unit()(ALL, ALL)
    at = np.unravel_index(np.argmax(np.abs(plain)), plain.shape)
    return plain[at] / own[at]


@pytest.mark.parametrize("unit", [1e-160, 1e-5, 1e160])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, offset=0.0), Distance(), Distance(1.5)])
def test_kernels_in_their_own_unit_do_not_depend_on_that_of_the_data(kernel, unit):
    x = np.random.default_rng(6).normal(size=(15, 3))
    plain, other = (fitted(kernel, u * x).in_own_unit()(ALL, ALL) for u in (1.0, unit))
    ratio = other.ravel()[1] / plain.ravel()[1]
    assert 1e-15 < abs(ratio) < 1e15
    assert off(other / ratio, plain) < 1e-12
