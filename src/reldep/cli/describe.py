"""The command ``describe``: what is in a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reldep.cli.output import say, say_csv, say_json
from reldep.data.checks import printable
from reldep.description import Column
from reldep.description import Table as Shown
from reldep.exceptions import InputError
from reldep.report.values import csv_text, plain
from reldep.words import counted, text_table

if TYPE_CHECKING:
    from reldep.files.table import Table

LONGEST_EXAMPLE = 30  # characters, so that a line fits a terminal
HEADER = ["column", "type", "missing", "different", "range or example", "kernel"]


def print_description(table: Table, *, json: bool, csv: bool) -> None:
    """Print one line for every column of a file."""
    if json and csv:
        raise InputError("--json and --csv both print to standard output; choose one.")
    rows = [asdict(column) for column in table.describe()]
    if json:
        say_json(plain(rows))
    elif csv:
        say_csv(csv_text(Shown(tuple(Column(k, k, [row[k] for row in rows]) for k in rows[0]))))
    else:
        if table.joined:
            say(f"{table.joined}\n")
        say(f"{table.name}: {counted(len(table), 'row')}, {counted(len(rows), 'column')}\n")
        say(text_table(HEADER, [_in_words(row) for row in rows]))


def _in_words(row: dict[str, Any]) -> list[str]:
    values = " ".join(row["example"].split())
    if row["minimum"] is not None:
        values = f"{row['minimum']:g} to {row['maximum']:g}"
    elif len(values) > LONGEST_EXAMPLE:
        values = f"{values[: LONGEST_EXAMPLE - 1]}…"
    different = "" if row["n_unique"] is None else str(row["n_unique"])
    name = printable(row["name"])
    return [name, row["type"], str(row["n_missing"]), different, values, row["kernel"]]
