"""The default through the questions: the numbers of the stats functions called by hand on A."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import reldep
from reldep.stats.contrasts import contrast_test, split_test
from reldep.stats.differences import difference_test
from reldep.stats.jackknife import jackknife
from reldep.stats.score_intervals import score_intervals

MEASURES = ("hsic", "cka", "dcor")
PAIRS = (("x", "y"), ("x", "z"))


def data(m=50, seed=0, noise=(0.6, 1.1, 2.0)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return {"x": x, **{name: x + s * rng.normal(size=m) for name, s in zip("yzw", noise)}}  # noqa: B905


def by_hand(sample, pairs, measure):
    """The jackknife of an A that is asked for in the user's own way."""
    names = dict.fromkeys(name for pair in pairs for name in pair)
    kernel = "distance" if measure == "dcor" else "auto"
    A = reldep.influence(
        {name: sample[name] for name in names},
        [*pairs, *((name, name) for name in names)],
        kernel=kernel,
        variance="jackknife",
    )
    return jackknife(
        A.values, A.pairs, pairs, measure, bandwidth_psi=A.bandwidth_psi, further=A.means
    )


def assert_same(result, test, alternative="two-sided"):
    assert result.estimate == pytest.approx(test.estimate, rel=1e-12)
    assert result.standard_error == pytest.approx(test.standard_error, rel=1e-12)
    assert result.statistic == pytest.approx(test.statistic, rel=1e-12)
    assert result.df == pytest.approx(test.df, rel=1e-12)
    assert result.pvalue == pytest.approx(test.pvalue(alternative), rel=1e-10)
    for level in (0.5, 0.9, 0.99):
        # A one-sided bound is a limit of the two-sided interval with twice the error.
        two_sided = level if alternative == "two-sided" else 2 * level - 1
        expected = np.array(test.interval(two_sided))
        found = np.array(result.confidence_interval(level))
        bounded = {"greater": [True, False], "less": [False, True]}.get(alternative, [True, True])
        np.testing.assert_allclose(found[bounded], expected[bounded], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_comparison_is_the_difference_test(measure):
    sample = data()
    result = reldep.compare(
        sample["x"], sample["y"], sample["z"], measure=measure, alternative="two-sided"
    )
    assert_same(result, difference_test(by_hand(sample, PAIRS, measure), 0, 1))
    assert math.isfinite(result.df)
    assert result.statistic_name() == f"t({result.df:.0f})"
    assert result.headings()["statistic"] == "t"
    law = f"t({result.df:.0f}) = {result.statistic:.2f}"
    assert (law in result.sentence()) == (result.pvalue < 0.05)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_a_general_contrast_is_the_contrast_test(measure, alternative):
    sample = data(40, seed=1)
    weights = {("x", "y"): 1.0, ("z", "x"): 0.5, ("y", "w"): -2.0}
    result = reldep.contrast(sample, weights, measure=measure, alternative=alternative)
    found = by_hand(sample, tuple(weights), measure)
    assert_same(result, contrast_test(found, np.array([1.0, 0.5, -2.0])), alternative)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_weighted_difference_is_the_difference_scaled(measure):
    sample = data()
    plain = reldep.contrast(sample, {("x", "y"): 1, ("x", "z"): -1}, measure=measure)
    tripled = reldep.contrast(sample, {("x", "y"): -3, ("x", "z"): 3}, measure=measure)
    assert tripled.estimate == pytest.approx(-3 * plain.estimate)
    assert tripled.statistic == pytest.approx(-plain.statistic)
    assert tripled.df == pytest.approx(plain.df)
    low, high = plain.confidence_interval()
    assert tripled.confidence_interval() == pytest.approx((-3 * high, -3 * low))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_split_is_the_split_test_of_its_halves(measure):
    sample = data(61, seed=2)
    result = reldep.compare(
        sample["x"],
        sample["y"],
        sample["z"],
        measure=measure,
        method="split",
        alternative="two-sided",
        rng=5,
    )
    order = np.random.default_rng(5).permutation(61)
    sides = [
        by_hand({name: values[np.sort(rows)] for name, values in sample.items()}, [pair], measure)
        for pair, rows in zip(PAIRS, (order[:30], order[30:]), strict=True)
    ]
    assert_same(result, split_test(*sides))
    variances = [
        reldep.dependence(
            *(sample[name][np.sort(rows)] for name in pair), measure=measure
        ).covariance[0, 0]
        for pair, rows in zip(PAIRS, (order[:30], order[30:]), strict=True)
    ]
    assert result.dependences.covariance == pytest.approx(np.diag(variances))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_one_dependence_has_its_score_interval(measure, level):
    sample = data(45, seed=3)
    result = reldep.dependence(sample["x"], sample["w"], measure=measure)
    low, high = score_intervals(by_hand(sample, [("x", "w")], measure), level)
    interval = result.confidence_interval(level)
    assert (interval.low, interval.high) == pytest.approx((low[0], high[0]), rel=1e-10)
    assert 0 <= interval.low < result.estimate < interval.high
    # It reaches further up than down, which an interval with one standard error does not.
    assert interval.high - result.estimate > result.estimate - interval.low


def test_the_pairs_of_a_comparison_have_their_score_intervals_in_the_table():
    sample = data()
    result = reldep.compare(sample["x"], sample["y"], sample["z"])
    low, high = score_intervals(by_hand(sample, PAIRS, "cka"), 0.95)
    table = result.to_frame()
    assert table["low"].to_list()[:2] == pytest.approx(low.tolist(), rel=1e-10)
    assert table["high"].to_list()[:2] == pytest.approx(high.tolist(), rel=1e-10)
    assert table["standard_error"].to_list() == pytest.approx(
        [*np.sqrt(np.diag(result.dependences.covariance)), result.standard_error]
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_the_covariance_gives_the_standard_error(measure):
    sample = data()
    result = reldep.compare(sample["x"], sample["y"], sample["z"], measure=measure)
    weights = np.array([1.0, -1.0])
    assert weights @ result.covariance @ weights == pytest.approx(result.standard_error**2)
    assert (np.linalg.eigvalsh(result.covariance) > 0).all()


def test_units_and_order_of_rows_do_not_matter():
    sample = data(60, seed=4)
    order = np.random.default_rng(0).permutation(60)
    plain = reldep.compare(sample["x"], sample["y"], sample["z"])
    moved = reldep.compare(
        1000 * sample["x"][order] + 3, sample["y"][order], -0.01 * sample["z"][order]
    )
    assert moved.pvalue == pytest.approx(plain.pvalue, rel=1e-8)
    assert moved.df == pytest.approx(plain.df, rel=1e-8)


def test_the_defaults_are_cka_and_the_jackknife():
    sample = data(40)
    blocks = sample["x"], sample["y"], sample["z"]
    targets = {"y": sample["y"], "z": sample["z"]}
    answers = [
        reldep.compare(*blocks),
        reldep.compare(*blocks, method="split"),
        reldep.contrast(sample, {("x", "y"): 1, ("x", "z"): -1}),
        reldep.dependence(*blocks[:2]),
        reldep.rank(sample["x"], targets),
        reldep.sensitivity(*blocks, factors=(0.5, 1, 2)),
    ]
    for answer in answers:
        assert (answer.measure, answer.variance) == ("cka", "jackknife")
        assert "variance: jackknife" in answer.summary()
        assert answer.settings()["Variance"] == "jackknife"


def test_too_few_rows_to_leave_one_out_are_refused_with_a_way_out():
    sample = data(5)
    blocks = [sample[name] for name in "xyz"]
    with pytest.raises(ValueError, match=r"5 observations are too few.*variance='fixed-kernel'"):
        reldep.compare(*blocks, measure="hsic")
    with pytest.warns(reldep.exceptions.FewUnitsWarning):
        assert np.isfinite(reldep.paper_test(*blocks).statistic)


@pytest.mark.parametrize(
    "question", ["compare", "split", "contrast", "dependence", "rank", "sensitivity"]
)
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_an_answer_survives_json_to_the_last_digit(question, variance):
    sample = data(40)
    blocks = sample["x"], sample["y"], sample["z"]
    answer = {
        "compare": lambda **o: reldep.compare(*blocks, **o),
        "split": lambda **o: reldep.compare(*blocks, method="split", **o),
        "contrast": lambda **o: reldep.contrast(sample, {("x", "y"): 1, ("w", "z"): -0.5}, **o),
        "dependence": lambda **o: reldep.dependence(*blocks[:2], **o),
        "rank": lambda **o: reldep.rank(blocks[0], {"y": blocks[1], "z": blocks[2]}, **o),
        "sensitivity": lambda **o: reldep.sensitivity(*blocks, factors=(0.5, 1, 2), **o),
    }[question](variance=variance)
    fields = answer.to_dict()
    assert json.loads(answer.to_json()) == fields
    assert fields["variance"] == variance
    assert fields["n_observations"] == 40
    assert fields["call"] == answer.provenance.call
    columns = answer.table(fields["alpha"])
    for i, row in enumerate(fields["table"]):
        assert row == {name: column[i] for name, column in columns.items()}
    if hasattr(answer, "tested"):
        assert fields["estimate"] == answer.estimate
        assert fields["pvalue"] == answer.pvalue
        assert fields["confidence_interval"] == list(answer.confidence_interval())
        # JSON has no infinity: the normal law has no degrees of freedom.
        assert fields["df"] == (answer.df if math.isfinite(answer.df) else None)
