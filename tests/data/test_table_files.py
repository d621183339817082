"""Parquet, Arrow, Excel and NPZ; files that are missing, damaged, or not what they say."""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma

import numpy as np
import polars as pl
import pytest

import reldep
from spreadsheets import sheets

FRAME = pl.DataFrame(
    {
        "id": ["m1", "m2", "m3"],
        "diet": pl.Series(["fish", "sun", "sun"], dtype=pl.Categorical),
        "C14": [0.5, float("nan"), None],
        "n": [1, 2, 3],
        "ko": [True, False, True],
        "born": [datetime.date(2024, 1, 1)] * 3,
        "list": [[1], [2], [3]],
    }
)
TYPES = {
    "id": "text",
    "diet": "category",
    "C14": "number",
    "n": "integer",
    "ko": "boolean",
    "born": "date",
    "list": "other",
}


@pytest.mark.parametrize(
    "name", ["m.parquet", "m.pq", "m.arrow", "m.feather", "m.ipc", "m[1]*.arrow"]
)
def test_columnar_files_keep_their_types_and_nan_is_missing(tmp_path, name):
    path = tmp_path / name
    if name.endswith(("parquet", "pq")):
        FRAME.write_parquet(path)
    else:
        FRAME.write_ipc(path)
    table = reldep.read(path)
    assert dict(table.columns) == TYPES
    assert table.read(["C14", "diet"]).rows() == [(0.5, "fish"), (None, "sun"), (None, "sun")]


def test_decimals_are_numbers(tmp_path):
    prices = pl.DataFrame({"price": ["1.25", "3.50"]}).cast(pl.Decimal(10, 2))
    prices.write_parquet(tmp_path / "prices.parquet")
    table = reldep.read(tmp_path / "prices.parquet")
    assert table.columns["price"] == "number"
    assert table.read(["price"])["price"].to_list() == [1.25, 3.5]


def test_only_the_columns_asked_for_are_read_from_parquet(tmp_path):
    FRAME.write_parquet(tmp_path / "m.parquet")
    content = bytearray((tmp_path / "m.parquet").read_bytes())
    # The values of the first column, but not where they stand, are damaged.
    content[4:20] = bytes(16)
    (tmp_path / "m.parquet").write_bytes(content)
    table = reldep.read(tmp_path / "m.parquet")
    assert table.read(["n"])["n"].to_list() == [1, 2, 3]


def test_an_excel_sheet_is_a_table(write):
    rows = [["id", "x", "m", "n", "ko"], ["a", 1.5, "NA", 1, True], ["b ", None, 2.5, 2, False]]
    table = reldep.read(write("mice.xlsx", sheets(data=rows)))
    assert list(table.columns.values()) == ["text", "number", "number", "integer", "boolean"]
    assert table.read(list(table.columns)).rows() == [
        ("a", 1.5, None, 1, True),
        ("b", None, 2.5, 2, False),
    ]


def test_npz_arrays_become_columns(tmp_path):
    numbers, day = [0.5, 1.5, 2.5], datetime.date(2024, 1, 1)
    arrays = {
        "age": (np.array([30.0, np.nan, 50.0]), "number", [30.0, None, 50.0]),
        "word": (np.array(["a", "b", "c"]), "text", ["a", "b", "c"]),
        "code": (np.array([b"u", b"v", b"w"]), "text", ["u", "v", "w"]),
        "flag": (np.array([True, False, True]), "boolean", [True, False, True]),
        "day": (np.array([day] * 3, dtype="M8[D]"), "date", [day] * 3),
        "second": (np.array([day] * 3, "M8[s]"), "date", [datetime.datetime(2024, 1, 1)] * 3),
        "half": (np.array(numbers, dtype="f2"), "number", numbers),
        "swapped": (np.array(numbers, dtype=">f8"), "number", numbers),
        "long": (np.array(numbers, dtype=np.longdouble), "number", numbers),
    }
    given = {name: array for name, (array, _, _) in arrays.items()}
    block = np.arange(6).reshape(3, 2)
    np.savez(tmp_path / "arrays.npz", **given, block=block, empty_block=np.empty((3, 0)))
    table = reldep.read(tmp_path / "arrays.npz")
    assert list(table.columns) == [*arrays, "block_0", "block_1"]
    assert table["block_1"].to_list() == [1, 3, 5]
    for name, (_, kind, values) in arrays.items():
        assert (table.columns[name], table[name].to_list()) == (kind, values)


@pytest.mark.parametrize("name", ["sheet.npz", "sheet.csv", "sheet"])
def test_the_first_bytes_decide_what_a_file_is(write, name):
    table = reldep.read(write(name, sheets(data=[["a"], [1]])))
    assert table["a"].to_list() == [1]
    assert ("it is a workbook, and read as such" in str(table.notes)) == ("." in name)
    text = write("text.xls", "a\tb\n1\t2\n")
    assert reldep.read(text).read(["a", "b"]).rows() == [(1, 2)]
    assert "it is text, not an Excel" in reldep.read(text).notes[0]


@pytest.mark.parametrize("packer", [bz2.compress, lzma.compress, gzip.compress])
def test_files_may_be_compressed(tmp_path, packer):
    path = tmp_path / "a.csv.packed"
    path.write_bytes(packer(b"a,b\n1,2\n"))
    assert reldep.read(path).read(["b"])["b"].to_list() == [2]


def test_a_damaged_member_of_an_archive_is_named(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, a=np.arange(1000))
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"array 'a' of .*bad.npz is damaged: Bad CRC-32"):
        reldep.read(path)


def test_a_parquet_file_damaged_inside_is_an_error_on_reading(tmp_path):
    path = tmp_path / "inside.parquet"
    pl.DataFrame({"a": np.arange(5000) % 977, "b": np.arange(5000)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*inside.parquet: "):
        reldep.read(path).read(["a"])


def test_a_file_that_vanishes_is_named(tmp_path):
    path = tmp_path / "gone.parquet"
    FRAME.write_parquet(path)
    table = reldep.read(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"cannot read .*gone.parquet: "):
        table.read(["n"])


def test_a_table_without_rows_is_an_error(tmp_path):
    FRAME.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"none.parquet has 7 columns, but no rows"):
        reldep.read(tmp_path / "none.parquet")


def test_a_missing_file_suggests_its_neighbours(write, tmp_path):
    write("mice.csv", "a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*mcie.csv; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mcie.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*mice; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mice")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; files there: 'mice.csv'"):
        reldep.read(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; no files there"):
        reldep.read(tmp_path / "nowhere" / "x.npz")


def test_a_directory_of_parquet_files_is_one_table(tmp_path):
    folder = tmp_path / "pieces"
    folder.mkdir()
    with pytest.raises(ValueError, match="pieces has no Parquet files"):
        reldep.read(folder)
    for i in range(3):
        pl.DataFrame({"x": [float(i), 9.0], "w": ["a", "b"]}).write_parquet(folder / f"{i}.parquet")
    (folder / "again.parquet").symlink_to(folder / "2.parquet")
    for hidden in (folder / "_temporary", folder / "year=2020" / ".old"):
        hidden.mkdir(parents=True)
        FRAME.write_parquet(hidden / "half.parquet")
    for place in (folder, str(folder / "*.parquet")):
        assert reldep.read(place)["x"].to_list() == [0, 9, 1, 9, 2, 9]
    FRAME.write_parquet(tmp_path / "secret.parquet")
    (folder / "link.parquet").symlink_to(tmp_path / "secret.parquet")
    with pytest.raises(ValueError, match=r"link.parquet is a link that leads out of .*pieces"):
        reldep.read(folder)
    (tmp_path / "notes.txt").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"has other files than Parquet files: .*notes.txt"):
        reldep.read(str(tmp_path / "*.*"))


def test_a_file_that_may_not_be_read_says_so(write, monkeypatch):
    path = write("secret.csv", "a\n1\n")
    # The superuser may read every file, so the refusal is the test's own.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"secret.csv may not be read: ask for permission"):
        reldep.read(path)


def test_reading_checks_the_columns(write):
    table = reldep.read(str(write("mice.csv", "age,sex\n3,f\n4,m\n")))
    assert table.read(["sex", "age", "sex"]).columns == ["sex", "age"]
    with pytest.raises(ValueError, match=r"no column 'agee' in .*mice.csv; nearest: 'age'"):
        table.read(["agee"])
    with pytest.raises(ValueError, match=r"name at least one column of .*mice.csv"):
        table.read([])
    named = table.variables(["who=sex", "when=a*"], several=True)
    assert named == {"who": ["sex"], "when": ["age"]}
    with pytest.raises(ValueError, match=r"no column 'x' in .*mice.csv"):
        table.select("x")
