"""Leave-one-out values, and the tests and intervals that rest on them."""

import numpy as np
import pytest

from reldep.engine import BlockTable
from reldep.exceptions import InputError
from reldep.stats.estimates import estimate_dependences, estimates
from reldep.stats.pairwise import cells_of, contrast, crossed, differences
from reldep.stats.series import stretches
from reldep.stats.units import Units, numbers_of
from stats.dense_terms import (
    all_means,
    compared,
    distance,
    gaussian,
    hsic,
    left_out,
    of_means,
    triple,
)

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
    return left_out(means, pairs, TWO, measure, moved)


@pytest.mark.parametrize("measure", MEASURES)
def test_numbers_of_an_independent_implementation(measure):
    found = example(measure)
    test = compared(found, 0, 1)
    numbers, tail, single = REFERENCE[measure]
    assert (test.estimate, test.standard_error, test.statistic, test.df) == pytest.approx(
        numbers, rel=1e-10
    )
    assert (test.pvalue(), *test.interval()) == pytest.approx(tail, rel=1e-10)
    assert found.interval(0, 0.95) == pytest.approx(single, rel=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_deviations_are_those_of_the_measure_computed_anew(measure):
    kernels = kernels_of(triple(3, 14), measure)
    means, pairs = all_means(kernels)
    found = left_out(means, pairs, TWO, measure)
    again = np.empty((2, 14))
    for i in range(14):
        rest = np.ix_(np.delete(np.arange(14), i), np.delete(np.arange(14), i))
        for row, (u, v) in zip(again, TWO, strict=True):
            K, L = kernels[u][rest], kernels[v][rest]
            scale = 1.0 if measure == "hsic" else np.sqrt(hsic(K, K) * hsic(L, L))
            row[i] = hsic(K, L) / scale
    centred = again - again.mean(1, keepdims=True)
    assert found.deviations == pytest.approx(centred, rel=1e-11, abs=1e-13)
    assert found.without(np.array([4])) == pytest.approx(again[:, 4], rel=1e-11)
    assert found.without(np.array([4, 5])) is None


def test_second_component_of_one_cka_is_the_variance_of_a_correlation():
    found = example("cka")
    theta, m = found.values, found.n
    assert found.second_variances == pytest.approx(
        2 * (1 - theta**2) ** 2 / (m * (m - 3)), rel=1e-10
    )


def test_second_component_of_an_hsic_is_its_variance_under_independence():
    """Permutations of one variable give that variance to the order 1/m."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    K, L = gaussian(x), gaussian(y)
    permuted = [hsic(K, L[np.ix_(p, p)]) for p in (rng.permutation(40) for _ in range(4000))]
    means, pairs = all_means({"x": K, "y": L})
    component = left_out(means, pairs, [("x", "y")], "hsic").second_variances[0]
    # 4,000 permutations: relative standard error of a variance of a chi-square-like law ~ 0.05.
    assert np.var(permuted) == pytest.approx(component, rel=0.2)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_interval_excludes_zero_exactly_where_the_test_rejects(measure):
    for seed in range(40):
        test = compared(example(measure, seed, 20, (0.5, 1.5)), 0, 1)
        for level in (0.5, 0.9, 0.95, 0.99):
            low, high = test.interval(level)
            assert (low > 0 or high < 0) == (test.pvalue() < 1 - level)
            assert low <= test.estimate <= high


@pytest.mark.parametrize("measure", MEASURES)
def test_differences_of_many_are_each_that_of_two_in_either_order_and_as_a_contrast(measure):
    rng = np.random.default_rng(5)
    x = rng.normal(size=25)
    data = {"x": x} | {f"y{i}": x + (0.3 + 0.2 * i) * rng.normal(size=25) for i in range(6)}
    wanted = [("x", f"y{i}") for i in range(6)]
    found = left_out(*all_means(kernels_of(data, measure)), wanted, measure)
    for at, test in enumerate(differences(found, *np.triu_indices(6, 1))):
        i, j = (places[at] for places in np.triu_indices(6, 1))
        weighted = contrast(found, -3.0 * np.eye(6)[i] + 3.0 * np.eye(6)[j])
        # How many times the difference, and a test of that.
        for times, one in ((1, compared(found, i, j)), (-1, compared(found, j, i)), (-3, weighted)):
            assert one.estimate == pytest.approx(times * test.estimate, rel=1e-12)
            assert one.statistic == pytest.approx(np.sign(times) * test.statistic, rel=1e-9)
            assert one.df == pytest.approx(test.df, rel=1e-9)
            assert one.interval() == pytest.approx(sorted(times * np.array(test.interval())))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (triple(0, 5), r"5 observations are too few.*at least 6.*fixed-kernel"),
        ({**triple(0, 12), "y": np.zeros(12)}, r"y varies too little .*HSIC with itself is 0\)"),
    ],
)
def test_what_has_no_jackknife_is_refused_with_a_way_out(data, message):
    means, pairs = all_means(kernels_of(data, "cka"))
    with pytest.raises(InputError, match=message):
        left_out(means, pairs, TWO, "cka")


def test_a_general_contrast_takes_off_the_second_component():
    means, pairs = all_means(kernels_of(triple(), "cka"))
    found = left_out(means, pairs, [*TWO, ("y", "z")], "cka")
    weights = np.array([1.0, 1.0, -2.0])
    test = contrast(found, weights)
    whole = 29 / 30 * np.sum((weights @ found.deviations) ** 2)
    everyone = np.arange(3)
    part = weights @ found.second(everyone[:, None], everyone) @ weights
    assert test.standard_error**2 == pytest.approx(max(whole - 30 / 26 * part, part), rel=1e-10)
    assert test.here == test.null
    low, high = test.interval()
    assert (low + high) / 2 == pytest.approx(test.estimate)


def test_two_targets_that_are_copies_tie():
    data = triple()
    means, pairs = all_means(kernels_of({**data, "z": data["y"]}, "cka"))
    found = left_out(means, pairs, TWO, "cka")
    for test in (compared(found, 0, 1), contrast(found, np.array([1.0, -1.0]))):
        assert test.standard_error == 0
        assert test.statistic == 0
        assert test.pvalue() == 1


def test_intervals_stay_in_the_range_of_the_measure():
    for noise in (0.01, 0.3, 3.0, 100.0):
        found = left_out(*all_means(kernels_of(triple(4, 15, (noise, noise)), "cka")), TWO, "cka")
        low, high = found.intervals(0.95)
        assert (low >= 0).all()
        assert (high <= 1).all()
        assert (low <= high).all()
        wider_low, wider_high = found.intervals(0.999)
        assert (wider_low <= low).all()
        assert (wider_high >= high).all()


def test_a_variable_that_does_not_vary_without_some_row_has_no_standard_error():
    spike = np.zeros(12)
    spike[[4, 7]] = 1.0  # without row 4 one row alone differs, which no kernel of order two sees
    kernels = kernels_of({**triple(0, 12), "y": spike}, "cka")
    means, pairs = all_means(kernels)
    found = left_out(means, pairs, TWO, "cka")
    own = [hsic(kernels[name], kernels[name]) for name in "xy"]
    assert found.values[0] == pytest.approx(
        hsic(kernels["x"], kernels["y"]) / np.sqrt(np.prod(own))
    )
    assert found.is_unknown.tolist() == [True, False]
    assert np.isposinf(found.standard_errors).tolist() == [True, False]
    assert found.interval(0, 0.95) == (0, 1)
    assert 0 <= found.interval(1, 0.95).high < 1
    for test in (compared(found, 0, 1), contrast(found, np.array([1.0, 1.0]))):
        assert (test.statistic, test.pvalue(), test.interval()) == (0, 1, (-np.inf, np.inf))
    assert found.only([1]).covariance == pytest.approx(found.covariance[1:, 1:])


@pytest.mark.parametrize("measure", MEASURES)
def test_units_that_are_worth_less_have_wider_errors_and_the_same_values(measure):
    found = example(measure)
    fewer = estimates(found.units.widened(0.64), measure, TWO)
    whole, wide = compared(found), compared(fewer)
    assert (wide.estimate, wide.df) == pytest.approx((whole.estimate, whole.df), rel=1e-12)
    assert wide.statistic == pytest.approx(0.8 * whole.statistic, rel=1e-12)
    assert fewer.standard_errors == pytest.approx(found.standard_errors / 0.8, rel=1e-12)
    assert fewer.covariance == pytest.approx(found.covariance / 0.64, rel=1e-10)
    rows = np.array([3])
    assert fewer.without(rows) == pytest.approx(found.without(rows), rel=1e-14)


# ---------------------------------------------------------------------------- covariance


@pytest.mark.parametrize("variance", [1e-6, 0.5, 20.0])
def test_a_covariance_is_moved_to_agree_with_a_contrast(variance):
    found, weights = example("cka"), np.array([1.0, -1.0])
    moved = found.covariance_with(weights, variance)
    assert weights @ moved @ weights == pytest.approx(variance, rel=1e-9)
    own = float(weights @ found.covariance @ weights)
    assert found.covariance_with(weights, own) is found.covariance


# ---------------------------------------------------------------- the published variance


def published(means, pairs, wanted, measure):
    return estimate_dependences(of_means(means, pairs), wanted, measure, "fixed-kernel")


def test_the_published_variance_is_that_of_the_influence_values():
    means, pairs = all_means(kernels_of(triple(), "hsic"))
    test = contrast(published(means, pairs, TWO, "hsic"), np.array([1.0, -1.0]))
    psi = 4 * (means[1] - means[1].mean() - means[2] + means[2].mean())
    assert pairs[1:3] == [("x", "y"), ("x", "z")]
    assert test.standard_error**2 == pytest.approx(psi @ psi / 30**2, rel=1e-12)
    assert test.df == np.inf


def test_the_published_variance_of_a_normalised_measure_is_of_first_order():
    means, pairs = all_means(kernels_of(triple(), "cka"))
    found = published(means, pairs, TWO, "cka")
    psi = dict(zip(pairs, 4 * (means - means.mean(1, keepdims=True)), strict=True))
    H = dict(zip(pairs, means.mean(1), strict=True))
    theta = H["x", "y"] / np.sqrt(H["x", "x"] * H["y", "y"])
    slope = psi["x", "y"] / H["x", "y"] - psi["x", "x"] / (2 * H["x", "x"])
    slope -= psi["y", "y"] / (2 * H["y", "y"])
    assert found.psi[0] == pytest.approx(theta * slope, rel=1e-10)


# ------------------------------------------------------- clusters to first order, blocks


def summed(means, pairs, codes, measure="cka"):
    return estimates(Units.summed(of_means(means, pairs), codes), measure, TWO)


def means_of(m=40, seed=0):
    kernels = {name: gaussian(x) for name, x in triple(seed, m).items()}
    return *all_means(kernels), kernels


def test_clusters_of_one_row_are_left_out_exactly():
    means, pairs, _ = means_of(12)
    alone = summed(means, pairs, np.arange(12)).units.without
    expected = left_out(means, pairs, TWO, "cka").units.without
    assert alone == pytest.approx(expected, rel=1e-12)


def test_larger_clusters_are_left_out_to_first_order():
    means, pairs, kernels = means_of(300)
    groups = np.arange(300) // 10
    changes = summed(means, pairs, groups).units.without - means.mean(1, keepdims=True)
    again = np.empty_like(changes)
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
        test = compared(summed(means, pairs, np.arange(40) % count))
        assert test.df <= count - 1
        assert 0 < test.pvalue() <= 1
    with pytest.raises(InputError, match=r"there are 3 clusters; .* needs at least 4"):
        summed(means, pairs, np.arange(40) % 3)


def test_copies_of_rows_are_seen_through():
    """Every row five times is no more information than every row once."""
    data = triple(0, 40)
    once = left_out(*all_means({n: gaussian(x) for n, x in data.items()}), TWO, "cka")
    copied = {name: gaussian(np.repeat(x, 5)) for name, x in data.items()}
    found = summed(*all_means(copied), np.repeat(np.arange(40), 5))
    assert np.sqrt(found.jackknife_variances) == pytest.approx(
        np.sqrt(once.jackknife_variances), rel=0.1
    )


def test_crossed_clusters_add_up_what_either_shares():
    means, pairs, _ = means_of(60)
    subject, stimulus = np.arange(60) // 6, np.arange(60) % 6
    cells = cells_of(subject, stimulus)
    assert len(np.unique(cells)) == 60
    sides = [summed(means, pairs, codes) for codes in (subject, stimulus, cells)]
    found = crossed(*sides)
    one, two, both = (
        (s.n - 1) / s.n * np.sum((s.deviations[0] - s.deviations[1]) ** 2) for s in sides
    )
    test = contrast(found, np.array([1.0, -1.0]))
    assert test.here == pytest.approx(max(one + two - both, one, two), rel=1e-9)
    assert test == compared(found)
    assert test.df == 5
    one, two, both = (side.standard_errors[0] ** 2 for side in sides)
    assert found.standard_errors[0] ** 2 == pytest.approx(max(one + two - both, one, two))


def test_stretches_of_a_series_are_contiguous_and_nearly_equal():
    for m, count in ((60, 8), (199, 8), (200, 10), (1000, 14), (100_000, 16)):
        codes = stretches(m)
        assert codes.max() + 1 == count
        assert (np.diff(codes) >= 0).all()
        assert np.ptp(np.bincount(codes)) <= 1
    assert stretches(1000, max_lag=30).max() + 1 == 10
    assert np.bincount(stretches(1000, max_lag=30)).min() >= 90


def test_blocks_are_averaged_and_left_out_in_turn():
    """Leave one block out; Student's t with one degree of freedom less than blocks."""
    rng = np.random.default_rng(0)
    names = list("xyz")
    pairs = [*TWO, ("y", "z"), ("x", "x"), ("y", "y"), ("z", "z")]
    values = np.array([0.3, 0.2, 0.1, 1.0, 1.0, 1.0]) + 0.02 * rng.normal(size=(7, 6))
    sizes = np.array([100, 100, 120, 90, 100, 80, 110])
    table = BlockTable(values, sizes, tuple(pairs))
    units = Units.blocks(table, names, numbers_of(pairs, names))
    found = estimates(units, "cka", TWO)

    def measured(rows):
        H = np.average(values[rows], axis=0, weights=sizes[rows])
        return H[:2] / np.sqrt(H[3] * H[4:6])

    again = np.array([measured(np.delete(np.arange(7), g)) for g in range(7)])
    assert found.values == pytest.approx(measured(np.arange(7)), rel=1e-12)
    gap = again[:, 0] - again[:, 1]
    test = compared(found)
    assert test.null == pytest.approx(6 / 7 * np.sum((gap - gap.mean()) ** 2), rel=1e-10)
    assert test.here == test.null
    assert test.df == 6
    low, high = found.intervals(0.95)
    assert ((low >= 0) & (high <= 1)).all()
