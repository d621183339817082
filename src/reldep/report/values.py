"""A description as values for programs: a dictionary for JSON, CSV."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

from reldep.version import __version__

if TYPE_CHECKING:
    from reldep.description import Description, Table

SCHEMA = "reldep.result/2"


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
    names = [column.name for column in parts.table.columns]
    rows = zip(*(column.values for column in parts.table.columns), strict=True)
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
            "table": [dict(zip(names, row, strict=True)) for row in rows],
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
