"""A file or a frame and the names of columns become blocks."""

from __future__ import annotations

import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep
from reldep.data.dataset import read_dataset
from reldep.data.objects import read_variable

COLUMNS = {
    "id": ["m1", "m2", "m3", "m4"],
    "diet": ["sun", "fish", "sun", "fish"],
    "C14": [0.1, 0.2, 0.3, 0.4],
    "C16": [1.0, 2.0, 3.0, 4.0],
    "cage": [1, 1, 2, 2],
}
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
    "mapping": dict,
    "arrays": lambda columns: {name: np.array(values) for name, values in columns.items()},
}


@pytest.fixture
def path(tmp_path):
    pl.DataFrame(COLUMNS).write_csv(tmp_path / "mice.csv")
    return tmp_path / "mice.csv"


def values(block):
    return read_variable(block, "v").values


@pytest.mark.parametrize("kind", [*MAKERS, "path", "table"])
def test_a_table_of_any_kind_gives_the_same_blocks(kind, path):
    sources = {"path": lambda: str(path), "table": lambda: reldep.read(path)}
    data = sources[kind]() if kind in sources else MAKERS[kind](COLUMNS)
    table = data if kind == "table" else reldep.read(data)
    table = table.restricted("C14 > 0.1")
    blocks = table.take(["diet", "lipids=C*"], several=True)
    assert list(blocks) == ["diet", "lipids"]
    np.testing.assert_array_equal(values(blocks["lipids"]), [[0.2, 2], [0.3, 3], [0.4, 4]])
    assert read_variable(blocks["diet"], "v").values() == ["fish", "sun", "fish"]
    np.testing.assert_array_equal(table.rows.positions, [1, 2, 3])
    assert table.rows.name(0) == ("line 3" if kind in sources else "row 1")
    named = table.restricted("diet = 'fish'").named_by("id")
    assert [named.rows.name(i) for i in range(2)] == ["id m2", "id m4"]


def test_the_index_of_a_frame_names_its_rows():
    frame = pd.DataFrame(COLUMNS).set_index("id")
    assert reldep.read(frame, where="cage = 2").rows.name(1) == "id m4"
    dataset = read_dataset(reldep.read(frame).take("C*", several=True))
    assert dataset.rows.values() == COLUMNS["id"]


def test_labels_are_labels_where_the_user_says_so(path):
    for data in (path, pl.DataFrame(COLUMNS), pd.DataFrame(COLUMNS)):
        block = reldep.read(data, categories="cage").take("cage")["cage"]
        assert read_variable(block, "v").values() == ["1", "1", "2", "2"]


@pytest.mark.parametrize("kind", ["frame", "path"])
@pytest.mark.parametrize(
    ("rule", "turns"), [("hour", [0.25, 0.5]), ("weekday", [2.25 / 7, 6.5 / 7])]
)
def test_dates_can_be_places_in_a_cycle(tmp_path, kind, rule, turns):
    moments = [datetime.datetime(2024, 1, 31, 6), datetime.datetime(2024, 2, 4, 12)]
    frame = pl.DataFrame({"visit": moments, "x": [1, 2]})
    frame.write_csv(tmp_path / "v.csv", datetime_format="%Y-%m-%d %H:%M")
    data = frame if kind == "frame" else tmp_path / "v.csv"
    table = reldep.read(data, dates={"visit": rule})
    angle = 2 * np.pi * np.array(turns)
    np.testing.assert_allclose(
        values(table.take("visit")["visit"]), np.column_stack([np.cos(angle), np.sin(angle)])
    )
    assert "on a circle" in table.notes_about(["visit"])[0]
