"""What a command prints and writes, in the words of a shell and safe on a terminal."""

from __future__ import annotations

import json as json_format
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reldep.exceptions import InputError
from reldep.io import check_writable, write
from reldep.system import import_away
from reldep.words import counted, spelled

if TYPE_CHECKING:
    from reldep.description import Description
    from reldep.files.table import Table
    from reldep.questions.request import Request

PICTURES, REPORTS = (".png", ".svg", ".pdf"), (".html", ".htm")


def option(text: str, *names: str, panel: str = "Output", **settings: Any) -> Any:
    """Return how typer shows an option."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


OVERWRITE: TypeAlias = Annotated[
    bool, option("Replace files that reldep did not make; never the data.", "--overwrite")
]


@dataclass(frozen=True)
class Delivery:
    """What is wanted besides, or in place of, the answer in words: the options of output."""

    json: Annotated[bool, option("Print JSON, numbers unrounded.", "--json")] = False
    csv: Annotated[bool, option("Print the table as CSV, unrounded.", "--csv")] = False
    code: Annotated[
        bool, option("Print the Python call that gives the answer, and run it.", "--code")
    ] = False
    plot: Annotated[
        Path | None, option("Write the picture: .png, .svg or .pdf.", metavar="PATH")
    ] = None
    report: Annotated[Path | None, option("Write a report, one HTML file.", metavar="PATH")] = None
    overwrite: OVERWRITE = False
    plan: Annotated[
        bool, option("Print the engine, its memory and its time; compute nothing.", "--plan")
    ] = False

    def check(self, inputs: Sequence[str]) -> None:
        """Raise, before any work, if something could not be printed or written after it."""
        if self.json and self.csv:
            raise InputError("--json and --csv both print to standard output; choose one.")
        for flag, path, endings in (
            ("--plot", self.plot, PICTURES),
            ("--report", self.report, REPORTS),
        ):
            if path is not None:
                check_ending(flag, path, endings)
                check_writable(path, inputs=inputs, overwrite=self.overwrite)


def check_ending(flag: str, path: Path, endings: Sequence[str]) -> None:
    """Raise InputError if a file has none of the endings."""
    if path.suffix.lower() not in endings:
        raise InputError(f"{flag} {path}: write a file that ends in {', '.join(endings)}.")


def say(text: str, *, err: bool = False) -> None:
    """Print text that may contain names from a file."""
    typer.echo(visible(text), err=err)


def say_csv(text: str) -> None:
    """Print CSV: a file gets the names as they are, but a terminal must not obey them."""
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def say_json(value: Any) -> None:
    """Print plain values as JSON, numbers unrounded."""
    say(json_format.dumps(value, indent=2, allow_nan=False, default=str))


def deliver(request: Request, wanted: Delivery) -> None:
    """Answer a request, write what was asked for and print the answer.

    If a file cannot be written the answer is printed all the same: it may have taken hours.
    """
    wanted.check(request.files)
    if wanted.plot or wanted.report:
        import_away("matplotlib")
    if wanted.plan:
        say(str(request.plan()))
        return
    if wanted.code:
        say(f"{request.code()}\n", err=wanted.json or wanted.csv)
    # The file is read first, so that one that cannot be read is not tried twice.
    join = request.table.joined
    parts = request.describe(bandwidths=wanted.report is not None).reworded(in_shell)
    try:
        _write_files(request, wanted, parts)
    finally:
        _print_answer(request, wanted, parts, join)
    if not (wanted.json or wanted.csv):
        for kind, path in {"picture": wanted.plot, "report": wanted.report}.items():
            if path is not None:
                say(f"The {kind} is in {path}.")


def _write_files(request: Request, wanted: Delivery, parts: Description) -> None:
    may: Any = {"inputs": request.files, "overwrite": wanted.overwrite}
    if wanted.plot is not None:
        from reldep.report.vector import image

        write(wanted.plot, image(parts.pictures[0].draw, wanted.plot.suffix), **may)
    if wanted.report is not None:
        from reldep import report

        write(wanted.report, report.page(replace(parts, call=request.command())), **may)


def _print_answer(request: Request, wanted: Delivery, parts: Description, join: str) -> None:
    from reldep import report

    if wanted.json:
        say_json(report.dictionary(parts) | {"join": join or None, "command": request.command()})
        return
    if join:
        # A table for programs stays a table.
        say(f"{join}" if wanted.csv else f"{join}\n", err=wanted.csv)
        # It stands above the answer already.
        others = tuple(c for c in parts.cautions if str(c) != f"{join}.")
        parts = replace(parts, cautions=others)
    if wanted.csv:
        say_csv(report.csv_text(parts.table))
        for caution in parts.cautions:
            say(f"Caution: {caution}", err=True)
    else:
        say(report.plain_text(parts))


LONGEST_EXAMPLE = 30  # characters, so that a line fits a terminal
HEADER = ["column", "type", "missing", "different", "range or example", "kernel"]


def print_description(table: Table, *, json: bool, csv: bool) -> None:
    """Print what is in a file, one line for every column."""
    from reldep.description import Column
    from reldep.description import Table as Shown
    from reldep.report.text import csv_text, plain, text_table

    Delivery(json=json, csv=csv).check(())
    rows = [asdict(column) for column in table.describe()]
    if json:
        say_json(plain(rows))
    elif csv:
        say_csv(csv_text(Shown(tuple(Column(k, k, [row[k] for row in rows]) for k in rows[0]))))
    else:
        if table.joined:
            say(f"{table.joined}\n")
        say(f"{table.name}: {counted(len(table), 'row')}, {counted(len(rows), 'column')}\n")
        cells = zip(HEADER, zip(*map(_in_words, rows), strict=True), strict=True)
        say(text_table(Shown(tuple(Column(name, name, column) for name, column in cells))))
        notes = table.notes_about(list(table.columns))
        if notes:
            say("\n" + "\n".join(map(in_shell, notes)))


def _in_words(row: dict[str, Any]) -> list[Any]:
    from reldep.words import printable

    values = " ".join(row["example"].split())
    if row["minimum"] is not None:
        values = f"{row['minimum']:g} to {row['maximum']:g}"
    elif len(values) > LONGEST_EXAMPLE:
        values = f"{values[: LONGEST_EXAMPLE - 1]}…"
    name = printable(row["name"])
    return [name, row["type"], row["n_missing"], row["n_unique"], values, row["kernel"]]


_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KERNEL = re.compile(r"([A-Z]\w*)(\(.*\))?")


def in_shell(message: str) -> str:
    """Return a message with the arguments in backticks as options.

    Examples
    --------
    >>> in_shell("use `missing='drop'`, `rng=3`, `max_lag` or `kernel=EditDistance()`")
    'use --missing drop, --seed 3, --max-lag or --kernel edit-distance'
    """
    return spelled(message, _option)


def _option(name: str, value: str | None) -> str:
    from reldep.questions.request import all_offered

    known = {one.name: f"--{one.name}" for one in fields(Delivery)} | {"alpha": "--alpha"}
    argument = all_offered().get(name)
    flag = known.get(name) if argument is None else argument.flags[0]
    if flag is None:  # such as the column of a table
        return name if value is None else f"{name}={value}"
    if value is None:
        return flag
    kernel = _KERNEL.fullmatch(value) if name == "kernel" else None
    if kernel is not None:
        return f"{flag} {_NEW_WORD.sub('-', kernel[1]).lower()}"
    return f"{flag} {shlex.quote(value) if ' ' in value else value}"


def visible(text: str) -> str:
    r"""Return a text with control characters as escapes: names must not command a terminal.

    Examples
    --------
    >>> visible("red \x1b[31m name\n")
    'red \\x1b[31m name\n'
    """
    hidden = [sign for sign in set(text) if not sign.isprintable() and sign != "\n"]
    return text.translate({ord(one): one.encode("unicode_escape").decode() for one in hidden})
