"""Delimited text: how it is written, its types, its missing values, its errors."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reldep
from reldep.data.checks import composed
from reldep.data.missing_codes import MISSING_WORDS
from reldep.data.selectors import quote_column
from reldep.files.byte_sources import open_source
from reldep.files.header import find_delimiter
from reldep.files.read import completed
from reldep.files.text import read_text

STEADY = settings(deadline=None, derandomize=True, max_examples=60)
MICE = "id,diet,C14\nm1,fish,0.5\nm2,sun,NA\nm3,sun,0.7\n"


def everything(table):
    return table.read(list(table.columns)).to_dict(as_series=False)


MICE_VALUES = {"id": ["m1", "m2", "m3"], "diet": ["fish", "sun", "sun"], "C14": [0.5, None, 0.7]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mice.csv", MICE),
        ("mice.csv", MICE.replace(",", ";")),
        ("mice.txt", MICE.replace(",", "|")),
        ("mice.tsv", MICE.replace(",", "\t")),
        ("mice.tab", MICE.replace(",", "\t")),
        ("MICE.CSV", MICE),
        ("mice.csv", b"\xef\xbb\xbf" + MICE.encode()),
        ("mice.csv", MICE.encode("utf-32")),
        ("mice.csv", "sep=,\n" + MICE),
        ("mice.csv", MICE.replace("\n", "\r\n", 2)),
        ("mice.csv", MICE.replace("\n", "\r", 2)),
        ("mice.csv", MICE.replace(",", ", ")),
        ("mice.csv", MICE.replace("m1", '"m1"').replace("0.5", '"0.5"')),
        ("mice.csv.gz", gzip.compress(MICE.encode(), mtime=0)),
        ("mice.tsv.GZ", gzip.compress(MICE.replace(",", "\t").encode(), mtime=0)),
        ("mice.csv.gz", MICE),
        ("mice[1]*.csv", MICE),
        ("mice.csv", MICE.replace(",", ";").replace("0.", "0,")),
    ],
)
def test_however_it_is_written_it_is_the_same_table(write, name, content):
    table = reldep.read(write(name, content))
    assert everything(table) == MICE_VALUES
    assert list(table.columns.values()) == ["text", "text", "number"]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_standard_input_is_sniffed(pipe, delimiter):
    content = MICE.replace(",", delimiter).encode()
    for packed in (content, gzip.compress(content, mtime=0)):
        table = reldep.read(pipe(packed))
        assert everything(table) == MICE_VALUES
        assert table.name == "standard input"
    with pytest.raises(ValueError, match="standard input is empty: it has no columns"):
        reldep.read(pipe(b""))


def test_types_are_found_by_looking_at_all_rows(write):
    rows = "".join(f"{i},{i % 3},true,2024-01-{1 + i % 28:02},u\n" for i in range(500))
    path = write("late.csv", f"i,x,b,d,w\n{rows}500,0.25,FALSE,2024-02-01,v\n")
    table = reldep.read(path)
    assert list(table.columns.values()) == ["integer", "number", "boolean", "date", "text"]
    assert table.read(["x", "b"]).row(500) == (0.25, False)


@pytest.mark.parametrize("word", [*MISSING_WORDS, '""', " NA ", '"NA"', " "])
def test_these_words_are_missing_values(write, word):
    table = reldep.read(write("gaps.csv", f"x,w,i\n1,a,0\n{word},{word},0\n3,b,0\n"))
    assert table.read(["x", "w"]).rows() == [(1, "a"), (None, None), (3, "b")]


@pytest.mark.parametrize("word", ["?", "-", "none", "missing", "."])
def test_other_words_are_not_taken_for_missing(write, word):
    table = reldep.read(write("words.csv", f"w,i\na,1\n{word},2\n"))
    assert table.read(["w"])["w"].to_list() == ["a", word]


def test_numbers_with_a_stray_word_are_refused_with_its_line(write):
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


def test_neither_type_passes_over_numbers_with_a_stray_word(write):
    table = reldep.read(write("ages.csv", "age,height\n31,1\nunknown,2\n45,3\n"))
    assert table.select("@numeric") == ["age", "height"]
    assert table.select("@categorical") == ["age"]
    assert table.select("@numeric,!age") == ["height"]


def large(path):
    """Read a text as one that does not fit into memory."""
    return read_text(open_source(path), completed({}), largest=0)


@pytest.mark.parametrize("column", ["x", "b"])
def test_in_a_large_file_a_late_word_is_named_with_its_line(write, column):
    late = {"x": "1.5", "b": "2"}
    rows = ",".join(late.values()) + "\n"
    late[column] = "oops"
    path = write("large.csv", "x,b\n" + rows * 300 + ",".join(late.values()) + "\n")
    with pytest.raises(ValueError, match=rf"column '{column}' holds .*: 'oops' \(line 302\)"):
        large(path).read([column])


def test_a_large_file_that_changes_between_two_passes_is_refused(write):
    table = large(write("large.csv", "x,b\n1,2\n2,1\n"))
    assert table.read(["x"])["x"].to_list() == [1, 2]
    write("large.csv", "x,b\n1,2\n2,1\n3,3\n")
    with pytest.raises(ValueError, match=r"large.csv has changed while it was read"):
        table.read(["b"])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_large_file_is_read_like_a_small_one(write, compressed):
    content = ("i,gap,w,,d\n" + "1,NA,u,z,\n" * 300 + "2.5,3,v,y,\n,,,,\n007,,w,,\n").encode()
    path = write("large.csv", gzip.compress(content, mtime=0) if compressed else content)
    table, small = large(path), reldep.read(path)
    assert dict(table.columns) == dict(small.columns)
    assert everything(table) == everything(small)
    assert table.rows.values() == small.rows.values()
    assert len(table) == 302


@pytest.mark.parametrize("word", ["Mittel", "Durchschnitt:", "avg", "Moyenne", "итого", "合计"])
def test_totals_are_known_in_many_languages(write, word):
    path = write("sums.csv", "who,x,y\n" + "anna,1.5,2\nbert,2.5,7\n" * 5 + f"{word},1,9\n")
    said = " ".join(str(caution) for caution in reldep.read(path).notes_about(["x", "y"]))
    assert f"line 12 looks like a row of totals ('{word}')" in said
    assert "but counted as one; pass `drop_summary=True` to leave it out" in said
    left = reldep.read(path, drop_summary=True)
    assert left.rows.values() == [*range(2, 12)]
    assert left["y"].to_list() == [2, 7] * 5


def test_fields_longer_than_the_line_finder_takes_are_read(write):
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
def test_any_column_name_can_be_read_back_by_its_quoted_name(names):
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
def test_any_table_the_csv_module_writes_is_read_back(rows, delimiter, line_end, quoting):
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([("note", "x;y", 'say "z"'), *rows])
    table = reldep.read(io.BytesIO(written.getvalue().encode()))
    assert table.columns["x;y"] == "number"
    assert table.read(["note", "x;y", 'say "z"']).rows() == [
        (note, float(number), None if word == "NA" else word) for note, number, word in rows
    ]


def test_columns_named_like_patterns_are_single_columns(write):
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
def test_the_delimiter_is_found(text, expected):
    assert find_delimiter(text) == expected
