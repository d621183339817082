"""The comparison over bandwidths: where it flips, where it does not."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reldep
from reldep.kernels import Gaussian, Laplace, Linear


def waves(m=1000, seed=0):
    """X uniform, Y noisy-linear, Z = sin 3X: fine structure against a trend."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-np.pi, np.pi, m)
    return x, x + 2 * rng.normal(size=m), np.sin(3 * x)


def simple(m=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + 0.5 * rng.normal(size=m), x + 2 * rng.normal(size=m)


@pytest.fixture(scope="module")
def flipping():
    return reldep.sensitivity(*waves(400), factors=(4, 0.125, 0.25, 0.5, 1, 2))


def test_fine_structure_against_a_trend_flips_the_sign(flipping):
    assert json.loads(flipping.to_json())["sign_flips"]
    assert flipping.factors.tolist() == [0.125, 0.25, 0.5, 1, 2, 4]
    statistics = flipping.to_frame()["statistic"]
    assert statistics[0] < -5
    assert statistics[-1] > 5
    assert flipping.sentence().startswith("The answer depends on the bandwidth: source is")
    # More at one end, less at the other: at some scale either way, at every scale neither.
    assert flipping.some_pvalue < 0.001
    assert flipping.every_pvalue > 0.99


VARIANCES = ("jackknife", "fixed-kernel")


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("measure", ["hsic", "cka"])
def test_each_factor_is_the_comparison_with_that_bandwidth(measure, variance):
    data = simple()
    options = {"measure": measure, "variance": variance, "alternative": "two-sided"}
    curve = reldep.sensitivity(*data, factors=[0.5, 1.0, 3.0], **options)
    low, high = curve.confidence_interval(0.9)
    rows = curve.to_frame().to_dicts()
    for i, factor in enumerate(curve.factors):
        direct = reldep.compare(*data, kernel=Laplace("mean", factor=factor), **options)
        assert curve.estimates[i] == pytest.approx(direct.estimate, rel=1e-12)
        assert rows[i]["standard_error"] == pytest.approx(direct.standard_error, rel=1e-12)
        assert rows[i]["statistic"] == pytest.approx(direct.statistic, rel=1e-12)
        # A relative error of the statistic is multiplied by its square in the tail.
        assert rows[i]["pvalue"] == pytest.approx(direct.pvalue, rel=1e-10)
        assert (low[i], high[i]) == pytest.approx(direct.confidence_interval(0.9), rel=1e-11)


def test_the_comparison_in_the_middle_is_that_of_compare():
    x, y, z = (block.copy() for block in simple())
    y[[4, 9]] = np.nan
    curve = reldep.sensitivity(x, y, z, factors=[0.5, 1, 4], missing="drop")
    plain = reldep.compare(x, y, z, missing="drop")
    central = curve.central
    assert curve.provenance.kernels == plain.provenance.kernels
    for how in (curve.provenance, central.provenance):
        assert how.rows.positions.tolist() == plain.provenance.rows.positions.tolist()
        assert (how.n_dropped, how.engine, how.measure) == (2, plain.provenance.engine, "cka")
    assert central.influence.names == ("source", "first", "second")
    assert central.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert [type(w) for w in central.warnings] == [type(w) for w in plain.warnings]


CROSSED = np.arange(60) // 6, np.arange(60) % 6


@pytest.mark.parametrize("options", [{}, {"clusters": CROSSED}, {"max_lag": "auto"}])
def test_bands_contain_the_intervals_and_agree_with_the_adjusted_answer(options):
    curve = reldep.sensitivity(
        *simple(seed=2), factors=[0.25, 1.0, 4.0], alternative="two-sided", **options
    )
    (low, high), (band_low, band_high) = curve.confidence_interval(), curve.bands()
    assert (band_low <= low).all()
    assert (band_high >= high).all()
    outside = ((band_low > 0) | (band_high < 0)).any()
    assert outside == (curve.some_pvalue < 0.05)
    # Bonferroni's bound, and the smallest of all, within the error of 10,000 draws.
    pvalues = curve.to_frame()["pvalue"]
    assert pvalues.min() - 0.01 <= curve.some_pvalue <= 3 * pvalues.min() + 0.01
    assert curve.every_pvalue == pytest.approx(pvalues.max())


def test_a_difference_at_a_fine_scale_alone_is_shown_at_some_scale_only():
    x, _, _ = waves(150)
    wave, noise = np.cos(3 * x), np.random.default_rng(4).normal(size=150)
    options = {"factors": [0.25, 1, 30], "names": ["x", "y", "z"], "kernel": "gaussian"}
    curve = reldep.sensitivity(x, wave, noise, **options)
    assert curve.some_pvalue < 0.01
    assert curve.every_pvalue > 0.05
    assert "x is more closely related to y than to z at some bandwidths" in curve.sentence()
    assert "this is not shown for every one of them (p =" in curve.sentence()


def test_the_default_grid_runs_from_an_eighth_to_eight_and_keeps_its_sign():
    curve = reldep.sensitivity(*simple(), names=["x", "y", "z"])
    assert (len(curve.factors), curve.factors[0], curve.factors[-1]) == (13, 0.125, 8.0)
    assert curve.factors[6] == 1.0
    assert (np.diff(np.sign(curve.estimates)) == 0).all()
    assert "at every bandwidth from 1/8 to 8 times the chosen one (p = " in curve.sentence()
    table = curve.to_frame()
    assert table.columns[:3] == ["factor", "estimate", "standard_error"]
    assert len(table) == 13


def test_a_change_of_sign_within_chance_is_no_flip():
    x, y, _ = simple(80, seed=3)
    rng = np.random.default_rng(5)
    z = x + 0.5 * rng.normal(size=80)
    curve = reldep.sensitivity(x, y, z, factors=2.0 ** np.arange(-3, 4), kernel="gaussian")
    assert curve.estimates.min() < 0 < curve.estimates.max()
    assert not json.loads(curve.to_json())["sign_flips"]
    assert curve.sentence().startswith("It is undecided at every bandwidth from 1/8 to 8 times")
    assert curve.warnings == ()


def test_products_are_scaled_in_their_factors_and_other_kernels_stay_as_they_are():
    x, y, z = simple()
    labels, table = np.where(z > 0, "a", "b"), np.column_stack([y, z])

    def kernels(factor):
        return Laplace("mean", factor=factor), Gaussian(factor=factor) * Linear(), "delta"

    curve = reldep.sensitivity(x, table, labels, kernel=kernels(1), factors=[1, 2])
    direct = reldep.compare(x, table, labels, kernel=kernels(2))
    assert curve.across.tests[1].statistic == pytest.approx(direct.statistic)
