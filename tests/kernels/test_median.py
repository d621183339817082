"""The median distance: exact, streamed, subsampled."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from reldep import system
from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.kernels import Gaussian, Laplace
from reldep.kernels.points import Points
from reldep.kernels.scales import median, order_statistics
from reldep.kernels.scales.median import (
    distance_scale,
    mean_distance,
    median_distance,
    pairwise_distances,
)
from reldep.kernels.scales.order_statistics import Boxes, DistanceStream, Pass, RankBounds


def points_of(data):
    return Points.of(read_variable(data, "x"))


def samples(m, seed=0):
    """Data on which a selection may go wrong: ties, heavy tails, many columns, sparse rows."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(m, 2))
    return {
        "normal": plane,
        "line": rng.normal(size=m),
        "heavy tails": rng.standard_cauchy(size=(m, 3)),
        "whole numbers": rng.integers(0, 4, size=(m, 2)),
        "tenths": rng.integers(0, 5, size=(m, 3)) * 0.1,
        "two far clusters": plane + 1e6 * (np.arange(m) % 2)[:, None],
        "mostly equal": np.where(np.arange(m) % 5 > 0, 0.0, rng.normal(size=m)),
        "rarely one": (np.arange(m) % 20 == 0).astype(float),
        "many columns": rng.normal(size=(m, 40)),
        "sparse": sparse.random(m, 100, 0.05, rng=rng, format="csr"),
    }


NAMES = list(samples(10))


@pytest.fixture
def streamed(monkeypatch):
    """Stream however few observations there are."""
    monkeypatch.setattr(median, "WHOLE_UP_TO", 0)


@pytest.fixture(params=["compiled", "numpy"])
def either_way(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(order_statistics, "numba_is_there", lambda: False)


@pytest.mark.usefixtures("streamed", "either_way")
@pytest.mark.parametrize("m", [5, 6, 320])
@pytest.mark.parametrize("name", NAMES)
def test_the_streamed_median_is_the_median_to_the_last_bit(name, m):
    points = points_of(samples(m, seed=m)[name])
    distances = pairwise_distances(points)
    found = median_distance(points)
    if np.median(distances) > 0:
        assert (found.value, found.has_ties) == (np.median(distances), False)
    else:
        assert (found.value, found.has_ties) == (np.median(distances[distances > 0]), True)


def test_where_most_distances_are_zero_the_others_count():
    # Of 15 distances 6 are 0, 4 are 2, one is 3 and 4 are 5; then 15, 6, one and 6 of 28.
    plain = median_distance(points_of([0.0] * 4 + [2.0, 5.0]))
    assert (plain.value, plain.rule) == (2.0, "median")
    tied = median_distance(points_of([0.0] * 6 + [2.0, 5.0]))
    assert (tied.value, tied.rule) == (3.0, "median of the non-zero distances")


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("most_collected", [1, 7, 500])
@pytest.mark.parametrize("name", NAMES)
def test_every_rank_is_found_with_little_memory(name, most_collected, monkeypatch):
    monkeypatch.setattr(order_statistics, "MOST_COLLECTED", most_collected)
    monkeypatch.setattr(order_statistics, "SAMPLED_PAIRS", 30)
    monkeypatch.setattr(order_statistics, "SAMPLED_ROWS", 5)
    monkeypatch.setattr(order_statistics, "BLOCK_ROWS", 16)
    points = points_of(samples(41, seed=1)[name])
    blocks = [
        order_statistics._above_diagonal(points, *b) for b in order_statistics._upper_blocks(41)
    ]
    squared = np.sort(np.concatenate(blocks))
    for rank in (0, 1, 200, 409, 410, 818, 819):
        stream = DistanceStream(points)
        assert stream.squared_distance_at(rank) == squared[rank]
        room = max(most_collected, system.available_cores() * 32 * stream._is_cheap)
        assert all(len(found.inside) <= room for found in stream.passes)


@pytest.mark.parametrize("name", ["normal", "whole numbers", "two far clusters", "line"])
def test_boxes_hold_every_point_within_their_ends(name):
    rows = points_of(samples(500)[name]).rows
    boxes = Boxes.of(rows)
    order = np.lexsort(boxes.columns)
    np.testing.assert_array_equal(boxes.columns[:, order], rows.T[:, np.lexsort(rows.T)])
    sizes = np.diff(boxes.starts)
    assert sizes.sum() == 500
    assert 0 < sizes.min() <= sizes.max() <= 2 * order_statistics.BOX_POINTS
    for b, (first, last) in enumerate(pairwise(boxes.starts)):
        inside = boxes.columns[:, first:last]
        np.testing.assert_array_equal(inside.min(axis=1), boxes.lows[:, b])
        np.testing.assert_array_equal(inside.max(axis=1), boxes.highs[:, b])


def test_one_pass_is_enough_for_ordinary_data():
    points = points_of(np.random.default_rng(0).normal(size=(3_000, 2)))
    stream = DistanceStream(points)
    middle = stream.n_distances // 2
    stream.squared_distance_at(middle)
    stream.squared_distance_at(middle + 1)
    assert len(stream.passes) == 1
    assert len(stream.passes[0].inside) < 0.02 * stream.n_distances


def test_a_pass_knows_the_ranks_in_its_bracket_if_it_holds_all_of_them():
    found = Pass(1.0, 3.0, 2, 5, np.array([1.0, 2.5, 3.0]))
    assert [found.value_at(rank) for rank in range(6)] == [None, None, 1.0, 2.5, 3.0, None]
    assert Pass(1.0, 3.0, 2, 9, np.array([1.5, 2.5])).value_at(5) is None
    assert Pass(2.0, 2.0, 2, 9, np.array([2.0])).value_at(8) == 2.0


def test_bounds_move_to_the_side_on_which_the_rank_lies():
    bounds = RankBounds(-1.0, np.inf, 0, 100, np.arange(1.0, 10.0), 9)
    found = Pass(4.0, 6.0, 40, 60, np.array([5.0]))
    left, right = bounds.after(found, 10), bounds.after(found, 90)
    assert (left.low, left.n_below, left.n_up_to) == (-1.0, 0, 40)
    assert (right.high, right.n_below, right.n_up_to) == (np.inf, 60, 100)
    assert 3.999999 < left.high < 4.0
    assert 6.0 < right.low < 6.000001
    assert left.sample.tolist() == [1, 2, 3]
    within = bounds.after(found, 50)
    assert (within.low, within.high, within.sample.tolist()) == (4.0, 6.0, [5.0])


def test_a_bracket_that_gains_nothing_becomes_a_single_value():
    bounds = RankBounds(1.0, 2.0, 0, 100, np.array([1.0, 1.0, 1.0, 2.0, 2.0]), 5)
    assert bounds.bracket(10) == (1.0, 1.0)
    assert bounds.bracket(90) == (2.0, 2.0)
    assert RankBounds(1.0, 2.0, 0, 100, np.empty(0), 5).bracket(10) == (1.0, 2.0)


def distances_from_following(rows, rng, n_partners):
    """Give the distances of each row from those that follow it, in a random order."""
    shuffled = rows[rng.permutation(len(rows))]
    turned = [np.roll(shuffled, -shift, axis=0) for shift in range(1, n_partners + 1)]
    return np.concatenate([np.sqrt(((shuffled - other) ** 2).sum(axis=1)) for other in turned])


@pytest.mark.parametrize("columns", [2, 30])
def test_large_samples_compare_each_row_with_some_others_and_say_so(monkeypatch, columns):
    monkeypatch.setattr(median, "EXACT_UP_TO", 2_100)
    monkeypatch.setattr(median, "DISTANCES_TAKEN", 10 * 2_500 * (1 if columns == 2 else 10))
    monkeypatch.setattr(median, "LEAST_PARTNERS", 10)
    monkeypatch.setattr(median, "LEAST_PARTNERS_OF_MANY_COLUMNS", 10)
    rows = np.random.default_rng(0).normal(size=(2_500, columns))
    variable = read_variable(rows, "x")
    fitted = Gaussian().fit(variable)
    again = Gaussian().fit(variable, rng=np.random.default_rng(0))
    other = Gaussian().fit(variable, rng=np.random.default_rng(1))
    assert fitted.describe()["rule"] == "median distance of each row from 20 others at random"
    assert fitted.profile.bandwidth == again.profile.bandwidth != other.profile.bandwidth
    distances = distances_from_following(rows, np.random.default_rng(0), 10)
    assert fitted.profile.bandwidth == pytest.approx(np.median(distances), rel=1e-12)
    mean = Gaussian("mean").fit(variable)
    assert mean.profile.bandwidth == pytest.approx(distances.mean(), rel=1e-12)
    assert mean.scale.deviation == pytest.approx(distances.std(), rel=1e-9)
    assert fitted.cautions == ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("m", [50, 2_300])
def test_the_mean_distance_is_that_of_all_pairs(name, m):
    points = points_of(samples(m)[name])
    expected = pairwise_distances(points).mean()
    assert mean_distance(points).value == pytest.approx(expected, rel=1e-12)


def test_one_column_is_exact_at_any_size():
    rows = np.random.default_rng(0).normal(size=60_001)
    fitted = Gaussian().fit(read_variable(rows, "x"))
    assert fitted.describe()["rule"] == "median"
    ordered = np.sort(rows)
    within = np.searchsorted(ordered, ordered + fitted.profile.bandwidth, side="right")
    n_up_to = int((within - np.arange(len(rows)) - 1).sum())
    assert n_up_to in {60_001 * 60_000 // 4, 60_001 * 60_000 // 4 + 1}


def test_the_mid_median_interpolates_between_the_values_of_distances():
    # Distances of 0, 1 and 2 with shares 2/6, 3/6, 1/6 have mid-distribution 1/6, 7/12, 11/12.
    points = points_of([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0])
    distances = pairwise_distances(points)
    values, counts = np.unique(distances, return_counts=True)
    shares = counts / counts.sum()
    middles = np.cumsum(shares) - shares / 2
    found = distance_scale(points, "mid-median")
    assert found.value == pytest.approx(np.interp(0.5, middles, values))
    assert found.rule == "mid-distribution median"
    continuous = points_of(np.random.default_rng(0).normal(size=60))
    assert distance_scale(continuous, "mid-median") == median_distance(continuous)


@pytest.mark.parametrize("size", [1e-200, 1e-155, 1e155, 1e200])
@pytest.mark.parametrize("rule", ["median", "mean", "mid-median"])
def test_a_scale_grows_with_the_values_whatever_their_size(size, rule):
    values = np.random.default_rng(0).integers(0, 5, 100) / 4
    plain, large = (distance_scale(points_of(values * s), rule) for s in (1.0, size))
    assert large.value == pytest.approx(plain.value * size)


def test_ties_in_a_subsample_are_told(monkeypatch):
    monkeypatch.setattr(median, "EXACT_UP_TO", 2_100)
    rows = np.zeros((2_500, 2))
    rows[::10, 0] = 3.0
    fitted = Laplace(factor=2.0).fit(read_variable(rows, "x"))
    rule = "2 × median of the non-zero distances of each row from 2,498 others at random"
    assert fitted.describe()["rule"] == rule
    assert fitted.profile.bandwidth == 6.0
    assert "are 0 (ties)" in str(fitted.cautions[0])


@pytest.mark.parametrize("whole_up_to", [0, 2_000])
def test_distances_that_are_all_zero_are_refused(whole_up_to, monkeypatch):
    monkeypatch.setattr(median, "WHOLE_UP_TO", whole_up_to)
    same = np.ones((30, 2))
    with pytest.raises(ValueError, match=r"are 0; rescale the values .* Gaussian\(bandwidth=1.0"):
        median_distance(Points.of(Numeric("x", same)))


def test_cores_are_counted_where_affinity_is_unknown(monkeypatch):
    monkeypatch.delattr(system.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(system.os, "cpu_count", lambda: None)
    assert system.available_cores() == 1
