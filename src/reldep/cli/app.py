"""The command ``reldep``: a command for every question, made from its arguments."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from reldep.cli import INTERRUPTED, interrupts
from reldep.cli.output import (
    OVERWRITE,
    PICTURES,
    Delivery,
    check_ending,
    deliver,
    in_shell,
    option,
    print_description,
    say,
)
from reldep.questions import EXAMPLES, SENTENCES
from reldep.words import error_text

if TYPE_CHECKING:
    from reldep.arguments import Argument

# Exit statuses by convention; 2 is that of argparse for wrong usage.
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
        for flag in {id(one): one for one in given}.values():
            times = sum(one is flag for one in given)
            if times > 1 and not flag.multiple and flag.nargs == 1:
                ctx.fail(f"{flag.opts[0]} is given {times} times; give it once.")
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
        bool, typer.Option("--debug", help="Show the traceback of an error; anywhere on the line.")
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
    from reldep.app.server import serve

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


COLUMNS_IN_WORDS = (
    "COLS: names (age,sex), ranges (C14:C22), globs ('gene_*'), types (@numeric, @categorical), "
    "exclusions ('!age'); NAME=COLS gives a block a name. Repeated options add up."
)
DESCRIPTION = (
    "What is in FILE: columns, types, missing values, kernels.\n\n"
    "The kernel shown is the one a column gets unless --kernel says otherwise."
)
PLACE = re.compile(r"\{(\w+)\}")
# Longer lists of words in the column of values leave no room for the help.
LONGEST_CHOICES = 26

FILES: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also .gz), Parquet, Arrow, Excel or NPZ; - for standard input. "
        "Several files need --join.",
    ),
]
ALPHA: TypeAlias = Annotated[
    float, option("Level of the test; intervals are at 1 - alpha.", panel="Method", metavar="LEVEL")
]


def add_questions(
    app: typer.Typer, cls: Any, panel: str, used: Collection[str], *, has_lifetime: bool
) -> None:
    """Add a command for every question, and ``describe``.

    Only those in `used` have their options: the arguments of a question load NumPy and more.
    Where the line has a lifetime, it is the first variable, which may be left out.
    """
    for name in SENTENCES:
        asked = PLACE.sub(lambda place: place[1].upper(), SENTENCES[name])
        command: Callable[..., None] = _listed
        if name in used:
            command = asking(name, has_lifetime=has_lifetime)
            asked = "\n\n".join((asked, COLUMNS_IN_WORDS, EXAMPLES[name]))
        # Nothing in it is markup.
        app.command(name, cls=cls, help=asked.replace("[", r"\["), rich_help_panel=panel)(command)
    command = describing() if "describe" in used else _listed
    app.command("describe", cls=cls, help=DESCRIPTION, rich_help_panel=panel)(command)


def _listed() -> None:
    """Stand for a command that is not on the line."""


def asking(question: str, *, has_lifetime: bool = False) -> Callable[..., None]:
    """Return the command that asks a question; typer sees its options one by one."""
    from reldep.files.read import READING
    from reldep.questions.request import WITH_PLAN, Request, offered

    own = offered(question)
    first = next(iter(own))
    delivered = [one for one in fields(Delivery) if one.name != "plan" or question in WITH_PLAN]
    parameters = [
        _parameter("files", FILES),
        *(flag(one, required=one.name != first or not has_lifetime) for one in own.values()),
        *(flag(one) for one in READING.values()),
        _parameter("alpha", ALPHA, 0.05),
        *(_parameter(one.name, OUTPUT[one.name], one.default) for one in delivered),
    ]

    def command(**given: Any) -> None:
        words = {name: given[name] for name in (*own, *READING)}
        request = Request.from_words(
            question=question, files=tuple(given["files"]), words=words, alpha=given["alpha"]
        )
        deliver(request, Delivery(**{one.name: given[one.name] for one in delivered}))

    return _with(command, parameters)


# How typer shows the fields of `Delivery`.
OUTPUT = get_type_hints(Delivery, include_extras=True)


def describing() -> Callable[..., None]:
    """Return the command that shows what is in a file."""
    from reldep.files.read import READING

    parameters = [
        _parameter("files", FILES),
        *(flag(one) for one in READING.values()),
        *(_parameter(name, OUTPUT[name], False) for name in ("json", "csv")),
    ]

    def describe(files: list[str], json: bool, csv: bool, **words: Any) -> None:
        from reldep.files.read import read

        options = {
            name: READING[name].value(word)
            for name, word in words.items()
            if word not in (None, [], READING[name].default)
        }
        print_description(read(files, **options), json=json, csv=csv)

    return _with(describe, parameters)


def _with(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Return a command with parameters for typer, which reads them from the signature."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def flag(argument: Argument, *, required: bool = True) -> inspect.Parameter:
    """Return the parameter from which typer makes the flag of an argument."""
    settings: dict[str, Any] = {}
    text, names = in_shell(argument.in_words), list(argument.flags)
    kind: Any = str
    if argument.is_flag:
        kind = bool
        names = [f"{names[0]}/--no-{names[0][2:]}"] if argument.default else names
    elif argument.is_choice:
        kind = Literal[argument.choices]
        if len("|".join(argument.choices)) > LONGEST_CHOICES:
            settings["metavar"] = argument.metavar or "NAME"
            text = f"{text.rstrip('.')}: {', '.join(argument.choices)}."
        if argument.default is not None:
            text = rf"{text} [dim]\[default: {argument.default}][/dim]"
    else:
        settings["metavar"] = argument.metavar or "TEXT"
    if argument.is_list or argument.columns not in ("", "label"):
        kind = list[str]
    if argument.columns:
        settings["autocompletion"] = complete_columns
    described = option(text, *names, panel=argument.panel or "Variables", **settings)
    if argument.is_required and required:
        return _parameter(argument.name, Annotated[kind, described])
    # A word that was not typed is None, so that every function has its own default.
    default = argument.default if argument.is_flag else None
    kind = kind if argument.is_flag else kind | None
    return _parameter(argument.name, Annotated[kind, described], default)


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of the files on the line that complete a word, safe to press Enter on.

    A shell inserts what it gets, or even evaluates it, so other than plain names are offered to
    bash only, in quotes; the other shells quote by themselves or not at all.
    """
    from reldep.data.selectors import quote_column
    from reldep.files.read import read

    # The line is not finished, so typer has not yet told files from other words.
    words = [*(context.params.get("files") or ()), *context.args]
    files = [word for word in words if Path(word).is_file()]
    # What stands before the last name stays: "lipids=C14,C1" completes to "lipids=C14,C16".
    start = max(incomplete.rfind(mark) for mark in "=,:!") + 1
    try:
        columns = read(files, join=context.params.get("join")).columns
    except (ValueError, TypeError, OSError):
        return []
    found = [name for name in columns if name.startswith(incomplete[start:])]
    plain = [incomplete[:start] + name for name in found if PLAIN_NAME.fullmatch(name)]
    if os.environ.get("_RELDEP_COMPLETE") != "complete_bash":
        return plain
    others = [name for name in found if name.isprintable() and not PLAIN_NAME.fullmatch(name)]
    return plain + [shlex.quote(incomplete[:start] + quote_column(name)) for name in others]


# Names that mean themselves in a shell, and where columns are chosen.
PLAIN_NAME = re.compile(r"\w[\w.\-]*")
