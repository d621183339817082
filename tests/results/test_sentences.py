"""What sentences say, read back and compared with the table: names, numbers and claims agree."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.words import pvalue_text

ALTERNATIVES = ("two-sided", "greater", "less")
SEEDS = range(6)
NUMBER = r"[−\d.,]*\d(?:e-?\d+)?"
NAMES = ["x", "first", "second"]

COMPARED = re.compile(
    rf"(?P<open>It is undecided whether )?"
    rf"(?:x is more closely related to (?P<stronger>\w+) (?:than|or) to (?P<weaker>\w+)|"
    rf"x and y are more closely related in (?P<stronger_group>\w+) (?:than|or) in "
    rf"(?P<weaker_group>\w+)|"
    rf"x and (?P<stronger_pair>\w+) (?:are|or) (?:more closely related than )?x and "
    rf"(?P<weaker_pair>\w+)"
    rf"(?: are more closely related)?): "
    rf"(?P<measure>CKA|HSIC) (?P<high>{NUMBER}) against (?P<low>{NUMBER}), a difference of "
    rf"(?P<difference>{NUMBER})"
    rf"(?: \(95% interval (?P<lower>{NUMBER}) to (?P<upper>{NUMBER}); (?P<law>[tz](?:\(\d+\))?) = |"
    rf" \(95% interval (?P<lower_>{NUMBER}) to (?P<upper_>{NUMBER}); |"
    rf", (?P<side>at least|at most) (?P<bound>{NUMBER}) \(one-sided 95% bound; )"
)
OPPOSITE = re.compile(
    rf"(?:x is not shown to be more closely related to (?P<asked>\w+) than to (?P<other>\w+)|"
    rf"x and y are not shown to be more closely related in (?P<asked_group>\w+) than in "
    rf"(?P<other_group>\w+)|"
    rf"x and (?P<asked_pair>\w+) are not shown to be more closely related than x and "
    rf"(?P<other_pair>\w+)); the estimate is in the opposite direction: "
    rf"(?:CKA|HSIC) (?P<high>{NUMBER}) (?:for|in) (?:x and )?(?P<stronger>\w+), "
    rf"(?P<low>{NUMBER}) (?:for|in) (?:x and )?(?P<weaker>\w+) \("
)


def parts(pattern, said):
    """Return what a pattern finds in a sentence; alternatives of a group under one name."""
    found = pattern.match(said)
    assert found, said
    read: dict[str, str] = {}
    for name, value in found.groupdict().items():
        if value is not None:
            read[re.sub(r"_(group|pair)?$", "", name)] = value
    return read


def agrees(written, value):
    """Check that a written number is this value, to half a unit of its last digit."""
    text = written.replace("−", "-").replace(",", "")
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    assert abs(float(text) - value) <= half * (1 + 1e-9), (written, value)


def three(seed, n=50):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    noise = rng.choice([0.3, 0.8, 1.2], size=2)
    return x, x + noise[0] * rng.normal(size=n), x + noise[1] * rng.normal(size=n)


def compared(seed, alternative):
    return reldep.compare(*three(seed), names=NAMES, alternative=alternative)


def published(seed, alternative):
    return reldep.paper_test(*three(seed), names=NAMES, alternative=alternative)


def contrasted(seed, alternative):
    weights = {("x", "first"): 1, ("x", "second"): -1}
    return reldep.contrast(
        dict(zip(NAMES, three(seed), strict=True)), weights, alternative=alternative
    )


def cells(seed, alternative):
    found = reldep.matrix(dict(zip(NAMES, three(seed), strict=True)), n_simulations=400)
    return found.compare(("x", "first"), ("x", "second"), alternative=alternative)


def grouped(seed, alternative):
    x, y, z = three(seed)
    by = np.repeat(["first", "second"], len(x))
    both = np.concatenate([x, x])
    return reldep.groups(
        both, np.concatenate([y, z]), by, alternative=alternative, n_simulations=400
    )


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("ask", [compared, published, contrasted, cells, grouped])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_comparison_says_what_its_table_says(ask, seed, alternative):
    answer = ask(seed, alternative)
    said = answer.sentence()
    values = dict(zip(("first", "second"), answer.estimates.tolist(), strict=True))
    assert f"({pvalue_text(answer.pvalue)})" in said or f" {pvalue_text(answer.pvalue)})" in said
    towards = {"greater": answer.estimate > 0, "less": answer.estimate < 0}.get(alternative, True)
    read = parts(COMPARED if towards else OPPOSITE, said)
    assert {read["stronger"], read["weaker"]} == {"first", "second"}
    assert values[read["stronger"]] >= values[read["weaker"]]
    agrees(read["high"], values[read["stronger"]])
    agrees(read["low"], values[read["weaker"]])
    if not towards:
        # What was asked is named, and nothing is claimed.
        assert read["asked"] == {"greater": "first", "less": "second"}[alternative]
        return
    assert ("open" in read) == (answer.pvalue >= 0.05)
    assert ("law" in read) == (answer.pvalue < 0.05 and alternative == "two-sided")
    agrees(read["difference"], abs(answer.estimate))
    sign = 1 if answer.estimate > 0 else -1
    low, high = sorted(sign * limit for limit in answer.confidence_interval(0.95))
    if alternative == "two-sided":
        agrees(read["lower"], low)
        agrees(read["upper"], high)
        excludes = not low <= 0 <= high
    else:
        # The stronger minus the weaker is positive, whichever was asked about.
        assert read["side"] == "at least"
        agrees(read["bound"], low)
        excludes = low > 0
    assert excludes == (answer.pvalue < 0.05)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_weighted_sum_says_what_its_table_says(seed, alternative):
    data = dict(zip(NAMES, three(seed), strict=True))
    weights = {("x", "first"): 1, ("x", "second"): -2}
    answer = reldep.contrast(data, weights, alternative=alternative)
    said = answer.sentence()
    formula = re.escape("CKA(x, first) − 2·CKA(x, second)")
    shown = re.match(rf"{formula} is (above|below) 0: the estimate is ({NUMBER})", said)
    open_ = re.match(rf"It is undecided whether {formula} .* 0: the estimate is ({NUMBER})", said)
    other = re.match(rf"{formula} is not shown to be .* 0; .* direction: ({NUMBER}) \(p", said)
    assert bool(shown) == (answer.pvalue < 0.05)
    if shown:
        assert (shown[1] == "above") == (answer.estimate > 0)
    agrees((shown or open_ or other).groups()[-1], answer.estimate)
    assert pvalue_text(answer.pvalue) in said


def noise(seed):
    return np.random.default_rng(seed + 100).normal(size=50)


def ranked(seed):
    x, y, z = three(seed)
    return reldep.rank(x, {"first": y, "second": z, "noise": noise(seed)}, n_simulations=400)


def paired(seed):
    data = dict(zip(NAMES, three(seed), strict=True))
    return reldep.matrix({**data, "noise": noise(seed)}, n_simulations=400)


def scanned(seed):
    x, y, z = three(seed)
    return reldep.scan(x, {"first": y, "second": z, "noise": noise(seed)}, n_simulations=400)


def related(seed):
    return reldep.dependence(*three(seed)[:2])


def unrelated(seed):
    return reldep.dependence(three(seed)[0], noise(seed))


TOP = re.compile(
    rf"CKA (?:is )?({NUMBER})(?:, for \w+)? "
    rf"\((?:simultaneous )?95% interval ({NUMBER}) to ({NUMBER})"
)


@pytest.mark.parametrize("ask", [ranked, paired, scanned, related, unrelated])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_strongest_of_many_has_the_numbers_of_its_row(ask, seed):
    answer = ask(seed)
    said, table = answer.sentence(), answer.to_frame()
    top = table.row(int(np.argmax(table["estimate"])), named=True)
    for written, column in zip(TOP.search(said).groups(), ("estimate", "low", "high"), strict=True):
        agrees(written, top[column])
    shown = top["as_correlation"]
    strength = "" if shown is None else f"{shown:.2f}".removeprefix("0")
    assert (f", about as strong as a correlation of {strength}" in said) == (shown is not None)


@pytest.mark.parametrize("seed", SEEDS)
def test_sentences_about_many_count_and_name_what_is_shown(seed):
    answer = ranked(seed)
    claim, _, doubtful = answer.sentence().partition("Not shown to be related to source")
    named = [name for name in answer.targets if re.search(rf"related to [^(]*\b{name}\b", claim)]
    assert set(named) == set(answer.best) or "undecided" in claim
    assert "noise" in (doubtful or answer.best)
    pairs = paired(seed).to_frame()
    count = (pairs["adjusted_pvalue"] < 0.05).sum()
    assert paired(seed).sentence().startswith(f"Of {len(pairs)} pairs, {count} are related (Holm,")
    for ask in (related, unrelated):
        answer = ask(seed)
        assert answer.sentence().startswith("x and y are related: ") == (answer.pvalue < 0.05)
        assert f"; {pvalue_text(answer.pvalue)})" in answer.sentence()


@pytest.mark.parametrize("seed", SEEDS)
def test_several_groups_are_named_from_the_strongest_to_the_weakest(seed):
    x, y, z = three(seed)
    by = np.repeat(["a", "b", "c"], 50)
    columns = np.concatenate([x, x, x]), np.concatenate([y, noise(seed), z])
    answer = reldep.groups(*columns, by, names=["x", "y"], n_simulations=400)
    said, table = answer.sentence(), answer.to_frame()
    read = re.findall(rf"({NUMBER}) in ([abc])\b", said)
    values = dict(zip(table["group"], table["estimate"], strict=True))
    assert [name for _, name in read] == sorted(values, key=values.get, reverse=True)
    for written, name in read:
        agrees(written, values[name])
    assert said.startswith("x and y are not equally related") == (answer.pvalue < 0.05)
    assert said.count(pvalue_text(answer.pvalue)) == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_scan_says_what_its_table_says(seed, alternative):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 60))
    near = [one + 0.3 * rng.normal(size=60) for one in (a, a, b, rng.normal(size=60))]
    sources = {f"s{i}": one for i, one in enumerate(near)}
    answer = reldep.scan(
        sources, a, b, names=["first", "second"], alternative=alternative, n_simulations=400
    )
    said, table = answer.sentence(), answer.to_frame()
    claimed = [row for row in table.iter_rows(named=True) if row["fdr"] <= 0.05]
    counts = {
        "first": sum(row["estimate"] > 0 for row in claimed),
        "second": sum(row["estimate"] < 0 for row in claimed),
    }
    read = re.search(r"(\d+|none) (?:is|are) (?:shown to be )?more closely related to (\w+)", said)
    wanted = {"less": "second"}.get(alternative, "first")
    assert read[2] == wanted
    assert ("0" if read[1] == "none" else read[1]) == str(counts[wanted])
    if alternative == "two-sided" and claimed:
        assert ("none" if not counts["second"] else str(counts["second"])) in said
    strongest = sorted(claimed, key=lambda row: row["pvalue"])
    if strongest:
        assert said.endswith(f"The clearest: {', '.join(row['source'] for row in strongest)}.")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_bandwidths_say_what_their_table_says(seed, alternative):
    answer = reldep.sensitivity(
        *three(seed), names=NAMES, alternative=alternative, factors=[0.25, 1, 4]
    )
    said, table = answer.sentence(), answer.to_frame()
    differences = table["estimate"].to_list()
    assert "from 1/4 to 4 times the chosen one" in said
    claimed = re.match(r"x is more closely related to (\w+) than to (\w+) at (every|some) ", said)
    flips = "depends on the bandwidth" in said
    assert bool(claimed) == (answer.some_pvalue < 0.05 and not flips)
    if claimed:
        assert (claimed[3] == "every") == (answer.every_pvalue < 0.05)
        strongest = max(
            zip(table["statistic"], differences, strict=True), key=lambda one: abs(one[0])
        )
        assert claimed[1] == ("first" if strongest[1] > 0 else "second")
    opposite = {"greater": max(differences) < 0, "less": min(differences) > 0}.get(alternative)
    assert ("opposite direction" in said) == bool(opposite)


def test_two_unrelated_targets_have_no_difference_to_speak_of():
    rng = np.random.default_rng(4)
    answer = reldep.compare(*rng.normal(size=(3, 60)), names=NAMES)
    pvalues = answer.to_frame()["pvalue"].to_list()[:2]
    assert min(pvalues) > 0.05
    named = re.match(
        rf"Neither (\w+) \(CKA ({NUMBER}), (p .*?)\) nor (\w+) \(({NUMBER}), (p .*?)\) is shown to "
        r"be related to x, so their difference decides nothing\.$",
        answer.sentence(),
    ).groups()
    values = dict(zip(("first", "second"), answer.estimates.tolist(), strict=True))
    known = dict(zip(("first", "second"), pvalues, strict=True))
    assert values[named[0]] > values[named[3]]
    for name, written, p in (named[:3], named[3:]):
        agrees(written, values[name])
        assert p == pvalue_text(known[name])


def test_rows_that_were_chosen_or_left_out_are_part_of_question_and_sentence():
    x, y, z = three(1)
    y[3] = np.nan
    by = np.where(np.arange(50) % 5, "f", "m")
    data = {"x": x, "first": y, "second": z, "sex": by}
    answer = reldep.compare(*NAMES, data=reldep.read(data, where="sex = 'f'"), missing="drop")
    scope = "the 40 of 50 rows with sex = 'f'"
    assert answer.describe().question.endswith(f"by CKA, among {scope}?")
    assert answer.sentence().startswith(f"Among {scope}, ")
    assert json.loads(answer.to_json())["scope"] == scope
    assert answer.sentence().endswith("1 incomplete row was left out.")


def test_names_from_the_data_are_never_changed():
    x, noise = np.random.default_rng(2).normal(size=(2, 60))
    answer = reldep.compare(x, noise, x + 0.3 * noise**2, names=["it", "{0}", "of %s"])
    assert answer.sentence().startswith("it is more closely related to of %s than to {0}: CKA")


def test_the_strongest_of_many_is_one_that_is_shown_to_exist():
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    far = x + 2.0 * rng.normal(size=60)
    data = {"x": x, "far": far, "noise": rng.normal(size=60)}
    for answer, related in (
        (reldep.matrix(data, n_simulations=400), "x and far"),
        (reldep.scan(x, {"far": far, "noise": data["noise"]}, n_simulations=400), "far"),
    ):
        # The pair with the largest estimate is made doubtful.
        top = int(np.argmax(answer.estimates))
        adjusted, fdr = np.full((2, len(answer.estimates)), 0.01)
        adjusted[top] = fdr[top] = 0.5
        doubtful = {"adjusted_pvalues": adjusted} | ({"fdr": fdr} if hasattr(answer, "fdr") else {})
        said = replace(answer, **doubtful).sentence()
        assert related in answer.sentence()
        assert not re.search(rf"(closely|namely) {related}", said)


def test_numbers_of_groups_are_named_with_their_column_and_two_targets_are_more_not_most():
    x, y, _ = three(0, 80)
    split = np.repeat([0, 1], 40)
    assert " in group 0" in reldep.groups(x, y, split, n_simulations=400).sentence()
    sites = pd.Series(split, name="site")
    named = reldep.groups(x, y, sites, n_simulations=400).describe()
    assert " in site 0" in named.sentence
    assert "site 0 − site 1 (CKA)" in [one.heading for one in named.numbers]
    two = reldep.rank(x, {"y": y, "z": x**2}, n_simulations=400)
    assert two.sentence().startswith("Of 2 targets, source is more closely related to ")


def test_a_level_holds_for_ranks_and_the_set_of_the_best():
    x, y, z = three(2)
    answer = reldep.rank(x, {"y": y, "z": z, "w": x + 0.6 * y}, n_simulations=1000)
    for alpha in (0.5, 0.05, 0.001):
        parts = answer.describe(alpha)
        table = parts.table.as_dict()
        values = {one.name: one.value for one in parts.numbers}
        best = [n for n, b in zip(table["target"], table["may_be_best"], strict=True) if b]
        assert list(values["best"]) == best
        assert values["confidence_level"] == 1 - alpha


def test_blocks_are_said_with_the_answer():
    answer = reldep.compare(*three(0, 100), engine=reldep.engine.Blocks(size=10))
    assert re.search(r" Computed in 10 random blocks of 10 rows.*\.$", answer.sentence())
