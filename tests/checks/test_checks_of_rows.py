"""Cautions about rows that are copies, that follow each other, or that are few clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import reldep
from reldep.checks import rows as neighbours
from reldep.exceptions import DependentRowsWarning, FewUnitsWarning, RepeatedRowsWarning

pytestmark = pytest.mark.filterwarnings("ignore::reldep.exceptions.ReldepWarning")


def series(m, memory, seed=0, columns=1):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(m + 100, columns)) * np.sqrt(1 - memory**2)
    return lfilter([1.0], [1.0, -memory], steps, axis=0)[100:]


def three(m=100, memory=0.0, seed=0):
    x, e, f = (series(m, memory, seed + k)[:, 0] for k in (0, 1000, 2000))
    return x, x + e, x + f


def said(answer, kind, words=""):
    return [str(w) for w in answer.warnings if isinstance(w, kind) and words in str(w)]


def alike(answer):
    return said(answer, DependentRowsWarning, "djacent rows")


def test_a_series_is_noticed_until_the_question_says_that_it_is_one():
    data = three(100, 0.9)
    (text,) = alike(reldep.compare(*data))
    assert "use `max_lag='auto'` for a series, `clusters` for repeated measurements" in text
    assert not alike(reldep.compare(*data, max_lag="auto"))
    assert not alike(reldep.compare(*data, clusters=np.arange(100) // 10))
    assert alike(reldep.dependence(*data[:2]))
    assert alike(reldep.rank(data[0], {"y": data[1], "z": data[2]}))


def slow(answer):
    return said(answer, FewUnitsWarning, "move so slowly")


def test_a_slow_series_is_worth_few_rows():
    """Level of the difference at 100 rows: AR(0.95) .09, AR(0.5) .06."""
    given = dict.fromkeys((0.5, 0.95), 0)
    for memory in given:
        for seed in range(20):
            given[memory] += bool(slow(reldep.compare(*three(100, memory, seed), max_lag="auto")))
    assert given[0.5] == 0
    assert given[0.95] >= 17


def test_a_slow_series_is_said_where_the_question_knows_of_the_time():
    x, y, z = data = three(100, 0.97, seed=4)
    (text,) = slow(reldep.compare(*data, max_lag=4, names=("x", "y", "z")))
    assert "100 rows are worth about" in text
    assert "observe a longer time" in text
    for answer in (
        reldep.dependence(x, y, max_lag="auto"),
        reldep.rank(x, {"y": y, "z": z}, max_lag="auto"),
        reldep.matrix({"x": x, "y": y, "z": z}, max_lag="auto"),
    ):
        assert slow(answer)
    assert not slow(reldep.compare(*data))
    assert not slow(reldep.compare(*data, clusters=np.arange(100) // 5))


def test_one_quick_variable_of_a_pair_makes_every_row_count():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=200))
    noise = rng.normal(size=(2, 200))
    assert not slow(reldep.compare(noise[0], walk, noise[0] + noise[1], max_lag="auto"))


def test_a_series_in_one_variable_of_each_pair_harms_nothing():
    x, y, z = three(100, 0.9)
    shuffled = np.random.default_rng(5).permutation(100)
    assert not alike(reldep.compare(x[shuffled], y, z))


@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_are_not_suspected(seed):
    assert not alike(reldep.compare(*three(60, 0.0, seed)))


@pytest.mark.parametrize("key", [0, 1])
@pytest.mark.parametrize("step", [1, -1])
def test_a_file_sorted_by_a_variable_of_the_question_is_not_suspected(key, step):
    data = three(80, 0.0, seed=3)
    order = np.argsort(data[key])[::step]
    assert not alike(reldep.compare(*(values[order] for values in data)))


def test_rows_along_a_column_that_is_not_used_are_suspected_only_if_that_harms():
    # Independent rows, sorted by what the source and both targets depend on.
    suspected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hidden = np.sort(rng.normal(size=100))
        x, y, z = (hidden + 0.5 * rng.normal(size=100) for _ in range(3))
        suspected += bool(alike(reldep.compare(x, y, z)))
    # One standard error is passed by chance in 16% of samples: more than 14 of 40 in 1 of 500.
    assert suspected <= 14


def test_a_file_in_blocks_of_a_label_is_not_suspected():
    rng = np.random.default_rng(2)
    group = np.repeat(["a", "b", "c"], 30)
    shift = np.repeat([0.0, 1.5, 3.0], 30)
    assert not alike(reldep.compare(group, shift + rng.normal(size=90), rng.normal(size=90)))


def test_a_series_along_a_sorted_variable_is_noticed():
    x = np.sort(np.random.default_rng(0).normal(size=200))
    y, z = (x + series(200, 0.9, seed)[:, 0] for seed in (1, 2))
    assert alike(reldep.compare(x, y, z))


def test_objects_are_judged_by_their_influence():
    rng = np.random.default_rng(0)
    mood = np.cumsum(rng.normal(size=120)) / 3
    texts = ["".join("ab"[int(v > 0)] * 3 + "cd"[int(v > 1)] * 3) for v in mood]
    y, z = (mood + np.cumsum(rng.normal(size=120)) / 3 for _ in range(2))
    kernel = {"source": reldep.kernels.Spectrum(2)}
    assert alike(reldep.compare(texts, y, z, kernel=kernel))
    shuffled = rng.permutation(120)
    mixed = [texts[i] for i in shuffled]
    assert not alike(reldep.compare(mixed, y[shuffled], z[shuffled], kernel=kernel))


def test_roughness_tells_noise_along_a_trend_from_memory():
    rng = np.random.default_rng(0)
    trend = np.linspace(0, 4, 2000)
    # Second differences of an AR(r) have the variances 1.5 - 2 r^k + r^2k / 2 at k steps.
    noise, memory = trend + rng.normal(size=2000), trend + series(2000, 0.5)[:, 0]
    assert neighbours._log_roughness(noise[None]) == pytest.approx(0.0, abs=0.2)
    expected = np.log((1.5 - 2 * 0.25 + 0.0625 / 2) / (1.5 - 2 * 0.5 + 0.25 / 2))
    assert neighbours._log_roughness(memory[None]) == pytest.approx(expected, abs=0.2)
    centred = series(5000, 0.5)[:, 0]
    assert neighbours.correlation((centred - centred.mean())[None]) == pytest.approx(0.5, abs=0.05)


def test_order_is_rising_falling_or_in_blocks():
    assert neighbours._is_in_order(np.arange(5.0)[None])
    assert neighbours._is_in_order(-np.arange(5.0)[None])
    assert neighbours._is_in_order(np.repeat([[2.0, 0.0, 1.0]], 4, axis=1))
    assert not neighbours._is_in_order(np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]))
    assert not neighbours._is_in_order(np.array([[0.0, 1.0, 2.0, 1.5]]))


@pytest.mark.parametrize(("times", "fires"), [(5, True), (2, True), (1, False)])
def test_copied_rows_are_noticed(times, fires):
    data = three(100 // times)
    rows = np.random.default_rng(1).permutation(np.tile(np.arange(100 // times), times))
    answer = reldep.compare(*(v[rows] for v in data))
    assert bool(said(answer, RepeatedRowsWarning, "rows repeat others; drop them")) == fires
    clustered = reldep.compare(*(v[rows] for v in data), clusters=rows)
    assert not said(clustered, RepeatedRowsWarning)


def test_answers_on_a_scale_are_no_copies():
    data = [np.clip(np.round(v + 3), 1, 5) for v in three(300)]
    assert not said(reldep.compare(*data), RepeatedRowsWarning)


def test_few_clusters_are_named():
    data = three(80)
    few = reldep.compare(*data, clusters=np.arange(80) // 8)
    assert said(few, FewUnitsWarning, "approximate for 10 clusters")
    assert not said(reldep.compare(*data, clusters=np.arange(80) // 2), FewUnitsWarning)
