"""Cautions: raised where they are due, silent on healthy data, in words that name the culprit."""

from __future__ import annotations

import re
import subprocess
import sys
import traceback
import warnings

import numpy as np
import polars as pl
import pytest

import reldep
from cautioned import cautioned
from reldep.exceptions import (
    DataWarning,
    DegenerateWarning,
    InfluentialObservationWarning,
    ReldepWarning,
    SmallSampleWarning,
)
from reldep.kernels import Text
from reldep.stats.screening import independence_pvalues, pairs_to_screen


def linear(m=200, seed=0, noise=(0.5, 1.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


def kinds(result):
    return {type(caution) for caution in result.warnings}


@pytest.mark.parametrize("seed", range(5))
def test_healthy_data_give_no_caution(seed):
    x, y, z = linear(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReldepWarning)
        for measure in ("hsic", "cka", "dcor"):
            assert reldep.compare(x, y, z, measure=measure).warnings == ()
        assert reldep.rank(x, {"y": y, "z": z}).warnings == ()
        assert reldep.dependence(x, y).warnings == ()


def test_nutrimouse_gives_justified_cautions_only():
    mice = reldep.datasets.load_nutrimouse()
    blocks = {name: mice[name] for name in ("genotype", "lipid", "gene")}
    result = reldep.compare(blocks["gene"], blocks["lipid"], blocks["genotype"])
    # Forty mice: the screens have little to say, and nothing about single mice.
    assert kinds(result) <= {DegenerateWarning}


def test_a_pair_without_dependence_is_named():
    x, y, _ = linear()
    noise = np.random.default_rng(10).normal(size=200)
    result = reldep.compare(x, y, noise, names=["x", "y", "noise"])
    assert kinds(result) == set()
    assert re.search(r"A relation is shown for y, not shown for noise \(p = 0\.\d+\)", str(result))


def test_no_dependence_at_all_is_said_and_the_variance_called_second_order():
    x, y, z = np.random.default_rng(3).normal(size=(3, 100))
    result = reldep.paper_test(x, y, z)
    assert kinds(result) == {DegenerateWarning}
    assert "is shown to be related to source, so their difference decides nothing" in str(result)
    # These take the second component off, or say that rows are not independent.
    for options in ({"variance": "jackknife"}, {"variance": "second-order"}, {"max_lag": 2}):
        other = reldep.compare(x, y, z, measure="hsic", **options)
        assert kinds(other) == set()
        assert other.sentence().startswith("Neither ")


def test_the_screen_has_the_level_of_the_independence_test():
    p = []
    for seed in range(40):
        x, y = np.random.default_rng(seed).normal(size=(2, 40))
        said = reldep.contrast({"x": x, "y": y}, {("x", "y"): 1}).sentence()
        flagged = "Not shown to be related: x and y" in said
        p.append(reldep.dependence(x, y).pvalue)
        assert flagged == (p[-1] > 0.05)
    # Three binomial errors of 40 draws above 5%.
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
def test_weak_dependence_is_called_second_order(measure):
    x, y, z = linear(60, seed=2, noise=(2.5, 3.0))
    with cautioned(DegenerateWarning, match="`variance='jackknife'` corrects this"):
        reldep.compare(x, y, z, measure=measure, variance="fixed-kernel")


def test_split_halves_are_screened_each_by_itself():
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    y, z = x + rng.normal(size=100), rng.normal(size=100)
    said = reldep.compare(x, y, z, method="split").sentence()
    assert "A relation is shown for first, not shown for second" in said


def test_a_single_row_that_rules_is_named_by_its_place_in_the_input():
    x, y, z = linear(120)
    x[40], y[40] = 0.0, np.nan
    x[77], y[77] = 60.0, 60.0
    words = r"row 77 carries \d+% of the variance of the estimate; look at it"
    with cautioned(InfluentialObservationWarning, match=words):
        result = reldep.compare(x, y, z, kernel="linear", missing="drop")
    assert result.influential(1)["row"][0] == 77
    with cautioned(InfluentialObservationWarning, match=r"row 76 .* of source ~ y"):
        reldep.rank(
            np.delete(x, 40), {"y": np.delete(y, 40), "z": np.delete(z, 40)}, kernel="linear"
        )


def test_an_ordinal_variable_is_no_reason_for_a_caution():
    x, y, _ = linear()
    answer = reldep.compare(x, np.round(y).clip(-2, 2), np.digitize(x, [-0.5, 0.5]))
    assert answer.warnings == ()


def test_plain_numbers_are_not_screened():
    x = np.repeat([1.0, 2.0, 3.0], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReldepWarning)
        assert np.isfinite(reldep.hsic(x, np.random.default_rng(0).normal(size=60)))


def test_contrasts_of_an_influence_are_screened_where_it_knows_enough():
    x, y, z = np.random.default_rng(3).normal(size=(3, 100))
    computed = reldep.influence({"x": x, "y": y, "z": z}, [("x", "y"), ("x", "z")])
    weights = {("x", "y"): 1, ("x", "z"): -1}
    published = {"measure": "hsic", "variance": "fixed-kernel"}
    result = reldep.contrast(computed, weights, **published)
    assert kinds(result) == {DegenerateWarning}
    bare = reldep.Influence(computed.values, computed.pairs, computed.names, 100)
    other = reldep.contrast(bare, weights, **published)
    for answer in (result, other):
        assert "Not shown to be related: x and y (p" in answer.sentence()


def test_the_screen_without_self_pairs_keeps_its_level_and_sees_dependence():
    rng = np.random.default_rng(8)
    draws, passed = 300, 0
    for _ in range(draws):
        x, y = rng.normal(size=(2, 60))
        A = reldep.influence({"x": x, "y": y}, [("x", "y")])
        bare = reldep.Influence(A.values, A.pairs, A.names, 60)
        passed += independence_pvalues(bare, bare.pairs, 60)["x", "y"] < 0.05
    assert passed / draws < 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    A = reldep.influence({"x": x, "y": x + y}, [("x", "y")])
    bare = reldep.Influence(A.values, A.pairs, A.names, 60)
    assert independence_pvalues(bare, bare.pairs, 60)["x", "y"] < 0.05


def test_many_observations_are_screened_without_further_pairs():
    assert pairs_to_screen([("x", "y")], 5_001) == ()
    assert ("x", "x") in pairs_to_screen([("x", "y")], 5_000)


def test_many_variables_are_screened_for_independence_alone():
    rng = np.random.default_rng(2)
    data = {f"v{i}": rng.normal(size=60) for i in range(10)}
    weights = {("v0", f"v{i}"): (-1.0) ** i for i in range(1, 10)}
    result = reldep.contrast(data, weights)
    assert kinds(result) == set()
    assert re.search(r"Not shown to be related: .* and \d more", result.sentence())


def test_a_self_pair_has_nothing_to_screen():
    x, y, _ = linear()
    assert reldep.contrast({"x": x, "y": y}, {("x", "x"): 1, ("x", "y"): -1}).warnings == ()


GENES = """
import numpy as np, reldep
rng = np.random.default_rng(0)
diet, weight = rng.normal(size=(2, 15))
for _ in range(100):
    answer = reldep.compare(rng.normal(size=15), diet, weight)
print(answer)
"""


def test_a_loop_does_not_fill_the_screen_and_no_caution_is_printed_twice():
    run = subprocess.run(
        [sys.executable, "-c", GENES], capture_output=True, text=True, check=True, timeout=300
    )
    raised = [line for line in run.stderr.splitlines() if "Warning:" in line]
    # One line for each kind of caution, however many genes have it.
    assert 1 <= len(raised) == len(set(raised)) <= 4
    cautions = [line.removeprefix("Caution: ") for line in run.stdout.splitlines()]
    assert any("only 15 observations" in line for line in cautions)
    assert not any(line and line in run.stderr for line in cautions)


def test_a_caution_turned_into_an_error_says_all_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error", SmallSampleWarning)
        with pytest.raises(SmallSampleWarning, match="few observations") as caught:
            reldep.compare(*np.random.default_rng(0).normal(size=(3, 12)))
    assert "only 12 observations" in "".join(traceback.format_exception(caught.value))


def test_cautions_of_reading_are_raised_too():
    x, y, z = np.random.default_rng(0).normal(size=(3, 40))
    table = {"x": [f"{value:.3f}" for value in x], "y": x + y, "z": x + z}
    with pytest.warns(DataWarning, match="may not have been read as they were meant"):
        reldep.compare("y", "x", "z", data=pl.DataFrame(table))


def test_texts_that_are_prepared_differently_get_a_caution():
    pytest.importorskip("snowballstemmer")
    rng = np.random.default_rng(3)
    words = ["running", "dogs", "sleeping", "houses", "walked", "trees"]
    texts = [" ".join(rng.choice(words, 4)) for _ in range(30)]
    other = [" ".join(rng.choice(words, 4)) for _ in range(30)]
    numbers = rng.normal(size=30)

    def said(first, second):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReldepWarning)
            answer = reldep.compare(numbers, texts, other, kernel=("auto", first, second))
        return [str(one) for one in answer.warnings if "prepared differently" in str(one)]

    (caution,) = said(Text("en"), Text())
    assert "as stems (first) and words (second)" in caution
    assert said(Text("en"), Text("en")) == []
    assert said(Text(), Text()) == []


def test_texts_that_repeat_or_differ_in_length_get_a_caution():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(4)
    words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(200)]
    numbers, other = rng.normal(size=(2, 40))

    def said(texts, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReldepWarning)
            kernel = ("text", "auto", "auto")
            answer = reldep.compare(texts, numbers, other, kernel=kernel, **options)
        return " ".join(map(str, answer.warnings))

    alike = [" ".join(rng.choice(words, 20)) for _ in range(40)]
    assert "texts" not in said(alike)
    assert "10 different texts in 40 rows" in said(alike[:10] * 4)
    assert "different texts" not in said(alike[:10] * 4, clusters=[*range(10)] * 4)
    unlike = [" ".join(rng.choice(words, size)) for size in rng.choice([4, 60], 40)]
    assert "very different lengths" in said(unlike)
