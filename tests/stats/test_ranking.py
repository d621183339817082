"""Many estimates at once: constants of Tukey, Dunnett and Holm, and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

from reldep.stats.ranking import adjusted_pvalues, differences, holm, order_of
from reldep.stats.simultaneous import (
    JointNormal,
    difference_variances,
    quantile,
    root_scale_interval,
)


def law_of(covariance, n=40_000, seed=0):
    return JointNormal.simulate(np.asarray(covariance), n, np.random.default_rng(seed))


def analysed(estimates, covariance, law, level=0.95):
    variances = difference_variances(np.asarray(covariance))
    found = differences(np.asarray(estimates), variances)
    return found, *order_of(np.asarray(estimates), variances, law, level)


def test_holm_multiplies_by_the_number_of_hypotheses_left():
    # By hand: 4·0.01, 3·0.02, then never below what came before, at most 1.
    np.testing.assert_allclose(holm(np.array([0.5, 0.01, 0.02, 0.4])), [0.8, 0.04, 0.06, 0.8])


def test_benjamini_hochberg_multiplies_by_the_number_over_the_place():
    estimates = np.array([0.0, 1.0, 2.5])
    found, _, maxima = analysed(estimates, np.eye(3) / 2, law := law_of(np.eye(3) / 2, 500))
    plain = 2 * norm.sf([1.0, 2.5, 1.5])
    np.testing.assert_allclose(found.pvalue, plain)
    # By hand: the largest as it is, the second times 3/2, the smallest times 3/1.
    np.testing.assert_allclose(
        adjusted_pvalues(found, "bh", law, maxima), [plain[0], 3 * plain[1], 1.5 * plain[2]]
    )


@pytest.mark.parametrize("p", [3, 6])
def test_differences_of_independent_estimates_have_tukeys_critical_value(p):
    _, _, maxima = analysed(np.zeros(p), np.eye(p), law_of(np.eye(p)))
    expected = studentized_range.ppf(0.95, p, np.inf) / np.sqrt(2)
    assert quantile(maxima, 0.95) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("p", "critical"), [(3, 1.916), (5, 2.160)])
def test_being_the_best_has_dunnetts_one_sided_critical_value(p, critical):
    # Dunnett (1955), table 1a, infinitely many degrees of freedom, 2 and 4 comparisons, 5 %.
    estimates = np.zeros(p)
    estimates[1:] = critical * np.sqrt(2)
    _, order, _ = analysed(estimates, np.eye(p), law_of(np.eye(p)))
    assert order.best_pvalues[0] == pytest.approx(0.05, abs=0.004)


def test_single_step_and_step_down_agree_with_all_differences_drawn():
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(4, 6))
    covariance = factor @ factor.T
    estimates = rng.normal(scale=4, size=4)
    law = law_of(covariance, 4000)
    found, _, maxima = analysed(estimates, covariance, law)
    pairs = list(combinations(range(4), 2))
    spread = np.array(
        [covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] for a, b in pairs]
    )
    drawn = np.abs([law.draws[a] - law.draws[b] for a, b in pairs]) / np.sqrt(spread)[:, None]
    z = np.abs([estimates[a] - estimates[b] for a, b in pairs]) / np.sqrt(spread)
    single = [(1 + (drawn.max(axis=0) >= value).sum()) / 4001 for value in z]
    np.testing.assert_allclose(adjusted_pvalues(found, "single-step", law, maxima), single)
    falling, running, expected = np.argsort(-z), 0.0, np.empty(6)
    for k, i in enumerate(falling):
        rivals = drawn[falling[k:]].max(axis=0)
        running = max(running, (1 + (rivals >= z[i]).sum()) / 4001)
        expected[i] = running
    np.testing.assert_allclose(adjusted_pvalues(found, "step-down", law, maxima), expected)


def test_adjusted_p_values_lie_between_the_plain_ones_and_bonferronis():
    rng = np.random.default_rng(5)
    estimates = np.array([0.0, 0.1, 1.0, 9.0, 40.0])
    factor = rng.normal(size=(5, 5))
    law = law_of(factor @ factor.T, 2000)
    found, _, maxima = analysed(estimates, factor @ factor.T, law)
    single, down = (
        adjusted_pvalues(found, method, law, maxima) for method in ("single-step", "step-down")
    )
    bonferroni = np.minimum(1.0, 10 * found.pvalue)
    assert (found.pvalue <= down).all()
    assert (down <= single).all()
    assert (single <= bonferroni).all()
    # Far beyond the resolution of 2,000 draws, yet not 1/2001.
    assert single.min() < 1e-10


def test_an_adjusted_p_value_below_alpha_is_an_interval_without_zero():
    rng = np.random.default_rng(6)
    for _ in range(20):
        factor = rng.normal(size=(6, 9))
        covariance = factor @ factor.T
        estimates = rng.normal(scale=8, size=6)
        law = law_of(covariance, 999)
        found, order, maxima = analysed(estimates, covariance, law)
        low, high = found.interval(quantile(maxima, 0.95))
        claimed = adjusted_pvalues(found, "single-step", law, maxima) <= 0.05
        assert ((low > 0) | (high < 0))[claimed].all() or not claimed.any()
        assert not ((low > 0) | (high < 0))[~claimed].any()
        assert (order.rank_low <= order.ranks).all()
        assert (order.ranks <= order.rank_high).all()


def test_ties_have_statistic_0_and_p_1_and_share_their_rank():
    covariance = np.array([[2.0, 2.0, 0.5], [2.0, 2.0, 0.5], [0.5, 0.5, 1.0]])
    estimates = np.array([7.0, 7.0 + 1e-15, 1.0])
    law = law_of(covariance, 2000)
    found, order, maxima = analysed(estimates, covariance, law)
    assert (found.difference[0], found.statistic[0], found.pvalue[0]) == (0.0, 0.0, 1.0)
    assert order.ranks.tolist() == [1, 1, 3]
    assert order.best_pvalues[:2].tolist() == [1.0, 1.0]
    for method in ("single-step", "step-down", "holm", "bh"):
        adjusted = adjusted_pvalues(found, method, law, maxima)
        assert adjusted[0] == 1.0
        assert np.isfinite(adjusted).all()


def test_all_targets_tied_is_an_answer_too():
    law = law_of(np.ones((3, 3)), 500)
    found, order, maxima = analysed(np.ones(3), np.ones((3, 3)), law)
    assert order.ranks.tolist() == order.rank_low.tolist() == [1, 1, 1]
    assert order.rank_high.tolist() == [3, 3, 3]
    assert adjusted_pvalues(found, "step-down", law, maxima).tolist() == [1.0, 1.0, 1.0]


def test_ranks_are_certain_where_all_differences_are():
    law = law_of(np.eye(4), 2000)
    _, order, _ = analysed([10.0, 40.0, 30.0, 20.0], np.eye(4), law)
    for ranks in (order.ranks, order.rank_low, order.rank_high):
        assert ranks.tolist() == [4, 1, 2, 3]


def test_runs_of_draws_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(8)
    factor = rng.normal(size=(5, 5))
    covariance, estimates = factor @ factor.T, rng.normal(size=5)
    law = law_of(covariance, 700)
    whole = analysed(estimates, covariance, law)
    stepped = adjusted_pvalues(whole[0], "step-down", law, whole[2])
    monkeypatch.setattr("reldep.stats.simultaneous.CHUNK", 64)
    cut = analysed(estimates, covariance, law)
    np.testing.assert_array_equal(whole[2], cut[2])
    np.testing.assert_array_equal(stepped, adjusted_pvalues(cut[0], "step-down", law, cut[2]))


def test_a_level_beyond_the_draws_is_refused():
    with pytest.raises(ValueError, match=r"confidence_level=0.999 .* at least 1000"):
        quantile(np.arange(500.0), 0.999)


def test_the_best_and_the_ranks_never_contradict_each_other():
    rng = np.random.default_rng(11)
    sharper = 0
    for _ in range(60):
        p = int(rng.integers(2, 9))
        factor = rng.normal(size=(p, p + 1))
        covariance = factor @ factor.T
        estimates = rng.normal(scale=4, size=p)
        law = law_of(covariance, 400, seed=int(rng.integers(1000)))
        _, order, maxima = analysed(estimates, covariance, law)
        excluded = order.best_pvalues <= 0.05
        assert (order.rank_low[excluded] >= 2).all()
        assert (order.rank_low <= order.ranks).all()
        assert (order.ranks <= order.rank_high).all()
        # How often the comparison with the best sees more than that of all pairs.
        ahead = (estimates[None, :] - estimates[:, None]) / np.sqrt(
            difference_variances(covariance) + np.eye(p)
        )
        sharper += int((excluded & (ahead.max(axis=1) <= quantile(maxima, 0.95))).sum())
    assert sharper > 0


def test_intervals_on_the_root_scale_are_squares_of_symmetric_ones():
    estimates, errors, c = np.array([4.0, 1.0]), np.array([0.5, 0.3]), 2.0
    low, high = root_scale_interval(estimates, errors, c)
    roots, margin = np.sqrt(estimates), c * errors / (2 * np.sqrt(estimates))
    np.testing.assert_allclose(low, (roots - margin) ** 2)
    np.testing.assert_allclose(high, (roots + margin) ** 2)


def test_intervals_on_the_root_scale_reach_zero_where_plain_ones_do():
    estimates = np.array([0.5, -0.1, -5.0, 2.0])
    low, high = root_scale_interval(estimates, np.array([0.4, 0.4, 0.4, 0.0]), 2.0)
    assert low.tolist() == [0.0, -0.1, -5.8, 2.0]
    assert (high[:2] > estimates[:2] + 0.8).all()
    assert high[3] == 2.0
