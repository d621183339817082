"""Clusters, time order and crossed clusters from A alone; planning."""

import numpy as np
import pytest
from scipy.stats import nct, norm
from scipy.stats import t as student_law

from reldep.exceptions import InputError
from reldep.stats.dependent_rows import (
    cell_codes,
    clustered_jackknife,
    crossed_test,
    hsics_without_clusters,
    time_blocks,
)
from reldep.stats.differences import TTest, difference_test
from reldep.stats.jackknife import jackknife, left_out_hsics
from reldep.stats.planning import Pilot, careful_effect, careful_sample_size
from stats.dense_terms import all_means, gaussian, hsic, triple

TWO = [("x", "y"), ("x", "z")]


def means_of(m=40, seed=0):
    kernels = {name: gaussian(x) for name, x in triple(seed, m).items()}
    return *all_means(kernels), kernels


def test_clusters_of_one_row_are_left_out_exactly():
    means, _, _ = means_of(12)
    assert hsics_without_clusters(means, np.arange(12)) == pytest.approx(
        left_out_hsics(means), rel=1e-12
    )


def test_larger_clusters_are_left_out_to_first_order():
    means, pairs, kernels = means_of(300)
    groups = np.arange(300) // 10
    found = hsics_without_clusters(means, groups)
    changes = found - means.mean(1, keepdims=True)
    again = np.empty_like(found)
    for g in range(30):
        rest = np.ix_(groups != g, groups != g)
        again[:, g] = [hsic(kernels[a][rest], kernels[b][rest]) for a, b in pairs]
    again -= means.mean(1, keepdims=True)
    for row, exact in zip(changes, again, strict=True):
        assert np.corrcoef(row, exact)[0, 1] > 0.995
        assert row.std() == pytest.approx(exact.std(), rel=0.03)


def test_few_clusters_have_few_degrees_of_freedom():
    means, pairs, _ = means_of(40)
    for count in (4, 5, 8):
        found = clustered_jackknife(means, pairs, TWO, "cka", np.arange(40) % count)
        test = difference_test(found, 0, 1)
        assert test.df <= count - 1
        assert 0 < test.pvalue() <= 1
    with pytest.raises(InputError, match=r"there are 3 clusters; .* needs at least 4"):
        clustered_jackknife(means, pairs, TWO, "cka", np.arange(40) % 3)


@pytest.mark.parametrize("m", [4, 5])
def test_a_handful_of_rows_is_too_few_however_they_are_grouped(m):
    means, pairs, _ = means_of(m)
    with pytest.raises(InputError, match=f"{m} observations are too few"):
        clustered_jackknife(means, pairs, TWO, "cka", np.arange(m))


def test_copies_of_rows_are_seen_through():
    """Every row five times is no more information than every row once."""
    data = triple(0, 40)
    once = jackknife(*all_means({n: gaussian(x) for n, x in data.items()}), TWO, "cka")
    copied = {name: gaussian(np.repeat(x, 5)) for name, x in data.items()}
    codes = np.repeat(np.arange(40), 5)
    found = clustered_jackknife(*all_means(copied), TWO, "cka", codes)
    assert np.sqrt(found.variances()) == pytest.approx(np.sqrt(once.variances()), rel=0.1)


def test_blocks_of_a_series_are_contiguous_and_nearly_equal():
    for m, count in ((60, 8), (199, 8), (200, 10), (1000, 14), (100_000, 16)):
        blocks = time_blocks(m)
        assert blocks.max() + 1 == count
        assert (np.diff(blocks) >= 0).all()
        assert np.ptp(np.bincount(blocks)) <= 1
    assert time_blocks(1000, max_lag=30).max() + 1 == 10
    assert np.bincount(time_blocks(1000, max_lag=30)).min() >= 90
    with pytest.raises(ValueError, match="`max_lag=400` needs 6 blocks of at least 1203 rows"):
        time_blocks(1000, max_lag=400)


def test_crossed_clusters_add_up_what_either_shares():
    means, pairs, _ = means_of(60)
    subject, stimulus = np.arange(60) // 6, np.arange(60) % 6
    cells = cell_codes(subject, stimulus)
    assert len(np.unique(cells)) == 60
    one, two, cell = (
        clustered_jackknife(means, pairs, TWO, "cka", codes) for codes in (subject, stimulus, cells)
    )
    test = crossed_test((one, two), cell, 0, 1)
    parts = [difference_test(found, 0, 1).standard_error ** 2 for found in (one, two, cell)]
    expected = max(parts[0] + parts[1] - parts[2], parts[0], parts[1])
    assert test.standard_error**2 == pytest.approx(expected, rel=1e-12)
    assert test.df == 5


def test_power_is_that_of_a_noncentral_t():
    pilot = Pilot(0.3, 1.0, 1.0, 1.0)
    n = 84
    bar = student_law.ppf(0.95, 80)
    expected = nct.sf(bar, 80, 0.3 * np.sqrt(n))
    assert pilot.power(n, 0.05, "greater") == pytest.approx(expected, rel=1e-6)
    assert pilot.power(n, 0.05, "less") < 0.001
    both = nct.sf(student_law.ppf(0.975, 80), 80, 0.3 * np.sqrt(n))
    assert pilot.power(n, 0.05, "two-sided") == pytest.approx(both, rel=1e-4)


def test_without_an_effect_the_power_is_the_level():
    for alternative in ("greater", "less", "two-sided"):
        assert Pilot(0.0, 2.0, 2.0, 1.0).power(50, 0.05, alternative) == pytest.approx(0.05)


def test_with_many_rows_power_is_normal():
    pilot = Pilot(0.01, 1.0, 1.0, 1.0)
    expected = norm.cdf(0.01 * np.sqrt(60_000) - norm.ppf(0.95))
    assert pilot.power(60_000, 0.05, "greater") == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_a_sample_size_is_the_smallest_that_reaches_the_power(alternative):
    pilot = Pilot.of(TTest(0.2, 0.1, 40.0, 0.12), 50)
    n = pilot.sample_size(0.8, 0.05, alternative)
    assert pilot.power(n, 0.05, alternative) >= 0.8 > pilot.power(n - 1, 0.05, alternative)


def test_no_sample_is_large_enough_for_an_effect_that_points_elsewhere():
    pilot = Pilot.of(TTest(-0.2, 0.1, 40.0, 0.12), 50)
    with pytest.raises(InputError, match="does not point towards `alternative='greater'`"):
        pilot.sample_size(0.8, 0.05, "greater")


def test_a_careful_plan_takes_more_rows():
    test = TTest(0.2, 0.08, 40.0, 0.08)
    effect = careful_effect(test, "greater")
    # A one-sided 80% limit.
    assert effect == pytest.approx(0.2 - 0.08 * student_law.ppf(0.8, 40), rel=1e-9)
    careful = careful_sample_size(test, 50, 0.8, 0.05, "greater")
    assert careful > Pilot.of(test, 50).sample_size(0.8, 0.05, "greater")
    mirrored = TTest(-0.2, 0.08, 40.0, 0.08)
    assert careful_effect(mirrored, "less") == -effect
    assert careful_effect(mirrored, "two-sided") == -effect


def test_a_pilot_that_shows_nothing_has_no_careful_plan():
    assert careful_sample_size(TTest(0.01, 0.08, 40.0, 0.08), 50, 0.8, 0.05, "greater") is None


def test_a_value_without_one_row_is_exact():
    kernels = {name: gaussian(x) for name, x in triple(0, 12).items()}
    found = jackknife(*all_means(kernels), TWO, "cka")
    rest = np.ix_(np.delete(np.arange(12), 4), np.delete(np.arange(12), 4))
    K, L = kernels["x"][rest], kernels["y"][rest]
    expected = hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L))
    assert found.without(4)[0] == pytest.approx(expected, rel=1e-11)
