"""The command ``reldep``: from a file to an answer."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reldep.cli.questions import compare, contrast, dependence, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, WRONG_INPUT = 0, 1, 2

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


@app.callback()
def _root(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,  # read by main before anything runs
) -> None:
    """Which dependence is stronger? Does X depend more on Y than on Z?

    Exit status: 0 done, 2 wrong usage or input, 1 anything else.
    """


@app.command(rich_help_panel=QUESTIONS)
def describe(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="As for compare.")],
    join: Annotated[str | None, typer.Option(help="The column to join several files on.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """What is in FILE: columns, types, missing values and the kernel each would get."""
    from reldep.cli.description import print_description

    print_description(files, join, json=json, csv=csv)


@app.command(rich_help_panel=MORE)
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("reldep-demo.png"),
) -> None:
    """Answer a real question: forty mice, their diet, lipids and genes."""
    from reldep.experiments.mice import QUESTIONS as ASKED
    from reldep.experiments.mice import compare_mice, draw_mice

    results = compare_mice()
    for source, result in results.items():
        typer.echo(f"{ASKED[source]}\n\n{result.summary()}\n")
    draw_mice(results, out)
    typer.echo(f"The two-sigma ellipses are in {out}.")


@app.command(rich_help_panel=MORE)
def version() -> None:
    """Print the version."""
    import reldep

    typer.echo(f"reldep {reldep.__version__}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake ends in one line, never in a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(given))


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit status."""
    from reldep.exceptions import ReldepWarning

    if "--debug" in arguments:
        return _invoke([word for word in arguments if word != "--debug"])
    try:
        with warnings.catch_warnings():
            # Cautions are printed with the answer; as Python warnings they would come twice.
            warnings.simplefilter("ignore", ReldepWarning)
            return _invoke(arguments)
    except (ValueError, TypeError, LookupError, FileNotFoundError) as error:
        return _fail(error, WRONG_INPUT)
    except (PermissionError, IsADirectoryError, NotADirectoryError) as error:
        return _fail(error, WRONG_INPUT)
    except ImportError as error:
        return _fail(error, WRONG_INPUT)
    except (OSError, MemoryError) as error:
        return _fail(error, FAILED)


def _invoke(arguments: Sequence[str]) -> int:
    import click

    try:
        status = app(list(arguments), prog_name="reldep", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Abort:
        typer.echo("Stopped.", err=True)
        return FAILED
    return status if isinstance(status, int) else DONE


def _fail(error: BaseException, status: int) -> int:
    text = str(error) or type(error).__name__
    typer.echo(f"Error: {text}", err=True)
    return status
