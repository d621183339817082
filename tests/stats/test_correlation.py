"""CKA on the scale of correlations: the stored curve is the quadrature, and its inverse is one."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from scipy.special import erfcx, ndtr

import reldep
from reldep.stats.correlation import KNOTS, LAPLACE, as_correlation

# One over the mean distance of two standard normal values, 2/√π.
RATE = np.sqrt(np.pi) / 2
NODES, WEIGHTS = hermegauss(60)
NORMAL = NODES, WEIGHTS / WEIGHTS.sum()
LEGENDRE = leggauss(60)


def laplace_cka(r):
    """CKA of two normal variables under Laplace kernels at the mean distance, by quadrature."""
    return _hsic(r) / _hsic(1.0)


def _hsic(r):
    return _mean_of_products(r) + _mean_of_products(0.0) - 2 * _mean_of_row_means(r)


def _mean_of_products(r):
    """E k(X, X') l(Y, Y'): the differences are normal too, and the radius integrates exactly."""
    across = np.sqrt(1 - r * r)
    kink = np.arctan2(-r, across)
    total = 0.0
    for low, high in ((-np.pi / 2, kink), (kink, np.pi / 2)):
        nodes, weights = LEGENDRE
        angle = (high - low) / 2 * nodes + (high + low) / 2
        x, y = np.cos(angle), r * np.cos(angle) + across * np.sin(angle)
        rate = RATE * np.sqrt(2) * (np.abs(x) + np.abs(y))
        radial = 1 - rate * np.sqrt(np.pi / 2) * erfcx(rate / np.sqrt(2))
        total += (high - low) / 2 * np.sum(weights * radial)
    return total / np.pi


def _mean_of_row_means(r):
    """E[E' k(X, X') E' l(Y, Y')], smooth functions of two normal variables."""
    nodes, weights = NORMAL
    others = r * nodes[:, None] + np.sqrt(1 - r * r) * nodes
    return weights @ (_row_mean(nodes)[:, None] * _row_mean(others)) @ weights


def _row_mean(x):
    left, right = np.exp(-RATE * x) * ndtr(x - RATE), np.exp(RATE * x) * ndtr(-x - RATE)
    return np.exp(RATE**2 / 2) * (left + right)


def test_the_stored_curve_is_the_quadrature():
    np.testing.assert_allclose([laplace_cka(r) for r in KNOTS], LAPLACE, rtol=0, atol=1e-11)


def test_a_correlation_read_off_the_curve_is_within_its_stated_error():
    fine = np.linspace(0, 1, 501)
    exact = [laplace_cka(r) for r in fine]
    np.testing.assert_allclose(as_correlation(exact), fine, rtol=0, atol=5e-4)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("laplace", {}),
        ("gaussian", {"kernel": "gaussian"}),
        ("linear", {"kernel": "linear"}),
        ("distance", {"measure": "dcor"}),
    ],
)
def test_large_normal_samples_have_the_correlation_they_are_said_to_have(kernel, options):
    x, noise = np.random.default_rng(1).normal(size=(2, 2500))
    for r in (0.3, 0.6, 0.9):
        # A residual that is uncorrelated in this very sample: r is then that of the sample.
        rest = noise - np.polyval(np.polyfit(x, noise, 1), x)
        y = r * (x - x.mean()) / x.std() + np.sqrt(1 - r * r) * rest / rest.std()
        found = reldep.dependence(x, y, **options)
        assert found.as_correlation() == pytest.approx(r, abs=0.02)


def test_no_dependence_is_no_correlation():
    np.testing.assert_array_equal(as_correlation([-0.2, -1e-9, 0.0, 1.0, 1.1]), [0, 0, 0, 1, 1])
    assert as_correlation(0.115) == pytest.approx(0.5, abs=1e-3)
