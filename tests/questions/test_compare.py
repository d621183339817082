"""compare: alternatives, methods, kernels, names and what the result offers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import reldep
from reldep.kernels import Gaussian, Precomputed
from synthetic import spirals

VARIANCES = ("jackknife", "fixed-kernel")


@pytest.fixture
def data():
    return spirals(80, 0.6, 3)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_three_alternatives_agree_with_the_law_of_the_statistic(data, variance):
    results = {
        a: reldep.compare(*data, alternative=a, variance=variance)
        for a in ("greater", "less", "two-sided")
    }
    z, df = results["greater"].statistic, results["greater"].df
    law = student(df) if variance == "jackknife" else norm
    assert np.isfinite(df) == (variance == "jackknife")
    assert results["greater"].pvalue == pytest.approx(law.sf(z))
    assert results["less"].pvalue == pytest.approx(law.cdf(z))
    assert results["two-sided"].pvalue == pytest.approx(2 * law.sf(abs(z)))
    assert results["greater"].log10_pvalue == pytest.approx(np.log10(law.sf(z)))
    x, y, other = data
    turned = reldep.compare(x, other, y, alternative="less", variance=variance)
    assert turned.power(200) == pytest.approx(results["greater"].power(200))


def test_the_published_split_takes_the_halves_in_the_order_given(data):
    x, y, z = data
    split = reldep.paper_test(x, y, z, method="split")
    options = {"measure": "hsic", "variance": "fixed-kernel", "kernel": "gaussian"}
    upper = reldep.dependence(x[:40], y[:40], **options)
    lower = reldep.dependence(x[40:], z[40:], **options)
    np.testing.assert_allclose(split.estimates, [upper.estimate, lower.estimate], rtol=1e-10)
    expected = np.diag([upper.standard_error**2, lower.standard_error**2])
    np.testing.assert_allclose(split.covariance, expected, rtol=1e-9, atol=1e-20)


def test_a_precomputed_matrix_stands_for_the_data_or_for_the_kernel(data):
    x, y, z = data
    matrix = np.exp(-np.square(x[:, None] - x[None]).sum(axis=2))
    as_data = reldep.compare(Precomputed(matrix), y, z)
    as_kernel = reldep.compare(x, y, z, kernel={"source": Precomputed(matrix)})
    as_function = reldep.compare(
        x,
        y,
        z,
        kernel=(lambda a, b: np.exp(-np.square(a[:, None] - b).sum(axis=2)), "auto", "auto"),
    )
    expected = reldep.compare(x, y, z, kernel=(Gaussian(np.sqrt(0.5)), "auto", "auto"))
    for result in (as_data, as_kernel, as_function):
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)


def test_shifting_rescaling_and_rotating_data_change_nothing(data):
    x, y, z = data
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = reldep.compare(1e3 * x + 1e5, y @ turn, z)
    assert moved.statistic == pytest.approx(reldep.compare(x, y, z).statistic, rel=1e-7)


def test_dropping_incomplete_rows_is_the_same_as_passing_the_complete_ones(data):
    x, y, z = (block.copy() for block in data)
    x[3, 0], z[7, 1] = np.nan, np.inf
    keep = np.delete(np.arange(80), [3, 7])
    result = reldep.compare(x, y, z, missing="drop")
    expected = reldep.compare(x[keep], y[keep], z[keep])
    assert result.statistic == expected.statistic
    whole, left = (Precomputed(v @ v.T) for v in (y, y[keep]))
    matrix = reldep.compare(x, whole, z, missing="drop")
    expected = reldep.compare(x[keep], left, z[keep])
    assert matrix.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.provenance.n_dropped == 2
    np.testing.assert_array_equal(result.provenance.rows.positions, keep)
    assert result.provenance.rows.name(3) == "row 4"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
def test_the_interval_excludes_zero_where_the_test_rejects(data, measure, variance, alternative):
    result = reldep.compare(*data, alternative=alternative, measure=measure, variance=variance)
    p = result.pvalue
    assert 1e-6 < p < 0.999
    # Just above and below the level at which the test begins to reject.
    inside, outside = (result.confidence_interval(1 - p * factor) for factor in (0.999, 1.001))
    assert inside.low < 0 < inside.high
    assert not outside.low <= 0 <= outside.high


def test_a_careful_plan_asks_for_more(data):
    result = reldep.compare(*data)
    assert result.sample_size(careful=True) > result.sample_size()
    (plan,) = next(one.paragraphs for one in result.describe().sections if one.name == "planning")
    assert f"{result.sample_size():,} observations" in plan
    assert f"{result.sample_size(careful=True):,} if it is at its lower 80% limit" in plan


def test_data_passed_in_is_not_modified(data):
    copies = [block.copy() for block in data]
    for kernel in ("auto", "laplace", "linear", "polynomial", "distance"):
        reldep.compare(*data, kernel=kernel)
    for block, copy in zip(data, copies, strict=True):
        np.testing.assert_array_equal(block, copy)
        assert block.flags.writeable


def test_a_report_plans_nothing_for_next_to_no_effect():
    found = reldep.compare(*spirals(40, 0.6, 5))
    nearly_none = dataclasses.replace(
        found, tested=dataclasses.replace(found.tested, estimate=1e-7)
    )
    assert "planning" not in {one.name for one in nearly_none.describe().sections}


def test_raw_hsic_is_answered_where_cka_has_no_scale():
    rng = np.random.default_rng(3)
    x = np.exp(2.2 * rng.normal(size=12))
    y, z = rng.normal(size=(2, 12))
    undecided = reldep.compare(x, y, z)
    assert (undecided.pvalue, undecided.confidence_interval()) == (1, (-1, 1))
    assert 0 < reldep.compare(x, y, z, measure="hsic").pvalue < 1


def test_several_label_columns_agree_where_all_of_them_do(data):
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"sex": rng.choice(["f", "m"], 80), "job": rng.choice(["a", "b"], 80)})
    joined = [f"{sex} {job}" for sex, job in frame.iter_rows()]
    for kernel in ("auto", "delta"):
        assert reldep.hsic(frame, data[0], kernel=(kernel, "auto")) == pytest.approx(
            reldep.hsic(joined, data[0]), rel=1e-12
        )


def named(m=50, seed=0, noise=(0.6, 1.1, 2.0)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return {"x": x, **{name: x + s * rng.normal(size=m) for name, s in zip("yzw", noise)}}  # noqa: B905


@pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
def test_a_weighted_difference_is_the_difference_scaled(measure):
    sample = named()
    plain = reldep.contrast(sample, {("x", "y"): 1, ("x", "z"): -1}, measure=measure)
    tripled = reldep.contrast(sample, {("x", "y"): -3, ("x", "z"): 3}, measure=measure)
    assert tripled.estimate == pytest.approx(-3 * plain.estimate)
    assert tripled.statistic == pytest.approx(-plain.statistic)
    assert tripled.df == pytest.approx(plain.df)
    low, high = plain.confidence_interval()
    assert tripled.confidence_interval() == pytest.approx((-3 * high, -3 * low))


@pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
def test_the_covariance_gives_the_standard_error(measure):
    sample = named()
    result = reldep.compare(sample["x"], sample["y"], sample["z"], measure=measure)
    weights = np.array([1.0, -1.0])
    assert weights @ result.covariance @ weights == pytest.approx(result.standard_error**2)
    assert (np.linalg.eigvalsh(result.covariance) > 0).all()
