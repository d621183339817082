"""Cautions about rows that are copies, that follow each other, or that are few clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import reldep
from reldep.exceptions import (
    BandwidthWarning,
    CopyWarning,
    DependentRowsWarning,
    MeasureWarning,
    SmallSampleWarning,
)
from reldep.kernels import Gaussian
from reldep.questions.data_cautions import (
    autocorrelations,
    independent_share,
    is_in_order,
    log_roughness,
    neighbour_correlation,
)
from reldep.words import number, pvalue_text

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
    return said(answer, DependentRowsWarning, "next to each other are alike")


def test_a_series_is_noticed_until_the_question_says_that_it_is_one():
    data = three(100, 0.9)
    (text,) = alike(reldep.compare(*data))
    assert "several belong to one subject" in text
    assert not alike(reldep.compare(*data, max_lag="auto"))
    assert not alike(reldep.compare(*data, clusters=np.arange(100) // 10))
    assert alike(reldep.dependence(*data[:2]))
    assert alike(reldep.rank(data[0], {"y": data[1], "z": data[2]}))


def slow(answer):
    return said(answer, SmallSampleWarning, "move so slowly")


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
    assert "Observe a longer time" in text
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


def test_the_worth_of_a_row_is_that_of_two_autoregressions():
    lags = 0.9 ** np.arange(1, 300), 0.8 ** np.arange(1, 300)
    assert independent_share(*lags) == pytest.approx((1 - 0.72) / (1 + 0.72), rel=1e-9)
    assert independent_share(np.array([0.5, -0.1, 0.4]), np.ones(3)) == pytest.approx(1 / 2)
    columns = np.random.default_rng(0).normal(size=(2, 50))
    columns -= columns.mean(axis=1, keepdims=True)
    found = autocorrelations(columns)
    assert len(found) == 25
    for lag in (1, 7, 25):
        expected = (columns[:, lag:] * columns[:, :-lag]).sum() / (columns**2).sum()
        assert found[lag - 1] == pytest.approx(expected, abs=1e-12)


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
    assert log_roughness(noise[None]) == pytest.approx(0.0, abs=0.2)
    expected = np.log((1.5 - 2 * 0.25 + 0.0625 / 2) / (1.5 - 2 * 0.5 + 0.25 / 2))
    assert log_roughness(memory[None]) == pytest.approx(expected, abs=0.2)
    centred = series(5000, 0.5)[:, 0]
    assert neighbour_correlation((centred - centred.mean())[None]) == pytest.approx(0.5, abs=0.05)


def test_order_is_rising_falling_or_in_blocks():
    assert is_in_order(np.arange(5.0)[None])
    assert is_in_order(-np.arange(5.0)[None])
    assert is_in_order(np.repeat([[2.0, 0.0, 1.0]], 4, axis=1))
    assert not is_in_order(np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]))
    assert not is_in_order(np.array([[0.0, 1.0, 2.0, 1.5]]))


@pytest.mark.parametrize(("times", "fires"), [(5, True), (2, True), (1, False)])
def test_copied_rows_are_noticed(times, fires):
    data = three(100 // times)
    rows = np.random.default_rng(1).permutation(np.tile(np.arange(100 // times), times))
    found = said(reldep.compare(*(v[rows] for v in data)), DependentRowsWarning, "copies of others")
    assert bool(found) == fires


def test_answers_on_a_scale_are_no_copies():
    data = [np.clip(np.round(v + 3), 1, 5) for v in three(300)]
    assert not said(reldep.compare(*data), DependentRowsWarning)


def test_few_clusters_are_named():
    data = three(80)
    few = reldep.compare(*data, clusters=np.arange(80) // 8)
    assert said(few, SmallSampleWarning, "only 10 clusters")
    assert not said(reldep.compare(*data, clusters=np.arange(80) // 2), SmallSampleWarning)


def test_raw_hsic_beside_cka_is_the_comparison_with_cka():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y, wide = x + rng.normal(size=100), x[:, None] + rng.normal(size=(100, 5))
    (text,) = said(reldep.compare(x, y, wide, measure="hsic"), MeasureWarning)
    cka = reldep.compare(x, y, wide, alternative="two-sided")
    assert f"that of CKA {number(cka.estimate)} ({pvalue_text(cka.pvalue)}, both" in text
    assert said(reldep.paper_test(x, y, wide), MeasureWarning)


def test_alike_targets_have_no_caution_about_the_measure():
    x, y, z = three(100, seed=7)
    raw = reldep.compare(x, y, z, measure="hsic")
    cka = reldep.compare(x, y, z)
    assert (raw.tested.pvalue() < 0.05) == (cka.tested.pvalue() < 0.05)
    assert not said(raw, MeasureWarning)


def test_a_median_that_jumps_is_named_for_those_who_ask_for_the_median():
    rng = np.random.default_rng(0)
    # 50.5% of the distances of this law are at most 1, or 0.3 standard errors more than half.
    x = rng.binomial(10, 0.4, size=100).astype(float)
    y, z = x + rng.normal(size=100), x + rng.normal(size=100)
    found = said(reldep.compare(x, y, z, kernel=Gaussian()), BandwidthWarning, "narrow margin")
    assert found
    assert found[0].startswith("source: the median distance is ")
    assert not said(reldep.compare(x, y, z), BandwidthWarning)
    assert not said(reldep.compare(x, y, z, kernel=Gaussian("mid-median")), BandwidthWarning)
    # Four levels: 10/16 of the distances are at most 1, and 4/16 are 0.
    steady = rng.integers(0, 4, size=100).astype(float)
    assert not said(reldep.compare(steady, y, z, kernel=Gaussian()), BandwidthWarning, "source")


def test_a_target_with_hardly_any_noise_is_called_almost_a_copy():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    z = x + rng.normal(size=80)
    near = reldep.compare(x, x + 0.005 * rng.normal(size=80), z)
    assert said(near, CopyWarning, "almost as dependent as copies of each other: source and first")
    assert not said(reldep.compare(x, x + 0.3 * rng.normal(size=80), z), CopyWarning)


@pytest.mark.parametrize(
    ("count", "rows", "fires"), [(20, 55, True), (20, 65, False), (5, 25, False)]
)
def test_few_rows_for_many_targets_are_named(count, rows, fires):
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    targets = {f"t{i}": x + rng.normal(size=rows) for i in range(count)}
    answer = reldep.rank(x, targets, n_simulations=500)
    assert bool(said(answer, SmallSampleWarning, f"{count} targets and {rows}")) == fires
