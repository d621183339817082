"""Commands made from what the questions declare: a new question is a command at once."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reldep.cli.delivery import Delivery, deliver
from reldep.exceptions import InputError
from reldep.questions import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from reldep.questions.declaring import Choice, Question, Slot

DATA, READING_PANEL, METHOD, OUTPUT = "Data", "Reading files", "Method", "Output"

COLUMNS_IN_WORDS = (
    "COLS: names (age,sex), ranges (C14:C22), globs ('gene_*'), types (@numeric, @categorical), "
    "exclusions ('!age'); NAME=COLS gives a block a name."
)
DESCRIPTION = (
    "What is in FILE: columns, types, missing values, kernels.\n\n"
    "The kernel shown is the one a column gets unless --kernel says otherwise."
)
PLACE = re.compile(r"\{(\w+)\}")
# Names that mean themselves where columns are chosen.
PLAIN_NAME = re.compile(r"[\w.\-]+")
# More than this in the column of values leaves no room for the help.
LONGEST_CHOICES = 26
METAVARS = {
    "text": "TEXT",
    "texts": "TEXT",
    "whole": "N",
    "number": "X",
    "column": "COL",
    "columns": "COLS",
}
TYPES: dict[str, Any] = {
    "text": str | None,
    "texts": list[str] | None,
    "whole": int | None,
    "number": float | None,
    "column": str | None,
    "columns": list[str] | None,
    "flag": bool,
}


def option(text: str, panel: str, *names: str, **settings: Any) -> Any:
    """Describe an option under one of the headings of a help page."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


FILES: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also .gz), Parquet, Arrow, Excel or NPZ; - for standard input. "
        "Several files need --join.",
    ),
]
JOIN: TypeAlias = Annotated[
    str | None, option("The column on which several files are joined.", DATA, metavar="COL")
]
WHERE: TypeAlias = Annotated[
    list[str] | None,
    option(
        "Only rows for which this holds: \"age > 40 and sex = 'f'\"; several hold together.",
        DATA,
        metavar="COND",
    ),
]
ALPHA: TypeAlias = Annotated[
    float, option("Level of the test; intervals are at 1 - alpha.", METHOD, metavar="LEVEL")
]
JSON: TypeAlias = Annotated[bool, option("Print JSON, numbers unrounded.", OUTPUT, "--json")]
CSV: TypeAlias = Annotated[bool, option("Print the table as CSV, unrounded.", OUTPUT, "--csv")]
PLOT: TypeAlias = Annotated[
    Path | None, option("Write the picture: .png, .svg or .pdf.", OUTPUT, metavar="PATH")
]
REPORT: TypeAlias = Annotated[
    Path | None, option("Write a report, one HTML file.", OUTPUT, metavar="PATH")
]
PLAN: TypeAlias = Annotated[
    bool,
    option(
        "Say which engine would be used, and its memory and time; compute nothing.",
        OUTPUT,
        "--plan",
    ),
]
OUTPUT_FILE: TypeAlias = Annotated[
    Path | None,
    option(
        "Write the table: .csv or .parquet. What is done is kept until it is whole.",
        OUTPUT,
        metavar="PATH",
    ),
]
RESUME: TypeAlias = Annotated[
    bool, option("Continue the run that was to write --output.", OUTPUT, "--resume")
]

# By the names of the fields of `Delivery`.
WRITING: dict[str, Any] = {
    "json": JSON,
    "csv": CSV,
    "plot": PLOT,
    "report": REPORT,
    "plan": PLAN,
    "output": OUTPUT_FILE,
    "resume": RESUME,
}


def add_questions(
    app: typer.Typer, cls: Any, panel: str, used: Collection[str], *, has_lifetime: bool = False
) -> None:
    """Give the application a command for every question.

    Those not in `used` are only listed: their declarations load NumPy and more.
    """
    for name in SENTENCES:
        if name in used:
            from reldep.questions.asking import declared

            question = declared(name)
            command, text = asking(question, has_lifetime=has_lifetime), _help(question)
        else:
            command, text = listed, _plain(_in_words(name))
        app.command(name, cls=cls, help=text, rich_help_panel=panel)(command)


def listed() -> None:
    """Stand for a command that is not on the line."""


def _in_words(name: str) -> str:
    """Put a question in words, with the names of its slots in capitals."""
    return PLACE.sub(lambda place: place[1].upper(), SENTENCES[name])


def _help(question: Question) -> str:
    paragraphs = [_in_words(question.name), COLUMNS_IN_WORDS, question.example]
    return "\n\n".join(_plain(paragraph) for paragraph in paragraphs if paragraph)


def _plain(text: str) -> str:
    """Write a text so that nothing in it is taken for markup."""
    if "[" not in text:
        return text
    from rich.markup import escape

    return escape(text)


def asking(question: Question, *, has_lifetime: bool = False) -> Callable[..., None]:
    """Make the command that asks a question; typer sees its options one by one.

    Where the line has a lifetime, the first slot may be left out: the lifetime belongs there.
    """
    data = [choice for choice in question.options if choice.panel == DATA]
    slots = list(question.slots)
    if has_lifetime:
        slots[0] = replace(slots[0], required=False)
    parameters = [
        _parameter("files", FILES),
        *(_slot(slot) for slot in slots),
        _parameter("join", JOIN, None),
        _parameter("where", WHERE, None),
        *(_choice(choice) for choice in data),
        *reading_parameters(),
        *(_choice(choice) for choice in question.options if choice not in data),
        _parameter("alpha", ALPHA, 0.05),
        *(
            _parameter(one.name, WRITING[one.name], one.default)
            for one in fields(Delivery)
            if _can_have(question, one.name)
        ),
    ]

    def command(**given: Any) -> None:
        deliver(_request(question, given), _output(given))

    return _with(command, parameters)


def _can_have(question: Question, name: str) -> bool:
    """Tell whether a question has an output that not all questions have."""
    if name == "plan":
        return question.has_plan
    return question.can_resume or name not in ("output", "resume")


def describing() -> Callable[..., None]:
    """Make the command that tells what is in a file."""
    parameters = [
        _parameter("files", FILES),
        _parameter("join", JOIN, None),
        *reading_parameters(),
        _parameter("json", JSON, False),
        _parameter("csv", CSV, False),
    ]

    def describe(**given: Any) -> None:
        from reldep.cli.describe import print_description
        from reldep.files.read import read

        table = read(given["files"], join=given["join"], **reading_given(given))
        print_description(table, json=given["json"], csv=given["csv"])

    return _with(describe, parameters)


def _with(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Show parameters to typer, which reads them from the signature."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _output(given: dict[str, Any]) -> Delivery:
    return Delivery(**{one.name: given[one.name] for one in fields(Delivery) if one.name in given})


def _request(question: Question, given: dict[str, Any]) -> Any:
    from reldep.questions.asking import Request

    slots = {
        slot.name: given[slot.name]
        if slot.many or slot.takes == "column"
        else added_up(slot.name, given[slot.name])
        for slot in question.slots
    }
    return Request(
        question=question.name,
        files=tuple(given["files"]),
        slots={name: value for name, value in slots.items() if value},
        options=_changed(question.options, given),
        join=given["join"],
        where=all_of(given["where"]),
        reading=reading_given(given),
        alpha=given["alpha"],
    )


def _changed(choices: Sequence[Choice], given: dict[str, Any]) -> dict[str, Any]:
    """Keep the options that are not as they are by default."""
    values = {choice.name: _value(choice, given[choice.name]) for choice in choices}
    return {
        choice.name: values[choice.name]
        for choice in choices
        if values[choice.name] not in (None, [], (), choice.default)
    }


def _value(choice: Choice, typed: Any) -> Any:
    """Return the value of an option; columns of a repeated one add up."""
    if choice.name == "clusters" and typed:
        return _crossed(typed)
    return added_up(choice.name, typed) if choice.kind == "columns" else typed


def _crossed(columns: list[str]) -> str | tuple[str, str]:
    """Return the column of one clustering, or those of two that cross each other."""
    if len(columns) > 2:
        raise InputError(
            f"`clusters` is given {len(columns)} times; give one column, or two for clusters that "
            "cross each other."
        )
    return columns[0] if len(columns) == 1 else (columns[0], columns[1])


def added_up(name: str, typed: Sequence[str] | None) -> str | None:
    """Return the columns of an option that was given once or several times.

    Examples
    --------
    >>> added_up("first", ["lipids=C14", "C16,C18"])
    'lipids=C14,C16,C18'
    """
    if not typed:
        return None
    named = next((word for word in typed[1:] if "=" in word), None)
    if named is not None:
        raise InputError(
            f"`{name}` is given {len(typed)} times, and {named!r} has a name; name a block in the "
            "first one, as in NAME=COLS."
        )
    return ",".join(typed)


def all_of(conditions: Sequence[str] | None) -> str | None:
    """Return the condition that holds where all of several hold.

    Examples
    --------
    >>> all_of(["age > 40 or sex = 'f'", "dose = 2"])
    "(age > 40 or sex = 'f') and (dose = 2)"
    """
    if not conditions or len(conditions) == 1:
        return conditions[0] if conditions else None
    return " and ".join(f"({condition})" for condition in conditions)


def reading_parameters() -> list[inspect.Parameter]:
    """Give the options of how a file is read."""
    from reldep.questions.declaring import READING

    return [_choice(replace(choice, panel=READING_PANEL)) for choice in READING]


def reading_given(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of how a file is read out of what was typed."""
    from reldep.questions.declaring import READING

    return _changed(READING, given)


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _slot(slot: Slot) -> inspect.Parameter:
    kind: Any = str if slot.takes == "column" else list[str]
    settings: dict[str, Any] = {"metavar": slot.metavar, "help": slot.help}
    if slot.takes != "words":
        settings["autocompletion"] = complete_columns
    described = typer.Option(f"--{slot.name.replace('_', '-')}", **settings)
    if slot.required:
        return _parameter(slot.name, Annotated[kind, described])
    return _parameter(slot.name, Annotated[kind | None, described], None)


def _choice(choice: Choice) -> inspect.Parameter:
    settings: dict[str, Any] = {}
    text = choice.help
    kind: Any = TYPES.get(choice.kind) or Literal[choice.choices]
    if choice.name == "clusters":
        kind = list[str] | None
    if choice.kind == "choice" and choice.default is None:
        kind = kind | None
    if choice.kind in METAVARS:
        settings["metavar"] = METAVARS[choice.kind]
    elif len("|".join(choice.choices)) > LONGEST_CHOICES:
        settings["metavar"] = "NAME"
        text = f"{text.rstrip('.')}: {', '.join(choice.choices)}."
    if choice.kind in ("column", "columns"):
        settings["autocompletion"] = complete_columns
    if choice.kind == "whole":
        settings["min"] = 0
    holds = choice.kind == "flag" and choice.default
    flag = f"{choice.flag}/{choice.opposite}" if holds else choice.flag
    described = option(text, choice.panel, flag, **settings)
    default = None if choice.kind == "texts" else choice.default
    return _parameter(choice.name, Annotated[kind, described], default)


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Propose columns of the files that are on the line already."""
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
    written = [name if PLAIN_NAME.fullmatch(name) else quote_column(name) for name in columns]
    return [incomplete[:start] + name for name in written if name.startswith(incomplete[start:])]
