"""The table of messy files: one case for each kind of mess.

``tools/messy_files.py`` writes a page of it, and the tests in ``tests/data`` run it.
"""

import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from spreadsheets import sheets

COLUMNS = ("age", "fat", "income")
N = 24
TRUE = {
    "age": [21 + (17 * i) % 60 for i in range(N)],
    "fat": [round(18.5 + (7 * i) % 23 * 1.1, 1) for i in range(N)],
    "income": [900 + (7919 * i) % 90_000 for i in range(N)],
}
NEGATIVE = {**TRUE, "fat": [-value for value in TRUE["fat"]]}
SEX = ["f", "m"] * (N // 2)
Cells = dict[str, list[str]]


@dataclass(frozen=True)
class Case:
    """One kind of mess.

    Attributes
    ----------
    outcome : {"understood", "said", "cautioned", "refused"}
        What happens: read right; read right, and said; read as it is, with a caution; an error.
    name : str
        What is wrong with the file.
    data : str, bytes or object
        The content of the file, or the data themselves.
    options : dict
        Of `reldep.read`.
    columns : tuple of str
        The columns asked for.
    values : dict or None
        The right values; None if they are not looked at.
    """

    outcome: str
    name: str
    data: Any
    options: dict[str, Any]
    columns: tuple[str, ...] = COLUMNS
    values: dict[str, list[float]] | None = None

    @property
    def file(self) -> str:
        """The file's name."""
        if isinstance(self.data, bytes) and self.data.startswith(b"PK"):
            return "study.xlsx" if b"xl/workbook.xml" in self.data else "study.zip"
        return "study.csv"


def case(
    outcome: str,
    name: str,
    data: Any,
    *,
    columns: Any = COLUMNS,
    values: Any = TRUE,
    **options: Any,
) -> Case:
    """Return a case with the options of `reldep.read` that it needs."""
    return Case(outcome, name, data, options, columns, values)


understood, said = partial(case, "understood"), partial(case, "said")
cautioned, refused = partial(case, "cautioned"), partial(case, "refused")


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


def written(**changed: Callable[[Any], str]) -> str:
    """Write the table as text, some columns in another way."""
    return text(cells(**changed))


def with_cells(column: str, *replaced: tuple[int, str]) -> str:
    """Write the table as text with some cells of a column replaced."""
    table = cells()
    for row, word in replaced:
        table[column][row] = word
    return text(table)


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


def rows(*, words: dict[tuple[int, str], str] | None = None) -> list[list[object]]:
    """Write the table as rows of a sheet."""
    changed = words or {}
    return [
        list(TRUE),
        *([changed.get((i, name), TRUE[name][i]) for name in TRUE] for i in range(N)),
    ]


# One cell in the last corner of a sheet.
_CORNER = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'

CHAPTERS = {
    "How the file is written": [
        understood("a byte order mark (UTF-8)", b"\xef\xbb\xbf" + text().encode()),
        understood("UTF-16, as Excel's “Unicode text”", text(sep="\t").encode("utf-16")),
        understood("line ends of Windows", text(end="\r\n")),
        understood("line ends of an old Mac", text(end="\r")),
        understood("line ends of two systems", text().replace("\n", "\r\n", 9)),
        understood("semicolons, tabs or bars between fields", text(sep=";")),
        said("blanks between fields, as R writes by default", r_table(" ")),
        understood("`sep=;` in the first line", "sep=;\n" + text(sep=";")),
        understood("delimiters at the end of lines", text(end=",,\n")),
        understood("blank lines", lines(before="\n", after={5: "\n", 9: ",,,,\n"})),
        understood("a cell of two lines", with_cells("sex", (3, '"f\n?"'))),
        understood("blanks around quotes", written(fat=lambda v: f' "{v}" ')),
        understood("compressed with gzip", gzip.compress(text().encode(), mtime=0)),
        understood("a ZIP archive of one file", zipped(a_csv=text())),
        refused("a ZIP archive of two files", zipped(a_csv=text(), b_csv=text())),
        refused("Latin-1, not UTF-8", with_cells("sex", (3, "Männlich")).encode("latin1")),
        understood(
            "the same, with its encoding named",
            with_cells("sex", (3, "Männlich")).encode("latin1"),
            encoding="latin1",
        ),
        refused("a NUL byte", text().replace("p7", "p\0")),
        refused("a picture named .csv", b"\x89PNG\r\n\x1a\n"),
        refused("an empty file", ""),
    ],
    "Headers and rows": [
        said("comments before the table", lines(before="# exported in May\n# by us\n")),
        said("a comment between rows", lines(after={4: "# a new batch\n"})),
        understood("a header that starts with #", "#" + text()),
        refused("a title above the table", lines(before="Our study\n\n")),
        understood("the same, with two lines skipped", lines(before="Our study\n\n"), skip_rows=2),
        refused(
            "what a machine wrote above the table", lines(before="Run,7,,,\nOperator,Bo,,,\n,,,,\n")
        ),
        said("rows with names, and no header for these, as in R", r_table(",")),
        refused("a table turned round: variables down the rows", turned_round()),
        cautioned("genes down the rows, samples across", text().replace("id,", "gene_id,", 1)),
        cautioned(
            "genes that a spreadsheet turned into dates",
            text().replace("fat", "2-Sep", 1),
            columns=("age", "2-Sep", "income"),
            values={"age": TRUE["age"], "2-Sep": TRUE["fat"], "income": TRUE["income"]},
        ),
        refused("no header", "20,18.5\n21,19.5\n23,20.5\n25,22\n"),
        understood(
            "the same, and told so",
            "20,18.5\n21,19.5\n23,20.5\n25,22\n",
            header=False,
            columns=("c1", "c2"),
            values={"c1": [20, 21, 23, 25], "c2": [18.5, 19.5, 20.5, 22]},
        ),
        refused("two columns of one name", text().replace("sex", "age", 1)),
        said("the header once more, between rows", lines(after={9: "id,sex,age,fat,income\n"})),
        said("a row of units under the header", lines(after={1: ",,years,%,EUR\n"})),
        cautioned("a row of totals", lines(end="Total,,1206,700.4,99999\n"), values=None),
        cautioned(
            "a row of means without a name",
            lines(end=f",,{','.join(str(round(sum(v) / N, 2)) for v in TRUE.values())}\n"),
            values=None,
        ),
        refused("a footer", lines(end="(24 rows)\n")),
        refused(
            "a decimal comma between commas",
            text().replace(f"{TRUE['fat'][4]}", comma(TRUE["fat"][4]), 1),
        ),
        refused("a row that was cut off", lines(after={7: "p99,f,33\n"})),
        refused("a double quote inside a value", with_cells("sex", (3, '5" pipe'))),
    ],
    "Numbers": [
        said("percent signs", written(fat=lambda v: f"{v}%")),
        said("commas between thousands", written(income=quoted(lambda v: f"{v:,}"))),
        understood("decimal commas", text(cells(fat=comma), sep=";")),
        said("decimal commas in quotes", written(fat=quoted(comma))),
        said(
            "1.234,5 for a thousand and a bit",
            text(
                cells(
                    income=lambda v: (
                        f"{v:,}.0".replace(",", "_").replace(".", ",").replace("_", ".")
                    )
                ),
                sep=";",
            ),
        ),
        refused(
            "18.5 in some cells, 18,5 in others", with_cells("fat", (3, '"18,5"'), (5, '"20,25"'))
        ),
        refused(
            "1,234 between semicolons, nothing else to tell by",
            text(
                cells(fat=lambda v: f"{v:.0f}", income=lambda v: f"{v % 9 + 1},{v % 900 + 100}"),
                sep=";",
            ),
        ),
        said(
            "the same, with the mark named",
            text(cells(income=lambda v: f"{v:,}"), sep=";"),
            thousands=",",
        ),
        said(
            "spaces between thousands, as thin as they may be",
            written(income=lambda v: f"{v:,}".replace(",", "\u202f")),
        ),
        said("a currency", written(income=lambda v: f"€ {v}")),
        said("a unit in every cell", written(fat=lambda v: f"{v} kg")),
        refused("different units", with_cells("fat", (3, "18500 g"), (4, "19 kg"))),
        refused("limits such as <0.5", with_cells("fat", (3, "<18.5"))),
        said("minus signs of typesetters", written(fat=lambda v: f"−{v}"), values=NEGATIVE),
        said("1,5e3", written(fat=quoted(lambda v: comma(v / 10) + "e1"))),
        said("negative numbers in brackets", written(fat=lambda v: f"({v})"), values=NEGATIVE),
        refused("a word among numbers", with_cells("fat", (3, "unknown"))),
        understood(
            "the same, named as missing",
            with_cells("fat", (3, "unknown")),
            na=("unknown",),
            values=without(3),
        ),
        cautioned("codes with leading zeros", written(income=lambda v: f"{v:06}")),
        cautioned(
            "ranges such as 40-49, fractions, 1.2 ± 0.1",
            written(age=lambda v: f"{v // 2}-{v // 2 + 9}"),
            values=None,
        ),
    ],
    "Missing values, labels and dates": [
        understood(
            "empty cells, NA, NaN, NULL",
            with_cells("fat", (0, ""), (1, "NA"), (2, "NaN"), (3, "NULL")),
            values=without(0, 1, 2, 3),
        ),
        said(
            "n/a, #N/A, a point, ? or - among numbers",
            with_cells("fat", (0, "n/a"), (1, "#N/A"), (2, "."), (3, "?"), (4, "-")),
            values=without(0, 1, 2, 3, 4),
        ),
        cautioned(
            "−999 for missing",
            with_cells("fat", (0, "-999"), (7, "-999")),
            values=with_value("fat", 0, 7, value=-999),
        ),
        cautioned(
            "9999 for missing",
            with_cells("age", (3, "9999")),
            values=with_value("age", 3, value=9999),
        ),
        cautioned(
            "−1 in a column of positive numbers",
            with_cells("age", (3, "-1")),
            values=with_value("age", 3, value=-1),
        ),
        understood(
            "−999, named as missing",
            with_cells("fat", (0, "-999"), (7, "-999")),
            na=(-999,),
            values=without(0, 7),
        ),
        cautioned(
            "a label in two spellings",
            with_cells("sex", (0, "F")),
            columns=("age", "sex"),
            values=None,
        ),
        cautioned(
            "? among labels", with_cells("sex", (0, "?")), columns=("age", "sex"), values=None
        ),
        refused(
            "labels nearly all of which differ", with_cells("id", (1, "p0")), columns=("age", "id")
        ),
        understood(
            "yes and no, TRUE and FALSE",
            with_cells("sex", *((i, ("yes", "no")[i % 2]) for i in range(N))),
            columns=("age", "sex"),
            values=None,
        ),
        refused("a column without any value", with_cells("fat", *((i, "") for i in range(N)))),
        said(
            "dates",
            written(age=lambda v: f"2024-01-{v % 28 + 1:02}"),
            values={
                **TRUE,
                "age": [v % 28 - min(v % 28 for v in TRUE["age"]) for v in TRUE["age"]],
            },
        ),
        refused(
            "01/02/2024, and no day above 12", written(age=lambda v: f"{v % 12 + 1:02}/02/2024")
        ),
        refused(
            "2024-01-31 in some cells, 31/01/2024 in others",
            text(
                cells()
                | {
                    "age": [
                        f"2024-01-{i + 1:02}" if i % 2 else f"{i + 1:02}/01/2024" for i in range(N)
                    ]
                }
            ),
        ),
        refused("1/31/24, a year of two digits", written(age=lambda v: f"1/{v % 28 + 1}/24")),
    ],
    "Workbooks": [
        said("a workbook of two sheets", sheets(first=rows(), second=[["x"], [1]])),
        said(
            "a first sheet that is hidden", sheets(hidden=("old",), old=[["age"], [1]], data=rows())
        ),
        cautioned(
            "rows that are hidden, as by a filter", sheets(hidden_rows=(3, 4, 9), data=rows())
        ),
        refused(
            "a title in merged cells above the table",
            sheets(data=[["Our study", None, None], *rows()]),
        ),
        cautioned(
            "a row of totals in a sheet",
            sheets(data=[*rows(), [float(sum(values)) for values in TRUE.values()]]),
            values=None,
        ),
        refused("a first sheet that is empty", sheets(notes=[], data=rows())),
        understood("the same, with the sheet named", sheets(notes=[], data=rows()), sheet="data"),
        said(
            "n/a in a sheet's column of numbers",
            sheets(data=rows(words={(3, "fat"): "n/a"})),
            values=without(3),
        ),
        refused("a stray cell in the last corner of a sheet", sheets(data=rows(), end=_CORNER)),
    ],
    "Data in Python": [
        said(
            "numbers as strings (`astype(str)`)",
            pl.DataFrame({**TRUE, "fat": [str(v) for v in TRUE["fat"]]}),
        ),
        understood(
            "a list in each cell of a frame",
            pl.DataFrame({"emb": [[i, i * i] for i in range(N)], **TRUE}),
        ),
        understood(
            "numbers as names of columns",
            pd.DataFrame({0: TRUE["age"], 1: TRUE["fat"]}),
            columns=("0", "1"),
            values={"0": TRUE["age"], "1": TRUE["fat"]},
        ),
        refused(
            "two columns of one name in a frame",
            pd.DataFrame(np.ones((N, 2)), columns=["age", "age"]),
        ),
        understood(
            "series whose index is in another order",
            {
                "age": pd.Series(TRUE["age"]),
                "fat": pd.Series(TRUE["fat"])[::-1],
                "income": pd.Series(TRUE["income"]),
            },
        ),
        refused(
            "series whose indexes do not match",
            {
                "age": pd.Series(TRUE["age"], index=[f"a{i}" for i in range(N)]),
                "fat": pd.Series(TRUE["fat"], index=[f"b{i}" for i in range(N)]),
            },
        ),
        refused(
            "two slices of series, of the same length but of other rows",
            {"age": pd.Series(TRUE["age"])[2:], "fat": pd.Series(TRUE["fat"])[:-2]},
        ),
        cautioned(
            "a series that was sorted, beside arrays",
            {"age": pd.Series(TRUE["age"])[::-1], "fat": np.array(TRUE["fat"])},
            values=None,
        ),
    ],
}
