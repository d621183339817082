"""Rows that depend on each other: clusters and time."""

import numpy as np
import pytest

import reldep


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


@pytest.mark.parametrize("measure", ["hsic", "cka"])
def test_the_default_follows_bandwidths_and_counts_clusters(measure):
    x, y, z = in_clusters(np.random.default_rng(9), 12)
    groups = np.repeat(np.arange(12), 5)
    result = reldep.compare(x, y, z, measure=measure, clusters=groups, alternative="two-sided")
    assert result.facts["variance"] == "jackknife"
    assert result.facts["n_clusters"] == 12
    # However it is estimated, 12 clusters have no more than 11 degrees of freedom.
    assert 0 < result.df <= 11
    ignored = reldep.compare(x, y, z, measure=measure, alternative="two-sided")
    # The masked statistic leaves out what rows of a cluster share, so it moves by some errors.
    assert abs(result.estimate - ignored.estimate) < 2 * ignored.standard_error
    assert result.standard_error > ignored.standard_error


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


def test_the_default_cuts_a_series_into_blocks_and_says_so():
    sample = in_time(np.random.default_rng(12), 120)
    result = reldep.compare(*sample, max_lag="auto")
    blocks = result.provenance.dependence.n_blocks
    assert f"rows in time order, in {blocks} blocks" in result.summary()
    assert 0 < result.df <= blocks - 1
    assert result.influential(2)["pvalue_without"].is_finite().all()
    assert result.describe().sections


@pytest.mark.parametrize("sizes", [[2, 1, 1, 1, 1], [5, 5, 5, 5, 5]])
def test_fewer_than_six_clusters_are_refused_and_six_answered(sizes):
    x, y = np.random.default_rng(0).normal(size=(2, sum(sizes) + 2))
    codes = np.repeat(np.arange(6), [*sizes, 2])
    answer = reldep.dependence(x, y, clusters=codes)
    assert -1 <= answer.estimate <= 1
    assert answer.facts["n_clusters"] == 6
    few = codes < 5
    with pytest.raises(reldep.exceptions.InputError, match=r"5 clusters; .* at least 6"):
        reldep.dependence(x[few], y[few], clusters=codes[few])


@pytest.mark.parametrize(("n_clusters", "engine"), [(10, "dense"), (40, "blocks")])
def test_pairs_within_clusters_are_left_out_however_many_rows_there_are(n_clusters, engine):
    rng = np.random.default_rng(3)
    shared, own = rng.normal(size=(2, n_clusters)), 0.3 * rng.normal(size=(2, 3_600))
    codes = np.arange(3_600) % n_clusters
    x, y = shared[:, codes] + own
    few = reldep.dependence(x[:3_000], y[:3_000], clusters=codes[:3_000], kernel="linear")
    many = reldep.dependence(x, y, clusters=codes, kernel="linear")
    assert many.provenance.engine == engine
    # With them the estimate would be larger by about one cluster's share of the rows.
    assert many.estimate == pytest.approx(few.estimate, abs=0.2 / n_clusters)
    said = "random rows were used: 3,000 of 3,600"
    assert (said in " ".join(many.provenance.notes)) == (n_clusters == 10)
    if n_clusters == 40:
        with pytest.raises(reldep.exceptions.InputError, match="use `engine='blocks'`"):
            reldep.dependence(x, y, clusters=codes, kernel="linear", engine="tiled")


def test_permutations_next_to_blocks_shuffle_what_they_are_compared_with():
    x, y = np.random.default_rng(1).normal(size=(2, 600))
    options = {"test": "permutation", "n_permutations": 99, "kernel": "linear"}
    blocks, whole = (reldep.dependence(x, y, engine=e, **options) for e in ("blocks", "dense"))
    assert blocks.pvalue == whole.pvalue


CROSSED = (np.arange(80) // 8, np.arange(80) % 8)


def test_crossed_clusters_have_the_variance_of_both_without_that_of_their_cells():
    sample = in_time(np.random.default_rng(14), 80)
    result = reldep.compare(*sample, clusters=CROSSED, measure="hsic")
    assert result.df == 7
    assert "10 clusters crossed with 8" in result.summary()
    A = result.influence
    weights = {("source", "first"): 1, ("source", "second"): -1}
    singles = [reldep.contrast(A, weights, measure="hsic", clusters=one) for one in CROSSED]
    # Never below that of one clustering, but for the scales of a single one.
    assert result.standard_error > 0.9 * max(one.standard_error for one in singles)
