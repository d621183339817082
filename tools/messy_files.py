"""Files as messy as real ones, and the page that says what happens to each.

``python tools/messy_files.py`` writes ``docs/guide/messy-files.md``. The tests run the same cases.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from messy_lines import HEADERS_AND_ROWS, HOW_IT_IS_WRITTEN
from messy_table import TRUE, Case, N, without
from messy_values import MISSING_AND_LABELS, NUMBERS

from reldep.checks import Data, cautions_about_values
from reldep.data.dataset import read_dataset
from reldep.data.variables import Labels
from reldep.files.read import read
from reldep.kernels.choosing import as_kernel

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "messy-files.md"


def _sheets(
    *, hidden: tuple[str, ...] = (), hidden_rows: tuple[int, ...] = (), **sheets: list[list[object]]
) -> bytes:
    """Write a workbook with nothing but the standard library."""
    from xml.sax.saxutils import escape

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, (int, float)):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'

    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        + "".join(
            f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"'
            + (' state="hidden"/>' if name in hidden else "/>")
            for i, name in zip(numbers, sheets, strict=True)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + "".join(
            f'<Relationship Id="rId{i}" Type="{office}/worksheet" '
            f'Target="worksheets/sheet{i}.xml"/>'
            for i in numbers
        )
        + "</Relationships>",
    }
    mark = ' hidden="1"'
    for i, rows in zip(numbers, sheets.values(), strict=True):
        body = "".join(
            f"<row{mark if at in hidden_rows else ''}>{''.join(map(cell, row))}</row>"
            for at, row in enumerate(rows)
        )
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
        )
    with tempfile.TemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, f'<?xml version="1.0"?>{content}')
        packed.seek(0)
        return packed.read()


def _rows(*, words: dict[tuple[int, str], str] | None = None) -> list[list[object]]:
    """Write the table as rows of a sheet."""
    changed = words or {}
    return [
        list(TRUE),
        *([changed.get((i, name), TRUE[name][i]) for name in TRUE] for i in range(N)),
    ]


def _far_cell() -> bytes:
    """Write a small workbook with one cell in the last corner."""
    small = _sheets(data=_rows())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.xlsx"
        path.write_bytes(small)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        sheet = "xl/worksheets/sheet1.xml"
        corner = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        parts[sheet] = parts[sheet].replace(b"</sheetData>", corner)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        return path.read_bytes()


WORKBOOKS = [
    Case(
        "a workbook of two sheets",
        "said",
        lambda: _sheets(first=_rows(), second=[["x"], [1]]),
        "the sheet 'first' was read, of 'first', 'second'",
        file="study.xlsx",
    ),
    Case(
        "a first sheet that is hidden",
        "said",
        lambda: _sheets(hidden=("old",), old=[["age"], [1]], data=_rows()),
        "the sheet 'data' was read, of 'old (hidden)', 'data'",
        file="study.xlsx",
    ),
    Case(
        "rows that are hidden, as by a filter",
        "cautioned",
        lambda: _sheets(hidden_rows=(3, 4, 9), data=_rows()),
        "3 rows are hidden in the sheet, as by a filter, and read like the others",
        file="study.xlsx",
    ),
    Case(
        "a title in merged cells above the table",
        "refused",
        lambda: _sheets(data=[["Our study", None, None], *_rows()]),
        "If the table starts further down, pass `skip_rows=1`",
        file="study.xlsx",
    ),
    Case(
        "a row of totals in a sheet",
        "cautioned",
        lambda: _sheets(data=[*_rows(), [float(sum(values)) for values in TRUE.values()]]),
        "line 26 holds the sums of the rows above it",
        file="study.xlsx",
        values=None,
    ),
    Case(
        "a first sheet that is empty",
        "refused",
        lambda: _sheets(notes=[], data=_rows()),
        "It also has 'data': pass `sheet='data'`",
        file="study.xlsx",
    ),
    Case(
        "the same, with the sheet named",
        "understood",
        lambda: _sheets(notes=[], data=_rows()),
        file="study.xlsx",
        options={"sheet": "data"},
    ),
    Case(
        "n/a in a sheet's column of numbers",
        "said",
        lambda: _sheets(data=_rows(words={(3, "fat"): "n/a"})),
        "'n/a' read as missing (1 of 24 cells)",
        file="study.xlsx",
        values=without(3),
    ),
    Case(
        "a stray cell in the last corner of a sheet",
        "refused",
        _far_cell,
        "spreads 76 values over 17,179,869,184 cells",
        file="study.xlsx",
    ),
]
IN_PYTHON = [
    Case(
        "numbers as strings (`astype(str)`)",
        "said",
        lambda: pl.DataFrame({**TRUE, "fat": [str(v) for v in TRUE["fat"]]}),
        "strings were read as the numbers that they show",
    ),
    Case(
        "a list in each cell of a frame",
        "understood",
        lambda: pl.DataFrame({"emb": [[i, i * i] for i in range(N)], **TRUE}),
    ),
    Case(
        "numbers as names of columns",
        "understood",
        lambda: pd.DataFrame({0: TRUE["age"], 1: TRUE["fat"]}),
        columns=("0", "1"),
        values={"0": TRUE["age"], "1": TRUE["fat"]},
    ),
    Case(
        "two columns of one name in a frame",
        "refused",
        lambda: pd.DataFrame(np.ones((N, 2)), columns=["age", "age"]),
        "more than one column named 'age'",
    ),
    Case(
        "series whose index is in another order",
        "understood",
        lambda: {
            "age": pd.Series(TRUE["age"]),
            "fat": pd.Series(TRUE["fat"])[::-1],
            "income": pd.Series(TRUE["income"]),
        },
    ),
    Case(
        "series whose indexes do not match",
        "refused",
        lambda: {
            "age": pd.Series(TRUE["age"], index=[f"a{i}" for i in range(N)]),
            "fat": pd.Series(TRUE["fat"], index=[f"b{i}" for i in range(N)]),
        },
        "'age' and 'fat' do not have the same rows: 'b0' is in the index of 'fat' only",
    ),
    Case(
        "two slices of series, of the same length but of other rows",
        "refused",
        lambda: {"age": pd.Series(TRUE["age"])[2:], "fat": pd.Series(TRUE["fat"])[:-2]},
        "'age' and 'fat' do not have the same rows: '0' is in the index of 'fat' only",
    ),
    Case(
        "a series that was sorted, beside arrays",
        "cautioned",
        lambda: {"age": pd.Series(TRUE["age"])[::-1], "fat": np.array(TRUE["fat"])},
        "'fat' has no index and was matched by position",
        values=None,
    ),
]
CHAPTERS = {
    "How the file is written": HOW_IT_IS_WRITTEN,
    "Headers and rows": HEADERS_AND_ROWS,
    "Numbers": NUMBERS,
    "Missing values, labels and dates": MISSING_AND_LABELS,
    "Workbooks": WORKBOOKS,
    "Data in Python": IN_PYTHON,
}
CASES = [case for chapter in CHAPTERS.values() for case in chapter]


@dataclass(frozen=True)
class Happened:
    """What happened to a case: the error, or the values and what was said about them."""

    error: str | None
    said: tuple[str, ...]
    values: dict[str, list[float]]


def run(case: Case) -> Happened:
    """Read the data of a case from a file in the current directory, or as they are."""
    made = case.make()
    try:
        if isinstance(made, (str, bytes)):
            content = made if isinstance(made, bytes) else made.encode()
            Path(case.file).write_bytes(content)
            made = case.file
        if isinstance(made, dict):
            blocks, rows, notes = made, None, ()
        else:
            table = read(made, **case.options)
            blocks = table.take(list(case.columns), several=True)
            rows, notes = table.rows, table.notes_about(table.select(list(case.columns)))
        dataset = read_dataset(blocks, missing="drop", ids=rows)
        kernels = {name: as_kernel("auto", one) for name, one in dataset.variables.items()}
        fitted = {name: kernel.fit(dataset.variables[name]) for name, kernel in kernels.items()}
    except (ValueError, TypeError, OSError) as error:
        return Happened(str(error), (), {})
    found = cautions_about_values(
        Data(
            variables=dataset.variables,
            rows=dataset.rows,
            kernels=kernels,
            fitted=fitted,
            automatic=set(kernels),
            unmatched=dataset.unmatched,
        )
    )
    values = {
        name: [] if isinstance(variable, Labels) else variable.values.ravel().tolist()
        for name, variable in dataset.variables.items()
    }
    return Happened(None, (*notes, *dataset.notes, *map(str, found)), values)


WORDS = {
    "understood": "understood",
    "said": "understood, with a note",
    "cautioned": "cautioned",
    "refused": "refused",
}
START = """# Messy files

What happens to a file that is not as it should be. There are four answers. *Understood*: there is
one way to read it, and nothing to say. *Understood, with a note*: it is read in the way that a
whole column or file agrees on, and a note says how. *Cautioned*: it is read as it is, and a
caution names what looks wrong. *Refused*: an error names the line, the cell and the way out.
Nothing is guessed in silence.

In Python a caution is among `result.warnings` and a note among `result.provenance.notes`; the
command line prints both under the answer. Options are written here as in Python (`skip_rows=2`);
the command line spells them `--skip-rows 2`.

This page is made by `python tools/messy_files.py`, which runs every case. The tests run them too.
"""


def page() -> str:
    """Write the page: a table a chapter."""
    parts = [START]
    for title, cases in CHAPTERS.items():
        parts.append(f"\n## {title}\n\n| the data | what happens | what is said |\n|---|---|---|\n")
        for case in cases:
            happened = run(case)
            told = happened.error or " ".join(happened.said)
            cell = told.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
            name = case.name.replace("<", "&lt;")
            options = ", ".join(f"`{key}={value!r}`" for key, value in case.options.items())
            shown = f"{name} ({options})" if options else name
            parts.append(f"| {shown} | {WORDS[case.outcome]} | {cell} |\n")
    return "".join(parts)


def main() -> None:
    """Write the page of the documentation."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target = target.absolute()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        written = page()
        os.chdir(target.parent)
    target.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
