"""Rows that depend on each other: clusters and time."""

import numpy as np
import pytest

import reldep
from reldep.stats.covariance import RowDependence, automatic_lag, covariance
from reldep.stats.estimation import estimate_dependences

PAIRS = (("x", "y"), ("x", "z"))
DIFFERENCE = np.array([1.0, -1.0])


def smooth(rng, m, rho=0.8):
    noise = rng.normal(size=m + 50)
    series = np.zeros(m + 50)
    for t in range(1, m + 50):
        series[t] = rho * series[t - 1] + noise[t]
    return series[50:]


def in_time(rng, m):
    x = smooth(rng, m)
    return x, x + 0.5 * smooth(rng, m), x + 0.5 * smooth(rng, m)


def in_clusters(rng, n_clusters, size=5):
    x, first, second = np.repeat(rng.normal(size=(3, n_clusters)), size, axis=1)
    jitter = 0.1 * rng.normal(size=(3, n_clusters * size))
    return x + jitter[0], x + first + jitter[1], x + second + jitter[2]


def two_sided_rejections(generate, n_draws, **variants):
    """Count how often each kind of variance rejects a true null at 5%."""
    rejected = dict.fromkeys(variants, 0)
    for draw in range(n_draws):
        sample = generate(np.random.default_rng([0, draw]))
        data = dict(zip("xyz", sample, strict=True))
        influence = reldep.influence(data, PAIRS, variance="fixed-kernel")
        for name, (max_lag, clusters) in variants.items():
            rows = RowDependence(clusters, max_lag)
            found = estimate_dependences(influence, PAIRS, "hsic", "fixed-kernel", rows)
            rejected[name] += found.test(DIFFERENCE).pvalue("two-sided") < 0.05
    return {name: count / n_draws for name, count in rejected.items()}


def test_clusters_bring_the_level_back():
    clusters = np.repeat(np.arange(40), 5)
    rates = two_sided_rejections(
        lambda rng: in_clusters(rng, 40), 150, ignored=(None, None), used=(None, clusters)
    )
    # About 0.34 and 0.04; three binomial errors of 150 draws are 0.12 and 0.05.
    assert rates["ignored"] > 0.22
    assert rates["used"] <= 0.10


def test_lags_bring_the_level_back():
    rates = two_sided_rejections(
        lambda rng: in_time(rng, 400), 120, ignored=(None, None), used=("auto", None)
    )
    # About 0.25 and 0.04; three binomial errors of 120 draws are 0.12 and 0.06.
    assert rates["ignored"] > 0.13
    assert rates["used"] <= 0.10


def test_the_lag_chosen_is_in_the_result():
    sample = in_time(np.random.default_rng(0), 120)
    chosen = reldep.compare(*sample, max_lag="auto", variance="bandwidth-aware")
    given = reldep.compare(*sample, max_lag=chosen.max_lag, variance="bandwidth-aware")
    assert chosen.max_lag > 0
    assert chosen.standard_error == given.standard_error
    assert f"rows up to {chosen.max_lag} apart may depend on each other" in chosen.summary()


def test_the_number_of_clusters_is_in_the_result():
    sample = in_clusters(np.random.default_rng(1), 12)
    result = reldep.compare(*sample, clusters=np.repeat(list("abcdefghijkl"), 5))
    assert result.n_clusters == 12
    assert result.max_lag is None
    assert "12 clusters" in result.summary()


def test_independent_rows_have_neither():
    result = reldep.compare(*in_time(np.random.default_rng(2), 30))
    assert result.max_lag is None
    assert result.n_clusters is None


@pytest.mark.parametrize("method", ["joint", "split"])
def test_dependent_rows_combine_with_bandwidth_awareness(method):
    sample = in_time(np.random.default_rng(3), 80)
    options = {"max_lag": 4, "method": method}
    fixed = reldep.compare(*sample, **options, variance="fixed-kernel")
    aware = reldep.compare(*sample, **options, variance="bandwidth-aware")
    assert aware.max_lag == 4
    assert aware.standard_error != fixed.standard_error


def test_dependences_and_contrasts_take_lags_and_clusters():
    x, y, z = in_time(np.random.default_rng(4), 60)
    assert reldep.dependence(x, y, max_lag="auto").max_lag is not None
    weights = {("x", "y"): 1, ("x", "z"): -1}
    groups = np.arange(60) // 3
    assert reldep.contrast({"x": x, "y": y, "z": z}, weights, clusters=groups).n_clusters == 20


@pytest.mark.parametrize("lag", [-1, 30, 2.5, True, "automatic"])
@pytest.mark.parametrize("method", ["joint", "split"])
def test_a_lag_that_is_no_number_of_steps_is_refused(lag, method):
    sample = in_time(np.random.default_rng(5), 30)
    with pytest.raises(ValueError, match=r"`max_lag=.*` does not fit 30 observations"):
        reldep.compare(*sample, max_lag=lag, method=method)


def test_a_lag_is_refused_before_the_kernels_are_summed():
    class Never:
        name = "never"

        def terms(self, kernels, wanted):
            raise AssertionError

    with pytest.raises(ValueError, match="max_lag"):
        reldep.compare(*in_time(np.random.default_rng(5), 30), max_lag=99, engine=Never())


def test_clusters_and_lags_together_are_refused():
    sample = in_time(np.random.default_rng(6), 30)
    with pytest.raises(ValueError, match="`clusters` and `max_lag` are both given"):
        reldep.compare(*sample, clusters=np.arange(30) // 2, max_lag=2)


@pytest.mark.parametrize("variance", ["second-order", "full"])
@pytest.mark.parametrize("rows", [{"clusters": np.arange(30) // 2}, {"max_lag": "auto"}])
def test_second_order_variances_are_for_independent_rows(variance, rows):
    sample = in_time(np.random.default_rng(7), 30)
    (name,) = rows
    with pytest.raises(ValueError, match=f"cannot be combined with `{name}`"):
        reldep.compare(*sample, variance=variance, **rows)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([1, 2], "clusters has 2 entries for 30 observations"),
        ([1] * 30, "a single cluster"),
        ([None] + [1] * 29, "give every row a cluster"),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(clusters, message):
    sample = in_time(np.random.default_rng(8), 30)
    with pytest.raises(ValueError, match=message):
        reldep.compare(*sample, clusters=clusters)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
def test_the_default_follows_bandwidths_and_counts_clusters(measure):
    x, y, z = in_clusters(np.random.default_rng(9), 12)
    groups = np.repeat(np.arange(12), 5)
    result = reldep.compare(x, y, z, measure=measure, clusters=groups, alternative="two-sided")
    assert result.variance == "jackknife"
    assert result.n_clusters == 12
    # However it is estimated, 12 clusters have no more than 11 degrees of freedom.
    assert 0 < result.df <= 11
    ignored = reldep.compare(x, y, z, measure=measure, alternative="two-sided")
    # The masked statistic leaves out what rows of a cluster share, so it moves by some errors.
    assert abs(result.estimate - ignored.estimate) < 2 * ignored.standard_error
    assert result.standard_error > ignored.standard_error
    p = result.pvalue
    inside, outside = (result.confidence_interval(1 - p * f) for f in (0.999, 1.001))
    assert inside.low < 0 < inside.high
    assert not outside.low <= 0 <= outside.high


def test_the_order_of_clusters_and_their_labels_do_not_matter():
    sample = in_clusters(np.random.default_rng(10), 12)
    groups = np.repeat(np.arange(12), 5)
    order = np.random.default_rng(0).permutation(60)
    plain = reldep.compare(*sample, clusters=groups)
    named = reldep.compare(
        *(block[order] for block in sample), clusters=np.array(list("mbcdaxfghijk"))[groups[order]]
    )
    assert named.pvalue == pytest.approx(plain.pvalue, rel=1e-8)
    assert named.df == pytest.approx(plain.df)


@pytest.mark.parametrize("question", ["contrast", "rank", "split"])
def test_every_question_takes_the_dependence_of_rows_with_the_default(question):
    x, y, z = in_time(np.random.default_rng(11), 80)
    ask = {
        "contrast": lambda **o: reldep.contrast(
            {"x": x, "y": y, "z": z}, {("x", "y"): 1, ("x", "z"): -1}, **o
        ),
        "rank": lambda **o: reldep.rank(x, {"y": y, "z": z}, **o),
        "split": lambda **o: reldep.compare(x, y, z, method="split", **o),
    }[question]
    groups = np.arange(80) // 8
    assert ask(clusters=groups).n_clusters == 10
    assert ask(max_lag=1).max_lag == 1
    for variance in ("jackknife", "bandwidth-aware"):
        answer = ask(max_lag="auto", variance=variance)
        words = "blocks" if answer.provenance.dependence.n_blocks else "apart may depend"
        assert words in answer.summary()


def test_the_automatic_lag_is_chosen_from_all_dependences_compared():
    sample = in_time(np.random.default_rng(12), 120)
    options = {"max_lag": "auto", "variance": "bandwidth-aware"}
    result = reldep.compare(*sample, **options)
    assert result.max_lag == automatic_lag(result.dependences.psi)
    ranked = reldep.rank(sample[0], {"y": sample[1], "z": sample[2]}, **options)
    assert ranked.max_lag == result.max_lag


def test_the_default_cuts_a_series_into_blocks_and_says_so():
    sample = in_time(np.random.default_rng(12), 120)
    result = reldep.compare(*sample, max_lag="auto")
    blocks = result.provenance.dependence.n_blocks
    assert f"rows in time order, in {blocks} blocks" in result.summary()
    assert 0 < result.df <= blocks - 1
    assert np.isfinite(result.without_top(2).pvalue)
    assert result.describe().sections


@pytest.mark.parametrize("variance", ["jackknife", "bandwidth-aware"])
@pytest.mark.parametrize("rows", [{"clusters": np.arange(80) // 8}, {"max_lag": 1}])
def test_halves_of_dependent_rows_are_not_taken_to_be_independent(variance, rows):
    # Every cluster has rows in both halves: the variance is that of sums over whole clusters.
    x, y, z = in_time(np.random.default_rng(13), 80)
    result = reldep.compare(x, y, z, method="split", variance=variance, **rows)
    psi = np.array([1.0, -1.0]) @ result.dependences.psi
    expected = covariance(psi[None, :], **rows)[0, 0]
    assert result.standard_error**2 == pytest.approx(expected)
    if "clusters" in rows and variance == "jackknife":
        assert result.df == 9


CROSSED = (np.arange(80) // 8, np.arange(80) % 8)


def test_crossed_clusters_have_the_variance_of_both_without_that_of_their_cells():
    sample = in_time(np.random.default_rng(14), 80)
    result = reldep.compare(*sample, clusters=CROSSED, measure="hsic")
    singles = [
        reldep.compare(*sample, clusters=one, measure="hsic", variance="bandwidth-aware")
        for one in CROSSED
    ]
    assert result.df == 7
    assert "10 clusters crossed with 8" in result.summary()
    # To first order, and never below that of one clustering.
    assert result.standard_error > 0.7 * max(one.standard_error for one in singles)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variance": "fixed-kernel"}, "`variance='fixed-kernel'` follows a single clustering"),
        ({"variance": "bandwidth-aware"}, "use `variance='jackknife'`"),
        ({"method": "split"}, "`method='split'` follows a single clustering"),
    ],
)
def test_crossed_clusters_are_never_half_followed(options, words):
    sample = in_time(np.random.default_rng(15), 80)
    with pytest.raises(ValueError, match=words):
        reldep.compare(*sample, clusters=CROSSED, **options)


@pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
@pytest.mark.parametrize("rows", [{"clusters": np.arange(80) // 8}, {"clusters": CROSSED}])
def test_beyond_what_fits_in_memory_clusters_are_left_out_to_first_order(
    measure, rows, monkeypatch
):
    sample = in_clusters(np.random.default_rng(16), 16)
    held = reldep.compare(*sample, measure=measure, **rows)
    monkeypatch.setattr("reldep.questions.clustered.MOST_HELD", 10)
    first_order = reldep.compare(*sample, measure=measure, **rows)
    assert first_order.estimate == pytest.approx(held.estimate, rel=0.5)
    assert first_order.standard_error == pytest.approx(held.standard_error, rel=0.5)
    assert first_order.df <= 9
