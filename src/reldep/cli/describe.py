"""The command ``describe``: what is in a file."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reldep.cli.output import json_text, print_csv, refuse_both, say
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.files.table import Table

LONGEST_EXAMPLE = 30


def print_description(table: Table, *, json: bool, csv: bool) -> None:
    """Print one line for every column of a file."""
    refuse_both(json=json, csv=csv)
    rows = [asdict(column) for column in table.describe()]
    if json:
        say(json_text([{key: _finite(row[key]) for key in row} for row in rows]))
    elif csv:
        print_csv({key: [row[key] for row in rows] for key in rows[0]})
    else:
        if table.joined:
            say(f"{table.joined}\n")
        say(f"{table.name}: {counted(len(table), 'row')}, {counted(len(rows), 'column')}\n")
        say(_in_words(rows))


def _in_words(rows: list[dict[str, Any]]) -> str:
    from reldep.data.checks import printable
    from reldep.words import text_table

    header = ["column", "type", "missing", "different", "range or example", "kernel"]
    return text_table(
        header,
        [
            [
                printable(row["name"]),
                row["type"],
                str(row["n_missing"]),
                "" if row["n_unique"] is None else str(row["n_unique"]),
                _values(row),
                row["kernel"],
            ]
            for row in rows
        ],
    )


def _finite(value: Any) -> Any:
    """Leave out what JSON does not know."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _values(row: dict[str, Any]) -> str:
    if row["minimum"] is not None:
        return f"{row['minimum']:g} to {row['maximum']:g}"
    example = " ".join(row["example"].split())
    if len(example) <= LONGEST_EXAMPLE:
        return example
    return f"{example[: LONGEST_EXAMPLE - 1]}…"
