"""Strings in Python: numbers in disguise are numbers, doubtful ones are no labels by themselves."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep
from reldep.data.dataset import read_dataset
from reldep.data.objects import read_variable

M = 40
RNG = np.random.default_rng(3)
X = RNG.normal(size=M)
FAT = np.round(20 + 5 * X + RNG.normal(size=M), 1)
Z = RNG.normal(size=M)
MAKERS = {
    "list": list,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "frame": lambda values: pl.DataFrame({"fat": values}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("write", "said"),
    [
        (str, "strings were read as the numbers that they show"),
        (lambda v: f"{v}%", "percent signs removed"),
        (lambda v: f"{v:.1f}".replace(".", ","), "',' read as the decimal mark"),
        (lambda v: f"€ {v:.2f}", "the currency '€' removed"),
        (lambda v: f"{v} mg/dL", "the unit 'mg/dL' removed"),
        (lambda v: f" {v} ".replace("-", "−"), "strings were read|special minus"),
    ],
)
def test_strings_of_numbers_give_the_answer_of_the_numbers(make, write, said):
    written = make([write(value) for value in FAT.tolist()])
    variable = read_variable(written, "fat")
    np.testing.assert_allclose(variable.values.ravel(), FAT)
    answer = reldep.compare(X, written, Z)
    assert re.search(said, " ".join(answer.provenance.notes))
    assert answer.estimate == pytest.approx(reldep.compare(X, FAT, Z).estimate)


DOUBTFUL = {
    "limits": (["<0.5", *map(str, FAT[1:])], "has limits, which are not values: '<0.5' .row 0."),
    "words": (["low", *map(str, FAT[1:])], "contains numbers and words: 'low' .row 0."),
    "units": (["3 mg", "5 g"] * (M // 2), "has different units"),
    "percent": (["30%", "0.4"] * (M // 2), "has different units"),
    "marks": (["1,234", "5,678"] * (M // 2), "has ',', which may be a decimal mark or a thousands"),
    "codes": ([f"{i:03}" for i in range(M // 2)] * 2, "starts with a zero"),
    "levels": (
        [f"s{i // 2 if i < 2 else i}" for i in range(M)],
        "has 39 different strings in 40 observations",
    ),
}


@pytest.mark.parametrize(("values", "message"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_strings_are_no_labels_unless_the_user_says_so(values, message):
    with pytest.raises(ValueError, match=rf"first .*{message}.*kernel='delta'"):
        reldep.compare(X, values, Z)
    # Nearly all labels differ in one case, so that the measure cannot be normalised.
    raw = {"measure": "hsic", "variance": "fixed-kernel"}
    told = reldep.compare(X, values, Z, kernel=("auto", "delta", "auto"), **raw)
    categorical = reldep.compare(X, pd.Series(values, dtype="category"), Z, **raw)
    assert told.estimate == categorical.estimate


DAYS = ["2024-01-31", "2024-02-02", "2024-02-05"]


@pytest.mark.parametrize(
    "days",
    [
        DAYS,
        [datetime.date.fromisoformat(day) for day in DAYS],
        [datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in DAYS],
        np.array(DAYS, dtype="M8[D]"),
        np.array(DAYS, dtype="M8[ns]"),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Berlin"),
        pl.Series(DAYS).str.to_date(),
        pl.DataFrame({"d": DAYS}).with_columns(pl.col("d").str.to_datetime("%Y-%m-%d")),
        ["31.01.2024", "2.2.2024", "5.2.2024"],
        ["1/31/2024", "2/2/2024", "2/5/2024"],
    ],
    ids=str,
)
def test_dates_are_days_since_the_first(days):
    variable = read_variable(days, "v")
    np.testing.assert_allclose(variable.values.ravel(), [0, 2, 5])
    assert "days since the first, 2024-01-3" in str(variable.notes[0])


def test_codes_the_user_names_are_missing_in_numbers_and_labels():
    frame = pl.DataFrame({"x": [-999.0, 1, 2, 3, 4, 5], "s": ["a", "b", "?", "a", "b", "a"]})
    table = reldep.read(frame, na=(-999, "?"))
    dataset = read_dataset(table.take("both=x,s"), missing="drop")
    assert dataset.rows.positions.tolist() == [1, 3, 4, 5]
