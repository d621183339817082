"""The table of messy files: one case for each kind of mess.

``tools/messy_files.py`` writes a page of it, and the tests in ``tests/data`` run it.
"""

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import neg
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
SEX = ["f", "m"] * (N // 2)


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


def cells(values: Mapping[str, Sequence[Any]], **changed: Any) -> dict[str, list[Any]]:
    """Return columns, some changed by a function or in some rows: ``fat={3: "unknown"}``."""
    found = {name: list(column) for name, column in values.items()}
    for name, change in changed.items():
        for row, value in enumerate(values[name]):
            found[name][row] = change(value) if callable(change) else change.get(row, value)
    return found


def text(*, sep: str = ",", end: str = "\n", **changed: Any) -> str:
    """Write the table as text, some columns in another way."""
    table = cells({"id": [f"p{i}" for i in range(N)], "sex": SEX, **TRUE}, **changed)
    records = [list(table), *(map(str, one) for one in zip(*table.values(), strict=True))]
    return "".join(sep.join(record) + end for record in records)


def rows(**changed: Any) -> list[list[Any]]:
    """Write the table as rows of a sheet."""
    table = cells(TRUE, **changed)
    return [list(table), *map(list, zip(*table.values(), strict=True))]


def right(*left_out: int, **changed: Any) -> dict[str, list[float]]:
    """Return the right values without some rows, or with some changed."""
    table = cells(TRUE, **changed)
    kept = [i for i in range(N) if i not in left_out]
    return {name: [values[i] for i in kept] for name, values in table.items()}


def quoted(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Put what is written into double quotes."""
    return lambda value: f'"{write(value)}"'


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
    columns = zip(*(line.split(",") for line in text().splitlines()), strict=True)
    return "".join(",".join(column) + "\n" for column in columns)


def zipped(**files: str) -> bytes:
    """Pack texts into an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def comma(value: float) -> str:
    """Write a number with a decimal comma."""
    return str(value).replace(".", ",")


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
        understood("a cell of two lines", text(sex={3: '"f\n?"'})),
        understood("blanks around quotes", text(fat=lambda v: f' "{v}" ')),
        understood("compressed with gzip", gzip.compress(text().encode(), mtime=0)),
        understood("a ZIP archive of one file", zipped(a_csv=text())),
        refused("a ZIP archive of two files", zipped(a_csv=text(), b_csv=text())),
        refused("Latin-1, not UTF-8", text(sex={3: "Männlich"}).encode("latin1")),
        understood(
            "the same, with its encoding named",
            text(sex={3: "Männlich"}).encode("latin1"),
            encoding="latin1",
        ),
        refused("a NUL byte", text().replace("p7", "p\x00")),
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
        refused("a double quote inside a value", text(sex={3: '5" pipe'})),
    ],
    "Numbers": [
        said("percent signs", text(fat=lambda v: f"{v}%")),
        said("commas between thousands", text(income=quoted(lambda v: f"{v:,}"))),
        understood("decimal commas", text(fat=comma, sep=";")),
        said("decimal commas in quotes", text(fat=quoted(comma))),
        said(
            "1.234,5 for a thousand and a bit",
            text(
                income=lambda v: f"{v:,}.0".replace(",", "_").replace(".", ",").replace("_", "."),
                sep=";",
            ),
        ),
        refused("18.5 in some cells, 18,5 in others", text(fat={3: '"18,5"', 5: '"20,25"'})),
        refused(
            "1,234 between semicolons, nothing else to tell by",
            text(
                fat=lambda v: f"{v:.0f}", income=lambda v: f"{v % 9 + 1},{v % 900 + 100}", sep=";"
            ),
        ),
        said(
            "the same, with the mark named", text(income=lambda v: f"{v:,}", sep=";"), thousands=","
        ),
        said(
            "spaces between thousands, as thin as they may be",
            text(income=lambda v: f"{v:,}".replace(",", "\u202f")),
        ),
        said("a currency", text(income=lambda v: f"€ {v}")),
        said("a unit in every cell", text(fat=lambda v: f"{v} kg")),
        refused("different units", text(fat={3: "18500 g", 4: "19 kg"})),
        refused("limits such as <0.5", text(fat={3: "<18.5"})),
        said("minus signs of typesetters", text(fat=lambda v: f"−{v}"), values=right(fat=neg)),
        said("1,5e3", text(fat=quoted(lambda v: comma(v / 10) + "e1"))),
        said("negative numbers in brackets", text(fat=lambda v: f"({v})"), values=right(fat=neg)),
        refused("a word among numbers", text(fat={3: "unknown"})),
        understood(
            "the same, named as missing", text(fat={3: "unknown"}), na=("unknown",), values=right(3)
        ),
        cautioned("codes with leading zeros", text(income=lambda v: f"{v:06}")),
        cautioned(
            "ranges such as 40-49, fractions, 1.2 ± 0.1",
            text(age=lambda v: f"{v // 2}-{v // 2 + 9}"),
            values=None,
        ),
    ],
    "Missing values, labels and dates": [
        understood(
            "empty cells, NA, NaN, NULL",
            text(fat={0: "", 1: "NA", 2: "NaN", 3: "NULL"}),
            values=right(0, 1, 2, 3),
        ),
        said(
            "n/a, #N/A, a point, ? or - among numbers",
            text(fat={0: "n/a", 1: "#N/A", 2: ".", 3: "?", 4: "-"}),
            values=right(0, 1, 2, 3, 4),
        ),
        cautioned(
            "−999 for missing",
            text(fat={0: "-999", 7: "-999"}),
            values=right(fat={0: -999, 7: -999}),
        ),
        cautioned("9999 for missing", text(age={3: "9999"}), values=right(age={3: 9999})),
        cautioned(
            "−1 in a column of positive numbers", text(age={3: "-1"}), values=right(age={3: -1})
        ),
        understood(
            "−999, named as missing",
            text(fat={0: "-999", 7: "-999"}),
            na=(-999,),
            values=right(0, 7),
        ),
        cautioned(
            "a label in two spellings", text(sex={0: "F"}), columns=("age", "sex"), values=None
        ),
        cautioned("? among labels", text(sex={0: "?"}), columns=("age", "sex"), values=None),
        refused("labels nearly all of which differ", text(id={1: "p0"}), columns=("age", "id")),
        understood(
            "yes and no, TRUE and FALSE",
            text(sex={i: ("yes", "no")[i % 2] for i in range(N)}),
            columns=("age", "sex"),
            values=None,
        ),
        refused("a column without any value", text(fat=dict.fromkeys(range(N), ""))),
        said(
            "dates",
            text(age=lambda v: f"2024-01-{v % 28 + 1:02}"),
            values=right(age=lambda v: v % 28),
        ),
        refused("01/02/2024, and no day above 12", text(age=lambda v: f"{v % 12 + 1:02}/02/2024")),
        refused(
            "2024-01-31 in some cells, 31/01/2024 in others",
            text(age=lambda v: f"2024-01-{v % 28 + 1:02}" if v % 2 else f"{v % 28 + 1:02}/01/2024"),
        ),
        refused("1/31/24, a year of two digits", text(age=lambda v: f"1/{v % 28 + 1}/24")),
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
            "n/a in a sheet's column of numbers", sheets(data=rows(fat={3: "n/a"})), values=right(3)
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
