"""What a question takes: slots for columns and options, declared once for all front ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from reldep.data.checks import MEASURES, MISSING, VARIANCES
from reldep.data.selectors import parse_named, quote_column
from reldep.exceptions import InputError
from reldep.questions import SENTENCES
from reldep.words import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reldep.files.partitions import Partitions
    from reldep.files.table import Table
    from reldep.results.answer import Answer

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
    by_blocks : bool
        Whether its columns are many, so that the question reads them some at a time.
    """

    name: str
    help: str
    takes: Takes = "block"
    required: bool = True
    metavar: str = "COLS"
    by_blocks: bool = False

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
        """How a flag that holds by default is taken back on a command line."""
        return f"--no-{self.flag[2:]}"

    def words(self, value: Any) -> list[str]:
        """Write a value on a command line; nothing for the default."""
        if value is None or value == self.default:
            return []
        if self.kind == "flag":
            return [self.flag if value else self.opposite]
        return [word for one in many(value) for word in (self.flag, str(one))]


# The options that every question takes.
SHARED = (
    Choice("missing", "Incomplete rows: an error, or dropped.", "raise", MISSING, panel="Data"),
    Choice("ids", "The column that names the rows.", kind="column", panel="Data", option="id"),
    Choice("given", "Covariates to hold fixed: age,sex (numbers or labels).", kind="columns"),
    Choice("measure", "The measure of dependence.", "cka", MEASURES),
    Choice(
        "kernel",
        "A kernel for all variables, or NAME=KERNEL for one; repeat it for several. auto, "
        "gaussian, gaussian:0.5*median, gaussian:2.0, laplace, linear, polynomial:3, delta, "
        "distance and others.",
        kind="texts",
    ),
    Choice(
        "standardize", "Put the columns of a block on the same scale first.", False, kind="flag"
    ),
    Choice("variance", "How errors are assessed.", "jackknife", VARIANCES),
    Choice(
        "clusters",
        "The column of cluster labels; repeat it for two clusterings that cross each other.",
        kind="column",
    ),
    Choice(
        "max_lag",
        "For rows in time order: how many steps apart they may depend, or auto.",
        kind="text",
    ),
    Choice("engine", "The engine: auto, dense, tiled, features, lowrank.", "auto", kind="text"),
    Choice("rng", "The random seed.", kind="whole", option="seed"),
)


# How a file is read: the arguments of `reldep.read`.
READING = (
    Choice("categories", "Columns of codes that are labels, not numbers.", kind="columns"),
    Choice("numbers", "Columns of numbers; other cells become missing.", kind="columns"),
    Choice("date_columns", "Columns of dates; other cells become missing.", kind="columns"),
    Choice("na", "Values that stand for missing ones, besides NA.", (), kind="texts"),
    Choice("decimal", "The decimal mark of numbers.", None, (".", ",")),
    Choice("thousands", "The mark between groups of three digits.", kind="text"),
    Choice("delimiter", "What stands between two fields of a text file.", kind="text"),
    Choice("encoding", "The encoding of a text file, such as latin1.", kind="text"),
    Choice("header", "Whether the first line names the columns.", True, kind="flag"),
    Choice("skip_rows", "Lines before the header.", 0, kind="whole"),
    Choice("sheet", "The sheet of a workbook, by name or number.", kind="text"),
    Choice("layer", "The layer of an AnnData file, in place of X.", kind="text"),
    Choice(
        "dates",
        "What dates become: days since the first one, or a place in a cycle.",
        "elapsed",
        ("elapsed", "hour", "weekday", "month"),
    ),
    Choice(
        "survival",
        "Censored lifetimes: the columns TIME,EVENT, or TIME,EVENT=VALUE if VALUE marks the "
        "event. Name TIME where the lifetime belongs; left out, it is the source.",
        (),
        kind="texts",
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
    can_resume : bool
        Whether its table can be written to a file, and a run that was stopped be continued. A
        place of a file is no option of a question: only who sits at the machine may name one.
    """

    name: str
    function: Callable[..., Answer]
    slots: tuple[Slot, ...]
    choices: tuple[Choice, ...] = ()
    shared: tuple[str, ...] = tuple(choice.name for choice in SHARED)
    example: str = ""
    has_bandwidths: bool = False
    has_plan: bool = False
    can_resume: bool = False

    @property
    def sentence(self) -> str:
        """The question in words, with a place for every slot."""
        return SENTENCES[self.name]

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
                    f"two variables are named {twice!r}; give them names of their own, as in "
                    "NAME=COLS."
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

    def written(self, filled: Mapping[str, Any], columns: Selector) -> dict[str, Any]:  # noqa: ARG002
        """Give the slots as arguments of the function in Python, by the names of columns."""
        return {slot.name: filled[slot.name] for slot in self.slots if filled.get(slot.name)}


def merged(data: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Put the variables of all slots together."""
    return {name: block for blocks in data.values() for name, block in blocks.items()}


@dataclass(frozen=True)
class Selector:
    """Finds the columns of a table that a user's words name."""

    table: Table | Partitions

    def variables(
        self, slot: Slot, value: str | Sequence[str], taken: Mapping[str, list[str]]
    ) -> dict[str, list[str]]:
        """Give the variables that were put into a slot, with their columns."""
        if slot.takes == "each":
            used = {column for columns in taken.values() for column in columns}
            chosen = self.table.select(str(value))
            return {in_one_line(name): [name] for name in chosen if name not in used}
        if slot.takes == "column":
            return {slot.name: [self.column(slot.name, str(value))]}
        if slot.many:
            return dict(self.block(one) for one in value)
        return dict([self.block(str(value))])

    def block(self, definition: str) -> tuple[str, list[str]]:
        """Find the columns of one variable, written ``COLS`` or ``NAME=COLS``."""
        if definition in self.table.columns:
            return in_one_line(definition), [definition]
        try:
            name, expression = parse_named(definition)
        except ValueError:
            columns = self.table.select(definition)
            return in_one_line(columns[0] if len(columns) == 1 else definition), columns
        return name, self.table.select(expression)

    def written(self, definitions: Any, each: Any = None) -> Any:
        """Write variables as Python takes them: one expression, or one for every name."""
        if not definitions:
            return each
        named = {}
        for definition in definitions:
            name, found = self.block(definition)
            named[name] = ",".join(quote_column(column) for column in found)
        if each:
            named |= {name: quote_column(name) for name in self.table.select(str(each))}
        return named

    def column(self, option: str, expression: str) -> str:
        """Find the one column that an option names."""
        found = self.table.select(expression)
        if len(found) > 1:
            raise InputError(f"`{option}={expression!r}` names {len(found)} columns; give one.")
        return found[0]


def many(value: Any) -> Sequence[Any]:
    """Give a value as a list: none, one or several."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)
