"""Influential observations: which they are, and what first order says is left without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import reldep
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels import Gaussian
from reldep.stats.influential import leave_out, variance_shares
from reldep.stats.series import INDEPENDENT_ROWS


def data(m=150, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + 0.7 * rng.normal(size=m), x + 1.2 * rng.normal(size=m)


FIXED = Gaussian(1.0)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_without_top_is_close_to_leaving_the_rows_out(measure, k, variance):
    x, y, z = data()
    options = {"measure": measure, "kernel": FIXED, "variance": variance}
    result = reldep.compare(x, y, z, **options)
    left = result.without_top(k)
    rest = [np.delete(v, left.rows.positions) for v in (x, y, z)]
    again = reldep.compare(*rest, **options)
    moved = abs(again.estimate - result.estimate)
    # First order: an error of order 1/m of the change itself.
    assert left.estimate == pytest.approx(again.estimate, abs=0.15 * moved)
    assert left.standard_error == pytest.approx(again.standard_error, rel=0.08)
    assert left.statistic == pytest.approx(again.statistic, rel=0.1)


def test_the_p_value_left_belongs_to_the_alternative():
    for variance, law in (("fixed-kernel", lambda _: norm), ("jackknife", student)):
        result = reldep.compare(*data(), alternative="two-sided", variance=variance)
        left = result.without_top(2)
        expected = 2 * law(result.df).sf(abs(left.statistic))
        assert left.pvalue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("options", [{"clusters": np.repeat(np.arange(50), 3)}, {"max_lag": 2}])
def test_dependent_rows_keep_their_places(options):
    result = reldep.compare(*data(), **options)
    left = result.without_top(3)
    assert left.standard_error == pytest.approx(result.standard_error, rel=0.2)
    assert left.standard_error != result.standard_error


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
    assert result.influential(1)["row"][0] == 7
    left = result.without_top(1)
    again = reldep.dependence(np.delete(x, 7), np.delete(y, 7), kernel="linear")
    # The row moves the linear HSIC by far more than first order can follow, but the direction
    # and the size of what is left are seen.
    assert abs(left.estimate - again.estimate) < abs(result.estimate - again.estimate)


@pytest.mark.parametrize("k", [0, 37, 2.5, True, "3"])
def test_a_number_of_rows_that_leaves_no_test_is_refused(k):
    result = reldep.compare(*data(40))
    error = InputError if type(k) is int else InputTypeError
    with pytest.raises(error, match=r"`k=.*`; pass a whole number from 1 to 36"):
        result.without_top(k)


def test_influential_takes_as_many_as_there_are():
    result = reldep.compare(*data(40))
    with pytest.raises(ValueError, match=r"`k=41`; pass a whole number from 1 to 40"):
        result.influential(41)


def test_leaving_out_is_exact_for_a_mean():
    values = np.random.default_rng(0).normal(size=30)
    psi = values - values.mean()
    rows = np.array([3, 17])
    change, ratio = leave_out(psi, rows, INDEPENDENT_ROWS)
    rest = np.delete(values, rows)
    assert values.mean() + change == pytest.approx(rest.mean())
    assert psi @ psi / 30**2 * ratio == pytest.approx(rest.var() / 28)


def test_no_influence_at_all_has_no_shares():
    assert variance_shares(np.zeros(4)).tolist() == [0.0] * 4
