"""The table of messy files: one case for each kind of mess.

``tools/messy_files.py`` writes a page of it, and the tests in ``tests/data`` run it.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from spreadsheets import sheets

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("age", "fat", "income")
N = 24
TRUE = {
    "age": [21 + (17 * i) % 60 for i in range(N)],
    "fat": [round(18.5 + (7 * i) % 23 * 1.1, 1) for i in range(N)],
    "income": [900 + (7919 * i) % 90_000 for i in range(N)],
}
SEX = ["f", "m"] * (N // 2)
Cells = dict[str, list[str]]


@dataclass(frozen=True)
class Case:
    """One kind of mess.

    Attributes
    ----------
    name : str
        What is wrong with the file.
    outcome : {"understood", "said", "cautioned", "refused"}
        What happens: read right; read right, and said; read as it is, with a caution; an error.
    make : callable
        Gives the content of the file, or the data itself.
    file : str
        The file's name.
    options : dict
        Of `reldep.read`.
    columns : tuple of str
        The columns asked for.
    values : dict or None
        The right values; None if they are not looked at.
    """

    name: str
    outcome: str
    make: Callable[[], Any]
    file: str = "study.csv"
    options: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = COLUMNS
    values: dict[str, list[float]] | None = field(default_factory=lambda: dict(TRUE))


def cells(**changed: Callable[[Any], str]) -> Cells:
    """Write the table's cells, some columns in another way."""
    plain: Cells = {"id": [f"p{i}" for i in range(N)], "sex": list(SEX)}
    for name, values in TRUE.items():
        plain[name] = [changed.get(name, str)(value) for value in values]
    return plain


def text(table: Cells | None = None, *, sep: str = ",", end: str = "\n") -> str:
    """Write a table as text."""
    table = table or cells()
    records = [list(table), *map(list, zip(*table.values(), strict=True))]
    return "".join(sep.join(record) + end for record in records)


def quoted(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Put what is written into double quotes."""
    return lambda value: f'"{write(value)}"'


def with_cells(column: str, *replaced: tuple[int, str]) -> Cells:
    """Replace some cells of a column."""
    table = cells()
    for row, word in replaced:
        table[column][row] = word
    return table


def lines(*, before: str = "", after: dict[int, str] | None = None, end: str = "") -> str:
    """Put lines before, behind and into the text; `after` goes by the line before it."""
    written = text().splitlines(keepends=True)
    for line, extra in sorted((after or {}).items(), reverse=True):
        written.insert(line, extra)
    return before + "".join(written) + end


def r_table(sep: str) -> str:
    """Write the table as R's write.table does: rows with names, and no name for that column."""
    header, *records = text().splitlines()
    rows = [",".join(f'"{name}"' for name in header.split(","))]
    rows += [f'"{i + 1}",{record}' for i, record in enumerate(records)]
    return "".join(row.replace(",", sep) + "\n" for row in rows)


def turned_round() -> str:
    """Write the table with a row for every variable."""
    columns = cells()
    names = ["variable", *columns.pop("id")]
    rows = [names, *([name, *values] for name, values in columns.items())]
    return "".join(",".join(row) + "\n" for row in rows)


def without(*rows: int) -> dict[str, list[float]]:
    """Give the right values without some rows."""
    kept = [i for i in range(N) if i not in rows]
    return {name: [values[i] for i in kept] for name, values in TRUE.items()}


def zipped(**files: str) -> bytes:
    """Pack texts into an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def with_value(column: str, *rows: int, value: float) -> dict[str, list[float]]:
    """Give the right values with some replaced."""
    return {
        name: [value if name == column and i in rows else v for i, v in enumerate(values)]
        for name, values in TRUE.items()
    }


def comma(value: float) -> str:
    """Write a number with a decimal comma."""
    return str(value).replace(".", ",")


def _rows(*, words: dict[tuple[int, str], str] | None = None) -> list[list[object]]:
    """Write the table as rows of a sheet."""
    changed = words or {}
    return [
        list(TRUE),
        *([changed.get((i, name), TRUE[name][i]) for name in TRUE] for i in range(N)),
    ]


# One cell in the last corner of a sheet.
_CORNER = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'

HOW_IT_IS_WRITTEN = [
    Case("a byte order mark (UTF-8)", "understood", lambda: b"\xef\xbb\xbf" + text().encode()),
    Case(
        "UTF-16, as Excel's “Unicode text”", "understood", lambda: text(sep="\t").encode("utf-16")
    ),
    Case("line ends of Windows", "understood", lambda: text(end="\r\n")),
    Case("line ends of an old Mac", "understood", lambda: text(end="\r")),
    Case("line ends of two systems", "understood", lambda: text().replace("\n", "\r\n", 9)),
    Case("semicolons, tabs or bars between fields", "understood", lambda: text(sep=";")),
    Case("blanks between fields, as R writes by default", "said", lambda: r_table(" ")),
    Case("`sep=;` in the first line", "understood", lambda: "sep=;\n" + text(sep=";")),
    Case("delimiters at the end of lines", "understood", lambda: text(end=",,\n")),
    Case("blank lines", "understood", lambda: lines(before="\n", after={5: "\n", 9: ",,,,\n"})),
    Case("a cell of two lines", "understood", lambda: text(with_cells("sex", (3, '"f\n?"')))),
    Case("blanks around quotes", "understood", lambda: text(cells(fat=lambda v: f' "{v}" '))),
    Case("compressed with gzip", "understood", lambda: gzip.compress(text().encode(), mtime=0)),
    Case("a ZIP archive of one file", "understood", lambda: zipped(a_csv=text()), file="study.zip"),
    Case(
        "a ZIP archive of two files",
        "refused",
        lambda: zipped(a_csv=text(), b_csv=text()),
        file="study.zip",
    ),
    Case(
        "Latin-1, not UTF-8",
        "refused",
        lambda: text(with_cells("sex", (3, "Männlich"))).encode("latin1"),
    ),
    Case(
        "the same, with its encoding named",
        "understood",
        lambda: text(with_cells("sex", (3, "Männlich"))).encode("latin1"),
        options={"encoding": "latin1"},
    ),
    Case("a NUL byte", "refused", lambda: text().replace("p7", "p\0")),
    Case("a picture named .csv", "refused", lambda: b"\x89PNG\r\n\x1a\n"),
    Case("an empty file", "refused", lambda: ""),
]
HEADERS_AND_ROWS = [
    Case("comments before the table", "said", lambda: lines(before="# exported in May\n# by us\n")),
    Case("a comment between rows", "said", lambda: lines(after={4: "# a new batch\n"})),
    Case("a header that starts with #", "understood", lambda: "#" + text()),
    Case("a title above the table", "refused", lambda: lines(before="Our study\n\n")),
    Case(
        "the same, with two lines skipped",
        "understood",
        lambda: lines(before="Our study\n\n"),
        options={"skip_rows": 2},
    ),
    Case(
        "what a machine wrote above the table",
        "refused",
        lambda: lines(before="Run,7,,,\nOperator,Bo,,,\n,,,,\n"),
    ),
    Case("rows with names, and no header for these, as in R", "said", lambda: r_table(",")),
    Case("a table turned round: variables down the rows", "refused", turned_round),
    Case(
        "genes down the rows, samples across",
        "cautioned",
        lambda: text().replace("id,", "gene_id,", 1),
    ),
    Case(
        "genes that a spreadsheet turned into dates",
        "cautioned",
        lambda: text().replace("fat", "2-Sep", 1),
        columns=("age", "2-Sep", "income"),
        values={"age": TRUE["age"], "2-Sep": TRUE["fat"], "income": TRUE["income"]},
    ),
    Case("no header", "refused", lambda: "20,18.5\n21,19.5\n23,20.5\n25,22\n"),
    Case(
        "the same, and told so",
        "understood",
        lambda: "20,18.5\n21,19.5\n23,20.5\n25,22\n",
        options={"header": False},
        columns=("c1", "c2"),
        values={"c1": [20, 21, 23, 25], "c2": [18.5, 19.5, 20.5, 22]},
    ),
    Case("two columns of one name", "refused", lambda: text().replace("sex", "age", 1)),
    Case(
        "the header once more, between rows",
        "said",
        lambda: lines(after={9: "id,sex,age,fat,income\n"}),
    ),
    Case("a row of units under the header", "said", lambda: lines(after={1: ",,years,%,EUR\n"})),
    Case(
        "a row of totals", "cautioned", lambda: lines(end="Total,,1206,700.4,99999\n"), values=None
    ),
    Case(
        "a row of means without a name",
        "cautioned",
        lambda: lines(end=f",,{','.join(str(round(sum(v) / N, 2)) for v in TRUE.values())}\n"),
        values=None,
    ),
    Case("a footer", "refused", lambda: lines(end="(24 rows)\n")),
    Case(
        "a decimal comma between commas",
        "refused",
        lambda: text().replace(f"{TRUE['fat'][4]}", comma(TRUE["fat"][4]), 1),
    ),
    Case("a row that was cut off", "refused", lambda: lines(after={7: "p99,f,33\n"})),
    Case(
        "a double quote inside a value", "refused", lambda: text(with_cells("sex", (3, '5" pipe')))
    ),
]
NUMBERS = [
    Case("percent signs", "said", lambda: text(cells(fat=lambda v: f"{v}%"))),
    Case(
        "commas between thousands", "said", lambda: text(cells(income=quoted(lambda v: f"{v:,}")))
    ),
    Case("decimal commas", "understood", lambda: text(cells(fat=comma), sep=";")),
    Case("decimal commas in quotes", "said", lambda: text(cells(fat=quoted(comma)))),
    Case(
        "1.234,5 for a thousand and a bit",
        "said",
        lambda: text(
            cells(
                income=lambda v: f"{v:,}.0".replace(",", "_").replace(".", ",").replace("_", ".")
            ),
            sep=";",
        ),
    ),
    Case(
        "18.5 in some cells, 18,5 in others",
        "refused",
        lambda: text(with_cells("fat", (3, '"18,5"'), (5, '"20,25"'))),
    ),
    Case(
        "1,234 between semicolons, nothing else to tell by",
        "refused",
        lambda: text(
            cells(fat=lambda v: f"{v:.0f}", income=lambda v: f"{v % 9 + 1},{v % 900 + 100}"),
            sep=";",
        ),
    ),
    Case(
        "the same, with the mark named",
        "said",
        lambda: text(cells(income=lambda v: f"{v:,}"), sep=";"),
        options={"thousands": ","},
    ),
    Case(
        "spaces between thousands, as thin as they may be",
        "said",
        lambda: text(cells(income=lambda v: f"{v:,}".replace(",", "\u202f"))),
    ),
    Case("a currency", "said", lambda: text(cells(income=lambda v: f"€ {v}"))),
    Case("a unit in every cell", "said", lambda: text(cells(fat=lambda v: f"{v} kg"))),
    Case(
        "different units", "refused", lambda: text(with_cells("fat", (3, "18500 g"), (4, "19 kg")))
    ),
    Case("limits such as <0.5", "refused", lambda: text(with_cells("fat", (3, "<18.5")))),
    Case(
        "minus signs of typesetters",
        "said",
        lambda: text(cells(fat=lambda v: f"−{v}")),
        values={**TRUE, "fat": [-v for v in TRUE["fat"]]},
    ),
    Case("1,5e3", "said", lambda: text(cells(fat=quoted(lambda v: comma(v / 10) + "e1")))),
    Case(
        "negative numbers in brackets",
        "said",
        lambda: text(cells(fat=lambda v: f"({v})")),
        values={**TRUE, "fat": [-v for v in TRUE["fat"]]},
    ),
    Case("a word among numbers", "refused", lambda: text(with_cells("fat", (3, "unknown")))),
    Case(
        "the same, named as missing",
        "understood",
        lambda: text(with_cells("fat", (3, "unknown"))),
        options={"na": ("unknown",)},
        values=without(3),
    ),
    Case("codes with leading zeros", "cautioned", lambda: text(cells(income=lambda v: f"{v:06}"))),
    Case(
        "ranges such as 40-49, fractions, 1.2 ± 0.1",
        "cautioned",
        lambda: text(cells(age=lambda v: f"{v // 2}-{v // 2 + 9}")),
        values=None,
    ),
]
MISSING_AND_LABELS = [
    Case(
        "empty cells, NA, NaN, NULL",
        "understood",
        lambda: text(with_cells("fat", (0, ""), (1, "NA"), (2, "NaN"), (3, "NULL"))),
        values=without(0, 1, 2, 3),
    ),
    Case(
        "n/a, #N/A, a point, ? or - among numbers",
        "said",
        lambda: text(with_cells("fat", (0, "n/a"), (1, "#N/A"), (2, "."), (3, "?"), (4, "-"))),
        values=without(0, 1, 2, 3, 4),
    ),
    Case(
        "−999 for missing",
        "cautioned",
        lambda: text(with_cells("fat", (0, "-999"), (7, "-999"))),
        values=with_value("fat", 0, 7, value=-999),
    ),
    Case(
        "9999 for missing",
        "cautioned",
        lambda: text(with_cells("age", (3, "9999"))),
        values=with_value("age", 3, value=9999),
    ),
    Case(
        "−1 in a column of positive numbers",
        "cautioned",
        lambda: text(with_cells("age", (3, "-1"))),
        values=with_value("age", 3, value=-1),
    ),
    Case(
        "−999, named as missing",
        "understood",
        lambda: text(with_cells("fat", (0, "-999"), (7, "-999"))),
        options={"na": (-999,)},
        values=without(0, 7),
    ),
    Case(
        "a label in two spellings",
        "cautioned",
        lambda: text(with_cells("sex", (0, "F"))),
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "? among labels",
        "cautioned",
        lambda: text(with_cells("sex", (0, "?"))),
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "labels nearly all of which differ",
        "refused",
        lambda: text(with_cells("id", (1, "p0"))),
        columns=("age", "id"),
    ),
    Case(
        "yes and no, TRUE and FALSE",
        "understood",
        lambda: text(with_cells("sex", *((i, ("yes", "no")[i % 2]) for i in range(N)))),
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "a column without any value",
        "refused",
        lambda: text(with_cells("fat", *((i, "") for i in range(N)))),
    ),
    Case(
        "dates",
        "said",
        lambda: text(cells(age=lambda v: f"2024-01-{v % 28 + 1:02}")),
        values={**TRUE, "age": [v % 28 - min(v % 28 for v in TRUE["age"]) for v in TRUE["age"]]},
    ),
    Case(
        "01/02/2024, and no day above 12",
        "refused",
        lambda: text(cells(age=lambda v: f"{v % 12 + 1:02}/02/2024")),
    ),
    Case(
        "2024-01-31 in some cells, 31/01/2024 in others",
        "refused",
        lambda: text(
            cells()
            | {"age": [f"2024-01-{i + 1:02}" if i % 2 else f"{i + 1:02}/01/2024" for i in range(N)]}
        ),
    ),
    Case(
        "1/31/24, a year of two digits",
        "refused",
        lambda: text(cells(age=lambda v: f"1/{v % 28 + 1}/24")),
    ),
]
WORKBOOKS = [
    Case(
        "a workbook of two sheets",
        "said",
        lambda: sheets(first=_rows(), second=[["x"], [1]]),
        file="study.xlsx",
    ),
    Case(
        "a first sheet that is hidden",
        "said",
        lambda: sheets(hidden=("old",), old=[["age"], [1]], data=_rows()),
        file="study.xlsx",
    ),
    Case(
        "rows that are hidden, as by a filter",
        "cautioned",
        lambda: sheets(hidden_rows=(3, 4, 9), data=_rows()),
        file="study.xlsx",
    ),
    Case(
        "a title in merged cells above the table",
        "refused",
        lambda: sheets(data=[["Our study", None, None], *_rows()]),
        file="study.xlsx",
    ),
    Case(
        "a row of totals in a sheet",
        "cautioned",
        lambda: sheets(data=[*_rows(), [float(sum(values)) for values in TRUE.values()]]),
        file="study.xlsx",
        values=None,
    ),
    Case(
        "a first sheet that is empty",
        "refused",
        lambda: sheets(notes=[], data=_rows()),
        file="study.xlsx",
    ),
    Case(
        "the same, with the sheet named",
        "understood",
        lambda: sheets(notes=[], data=_rows()),
        file="study.xlsx",
        options={"sheet": "data"},
    ),
    Case(
        "n/a in a sheet's column of numbers",
        "said",
        lambda: sheets(data=_rows(words={(3, "fat"): "n/a"})),
        file="study.xlsx",
        values=without(3),
    ),
    Case(
        "a stray cell in the last corner of a sheet",
        "refused",
        lambda: sheets(data=_rows(), end=_CORNER),
        file="study.xlsx",
    ),
]
IN_PYTHON = [
    Case(
        "numbers as strings (`astype(str)`)",
        "said",
        lambda: pl.DataFrame({**TRUE, "fat": [str(v) for v in TRUE["fat"]]}),
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
    ),
    Case(
        "two slices of series, of the same length but of other rows",
        "refused",
        lambda: {"age": pd.Series(TRUE["age"])[2:], "fat": pd.Series(TRUE["fat"])[:-2]},
    ),
    Case(
        "a series that was sorted, beside arrays",
        "cautioned",
        lambda: {"age": pd.Series(TRUE["age"])[::-1], "fat": np.array(TRUE["fat"])},
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
