"""Checks of single variables: where they speak, and where nothing is amiss."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import reldep
from reldep.data.inspection import suspected_codes
from reldep.kernels import Gaussian, Text

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
RNG = np.random.default_rng(8)
AGE = RNG.integers(20, 90, 60).astype(float)
WORDS = ["".join(RNG.choice(list("abcdefgh"), 5)) for _ in range(200)]


def said(data, kernel="auto"):
    """Ask about data and noise; return the kinds and words of the cautions."""
    other = np.random.default_rng(1).normal(size=np.shape(data)[0])
    answer = reldep.dependence(data, other, kernel=(kernel, "auto"), names=("v", "other"))
    return {type(one).__name__.removesuffix("Warning"): str(one) for one in answer.warnings}


def with_code(code, times=3):
    column = AGE.copy()
    column[:times] = code
    return column


def texts(sizes):
    return [" ".join(RNG.choice(WORDS, size)) for size in sizes]


FIRES = {
    "a number for missing": (with_code(-999), "MissingCodes", "-999 in 'v' may mean missing"),
    "a label for missing": (["yes", "no", "?", "yes"] * 15, "MissingCodes", "`na='?'`"),
    "codes": (RNG.integers(0, 10, 200), "Kind", "may be codes without an order: 'v' (0 to 9)"),
    "twins": (["Male", "male", "f", "F "] * 15, "Kind", "('Male', 'male'; 'f', 'F ')"),
    "ranges": ([f"{i % 25}-{i % 25 + 9}" for i in range(75)], "Kind", "25 labels such as"),
    "block": (RNG.normal(size=(30, 3)) * [1.0, 50.0, 40.0], "Scale", "'column 1' outweighs"),
    "frame": (
        pd.DataFrame({"age": 15 * RNG.normal(size=40), "dose": 0.01 * RNG.normal(size=40)}),
        "Scale",
        "In 'v', 'age' outweighs 'dose' (standard deviation × ",
    ),
    "counts": (
        sp.csr_array(RNG.poisson(RNG.integers(1, 30, (60, 1)) * RNG.random(40))),
        "Scale",
        "lies in the length of its rows",
    ),
    "a far value": (np.append(RNG.normal(size=39), 1e5), "Scale", "in row 39"),
}


@pytest.mark.parametrize(("data", "kind", "words"), FIRES.values(), ids=FIRES)
def test_what_is_odd_about_a_variable_is_said_once(data, kind, words):
    assert words in said(data)[kind]


@pytest.mark.parametrize(
    "data",
    [
        RNG.poisson(3.0, 200),
        RNG.binomial(4, 0.5, 200) + 1,
        RNG.integers(0, 2, 200),
        RNG.integers(0, 10, 30),
        RNG.integers(18, 90, 200),
        RNG.normal(size=(30, 3)),
        RNG.normal(size=(30, 40)) * np.geomspace(1, 100, 40),
        RNG.standard_cauchy(100),
        sp.csr_array(RNG.poisson(0.3, (60, 80))),
        RNG.permutation(["a", "b", "c"] * 20),
    ],
    ids=["counts", "ratings", "0/1", "few", "ages", "block", "wide", "cauchy", "sparse", "labels"],
)
def test_nothing_is_said_where_nothing_is_amiss(data):
    assert not {"MissingCodes", "Kind", "Scale", "Bandwidth"} & set(said(data))


def test_a_kernel_that_was_chosen_is_not_questioned():
    assert "Kind" not in said(RNG.integers(0, 10, 200), "laplace")
    assert "Kind" not in said(RNG.integers(0, 10, 200), "delta")
    assert "Scale" not in said(RNG.normal(size=(30, 2)) * [1, 50], "standardized")


def test_a_median_that_jumps_or_is_0_is_named_for_those_who_ask_for_the_median():
    rng = np.random.default_rng(0)
    # 50.5% of the distances of this law are at most 1, or 0.3 standard errors more than half.
    x = rng.binomial(10, 0.4, size=100).astype(float)
    assert "may jump from sample to sample" in said(x, Gaussian())["Bandwidth"]
    assert "Bandwidth" not in said(x)
    # Four levels: 10/16 of the distances are at most 1, and 4/16 are 0.
    assert "Bandwidth" not in said(rng.integers(0, 4, size=100).astype(float), Gaussian())
    rare = np.where(np.arange(100) < 10, rng.normal(size=100), 0.0)
    assert "More than half of the distances in 'v' are 0" in said(rare, Gaussian())["Bandwidth"]


def test_texts_of_unlike_lengths_repeated_or_prepared_differently_are_named():
    alike = texts([20] * 40)
    assert not set(said(alike, "text")) & {"Scale", "RepeatedRows"}
    assert "10 different texts in 40 rows" in said(alike[:10] * 4, "text")["RepeatedRows"]
    assert "Texts of 'v' have" in said(texts(RNG.choice([4, 60], 40)), "text")["Scale"]
    numbers = RNG.normal(size=40)
    kernels = ("auto", Text("en"), Text())
    answer = reldep.compare(numbers, alike, texts([20] * 40), kernel=kernels)
    assert "as stems ('first') and words ('second')" in " ".join(map(str, answer.warnings))
    same = reldep.compare(numbers, alike, texts([20] * 40), kernel=("auto", Text(), Text()))
    assert "prepared" not in " ".join(map(str, same.warnings))


@pytest.mark.parametrize("code", [-999, -99, -9, -1, 999, 9999, 99999, 9.97e36, -1e20, 2147483647])
def test_a_code_apart_from_the_values_is_suspected(code):
    assert suspected_codes(with_code(code)) == [(code, 3)]


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
    words = said(block)["MissingCodes"]
    assert "column '0' of 'v'" in words
    assert "and 3 more" in words


def test_zeros_below_a_column_of_weights_are_suspected():
    weights = np.r_[np.linspace(48.0, 92.0, 40), 0.0, 0.0, 0.0]
    assert suspected_codes(weights) == [(0.0, 3)]
    # Once may be a value; counts, shares and scales of few levels have zeros of their own.
    assert suspected_codes(np.r_[np.linspace(48.0, 92.0, 40), 0.0]) == []
    assert suspected_codes(np.r_[np.arange(1.0, 40.0), 0.0, 0.0]) == []
    assert suspected_codes(np.r_[np.repeat([10.0, 15.0, 20.0], 9), 0.0, 0.0]) == []
