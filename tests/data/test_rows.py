"""Rows keep their place and their name through filters and subsets."""

from __future__ import annotations

import pickle

import numpy as np

from reldep.data.rows import Rows


def test_rows_without_labels_are_named_by_their_position_from_0() -> None:
    rows = Rows.of(40).take([30, 20, 31])
    assert [rows.name(i) for i in range(3)] == ["row 30", "row 20", "row 31"]
    assert rows.values() == [30, 20, 31]


def test_rows_of_a_file_keep_their_lines_when_some_are_taken_twice_over() -> None:
    lines = Rows.labelled(np.arange(2, 42), "line").take(np.arange(20, 40)).take([10, 0])
    assert lines.name(0) == "line 32"
    assert lines.values() == [32, 22]
    np.testing.assert_array_equal(lines.positions, [30, 20])


def test_identifiers_may_be_any_values() -> None:
    rows = Rows.labelled(["p7", 3, None], "patient")
    assert rows.take([2, 0]).values() == [None, "p7"]
    assert rows.name(1) == "patient 3"


def test_many_rows_are_cut_short() -> None:
    assert Rows.labelled(list("abcdefg"), "id").names(range(7)) == "id a, b, c, d, e and 2 more"
    assert Rows.labelled(np.array([5, 9]), "line").names([0, 1]) == "lines 5, 9"


def test_rows_survive_the_way_to_another_process() -> None:
    back = pickle.loads(pickle.dumps(Rows.labelled(["a", "b"], "id")))  # noqa: S301
    assert back.name(1) == "id b"
    assert len(back) == 2
