"""Leave-one-out values, and the tests and intervals that rest on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reldep.exceptions import InputError
from reldep.stats.contrasts import contrast_test, split_test
from reldep.stats.differences import compare_pairs, difference_test
from reldep.stats.jackknife import jackknife, jackknife_of_rows, left_out_hsics
from reldep.stats.score_intervals import score_intervals, single_interval
from reldep.stats.second_order import HsicTable
from stats.dense_terms import all_means, conditional_means, distance, gaussian, hsic, triple

TWO = (("x", "y"), ("x", "z"))
MEASURES = ("hsic", "cka", "dcor")

# Of an independent implementation of the procedure: triple(seed 0, m = 30), bandwidth influence
# as in `example`. Estimate, standard error, statistic, degrees of freedom, two-sided p-value,
# 95% interval of the difference, 95% interval of x ~ y.
REFERENCE = {
    "hsic": (
        (0.020153643510632896, 0.011018217224911345, 1.8291201833511734, 29.0),
        (0.07768228340164006, -0.0023811409612129186, 0.04268842798247871),
        (0.01310182079547004, 0.05679757191096703),
    ),
    "cka": (
        (0.3709734826061649, 0.15278121088786523, 2.4281355046887496, 29.0),
        (0.021611625980560413, 0.05939123889012188, 0.6778420291239993),
        (0.24210182173861955, 0.6608264045917779),
    ),
    "dcor": (
        (0.2665393044330277, 0.16552462933795428, 1.61026975561945, 22.14637518521306),
        (0.12150157131974036, -0.07660626660419673, 0.6214097515320863),
        (0.2760741010437111, 0.6994977446586537),
    ),
}


def kernels_of(data, measure):
    return {name: (distance if measure == "dcor" else gaussian)(x) for name, x in data.items()}


def example(measure, seed=0, m=30, noises=(0.6, 1.2)):
    means, pairs = all_means(kernels_of(triple(seed, m, noises), measure))
    moved = None
    if measure != "dcor":
        moved = 0.05 * np.sin(np.arange(means.size)).reshape(means.shape) * means.std()
        moved -= moved.mean(1, keepdims=True)
    return jackknife(means, pairs, TWO, measure, bandwidth_psi=moved)


@pytest.mark.parametrize("measure", MEASURES)
def test_numbers_of_an_independent_implementation(measure):
    found = example(measure)
    test = difference_test(found, 0, 1)
    numbers, tail, single = REFERENCE[measure]
    assert (test.estimate, test.standard_error, test.statistic, test.df) == pytest.approx(
        numbers, rel=1e-10
    )
    assert (test.pvalue(), *test.interval()) == pytest.approx(tail, rel=1e-10)
    assert single_interval(found, 0) == pytest.approx(single, rel=1e-10)


def test_leaving_out_a_row_is_computing_anew_without_it():
    kernels = kernels_of(triple(3, 12), "cka")
    means, pairs = all_means(kernels)
    without = left_out_hsics(means)
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        again = [hsic(*(kernels[name][np.ix_(rest, rest)] for name in pair)) for pair in pairs]
        assert without[:, i] == pytest.approx(again, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
def test_deviations_are_those_of_the_measure_computed_anew(measure):
    kernels = kernels_of(triple(3, 14), measure)
    means, pairs = all_means(kernels)
    found = jackknife(means, pairs, TWO, measure)
    again = np.empty((2, 14))
    for i in range(14):
        rest = np.ix_(np.delete(np.arange(14), i), np.delete(np.arange(14), i))
        for row, (u, v) in zip(again, TWO, strict=True):
            K, L = kernels[u][rest], kernels[v][rest]
            scale = 1.0 if measure == "hsic" else np.sqrt(hsic(K, K) * hsic(L, L))
            row[i] = hsic(K, L) / scale
    centred = again - again.mean(1, keepdims=True)
    assert found.deviations == pytest.approx(centred, rel=1e-11, abs=1e-13)
    assert found.covariance() == pytest.approx(13 / 14 * centred @ centred.T, rel=1e-10)


def test_second_component_of_one_cka_is_the_variance_of_a_correlation():
    found = example("cka")
    theta, m = found.values, found.n
    assert found.second_own() == pytest.approx(2 * (1 - theta**2) ** 2 / (m * (m - 3)), rel=1e-10)


def test_second_component_of_an_hsic_is_its_variance_under_independence():
    """Permutations of one variable give that variance to the order 1/m."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    K, L = gaussian(x), gaussian(y)
    permuted = [hsic(K, L[np.ix_(p, p)]) for p in (rng.permutation(40) for _ in range(4000))]
    means, pairs = all_means({"x": K, "y": L})
    component = jackknife(means, pairs, [("x", "y")], "hsic").second_own()[0]
    # 4,000 permutations: relative standard error of a variance of a chi-square-like law ~ 0.05.
    assert np.var(permuted) == pytest.approx(component, rel=0.2)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_interval_excludes_zero_exactly_where_the_test_rejects(measure):
    for seed in range(40):
        test = difference_test(example(measure, seed, 20, (0.5, 1.5)), 0, 1)
        for level in (0.5, 0.9, 0.95, 0.99):
            low, high = test.interval(level)
            assert (low > 0 or high < 0) == (test.pvalue() < 1 - level)
            assert low <= test.estimate <= high


@pytest.mark.parametrize("measure", MEASURES)
def test_swapping_the_two_mirrors_the_answer(measure):
    found = example(measure)
    one, other = difference_test(found, 0, 1), difference_test(found, 1, 0)
    assert other.estimate == -one.estimate
    assert other.pvalue("less") == pytest.approx(one.pvalue("greater"), rel=1e-12)
    low, high = one.interval()
    assert other.interval() == pytest.approx((-high, -low), rel=1e-12)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_normalised_answers_do_not_depend_on_the_scales_of_kernels(first, second):
    data = triple(1, 16)
    kernels = kernels_of(data, "cka")
    scaled = {"x": kernels["x"], "y": 10**first * kernels["y"], "z": 10**second * kernels["z"]}
    one, other = (
        difference_test(jackknife(*all_means(some), TWO, "cka"), 0, 1) for some in (kernels, scaled)
    )
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
    assert other.df == pytest.approx(one.df, rel=1e-9)
    assert other.interval() == pytest.approx(one.interval(), rel=1e-9)


def test_raw_hsic_scales_with_the_source_kernel():
    kernels = kernels_of(triple(1, 16), "hsic")
    plain = jackknife(*all_means(kernels), TWO, "hsic")
    scaled = jackknife(*all_means({**kernels, "x": 7 * kernels["x"]}), TWO, "hsic")
    one, other = difference_test(plain, 0, 1), difference_test(scaled, 0, 1)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-10)
    assert other.interval() == pytest.approx(7 * np.array(one.interval()), rel=1e-10)
    assert single_interval(scaled, 0) == pytest.approx(7 * np.array(single_interval(plain, 0)))


def test_the_order_of_rows_does_not_matter():
    data = triple(1, 16)
    order = np.random.default_rng(0).permutation(16)
    shuffled = {name: x[order] for name, x in data.items()}
    one, other = (
        difference_test(jackknife(*all_means(kernels_of(some, "cka")), TWO, "cka"), 0, 1)
        for some in (data, shuffled)
    )
    assert other.statistic == pytest.approx(one.statistic, rel=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_many_comparisons_at_once_are_each_the_single_one(measure):
    rng = np.random.default_rng(5)
    x = rng.normal(size=25)
    data = {"x": x} | {f"y{i}": x + (0.3 + 0.2 * i) * rng.normal(size=25) for i in range(9)}
    wanted = [("x", f"y{i}") for i in range(9)]
    found = jackknife(*all_means(kernels_of(data, measure)), wanted, measure)
    first, second = np.triu_indices(9, 1)
    many = compare_pairs(found, first, second)
    for at, (i, j) in enumerate(zip(first, second, strict=True)):
        one = difference_test(found, i, j)
        assert many.statistic[at] == pytest.approx(one.statistic, rel=1e-9)
        assert many.df[at] == pytest.approx(one.df, rel=1e-9)
        assert many.test(at).interval() == pytest.approx(one.interval(), rel=1e-9)


def test_many_samples_can_be_asked_at_once():
    """Variables are numbered, so that samples that share none can stand in one table."""
    samples = [all_means(kernels_of(triple(seed, 20), "cka"))[0] for seed in range(3)]
    names, pairs = list("xyz"), all_means(kernels_of(triple(0, 20), "cka"))[1]
    codes = np.array([(names.index(a), names.index(b)) for a, b in pairs])
    left, right = (np.concatenate([codes[:, side] + 3 * s for s in range(3)]) for side in (0, 1))
    means = np.vstack(samples)
    wanted = np.concatenate([[pairs.index(pair) + 6 * s for pair in TWO] for s in range(3)])
    table = HsicTable(left, right, means.mean(1), 9)
    stacked = jackknife_of_rows(means, (left, right), wanted, "cka", table)
    found = compare_pairs(stacked, np.array([0, 2, 4]), np.array([1, 3, 5]))
    for seed in range(3):
        one = difference_test(jackknife(samples[seed], pairs, TWO, "cka"), 0, 1)
        assert found.statistic[seed] == pytest.approx(one.statistic, rel=1e-11)
    with pytest.raises(KeyError, match="not computed"):
        compare_pairs(stacked, np.array([0]), np.array([3]))


def test_a_large_table_answers_as_a_small_one(monkeypatch):
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(6)
    values = rng.normal(size=len(first))
    small = HsicTable(first, second, values, 6)
    monkeypatch.setattr("reldep.stats.second_order.SQUARE", 0)
    large = HsicTable(first, second, values, 6)
    a, b = rng.integers(0, 6, size=(2, 50))
    assert np.array_equal(small(a, b), large(a, b))


def test_hsics_may_come_from_outside_of_the_conditional_means():
    means, pairs = all_means(kernels_of(triple(), "cka"))
    apart = pairs.index(("y", "z"))
    kept = [i for i in range(len(pairs)) if i != apart]
    found = jackknife(
        means[kept],
        [pairs[i] for i in kept],
        TWO,
        "cka",
        further={("z", "y"): float(means[apart].mean())},
    )
    whole = jackknife(means, pairs, TWO, "cka")
    assert found.second_matrix() == pytest.approx(whole.second_matrix(), rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_contrast_of_two_is_their_difference(measure):
    found = example(measure)
    one, other = difference_test(found, 0, 1), contrast_test(found, np.array([-3.0, 3.0]))
    assert other.estimate == pytest.approx(-3 * one.estimate, rel=1e-12)
    assert other.pvalue("less") == pytest.approx(one.pvalue("greater"), rel=1e-12)
    assert other.interval() == pytest.approx(-3 * np.array(one.interval())[::-1], rel=1e-12)


def test_a_general_contrast_takes_off_the_second_component():
    means, pairs = all_means(kernels_of(triple(), "cka"))
    found = jackknife(means, pairs, [*TWO, ("y", "z")], "cka")
    weights = np.array([1.0, 1.0, -2.0])
    test = contrast_test(found, weights)
    whole = weights @ found.covariance() @ weights
    part = weights @ found.second_matrix() @ weights
    assert test.standard_error**2 == pytest.approx(max(whole - 30 / 26 * part, part), rel=1e-10)
    assert test.error_here == test.standard_error
    low, high = test.interval()
    assert (low + high) / 2 == pytest.approx(test.estimate)


def test_two_targets_that_are_copies_tie():
    data = triple()
    means, pairs = all_means(kernels_of({**data, "z": data["y"]}, "cka"))
    found = jackknife(means, pairs, TWO, "cka")
    for test in (difference_test(found, 0, 1), contrast_test(found, np.array([1.0, -1.0]))):
        assert test.standard_error == 0
        assert test.statistic == 0
        assert test.pvalue() == 1


def test_a_copy_depends_on_its_source_wholly():
    data = triple()
    means, pairs = all_means(kernels_of({"x": data["x"], "y": data["x"]}, "cka"))
    low, high = single_interval(jackknife(means, pairs, [("x", "y")], "cka"), 0)
    assert low == pytest.approx(1, abs=1e-3)
    assert high == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_halves_of_one_size_are_tested_as_two_uncorrelated_dependences(measure):
    one, two = (
        jackknife(*all_means(kernels_of(triple(seed, 40), measure)), [("x", "y")], measure)
        for seed in (1, 2)
    )
    test = split_test(one, two)
    assert test.estimate == pytest.approx(float(one.values[0] - two.values[0]))
    here = sum(side.variances()[0] - side.excess * side.second_own()[0] for side in (one, two))
    assert test.error_here**2 == pytest.approx(here)
    mirrored = split_test(two, one)
    assert mirrored.statistic == pytest.approx(-test.statistic, rel=1e-12)
    low, high = test.interval()
    assert (low > 0 or high < 0) == (test.pvalue() < 0.05)


def test_intervals_stay_in_the_range_of_the_measure():
    for noise in (0.01, 0.3, 3.0, 100.0):
        found = jackknife(*all_means(kernels_of(triple(4, 15, (noise, noise)), "cka")), TWO, "cka")
        low, high = score_intervals(found)
        assert (low >= 0).all()
        assert (high <= 1).all()
        assert (low <= high).all()
        wider_low, wider_high = score_intervals(found, 0.999)
        assert (wider_low <= low).all()
        assert (wider_high >= high).all()


def test_too_few_rows_are_refused_with_a_way_out():
    means, pairs = all_means(kernels_of(triple(0, 5), "hsic"))
    with pytest.raises(InputError, match=r"5 observations are too few.*at least 6.*fixed-kernel"):
        jackknife(means, pairs, TWO, "hsic")


def test_six_rows_are_enough():
    means, pairs = all_means(kernels_of(triple(0, 6), "hsic"))
    assert 0 < difference_test(jackknife(means, pairs, TWO, "hsic"), 0, 1).pvalue() <= 1


def test_a_self_hsic_that_is_not_positive_is_refused_by_name():
    data = {**triple(0, 12), "y": np.zeros(12)}
    means, pairs = all_means(kernels_of(data, "cka"))
    with pytest.raises(
        InputError, match=r"the HSIC of y with itself is .*almost no variation in y"
    ):
        jackknife(means, pairs, TWO, "cka")


def test_a_self_hsic_that_vanishes_without_some_row_is_refused():
    spike = np.zeros(12)
    spike[[4, 7]] = 1.0  # without row 4 one row alone differs, which no kernel of order two sees
    means, pairs = all_means(kernels_of({**triple(0, 12), "y": spike}, "cka"))
    with pytest.raises(
        InputError, match=r"of y with itself is .* once one observation is left out"
    ):
        jackknife(means, pairs, TWO, "cka")


def test_statistics_of_order_two_leave_out_rows_exactly():
    """Residual dependences are means over pairs of rows, not over 4-tuples."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(10, 10))
    K = K + K.T
    np.fill_diagonal(K, 0)
    rows = K.sum(1) / 9
    without = left_out_hsics(rows[None], order=2)[0]
    for i in range(10):
        rest = np.delete(np.delete(K, i, 0), i, 1)
        assert without[i] == pytest.approx(rest.sum() / (9 * 8), rel=1e-12)


def test_conditional_means_of_the_helper_average_to_the_hsic():
    K, L = gaussian(triple()["x"]), gaussian(triple()["y"])
    assert conditional_means(K, L).mean() == pytest.approx(hsic(K, L), rel=1e-12)
