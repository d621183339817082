"""A description in plain text and LaTeX, and as values for JSON and CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from typing import Any

from reldep.description import Description, Table, as_rows
from reldep.version import __version__
from reldep.words import listed

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "{}$&%#_"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "∞": r"$\infty$",
    }
)
# A number as tables write it, perhaps with a power of ten.
_NUMBER = re.compile(r"([-−]?[\d.,]+)(?:e([-+]?\d+))?")


def latex_table(parts: Description) -> str:
    """Return the table in LaTeX; it needs the package booktabs."""
    columns = parts.table.columns
    cells = zip(*(map(_latex_cell, column.texts, column.values) for column in columns), strict=True)
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join('r' if c.is_numeric else 'l' for c in columns)}}}",
        r"\toprule",
        " & ".join(_latex_text(column.heading) for column in columns) + r" \\",
        r"\midrule",
        *[" & ".join(row) + r" \\" for row in cells],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(text: str, value: Any) -> str:
    """Return a cell; numbers are set as mathematics, with a proper minus and power of ten."""
    found = _NUMBER.fullmatch(text.removeprefix("< "))
    if not isinstance(value, float) or found is None:
        return _latex_text(text)
    power = rf" \cdot 10^{{{int(found[2])}}}" if found[2] else ""
    less = "< " if text.startswith("<") else ""
    return f"${less}{found[1].replace('−', '-')}{power}$"


def _latex_text(text: str) -> str:
    """Return text on one line and without control characters, which break documents."""
    plain = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return plain.translate(_LATEX)


SCHEMA = "reldep.result/2"


def plain_text(parts: Description) -> str:
    """Return the sentence, the table, how the numbers were computed, and the cautions.

    The columns bear the names that programs use, so that a reader finds them in the data frame.
    """
    # A table without an order of weight has a row for each thing that was asked about.
    is_long = parts.table.order is not None
    # Twenty rows fit on a screen; data frames and files have all.
    table = parts.table.by_weight().top(20) if is_long else parts.table
    lines = [parts.sentence, "", text_table(table)]
    if len(table) < len(parts.table):
        which = table.shown.format(n=len(table), all=len(parts.table))
        lines += [f"{which} to_frame() and --csv give all."]
    shown = [one for one in parts.facts if one.heading and one.text]
    facts = "; ".join([f"{one.heading[0].lower()}{one.heading[1:]}: {one.text}" for one in shown])
    lines += ["", *parts.notes, f"{facts[:1].upper()}{facts[1:]}.", f"Kernels: {_kernels(parts)}."]
    lines += [f"Caution: {caution}" for caution in parts.cautions]
    return "\n".join(lines)


def text_table(table: Table) -> str:
    """Return an aligned table: numbers to the right, words and the names of rows to the left."""
    columns = []
    for i, column in enumerate(table.columns):
        cells = [column.name, *column.texts]
        align, width = str.rjust if i and column.is_numeric else str.ljust, max(map(len, cells))
        columns.append([align(cell, width) for cell in cells])
    written = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
    return "\n".join([written[0], "-" * max(map(len, written)), *written[1:]])


def _kernels(parts: Description) -> str:
    fitted = [kernel["kernel"] for kernel in parts.kernels.values()]
    # More would bury the answer.
    if len(set(fitted)) > 6:
        return listed(list(dict.fromkeys(fitted)), 3)
    return "; ".join(f"{name}: {one}" for name, one in zip(parts.kernels, fitted, strict=True))


def csv_text(table: Table, *, for_spreadsheets: bool = False) -> str:
    """Return the table as CSV, numbers unrounded.

    A spreadsheet takes text that begins with one of ``= + - @`` for a formula. A table
    `for_spreadsheets` has an apostrophe before such a name; programs get names as they are.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    for row in zip(*(column.values for column in table.columns), strict=True):
        writer.writerow(map(_literal, row) if for_spreadsheets else row)
    return text.getvalue()


def _literal(value: Any) -> Any:
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value


def dictionary(parts: Description) -> dict[str, Any]:
    """Return everything as values that JSON has, numbers unrounded."""
    fields: dict[str, Any] = plain(
        {
            "schema": SCHEMA,
            "version": __version__,
            "kind": parts.kind,
            "question": parts.question,
            "answer": parts.sentence,
            "alpha": parts.alpha,
            "measure": parts.measure,
            **{one.name: one.value for one in (*parts.facts, *parts.numbers) if one.name},
            "table": as_rows(parts.table.as_dict()),
            "notes": parts.notes,
            "cautions": [
                {"kind": type(caution).__name__, "text": str(caution)} for caution in parts.cautions
            ],
            "kernels": parts.kernels,
            "call": parts.call,
        }
    )
    return fields


def plain(value: Any) -> Any:
    """Return values that JSON has: lists for tuples, Python's numbers for NumPy's."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        found = value.tolist()
        # A number longer than a double stays what it is.
        return float(found) if type(found) is type(value) else plain(found)
    # JSON has no infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
