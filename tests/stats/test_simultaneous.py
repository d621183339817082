"""Many dependences at once: scores, maxima of joint draws, adjusted p-values, ranks."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, norm, studentized_range

from reldep.exceptions import InputError
from reldep.stats.estimates import degrees_of_freedom
from reldep.stats.pairwise import Test
from reldep.stats.scan import AcrossScales
from reldep.stats.simultaneous import (
    JointDraws,
    adjusted_pvalues,
    all_differences,
    critical_value,
    holm,
    lift_variances,
    rank_dependences,
    tail_probability,
)
from stats.dense_terms import all_means, compared, distance, gaussian, left_out

# Of an independent implementation: targets(measure), comparisons 0, 7, 30, 54 of 55. Scores,
# degrees of freedom; limits at the normal critical value 3 of dependences 0 and 10.
REFERENCE = {
    "hsic": (
        [1.1761976859547512, 3.0429934668543592, 0.8943267935813309, 0.22854093917358398],
        [78.77347635857102, 78.77347635857102, 78.77347635857102, 68.29350004295024],
        [0.0015535820967590955, 0.0],
        [0.11223950855466099, 0.09662892674353205],
    ),
    "cka": (
        [2.6977145240920164, 5.13428342991453, 0.8258518538928814, 0.2874106865531066],
        [60.25559457495968, 60.25559457495968, 60.25559457495968, 60.25559457495968],
        [0.3805022226718235, 0.0],
        [1.0, 0.5149148657839189],
    ),
    "dcor": (
        [2.082648407594572, 4.290366316125843, 0.5295319083739068, -0.5593938918826606],
        [60.06924880570316, 60.06924880570316, 60.06924880570316, 60.06924880570316],
        [0.3377509310154473, 0.0],
        [1.0, 0.8219512613315392],
    ),
}


def targets(measure, p=11, m=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    data = {"x": x} | {f"y{i}": x + (0.3 + 0.2 * i) * rng.normal(size=m) for i in range(p)}
    kernels = {n: (distance if measure == "dcor" else gaussian)(v) for n, v in data.items()}
    return left_out(*all_means(kernels), [("x", f"y{i}") for i in range(p)], measure)


def tied(p, n, seed=0):
    """Independent deviations of one size: the differences are those of Tukey's problem."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.normal(size=(n, p)))[0].T / 10


def ranked(found, n_draws=2000):
    p = len(found.values)
    comparisons = all_differences(found)
    draws = JointDraws.of(found.deviations, n_draws, np.random.default_rng(0))
    return comparisons, draws, rank_dependences(comparisons, draws, p)


@pytest.mark.parametrize("measure", sorted(REFERENCE))
def test_numbers_of_an_independent_implementation(measure):
    found = targets(measure)
    scores, degrees, low, high = REFERENCE[measure]
    comparisons = all_differences(found)
    at = [0, 7, 30, 54]
    assert comparisons.score[at] == pytest.approx(scores, rel=1e-9)
    assert comparisons.df[at] == pytest.approx(degrees, rel=1e-9)
    limits = found.intervals(0.95, np.full(1000, 3.0))
    assert limits.low[[0, 10]] == pytest.approx(low, rel=1e-9)
    assert limits.high[[0, 10]] == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("n", [12, 500])  # deviations themselves, and a root of their covariance
def test_maxima_of_all_differences_are_tukeys(n):
    p, n_draws = 5, 40_000
    draws = JointDraws.of(tied(p, n), n_draws, np.random.default_rng(1))
    maxima = np.sort(np.concatenate([leads.max(axis=0) for leads in draws.leads()]))
    expected = studentized_range.ppf(0.95, p, np.inf) / np.sqrt(2)
    # The share of draws beyond the true quantile has a binomial error of 0.0011.
    assert np.mean(maxima > expected) == pytest.approx(0.05, abs=0.0045)


def test_maxima_of_independent_values_are_sidaks():
    draws = JointDraws.of(tied(6, 40), 40_000, np.random.default_rng(1))
    bar = norm.ppf(0.5 + 0.95 ** (1 / 6) / 2)
    assert np.mean(draws.value_maxima() > bar) == pytest.approx(0.05, abs=0.0045)


def test_single_step_pvalues_and_critical_values_agree():
    comparisons, draws, ranks = ranked(targets("cka"))
    adjusted = adjusted_pvalues(comparisons, "single-step", draws, ranks.maxima)
    critical = critical_value(ranks.maxima, 0.95)
    low, high = comparisons.intervals(critical)
    assert ((low > 0) | (high < 0)).tolist() == (np.abs(comparisons.score) > critical).tolist()
    beyond = np.abs(comparisons.score) > critical
    assert (adjusted[beyond] <= 0.05).all()
    assert (adjusted >= comparisons.pvalue).all()


def test_adjusted_pvalues_are_those_of_their_procedures():
    comparisons, draws, ranks = ranked(targets("cka"))
    single, down, by_holm = (
        adjusted_pvalues(comparisons, method, draws, ranks.maxima)
        for method in ("single-step", "step-down", "holm")
    )
    assert (down <= single + 1e-12).all()
    assert (down <= by_holm + 1e-12).all()
    order = np.argsort(-np.abs(comparisons.score))
    assert (np.diff(down[order]) >= -1e-12).all()
    adjusted = adjusted_pvalues(comparisons, "bh", draws, ranks.maxima)
    assert np.array_equal(adjusted, false_discovery_control(comparisons.pvalue))
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    # A simulated p-value is never 0.
    assert tail_probability(np.array([0, 99]), 99).tolist() == [0.01, 1.0]


def test_degrees_of_freedom_are_pooled_downwards():
    kurtosis = np.array([2.9, 3.0, 12.0])
    pooled = degrees_of_freedom(kurtosis, 40, is_pooled=True)
    alone = [degrees_of_freedom(np.array([k]), 40, is_pooled=True)[0] for k in kurtosis]
    assert pooled[0] == pooled[1] < alone[1]
    assert pooled[2] == alone[2]
    assert (degrees_of_freedom(np.array([1.0, 1.5]), 40) == 39).all()


def test_variances_are_lifted_to_the_trend_and_never_lowered():
    rng = np.random.default_rng(0)
    n, P = 40, 200
    rows = rng.normal(size=(P, n))
    variances = (rows**2).sum(1)
    lift, df = lift_variances(variances, np.full(P, 39.0), rng.uniform(size=P), rows)
    low = variances < np.quantile(variances, 0.1)
    assert (lift >= 1).all()
    assert (lift[low] > 1.1).all()
    assert (lift[variances > 1.1 * n] == 1).all()
    assert (df > 39).all()


def test_one_that_is_not_among_the_best_never_has_rank_one():
    for seed in range(6):
        _, _, ranks = ranked(targets("cka", seed=seed), 500)
        low, high = ranks.ranges(0.95)
        best = ranks.best(0.95)
        assert (low[np.setdiff1d(np.arange(11), best)] >= 2).all()
        assert (low[best] == 1).all()
        assert (low <= ranks.ranks).all()
        assert (ranks.ranks <= high).all()
        assert ranks.best_pvalues[np.argmax(targets("cka", seed=seed).values)] == 1.0


def test_ties_are_equal_and_rank_together():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    kernels = {"x": gaussian(x), "a": gaussian(y), "b": gaussian(y), "c": gaussian(-y)}
    found = left_out(*all_means(kernels), [("x", n) for n in "abc"], "cka")
    comparisons, _, ranks = ranked(found, 200)
    assert comparisons.score.tolist() == [0, 0, 0]
    assert comparisons.pvalue.tolist() == [1, 1, 1]
    assert ranks.ranks.tolist() == [1, 1, 1]
    assert ranks.best(0.95).tolist() == [0, 1, 2]


def test_a_confidence_beyond_the_draws_is_refused():
    with pytest.raises(InputError, match=r"`confidence_level=0.999` needs more than 100 draws"):
        critical_value(np.arange(100.0), 0.999)


def at_scales(noises=(0.5, 1.5), widths=(0.5, 1.0, 2.0), m=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    data = {
        "x": x,
        "y": x + noises[0] * rng.normal(size=m),
        "z": x + noises[1] * rng.normal(size=m),
    }
    tests, rows = [], []
    for width in widths:
        kernels = {name: gaussian(v, width) for name, v in data.items()}
        found = left_out(*all_means(kernels), [("x", "y"), ("x", "z")], "cka")
        tests.append(compared(found))
        rows.append(found.deviations[0] - found.deviations[1])
    return AcrossScales.of(tests, np.array(rows), 4000, np.random.default_rng(1))


def test_bands_over_scales_contain_the_intervals_and_exclude_zero_as_the_adjusted_test_does():
    for seed in range(5):
        found = at_scales(seed=seed)
        low, high = found.bands(0.95)
        for i, (at_low, at_high) in enumerate(zip(low, high, strict=True)):
            single_low, single_high = found.tests[i].interval(0.95)
            assert at_low <= single_low
            assert at_high >= single_high
        some = found.at_some_scale("two-sided")
        assert bool(((low > 0) | (high < 0)).any()) == (some < 0.05)
        assert some >= found.tests.pvalue.min() - 0.01


def test_one_scale_is_adjusted_for_nothing():
    found = at_scales(widths=(1.0,))
    for alternative in ("greater", "less", "two-sided"):
        single = found.tests[0].pvalue(alternative)
        # 4,000 draws: a binomial error of at most 0.008.
        assert found.at_some_scale(alternative) == pytest.approx(single, abs=0.025)
        assert found.at_every_scale(alternative) == pytest.approx(single)


def test_a_difference_at_every_scale_needs_all_of_them():
    found = at_scales()
    each = [found.tests[i].pvalue("greater") for i in range(len(found.tests))]
    assert found.at_every_scale("greater") == max(each)
    tests = [Test(1, 0.01, 0.01, 30), Test(-1, 0.01, 0.01, 30)]
    opposite = AcrossScales.of(tests, np.eye(2), 400, np.random.default_rng(1))
    assert opposite.at_every_scale("two-sided") == 1.0
