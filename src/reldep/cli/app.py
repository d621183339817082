"""The command ``reldep``: from a file to an answer."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reldep.cli.output import check_picture
from reldep.cli.questions import compare, contrast, dependence, rank
from reldep.cli.reproduce import reproduce_command
from reldep.cli.request import CATEGORIES, CSV, FILES, JOIN, JSON  # noqa: TC001 (typer reads them)
from reldep.cli.wording import as_options

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, WRONG_INPUT = 0, 1, 2
# What typer ends with after Ctrl-C.
INTERRUPTED = 130

QUESTIONS, MORE = "Questions about a file", "More"

app = typer.Typer(
    name="reldep",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(rich_help_panel=QUESTIONS)(compare)
app.command(rich_help_panel=QUESTIONS)(rank)
app.command(rich_help_panel=QUESTIONS)(contrast)
app.command(rich_help_panel=QUESTIONS)(dependence)
app.command("reproduce", rich_help_panel=MORE)(reproduce_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error; anywhere on the line."),
    ] = False,  # taken off the line by `run`, before typer sees it
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Which dependence is stronger? Does X depend more on Y than on Z?

    Exit status: 0 done, 2 wrong usage or input, 1 anything else.
    """


@app.command(rich_help_panel=QUESTIONS)
def describe(
    files: FILES,
    join: JOIN = None,
    categories: CATEGORIES = None,
    json: JSON = False,
    csv: CSV = False,
) -> None:
    """What is in FILE: columns, types, missing values, kernels.

    The kernel shown is the one a column gets unless --kernel says otherwise.
    """
    from reldep.cli.description import print_description

    print_description(files, join, categories, json=json, csv=csv)


@app.command(rich_help_panel=MORE)
def demo(
    out: Annotated[
        Path, typer.Option(metavar="PATH", help="Where to write the figure: .png, .svg or .pdf.")
    ] = Path("reldep-demo.png"),
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the files that the examples of the documentation name into DIR instead.",
        ),
    ] = None,
) -> None:
    """Answer a real question: forty mice, their diet, lipids and genes."""
    from reldep.experiments.mice import QUESTIONS as ASKED
    from reldep.experiments.mice import compare_mice, draw_mice, write_examples

    if files is not None:
        for path in write_examples(files):
            typer.echo(path)
        return
    check_picture("--out", out)
    results = compare_mice()
    for source, result in results.items():
        typer.echo(f"{ASKED[source]}\n\n{as_options(result.summary())}\n")
    draw_mice(results, out)
    typer.echo(f"The two-sigma ellipses are in {out}.")


@app.command(rich_help_panel=MORE)
def version() -> None:
    """Print the version."""
    import reldep

    typer.echo(f"reldep {reldep.__version__}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # A column's name may hold what the terminal cannot show.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(given))


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit status; a user's mistake is one line, no traceback."""
    from reldep.exceptions import ReldepWarning

    debug = "--debug" in arguments
    words = [word for word in arguments if word != "--debug"]
    try:
        with warnings.catch_warnings():
            # Cautions are printed with the answer; as Python warnings they would come twice.
            warnings.simplefilter("ignore", ReldepWarning)
            return _invoke(words)
    except (ValueError, TypeError, ImportError) as error:
        return _fail(error, WRONG_INPUT, debug=debug)
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as error:
        return _fail(error, WRONG_INPUT, debug=debug)
    except (OSError, MemoryError) as error:
        _give_up_full_output()
        return _fail(error, FAILED, debug=debug)


def _invoke(words: list[str]) -> int:
    """Let typer read the line and call the command; it prints its own errors of usage."""
    status = DONE
    try:
        app(words, prog_name="reldep", obj=words)
    except SystemExit as end:
        status = int(end.code or DONE)
    if status == INTERRUPTED:
        typer.echo("Stopped.", err=True)
        return FAILED
    return status


def _fail(error: BaseException, status: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    typer.echo(f"Error: {as_options(_reason(error))}", err=True)
    return status


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _give_up_full_output() -> None:
    """Send what a full standard output did not take nowhere.

    Else Python would try once more at its end, and complain.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
