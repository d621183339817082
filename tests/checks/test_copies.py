"""Copies of a variable in other units or words, found by their values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reldep

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
RNG = np.random.default_rng(8)
AGE = RNG.permutation(60) + 20.0
SEX = np.array(["f", "m"] * 30)
MOUSE = np.repeat(np.arange(15), 4)


def copies(source, target):
    answer = reldep.compare(source, target, RNG.normal(size=len(source)), names=("s", "t", "z"))
    return [str(one) for one in answer.warnings if "Copy" in type(one).__name__]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (AGE, AGE * 365.25),
        (AGE, -AGE),
        (AGE, np.log(AGE)),
        (AGE // 20, np.array([7.0, 1, 3, 9, 2])[(AGE // 20).astype(int)]),
        (SEX, np.where(SEX == "f", "woman", "man")),
        (SEX, (SEX == "m") + 1),
        (MOUSE % 3, MOUSE % 3 * 10 + 5),
        (AGE[:10], 3 - 2 * AGE[:10]),
    ],
)
def test_a_variable_in_other_units_or_words_is_named(source, target):
    assert any("'s' and 't'" in one for one in copies(source, target))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (AGE, AGE + 2 * RNG.normal(size=60)),
        (AGE, AGE[::-1].copy()),
        (SEX, np.array(["f", "m", "m"] * 20)),
        # What was measured once for several rows has the same levels as anything else that was.
        (RNG.normal(size=15)[MOUSE], RNG.normal(size=15)[MOUSE]),
    ],
)
def test_what_is_not_a_copy_is_not_named(source, target):
    assert not copies(source, target)


def test_columns_are_the_same_only_if_every_row_is():
    values = RNG.normal(size=(1000, 2))
    nearly = values[:, 0].copy()
    nearly[1] += 1e-3
    with pytest.raises(ValueError, match="target 't' contains '0', which is in the source 's'"):
        copies(values[:, 0], values)
    assert not any("both contain" in one for one in copies(nearly, values))


def test_a_target_with_the_source_in_it_is_refused():
    both = pd.DataFrame({"sex": SEX, "age": AGE})
    with pytest.raises(ValueError, match="target 't' contains 'sex'"):
        copies(SEX, both)
    with pytest.raises(ValueError, match="target 't' is the source itself"):
        copies(SEX, SEX.tolist())


def test_a_formula_is_not_found_in_repeated_rows():
    rows = np.repeat(RNG.normal(size=(8, 7)), 20, axis=0)
    answer = reldep.compare(rows[:, 0], rows[:, 1:], RNG.normal(size=160))
    assert not [one for one in answer.warnings if "Copy" in type(one).__name__]
