"""Gaussians: the sum by hand, on every engine, and how its bandwidth moves."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.data.objects import read_variable
from reldep.engine import Tiled
from reldep.kernels import Gaussian, Gaussians, check_kernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)


@pytest.mark.parametrize("rule", [1.5, "median", "mean"])
def test_the_kernel_is_the_sum_of_its_scales(rule):
    fitted = Gaussians(rule, 0.5).fit(read_variable(X, "x"))
    width = fitted.describe()["bandwidth"]
    expected = sum(Gaussian(width * f)(X) for f in (0.25, 0.5, 1, 2, 4))
    np.testing.assert_allclose(fitted.matrix(), expected, rtol=1e-12)
    np.testing.assert_allclose(Gaussians(rule, 0.5)(X, X[:3]), expected[:, :3], rtol=1e-12)
    assert check_kernel(Gaussians(rule), X).ok


def test_all_engines_add_up_the_same():
    kernel = (Gaussians(), "gaussian")
    dense = reldep.hsic(X, Y, kernel=kernel, engine="dense")
    for engine in (Tiled(compiled=True), Tiled(compiled=False)):
        assert reldep.hsic(X, Y, kernel=kernel, engine=engine) == pytest.approx(dense, rel=1e-9)


def test_the_slope_is_the_derivative_in_the_bandwidth():
    fitted = Gaussians("mean").fit(read_variable(1000 * X, "x"))
    (probe,) = fitted.bandwidth_probes()
    step = 1e-5
    up, down = (fitted.scaled(1 + sign * step).matrix() for sign in (1, -1))
    numeric = (up - down) / (2 * step * fitted.width)
    np.testing.assert_allclose(probe.slope.matrix(), numeric, rtol=1e-6, atol=1e-9)


def test_scaling_and_taking_keep_what_was_fitted():
    fitted = Gaussians().fit(read_variable(X, "x"))
    rows = np.array([3, 1, 20])
    np.testing.assert_allclose(fitted.take(rows).matrix(), fitted.matrix()[np.ix_(rows, rows)])
    assert fitted.scaled(2.0).width == pytest.approx(2 * fitted.width)
    frozen = Gaussians().frozen(fitted)
    np.testing.assert_allclose(frozen.fit(read_variable(X[:9], "x")).width, fitted.width)
    assert fitted.label == f"Gaussians(bandwidth={fitted.width:.6g} × 0.25, 0.5, 1, 2, 4)"


def test_fine_structure_shows_that_one_scale_does_not_see():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 150)
    y = np.sin(8 * np.pi * x) + 0.3 * rng.normal(size=150)
    fine = reldep.dependence(x, y, kernel=("gaussians", "gaussian"), measure="cka")
    plain = reldep.dependence(x, y, kernel="gaussian", measure="cka")
    assert fine.estimate > 2 * plain.estimate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"factors": ()}, r"`factors=\(\)`; pass a tuple of positive"),
        ({"factors": (1.0, -1.0)}, "`factors=-1.0`; pass a positive number"),
        ({"bandwidth": "largest"}, "`bandwidth='largest'` is not known"),
    ],
)
def test_bad_scales_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Gaussians(**arguments)
