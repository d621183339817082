"""Columns whose kind the user states, and those that are nearly dates."""

from __future__ import annotations

from datetime import date

import pytest

import reldep

STATED = "a,b,day,c\n1.5,low,2024-01-31,true\n2.5,3,unknown,false\n?x?,4,2024-02-02,true\n"


def test_stated_kinds_make_other_cells_missing_and_say_which(write):
    table = reldep.read(write("x.csv", STATED), numbers="a,b,c", date_columns="day")
    assert table.read(["a", "b", "c"]).to_dict(as_series=False) == {
        "a": [1.5, 2.5, None],
        "b": [None, 3.0, 4.0],
        "c": [1, 0, 1],
    }
    assert table.read(["day"])["day"].to_list() == [date(2024, 1, 31), None, date(2024, 2, 2)]
    said = [str(caution) for caution in table.notes_about(["a", "b", "day"])]
    assert "1 of 3 cells is not a number and was read as missing: '?x?' in line 4" in said[0]
    assert "'low' in line 2" in said[1]
    assert "is not a date and was read as missing: 'unknown' in line 3" in said[2]


def test_stated_numbers_follow_the_marks_of_most_cells(write):
    text = 'a\n1.5\n2.25\n"32,1"\n3.125\n'
    table = reldep.read(write("x.csv", text), numbers="a")
    assert table.read(["a"])["a"].to_list() == [1.5, 2.25, None, 3.125]
    assert "'32,1' in line 4" in str(table.notes_about(["a"])[0])


def test_compact_dates_and_cycles_can_be_stated(write):
    path = write("x.csv", "day\n20240131\n20240202\n")
    stated = reldep.read(path, date_columns="day")
    assert stated.read(["day"])["day"].to_list() == [date(2024, 1, 31), date(2024, 2, 2)]
    weekly = reldep.read(path, date_columns="day", dates="weekday")
    assert weekly.columns["day"] == "place in a cycle"


def test_points_between_thousands_are_read_as_such_where_the_decimal_mark_is_stated(write):
    path = write("x.csv", "a;b;c\n1.234;2,5;1.5\n2.345;3,5;2.5\n7.123;4,5;3.25\n")
    for options in ({"decimal": ","}, {"decimal": ",", "thousands": "."}, {"thousands": "."}):
        table = reldep.read(path, **options)
        assert table.read(["a"])["a"].to_list() == [1234, 2345, 7123]
        assert "'.' read as the thousands separator" in str(table.notes_about(["a"])[0])
        assert table.read(["b"])["b"].to_list() == [2.5, 3.5, 4.5]
        # No number has thousands of one digit.
        assert table.read(["c"])["c"].to_list() == [1.5, 2.5, 3.25]
    doubted = reldep.read(path, numbers="a")
    with pytest.raises(ValueError, match="may be a decimal mark or a thousands separator"):
        doubted.read(["a"])
