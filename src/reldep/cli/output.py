"""What a command prints and writes: words, JSON, CSV, a picture, a report."""

from __future__ import annotations

import csv as csv_format
import io
import json as json_format
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reldep.cli.spelling import in_shell, visible
from reldep.exceptions import InputError
from reldep.io import check_writable, write_atomically

if TYPE_CHECKING:
    from reldep.description import Description, Picture
    from reldep.questions.request import Request

PICTURES = (".png", ".svg", ".pdf")
REPORTS = (".html", ".htm")


@dataclass(frozen=True)
class Delivery:
    """What is wanted besides, or in place of, the answer in words."""

    json: bool = False
    csv: bool = False
    code: bool = False
    plot: Path | None = None
    report: Path | None = None
    plan: bool = False

    def check(self) -> None:
        """Refuse, before any work, what could not be printed or written after it."""
        refuse_both(json=self.json, csv=self.csv)
        if self.plot is not None:
            check_picture("--plot", self.plot)
        if self.report is not None:
            if self.report.suffix.lower() not in REPORTS:
                raise InputError(f"--report {self.report}: write a file that ends in .html.")
            check_writable(self.report)


def check_picture(option: str, path: Path) -> None:
    """Refuse a picture of a kind that cannot be drawn, or that cannot be written."""
    if path.suffix.lower() not in PICTURES:
        raise InputError(f"{option} {path}: write a file that ends in {', '.join(PICTURES)}.")
    check_writable(path)


def refuse_both(*, json: bool, csv: bool) -> None:
    """Refuse two formats on one standard output."""
    if json and csv:
        raise InputError("--json and --csv both print to standard output; choose one.")


def say(text: str, *, err: bool = False) -> None:
    """Print text that may hold names from a file."""
    typer.echo(visible(text), err=err)


def deliver(request: Request, wanted: Delivery) -> None:
    """Answer a request, write what was asked for and print the answer.

    If a file cannot be written the answer is printed all the same: it may have taken hours.
    """
    wanted.check()
    if wanted.plan:
        say(str(request.plan()))
        return
    if wanted.code:
        say(f"{request.code()}\n", err=wanted.json or wanted.csv)
    # In a report the answer is one point of the curve over the bandwidths: one job.
    answer, sensitivity = (
        (request.run(), None) if wanted.report is None else request.run_over_bandwidths()
    )
    parts = answer.describe(request.alpha).reworded(in_shell)
    try:
        _write_files(request, wanted, parts, sensitivity)
    finally:
        _print_answer(request, wanted, parts)
    if not (wanted.json or wanted.csv):
        for kind, path in {"picture": wanted.plot, "report": wanted.report}.items():
            if path is not None:
                say(f"The {kind} is in {path}.")


def _write_files(request: Request, wanted: Delivery, parts: Description, sensitivity: Any) -> None:
    if wanted.plot is not None:
        _draw(parts.pictures[0], wanted.plot)
    if wanted.report is not None:
        from reldep import report

        if sensitivity is not None:
            cautions = sensitivity.describe(request.alpha).reworded(in_shell).cautions
            parts = parts.beside(sensitivity.as_section(request.alpha), cautions)
        document = report.page(replace(parts, call=request.command()))
        with write_atomically(wanted.report) as temporary:
            temporary.write_text(document, encoding="utf-8")


def _draw(picture: Picture, path: Path) -> None:
    """Write the natural picture of an answer."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    picture.draw(figure)
    with write_atomically(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lower().lstrip("."), dpi=200)


def _print_answer(request: Request, wanted: Delivery, parts: Description) -> None:
    join = request.joined
    if wanted.json:
        say(json_text(as_json(request, parts)))
        return
    if join:
        # A table for machines stays a table.
        say(f"{join}" if wanted.csv else f"{join}\n", err=wanted.csv)
        # It stands above the answer already.
        others = tuple(c for c in parts.cautions if str(c) != f"{join}.")
        parts = replace(parts, cautions=others)
    if wanted.csv:
        print_csv({column.name: list(column.values) for column in parts.table.columns})
        for caution in parts.cautions:
            say(f"Caution: {caution}", err=True)
    else:
        from reldep import report

        say(report.plain_text(parts))


def print_csv(columns: dict[str, list[Any]]) -> None:
    """Print columns as CSV with numbers unrounded."""
    text = io.StringIO()
    writer = csv_format.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    # A file gets the names as they are; a terminal must not obey them.
    written = visible(text.getvalue()) if sys.stdout.isatty() else text.getvalue()
    typer.echo(written, nl=False)


def json_text(value: Any) -> str:
    """Write plain values as JSON, numbers unrounded."""
    return json_format.dumps(value, indent=2, allow_nan=False, default=str)


def as_json(request: Request, parts: Description) -> dict[str, Any]:
    """Give an answer as plain values, laid out as in ``result.schema.json``."""
    from reldep import report

    join = request.joined
    return report.dictionary(parts) | {
        "join": join or None,
        "command": request.command(),
    }
