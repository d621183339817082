"""Commands made from the arguments of the questions: a new question is a command at once."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from reldep.cli.output import Delivery, deliver, in_shell, option, print_description
from reldep.questions import EXAMPLES, SENTENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from reldep.arguments import Argument

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
    float,
    option("Level of the test; intervals are at 1 - alpha.", panel="Method", metavar="LEVEL"),
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
