"""Commands made from the arguments of the questions: a new question is a command at once."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reldep.cli.output import Delivery, deliver
from reldep.questions import EXAMPLES, SENTENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from reldep.arguments import Argument

METHOD, OUTPUT = "Method", "Output"

COLUMNS_IN_WORDS = (
    "COLS: names (age,sex), ranges (C14:C22), globs ('gene_*'), types (@numeric, @categorical), "
    "exclusions ('!age'); NAME=COLS gives a block a name. Repeated options add up."
)
DESCRIPTION = (
    "What is in FILE: columns, types, missing values, kernels.\n\n"
    "The kernel shown is the one a column gets unless --kernel says otherwise."
)
PLACE = re.compile(r"\{(\w+)\}")
# Names that mean themselves where columns are chosen.
PLAIN_NAME = re.compile(r"[\w.\-]+")
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


def _option(text: str, panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


ALPHA: TypeAlias = Annotated[
    float, _option("Level of the test; intervals are at 1 - alpha.", METHOD, metavar="LEVEL")
]
# By the names of the fields of `Delivery`.
WRITING: dict[str, Any] = {
    "json": Annotated[bool, _option("Print JSON, numbers unrounded.", OUTPUT, "--json")],
    "csv": Annotated[bool, _option("Print the table as CSV, unrounded.", OUTPUT, "--csv")],
    "code": Annotated[
        bool, _option("Print the Python call that gives the answer, and run it.", OUTPUT, "--code")
    ],
    "plot": Annotated[
        Path | None, _option("Write the picture: .png, .svg or .pdf.", OUTPUT, metavar="PATH")
    ],
    "report": Annotated[
        Path | None, _option("Write a report, one HTML file.", OUTPUT, metavar="PATH")
    ],
    "plan": Annotated[
        bool,
        _option("Print the engine, its memory and its time; compute nothing.", OUTPUT, "--plan"),
    ],
}


def add_questions(
    app: typer.Typer, cls: Any, panel: str, used: Collection[str], *, has_lifetime: bool
) -> None:
    """Give the application a command for every question.

    Only those in `used` have their options: the arguments of a question load NumPy and more.
    Where the line has a lifetime, it is the first variable, which may be left out.
    """
    for name in SENTENCES:
        if name in used:
            command, text = asking(name, has_lifetime=has_lifetime), _help(name)
        else:
            command, text = listed, _plain(in_words(name))
        app.command(name, cls=cls, help=text, rich_help_panel=panel)(command)


def listed() -> None:
    """Stand for a command that is not on the line."""


def in_words(name: str) -> str:
    """Return a question in words, with the names of its variables in capitals."""
    return PLACE.sub(lambda place: place[1].upper(), SENTENCES[name])


def _help(name: str) -> str:
    return "\n\n".join(_plain(text) for text in (in_words(name), COLUMNS_IN_WORDS, EXAMPLES[name]))


def _plain(text: str) -> str:
    """Return a text in which nothing is taken for markup."""
    if "[" not in text:
        return text
    from rich.markup import escape

    return escape(text)


def asking(question: str, *, has_lifetime: bool = False) -> Callable[..., None]:
    """Return the command that asks a question; typer sees its options one by one."""
    from reldep.files.reading import READING
    from reldep.questions.request import WITH_PLAN, Request, offered

    own = offered(question)
    arguments = {**own, **READING}
    first = next(iter(own))
    parameters = [
        _parameter("files", FILES),
        *(flag(one, required=one.name != first or not has_lifetime) for one in own.values()),
        *(flag(one) for one in READING.values()),
        _parameter("alpha", ALPHA, 0.05),
        *(
            _parameter(one.name, WRITING[one.name], one.default)
            for one in fields(Delivery)
            if one.name != "plan" or question in WITH_PLAN
        ),
    ]

    def command(**given: Any) -> None:
        words = {name: given[name] for name in arguments}
        request = Request(
            question=question, files=tuple(given["files"]), words=words, alpha=given["alpha"]
        )
        wanted = {one.name: given[one.name] for one in fields(Delivery) if one.name in given}
        deliver(request, Delivery(**wanted))

    return _with(command, parameters)


def describing() -> Callable[..., None]:
    """Return the command that tells what is in a file."""
    from reldep.files.reading import READING

    parameters = [
        _parameter("files", FILES),
        *(flag(one) for one in READING.values()),
        _parameter("json", WRITING["json"], False),
        _parameter("csv", WRITING["csv"], False),
    ]

    def describe(**given: Any) -> None:
        from reldep.cli.describe import print_description
        from reldep.files.read import read

        print_description(
            read(_paths(given["files"]), **values(READING, given)),
            json=given["json"],
            csv=given["csv"],
        )

    return _with(describe, parameters)


def values(arguments: Mapping[str, Argument], words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the words that are not left out."""
    return {
        name: one.value(words[name])
        for name, one in arguments.items()
        if words[name] not in (None, [], one.default)
    }


def _paths(files: list[str]) -> str | list[str]:
    return files[0] if len(files) == 1 else files


def _with(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Show parameters to typer, which reads them from the signature."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def flag(argument: Argument, *, required: bool = True) -> inspect.Parameter:
    """Return the parameter from which typer makes the flag of an argument."""
    from reldep.cli.spelling import in_shell

    settings: dict[str, Any] = {}
    text, names = in_shell(argument.in_words), list(argument.flags)
    kind: Any = str
    if argument.is_flag:
        kind = bool
        names = [f"{names[0]}/--no-{names[0][2:]}"] if argument.default else names
    elif argument.is_choice and len("|".join(argument.choices)) <= LONGEST_CHOICES:
        kind = Literal[argument.choices]
    elif argument.is_choice:
        kind = Literal[argument.choices]
        settings["metavar"] = argument.metavar or "NAME"
        text = f"{text.rstrip('.')}: {', '.join(argument.choices)}."
    else:
        settings["metavar"] = argument.metavar or "TEXT"
    if argument.is_list or argument.columns in ("one", "several", "labels"):
        kind = list[str]
    if argument.columns:
        settings["autocompletion"] = complete_columns
    if argument.is_choice and argument.default is not None:
        settings["show_default"] = str(argument.default)
    described = _option(text, argument.panel or "Variables", *names, **settings)
    if argument.is_required and required:
        return _parameter(argument.name, Annotated[kind, described])
    # A word that was not typed is None, so that every function has its own default.
    default = argument.default if argument.is_flag else None
    kind = kind if argument.is_flag else kind | None
    return _parameter(argument.name, Annotated[kind, described], default)


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of the files on the line that complete a word."""
    from reldep.data.selectors import quote_column
    from reldep.files.read import read

    # The line is not finished, so typer has not yet told files from other words.
    words = [*(context.params.get("files") or ()), *context.args]
    files = [word for word in words if Path(word).is_file()]
    # What stands before the last name stays: "lipids=C14,C1" completes to "lipids=C14,C16".
    start = max(incomplete.rfind(mark) for mark in "=,:!") + 1
    try:
        columns = read(_paths(files), join=context.params.get("join")).columns
    except (ValueError, TypeError, OSError):
        return []
    written = [name if PLAIN_NAME.fullmatch(name) else quote_column(name) for name in columns]
    return [incomplete[:start] + name for name in written if name.startswith(incomplete[start:])]
