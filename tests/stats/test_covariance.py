"""Covariances from influence values: independent, clustered, in time."""

import numpy as np
import pytest

from reldep.stats.covariance import automatic_lag, cluster_sums, covariance


def autoregression(rho, n, rng, p=1):
    noise = rng.normal(size=(p, n + 200))
    series = np.zeros_like(noise)
    for t in range(1, n + 200):
        series[:, t] = rho * series[:, t - 1] + noise[:, t]
    return series[:, 200:] - series[:, 200:].mean(axis=1, keepdims=True)


def test_independent_rows_give_the_outer_product_over_m_squared():
    psi = np.random.default_rng(0).normal(size=(3, 20))
    assert covariance(psi) == pytest.approx(psi @ psi.T / 400)


def test_clusters_are_added_up_before_squaring():
    psi = np.array([[1.0, 2.0, 3.0, -6.0], [0.0, 1.0, -1.0, 0.0]])
    clusters = np.array([0, 0, 1, 1])
    assert cluster_sums(psi, clusters).tolist() == [[3.0, -3.0], [1.0, -1.0]]
    assert covariance(psi, clusters=clusters) == pytest.approx(
        np.array([[18.0, 6.0], [6.0, 2.0]]) / 16
    )


def test_clusters_of_one_row_are_independent_rows():
    psi = np.random.default_rng(1).normal(size=(2, 9))
    assert covariance(psi, clusters=np.arange(9)) == pytest.approx(covariance(psi))


def test_lags_have_the_weights_of_bartlett():
    psi = np.random.default_rng(2).normal(size=(2, 30))
    distance = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    weights = np.clip(1 - distance / 4, 0, None)
    assert covariance(psi, max_lag=3) == pytest.approx(psi @ weights @ psi.T / 900)
    assert covariance(psi, max_lag=0) == pytest.approx(covariance(psi))


def test_the_automatic_lag_follows_the_formula_of_andrews():
    psi = autoregression(0.6, 500, np.random.default_rng(3))
    rho = float(psi[0, :-1] @ psi[0, 1:] / (psi[0, :-1] @ psi[0, :-1]))
    alpha = 4 * rho**2 / ((1 - rho) ** 2 * (1 + rho) ** 2)
    assert automatic_lag(psi) == int(np.ceil(1.1447 * (alpha * 500) ** (1 / 3)))


def test_the_automatic_lag_grows_with_the_dependence_and_is_short_without():
    rng = np.random.default_rng(4)
    lags = [
        np.median([automatic_lag(autoregression(rho, 400, rng)) for _ in range(20)])
        for rho in (0.0, 0.5, 0.9)
    ]
    assert lags[0] <= 3 < lags[1] < lags[2]


def test_the_automatic_lag_of_a_trend_stops_at_a_quarter_of_the_rows():
    trend = np.linspace(-1.0, 1.0, 40)[None, :]
    assert automatic_lag(trend) == 10


def test_the_automatic_lag_of_rows_without_influence_is_zero():
    assert automatic_lag(np.zeros((2, 30))) == 0


def test_the_automatic_lag_of_several_series_does_not_depend_on_a_common_scale():
    psi = autoregression(0.7, 300, np.random.default_rng(5), p=3)
    assert automatic_lag(1e-3 * psi) == automatic_lag(psi) > 0
