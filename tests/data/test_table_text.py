"""Delimited text: how it is written, its types, its missing values, its errors."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reldep
from reldep import Table
from reldep.data.checks import composed
from reldep.data.missing_codes import MISSING_WORDS
from reldep.data.selectors import quote_column
from reldep.files.byte_sources import open_source
from reldep.files.header import find_delimiter
from reldep.files.reading import completed
from reldep.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[str, str | bytes], Path]

STEADY = settings(deadline=None, derandomize=True, max_examples=60)
MICE = "id,diet,C14\nm1,fish,0.5\nm2,sun,NA\nm3,sun,0.7\n"


def everything(table: Table) -> dict[str, list[object]]:
    return table.read(list(table.columns)).to_dict(as_series=False)


MICE_VALUES = {"id": ["m1", "m2", "m3"], "diet": ["fish", "sun", "sun"], "C14": [0.5, None, 0.7]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mice.csv", MICE),
        ("mice.csv", MICE.replace(",", ";")),
        ("mice.txt", MICE.replace(",", "\t")),
        ("mice.txt", MICE.replace(",", "|")),
        ("mice.tsv", MICE.replace(",", "\t")),
        ("mice.tab", MICE.replace(",", "\t")),
        ("MICE.CSV", MICE),
        ("mice.csv", MICE.replace("\n", "\r\n")),
        ("mice.csv", MICE.replace("\n", "\r")),
        ("mice.csv", b"\xef\xbb\xbf" + MICE.encode()),
        ("mice.csv", MICE.encode("utf-16")),
        ("mice.csv", MICE.encode("utf-32")),
        ("mice.csv", "\n\n" + MICE),
        ("mice.csv", "sep=,\n" + MICE),
        ("mice.csv", MICE.replace("\n", "\r\n", 2)),
        ("mice.csv", MICE.replace("\n", "\r", 2)),
        ("mice.csv", MICE.replace("\n", ",,\n")),
        ("mice.csv", MICE.replace("\n", ",\n").replace(",\n", "\n", 1)),
        ("mice.csv", MICE.rstrip("\n")),
        ("mice.csv", MICE + "\n\n"),
        ("mice.csv", MICE.replace("\nm2", "\n\nm2")),
        ("mice.csv", MICE + ",,\n"),
        ("mice.csv", MICE.replace(",", ", ")),
        ("mice.csv", MICE.replace("m1", '"m1"').replace("0.5", '"0.5"')),
        ("mice.csv.gz", gzip.compress(MICE.encode(), mtime=0)),
        ("mice.tsv.GZ", gzip.compress(MICE.replace(",", "\t").encode(), mtime=0)),
        ("mice.csv", gzip.compress(MICE.encode(), mtime=0)),
        ("mice.csv.gz", MICE),
        ("mice[1]*.csv", MICE),
        ("mice.csv", MICE.replace(",", ";").replace("0.", "0,")),
    ],
)
def test_however_it_is_written_it_is_the_same_table(
    write: Write, name: str, content: str | bytes
) -> None:
    table = reldep.read(write(name, content))
    assert everything(table) == MICE_VALUES
    assert list(table.columns.values()) == ["text", "text", "number"]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_standard_input_is_sniffed(
    monkeypatch: pytest.MonkeyPatch, delimiter: str, compressed: bool
) -> None:
    content = MICE.replace(",", delimiter).encode()
    piped = io.BytesIO(gzip.compress(content, mtime=0) if compressed else content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    table = reldep.read("-")
    assert everything(table) == MICE_VALUES
    assert table.name == "standard input"


def test_empty_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(ValueError, match="standard input is empty: it has no columns"):
        reldep.read("-")


def test_types_are_found_by_looking_at_all_rows(write: Write) -> None:
    rows = "".join(f"{i},{i % 3},true,2024-01-{1 + i % 28:02},u\n" for i in range(500))
    path = write("late.csv", f"i,x,b,d,w\n{rows}500,0.25,FALSE,2024-02-01,v\n")
    table = reldep.read(path)
    assert dict(table.columns) == {
        "i": "integer",
        "x": "number",
        "b": "boolean",
        "d": "date",
        "w": "text",
    }
    assert table.read(["x", "b"]).row(500) == (0.25, False)


@pytest.mark.parametrize("word", [*MISSING_WORDS, '""', " NA ", '"NA"', " "])
def test_these_words_are_missing_values(write: Write, word: str) -> None:
    table = reldep.read(write("gaps.csv", f"x,w,i\n1,a,0\n{word},{word},0\n3,b,0\n"))
    assert table.read(["x", "w"]).rows() == [(1, "a"), (None, None), (3, "b")]


@pytest.mark.parametrize("word", ["?", "-", "none", "missing", "."])
def test_other_words_are_not_taken_for_missing(write: Write, word: str) -> None:
    table = reldep.read(write("words.csv", f"w,i\na,1\n{word},2\n"))
    assert table.read(["w"])["w"].to_list() == ["a", word]


def test_numbers_with_a_stray_word_are_refused_with_its_line(write: Write) -> None:
    path = write("ages.csv", 'note,age\n"two\nlines",31\nb,unknown\nc,45\nd,\n')
    table = reldep.read(path)
    assert table.columns["age"] == "numbers and words"
    message = (
        r"ages.csv: column 'age' holds numbers and words: 'unknown' \(line 4\). Write missing "
        r"values as NA, or name their code with `na`, or the column in `numbers`; .* Or leave a "
        r"column out with '!age'"
    )
    with pytest.raises(ValueError, match=message):
        table.read(["age"])
    with pytest.raises(ValueError, match=message):
        table.restricted("age > 40").read(["note"])
    assert table.read(["note"])["note"].to_list() == ["two\nlines", "b", "c", "d"]


def test_neither_type_passes_over_numbers_with_a_stray_word(write: Write) -> None:
    table = reldep.read(write("ages.csv", "age,height\n31,1\nunknown,2\n45,3\n"))
    assert table.select("@numeric") == ["age", "height"]
    assert table.select("@categorical") == ["age"]
    assert table.select("@numeric,!age") == ["height"]


def large(path: Path) -> Table:
    """Read a text as one that does not fit into memory."""
    return read_text(open_source(path), completed({}), largest=0)


@pytest.mark.parametrize("column", ["x", "b"])
def test_in_a_large_file_a_late_word_is_named_with_its_line(write: Write, column: str) -> None:
    late = {"x": "1.5", "b": "2"}
    rows = ",".join(late.values()) + "\n"
    late[column] = "oops"
    path = write("large.csv", "x,b\n" + rows * 300 + ",".join(late.values()) + "\n")
    with pytest.raises(ValueError, match=rf"column '{column}' holds .*: 'oops' \(line 302\)"):
        large(path).read([column])


def test_a_large_file_that_changes_between_two_passes_is_refused(write: Write) -> None:
    table = large(write("large.csv", "x,b\n1,2\n2,1\n"))
    assert table.read(["x"])["x"].to_list() == [1, 2]
    write("large.csv", "x,b\n1,2\n2,1\n3,3\n")
    with pytest.raises(ValueError, match=r"large.csv has changed while it was read"):
        table.read(["b"])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_large_file_is_read_like_a_small_one(write: Write, compressed: bool) -> None:
    content = ("i,gap,w,,d\n" + "1,NA,u,z,\n" * 300 + "2.5,3,v,y,\n,,,,\n007,,w,,\n").encode()
    path = write("large.csv", gzip.compress(content, mtime=0) if compressed else content)
    table, small = large(path), reldep.read(path)
    assert dict(table.columns) == dict(small.columns)
    assert everything(table) == everything(small)
    assert table.rows.values() == small.rows.values()
    assert len(table) == 302


@pytest.mark.parametrize("word", ["Mittel", "Durchschnitt:", "avg", "Moyenne", "итого", "合计"])
def test_totals_are_known_in_many_languages(write: Write, word: str) -> None:
    path = write("sums.csv", "who,x,y\n" + "anna,1.5,2\nbert,2.5,7\n" * 5 + f"{word},1,9\n")
    said = " ".join(str(caution) for caution in reldep.read(path).notes_about(["x", "y"]))
    assert f"line 12 looks like a row of totals ('{word}')" in said
    assert "but counted as one; pass `drop_summary=True` to leave it out" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\n", "has no column names: it has no lines but comments"),
        ("1.5,2\n3,4\n", "line 1 of .*bad.csv holds numbers in place of .* pass `header=False`"),
        ("a,b\n", "bad.csv has 2 columns, but no rows"),
        ("a,b\n\n,\n", "bad.csv has 2 columns, but no rows"),
        ("a,b,a,c,c\n1,2,3,4,5\n", "bad.csv has more than one column named 'a', 'c'"),
        ("a, a\n1,2\n", "bad.csv has more than one column named 'a'"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "bad.csv is not a delimited text file: .* a PNG image"),
        (b"PK\x03\x04abc", "bad.csv is damaged, or not a ZIP archive"),
        (b"a,b\n1,\0\n", "bad.csv is not a delimited text file: it looks like a binary file"),
        ("a,b\n1,2\n".encode("utf-16-le"), "a NUL byte on line 1. If .* `encoding='utf-16'`"),
        (
            "a,b\n1,x\n2,é\n".encode("latin-1"),
            r"line 3 of .*bad.csv is not UTF-8 text. .* `encoding='latin1'`",
        ),
        ("é,b\n1,x\n".encode("latin-1"), "line 1 of .*bad.csv is not UTF-8"),
        ("a,b\n1,2\n1,2,3\n", "line 3 of .*bad.csv has 3 fields, .* names 2 columns: '1,2,3'"),
        ("a,b\nr1,1,2\nr2,3,4\n", "line 2 of .*bad.csv has 3 fields, but .* names 2 columns"),
        ('a,b\n1,"x\n2,y\n', "bad.csv has a double quote that is not closed or stands inside"),
        ('a,"b\n1,2\n', "line 1 of .*bad.csv has a double quote that is not closed"),
        ('"a"b",c\n1,2\n', "line 1 of .*bad.csv has a double quote that is not closed"),
        ('# made in May\n\n"a"b,c\n1,2\n', "line 3 of .*bad.csv has a double quote"),
        ("a,b,c\n1,2,3\n4,5\n", "line 3 of .*bad.csv has 2 fields, .* Was the line cut off"),
        ("My study\n\na,b\n1,2\n3,4\n", "If the table starts further down, pass `skip_rows=2`"),
        (b"\x1f\x8b\x08\x00garbage", "bad.csv is a damaged gzip file"),
        (gzip.compress(MICE.encode(), mtime=0)[:-12], "bad.csv is a damaged gzip file"),
        (gzip.compress(b"\x89PNG\0", mtime=0), "bad.csv is not a delimited text file"),
    ],
)
def test_a_bad_text_file_is_named_with_what_is_wrong(
    write: Write, content: str | bytes, message: str
) -> None:
    path = write("bad.csv", content)

    def read() -> None:
        table = reldep.read(path)
        table.read(list(table.columns))

    with pytest.raises(ValueError, match=message):
        read()


def test_bad_bytes_far_down_are_found(write: Write) -> None:
    path = write("late.csv", b"a,b\n" + b"1,x\n" * 1_500_000 + b"2,\xe9\n")
    with pytest.raises(ValueError, match=r"line 1500002 of .*late.csv is not UTF-8 text"):
        reldep.read(path)


def test_fields_longer_than_the_line_finder_takes_are_read(write: Write) -> None:
    long = "x" * 200_000
    table = reldep.read(write("long.csv", f"a,b\n{long},1\nu,2\n"))
    assert table.read(["a"])["a"].to_list() == [long, "u"]
    assert table.rows.values() == [2, 3]


@STEADY
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, unique_by=str.strip
    )
)
def test_any_column_name_can_be_read_back_by_its_quoted_name(names: list[str]) -> None:
    header = ",".join(quote_column(name.strip()) for name in names)
    content = f"{header}\n{','.join('1' for _ in names)}\n".encode()
    table = reldep.read(io.BytesIO(content), delimiter=",")
    assert list(table.columns) == [composed(name.strip()) for name in names]
    for name in table.columns:
        assert table.read(table.select(quote_column(name))).columns == [name]


WORDS = st.text("abxyz ,;|\t\"\n'é*:=", max_size=6).map(lambda text: f"w{text}".strip())
NUMBERS = st.floats(-1e6, 1e6).map(lambda number: repr(round(number, 4)))
RECORDS = st.lists(st.tuples(WORDS, NUMBERS, st.one_of(WORDS, st.just("NA"))), min_size=1)


@STEADY
@given(
    RECORDS,
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_table_the_csv_module_writes_is_read_back(
    rows: list[tuple[str, str, str]], delimiter: str, line_end: str, quoting: int
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([("note", "x;y", 'say "z"'), *rows])
    table = reldep.read(io.BytesIO(written.getvalue().encode()))
    assert table.columns["x;y"] == "number"
    assert table.read(["note", "x;y", 'say "z"']).rows() == [
        (note, float(number), None if word == "NA" else word) for note, number, word in rows
    ]


def test_columns_named_like_patterns_are_single_columns(write: Write) -> None:
    table = reldep.read(write("odd.csv", "*,^.*$,,a\n1,u,v,4\n2,u,v,5\n"))
    assert table.read(["*"]).to_dict(as_series=False) == {"*": [1, 2]}
    assert table.read([""]).to_dict(as_series=False) == {"": ["v", "v"]}
    assert table.read(["^.*$"]).columns == ["^.*$"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n1\n2\n", ","),
        ("a;b\n1,5;2\n", ";"),
        ("a\tb\n-1,5e3\tx\n", "\t"),
        ('a,b\n"x;y",1\n"p;q",2\n', ","),
        ("a;b,c\n1;2\n3;4\n", ";"),
        ("a,b\n1,2,3\n", ","),
        ("a;b\nr1;1;2\nr2;3;4\n", ";"),
        ("a;b;c\n1;2\n3;4;5\n6;7;8\n", ";"),
        ("note; long\nabc\ndef\nghi\n", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_found(text: str, expected: str) -> None:
    assert find_delimiter(text) == expected
