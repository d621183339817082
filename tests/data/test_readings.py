"""What is read from files of every kind: one claim per line."""

import bz2
import datetime
import lzma
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep
import spreadsheets
from calls import called
from reldep.data.missing_codes import MISSING_WORDS
from reldep.data.objects import read_variable

FRAME = pl.DataFrame(
    {
        "id": ["m1", "m2", "m3"],
        "diet": pl.Series(["fish", "sun", "sun"], dtype=pl.Categorical),
        "C14": [0.5, float("nan"), None],
        "n": [1, 2, 3],
        "ko": [True, False, True],
        "born": [date(2024, 1, 1)] * 3,
        "list": [[1], [2], [3]],
    }
)
KINDS = ["text", "category", "number", "integer", "boolean", "date", "other"]
PRICES = pl.DataFrame({"price": ["1.25", "3.50"]}).cast(pl.Decimal(10, 2))
DAY = date(2024, 1, 31)
LATE = "".join(f"{i},{i % 3},true,2024-01-{1 + i % 28:02},u\n" for i in range(500))
LATE = f"i,x,b,d,w\n{LATE}500,0.25,FALSE,2024-02-01,v\n"
LONG = f"a,b\n{'x' * 200_000},1\nu,2\n"
SUMS = "who,x,y\n" + "anna,1.5,2\nbert,2.5,7\n" * 5
ERROR = '<row><c><v>5</v></c><c t="e"><v>#DIV/0!</v></c></row>'
FORMULA = "<row><c><v>5</v></c><c><f>A2*2</f></c></row>"
BOOK = spreadsheets.sheets(data=[["a"], [1]])
SHEET = [["id", "x", "m", "n", "ko"], ["a", 1.5, "NA", 1, True], ["b ", None, 2.5, 2, False]]
LINES = [["Study"], [], ["line", "x"], [4, 1.5], [None, None], [6, "n/a"], [7, 2.5]]
GENES, LIPIDS = "id,V1,n\n1,10,5\n2,11,6\n", "id,V1\n1,30\n2,low\n"
KEYS = ("id,ge_1\nc,3\na,1\nx,9\nb,2\n", "id,C14\na,0.1\nb,0.2\nc,0.3\ny,0.9\n,0.8\n")
SURVEY = pd.DataFrame(
    {"age": [21.0, 35.0, None, 62.0], "sex": [1.0, 2.0, 2.0, 1.0], "name": ["a", "b", "c", "d"]}
)
SOME = {"variable_value_labels": {"age": {21: "adult"}}}
SEX = {"variable_value_labels": {"sex": {1: "female", 2: "male"}}}


MODULES = {"bz2": bz2, "lzma": lzma, "datetime": datetime, "read_variable": read_variable}
MODULES["MISSING_WORDS"] = MISSING_WORDS


def text(content, name="x.csv", **options):
    """Read a file that has this content."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return reldep.read(name, **options)


def book(*rows, end="", **options):
    return text(spreadsheets.sheets(data=rows, end=end), "x.xlsx", **options)


def written(frame, name, **options):
    """Read a frame that is written as the ending says."""
    (frame.write_parquet if name.endswith(("parquet", "pq")) else frame.write_ipc)(name)
    return reldep.read(name, **options)


def arrays(**given):
    np.savez("x.npz", **given)
    return reldep.read("x.npz")


def packed(members):
    with zipfile.ZipFile("x.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return reldep.read("x.zip")


def survey(name, frame=SURVEY, **options):
    pyreadstat = pytest.importorskip("pyreadstat")
    getattr(pyreadstat, f"write_{name.partition('.')[2].removeprefix('z')}")(frame, name, **options)
    return reldep.read(name)


def from_r(data):
    pytest.importorskip("rdata").write_rds("x.rds", data)
    return reldep.read("x.rds")


def joined(*contents, **options):
    """Read texts that are joined, or frames by their column of keys."""
    names = []
    for i, content in enumerate(contents):
        names.append(f"{'abc'[i]}.{'csv' if isinstance(content, str) else 'parquet'}")
        if isinstance(content, str):
            Path(names[-1]).write_text(content)
        else:
            pl.DataFrame({"id": content}).with_columns(pl.lit(1).alias("xy"[i])).write_parquet(
                names[-1]
            )
    return reldep.read(names, join="id", **options)


def cells(table, names="@all"):
    return table.to_frame(names).rows()


def kinds(table):
    return [str(kind) for kind in table.columns.values()]


def said(table):
    return " ".join(table.notes)


CLAIMS = r"""
kinds(text(LATE)) == ["integer", "number", "boolean", "date", "text"]
cells(text(LATE), "x,b")[500] == (0.25, False)
all(text(f"x,w\n1,a\n{w},{w}\n3,b\n")["x"].to_list() == [1, None, 3] for w in MISSING_WORDS[1:])
all(cells(text(f"x,w,i\n1,a,0\n{w},{w},0\n"))[1] == (None, None, 0) for w in ['""', " NA ", ""])
all(text(f"w,i\na,1\n{w},2\n")["w"].to_list() == ["a", w] for w in "? - none missing .".split())
text("age,h\n31,1\nno,2\n45,3\n").select("@numeric") == ["age", "h"]
text("age,h\n31,1\nno,2\n45,3\n").select("@categorical") == ["age"]
text("age,sex\n3,f\n4,m\n").read(["sex", "age", "sex"]).columns == ["sex", "age"]
text(LONG)["a"].to_list() == ["x" * 200_000, "u"]
text(LONG).rows.values() == [2, 3]
text("*,^.*$,,a\n1,u,v,4\n").read(["^.*$"]).columns == ["^.*$"]
all("totals" in said(text(f"{SUMS}{w},1,9\n")) for w in ["Mittel", "Moyenne", "итого", "合计"])
book(["d", "x"], ["2024-01-31", 1], ["Sum", 1], drop_summary=True)["d"].to_list() == [DAY]
all(kinds(written(FRAME, f"m.{e}")) == KINDS for e in "parquet pq arrow feather ipc".split())
cells(written(FRAME, "m[1]*.arrow"), "C14,diet") == [(0.5, "fish"), (None, "sun"), (None, "sun")]
cells(written(PRICES, "p.parquet")) == [(1.25,), (3.5,)]
kinds(written(PRICES, "p.parquet")) == ["number"]
text(bz2.compress(b"a,b\n1,2\n"), "x.packed")["b"].to_list() == [2]
text(lzma.compress(b"a,b\n1,2\n"), "x.packed")["b"].to_list() == [2]
packed({"data.csv": "a\n1\n2\n", "__MACOSX/._data.csv": "x"})["a"].to_list() == [1, 2]
cells(text("a\tb\n1\t2\n", "x.xls")) == [(1, 2)]
"it is text, not an Excel" in said(text("a\tb\n1\t2\n", "x.xls"))
all("it is a workbook, and read as such" in said(text(BOOK, name)) for name in ["x.csv", "x.npz"])
said(text(BOOK, "x")) == ""
kinds(book(*SHEET)) == ["text", "number", "number", "integer", "boolean"]
cells(book(*SHEET)) == [("a", 1.5, None, 1, True), ("b", None, 2.5, 2, False)]
book(*LINES, skip_rows=1).rows.values() == [4, 6, 7]
book(*LINES, skip_rows=1)["x"].to_list() == [1.5, None, 2.5]
book(["a", "b"], [1, 2], end=ERROR)["b"].to_list() == [2, None]
"1 cell with errors of formulas, such" in said(book(["a", "b"], [1, 2], end=ERROR))
len(book(["a"], [1], sheet="data")) == len(book(["a"], [1], sheet=1)) == 1
cells(book(["a", "b"], [1, 2], [3, 4], header=False, skip_rows=1), "c1,c2") == [(1, 2), (3, 4)]
book(["x"], ["kg"], [1.5], [2.5])["x"].to_list() == [1.5, 2.5]
book(["x"], ["kg"], [1.5], [2.5]).rows.values() == [3, 4]
"line 2 contains units" in said(book(["x"], ["kg"], [1.5], [2.5]))
list(arrays(b=np.arange(6).reshape(3, 2), none=np.empty((3, 0))).columns) == ["b_0", "b_1"]
arrays(a=np.array([30.0, np.nan]))["a"].to_list() == [30, None]
cells(arrays(w=np.array(["a", "b"]), c=np.array([b"u", b"v"]))) == [("a", "u"), ("b", "v")]
cells(arrays(t=np.array([True]), d=np.array([DAY], "M8[D]"))) == [(True, DAY)]
arrays(s=np.array([DAY], "M8[s]"))["s"].to_list() == [datetime.datetime(2024, 1, 31)]
cells(arrays(h=np.array([0.5], "f2"), o=np.array([1.5], ">f8"))) == [(0.5, 1.5)]
cells(arrays(g=np.array([2], "g"))) == [(2,)]
cells(joined(*KEYS)) == [("c", 3, 0.3), ("a", 1, 0.1), ("b", 2, 0.2)]
joined(*KEYS).name == "a.csv + b.csv"
joined(*KEYS).joined.startswith("joined on 'id': 3 rows; unmatched: 1 of 4 rows of a.csv, 2 of 5")
joined(*KEYS).notes == (f"{joined(*KEYS).joined}.",)
joined(*KEYS, "id,d\nb,u\na,v\nc,u\n", where="ge_1 > 1 and d = 'u'")["C14"].to_list() == [0.3, 0.2]
joined("id,x\n1,1\n", "id,y\n1,1\n").joined == "joined on 'id': 1 row; every row is matched"
list(joined(GENES, LIPIDS).columns) == ["id", "a_V1", "n", "b_V1"]
kinds(joined(GENES, LIPIDS, categories="a_V1,n"))[1:3] == ["category", "category"]
joined(GENES, LIPIDS, numbers="b_V1")["b_V1"].to_list() == [30, None]
joined("id,x\nu,1\nv,2\n\nw,3\n", "id,y\nw,1\nu,7\nz,8\n").rows.values() == [2, 5]
cells(joined("id,x\n7,1\n8,2\n7b,3\n", "id,y\n8,5\n7,6\n")) == [("7", 1, 6), ("8", 2, 5)]
len(joined([1, 2], pl.Series([2, 3], dtype=pl.Int32))) == len(joined([1, 2], [2.0, 2.5])) == 1
len(joined([1, 2], ["2", "b"])) == len(joined([DAY], [DAY])) == 1
len(joined(["a", "b"], pl.Series(["b", "c"], dtype=pl.Categorical))) == 1
all(survey(f"s.{end}", **SEX)["sex"].to_list()[:2] == ["female", "male"] for end in ["sav", "dta"])
survey("s.zsav", compress=True, **SEX)["age"].to_list() == [21, 35, None, 62]
"the labels of its values were read" in said(survey("s.sav", **SEX))
cells(survey("s.por", SURVEY.rename(columns=str.upper)), "AGE") == [(21,), (35,), (None,), (62,)]
survey("s.sav", missing_ranges={"age": [35]})["age"].to_list() == [21, None, None, 62]
kinds(survey("s.sav", **SOME))[0] == "number"
"(21 is 'adult'); if one means missing, pass `na`" in said(survey("s.sav", **SOME))
written(pl.DataFrame({"x": range(10)}), "x.parquet", where="x > 6").rows.values() == [7, 8, 9]
written(pl.DataFrame({"x": range(10)}), "x.parquet", where="x > 6").rows.name(0) == "row 7"
kinds(text('{"a":1}\n' * 200 + '{"a":1.5,"c":5}\n', "x.jsonl")) == ["number", "integer"]
"1 formula without a value read as missing" in said(book(["a", "b"], [1, 2], end=FORMULA))
cells(joined("id,x\n007,1\n013,2\n", "id,y\n007,5\n7b,6\n")) == [("007", 1, 5)]
reldep.read(pd.DataFrame({"a": [1, "x", -9]}), na=-9)["a"].isna().tolist() == [False, False, True]
np.isnan(read_variable([1, 2, "NA", 4.5], "v").values.ravel()).tolist() == [0, 0, 1, 0]
"contains numbers and words: 'a' (row 1)" in read_variable([1, "a", 2, "b"], "v").doubt
cells(from_r(pd.DataFrame({"x": [1.5, 2.5], "n": [1, 2]}))) == [(1.5, 1), (2.5, 2)]
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("claim", CLAIMS.strip().splitlines())
def test_a_file_is_read_so(claim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert called(claim, {**MODULES, **globals()})
