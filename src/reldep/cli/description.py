"""The command ``describe``: what is in a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from reldep.cli.output import json_text, print_csv, refuse_both

LONGEST_EXAMPLE = 30


def print_description(
    files: list[str], join: str | None, categories: str | None, *, json: bool, csv: bool
) -> None:
    """Print one line for every column of a file."""
    from reldep.data import describe, open_table

    refuse_both(json=json, csv=csv)
    table = open_table(files, join=join, categories=categories)
    rows = [asdict(column) for column in describe(table)]
    if json:
        typer.echo(json_text(rows))
    elif csv:
        print_csv({key: [row[key] for row in rows] for key in rows[0]})
    else:
        if table.join is not None:
            typer.echo(f"{table.join}\n")
        typer.echo(f"{table.name}: {table.count_rows()} rows, {len(rows)} columns\n")
        typer.echo(_in_words(rows))


def _in_words(rows: list[dict[str, Any]]) -> str:
    from reldep.words import text_table

    header = ["column", "type", "missing", "different", "range or example", "kernel"]
    return text_table(
        header,
        [
            [
                row["name"],
                row["type"],
                str(row["n_missing"]),
                "" if row["n_unique"] is None else str(row["n_unique"]),
                _values(row),
                row["kernel"],
            ]
            for row in rows
        ],
    )


def _values(row: dict[str, Any]) -> str:
    if row["minimum"] is not None:
        return f"{row['minimum']:g} to {row['maximum']:g}"
    example = " ".join(row["example"].split())
    if len(example) <= LONGEST_EXAMPLE:
        return example
    return f"{example[: LONGEST_EXAMPLE - 1]}…"
