"""A record with fields too many or too few is refused with its line, whatever is asked for."""

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reldep
from reldep.files.byte_sources import Source
from reldep.files.text import find_records

STEADY = settings(deadline=None, derandomize=True, max_examples=60)
ROWS = [f"{i},{i % 7}.5,{i % 5},{i * 3}" for i in range(2, 60)]


@pytest.mark.parametrize("columns", [["line"], ["bmi"], ["bp", "target"]])
@pytest.mark.parametrize("broken", ["42,0,5,2,126", "42,5,2"])
def test_a_shifted_row_is_refused_whichever_columns_are_asked_for(columns, broken, pipe):
    lines = ["line,bmi,bp,target", *ROWS[:40], broken, *ROWS[40:]]
    content = ("\n".join(lines) + "\n").encode()
    n_fields = broken.count(",") + 1
    message = f"line 42 of .* has {n_fields} fields, but line 1 names 4 columns: '{broken}'"
    for data in (io.BytesIO(content), io.BytesIO(gzip.compress(content)), pipe(content)):
        with pytest.raises(ValueError, match=message):
            reldep.read(data).read(columns)


CELL = st.text('ab1 ,;"\né', max_size=4)
TABLE = st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=8)


@STEADY
@given(TABLE, st.sampled_from(["\n", "\r\n"]), st.integers(3, 200))
def test_records_fields_and_lines_are_those_of_the_csv_module(rows, end, piece):
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    text = written.getvalue()
    reader = csv.reader(io.StringIO(text, newline=""))
    expected, start = [], 1
    for record in reader:
        expected.append((start, len(record)))
        start = reader.line_num + 1
    source = Source("x", text.encode())
    found = find_records(source, ",", first_line=1, has_header=False, piece=piece)
    assert found.select("line", "n_fields").rows() == expected


@STEADY
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=20),
    st.sampled_from(",;\t|"),
)
def test_the_first_record_of_another_width_is_named(widths, delimiter):
    lines = [delimiter.join("abc")] + [delimiter.join("1" * width) for width in widths]
    content = "\n".join(lines).encode()
    wrong = [line for line, width in enumerate(widths, 2) if width != 3]
    file = io.BytesIO(content)
    if not wrong:
        assert len(reldep.read(file, delimiter=delimiter)) == len(widths)
        return
    with pytest.raises(
        ValueError, match=rf"line {wrong[0]} of the file has {widths[wrong[0] - 2]} field"
    ):
        reldep.read(file, delimiter=delimiter)
