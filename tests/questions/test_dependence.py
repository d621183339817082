"""One dependence, its test by permutations, the plain numbers, influence and contrast."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.kernels import Distance


@pytest.fixture
def data(rng):
    x = rng.normal(size=(60, 3))
    return x, x[:, :2] ** 2 + 0.3 * rng.normal(size=(60, 2)), rng.normal(size=60)


def test_distance_covariance_and_correlation_are_those_of_dcor(data):
    """Numbers of dcor 0.7: u_distance_covariance_sqr, u_distance_correlation_sqr, exponent=1.5."""
    x, y, z = data
    for other, covariance, correlation, of_powers in (
        (y, 0.16549382830232418, 0.26046967221558814, 0.2255435051770207),
        (z, 0.017328071526900857, 0.04399075475088041, 0.03180640798495737),
    ):
        assert reldep.hsic(x, other, kernel="distance") == pytest.approx(covariance, rel=1e-12)
        assert reldep.distance_correlation(x, other) == pytest.approx(correlation, rel=1e-12)
        assert reldep.cka(x, other, kernel=Distance(1.5)) == pytest.approx(of_powers, rel=1e-12)
        assert reldep.dependence(x, other).estimate == reldep.cka(x, other)
        assert reldep.dependence(x, other, measure="hsic").estimate == reldep.hsic(x, other)


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


def pair(m=40, seed=0, noise=1.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + noise * rng.normal(size=m)


def asked(x, y, **options):
    return reldep.dependence(x, y, test="permutation", **options)


def test_the_p_value_counts_shuffles_at_least_as_dependent():
    x, y = pair()
    rng = np.random.default_rng(0)
    observed = reldep.hsic(x, y)
    shuffled = [reldep.hsic(x, y[rng.permutation(40)]) for _ in range(99)]
    expected = (1 + sum(value >= observed for value in shuffled)) / 100
    result = asked(x, y, n_permutations=99)
    assert result.pvalue == pytest.approx(expected)
    assert (result.facts["test"], result.facts["n_permutations"]) == ("permutation", 99)
    plain = reldep.dependence(x, y)
    assert (result.estimate, result.statistic) == (plain.estimate, plain.statistic)
    assert (plain.facts["test"], plain.facts["n_permutations"]) == ("chi-square", None)


def test_the_seed_decides():
    x, y = pair(30, seed=3, noise=4)
    first, again, other = (asked(x, y, rng=seed, n_permutations=499).pvalue for seed in (1, 1, 3))
    assert first == again != other


def test_the_level_is_kept_under_independence():
    rng = np.random.default_rng(7)
    rejected = [
        asked(*rng.normal(size=(2, 25)), n_permutations=99, rng=i).pvalue <= 0.05
        for i in range(200)
    ]
    assert np.mean(rejected) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_shuffles_that_change_nothing_count_as_ties():
    labels = np.array(list("aaabbbbb"))
    with pytest.warns(reldep.exceptions.FewUnitsWarning):
        result = asked(labels, labels, n_permutations=500)
    # Of 8!/(3! 5!) = 56 ways to place the labels, 1 is as dependent as the data.
    assert result.pvalue == pytest.approx(1 / 56, abs=0.018)
    assert result.pvalue > 2 / 501
