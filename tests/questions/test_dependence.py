"""dependence, the plain numbers, influence and contrast."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.kernels import Distance


@pytest.fixture
def data(rng):
    x = rng.normal(size=(60, 3))
    return x, x[:, :2] ** 2 + 0.3 * rng.normal(size=(60, 2)), rng.normal(size=60)


@pytest.fixture
def dcor():
    """The package; it compiles for seconds as it is imported, too long for collecting tests."""
    import dcor

    return dcor


def test_distance_covariance_and_correlation_are_those_of_dcor(data, dcor):
    for x, y in ((data[0], data[1]), (data[0], data[2][:, None])):
        assert reldep.hsic(x, y, kernel="distance") == pytest.approx(
            dcor.u_distance_covariance_sqr(x, y), rel=1e-12
        )
        assert reldep.distance_correlation(x, y) == pytest.approx(
            dcor.u_distance_correlation_sqr(x, y), rel=1e-12
        )
        assert reldep.cka(x, y, kernel=Distance(1.5)) == pytest.approx(
            dcor.u_distance_correlation_sqr(x, y, exponent=1.5), rel=1e-12
        )


def test_linear_hsic_of_scalars_is_built_from_covariances():
    """The unbiased squared covariance by its definition on distinct indices."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 9))
    from brute_force import hsic

    assert reldep.hsic(x, y, kernel="linear") == pytest.approx(
        hsic(np.outer(x, x), np.outer(y, y)), rel=1e-10
    )


def test_cka_of_a_variable_with_itself_is_one(data):
    assert reldep.cka(data[0], data[0]) == pytest.approx(1.0, rel=1e-12)
    assert reldep.distance_correlation(data[0], -2 * data[0]) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_a_variable_depends_on_its_copy_beyond_doubt(data, measure, variance):
    x = data[2]
    found = reldep.dependence(x, x.copy(), measure=measure, variance=variance)
    assert found.pvalue < 1e-10
    low, high = found.confidence_interval()
    assert low <= found.estimate <= high
    if measure != "hsic":
        assert found.estimate == pytest.approx(1.0)
        assert found.standard_error == pytest.approx(0.0, abs=1e-8)
        assert (low, high) == pytest.approx((1.0, 1.0), abs=2e-4)
    assert found.power(20) > 0.999
    assert found.sample_size(0.8) <= 20
    assert found.influential(2)["estimate_without"][1] == pytest.approx(found.estimate, rel=0.2)
    assert "x and y are related: " in found.summary()


def test_dependence_finds_what_there_is_and_only_that(data):
    x, y, z = data
    found = reldep.dependence(x, y)
    assert found.pvalue < 1e-4
    assert found.estimate == reldep.cka(x, y)
    assert found.sentence().startswith("x and y are related: CKA")
    assert reldep.dependence(x, y, measure="hsic").estimate == reldep.hsic(x, y)
    nothing = reldep.dependence(x, z)
    assert nothing.pvalue > 0.01
    assert nothing.sentence(alpha=0.01).startswith("It is not shown that x and y are related: CKA")


def test_the_independence_test_keeps_its_level():
    draws = 600
    rng = np.random.default_rng(5)
    pvalues = np.array([reldep.dependence(*rng.normal(size=(2, 40))).pvalue for _ in range(draws)])
    error = 3 * np.sqrt(0.05 * 0.95 / draws)
    assert np.mean(pvalues < 0.05) < 0.05 + error
    # Conservative, as the docstring says, but no more than a little: what it rejects at 5% is
    # at least what an exact test would reject at 2.5%.
    assert np.mean(pvalues < 0.05) > 0.025 - 3 * np.sqrt(0.025 * 0.975 / draws)


def test_influence_can_hold_any_pairs(data):
    x, y, z = data
    A = reldep.influence({"x": x, "y": y, "z": z}, [("y", "x"), ("z", "z")])
    assert A.values.shape == (2, 60)
    assert A.pairs == (("y", "x"), ("z", "z"))
    assert A.names == ("x", "y", "z")
    assert A.n_observations == 60
    np.testing.assert_allclose(A.estimates, [reldep.hsic(x, y), reldep.hsic(z, z)], rtol=1e-12)
    np.testing.assert_allclose(A.psi.sum(axis=1), 0, atol=1e-12)
    assert A.row(("x", "y")) == 0
    with pytest.raises(KeyError):
        A.row(("x", "z"))


def test_averages_of_groups_are_contrasts(data):
    x, y, z = data
    variables = {"x": x, "a": y, "b": y + 0.1, "c": z}
    result = reldep.contrast(variables, {("x", "a"): 1, ("x", "b"): 1, ("x", "c"): -2})
    expected = 2 * reldep.cka(x, y) - 2 * reldep.cka(x, z)
    assert result.estimate == pytest.approx(expected, rel=1e-10)
    assert result.sentence().startswith("CKA(x, a) + CKA(x, b) − 2·CKA(x, c) is above 0")
    assert result.to_frame()["relation"].to_list()[-1] == "contrast"


def test_kernels_of_a_contrast_follow_the_variables(data):
    x, y, z = data
    weights = {("x", "y"): 1.0, ("x", "z"): -1.0}
    variables = {"unused": z, "x": x, "y": y, "z": z}
    by_tuple = reldep.contrast(variables, weights, kernel=("delta", "linear", "linear", "linear"))
    by_name = reldep.contrast(variables, weights, kernel=dict.fromkeys("xyz", "linear"))
    single = reldep.contrast(variables, weights, kernel="linear")
    assert by_tuple.statistic == by_name.statistic == single.statistic


def test_both_orders_of_a_pair_add_their_weights(data):
    x, y, z = data
    variables = {"x": x, "y": y, "z": z}
    both = reldep.contrast(variables, {("x", "y"): 1, ("y", "x"): 1, ("x", "z"): -2})
    once = reldep.contrast(variables, {("x", "y"): 2, ("x", "z"): -2})
    assert both.statistic == once.statistic


def test_dcor_on_labels_uses_the_discrete_metric(rng):
    words = np.array(["a", "b", "c"])[rng.integers(0, 3, 50)]
    y = rng.normal(size=50) + (words == "a")
    result = reldep.dependence(words, y, measure="dcor")
    apart = (words[:, None] != words).astype(float)
    distances = np.abs(y[:, None] - y)
    expected = reldep.cka(
        reldep.kernels.Precomputed(-apart), reldep.kernels.Precomputed(-distances)
    )
    assert result.estimate == pytest.approx(expected, rel=1e-12)
