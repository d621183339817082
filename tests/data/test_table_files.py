"""Parquet, Arrow, Excel and NPZ; files that are missing, damaged, or not what they say."""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import reldep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Write = Callable[[str, str | bytes], Path]
    WriteExcel = Callable[[Path, Sequence[Sequence[object]]], None]

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
def test_columnar_files_keep_their_types_and_nan_is_missing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(("parquet", "pq")):
        FRAME.write_parquet(path)
    else:
        FRAME.write_ipc(path)
    table = reldep.read(path)
    assert dict(table.columns) == TYPES
    assert table.read(["C14", "diet"]).rows() == [(0.5, "fish"), (None, "sun"), (None, "sun")]


def test_decimals_are_numbers(tmp_path: Path) -> None:
    prices = pl.DataFrame({"price": ["1.25", "3.50"]}).cast(pl.Decimal(10, 2))
    prices.write_parquet(tmp_path / "prices.parquet")
    table = reldep.read(tmp_path / "prices.parquet")
    assert table.columns["price"] == "number"
    assert table.read(["price"])["price"].to_list() == [1.25, 3.5]


def test_only_the_columns_asked_for_are_read_from_parquet(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "m.parquet")
    content = bytearray((tmp_path / "m.parquet").read_bytes())
    # The values of the first column, but not where they stand, are damaged.
    content[4:20] = bytes(16)
    (tmp_path / "m.parquet").write_bytes(content)
    table = reldep.read(tmp_path / "m.parquet")
    assert table.read(["n"])["n"].to_list() == [1, 2, 3]


def test_an_excel_sheet_is_a_table(tmp_path: Path, write_xlsx: WriteExcel) -> None:
    path = tmp_path / "mice.xlsx"
    rows = [["id", "x", "m", "n", "ko"], ["a", 1.5, "NA", 1, True], ["b ", None, 2.5, 2, False]]
    write_xlsx(path, rows)
    table = reldep.read(path)
    assert list(table.columns.values()) == ["text", "number", "number", "integer", "boolean"]
    assert table.read(list(table.columns)).rows() == [
        ("a", 1.5, None, 1, True),
        ("b", None, 2.5, 2, False),
    ]


def test_a_stray_word_in_an_excel_column_is_refused(tmp_path: Path, write_xlsx: WriteExcel) -> None:
    path = tmp_path / "mice.xlsx"
    write_xlsx(path, [["x"], [1.5], ["oops"], [2.5]])
    with pytest.raises(ValueError, match=r"holds numbers and words: 'oops' \(line 3\)"):
        reldep.read(path).read(["x"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "mice.xlsx is empty: its sheet 'data' has no columns and no rows"),
        ([["a", "b"]], "mice.xlsx has 2 columns, but no rows"),
        ([["a", "b", "a"], [1, 2, 3]], "mice.xlsx has more than one column named 'a'"),
    ],
)
def test_a_bad_excel_sheet_is_named(
    tmp_path: Path, write_xlsx: WriteExcel, rows: list[list[object]], message: str
) -> None:
    path = tmp_path / "mice.xlsx"
    write_xlsx(path, rows)
    with pytest.raises(ValueError, match=message):
        reldep.read(path)


def test_excel_without_its_package_says_what_to_install(
    tmp_path: Path, write_xlsx: WriteExcel, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mice.xlsx"
    write_xlsx(path, [["a"], [1]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(ImportError, match=r"mice.xlsx needs .* pip install 'reldep\[excel\]'"):
        reldep.read(path)


def test_npz_arrays_become_columns(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    np.savez(
        path,
        age=np.array([30.0, np.nan, 50.0]),
        block=np.arange(6).reshape(3, 2),
        word=np.array(["a", "b", "c"]),
        code=np.array([b"u", b"v", b"w"]),
        flag=np.array([True, False, True]),
        day=np.array(["2024-01-01"] * 3, dtype="M8[D]"),
        second=np.array(["2024-01-01T10:00:00"] * 3, dtype="M8[s]"),
        half=np.array([0.5, 1.5, 2.5], dtype="f2"),
        swapped=np.array([1.5, 2.5, 3.5], dtype=">f8"),
        long=np.array([1.5, 2.5, 3.5], dtype=np.longdouble),
        empty_block=np.empty((3, 0)),
    )
    table = reldep.read(path)
    assert dict(table.columns) == {
        "age": "number",
        "block_0": "integer",
        "block_1": "integer",
        "word": "text",
        "code": "text",
        "flag": "boolean",
        "day": "date",
        "second": "date",
        "half": "number",
        "swapped": "number",
        "long": "number",
    }
    values = table.read(list(table.columns)).to_dict(as_series=False)
    assert values["age"] == [30.0, None, 50.0]
    assert values["block_1"] == [1, 3, 5]
    assert values["code"] == ["u", "v", "w"]
    assert values["day"] == [datetime.date(2024, 1, 1)] * 3
    assert values["second"] == [datetime.datetime(2024, 1, 1, 10)] * 3
    assert values["half"] == [0.5, 1.5, 2.5]
    assert values["swapped"] == values["long"] == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"a": np.array([1, "x"], dtype=object)},
            r"array 'a' of .*bad.npz holds pickled Python objects, which are never loaded",
        ),
        (
            {"a": np.zeros((2, 2, 2))},
            r"'a' of .*bad.npz has 3 dimensions, its shape is \(2, 2, 2\)",
        ),
        ({"a": np.float64(3)}, "'a' of .*bad.npz has 0 dimensions"),
        ({"a": np.zeros(2), "b": np.zeros(3)}, "must have equally many rows; .* 'a': 2, 'b': 3"),
        ({"a": np.zeros(2, dtype=complex)}, "'a' of .* is complex128; expected numbers, booleans"),
        ({"a": np.array([b"\xff"])}, "'a' of .* holds bytes that are not UTF-8 text"),
        ({"x": np.zeros((2, 1)), "x_0": np.zeros(2)}, "more than one column named 'x_0'"),
        ({"a": np.zeros(0)}, "bad.npz has 1 column, but no rows"),
        ({}, "must have equally many rows; they have none"),
    ],
)
def test_a_bad_archive_is_named_with_what_is_wrong(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message):
        reldep.read(path)


@pytest.mark.parametrize("name", ["sheet.npz", "sheet.csv", "sheet"])
def test_the_first_bytes_decide_what_a_file_is(
    tmp_path: Path, write_xlsx: WriteExcel, name: str
) -> None:
    path = tmp_path / name
    write_xlsx(path, [["a"], [1]])
    table = reldep.read(path)
    assert table["a"].to_list() == [1]
    assert ("it is a workbook, and read as such" in str(table.notes)) == ("." in name)
    text = tmp_path / "text.xls"
    text.write_text("a\tb\n1\t2\n")
    assert reldep.read(text).read(["a", "b"]).rows() == [(1, 2)]
    assert "it is text, not an Excel" in reldep.read(text).notes[0]


@pytest.mark.parametrize("packer", [bz2.compress, lzma.compress, gzip.compress])
def test_files_may_be_compressed(tmp_path: Path, packer: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.csv.packed"
    path.write_bytes(packer(b"a,b\n1,2\n"))
    assert reldep.read(path).read(["b"])["b"].to_list() == [2]


def test_lines_of_json_are_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": "u"}\n{"a": 2.5, "b": null}\n')
    table = reldep.read(tmp_path / "a.jsonl")
    assert table.read(["a", "b"]).rows() == [(1.0, "u"), (2.5, None)]


def test_a_damaged_member_of_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, a=np.arange(1000))
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"array 'a' of .*bad.npz is damaged: Bad CRC-32"):
        reldep.read(path)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.parquet", PNG, "x.parquet is not a Parquet file: it looks like a PNG image"),
        ("x.parquet", b"PAR1" + bytes(40), "x.parquet is damaged, or only a part of a Parquet f"),
        ("x.parquet", b"\xff\xfb" + bytes(40), "x.parquet is damaged, or not a Parquet file"),
        ("x.feather", b"FEA1" + bytes(40), "is not an Arrow .* Feather file of the first version"),
        ("x.xlsx", b"\xd0\xcf\x11\xe0" + bytes(20), "x.xlsx is damaged, or "),
        ("x.npz", b"\x93NUMPY" + bytes(20), "x.npz is not an NPZ .*: it looks like a NumPy .npy"),
        ("x.npz", pickle.dumps([1]), "x.npz is damaged, or not an NPZ archive"),
        ("x.csv", b"", "x.csv is empty: it has no columns and no rows"),
        ("x.parquet", b"", "x.parquet is empty"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(
    write: Write, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        reldep.read(write(name, content))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx", "npz"])
def test_half_a_file_is_an_error_that_names_it(
    tmp_path: Path, write_xlsx: WriteExcel, ending: str
) -> None:
    path = tmp_path / f"half.{ending}"
    if ending == "parquet":
        FRAME.write_parquet(path)
    elif ending == "arrow":
        FRAME.write_ipc(path)
    elif ending == "npz":
        np.savez(path, a=np.arange(1000))
    else:
        write_xlsx(path, [["a"], [1]])
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"half.{ending} is damaged, or only a part of an? "):
        reldep.read(path)


def test_a_parquet_file_damaged_inside_is_an_error_on_reading(tmp_path: Path) -> None:
    path = tmp_path / "inside.parquet"
    pl.DataFrame({"a": np.arange(5000) % 977, "b": np.arange(5000)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*inside.parquet: "):
        reldep.read(path).read(["a"])


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone.parquet"
    FRAME.write_parquet(path)
    table = reldep.read(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"cannot read .*gone.parquet: "):
        table.read(["n"])


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    FRAME.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"none.parquet has 7 columns, but no rows"):
        reldep.read(tmp_path / "none.parquet")


def test_a_missing_file_suggests_its_neighbours(write: Write, tmp_path: Path) -> None:
    write("mice.csv", "a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*mcie.csv; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mcie.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*mice; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mice")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; files there: 'mice.csv'"):
        reldep.read(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; no files there"):
        reldep.read(tmp_path / "nowhere" / "x.npz")


def test_a_directory_of_parquet_files_is_one_table(tmp_path: Path) -> None:
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


def test_a_file_that_may_not_be_read_says_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("secret.csv", "a\n1\n")

    # The superuser may read every file, so the refusal is the test's own.
    def refuse(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=r"secret.csv may not be read: ask for permission"):
        reldep.read(path)


def test_opening_needs_a_file() -> None:
    with pytest.raises(ValueError, match="`data` names no file; name at least one"):
        reldep.read([])


def test_reading_checks_the_columns(write: Write) -> None:
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


def test_wide_tables_are_read_by_the_engine_that_can(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(600)]
    pl.DataFrame({name: [1.0, 2.0] for name in names}).write_parquet(tmp_path / "wide.parquet")
    table = reldep.read(tmp_path / "wide.parquet")
    assert table.read(names).shape == (2, 600)
