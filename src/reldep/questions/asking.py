"""Questions as plain values, so that a command line, a web page and a saved session ask alike.

Every question declares what it takes (:class:`~reldep.questions.declaring.Question`). A
:class:`Request` fills that in for a file and can be answered, written as a command or as Python
code. A new question needs no more than its declaration to appear everywhere.
"""

from __future__ import annotations

import importlib
import inspect
import shlex
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from reldep.checks import Beside, cautions_about
from reldep.data.checks import check_choice, check_level, check_names_known
from reldep.data.selectors import parse_lifetime, quote_column
from reldep.exceptions import InputError, by_weight
from reldep.files.byte_sources import STANDARD_INPUT
from reldep.files.partitions import Partitions, open_partitions
from reldep.files.read import read
from reldep.files.wide_columns import TableColumns
from reldep.kernels.base import Kernel
from reldep.questions import SENTENCES
from reldep.questions.calling import check_in_pieces
from reldep.questions.declaring import READING, Question, Selector, many, merged
from reldep.questions.kernel_words import parse_kernels
from reldep.system import available_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reldep.engine import Plan
    from reldep.exceptions import ReldepWarning
    from reldep.files.table import Table
    from reldep.results.answer import Answer


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
        How the files are read: arguments of :func:`reldep.read`.
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
        check_choice("question", self.question, SENTENCES)
        check_level("alpha", self.alpha)
        self._place_lifetime()
        check_names_known("slots", self.slots, [slot.name for slot in self.asked.slots], "slot")
        check_names_known("options", self.options, [c.name for c in self.asked.options], "option")
        for slot in self.asked.slots:
            if slot.required and not self.slots.get(slot.name):
                raise InputError(f"nothing is put into `{slot.name}`; name its columns.")

    def _place_lifetime(self) -> None:
        """Put a lifetime into the first slot, if that one is empty."""
        lifetimes = many(self.reading.get("survival"))
        slot = self.asked.slots[0]
        if len(lifetimes) == 1 and slot.required and not self.slots.get(slot.name):
            time, _, _ = parse_lifetime(lifetimes[0])
            object.__setattr__(self, "slots", {**self.slots, slot.name: time})

    @cached_property
    def asked(self) -> Question:
        """The question's declaration."""
        return declared(self.question)

    @cached_property
    def pieces(self) -> Partitions | None:
        """The rows of a directory or a pattern of Parquet files, which stay in pieces."""
        if len(self.files) != 1 or self.files[0] == STANDARD_INPUT:
            return None
        found = open_partitions(self.files[0], available_memory())
        if found is not None:
            check_in_pieces(self.question)
        about_text = [name for name, value in self.reading.items() if value and name != "na"]
        if found is not None and about_text:
            raise InputError(
                f"`{about_text[0]}` is about files that are read as a whole. Leave it out: Parquet "
                "files say themselves what they hold."
            )
        return found

    @cached_property
    def table(self) -> Table | Partitions:
        """The file or files, opened."""
        return self._whole if self.pieces is None else self.pieces

    @property
    def join_report(self) -> str:
        """How several files were joined; empty for one."""
        return self._whole.joined if self.pieces is None else ""

    @cached_property
    def _whole(self) -> Table:
        reading = {name: value for name, value in self.reading.items() if value is not None}
        return read(list(self.files), join=self.join, **reading)

    @cached_property
    def _chosen(self) -> Table:
        """The rows for which the condition holds."""
        return self._whole if self.where is None else self._whole.restricted(self.where)

    def answer(self, *, output: Path | None = None, resume: bool = False) -> Answer:
        """Read the columns used and answer the question.

        Parameters
        ----------
        output : Path, optional
            Where the table is to be written, by questions that keep what is done.
        resume : bool, default False
            Whether to continue a run that was stopped.
        """
        if self.pieces is not None:
            codes = {"na": self.reading["na"]} if self.reading.get("na") else {}
            return self.asked.function(**self._in_words(), **codes, data=self.files[0])
        given, named = self._arguments()
        if self.asked.can_resume:
            named |= {"output": output, "resume": resume}
        return self._noted(self.asked.function(*given, **named))

    def answer_with_bandwidths(self) -> tuple[Answer, Answer | None]:
        """Answer the question, and how the answer depends on the bandwidth, in one job."""
        from reldep.questions.sensitivity import sensitivity

        if self.pieces is not None:
            return self.answer(), None
        given, named = self._arguments()
        special = named.pop("method", "joint") != "joint" or named.pop("paper", False)
        special = special or "given" in named
        if not self.asked.has_bandwidths or special:
            return self.answer(), None
        try:
            curve = sensitivity(*given, **named)
        except InputError:
            # Kernels without a bandwidth have no such curve; other mistakes come up again.
            return self.answer(), None
        # At factor 1 the kernels are as they were fitted.
        central, whole = curve.central, curve.provenance
        how = replace(central.provenance, seed=whole.seed, kernels=whole.kernels)
        return self._noted(replace(central, provenance=how)), curve

    def plan(self) -> Plan:
        """Say which engine would answer, and what memory and time it would take."""
        from reldep.questions.explaining import explain_plan

        if not self.asked.has_plan:
            raise InputError(f"{self.question} takes no `plan`.")
        if self.pieces is not None:
            raise InputError("`plan` is about rows in memory; files in pieces are read five times.")
        if self.options.get("given") is not None:
            raise InputError(
                "`plan` is about engines, and `given` has only one; leave one of them out."
            )
        takes = inspect.signature(explain_plan).parameters
        given, named = self._arguments()
        # Several targets come under their names.
        blocks = [
            one for part in given for one in (part.values() if isinstance(part, dict) else [part])
        ]
        return explain_plan(*blocks, **{name: named[name] for name in named if name in takes})

    def _arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Read the data and give the arguments of the Python function."""
        selector, asked = Selector(self._whole), self.asked
        blocks = asked.blocks(self.slots, selector)
        column_options = {
            choice.name: [
                selector.column(choice.name, str(one)) for one in many(self.options[choice.name])
            ]
            for choice in asked.options
            if choice.kind == "column" and self.options.get(choice.name) is not None
        }
        block_options = {
            choice.name: selector.table.select(str(self.options[choice.name]))
            for choice in asked.options
            if choice.kind == "columns" and self.options.get(choice.name) is not None
        }
        wide = {
            slot.name: [column for block in blocks.pop(slot.name).values() for column in block]
            for slot in asked.slots
            if slot.by_blocks and slot.name in blocks
        }
        columns = [column for block in merged(blocks).values() for column in block]
        # Without other columns the first of the many tells how many rows there are.
        columns = columns or [columns[0] for columns in wide.values()]
        id_column = column_options.pop("ids", [None])[0]
        used = [*columns, *(name for names in column_options.values() for name in names)]
        used += [column for block in block_options.values() for column in block]
        table = self._chosen if id_column is None else self._chosen.named_by(id_column)
        frame = table.take({name: [quote_column(name)] for name in used})
        rows = replace(table.rows, time=table.time_order())
        data = {
            slot: {name: _data_of(frame, table, block) for name, block in named.items()}
            for slot, named in blocks.items()
        }
        read_later: dict[str, Any] = {
            slot: TableColumns(table, names) for slot, names in wide.items()
        }
        given, named = asked.arguments(self.slots, data | read_later)
        # Two columns of clusters cross each other.
        named |= {
            name: frame[columns[0]] if len(columns) == 1 else tuple(frame[one] for one in columns)
            for name, columns in column_options.items()
        }
        named |= {name: _data_of(frame, table, block) for name, block in block_options.items()}
        if "confidence_level" in inspect.signature(asked.function).parameters:
            named["confidence_level"] = 1.0 - self.alpha
        return given, named | self._plain_options() | {"ids": rows}

    def _plain_options(self) -> dict[str, Any]:
        columns = {
            choice.name for choice in self.asked.options if choice.kind in ("column", "columns")
        }
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
        scope = None
        if self.where is not None:
            scope = str(self._chosen.scope)
        notes = (*self.table.notes_about(columns), *answer.provenance.notes)
        return replace(
            answer,
            provenance=replace(answer.provenance, call=self.python(), scope=scope, notes=notes),
            warnings=by_weight((*self._about_table(selector, columns), *answer.warnings)),
        )

    def _about_table(self, selector: Selector, columns: Sequence[str]) -> tuple[ReldepWarning, ...]:
        """Return what columns that the question does not use tell about its rows."""
        if isinstance(self.table, Partitions):
            return ()
        table, named, held = self._chosen, self.options.get("ids"), self.options.get("given")
        return cautions_about(
            Beside(
                columns=table.columns,
                used=[*columns, *(table.select(str(held)) if held is not None else ())],
                values=table.values,
                has_clusters=self.options.get("clusters") is not None,
                id=None if named is None else selector.column("ids", str(named)),
            )
        )

    def command(self) -> str:
        """Write the command line that asks this."""
        words = ["reldep", self.question, *self.files]
        for slot in self.asked.slots:
            for value in many(self.slots.get(slot.name)):
                words += [f"--{slot.name}", str(value)]
        for choice in self.asked.options:
            words += choice.words(self.options.get(choice.name))
        for name in ("join", "where"):
            if getattr(self, name) is not None:
                words += [f"--{name}", getattr(self, name)]
        for choice in READING:
            words += choice.words(self.reading.get(choice.name))
        if self.alpha != 0.05:
            words += ["--alpha", f"{self.alpha:g}"]
        return shlex.join(words)

    def python(self) -> str:
        """Write the Python code that asks this."""
        lines, source = self._opened()
        given = self._in_words()
        paper = given.pop("paper", False)
        inside = [f"{name}={_spelled(value)}" for name, value in given.items()]
        name = "paper_test" if paper else self.question
        call = f"result = reldep.{name}({', '.join([*inside, f'data={source}'])})"
        return "\n".join([*lines, call])

    def _in_words(self) -> dict[str, Any]:
        """Give the arguments of the Python function, with columns by name."""
        slots = self.asked.written(self.slots, Selector(self.table))
        columns = {
            choice.name: self.options[choice.name]
            for choice in self.asked.options
            if choice.kind in ("column", "columns") and self.options.get(choice.name) is not None
        }
        given = {**slots, **columns, **self._plain_options(), "where": self.where}
        return {name: value for name, value in given.items() if value is not None}

    def _opened(self) -> tuple[list[str], str]:
        """Write how the files are opened: the lines before the call, and what `data` is."""
        files = self.files[0] if len(self.files) == 1 else list(self.files)
        reading = {name: value for name, value in self.reading.items() if value is not None}
        if not reading and self.join is None:
            return ["import reldep", ""], repr(files)
        options = "".join(f", {name}={value!r}" for name, value in reading.items())
        join = "" if self.join is None else f", join={self.join!r}"
        return [
            "import reldep",
            "",
            f"table = reldep.read({files!r}{join}{options})",
        ], "table"

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


def _spelled(value: Any) -> str:
    """Write a value in Python; kernels stand in their room."""
    if isinstance(value, Kernel):
        return f"reldep.kernels.{value!r}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_spelled(one)}" for key, one in value.items()) + "}"
    return repr(value)


def _data_of(taken: Mapping[str, Any], table: Table, columns: list[str]) -> Any:
    if len(columns) == 1:
        return taken[columns[0]]
    return table.take({"block": [quote_column(name) for name in columns]})["block"]


def _lag(value: Any) -> int | str:
    if value == "auto":
        return "auto"
    try:
        return int(value)
    except ValueError:
        raise InputError(
            f"`max_lag={value!r}` is neither a whole number nor auto; pass how many steps apart "
            "rows may depend on each other."
        ) from None


@cache
def declared(name: str) -> Question:
    """Give the declaration of one question, and load no more than it needs."""
    module = importlib.import_module(f"reldep.questions.{name}")
    found: Question = next(one for one in module.QUESTIONS if one.name == name)
    return found


def catalogue() -> tuple[Question, ...]:
    """Give the declarations of all questions."""
    return tuple(declared(name) for name in SENTENCES)
