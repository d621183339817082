"""No file is read differently without being named: what is read from 250 tables is frozen.

`golden_reading.json` holds the contents of small files next to what is read from each: rows,
kinds, missing values, sums and notes, or the start of the error. The files of the page about messy
files, and what a list of the same cells is read as, are frozen too.
"""

import datetime as dt
import importlib
import json
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import typed_files

import reldep
from reldep.data.objects import read_variable

GOLDEN = json.loads(Path(__file__).with_name("golden_reading.json").read_text(encoding="utf-8"))
TOOLS = Path(__file__).parents[2] / "tools"
DAY = dt.date(2024, 1, 31)
# Options with which files with types are read.
HOW = [
    {},
    {"na": (-999, "x", 4), "categories": "@numeric"},
    {"numbers": "@categorical"},
    {"dates": {"day": "month", "moment": "hour"}},
]
OBJECTS = {
    "ints": [1, 2, None, 4],
    "decimals of python": [Decimal("1.5"), Decimal(2), None],
    "numbers and words": [1, "2", 3.5, "x"],
    "numbers and strings of numbers": [1, "2,5", 3.5, None],
    "bytes": [b"a", b"b", b"a"],
    "bytes of numbers": [b"1.5", b"2", b"3"],
    "booleans": [True, None, False],
    "dates": [DAY, None, DAY + dt.timedelta(2)],
    "zones": [dt.datetime(2024, 1, 31, 10, tzinfo=dt.UTC), dt.datetime(2024, 2, 1, tzinfo=dt.UTC)],
    "some zones": [dt.datetime(2024, 1, 31), dt.datetime(2024, 1, 31, tzinfo=dt.UTC)],
    "times": [dt.time(8, 30), dt.time(23)],
    "times with a gap": [dt.time(8, 30), float("nan"), dt.time(23)],
    "spans": [dt.timedelta(1), dt.timedelta(hours=6)],
    "numpy dates": np.array(["2024-01-31", "NaT", "2024-02-02"], "M8[D]"),
    "numpy spans": np.array([1, 2, 3], "m8[h]"),
    "rows": [[1, 2], [3, 4], None],
    "rows of words": [["a", 1], ["b", 2]],
    "ragged rows": [[1], [2, 3]],
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "cube": np.ones((3, 2, 2)),
    "strings of numpy": np.array(["5 mg", "7 mg"]),
    "table of objects": np.array([["a", 1], ["b", 2.5]], dtype=object),
    "half all different": [f"w{i}" for i in range(11)] + ["w0"],
    "many codes": [f"{i:03d}" for i in range(12)],
    "sizes": [f"{i}-{i + 5}" for i in range(12)] * 2,
    "empty": [],
    "nothing": [None, None],
    "text alone": "abc",
    "a number alone": 3,
    "complex": np.array([1j, 2]),
    "typed frame": typed_files.typed_frame(),
    "pandas": typed_files.typed_frame().to_pandas(),
    "arrow": typed_files.typed_frame().to_arrow(),
    "dates of a frame": typed_files.dated_frame().select("day", "moment", "clock"),
    "a column of lists": typed_files.dated_frame()["list"],
}


def messy_files():
    """Return the module in tools/ that makes the page about messy files, if it is there."""
    if not TOOLS.is_dir():
        return None
    sys.path.insert(0, str(TOOLS))
    try:
        return importlib.import_module("messy_files")
    finally:
        sys.path.remove(str(TOOLS))


PAGE = messy_files()
MESSY = [] if PAGE is None else [one for part in PAGE.CHAPTERS.values() for one in part]


def file_in_one_line(path, **options):
    """Return what is read from a file: rows, columns and notes, or the start of the error."""
    try:
        table = reldep.read(path, **options)
    except (ValueError, TypeError, OSError) as error:
        return "refused: " + str(error).replace(f"{path.parent}/", "")[:120]
    parts = [f"{len(table)} to {table.rows.name(len(table) - 1)}"]
    for name, kind in table.columns.items():
        try:
            values = table[name]
        except ValueError as error:
            parts.append(f"{name} refused: " + str(error).split(f"column {name!r} ")[1][:40])
        else:
            parts.append(f"{name} {kind} {values.null_count()} {digest(values)}")
    notes = [note.replace(f"{path.parent}/", "") for note in table.notes]
    return "; ".join([*parts, *notes])


def digest(values):
    if values.dtype.is_numeric():
        return f"{values.sum():.10g}"
    if not values.count():
        return ""
    if values.dtype.is_temporal():
        return f"{values.min()} {values.max()}"
    if values.dtype.is_nested():
        return f"{sum(part for one in values.drop_nulls().to_list() for part in one):.6g}"
    return f"{values.n_unique()} {values.drop_nulls().cast(str).sort().to_list()[:1]}"


def object_in_one_line(data):
    """Return what an object is read as."""
    try:
        variable = read_variable(data, "x")
    except (ValueError, TypeError) as error:
        return f"refused: {str(error)[:60]}"
    parts = getattr(variable, "parts", (variable,))
    return "; ".join(map(part_in_one_line, parts)) + "; ".join(["", *variable.notes])


def part_in_one_line(part):
    kind = type(part).__name__
    if kind == "Numeric":
        gaps = int(np.isnan(part.values).sum())
        return f"{kind} {part.values.shape} {gaps} {np.nansum(part.values):.10g} {part.columns}"
    if kind == "Labels":
        said = [text[:50] for text in (part.doubt, part.caution) if text]
        return f"{kind} {part.codes.tolist()} {part.categories[:3]} {part.order} {said}"
    return f"{kind} {len(part)}"


@pytest.mark.parametrize("case", GOLDEN["texts"].values(), ids=GOLDEN["texts"])
def test_a_text_is_read_as_before(case, write):
    path = write("x.csv", case["text"].encode(case.get("stored", "utf-8")))
    assert file_in_one_line(path, **case.get("options", {})) == case["read"]


@pytest.mark.parametrize("case", GOLDEN["cells"].values(), ids=GOLDEN["cells"])
def test_cells_are_read_as_before_from_a_file_and_from_a_list(case, write):
    rows = "".join(f"{cell};{i}\n" for i, cell in enumerate(case["cells"]))
    assert file_in_one_line(write("x.csv", f"x;i\n{rows}")) == case["file"]
    assert object_in_one_line(case["cells"]) == case["list"]


@pytest.mark.parametrize("kind", typed_files.FORMATS)
@pytest.mark.parametrize("how", HOW, ids=str)
def test_a_file_with_types_is_read_as_before(kind, how, tmp_path):
    path = typed_files.write_format(tmp_path, kind)
    assert file_in_one_line(path, **how) == GOLDEN["typed"][f"{kind} {how}"]


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_read_as_before(name):
    assert object_in_one_line(OBJECTS[name]) == GOLDEN["objects"][name]


@pytest.mark.parametrize("case", MESSY, ids=lambda case: f"{case.name} {case.options or ''}")
def test_a_messy_file_is_understood_cautioned_or_refused(case, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    happened = PAGE.run(case)
    assert (happened.error is not None) == (case.outcome == "refused"), happened
    assert bool(happened.said) == (case.outcome in ("said", "cautioned")), happened
    if case.outcome != "refused" and case.values is not None:
        for name in happened.values:
            assert happened.values[name] == pytest.approx(case.values[name]), name
    if isinstance(case.data, (str, bytes)):
        frozen = GOLDEN["messy"][f"{case.name} {case.options or ''}".strip()]
        assert file_in_one_line(write(case.file, case.data), **case.options) == frozen


@pytest.mark.skipif(PAGE is None, reason="tools/ is only in the repository")
def test_the_page_in_the_documentation_is_the_one_that_the_cases_make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert PAGE.PAGE.read_text(encoding="utf-8") == PAGE.page()
