"""Rows of a file keep their lines through conditions, joins, blank lines and comments."""

import gzip

import numpy as np
import pytest

import reldep
from reldep.kernels import Precomputed


def test_a_condition_does_not_shift_the_lines(write):
    # The value of each row is its line in the file.
    lines = "line,x\n" + "".join(f"{line},{line % 7}\n" for line in range(2, 42))
    table = reldep.read(write("forty.csv", lines), where="line >= 20")
    frame, rows = table.read(["line"]), table.rows
    assert rows.values() == frame["line"].to_list()
    assert rows.take([10, 0, 11]).values() == [30, 20, 31]
    assert rows.name(10) == "line 30"


MESSY = """# made in May

line,note
4,"two
lines"

7,b
# a comment
9,c
line,note
11,d
,
13,e
"""


@pytest.mark.parametrize("kind", ["path", "gzip", "stdin", "crlf"])
def test_blank_lines_comments_long_cells_and_repeated_headers_are_counted(write, pipe, kind):
    content = MESSY.encode()
    content = content.replace(b"\n", b"\r\n") if kind == "crlf" else content
    path = write("m.csv", gzip.compress(content) if kind == "gzip" else content)
    table = reldep.read(pipe(content) if kind == "stdin" else path)
    frame, rows = table.read(["line"]), table.rows
    assert frame["line"].to_list() == rows.values() == [4, 7, 9, 11, 13]
    assert table.restricted("note = 'd'").rows.name(0) == "line 11"
    said = " ".join(map(str, table.notes_about(["line"])))
    assert "a comment before the table left out" in said
    assert "line 8 was taken as a comment" in said
    assert "line 10 was taken as the header once more" in said


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_rows_left_out_twice_stay_matched_with_matrices_and_columns(rng):
    """A condition leaves out row 5, a missing value the last row."""
    x, y, z = rng.normal(size=(3, 60))
    y[-1] = np.nan
    left, kept = np.arange(60) != 5, (np.arange(60) != 5) & ~np.isnan(y)
    table = reldep.read({"x": x, "y": y, "z": z}, where=left)
    matrix = np.exp(-np.abs(np.subtract.outer(x, x)))
    found = reldep.compare(
        "x", "y", "z", data=table, missing="drop", kernel={"x": Precomputed(matrix[left][:, left])}
    )
    stated = Precomputed(matrix[kept][:, kept])
    same = reldep.compare(x[kept], y[kept], z[kept], kernel=(stated, "auto", "auto"))
    np.testing.assert_allclose(found.estimates, same.estimates, rtol=1e-9)
    scanned = reldep.scan("y", "x,z", data=table, missing="drop").to_frame()
    whole = reldep.scan(y[kept], {"x": x[kept], "z": z[kept]}).to_frame()
    for column in ("pvalue", "estimate"):
        np.testing.assert_allclose(scanned[column], whole[column], rtol=1e-9)
