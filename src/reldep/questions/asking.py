"""Questions as plain values, so that a command line, a web page and a saved session ask alike.

Every question declares what it takes (:class:`Question`): slots that columns are put into and
options of its own. A :class:`Request` fills these in for a file and can be answered, written as
a command or as Python code. A new question needs no more than its declaration to appear
everywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import shlex
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from reldep.data.checks import (
    MEASURES,
    MISSING,
    VARIANCES,
    check_choice,
    check_level,
    check_names_known,
)
from reldep.data.selectors import parse_named
from reldep.exceptions import InputError, Option
from reldep.questions.kernel_words import parse_kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from reldep.data.table import Table
    from reldep.engine import Plan
    from reldep.results.base import Answer

Takes: TypeAlias = Literal["block", "blocks", "each", "column", "words"]
Kind: TypeAlias = Literal["choice", "text", "texts", "whole", "number", "flag", "column", "columns"]


@dataclass(frozen=True)
class Slot:
    """A place of a question that columns are put into.

    Attributes
    ----------
    name : str
    help : str
        What belongs there, in a few words.
    takes : {"block", "blocks", "each", "column", "words"}
        One variable, written ``COLS`` or ``NAME=COLS``; several of these; columns each of which
        is a variable of its own; one column; or words with a meaning of their own.
    required : bool
    metavar : str
        How a value is written.
    """

    name: str
    help: str
    takes: Takes = "block"
    required: bool = True
    metavar: str = "COLS"

    @property
    def many(self) -> bool:
        """Whether it takes a list of values."""
        return self.takes in ("blocks", "words")


@dataclass(frozen=True)
class Choice:
    """An option of a question.

    Attributes
    ----------
    name : str
        The argument of the Python function.
    help : str
    default : object
    choices : tuple of str
        The words to choose from, for the kind "choice".
    kind : str
        What a value is: a word to choose, text, several texts, a whole number, a number, a flag,
        or the columns that give the argument its data.
    panel : str
        Under which heading a form or a help page shows it.
    option : str
        Its name on the command line, where that differs.
    """

    name: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    kind: Kind = "choice"
    panel: str = "Method"
    option: str = ""

    @property
    def flag(self) -> str:
        """How it is written on a command line."""
        return "--" + (self.option or self.name).replace("_", "-")

    @property
    def opposite(self) -> str:
        """How a flag that holds by default is taken back."""
        return self.flag.replace("--", "--no-", 1)

    def typed(self, value: Any) -> list[str]:
        """Write a value as the words of a command; nothing for the default."""
        if value is None or value == self.default:
            return []
        if self.kind == "flag":
            return [self.flag if value else self.opposite]
        return [word for one in _many(value) for word in (self.flag, str(one))]


# The options that every question takes.
SHARED = (
    Choice("missing", "Incomplete rows: an error, or dropped.", "raise", MISSING, panel="Data"),
    Choice("ids", "The column that names the rows.", kind="column", panel="Data", option="id"),
    Choice("measure", "The measure of dependence.", "cka", MEASURES),
    Choice(
        "kernel",
        "A kernel for all variables, or NAME=KERNEL for one; repeat it for several. auto, "
        "gaussian, gaussian:0.5*median, gaussian:2.0, laplace, linear, polynomial:3, delta, "
        "distance and others.",
        kind="texts",
    ),
    Choice("variance", "How errors are assessed.", "jackknife", VARIANCES),
    Choice("clusters", "The column of cluster labels.", kind="column"),
    Choice(
        "max_lag",
        "For rows in time order: how many steps apart they may depend, or auto.",
        kind="text",
    ),
    Choice("engine", "The engine: auto, dense, tiled, features, lowrank.", "auto", kind="text"),
    Choice("rng", "The random seed.", kind="whole", option="seed"),
)


# How a file is read: the fields of ReadingOptions.
READING = (
    Choice("categories", "Columns of codes that are labels, not numbers.", kind="columns"),
    Choice("na", "Values that stand for missing ones, besides NA.", (), kind="texts"),
    Choice("decimal", "The decimal mark of numbers.", None, (".", ",")),
    Choice("thousands", "The mark between groups of three digits.", kind="text"),
    Choice("delimiter", "What stands between two fields of a text file.", kind="text"),
    Choice("encoding", "The encoding of a text file, such as latin1.", kind="text"),
    Choice("header", "Whether the first line names the columns.", True, kind="flag"),
    Choice("skip_rows", "Lines before the header.", 0, kind="whole"),
    Choice("sheet", "The sheet of a workbook, by name or number.", kind="text"),
    Choice(
        "dates",
        "What dates become: days since the first one, or a place in a cycle.",
        "elapsed",
        ("elapsed", "hour", "weekday", "month"),
    ),
)


@dataclass(frozen=True)
class Question:
    """What a question takes, and how it is put in words.

    Attributes
    ----------
    name : str
        The name of the command and of the Python function.
    function : callable
        The public function that answers it.
    sentence : str
        The question, with a place for every slot: "Does {source} depend more on {first} ...".
    slots : tuple of Slot
    choices : tuple of Choice
        The options of this question only.
    shared : tuple of str
        The shared options it takes.
    example : str
        A command that asks it.
    has_bandwidths : bool
        Whether a report adds how the answer depends on the bandwidth.
    has_plan : bool
        Whether it can be said beforehand what the answer takes.
    """

    name: str
    function: Callable[..., Answer]
    sentence: str
    slots: tuple[Slot, ...]
    choices: tuple[Choice, ...] = ()
    shared: tuple[str, ...] = tuple(choice.name for choice in SHARED)
    example: str = ""
    has_bandwidths: bool = False
    has_plan: bool = False

    @property
    def options(self) -> tuple[Choice, ...]:
        """All options: those of this question, then the shared ones."""
        return (*self.choices, *(choice for choice in SHARED if choice.name in self.shared))

    def blocks(
        self, filled: Mapping[str, Any], columns: Selector
    ) -> dict[str, dict[str, list[str]]]:
        """Name the variables in every slot and find their columns."""
        found: dict[str, dict[str, list[str]]] = {}
        for slot in self.slots:
            value = filled.get(slot.name)
            if value is None or slot.takes == "words":
                continue
            taken = {name: own for block in found.values() for name, own in block.items()}
            found[slot.name] = columns.variables(slot, value, taken)
            twice = next((name for name in found[slot.name] if name in taken), None)
            if twice is not None:
                raise InputError(
                    f"two variables are named {twice!r}",
                    "give them names of their own, as in NAME=COLS.",
                )
        return found

    def arguments(
        self,
        filled: Mapping[str, Any],  # noqa: ARG002 (some questions have words in their slots)
        data: Mapping[str, Mapping[str, Any]],
    ) -> tuple[list[Any], dict[str, Any]]:
        """Give the arguments of the function: here one variable for each slot, with names."""
        named = merged(data)
        return list(named.values()), {"names": list(named)}


def merged(data: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Put the variables of all slots together."""
    return {name: block for blocks in data.values() for name, block in blocks.items()}


@dataclass(frozen=True)
class Selector:
    """Finds the columns of a table that a user's words name."""

    table: Table

    def variables(
        self, slot: Slot, value: str | Sequence[str], taken: Mapping[str, list[str]]
    ) -> dict[str, list[str]]:
        """Give the variables that were put into a slot, with their columns."""
        if slot.takes == "each":
            used = {column for columns in taken.values() for column in columns}
            return {name: [name] for name in self.table.select(str(value)) if name not in used}
        if slot.takes == "column":
            return {slot.name: [self.column(slot.name, str(value))]}
        if slot.many:
            return dict(self.block(one) for one in value)
        return dict([self.block(str(value))])

    def block(self, definition: str) -> tuple[str, list[str]]:
        """Find the columns of one variable, written ``COLS`` or ``NAME=COLS``."""
        if definition in self.table.columns:
            return definition, [definition]
        try:
            name, expression = parse_named(definition)
        except ValueError:
            columns = self.table.select(definition)
            return columns[0] if len(columns) == 1 else definition, columns
        return name, self.table.select(expression)

    def column(self, option: str, expression: str) -> str:
        """Find the one column that an option names."""
        found = self.table.select(expression)
        if len(found) > 1:
            raise InputError(
                f"names {len(found)} columns", "give one.", argument=option, value=expression
            )
        return found[0]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question about a file, in plain values.

    Attributes
    ----------
    question : str
    files : tuple of str
    slots : mapping of str to str or list of str
        What was put into every slot.
    options : mapping of str to object
        Options that differ from their defaults, by the names of the Python arguments. Columns
        are given by name.
    join, where : str, optional
        The column several files are joined on, and a condition on the rows.
    reading : mapping of str to object
        How the files are read: the fields of :class:`~reldep.data.ReadingOptions`.
    alpha : float
    """

    question: str
    files: tuple[str, ...]
    slots: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    join: str | None = None
    where: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_choice("question", self.question, [one.name for one in catalogue()])
        check_level("alpha", self.alpha)
        check_names_known("slots", self.slots, [slot.name for slot in self.asked.slots], "slot")
        check_names_known("options", self.options, [c.name for c in self.asked.options], "option")
        for slot in self.asked.slots:
            if slot.required and not self.slots.get(slot.name):
                raise InputError(["nothing is put into ", Option(slot.name)], "name its columns.")

    @cached_property
    def asked(self) -> Question:
        """The question's declaration."""
        return next(one for one in catalogue() if one.name == self.question)

    @cached_property
    def table(self) -> Table:
        """The file or files, opened."""
        from reldep.data import ReadingOptions, open_table

        return open_table(list(self.files), join=self.join, options=ReadingOptions(**self.reading))

    def answer(self) -> Answer:
        """Read the columns used and answer the question."""
        given, named = self._arguments()
        return self._noted(self.asked.function(*given, **named))

    def answer_with_bandwidths(self) -> tuple[Answer, Answer | None]:
        """Answer the question, and how the answer depends on the bandwidth, in one job."""
        from reldep.questions.sensitivity import sensitivity

        given, named = self._arguments()
        special = named.pop("method", "joint") != "joint" or named.pop("paper", False)
        if not self.asked.has_bandwidths or special:
            return self.answer(), None
        try:
            curve = sensitivity(*given, **named)
        except InputError:
            # Kernels without a bandwidth have no such curve; other mistakes come up again.
            return self.answer(), None
        central = curve.central
        # At factor 1 the kernels are as they were fitted.
        whole = curve.provenance
        how = replace(central.provenance, seed=whole.seed, kernels=whole.kernels)
        return self._noted(replace(central, provenance=how)), curve

    def plan(self) -> Plan:
        """Say which engine would answer, and what memory and time it would take."""
        from reldep.questions.planning import explain_plan

        if not self.asked.has_plan:
            raise InputError([f"{self.question} takes no ", Option("plan"), "."])
        takes = inspect.signature(explain_plan).parameters
        given, named = self._arguments()
        blocks = [one for part in given for one in (part.values() if _is_named(part) else [part])]
        return explain_plan(*blocks, **{name: named[name] for name in named if name in takes})

    def _arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Read the data and give the arguments of the Python function."""
        selector, asked = Selector(self.table), self.asked
        blocks = asked.blocks(self.slots, selector)
        column_options = {
            choice.name: selector.column(choice.name, str(self.options[choice.name]))
            for choice in asked.options
            if choice.kind == "column" and self.options.get(choice.name) is not None
        }
        columns = [column for block in merged(blocks).values() for column in block]
        id_column = column_options.pop("ids", None)
        used = [*columns, *column_options.values()]
        frame, rows = self.table.read_rows(used, self.where, id_column=id_column)
        data = {
            slot: {name: _data_of(frame, block) for name, block in named.items()}
            for slot, named in blocks.items()
        }
        given, named = asked.arguments(self.slots, data)
        named |= {name: frame[column] for name, column in column_options.items()}
        if "confidence_level" in inspect.signature(asked.function).parameters:
            named["confidence_level"] = 1.0 - self.alpha
        return given, named | self._plain_options() | {"ids": rows}

    def _plain_options(self) -> dict[str, Any]:
        columns = {choice.name for choice in self.asked.options if choice.kind == "column"}
        chosen = {
            name: value
            for name, value in self.options.items()
            if name not in columns and value is not None
        }
        if "kernel" in chosen:
            chosen["kernel"] = parse_kernels(chosen["kernel"])
        if "max_lag" in chosen:
            chosen["max_lag"] = _lag(chosen["max_lag"])
        return chosen

    def _noted(self, answer: Answer) -> Answer:
        """Note in the answer how it is repeated, and what was understood about the file."""
        selector = Selector(self.table)
        columns = [
            column
            for block in merged(self.asked.blocks(self.slots, selector)).values()
            for column in block
        ]
        return replace(
            answer,
            provenance=replace(answer.provenance, call=self.python()),
            warnings=(*self.table.cautions(columns), *answer.warnings),
        )

    def command(self) -> str:
        """Write the command line that asks this."""
        words = ["reldep", self.question, *self.files]
        for slot in self.asked.slots:
            for value in _many(self.slots.get(slot.name)):
                words += [f"--{slot.name}", str(value)]
        for name in ("join", "where"):
            if getattr(self, name) is not None:
                words += [f"--{name}", getattr(self, name)]
        for choice in (*self.asked.options, *READING):
            given = self.reading if choice in READING else self.options
            words += choice.typed(given.get(choice.name))
        if self.alpha != 0.05:
            words += ["--alpha", f"{self.alpha:g}"]
        return shlex.join(words)

    def python(self) -> str:
        """Write the Python code that asks this."""
        return f"reldep.ask(**{self.to_dict()!r})"

    def to_dict(self) -> dict[str, Any]:
        """Give the request as plain values, to be saved."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return plain | {
            "files": list(self.files),
            "slots": dict(self.slots),
            "options": dict(self.options),
            "reading": dict(self.reading),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Request:
        """Make a request from saved values."""
        known = {one.name for one in fields(cls)}
        check_names_known("request", values, known, "field")
        return cls(**{**values, "files": tuple(values["files"])})


def _is_named(part: Any) -> bool:
    """Tell variables under their names from one block of columns."""
    return isinstance(part, dict)


def _many(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def _data_of(frame: pl.DataFrame, columns: list[str]) -> Any:
    return frame[columns[0]] if len(columns) == 1 else frame.select(columns)


def _lag(value: Any) -> int | str:
    if value == "auto":
        return "auto"
    try:
        return int(value)
    except ValueError:
        raise InputError(
            "is neither a whole number nor auto",
            "pass how many steps apart rows may depend on each other.",
            argument="max_lag",
            value=value,
        ) from None


@cache
def catalogue() -> tuple[Question, ...]:
    """Find every question that is declared, in the order of their places in the room."""
    import reldep.questions as room

    found: list[Question] = []
    for module in pkgutil.iter_modules(room.__path__):
        declared = getattr(
            importlib.import_module(f"{room.__name__}.{module.name}"), "QUESTIONS", ()
        )
        found += declared
    return tuple(sorted(found, key=lambda one: ORDER.index(one.name) if one.name in ORDER else 99))


# Help and forms list the questions in this order; those not named come last.
ORDER = ("compare", "rank", "contrast", "dependence", "groups", "matrix", "scan", "sensitivity")
