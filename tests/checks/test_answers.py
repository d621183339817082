"""Checks of what is tested: rows that carry it, unlike targets, the measure, covariates, groups."""

from __future__ import annotations

import re

import numpy as np
import pytest

import reldep
from reldep.words import number, pvalue_text

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


def linear(m=200, seed=0, noise=(0.5, 1.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


def said(answer, kind):
    return [str(one) for one in answer.warnings if type(one).__name__ == f"{kind}Warning"]


def test_a_row_that_rules_is_named_by_its_place_in_the_input_with_the_answer_without_it():
    x, y, z = linear(120)
    x[40], y[40] = 0.0, np.nan
    x[77], y[77] = 60.0, 60.0
    result = reldep.compare(x, y, z, kernel="linear", missing="drop", alternative="two-sided")
    (words,) = said(result, "Influential")
    others = [np.delete(values, [40, 77]) for values in (x, y, z)]
    rest = reldep.compare(*others, kernel="linear").pvalue
    assert words.startswith("One row (row 77) carries 9")
    assert f"without it {pvalue_text(rest)}, two-sided" in words
    ranked = reldep.rank(
        np.delete(x, 40), {"y": np.delete(y, 40), "z": np.delete(z, 40)}, kernel="linear"
    )
    (words,) = said(ranked, "Influential")
    assert "row 76 in 'source' ~ 'y'" in words
    assert not said(reldep.compare(*linear(120)), "Influential")


def rare(m, seed):
    """Draw a tie in which 6% of the rows, far out in x and y, make one of the relations."""
    rng = np.random.default_rng(seed)
    far = np.where(rng.uniform(size=m) < 0.06, 6.0, 0.0)
    x = far + rng.normal(size=m)
    return x, far + rng.normal(size=m), x - far + 1.84 * rng.normal(size=m)


def test_a_relation_that_rests_on_few_rows_is_named():
    fired = [said(reldep.compare(*rare(100, seed)), "UnlikeTargets") for seed in range(20)]
    assert sum(map(bool, fired)) >= 10
    seed = next(seed for seed, one in enumerate(fired) if one)
    (words,) = fired[seed]
    rows = re.search(r"^Few rows carry one relation: (\d) rows of 100 \(rows (.*?)\)", words)
    left_out = [int(row) for row in rows[2].split(", ")]
    assert len(left_out) == int(rows[1])
    rest = reldep.compare(*(np.delete(values, left_out) for values in rare(100, seed))).pvalue
    assert f"of 'source' ~ 'second'; without them {pvalue_text(rest)}." in words
    assert "ask for p < 0.025" in words
    # At most 2% of straight lines; three binomial errors of 40 draws above.
    lines = [said(reldep.compare(*linear(100, s, (1, 1))), "UnlikeTargets") for s in range(40)]
    assert sum(map(bool, lines)) <= 3


def test_raw_hsic_beside_cka_is_the_comparison_with_cka():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y, wide = x + rng.normal(size=100), x[:, None] + rng.normal(size=(100, 5))
    (text,) = said(reldep.compare(x, y, wide, measure="hsic"), "Measure")
    cka = reldep.compare(x, y, wide, alternative="two-sided")
    assert f"(difference {number(cka.estimate)}, {pvalue_text(cka.pvalue)}, two-sided)" in text
    assert said(reldep.paper_test(x, y, wide), "Measure")


def test_alike_targets_have_no_caution_about_the_measure():
    x, y, z = linear(100, seed=7, noise=(1, 1))
    raw, cka = reldep.compare(x, y, z, measure="hsic"), reldep.compare(x, y, z)
    assert (raw.pvalue < 0.05) == (cka.pvalue < 0.05)
    assert not said(raw, "Measure")


def test_a_target_with_hardly_any_noise_is_nearly_a_copy():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 80))
    (words,) = said(reldep.compare(x, x + 0.005 * rng.normal(size=80), x + z), "Copy")
    assert words.startswith("Nearly as dependent as copies of each other: 'source' and 'first'")
    assert not said(reldep.compare(x, x + 0.3 * rng.normal(size=80), x + z), "Copy")


def test_groups_over_another_range_or_of_few_rows_are_named(rng):
    x, y = rng.normal(size=(2, 90))
    wide = np.where(np.arange(90) < 45, 4.0, 1.0)
    half = np.where(np.arange(90) < 45, "a", "b")
    (words,) = said(reldep.groups(x * wide, y, half), "Unequal")
    assert "times as much in 'a' as in 'b'" in words
    cut = np.where(x > 0, "high", "low")
    assert "The groups do not overlap in 'x'" in said(reldep.groups(x, y, cut), "Unequal")[0]
    few = np.where(np.arange(90) < 12, "a", "b")
    assert "a (12)" in said(reldep.groups(x, y, few), "FewUnits")[0]
    assert reldep.groups(x, y, half).warnings == ()


def test_random_blocks_of_rows_are_not_taken_for_rows(rng):
    x = rng.normal(size=3000)
    x[7] = 300.0
    y, z = x + rng.normal(size=(2, 3000))
    for kernel in ("linear", "auto"):
        answer = reldep.compare(x, y, z, engine="blocks", kernel=kernel)
        assert not said(answer, "Influential")
        assert not said(answer, "UnlikeTargets")
        assert "random blocks" in answer.sentence()
    walks = np.cumsum(rng.normal(size=(3, 3000)), axis=1)
    assert said(reldep.compare(*walks, engine="blocks"), "DependentRows")
