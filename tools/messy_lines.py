"""Mess in how a file is written, in its header and in its rows."""

from __future__ import annotations

import gzip

from messy_table import (
    TRUE,
    Case,
    N,
    cells,
    comma,
    lines,
    r_table,
    text,
    turned_round,
    with_cells,
    zipped,
)

HOW_IT_IS_WRITTEN = [
    Case("a byte order mark (UTF-8)", "understood", lambda: b"\xef\xbb\xbf" + text().encode()),
    Case(
        "UTF-16, as Excel's “Unicode text”", "understood", lambda: text(sep="\t").encode("utf-16")
    ),
    Case("line ends of Windows", "understood", lambda: text(end="\r\n")),
    Case("line ends of an old Mac", "understood", lambda: text(end="\r")),
    Case("line ends of two systems", "understood", lambda: text().replace("\n", "\r\n", 9)),
    Case("semicolons, tabs or bars between fields", "understood", lambda: text(sep=";")),
    Case(
        "blanks between fields, as R writes by default",
        "said",
        lambda: r_table(" "),
        "blanks were taken to separate the fields",
    ),
    Case("`sep=;` in the first line", "understood", lambda: "sep=;\n" + text(sep=";")),
    Case("delimiters at the end of lines", "understood", lambda: text(end=",,\n")),
    Case("blank lines", "understood", lambda: lines(before="\n", after={5: "\n", 9: ",,,,\n"})),
    Case("a cell of two lines", "understood", lambda: text(with_cells("sex", (3, '"f\n?"')))),
    Case(
        "blanks around quotes",
        "understood",
        lambda: text(cells(fat=lambda v: f' "{v}" ')),
    ),
    Case("compressed with gzip", "understood", lambda: gzip.compress(text().encode(), mtime=0)),
    Case("a ZIP archive of one file", "understood", lambda: zipped(a_csv=text()), file="study.zip"),
    Case(
        "a ZIP archive of two files",
        "refused",
        lambda: zipped(a_csv=text(), b_csv=text()),
        "is a ZIP archive of 2 files: 'a.csv', 'b.csv'",
        file="study.zip",
    ),
    Case(
        "Latin-1, not UTF-8",
        "refused",
        lambda: text(with_cells("sex", (3, "Männlich"))).encode("latin1"),
        "line 5 of study.csv is not UTF-8 text",
    ),
    Case(
        "the same, with its encoding named",
        "understood",
        lambda: text(with_cells("sex", (3, "Männlich"))).encode("latin1"),
        options={"encoding": "latin1"},
    ),
    Case(
        "a NUL byte",
        "refused",
        lambda: text().replace("p7", "p\0"),
        "a NUL byte on line 9",
    ),
    Case("a picture named .csv", "refused", lambda: b"\x89PNG\r\n\x1a\n", "looks like a PNG image"),
    Case("an empty file", "refused", lambda: "", "study.csv is empty"),
]
HEADERS_AND_ROWS = [
    Case(
        "comments before the table",
        "said",
        lambda: lines(before="# exported in May\n# by us\n"),
        "2 lines of comments before the table left out",
    ),
    Case(
        "a comment between rows",
        "said",
        lambda: lines(after={4: "# a new batch\n"}),
        "line 5 was taken as a comment and left out",
    ),
    Case("a header that starts with #", "understood", lambda: "#" + text()),
    Case(
        "a title above the table",
        "refused",
        lambda: lines(before="Our study\n\n"),
        "If the table starts further down, pass `skip_rows=2`",
    ),
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
        "3 columns without a name that hold values. If the table starts further down, pass "
        "`skip_rows=3`",
    ),
    Case(
        "rows with names, and no header for these, as in R",
        "said",
        lambda: r_table(","),
        "the first one was taken to name the rows, as R writes them",
    ),
    Case(
        "a table turned round: variables down the rows",
        "refused",
        turned_round,
        "no column 'age' in study.csv, but a row: it stands in the first column, 'variable'",
    ),
    Case(
        "genes down the rows, samples across",
        "cautioned",
        lambda: text().replace("id,", "gene_id,", 1),
        "the first column 'gene_id' names what was measured in each row",
    ),
    Case(
        "genes that a spreadsheet turned into dates",
        "cautioned",
        lambda: text().replace("fat", "2-Sep", 1),
        "names of columns look like dates ('2-Sep'), which spreadsheets make of names of genes",
        columns=("age", "2-Sep", "income"),
        values={"age": TRUE["age"], "2-Sep": TRUE["fat"], "income": TRUE["income"]},
    ),
    Case(
        "no header",
        "refused",
        lambda: "20,18.5\n21,19.5\n23,20.5\n25,22\n",
        "line 1 of study.csv holds numbers in place of column names",
    ),
    Case(
        "the same, and told so",
        "understood",
        lambda: "20,18.5\n21,19.5\n23,20.5\n25,22\n",
        options={"header": False},
        columns=("c1", "c2"),
        values={"c1": [20, 21, 23, 25], "c2": [18.5, 19.5, 20.5, 22]},
    ),
    Case(
        "two columns of one name",
        "refused",
        lambda: text().replace("sex", "age", 1),
        "more than one column named 'age'",
    ),
    Case(
        "the header once more, between rows",
        "said",
        lambda: lines(after={9: "id,sex,age,fat,income\n"}),
        "line 10 was taken as the header once more and left out",
    ),
    Case(
        "a row of units under the header",
        "said",
        lambda: lines(after={1: ",,years,%,EUR\n"}),
        "line 2 holds units, not an observation, and was left out (age: years, fat: %",
    ),
    Case(
        "a row of totals",
        "cautioned",
        lambda: lines(end="Total,,1206,700.4,99999\n"),
        "line 26 looks like a row of totals ('Total'), which is no observation",
        values=None,
    ),
    Case(
        "a row of means without a name",
        "cautioned",
        lambda: lines(end=f",,{','.join(str(round(sum(v) / N, 2)) for v in TRUE.values())}\n"),
        "line 26 holds the means of the rows above it, and so is no observation",
        values=None,
    ),
    Case(
        "a footer",
        "refused",
        lambda: lines(end="(24 rows)\n"),
        "line 26 of study.csv has 1 field, but line 1 names 5 columns: '(24 rows)'",
    ),
    Case(
        "a decimal comma between commas",
        "refused",
        lambda: text().replace(f"{TRUE['fat'][4]}", comma(TRUE["fat"][4]), 1),
        "line 6 of study.csv has 6 fields, but line 1 names 5 columns",
    ),
    Case(
        "a row that was cut off",
        "refused",
        lambda: lines(after={7: "p99,f,33\n"}),
        "line 8 of study.csv has 3 fields, but line 1 names 5 columns: 'p99,f,33'",
    ),
    Case(
        "a double quote inside a value",
        "refused",
        lambda: text(with_cells("sex", (3, '5" pipe'))),
        "line 5 of study.csv has a double quote that is not closed or stands inside a value",
    ),
]
