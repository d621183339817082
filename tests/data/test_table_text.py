"""Delimited text: how it is written, its types, its missing values, its errors."""

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reldep
from reldep.data.selectors import quote_column
from reldep.files.byte_sources import open_source
from reldep.files.read import completed
from reldep.files.text import read_text
from reldep.words import composed

STEADY = settings(deadline=None, derandomize=True, max_examples=60)
MICE = "id,diet,C14\nm1,fish,0.5\nm2,sun,NA\nm3,sun,0.7\n"


def everything(table):
    return table.read(list(table.columns)).to_dict(as_series=False)


MICE_VALUES = {"id": ["m1", "m2", "m3"], "diet": ["fish", "sun", "sun"], "C14": [0.5, None, 0.7]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mice.txt", MICE.replace(",", "|")),
        ("mice.tsv", MICE.replace(",", "\t")),
        ("mice.tab", MICE.replace(",", "\t")),
        ("MICE.CSV", MICE),
        ("mice.csv", MICE.encode("utf-32")),
        ("mice.csv", MICE.replace("\n", "\r\n", 2)),
        ("mice.csv", MICE.replace("\n", "\r", 2)),
        ("mice.csv", MICE.replace(",", ", ")),
        ("mice.csv", MICE.replace("m1", '"m1"').replace("0.5", '"0.5"')),
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
def test_standard_input_is_sniffed(pipe, write, delimiter):
    content = MICE.replace(",", delimiter).encode()
    for packed in (content, gzip.compress(content, mtime=0)):
        table = reldep.read(pipe(packed))
        assert everything(table) == MICE_VALUES
        assert table.name == "standard input"
        joined = reldep.read([pipe(packed), write("b.csv", "id,C14\nm3,5\n")], join="id")
        assert joined.read(["stdin_C14", "b_C14"]).rows() == [(0.7, 5)]
    with pytest.raises(ValueError, match="standard input is empty: it has no columns"):
        reldep.read(pipe(b""))


def large(path):
    """Read a text as one that does not fit into memory."""
    return read_text(open_source(path), completed({}), largest=0)


@pytest.mark.parametrize("column", ["x", "b"])
def test_in_a_large_file_a_late_word_is_named_with_its_line(write, column):
    late = {"x": "1.5", "b": "2"}
    rows = ",".join(late.values()) + "\n"
    late[column] = "oops"
    path = write("large.csv", "x,b\n" + rows * 300 + ",".join(late.values()) + "\n")
    with pytest.raises(ValueError, match=rf"column '{column}' contains .*: 'oops' \(line 302\)"):
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
