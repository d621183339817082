"""Few rows, clusters, series and repeated measures: right answers or a refusal by name."""

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
        # What is refused is not proposed.
        assert "`engine='tiled'`" not in many.summary()
        with pytest.raises(reldep.exceptions.InputError, match="needs `engine='blocks'`"):
            reldep.dependence(x, y, clusters=codes, kernel="linear", engine="tiled")


def test_rows_near_in_time_are_not_compared_however_many_there_are():
    """Independent slow series: with pairs of neighbours the interval excludes 0 nearly always."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = smooth(rng, 3_010, 0.99), smooth(rng, 3_010, 0.99)
        few = reldep.dependence(x[:3_000], y[:3_000], max_lag="auto", kernel="linear")
        many = reldep.dependence(x, y, max_lag="auto", kernel="linear")
        assert many.provenance.engine == "blocks"
        assert few.confidence_interval().low == many.confidence_interval().low == 0
        assert max(few.df, many.df) < 30  # of 40 runs, by the memory of the series
    with pytest.raises(reldep.exceptions.InputError, match="`max_lag=60` is too long for 3,010"):
        reldep.dependence(x, y, max_lag=60)


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


def three(m, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + 0.6 * rng.normal(size=m), x + 1.2 * rng.normal(size=m)


# ------------------------------------------------------------------------------- too few rows


# ------------------------------------------------------------------- clusters of one row each


QUESTIONS = {
    "compare": lambda x, y, z, **o: reldep.compare(x, y, z, **o),
    "dependence": lambda x, y, z, **o: reldep.dependence(x, y, **o),
    "contrast": lambda x, y, z, **o: reldep.contrast(
        {"x": x, "y": y, "z": z}, {("x", "y"): 2, ("x", "z"): -1}, **o
    ),
}


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("m", [8, 40])
def test_clusters_of_one_row_are_rows(question, measure, m):
    ask, data = QUESTIONS[question], three(m)
    plain = ask(*data, measure=measure)
    clustered = ask(*data, measure=measure, clusters=np.arange(m)[::-1])
    for number in ("estimate", "standard_error", "statistic", "pvalue", "df"):
        assert getattr(clustered, number) == getattr(plain, number)
    assert clustered.confidence_interval() == plain.confidence_interval()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_clustering_within_another_changes_nothing(size):
    data, groups = three(60), np.arange(60) // 5 if size != 2 else np.arange(60) // 6
    one = reldep.compare(*data, clusters=groups)
    both = reldep.compare(*data, clusters=(groups, np.arange(60) // size))
    assert (both.standard_error, both.df) == (one.standard_error, one.df)


def test_one_pair_of_rows_in_a_cluster_hardly_matters():
    data, groups = three(60), np.arange(60)
    groups[1] = 0
    plain, paired = reldep.compare(*data), reldep.compare(*data, clusters=groups)
    assert paired.standard_error == pytest.approx(plain.standard_error, rel=0.1)
    assert paired.estimate == pytest.approx(plain.estimate, abs=0.3 * plain.standard_error)


# ------------------------------------------------------------------------------- time in blocks


def test_blocks_are_at_least_three_times_the_lag_and_one():
    result = reldep.compare(*three(100), max_lag=4)
    assert result.provenance.dependence.n_blocks == 6


# ------------------------------------------------------------------------- repeated measures


def design(kind, G, n, rng, effect=0.0):
    """Return x, y and subjects: x of a complete design, constant in subjects, or mixed.

    Errors of y have a part of the subject and a part that is correlated in time.
    """
    x = {
        "complete": lambda: np.tile(np.arange(n, dtype=float), (G, 1)),
        "constant": lambda: np.repeat(rng.normal(size=(G, 1)), n, axis=1),
        "mixed": lambda: rng.normal(size=(G, 1)) + rng.normal(size=(G, n)),
        "nearly complete": lambda: np.arange(n) + 0.1 * rng.normal(size=(G, n)),
    }[kind]()
    errors = rng.normal(size=(G, n))
    for day in range(1, n):
        errors[:, day] = 0.8 * errors[:, day - 1] + 0.6 * errors[:, day]
    y = effect * (x - x.mean()) / x.std() + rng.normal(size=(G, 1)) + errors
    return x.ravel(), y.ravel(), np.repeat(np.arange(G), n)


@pytest.mark.parametrize("kind", ["complete", "nearly complete", "mixed", "constant"])
@pytest.mark.parametrize("missing_rows", [0, 1])
def test_a_perfect_dependence_is_found_in_repeated_measures(kind, missing_rows):
    rng = np.random.default_rng(0)
    x, _, subject = design(kind, 40, 6, rng)
    y = x + 0.05 * rng.normal(size=240)
    kept = slice(missing_rows, None)
    result = reldep.dependence(x[kept], y[kept], clusters=subject[kept])
    assert result.pvalue <= 0.001


def test_a_complete_design_without_one_row_has_about_the_same_answer():
    rng = np.random.default_rng(1)
    x, y, subject = design("complete", 40, 6, rng, effect=0.3)
    whole = reldep.dependence(x, y, clusters=subject)
    without = reldep.dependence(x[1:], y[1:], clusters=subject[1:])
    assert np.log10(whole.pvalue) == pytest.approx(np.log10(without.pvalue), rel=0.2)


@pytest.mark.parametrize("swap", [False, True])
def test_values_of_clusters_are_permuted_also_where_sizes_differ(swap):
    rng = np.random.default_rng(3)
    subject = np.repeat(np.arange(12), 3 + np.arange(12) % 4)
    x = rng.normal(size=12)[subject]
    y = x + 0.3 * rng.normal(size=len(x))
    pair = (y, x) if swap else (x, y)
    result = reldep.dependence(*pair, clusters=subject)
    assert result.facts["test"] == "permutations of whole clusters"
    assert result.pvalue == 1 / 1000
    few = {"test": "permutation", "n_permutations": 19}
    assert reldep.dependence(*pair, clusters=subject, **few).pvalue == 1 / 20


@pytest.mark.parametrize("kind", ["complete", "nearly complete", "mixed", "constant"])
def test_independence_keeps_its_level_in_repeated_measures(kind):
    draws, rejected, found = 120, 0, 0
    for draw in range(draws):
        rng = np.random.default_rng([4, draw])
        x, y, subject = design(kind, 20, 5, rng)
        rejected += reldep.dependence(x, y, clusters=subject).pvalue <= 0.05
        if draw < 30:
            x, y, subject = design(kind, 20, 5, rng, effect=1.5)
            found += reldep.dependence(x, y, clusters=subject).pvalue <= 0.05
    # Three binomial errors above 5%.
    assert rejected / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    assert found >= 20


# ------------------------------------------------------------------------ degrees of freedom


@pytest.mark.parametrize("m", [6, 12, 40, 231])
@pytest.mark.parametrize("measure", ["cka", "hsic"])
def test_degrees_of_freedom_are_at_most_the_rows_less_one(m, measure):
    rng = np.random.default_rng(m)
    x = np.sign(rng.normal(size=m))
    y, z = np.where(rng.random((2, m)) < 0.9, x, -x)
    for result in (
        reldep.compare(*three(m), measure=measure),
        reldep.contrast({"x": x, "y": y, "z": z}, {("x", "y"): 2, ("x", "z"): -1}, measure=measure),
        reldep.dependence(x, y, measure=measure),
    ):
        assert 0 < result.df <= m - 1
