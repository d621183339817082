"""What a person chose on the page, and the request that it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import takewhile
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from reldep.arguments import Argument, check_choice, check_level, check_names_known
from reldep.data.selectors import parse_named, quote_column
from reldep.exceptions import InputError
from reldep.files.read import READING
from reldep.questions import SENTENCES
from reldep.questions.request import OVER_BANDWIDTHS, WITH_PLAN, Request, interface, offered

ColumnsOf = Callable[[str], list[str]]

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

GIVEN = "given"


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
    alpha : float
    """

    question: str = "compare"
    slots: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    covariates: bool = False
    alpha: float = 0.05

    @property
    def places(self) -> dict[str, Argument]:
        """The variables of the question, and the covariates, by name."""
        held = {GIVEN: offered(self.question)[GIVEN]} if self.covariates else {}
        return {**slots_of(self.question), **held}

    @property
    def sentence(self) -> str:
        """The question in words, with a place for every slot."""
        return worded(self.question, covariates=self.covariates)

    @property
    def folded(self) -> dict[str, Argument]:
        """The options, with the defaults that run; covariates have a sentence of their own."""
        # The published test has fewer options than the comparison, and other defaults.
        asked = interface("paper_test" if self.options.get("paper") else self.question).arguments
        offers = {name: asked.get(name, one) for name, one in offered(self.question).items()}
        names = [name for name, one in offers.items() if one.panel and name in {"paper", *asked}]
        own = {name: offers[name] for name in names if name != GIVEN}
        return {"where": READING["where"], "id": READING["id"], **own}

    @property
    def has_plan(self) -> bool:
        """Whether the time that the answer takes can be told beforehand."""
        return self.question in WITH_PLAN and not self.covariates

    @property
    def has_bandwidths(self) -> bool:
        """Whether a report adds how the answer depends on the bandwidth."""
        return self.question in OVER_BANDWIDTHS and not self.covariates

    @property
    def is_full(self) -> bool:
        """Whether the question can be asked: every slot that needs columns has some."""
        # A scan without a second target asks another question than its sentence.
        return all(self.slots.get(name) for name in self.places if f"{{{name}}}" in self.sentence)

    def ask(self, question: str, *, covariates: bool = False) -> None:
        """Change the question; empty slots take what the last one compared, in that order.

        Every question keeps what was put into its slots, to come back to.
        """
        filled = [self.slots.get(name) for name in self._single()]
        self.question, self.covariates = question, covariates
        kept = [self.slots.get(name) for name in self._single()]
        spare = [one for one in filled if one and one not in kept]
        for name in self._single():
            if not self.slots.get(name) and spare:
                self.slots[name] = list(spare.pop(0))
        self.change_options(self.options)

    def _single(self) -> list[str]:
        """Return the places that take one variable."""
        return [name for name, one in self.places.items() if one.columns == "one"]

    def change_options(self, chosen: Mapping[str, Any]) -> None:
        """Take other options, without those that what is asked now does not have."""
        self.options = dict(chosen)
        self.options = {name: chosen[name] for name in chosen if name in self.folded}

    def choose(self, name: str, value: str) -> None:
        """Choose a value for an option of the question or of reading; lists get it added."""
        known = {**READING_FIELDS, **self.folded}
        check_choice("name", name, known)
        chosen = self.reading if name in READING_FIELDS else self.options
        word = _word(known[name], [value])
        if isinstance(word, list):
            word = list(dict.fromkeys([*chosen.get(name, ()), *word]))
        chosen[name] = word

    def proposed(self, remedies: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
        """Return the options among remedies that this page has and that are not chosen yet."""
        known = {**READING_FIELDS, **self.folded}
        chosen = {**self.reading, **self.options}
        return [
            (name, value)
            for name, value in remedies
            if name in known and value not in (chosen.get(name), *(chosen.get(name) or ()))
        ]

    def slot(self, name: str) -> Argument:
        """Return a slot of the question."""
        check_choice("slot", name, self.places)
        return self.places[name]

    def place(self, name: str, expression: str) -> None:
        """Put columns into a slot; one that takes a single variable gives up what it had."""
        slot = self.slot(name)
        if slot.columns in ("one", "label"):
            self.slots[name] = [expression]
        else:
            self.slots[name] = [*self.slots.get(name, []), expression]

    def free_name(self, slot: str, columns: Sequence[str]) -> str:
        """Return a name for a block: how its columns begin, if that says something."""
        several = self.slot(slot).columns in ("several", "many")
        others = [name for name in self.places if several or name != slot]
        taken = {split_name(one)[0] for name in others for one in self.slots.get(name, [])}
        started = common_name(columns)
        proposed = [started] if len(started) > 1 else []
        proposed += [slot, *(f"{slot} {i}" for i in range(2, 99))]
        return next((name for name in proposed if name not in taken), slot)

    def take_out(self, name: str, position: str) -> None:
        """Take one variable out of a slot."""
        values = self.slots.get(self.slot(name).name, [])
        del values[position_of(position, len(values), "variable")]

    def rename(self, name: str, position: str, called: str) -> None:
        """Change the name of a block."""
        values = self.slots.get(self.slot(name).name, [])
        place = position_of(position, len(values), "variable")
        if called.strip():
            values[place] = f"{as_written(called.strip())}={split_name(values[place])[1]}"

    def request(self, files: Sequence[str], columns: ColumnsOf) -> Request:
        """Return the request that the command line would make of the same choices.

        Parameters
        ----------
        files : sequence of str
        columns : callable
            Returns the columns that ``COLS`` or ``NAME=COLS`` names.
        """
        slots = {
            name: self._words(slot, self.slots[name])
            for name, slot in self.places.items()
            if self.slots.get(name)
        }
        words = {**slots, **self._options(columns), **self.how_to_read()}
        return Request.from_words(self.question, files, words, self.alpha)

    def how_to_read(self) -> dict[str, Any]:
        """Return the options of reading, with the columns whose kind was changed."""
        reading = dict(self.reading)
        for column, kind in self.kinds.items():
            option = KINDS[kind]
            if option:
                others = [reading[option]] if reading.get(option) else []
                reading[option] = ",".join([*others, quote_column(column)])
        return reading

    def _words(self, slot: Argument, given: Sequence[str]) -> str | list[str]:
        if slot.columns == "label":
            return split_name(given[0])[1]
        if slot.name == GIVEN:
            return [split_name(self._without_ignored(one))[1] for one in given]
        return [self._without_ignored(one) for one in given] if slot.columns else list(given)

    def _without_ignored(self, definition: str) -> str:
        """Take ignored columns out of ranges and patterns, which name them silently."""
        ignored = [quote_column(name) for name, kind in self.kinds.items() if kind == IGNORED]
        if not any(sign in definition for sign in PATTERN_SIGNS):
            return definition
        return ",".join([definition, *(f"!{name}" for name in ignored)])

    def _options(self, columns: ColumnsOf) -> dict[str, Any]:
        """Return the options, with the text kernel for columns that were made texts."""
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
        return {**self.options, "kernel": kernels} if kernels else dict(self.options)

    def _variables(self, columns: ColumnsOf) -> list[str]:
        """Return the definitions of all variables: where each column is one, those of columns."""
        variables: list[str] = []
        for name, slot in slots_of(self.question).items():
            for one in self.slots.get(name, []) if slot.columns else []:
                is_block = slot.columns == "one" or split_name(one)[1] != one
                variables += (
                    [one] if is_block else [quote_column(column) for column in columns(one)]
                )
        return list(dict.fromkeys(variables))

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the choices as plain values, to be saved."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Choices:
        """Return saved choices; raise InputError or TypeError if they have another shape."""
        check_names_known("choices", values, [one.name for one in fields(cls)], "field")
        made = cls(**values)
        for name, shape in get_type_hints(cls).items():
            check_shape(getattr(made, name), shape)
        check_choice("question", made.question, SENTENCES)
        check_level("alpha", made.alpha)
        known = {name for one in SENTENCES for name in slots_of(one)}
        check_names_known("slots", made.slots, {*known, GIVEN}, "slot")
        for kind in made.kinds.values():
            check_choice("kind", kind, KINDS)
        for chosen, offers in ((made.options, made.folded), (made.reading, READING)):
            check_names_known("choices", chosen, offers, "option")
            for name, value in chosen.items():
                check_shape(value, shape_of(offers[name]))
        return made


def check_shape(value: Any, shape: Any) -> None:
    """Raise TypeError if a value from a file is not as a type says.

    Examples
    --------
    >>> check_shape({"a": ["b"]}, dict[str, list[str]])
    """
    kind, inside = get_origin(shape) or shape, get_args(shape)
    if kind is UnionType:
        if not any(isinstance(value, one) for one in inside):
            raise TypeError
    elif kind is not Any and type(value) is not kind:
        raise TypeError
    elif kind is list:
        for part in value:
            check_shape(part, inside[0])
    elif kind is dict:
        for key, part in value.items():
            check_shape(key, inside[0])
            check_shape(part, inside[1])


def shape_of(argument: Argument) -> Any:
    """Return the type of what is filled into the field of an argument."""
    if argument.is_flag:
        return bool
    return list[str] if argument.is_list else str


def position_of(text: str, n: int, what: str) -> int:
    """Return a position from a form; raise InputError if there are not that many."""
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < n):
        raise InputError(f"there is no such {what}.")
    return int(text)


def slots_of(question: str) -> dict[str, Argument]:
    """Return the variables of a question, and the weights of a contrast, by name."""
    return {name: one for name, one in offered(question).items() if not one.panel}


def worded(question: str, *, covariates: bool) -> str:
    """Return the sentence of a question, with or without a place for covariates."""
    sentence = SENTENCES[question]
    return f"{sentence.removesuffix('?')}, given {{{GIVEN}}}?" if covariates else sentence


def written(columns: Sequence[str], all_columns: Sequence[str], name: str) -> str:
    """Return columns as the command line takes them: one by its name, several as a block.

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
        if len(run) > 2:  # a range of two is no shorter
            parts.append(f"{as_written(run[0])}:{as_written(run[-1])}")
        else:
            parts += [as_written(column) for column in run]
    expression = ",".join(parts)
    if len(ordered) == 1:
        return expression
    return f"{as_written(name)}={expression}"


def common_name(columns: Sequence[str]) -> str:
    """Return a name for a block: how its columns begin."""
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*columns, strict=False))
    start = "".join(signs[0] for signs in alike)
    return start.rstrip("_.-: 0123456789").strip()


def as_written(name: str) -> str:
    """Return a name so that it stands for nothing else; in quotes only where that is needed."""
    return name if _PLAIN_NAME.fullmatch(name) else quote_column(name)


def split_name(definition: str) -> tuple[str, str]:
    """Return the name of a variable and its columns, from ``COLS`` or ``NAME=COLS``."""
    name, columns = parse_named(definition)
    if not name and definition.startswith('"') and definition.endswith('"'):
        name = definition if '","' in definition else definition[1:-1].replace('""', '"')
    return name or definition, columns


def chosen_options(
    arguments: Mapping[str, Argument], given: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Return the words of a form; those left as they are by default are left out."""
    read = {name: _word(one, given.get(name, [])) for name, one in arguments.items()}
    plain = {name: str(one.default) for name, one in arguments.items()}
    return {k: word for k, word in read.items() if word not in ("", []) and str(word) != plain[k]}


def _word(argument: Argument, given: list[str]) -> Any:
    """Return what was filled into a field: words, lines of words, or whether it is ticked."""
    kind, text = shape_of(argument), given[0].strip() if given else ""
    if kind is bool:
        return bool(given)
    if kind is str:
        return text
    return [part.strip() for part in text.split("\n") if part.strip()]


# The fields of the form that says how a file is read; the others stand elsewhere on the page.
ELSEWHERE = ("sheet", "join", "where", "id")
READING_FIELDS = {name: one for name, one in READING.items() if name not in ELSEWHERE}
