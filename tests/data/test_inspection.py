"""Suspicious values are named: codes for missing, twins among labels, copies, mixed units."""

from __future__ import annotations

import numpy as np
import pytest

from reldep.data.dataset import read_dataset
from reldep.data.inspection import suspected_codes

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
    assert "pass `na=" in words[0]


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


def test_zeros_below_a_column_of_weights_are_suspected():
    weights = np.r_[np.linspace(48.0, 92.0, 40), 0.0, 0.0, 0.0]
    assert suspected_codes(weights) == [(0.0, 3)]
    # Once may be a value; counts, shares and scales of few levels have zeros of their own.
    assert suspected_codes(np.r_[np.linspace(48.0, 92.0, 40), 0.0]) == []
    assert suspected_codes(np.r_[np.arange(1.0, 40.0), 0.0, 0.0]) == []
    assert suspected_codes(np.r_[np.repeat([10.0, 15.0, 20.0], 9), 0.0, 0.0]) == []
