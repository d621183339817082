"""Survival(time, event): what is understood, and what is refused rather than guessed."""

import ast
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep

M = 60


def patients(seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, M))
    lifetime, left = rng.exponential(np.exp(-x)), rng.exponential(np.exp(-z))
    frame = {"days": np.minimum(lifetime, left).round(4), "x": x, "z": z}
    return pd.DataFrame(frame), lifetime <= left


def events_of(marks, **options):
    """Read events with plain times; give them back as 0 and 1."""
    survival = reldep.Survival(range(1, len(marks) + 1), marks, **options)
    return [None if one is None else int(one.event) for one in survival]


ONE_MEANING = [(True, False), (1, 0), (1.0, 0.0), ("1", "0"), ("TRUE", "FALSE"), ("T", "F")]
ONE_MEANING += [("yes", "no"), ("Yes ", " NO"), ("dead", "alive"), ("Deceased", "Living")]
ONE_MEANING += [("1:DECEASED", "0:LIVING"), ("event", "censored"), (b"dead", b"alive")]


@pytest.mark.parametrize(("event", "censored"), ONE_MEANING)
def test_marks_with_one_meaning_are_understood(event, censored):
    assert events_of([event, None, censored, censored, event]) == [1, None, 0, 0, 1]


TWO_MEANINGS = """
1, 2, 1 -> event is '2' in row 1, which can be an event or.*event_value=2
0, 1, 2 -> event is '2' in row 2, which can be an event or a censored time
'A', 'B', 'A' -> event is 'A' in row 0.*values are 'A', 'B'.*event_value='A'
'dead', 'unknown', 'alive' -> event is 'unknown' in row 1
'1:LIVING', '0:DECEASED', '0:LIVING' -> event is '1:LIVING' in row 0
0.5, 1, 0 -> event is '0.5' in row 0
1, None, 1 -> marks 2 events and no censored time, and is missing in 1 rows
"""


@pytest.mark.parametrize("line", TWO_MEANINGS.strip().splitlines())
def test_marks_with_two_meanings_are_refused(line):
    marks, message = line.split(" -> ")
    with pytest.raises(ValueError, match=message):
        events_of(ast.literal_eval(marks))


@pytest.mark.parametrize("name", ["censored", "cens", "is_alive", "Survived"])
def test_a_column_that_asks_the_opposite_by_its_name_is_refused(name):
    marks = pd.Series([1, 0, 1, 1], name=name)
    with pytest.raises(ValueError, match=f"{name} contains 1, 0, and by its name.*event_value=0"):
        events_of(marks)
    assert events_of(marks, event_value=0) == [0, 1, 0, 0]
    words = pd.Series(["dead", "alive"], name=name)
    assert events_of(words) == [1, 0]


def test_the_user_can_say_which_value_marks_the_event():
    assert events_of([1, 2, 2], event_value=2) == [0, 1, 1]
    assert events_of(["A", "B", None], event_value="b") == [0, 1, None]
    assert events_of([0, 1, 2], event_value=1) == [0, 1, 0]
    with pytest.raises(ValueError, match="event is nowhere '3'; its values are '1', '2'"):
        events_of([1, 2], event_value=3)


def test_censored_rows_without_a_time_are_not_dropped_in_silence():
    """As in tables that only have the days until death."""
    with pytest.raises(ValueError, match="time is missing in all 2 rows that are censored"):
        reldep.Survival([10, None, 20, None], [1, 0, 1, 0])


def test_spans_are_days():
    spans = [datetime.timedelta(days=2), datetime.timedelta(hours=12)]
    assert [one.time for one in reldep.Survival(spans, [1, 0])] == [2, 0.5]


def test_lifetimes_of_pandas_are_matched_by_index():
    frame, event = patients()
    frame["died"] = event
    shuffled = frame.sample(frac=1, random_state=0)
    plain = reldep.compare(reldep.Survival(frame["days"], frame["died"]), frame["x"], frame["z"])
    moved = reldep.compare(
        frame["x"], reldep.Survival(shuffled["days"], shuffled["died"]), frame["z"]
    )
    direct = reldep.compare(frame["x"], reldep.Survival(frame["days"], frame["died"]), frame["z"])
    assert moved.pvalue == pytest.approx(direct.pvalue)
    assert plain.n_observations == M
    with pytest.raises(ValueError, match="time and event have different indexes"):
        reldep.Survival(frame["days"], shuffled["died"])


def written(tmp_path, marks, name="died"):
    frame, event = patients()
    frame[name] = [marks[int(one)] for one in event]
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv", frame, event


@pytest.mark.parametrize("marks", [(0, 1), ("no", "yes"), ("FALSE", "TRUE"), ("alive", "Dead")])
def test_a_file_gives_the_lifetimes_of_its_columns(tmp_path, marks):
    path, frame, event = written(tmp_path, marks)
    table = reldep.read(path, survival="days,died")
    assert "died" not in table.columns
    assert {one.name: one.kernel for one in table.describe()}["days"] == "LogRank"
    own = reldep.Survival(frame["days"], event)
    expected = reldep.compare(own, frame["x"], frame["z"])
    assert reldep.compare("days", "x", "z", data=table).pvalue == pytest.approx(expected.pvalue)
    kept = reldep.compare("days", "x", "z", data=table.restricted("x < 1"))
    some = (frame["x"] < 1).to_numpy()
    part = reldep.compare(
        reldep.Survival(frame["days"][some], event[some]), frame["x"][some], frame["z"][some]
    )
    assert kept.pvalue == pytest.approx(part.pvalue)


def test_a_file_with_two_meanings_is_refused_by_line_with_the_way_out(tmp_path):
    path, frame, event = written(tmp_path, (1, 2))
    table = reldep.read(path, survival="days,died")
    with pytest.raises(ValueError, match="survival='days,died=2'"):
        table.take("days")
    table = reldep.read(path, survival="days,died=2")
    assert [one.event for one in table["days"]] == event.tolist()
    frame.loc[3, "days"] = -1
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match="days is -1 in line 5; pass times since the start"):
        reldep.read(path, survival="days,died=2").take("days")


def test_lifetimes_do_not_stand_beside_other_columns(tmp_path):
    path, _, _ = written(tmp_path, (0, 1))
    table = reldep.read(path, survival="days,died")
    with pytest.raises(ValueError, match=r"column .days. of .* contains lifetimes"):
        reldep.compare("days,x", "x", "z", data=table)
    with pytest.raises(ValueError, match="column 'died' is part of the lifetimes in 'days'"):
        table.select("days,died")


def test_a_time_without_its_event_gives_a_caution(tmp_path):
    path, _, _ = written(tmp_path, (0, 1))
    said = str(reldep.compare("days", "x", "z", data=path).warnings[0])
    assert said.startswith("'days' may be censored by 'died'")
    assert said.endswith("pass `survival='days,died'` to reldep.read().")
    table = reldep.read(path, survival="days,died")
    assert not reldep.compare("days", "x", "z", data=table).warnings
    assert not reldep.compare("x", "z", "died", data=path).warnings


def test_a_struct_of_times_and_events_is_lifetimes():
    frame, event = patients()
    column = pl.DataFrame({"time": frame["days"].to_numpy(), "event": event}).to_struct("os")
    expected = reldep.hsic(reldep.Survival(frame["days"], event), frame["x"])
    assert reldep.hsic(column, frame["x"].to_numpy()) == pytest.approx(expected)
