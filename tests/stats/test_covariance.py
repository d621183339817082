"""Covariances by their definitions."""

from __future__ import annotations

import numpy as np

from reldep.stats.covariance import covariance


def test_clusters_add_up_before_squaring(rng):
    psi = rng.normal(size=(3, 12))
    clusters = np.repeat([0, 1, 2, 3], 3)
    expected = sum(
        np.outer(psi[:, clusters == g].sum(axis=1), psi[:, clusters == g].sum(axis=1))
        for g in range(4)
    )
    np.testing.assert_allclose(covariance(psi, clusters=clusters), expected / 144)


def test_lags_get_bartletts_weights(rng):
    psi = rng.normal(size=(2, 15))
    expected = psi @ psi.T
    for i in range(15):
        for j in range(15):
            if 0 < abs(i - j) <= 3:
                expected = expected + (1 - abs(i - j) / 4) * np.outer(psi[:, i], psi[:, j])
    np.testing.assert_allclose(covariance(psi, max_lag=3), expected / 225)


def test_lagged_covariances_stay_positive_semi_definite(rng):
    for lag in (1, 5, 19):
        psi = rng.normal(size=(6, 20))
        assert np.linalg.eigvalsh(covariance(psi, max_lag=lag)).min() > -1e-12
