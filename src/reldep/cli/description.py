"""The command ``describe``: what is in a file."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from typing import Any

import typer

from reldep.cli.output import print_csv

HEADINGS = {
    "name": "column",
    "type": "type",
    "n_missing": "missing",
    "n_unique": "different",
    "range": "range or example",
    "kernel": "kernel",
}


def print_description(files: list[str], join: str | None, *, json: bool, csv: bool) -> None:
    """Print one line for every column of a file."""
    from reldep.tables import describe, open_table

    if json and csv:
        raise ValueError("--json and --csv both print to standard output; choose one.")
    table = open_table(files, join=join)
    rows = [asdict(column) for column in describe(table)]
    if json:
        typer.echo(json_format.dumps(rows, indent=2, default=str))
    elif csv:
        print_csv({key: [row[key] for row in rows] for key in rows[0]})
    else:
        _print_table(table.name, rows)


def _print_table(name: str, rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(title=f"{name}: {len(rows)} columns", title_justify="left")
    for key, heading in HEADINGS.items():
        shown.add_column(heading, justify="right" if key.startswith("n_") else "left")
    for row in rows:
        shown.add_row(*(_escaped(_cell(row, key)) for key in HEADINGS))
    Console(soft_wrap=False).print(shown)


def _cell(row: dict[str, Any], key: str) -> str:
    if key != "range":
        return "" if row[key] is None else str(row[key])
    if row["minimum"] is not None:
        return f"{row['minimum']:g} to {row['maximum']:g}"
    return str(row["example"])[:40]


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
