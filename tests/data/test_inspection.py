"""Suspicious values are named: codes for missing, twins among labels, copies, mixed units."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from reldep.data.copies import check_values_outside, near_copies, same_columns
from reldep.data.dataset import read_dataset
from reldep.data.inspection import suspected_codes
from reldep.data.objects import read_variable

RNG = np.random.default_rng(8)
AGE = RNG.integers(20, 90, 60).astype(float)


def with_code(code: float, times: int = 3) -> np.ndarray:
    column = AGE.copy()
    column[:times] = code
    return column


@pytest.mark.parametrize("code", [-999, -99, -9, -1, 999, 9999, 99999, 9.97e36, -1e20, 2147483647])
def test_a_code_apart_from_the_values_is_suspected(code):
    assert suspected_codes(with_code(code)) == [(code, 3)]
    dataset = read_dataset({"age": with_code(code), "z": RNG.normal(size=60)})
    words = [str(caution) for caution in dataset.cautions]
    assert len(words) == 1
    assert f"{float(code):.15g} in age (3 times)" in words[0]
    assert "pass na=" in words[0]


def test_two_codes_in_one_column_are_both_suspected():
    column = with_code(-999)
    column[10:12] = -99
    assert suspected_codes(column) == [(-999, 3), (-99, 2)]
    column[20] = 9999
    assert (9999, 1) in suspected_codes(column)


@pytest.mark.parametrize(
    "column",
    [
        AGE,
        RNG.normal(size=60),
        RNG.choice([-1.0, 1.0], 60),
        RNG.choice([-1.0, 0.0, 1.0], 60),
        RNG.integers(-5, 6, 60).astype(float),
        RNG.normal(-1000, 300, 60).round(),
        np.append(RNG.integers(0, 120, 59), 99).astype(float),
        np.exp(RNG.normal(0, 3, 60)),
        np.arange(95.0, 155.0),
        np.full(60, np.nan),
    ],
)
def test_ordinary_columns_are_not_suspected(column):
    assert suspected_codes(column) == []


def test_codes_in_many_columns_are_one_caution():
    block = np.column_stack([with_code(-999, times) for times in range(1, 9)])
    dataset = read_dataset({"block": block, "z": RNG.normal(size=60)})
    assert len(dataset.cautions) == 1
    assert "column '0' of block (once)" in str(dataset.cautions[0])
    assert "and 3 more" in str(dataset.cautions[0])


def test_labels_that_differ_in_capitals_or_spaces_are_named():
    sex = ["Male", "male", "female", "Female "] * 15
    words = str(read_dataset({"sex": sex, "z": AGE}).cautions[0])
    assert "differ only in capitals, spaces or the zeros of a number" in words
    assert "('Male', 'male'; 'female', 'Female ')" in words


def test_a_label_that_often_means_missing_is_named():
    smoker = ["yes", "no", "?", "yes"] * 15
    words = str(read_dataset({"smoker": smoker, "z": AGE}).cautions[0])
    assert "has the label '?' (15 times), which often stands for a missing value" in words


def test_a_source_inside_a_target_is_refused_by_name():
    frame = pl.DataFrame({"bmi": RNG.normal(size=60), "sex": ["f", "m"] * 30})
    read = {"s": frame["sex"], "both": frame, "copy": frame["sex"], "bmi": frame["bmi"]}
    variables = {name: read_variable(data, name) for name, data in read.items()}
    same = same_columns(variables)
    with pytest.raises(ValueError, match="target 'both' holds 'sex'"):
        check_values_outside(same, "s", ["both"])
    with pytest.raises(ValueError, match="target 'copy' is the source itself"):
        check_values_outside(same, "s", ["copy"])
    check_values_outside(same, "s", ["bmi"])


def test_long_columns_are_the_same_only_if_every_row_is():
    values = RNG.normal(size=(1000, 2))
    nearly = values[:, 0].copy()
    nearly[1] += 1e-9
    read = {"block": values, "copy": values[:, 0], "nearly": nearly, "labels": ["a", "b"] * 500}
    variables = {name: read_variable(data, name) for name, data in read.items()}
    assert same_columns(variables) == [{"block": "0", "copy": "copy"}]


DISTINCT = RNG.permutation(60) + 20.0


@pytest.mark.parametrize(
    ("target", "is_copy"),
    [
        (DISTINCT * 365.25, True),
        (-DISTINCT, True),
        (np.log(DISTINCT), True),
        (DISTINCT + 2 * RNG.normal(size=60), False),
        (DISTINCT[::-1].copy(), False),
    ],
)
def test_a_target_that_determines_the_source_is_named(target, is_copy):
    variables = {"age": read_variable(DISTINCT, "age"), "t": read_variable(target, "t")}
    found = near_copies(variables, "age", ["t"])
    assert list(found) == ["t"] * is_copy
    assert all("'t' determines 'age' exactly" in str(caution) for caution in found.get("t", ()))


def test_labels_in_other_words_are_copies_and_finer_ones_determine_the_source():
    sex = np.array(["f", "m"] * 30)
    words = {"f": "woman", "m": "man"}
    finer = np.array([f"{s}{i % 4 // 2}" for i, s in enumerate(sex)])
    targets = {"words": [words[s] for s in sex], "numbers": (sex == "m") + 1, "finer": finer}
    targets["other"] = np.array(["f", "m", "m"] * 20)
    read = {"sex": sex, **targets}
    variables = {name: read_variable(data, name) for name, data in read.items()}
    assert list(near_copies(variables, "sex", list(targets))) == ["words", "numbers", "finer"]


def test_zeros_below_a_column_of_weights_are_suspected():
    weights = np.r_[np.linspace(48.0, 92.0, 40), 0.0, 0.0, 0.0]
    assert suspected_codes(weights) == [(0.0, 3)]
    # Once may be a value; counts, shares and scales of few levels have zeros of their own.
    assert suspected_codes(np.r_[np.linspace(48.0, 92.0, 40), 0.0]) == []
    assert suspected_codes(np.r_[np.arange(1.0, 40.0), 0.0, 0.0]) == []
    assert suspected_codes(np.r_[np.repeat([10.0, 15.0, 20.0], 9), 0.0, 0.0]) == []


def test_what_was_measured_once_for_several_rows_is_no_copy_of_anything():
    mouse = np.repeat(np.arange(15), 4)
    age, weight = RNG.normal(size=(2, 15))[:, mouse]
    rounded = {"age": np.round(age, 1), "weight": weight}
    variables = {name: read_variable(values, name) for name, values in rounded.items()}
    assert len(np.unique(rounded["age"])) < 15
    assert not near_copies(variables, "age", ["weight"])
    recoded = {"dose": mouse % 3, "arm": (mouse % 3) * 10 + 5}
    variables = {name: read_variable(values, name) for name, values in recoded.items()}
    assert near_copies(variables, "dose", ["arm"])
