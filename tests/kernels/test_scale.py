"""The scale of the distances: exact, sampled, tied; and how it moves with every observation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from reldep.data.objects import read_variable
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear, Precomputed
from reldep.kernels.distances import Points
from reldep.kernels.scale import density_at, scale_of

ALL = slice(None)


def points_of(data):
    return Points.of(read_variable(data, "x"))


def fitted(kernel, values):
    return kernel.fit(values)


def samples(m, seed=0):
    """Data on which a scale may go wrong: ties, heavy tails, many columns, sparse rows."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(m, 2))
    return {
        "normal": plane,
        "line": rng.normal(size=(m, 1)),
        "heavy tails": rng.standard_cauchy(size=(m, 3)),
        "whole numbers": rng.integers(0, 4, size=(m, 2)),
        "two far clusters": plane + 1e6 * (np.arange(m) % 2)[:, None],
        "mostly equal": np.where(np.arange(m) % 5 > 0, 0.0, rng.normal(size=m))[:, None],
        "many columns": rng.normal(size=(m, 40)),
        "sparse": sparse.random(m, 100, 0.05, rng=rng, format="csr"),
    }


NAMES = list(samples(10))


@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("m", [5, 6, 320])
@pytest.mark.parametrize("name", NAMES)
def test_scales_are_those_of_all_pairs_in_any_unit(name, m, size):
    data = samples(m, seed=m)[name]
    distances = pdist(data.toarray() if sparse.issparse(data) else data)
    points = points_of(size * data)
    assert scale_of(points, "mean").value == pytest.approx(size * distances.mean(), rel=1e-9)
    median = scale_of(points, "median")
    assert median.has_ties == (np.median(distances) == 0)
    expected = np.median(distances[distances > 0] if median.has_ties else distances)
    assert median.value == pytest.approx(size * expected, rel=1e-9)


def test_distances_that_are_all_zero_are_refused():
    for rule in ("mean", "median"):
        for m in (30, 5_000 + 1):
            with pytest.raises(ValueError, match=r"are 0; rescale .* Gaussian\(bandwidth=1.0"):
                scale_of(points_of(np.ones((m, 2))), rule)


@pytest.mark.parametrize("m", [60, 1_000])
def test_density_of_the_distances_of_a_normal_sample_is_the_half_normal_one(m):
    # |x - y| of two standard normals has density exp(-d²/4)/sqrt(π).
    points = points_of(np.random.default_rng(0).normal(size=m))
    median = scale_of(points, "median").value
    found = density_at(points, median / points.unit) / points.unit
    expected = np.exp(-(median**2) / 4) / np.sqrt(np.pi)
    assert found == pytest.approx(expected, rel=0.05 if m > 100 else 0.3)


@pytest.mark.parametrize(
    ("kernel", "values"),
    [
        (Gaussian(1.5), np.arange(9.0)),
        (Laplace(0.5, factor=2.0), np.arange(9.0)),
        (Linear(), np.arange(9.0)),
        (Distance(), np.arange(9.0)),
        (Precomputed(np.cov(np.random.default_rng(0).normal(size=(9, 20)))), np.arange(9.0)),
        (Delta() + Linear(), np.arange(6.0) // 2),
        # Two levels: every distance above 0 is 1. Integers: a large share is the median.
        (Gaussian(), np.tile([0.0, 1.0], 20)),
        (Gaussian(), np.repeat([0.0, 1.0, 2.0], 12)),
        (Gaussian(), np.r_[np.zeros(30), 1.0, 1.0, 1.0]),
    ],
)
def test_a_bandwidth_that_is_given_or_a_median_on_an_atom_does_not_move(kernel, values):
    assert fitted(kernel, values).bandwidths() == ()


def test_a_median_next_to_an_atom_has_a_density():
    # 80 % of the distances are equal, but not those around 0.5.
    simplex = np.eye(11) / np.sqrt(2.0)
    simplex[9:] = simplex[0] + np.array([[0.4], [0.5]]) * (simplex[9:] - simplex[0])
    points = points_of(simplex)
    assert 0 < density_at(points, 0.5 / points.unit) < np.inf


def test_rows_that_are_all_tied_in_the_sample_give_no_density():
    values = np.zeros(2_000)
    values[1::997] = np.random.default_rng(6).normal(size=len(values[1::997]))
    assert density_at(points_of(values), 1.0) == np.inf


def test_ties_are_left_out_of_the_score_where_they_were_left_out_of_the_median():
    values = np.r_[np.zeros(160), np.random.default_rng(3).normal(size=40)]
    [width] = fitted(Gaussian(), values).bandwidths()
    upper = np.triu_indices(200, k=1)
    sides, distances = width.score(ALL, ALL)[upper], pdist(values[:, None])
    assert (sides[distances == 0] == 0).all()
    # Half of the others lie on each side, up to the 160 that are equal to the median.
    assert abs(np.sign(sides).sum()) <= 160
