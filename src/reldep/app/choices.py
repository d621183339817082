"""What a person chose on the page, and the request that it makes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from reldep.app.wording import field_name
from reldep.data.checks import check_names_known
from reldep.data.selectors import parse_named, quote_column
from reldep.exceptions import InputError
from reldep.questions import SENTENCES
from reldep.questions.asking import Request, declared
from reldep.questions.declaring import READING, SHARED, Choice, Question, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    ColumnsOf = Callable[[str], list[str]]

# A run of columns this long is written as a range.
SHORTEST_RANGE = 3
# Names that mean themselves where columns are chosen.
_PLAIN_NAME = re.compile(r"\w[\w.\-]*")
PATTERN_SIGNS = ":*?[@!"
NUMBER, CATEGORY, TEXT, DATE, IGNORED = "number", "category", "text", "date", "ignore"
# The kinds that a column can be given, with the option of reading that does it.
KINDS = {
    NUMBER: "numbers",
    CATEGORY: "categories",
    TEXT: "categories",  # words, whatever they look like; the kernel compares them
    DATE: "date_columns",
    IGNORED: "",
}

GIVEN = next(Slot(choice.name, choice.help, "each") for choice in SHARED if choice.name == "given")


@dataclass
class Choices:
    """What a person chose: no data, so that it can be saved.

    Attributes
    ----------
    question : str
    slots : dict of str to list of str
        What was put into every slot, each as ``COLS`` or ``NAME=COLS``.
    options : dict of str to object
        Options that differ from their defaults.
    reading : dict of str to object
        How the files are read, where that differs from the defaults.
    kinds : dict of str to str
        The columns whose kind was changed, each to one of `KINDS`.
    covariates : bool
        Whether the sentence has a place for covariates that are held fixed.
    join, where : str or None
    alpha : float
    """

    question: str = "compare"
    slots: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    covariates: bool = False
    join: str | None = None
    where: str | None = None
    alpha: float = 0.05

    @property
    def asked(self) -> Question:
        """The declaration of the question."""
        return declared(self.question)

    @property
    def places(self) -> tuple[Slot, ...]:
        """The slots of the question, and that of the covariates."""
        return (*self.asked.slots, GIVEN) if self.covariates else self.asked.slots

    @property
    def sentence(self) -> str:
        """The question in words, with a place for every slot."""
        return worded(self.asked, covariates=self.covariates)

    @property
    def folded(self) -> list[Choice]:
        """The options; covariates have a sentence of their own."""
        return [choice for choice in self.asked.options if choice.name != GIVEN.name]

    @property
    def is_full(self) -> bool:
        """Whether the question can be asked: every slot that needs columns has some."""
        optional = [slot.name for slot in self.places if not slot.required]
        # A ranking and a table of all pairs take their columns in one slot or the other.
        instead = any(self.slots.get(name) for name in optional)
        in_sentence = [slot for slot in self.places if f"{{{slot.name}}}" in self.sentence]
        needed = [slot for slot in self.places if slot.required or slot in in_sentence]
        return all(self.slots.get(slot.name) or (not slot.required and instead) for slot in needed)

    def ask(self, question: str, *, covariates: bool = False) -> None:
        """Change the question; what fits the new one stays in its slot."""
        before = self.places
        self.question, self.covariates = question, covariates
        names = {slot.name for slot in self.places}
        free = [slot.name for slot in self.asked.slots if slot.name not in self.slots]
        for slot in before:
            if slot.name not in names and slot.name in self.slots and free:
                moved = self.slots.pop(slot.name)
                if slot.takes == "block":
                    self.slots[free.pop(0)] = moved
        kept = {slot.name: self.slots.get(slot.name, []) for slot in self.places}
        self.slots = {name: _fitting(self.slot(name), values) for name, values in kept.items()}
        known = {choice.name for choice in self.asked.options}
        self.options = {name: value for name, value in self.options.items() if name in known}

    def slot(self, name: str) -> Slot:
        """Find a slot of the question."""
        found = next((slot for slot in self.places if slot.name == name), None)
        if found is None:
            raise InputError(f"{self.question} has no slot {name!r}.")
        return found

    def place(self, name: str, expression: str) -> None:
        """Put columns into a slot; one that takes a single variable gives up what it had."""
        slot = self.slot(name)
        if slot.takes in ("block", "column"):
            self.slots[name] = [expression]
        else:
            self.slots[name] = [*self.slots.get(name, []), expression]

    def free_name(self, slot: str, columns: Sequence[str]) -> str:
        """Propose a name for a block: how its columns begin, if that says something."""
        taken = {
            split_name(one)[0]
            for name, given in self.slots.items()
            if name != slot
            for one in given
        }
        started = common_name(columns)
        proposed = [started] if len(started) > 1 else []
        proposed += [slot, *(f"{slot} {i}" for i in range(2, 99))]
        own = [split_name(one)[0] for one in self.slots.get(slot, [])]
        if self.slot(slot).many:
            taken.update(own)
        return next((name for name in proposed if name not in taken), slot)

    def take_out(self, name: str, position: int) -> None:
        """Take one variable out of a slot."""
        values = self.slots.get(self.slot(name).name, [])
        self.slots[name] = [one for i, one in enumerate(values) if i != position]

    def rename(self, name: str, position: int, called: str) -> None:
        """Give a block another name."""
        values = list(self.slots.get(self.slot(name).name, []))
        if position >= len(values) or not called.strip():
            return
        values[position] = f"{as_written(called.strip())}={split_name(values[position])[1]}"
        self.slots[name] = values

    def request(self, files: Sequence[str], columns: ColumnsOf) -> Request:
        """Make the request that the command line would make of the same choices.

        Parameters
        ----------
        files : sequence of str
        columns : callable
            Finds the columns that ``COLS`` or ``NAME=COLS`` names.
        """
        slots = {
            slot.name: self._value(slot, self.slots[slot.name])
            for slot in self.asked.slots
            if self.slots.get(slot.name)
        }
        return Request(
            question=self.question,
            files=tuple(files),
            slots=slots,
            options=self._options(columns),
            join=self.join if len(files) > 1 else None,
            where=self.where or None,
            reading=self.how_to_read(),
            alpha=self.alpha,
        )

    def how_to_read(self) -> dict[str, Any]:
        """Give the options of reading, with the columns whose kind was changed."""
        reading = dict(self.reading)
        for column, kind in self.kinds.items():
            option = KINDS[kind]
            if option:
                others = [reading[option]] if reading.get(option) else []
                reading[option] = ",".join([*others, quote_column(column)])
        return reading

    def _value(self, slot: Slot, given: Sequence[str]) -> str | list[str]:
        values = given if slot.takes == "words" else [self._without_ignored(one) for one in given]
        if slot.many:
            return list(values)
        if slot.takes == "each":
            return ",".join(split_name(value)[1] for value in values)
        return split_name(values[0])[1] if slot.takes == "column" else values[0]

    def _without_ignored(self, definition: str) -> str:
        """Take ignored columns out of ranges and patterns, which name them silently."""
        ignored = [quote_column(name) for name, kind in self.kinds.items() if kind == IGNORED]
        if not any(sign in definition for sign in PATTERN_SIGNS):
            return definition
        return ",".join([definition, *(f"!{name}" for name in ignored)])

    def _options(self, columns: ColumnsOf) -> dict[str, Any]:
        """Give the options, with the text kernel for columns that were made texts."""
        own = self.options.get("kernel")
        kernels = [own] if isinstance(own, str) else list(own or ())
        for definition in self._variables(columns):
            found = columns(definition)
            texts = [name for name in found if self.kinds.get(name) == TEXT]
            if not texts:
                continue
            if len(found) > 1:
                raise InputError(
                    f"{texts[0]} is text, and texts are compared by themselves; give it a place of "
                    "its own, without other columns."
                )
            kernels.append(f"{split_name(definition)[0]}=text")
        options = {**self.options, "kernel": kernels} if kernels else dict(self.options)
        if self.covariates:
            options[GIVEN.name] = self._value(GIVEN, self.slots[GIVEN.name])
        return options

    def _variables(self, columns: ColumnsOf) -> list[str]:
        """Give the definitions of all variables: where each column is one, those of columns."""
        variables: list[str] = []
        for slot in self.asked.slots:
            given = self.slots.get(slot.name, [])
            if slot.takes in ("block", "blocks"):
                variables += given
            elif slot.takes == "each":
                each = [name for one in given for name in columns(one)]
                variables += [quote_column(name) for name in each]
        return list(dict.fromkeys(variables))

    def to_dict(self) -> dict[str, Any]:
        """Give the choices as plain values, to be saved."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Choices:
        """Take saved choices up again."""
        check_names_known("choices", values, [one.name for one in fields(cls)], "field")
        made = cls(**values)
        if made.question not in SENTENCES:
            raise InputError(f"the session asks {made.question!r}, which is no question.")
        for name in made.slots:
            made.slot(name)
        check_names_known("kinds", made.kinds.values(), KINDS, "kind")
        return made


def worded(question: Question, *, covariates: bool) -> str:
    """Write the sentence of a question, with or without a place for covariates."""
    if not covariates:
        return question.sentence
    return f"{question.sentence.removesuffix('?')}, given {{{GIVEN.name}}}?"


def _fitting(slot: Slot, values: list[str]) -> list[str]:
    return values[:1] if slot.takes in ("block", "column") else values


def written(columns: Sequence[str], all_columns: Sequence[str], name: str) -> str:
    """Write columns as the command line takes them: one by its name, several as a block.

    Examples
    --------
    >>> written(["C14", "C16", "C18"], ["id", "C14", "C16", "C18"], "lipids")
    'lipids=C14:C18'
    """
    place = {column: position for position, column in enumerate(all_columns)}
    ordered = sorted(dict.fromkeys(columns), key=place.__getitem__)
    runs: list[list[str]] = []
    for column in ordered:
        if runs and place[column] == place[runs[-1][-1]] + 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    parts = []
    for run in runs:
        if len(run) >= SHORTEST_RANGE:
            parts.append(f"{as_written(run[0])}:{as_written(run[-1])}")
        else:
            parts += [as_written(column) for column in run]
    expression = ",".join(parts)
    if len(ordered) == 1:
        return expression
    return f"{as_written(name)}={expression}"


def common_name(columns: Sequence[str]) -> str:
    """Propose a name for a block: how its columns begin."""
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*columns, strict=False))
    start = "".join(signs[0] for signs in alike)
    return start.rstrip("_.-: 0123456789").strip()


def as_written(name: str) -> str:
    """Write a name so that it stands for nothing else; in quotes only where that is needed."""
    return name if _PLAIN_NAME.fullmatch(name) else quote_column(name)


def split_name(definition: str) -> tuple[str, str]:
    """Give the name of a variable and its columns, from ``COLS`` or ``NAME=COLS``."""
    try:
        return parse_named(definition)
    except ValueError:
        if definition.startswith('"') and definition.endswith('"') and '","' not in definition:
            return definition[1:-1].replace('""', '"'), definition
        return definition, definition


def chosen_options(choices: Sequence[Choice], given: Mapping[str, list[str]]) -> dict[str, Any]:
    """Read the options of a form; those left as they are by default are left out."""
    read = {choice.name: _read(choice, given.get(choice.name, [])) for choice in choices}
    defaults = {choice.name: choice.default for choice in choices}
    return {
        name: value
        for name, value in read.items()
        if value not in (None, "", [], ()) and value != defaults[name]
    }


def _read(choice: Choice, given: list[str]) -> Any:
    """Turn the words of a form into the value of an option."""
    if choice.kind == "flag":
        return bool(given)
    text = given[0].strip() if given else ""
    if not text:
        return None
    if choice.kind == "texts":
        return [part.strip() for part in text.split("\n") if part.strip()]
    kinds: dict[str, Any] = {"whole": int, "number": float}
    try:
        return kinds.get(choice.kind, str)(text)
    except ValueError:
        raise InputError(f"{field_name(choice.name)}: {text!r} is not a number.") from None


READING_FIELDS = tuple(choice for choice in READING if choice.name != "sheet")
