"""The command ``reldep``: from a file to an answer."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from reldep.cli import INTERRUPTED, interrupts
from reldep.cli.flags import add_questions
from reldep.cli.output import OVERWRITE, PICTURES, check_ending, in_shell, say
from reldep.questions import SENTENCES
from reldep.words import error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, WRONG_INPUT = 0, 1, 2

# What ``reldep demo`` asks.
MICE = {
    "diet": "Is the diet of a mouse more closely related to the fatty acids of its liver or to the "
    "expression of its genes?",
    "genotype": "And its genotype?",
}


class _PlainFlags:
    """Shows a flag in help as a flag, without a type that nobody types."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: None  # noqa: ARG005
        return params


class _Command(_PlainFlags, TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a line, and refuse an option that is repeated in vain.

        Otherwise the last one would hold, and nothing would tell that the others were ignored.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in {id(one): one for one in given}.values():
            times = sum(one is option for one in given)
            if times > 1 and not option.multiple and option.nargs == 1:
                ctx.fail(f"{option.opts[0]} is given {times} times; give it once.")
        return super().parse_args(ctx, args)


class _Group(_PlainFlags, TyperGroup):
    pass


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Make the application for a line of words: only the question that it asks is loaded."""
    app = typer.Typer(
        name="reldep",
        cls=_Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    # A line that is being completed stands in the environment, and may go on in any way.
    used = [*SENTENCES, "describe"] if "_RELDEP_COMPLETE" in os.environ else words[:1]
    lifetime = any(word.partition("=")[0] == "--survival" for word in words)
    add_questions(app, _Command, "Questions about a file", used, has_lifetime=lifetime)
    app.command("app", cls=_Command, rich_help_panel="More")(serve_page)
    app.command("demo", cls=_Command, rich_help_panel="More")(demo)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from reldep.version import __version__

        say(f"reldep {__version__}")
        raise typer.Exit


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
    """Which dependence is stronger? Is X more closely related to Y or to Z?

    Exit status: 0 done, 2 wrong usage or input, 130 stopped by Ctrl-C, 1 anything else.
    """


def serve_page(
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="The address to listen on; 0.0.0.0 in a container."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 for any free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="The largest file to take, in megabytes.")
    ] = 512,
) -> None:
    """Ask in the browser: drop a file, pick the columns, read the answer.

    The page is served to this machine only, unless --host says otherwise, and the data do not
    leave it.
    """
    from reldep.system import import_extra

    for module in ("starlette", "uvicorn", "python_multipart"):
        import_extra(module, extra="app", purpose="reldep app")
    from reldep.app.serving import serve

    serve(host=host, port=port, max_upload=max_upload * 1_000_000, browser=browser, say=say)


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
    overwrite: OVERWRITE = False,
) -> None:
    """Answer a real question: forty mice, their diet, lipids and genes."""
    from reldep.io import check_writable, write
    from reldep.system import import_away

    if files is not None:
        from reldep.datasets._examples import write_examples

        for path in write_examples(files, overwrite=overwrite):
            say(str(path))
        return
    check_ending("--out", out, PICTURES)
    check_writable(out, overwrite=overwrite)
    import_away("matplotlib")
    import reldep
    from reldep.datasets import load_nutrimouse
    from reldep.report import plain_text
    from reldep.report.vector import image

    mice = load_nutrimouse()
    blocks, names = (mice["lipid"], mice["gene"]), ("lipids", "genes")
    found = {one: reldep.compare(mice[one], *blocks, names=(one, *names)) for one in MICE}
    for source, result in found.items():
        said = plain_text(result.describe().reworded(in_shell))
        say(f"{MICE[source]}\n\n{said}\n")

    def draw(figure: Any) -> None:
        figure.set_size_inches(9.2, 6.4)
        for ax, result in zip(figure.subplots(1, len(found)), found.values(), strict=True):
            result.plot(ax)

    write(out, image(draw, out.suffix), overwrite=overwrite)
    say(f"The picture is in {out}.")


# What a user can mend.
MISTAKES = (
    *(ValueError, TypeError, ImportError, FileNotFoundError, FileExistsError),
    *(PermissionError, IsADirectoryError, NotADirectoryError),
)
REPORT = "This is a bug: run the command again with --debug and report what it prints."


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; whatever goes wrong is one line."""
    from reldep.exceptions import ReldepWarning

    words = [word for word in arguments if word != "--debug"]
    try:
        with warnings.catch_warnings():
            # Cautions are printed with the answer; as Python warnings they would come twice.
            warnings.simplefilter("ignore", ReldepWarning)
            application(words)(words, prog_name="reldep")
    except SystemExit as end:  # typer's, which prints its own errors of usage
        status = int(end.code or DONE)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        # The edge of the program: inside, nothing is caught that is not understood.
        if "--debug" in arguments:
            traceback.print_exception(error)
        _give_up_full_output()
        status = WRONG_INPUT if isinstance(error, MISTAKES) else FAILED
        if interrupts.seen:
            status = INTERRUPTED
        else:
            say(f"Error: {error_text(error, in_shell, REPORT)}", err=True)
    else:
        status = DONE
    if status == INTERRUPTED:
        say("Stopped.", err=True)
    return status


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
