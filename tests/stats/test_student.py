"""Tails of Student's law, however far out."""

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm
from scipy.stats import t as student_law

from reldep.stats.student import (
    log10_pvalue,
    log_tail,
    normal_scores,
    pvalue,
    quantile,
    quantile_at,
)


@pytest.mark.parametrize("df", [0.7, 3.0, 12.5, 47.0, 400.0, 1e5])
@pytest.mark.parametrize("t", [-8.0, -1.0, 0.0, 0.5, 2.0, 6.0, 30.0])
def test_tails_agree_with_scipy_where_they_are_numbers(t, df):
    assert np.exp(log_tail(t, df)) == pytest.approx(student_law.sf(t, df), rel=1e-11)


@pytest.mark.parametrize(("t", "df"), [(60.0, 1000.0), (60.0, 1e6), (200.0, 1e4), (1000.0, 3000.0)])
def test_far_tails_agree_with_quadrature_of_the_density(t, df):
    """The tail divided by the density at t, by Gauss-Laguerre quadrature."""
    nodes, weights = np.polynomial.laguerre.laggauss(60)
    rate = t * (df + 1) / (df + t * t)  # minus the slope of the log density at t
    at = t + nodes / rate
    shape = -(df + 1) / 2 * (np.log1p(at**2 / df) - np.log1p(t**2 / df))
    ratio = np.sum(weights * np.exp(shape + nodes)) / rate
    expected = student_law.logpdf(t, df) + np.log(ratio)
    assert log_tail(t, df) == pytest.approx(expected, rel=1e-9)


def test_with_no_limit_of_degrees_the_law_is_normal():
    for z in (1.0, 8.0, 60.0, 1000.0):
        assert log_tail(z, np.inf) == log_ndtr(-z)
    assert log10_pvalue(60.0, np.inf, "greater") == pytest.approx(-783.907, abs=1e-3)
    assert log_tail(60.0, 1e12) == pytest.approx(log_ndtr(-60.0), rel=1e-8)


def test_pvalues_of_the_three_alternatives():
    assert pvalue(2.0, 10.0, "greater") == pytest.approx(student_law.sf(2, 10), rel=1e-13)
    assert pvalue(2.0, 10.0, "less") == pytest.approx(student_law.cdf(2, 10), rel=1e-13)
    assert pvalue(-2.0, 10.0, "two-sided") == pytest.approx(2 * student_law.sf(2, 10), rel=1e-13)
    assert pvalue(0.0, 10.0, "two-sided") == 1.0


def test_scores_have_the_same_pvalue_under_the_normal_law():
    t, df = np.array([-40.0, -2.0, 0.0, 1.0, 5.0]), np.array([30.0, 4.0, 8.0, np.inf, 50.0])
    scores = normal_scores(t, df)
    assert norm.sf(scores[1:]) == pytest.approx(student_law.sf(t[1:], df[1:]), rel=1e-10)
    assert log_ndtr(scores[0]) == pytest.approx(float(log_tail(40.0, 30.0)), rel=1e-9)


def test_quantiles_are_those_of_scipy():
    df = np.array([3.0, 20.0, 1e9])
    assert quantile(0.975, df) == pytest.approx(student_law.ppf(0.975, df), rel=1e-10)
    assert quantile_at(1.959963984540054, df) == pytest.approx(student_law.ppf(0.975, df), rel=1e-9)
