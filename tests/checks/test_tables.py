"""What the other columns of a table tell: times, subjects, events, the order of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reldep
from cautioned import cautioned
from reldep.exceptions import RepeatedRowsWarning

# A series in the manner of Longley (1967): three walks by year.
LONGLEY = pd.DataFrame(
    100 + np.cumsum(np.random.default_rng(2).normal(1.0, 0.5, (16, 3)), axis=0),
    columns=["employed", "product", "people"],
).assign(year=range(1947, 1963))
SLOTS = ("source", "first", "second")
ASKED = ("employed", "product", "people")


def said(answer):
    return [f"{type(one).__name__}: {one}" for one in answer.warnings]


def written(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture(params=["frame", "file", "date", "index", "dates as index"])
def series(request, tmp_path):
    dated = LONGLEY.assign(year=pd.to_datetime(LONGLEY["year"].astype(str)))
    return {
        "frame": lambda frame, _: frame,
        "file": lambda frame, _: written(frame, tmp_path),
        "date": lambda frame, dated: dated,
        "index": lambda frame, _: frame.set_index("year"),
        "dates as index": lambda frame, dated: dated.set_index("year"),
    }[request.param], dated


def test_a_short_series_is_noticed_by_its_years(series):
    make, dated = series
    answer = reldep.compare(*ASKED, data=make(LONGLEY, dated))
    assert said(answer)[0].startswith("DependentRowsWarning")
    marked = reldep.compare(*ASKED, data=make(LONGLEY, dated), max_lag="auto")
    assert not any("DependentRows" in one for one in said(marked))


def test_a_lag_needs_rows_in_the_order_of_time(series):
    make, dated = series
    order = np.random.default_rng(0).permutation(16)
    shuffled = make(LONGLEY.iloc[order], dated.iloc[order])
    with pytest.raises(
        ValueError, match=r"`max_lag=1` needs rows in the order of time, but 'year'"
    ):
        reldep.compare(*ASKED, data=shuffled, max_lag=1)
    # Backwards is an order, too.
    reldep.compare(*ASKED, data=make(LONGLEY[::-1], dated[::-1]), max_lag="auto")


def test_a_series_that_is_not_sorted_is_noticed_by_its_years(series):
    make, dated = series
    order = np.random.default_rng(0).permutation(16)
    answer = reldep.compare(*ASKED, data=make(LONGLEY.iloc[order], dated.iloc[order]))
    assert said(answer)[0].startswith("DependentRowsWarning: Rows are a series by 'year'")
    assert "sort the rows by 'year'" in said(answer)[0]


def test_dates_written_as_strings_are_dates():
    order = np.random.default_rng(0).permutation(16)
    written = LONGLEY.assign(date=[f"{year}-12-31" for year in LONGLEY["year"]]).drop(
        columns="year"
    )
    assert any("series by 'date'" in one for one in said(reldep.compare(*ASKED, data=written)))
    with pytest.raises(ValueError, match="'date' is not in order"):
        reldep.compare(*ASKED, data=written.iloc[order], max_lag="auto")


def test_series_in_memory_need_it_too():
    order = np.random.default_rng(0).permutation(16)
    dated = LONGLEY.set_index(pd.date_range("1947", periods=16, freq="YS")).iloc[order]
    with pytest.raises(ValueError, match="`max_lag='auto'` needs rows in the order of time"):
        reldep.compare(*(dated[name] for name in ASKED), max_lag="auto")
    with pytest.raises(ValueError, match="'x' is not in order"):
        reldep.dependence(dated.index.to_numpy(), dated["people"].to_numpy(), max_lag=1)


def test_a_date_of_birth_is_not_the_time_of_a_row(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("xyz"))
    frame["date_of_birth"] = pd.date_range("1990", periods=40)[rng.permutation(40)]
    reldep.compare("x", "y", "z", data=frame, max_lag=1)


def test_nothing_is_said_of_arguments_that_nobody_passed(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("wxyz")).sort_values("w")
    frame["y"] += 2 * frame["x"]
    frame["z"] += frame["x"]
    frame["PID"] = rng.integers(7, size=60)
    assert said(reldep.compare("x", "y", "z", data=frame)) == []


def test_rows_that_were_dropped_are_a_fact(rng):
    x = rng.normal(size=60)
    y, z = x + 0.5 * rng.normal(size=60), x + rng.normal(size=60)
    y[:3] = np.nan
    answer = reldep.compare(x, y, z, missing="drop")
    assert said(answer) == []
    assert "3 incomplete" in answer.summary()


def test_cautions_come_in_order_of_weight(rng):
    x = rng.normal(size=18)
    answer = reldep.compare(x, 2 * x, rng.normal(size=18))
    weights = [one.weight for one in answer.warnings]
    assert len(weights) > 1
    assert weights == sorted(weights, reverse=True)
    assert "Copy" in said(answer)[0]


def interleaved(rng, m=60):
    mouse = np.tile(np.arange(15), 4)
    shared = rng.normal(size=15)[mouse]
    x, y, z = shared + rng.normal(size=(3, m))
    return pd.DataFrame({"mouse": mouse, "x": x, "y": y, "z": z})


def test_subjects_that_come_several_times_are_said(rng, tmp_path):
    frame = interleaved(rng)
    words = "'mouse' has 15 different values in 60 rows; if rows with the same one belong together"
    for data in (frame, written(frame, tmp_path)):
        with cautioned(RepeatedRowsWarning, words):
            reldep.compare("x", "y", "z", data=data)
        with cautioned(RepeatedRowsWarning, words):
            reldep.groups(
                "x", "y", "half", data=frame.assign(half=np.arange(60) % 2), n_simulations=400
            )
        with cautioned(RepeatedRowsWarning, words):
            reldep.compare("x", "y", "z", data=reldep.read(data, id="mouse"))
        clustered = reldep.compare("x", "y", "z", clusters="mouse", data=data)
        assert not any("RepeatedRows" in one for one in said(clustered))
    columns = [frame[name] for name in "xyz"]
    with cautioned(RepeatedRowsWarning, words):
        reldep.compare(*(column.set_axis(frame["mouse"]) for column in columns))


def test_subjects_of_one_row_each_are_not(rng):
    frame = interleaved(rng).assign(mouse=[f"m{i}" for i in range(60)])
    assert not any("RepeatedRows" in one for one in said(reldep.compare(*"xyz", data=frame)))
