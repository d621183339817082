"""Periodic, Angles and Haversine: closed forms, known distances, every refusal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ExpSineSquared
from sklearn.metrics.pairwise import haversine_distances

from reldep.kernels import Angles, Gaussian, Haversine, Periodic
from reldep.kernels.scale import score_of

ALL = slice(None)

RNG = np.random.default_rng(8)
HOURS = RNG.uniform(-30, 80, 25)
PLACES = np.column_stack([RNG.uniform(-90, 90, 20), RNG.uniform(-180, 360, 20)])


def test_periodic_equals_the_periodic_kernel_of_scikit_learn():
    expected = ExpSineSquared(length_scale=0.8, periodicity=24)(HOURS[:, None])
    np.testing.assert_allclose(Periodic(24, bandwidth=0.8)(HOURS), expected)
    np.testing.assert_allclose(
        Periodic(24, bandwidth=0.4, factor=2)(HOURS + 24), expected, atol=1e-12
    )


def test_angles_have_the_von_mises_form():
    angles = RNG.uniform(0, 360, 15)
    difference = np.deg2rad(angles[:, None] - angles)
    expected = np.exp((np.cos(difference) - 1) / 0.5**2)
    np.testing.assert_allclose(Angles("degrees", bandwidth=0.5)(angles), expected)
    radians = np.deg2rad(angles)
    np.testing.assert_allclose(Angles("radians", bandwidth=0.5)(radians), expected)
    vectors = 3.0 * np.column_stack([np.cos(radians), np.sin(radians)])
    np.testing.assert_allclose(Angles("vectors", bandwidth=0.5)(vectors), expected)


def test_several_angles_are_multiplied():
    pairs = RNG.uniform(0, 6, (10, 2))
    single = [Angles("radians", bandwidth=1)(pairs[:, j]) for j in range(2)]
    np.testing.assert_allclose(Angles("radians", bandwidth=1)(pairs), single[0] * single[1])


def test_great_circle_distances_equal_those_of_scikit_learn():
    km = 6371.0088 * haversine_distances(np.deg2rad(PLACES))
    np.testing.assert_allclose(Haversine(bandwidth=3000)(PLACES), np.exp(-km / 3000))
    fitted = Haversine().fit(PLACES)
    median = np.median(km[np.triu_indices(20, 1)])
    assert fitted.describe()["bandwidth"] == pytest.approx(median, rel=1e-3)
    assert fitted.label == f"Haversine(bandwidth={fitted.describe()['bandwidth']:.6g} km)"


def test_antipodes_are_half_the_circumference_apart():
    poles = [[90.0, 0.0], [-90.0, 17.0], [0.0, 0.0], [0.0, 180.0]]
    km = -1000 * np.log(Haversine(bandwidth=1000)(poles))
    assert km[0, 1] == pytest.approx(np.pi * 6371.0088)
    assert km[2, 3] == pytest.approx(np.pi * 6371.0088)
    assert km[0, 2] == pytest.approx(np.pi / 2 * 6371.0088)


def test_numbers_without_a_period_need_no_special_kernel():
    """Within a small part of the circle the periodic kernel is the Gaussian one."""
    near = RNG.uniform(0, 0.01, 10)
    np.testing.assert_allclose(Periodic(2 * np.pi)(near), Gaussian()(near), rtol=1e-4)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_the_bandwidth_follows_the_median_chord(factor):
    fitted = Haversine(factor=factor).fit(PLACES)
    [width] = fitted.bandwidths()
    chord, h = fitted.chord.value, 1e-6
    plain = score_of(fitted.chord, fitted.points)
    arcs = [np.log(np.arcsin(chord * (1 + s) / 2)) for s in (h, -h)]
    ratio = width.score(ALL, ALL) / plain(ALL, ALL)
    assert ratio == pytest.approx((arcs[0] - arcs[1]) / (2 * h), rel=1e-6)
    assert Haversine(bandwidth=500).fit(PLACES).bandwidths() == ()


def test_tied_places_take_the_median_of_the_other_distances():
    places = np.vstack([np.tile([50.0, 8.0], (30, 1)), PLACES[:4]])
    fitted = Haversine().fit(places)
    assert fitted.describe()["rule"] == "median of the non-zero distances"
