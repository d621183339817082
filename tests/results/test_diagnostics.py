"""Influential observations: which they are, and what first order says is left without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import reldep
from reldep.kernels import Gaussian
from reldep.stats.series import RowDependence, leave_out


def data(m=150, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + 0.7 * rng.normal(size=m), x + 1.2 * rng.normal(size=m)


FIXED = Gaussian(1.0)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_what_is_left_is_close_to_asking_without_the_rows(measure, k, variance):
    x, y, z = data()
    options = {"measure": measure, "kernel": FIXED, "variance": variance}
    result = reldep.compare(x, y, z, **options)
    left = result.influential(k)
    again = reldep.compare(*(np.delete(v, left["row"].to_list()) for v in (x, y, z)), **options)
    moved = abs(again.estimate - result.estimate)
    # First order: an error of order 1/m of the change itself.
    assert left["estimate_without"][k - 1] == pytest.approx(again.estimate, abs=0.15 * moved)
    law = norm if variance == "fixed-kernel" else student(result.df)
    statistic = law.isf(left["pvalue_without"][k - 1] / 2)
    assert statistic == pytest.approx(abs(again.statistic), rel=0.1)


def test_the_p_value_left_belongs_to_the_alternative():
    both, greater = (
        reldep.compare(*data(), alternative=one).influential(3)["pvalue_without"]
        for one in ("two-sided", "greater")
    )
    np.testing.assert_allclose(both, 2 * greater, rtol=1e-9)


@pytest.mark.parametrize(
    "rows",
    [
        RowDependence(),
        RowDependence(clusters=np.repeat(np.arange(10), 3)),
        RowDependence(np.repeat(np.arange(10), 3), None, np.tile(np.arange(3), 10)),
    ],
)
def test_rows_left_out_one_after_another_keep_the_others_in_their_units(rows):
    psi = np.random.default_rng(0).normal(size=30)
    psi -= psi.mean()
    order = np.array([3, 4, 17, 0])
    change, ratio = leave_out(psi, order, rows, order=4)
    for k in range(1, 5):
        taken = psi[order[:k]].sum()
        rest = psi + taken / (30 - k)
        rest[order[:k]] = 0.0
        units = rows.codes(30) if rows.any else (np.arange(30),)
        before, after = (
            max((np.bincount(codes, weights=v) ** 2).sum() for codes in units) for v in (psi, rest)
        )
        assert change[k - 1] == pytest.approx(-taken / (30 - k - 3))
        assert ratio[k - 1] == pytest.approx(after / before * (30 / (30 - k)) ** 2)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_shares_add_up_and_the_largest_come_first(measure, variance):
    result = reldep.compare(*data(), measure=measure, variance=variance)
    table = result.influential(150)
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["share"].is_sorted(descending=True)
    assert table["psi"].sum() == pytest.approx(0.0, abs=1e-10)
    spread = (table["psi"] ** 2).sum() / 150**2
    if variance == "fixed-kernel":
        assert spread == pytest.approx(result.standard_error**2)
    else:
        deviations = result.weights @ result.dependences.deviations
        assert spread == pytest.approx(149 / 150 * deviations @ deviations)


def test_rows_are_places_in_the_input_after_dropping():
    x, y, z = (pd.Series(v, name=n) for v, n in zip(data(40), "xyz", strict=True))
    y.iloc[[0, 3]] = np.nan
    result = reldep.compare(x, y, z, missing="drop")
    table = result.influential(38)
    assert isinstance(table, pd.DataFrame)
    assert sorted(table["row"]) == [i for i in range(40) if i not in {0, 3}]
    frame = result.influence.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["row", "x ~ y", "x ~ z", "x ~ x", "y ~ y", "z ~ z"]
    assert frame["row"].tolist() == sorted(table["row"])
    np.testing.assert_array_equal(frame["x ~ y"], result.influence.psi[0])


def test_a_dependence_has_its_influential_rows_too():
    x, y, _ = data(60)
    y[7] = 30.0
    result = reldep.dependence(x, y, kernel="linear")
    assert "pvalue_without" not in result.influential(1).columns
    assert result.influential(1)["row"][0] == 7
    (left,) = result.influential(1)["estimate_without"]
    again = reldep.dependence(np.delete(x, 7), np.delete(y, 7), kernel="linear")
    # The row moves the linear HSIC by far more than first order can follow, but the direction
    # and the size of what is left are seen.
    assert abs(left - again.estimate) < abs(result.estimate - again.estimate)


def test_too_few_rows_to_test_have_nothing_left():
    table = reldep.compare(*data(20)).influential(20)
    assert table["estimate_without"].null_count() == table["pvalue_without"].null_count() == 4
    assert table["estimate_without"][:16].null_count() == 0
