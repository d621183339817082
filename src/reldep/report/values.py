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


def csv_text(table: Table) -> str:
    """Return the table as CSV, numbers unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    writer.writerows(zip(*(column.values for column in table.columns), strict=True))
    return text.getvalue()


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
        return plain(value.tolist())
    # JSON has no infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
