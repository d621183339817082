"""Copies of a variable in other units or words, and formulas, found by their values."""

from __future__ import annotations

import numpy as np
import pytest

import reldep

RNG = np.random.default_rng(8)
AGE = RNG.permutation(60) + 20.0
SEX = np.array(["f", "m"] * 30)
MOUSE = np.repeat(np.arange(15), 4)
FEW = np.sort(RNG.normal(size=(2, 10)), axis=1)
WEIGHT, HEIGHT = np.round(RNG.normal((70, 1.7), (10, 0.1), (60, 2)).T, 2)
PARTS = 100 * RNG.dirichlet(np.ones(5), size=60)
REPEATED = np.repeat(RNG.normal(size=(8, 7)), 20, axis=0)
NOISE = RNG.normal(size=(60, 40))


def copies(source, target, other=None, names=("s", "t", "z")):
    other = RNG.normal(size=len(source)) if other is None else other
    answer = reldep.compare(source, target, other, names=names)
    return " | ".join(str(one) for one in answer.warnings if "Copy" in type(one).__name__)


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
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
        (FEW[0], 3 - 2 * FEW[0]),
    ],
)
def test_a_variable_in_other_units_or_words_is_named(source, target, unit):
    if target.dtype.kind in "if":
        target = unit * target
    assert "'s' and 't'" in copies(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (AGE, AGE + 2 * RNG.normal(size=60)),
        (AGE, AGE[::-1].copy()),
        (SEX, np.array(["f", "m", "m"] * 20)),
        # What was measured once for several rows has the same levels as anything else that was.
        (RNG.normal(size=15)[MOUSE], RNG.normal(size=15)[MOUSE]),
        # Few rows may be in one order by chance.
        (FEW[0], FEW[1]),
        # Nor are repeated rows a formula, or strong dependence, or many columns.
        (REPEATED[:, 0], REPEATED[:, 1:]),
        (NOISE[:, 0] + NOISE[:, 1] + 0.1 * NOISE[:, 2], NOISE[:, 0]),
        (NOISE[:, 0], NOISE[:, 1:]),
    ],
)
def test_what_is_not_a_copy_is_not_named(source, target):
    assert not copies(source, target)


@pytest.mark.parametrize("unit", [1.0, 1e-160, 1e160])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((np.round(WEIGHT / HEIGHT**2, 1), WEIGHT, HEIGHT), "a product or ratio of 't' and 'z'"),
        ((WEIGHT + 2 * AGE, WEIGHT, AGE), "a weighted sum of 't' and 'z',"),
        ((PARTS[:, 0], PARTS[:, 1:], NOISE[:, 0]), "a weighted sum of the columns of 't'"),
        ((np.round(WEIGHT / HEIGHT**2, 1), WEIGHT, AGE), ""),
    ],
)
def test_a_source_that_is_computed_from_targets_is_named(data, words, unit):
    found = copies(unit * data[0], *data[1:])
    assert (f"'s' is {words}" in found) if words else not found


def test_columns_are_the_same_only_if_every_row_is():
    values = RNG.normal(size=(1000, 2))
    nearly = values[:, 0].copy()
    nearly[1] += 1e-3
    with pytest.raises(ValueError, match="target 't' contains '0', which is in the source 's'"):
        copies(values[:, 0], values)
    assert "both contain" not in copies(nearly, values)
    assert "'t' and 'z' both contain '0'" in copies(RNG.normal(size=1000), values, values[:, :1])


def test_repeated_rows_are_not_copies_of_variables():
    x, y, z = np.repeat(RNG.normal(size=(3, 30)), 2, axis=1)
    kinds = {type(one).__name__ for one in reldep.compare(x, y, z).warnings}
    assert "RepeatedRowsWarning" in kinds
    assert "CopyWarning" not in kinds
