"""An answer as plain parts, in the order of a page.

Renderers get a `Description` and nothing else, so they do not depend on any answer; an answer
describes itself once per delivery, so nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reldep.exceptions import ReldepWarning
from reldep.words import aligned, number, pvalue_number

Columns = dict[str, list[Any]]


def written(value: Any) -> str:
    """Return a value as people read it; data frames and JSON have it unrounded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def rounded(digits: int, also: Sequence[float] = ()) -> Callable[[Sequence[Any]], list[str]]:
    """Return a function that writes a column of numbers with the same number of decimals.

    The largest number of the column and of `also` has `digits` significant digits, so that upper
    limits have the decimals of lower ones.
    """

    def write(values: Sequence[Any]) -> list[str]:
        own = [value for value in values if isinstance(value, float)]
        # An exact 1 is the end of a range: it does not take a decimal from the others.
        texts = aligned([0.0 if abs(value) == 1 else value for value in (*own, *also)], digits)
        decimals = len(texts[0].partition(".")[2]) if texts else 0
        floats = (
            f"{value:.{decimals}f}" if abs(value) == 1 else text.replace("inf", "∞")
            for value, text in zip(own, texts, strict=False)
        )
        return [next(floats) if isinstance(value, float) else written(value) for value in values]

    return write


def each(write: Callable[[Any], str]) -> Callable[[Sequence[Any]], list[str]]:
    """Return a function that writes the values of a column one by one, None as an empty cell."""
    return lambda values: ["" if value is None else write(value) for value in values]


def errors(values: Sequence[Any]) -> list[str]:
    """Return standard errors with two significant digits, or three after a leading 1.

    So the second digit of smaller ones in the same column is kept.
    """
    largest = max([value for value in values if isinstance(value, float)], default=0.0)
    leading_one = f"{largest:e}".startswith("1")
    return rounded(3 if leading_one else 2)(values)


# What a reader compares; CSV and JSON have all digits.
THREE_DIGITS = rounded(3)

# Headings people read, and how cells are written, by the name of the column: once for all tables.
# Other columns are headed by their names and written with three significant digits.
HEADINGS = {
    "as_correlation": "as a correlation",
    "low": "from",
    "high": "to",
    "statistic": "t",
    "pvalue": "p-value",
    "adjusted_pvalue": "adjusted p-value",
    "may_be_best": "may be the best",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "band_low": "band from",
    "band_high": "band to",
    "fdr": "false-discovery rate",
    "share": "share of variance",
    "psi": "influence",
    "estimate_without": "estimate without",
    "pvalue_without": "p-value without",
}
WRITERS: dict[str, Callable[[Sequence[Any]], list[str]]] = {
    "standard_error": errors,
    **dict.fromkeys(("as_correlation", "statistic"), each("{:.2f}".format)),
    **dict.fromkeys(("pvalue", "adjusted_pvalue", "fdr", "pvalue_without"), each(pvalue_number)),
    "share": each("{:.1%}".format),
}


@dataclass(frozen=True)
class Value:
    """A single value under its name: a key number or a fact about the computation.

    Attributes
    ----------
    name : str
        The name for programs, in JSON.
    heading : str
        The name for people; empty for values that only programs get.
    value : object
    write : callable
        Return the value as people read it.
    """

    name: str
    heading: str
    value: Any
    write: Callable[[Any], str] = written

    @property
    def text(self) -> str:
        """The value as people read it."""
        return self.write(self.value)


def unseen(**values: Any) -> list[Value]:
    """Return values that only programs get, by name."""
    return [Value(name, "", value) for name, value in values.items()]


@dataclass(frozen=True)
class Column:
    """A column of a table, declared once.

    Attributes
    ----------
    name : str
        The name for programs: in data frames, CSV and JSON.
    heading : str
        The name for people.
    values : sequence
        One per row, unrounded; None leaves a cell empty.
    write : callable
        Return all cells as people read them: with the same number of decimals, say.
    """

    name: str
    heading: str
    values: Sequence[Any]
    write: Callable[[Sequence[Any]], list[str]] = THREE_DIGITS

    @property
    def texts(self) -> list[str]:
        """The cells as people read them."""
        return self.write(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are set to the right, as numbers are."""
        return all(
            value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
            for value in self.values
        )


@dataclass(frozen=True)
class Table:
    """Columns of the same length, the first of which names the rows.

    Attributes
    ----------
    columns : tuple of Column
    caption : str
        What the table shows.
    order : sequence of int, optional
        The rows by weight, for pages that have no room for all; by default as they stand.
    shown : str
        Which rows are left of a table that is cut, in words.
    """

    columns: tuple[Column, ...]
    caption: str = ""
    order: Sequence[int] | None = None
    shown: str = "The first {n:,} of {all:,} rows."

    @classmethod
    def of(
        cls, columns: Columns, caption: str, headings: Mapping[str, str] | None = None, **cut: Any
    ) -> Table:
        """Return a table whose columns are headed and written as everywhere.

        Parameters
        ----------
        columns : dict of str to list
            The first names the rows. Its own name may come from the data and is not translated.
        caption : str
        headings : mapping, optional
            Those that differ from the usual ones.
        **cut
            `order` and `shown`.
        """
        first, *others = columns
        known, writers = {**HEADINGS, **(headings or {})}, dict(WRITERS)
        for low, high in (("low", "high"), ("band_low", "band_high")):
            if low in columns:
                writers |= {low: rounded(3, columns[high]), high: rounded(3, columns[low])}
        made = [Column(first, first, columns[first], each(_row_name))]
        for name in others:
            heading = known.get(name, name.replace("_", " "))
            made.append(Column(name, heading, columns[name], writers.get(name, THREE_DIGITS)))
        return cls(tuple(made), caption, **cut)

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows as people read them."""
        return list(zip(*(column.texts for column in self.columns), strict=True))

    def by_weight(self) -> Table:
        """Return the table with the rows of the most weight first."""
        return self if self.order is None else replace(self._kept(self.order), order=None)

    def as_dict(self) -> dict[str, list[Any]]:
        """Return the values of every column by its name, unrounded."""
        return {column.name: list(column.values) for column in self.columns}

    def top(self, most: int) -> Table:
        """Return at most this many rows; a table that is cut says so in its caption."""
        if len(self) <= most:
            return self
        which = self.shown.format(n=most, all=len(self))
        cut = self.by_weight()._kept(range(most))
        return replace(cut, caption=f"{self.caption} {which}".lstrip())

    def _kept(self, rows: Sequence[int]) -> Table:
        columns = [replace(c, values=[c.values[i] for i in rows]) for c in self.columns]
        return replace(self, columns=tuple(columns))


def _row_name(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def as_rows(columns: Columns) -> list[dict[str, Any]]:
    """Return columns as rows, as JSON has them."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@dataclass(frozen=True)
class Picture:
    """A picture and what it shows in words.

    Attributes
    ----------
    draw : callable
        Draws on a matplotlib Axes, on an empty Figure or, for None, on new Axes, and returns the
        Axes: a :func:`functools.partial` of a function of :mod:`reldep.plotting`.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        How to read it.
    """

    draw: Callable[[Any], Any]
    alt: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A further part of a report.

    Attributes
    ----------
    title : str
    name : str
        A short name to jump to.
    paragraphs : tuple of str
    table : Table, optional
    pictures : tuple of Picture
    """

    title: str
    name: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Description:
    """What an answer contains.

    Attributes
    ----------
    kind : str
        The kind of answer, in JSON.
    question : str
    claim : str
        The answer in one sentence or two.
    remarks : tuple of str
        What must be read with it, such as rows left out and blocks in place of all pairs; they
        may name arguments in backticks.
    alpha : float
        The level of the sentence and of the intervals.
    numbers : tuple of Value
        The key numbers below the sentence.
    table : Table
    cautions : tuple of ReldepWarning
        The most important first.
    pictures : tuple of Picture
        The natural one first.
    sections : tuple of Section
    notes : tuple of str
        How to read the numbers, and how the data were read, in sentences.
    facts : tuple of Value
        How the numbers were computed, by name.
    kernels : mapping of str to mapping
        The fitted kernel of every variable, with its parameters.
    measure : {"cka", "hsic", "dcor"}
    references : tuple
        Keys of :data:`reldep.report.html.REFERENCES`, or texts with their addresses.
    call : str
        The Python call, or the command, that repeats the answer.
    title : str
        Its heading as a section of another report; by default the question.
    """

    kind: str
    question: str
    claim: str
    alpha: float
    numbers: tuple[Value, ...]
    table: Table
    remarks: tuple[str, ...] = ()
    cautions: tuple[ReldepWarning, ...] = ()
    pictures: tuple[Picture, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    facts: tuple[Value, ...] = ()
    kernels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    measure: str = "cka"
    references: tuple[str | tuple[str, str], ...] = ()
    call: str = ""
    title: str = ""

    @property
    def sentence(self) -> str:
        """The answer in words: the claim, and what must be read with it."""
        return " ".join([self.claim, *self.remarks])

    def reworded(self, spell: Callable[[str], str]) -> Description:
        """Return the description with arguments in backticks as a front end writes them."""
        cautions = [type(caution)(spell(str(caution))) for caution in self.cautions]
        remarks, notes = (tuple(map(spell, said)) for said in (self.remarks, self.notes))
        return replace(self, cautions=tuple(cautions), remarks=remarks, notes=notes)

    def beside(self, other: Description) -> Description:
        """Return the description with another as its first section, and all cautions once."""
        title = other.title or other.question
        section = Section(title, other.kind, (other.sentence,), other.table, other.pictures)
        cautions = {str(caution): caution for caution in (*self.cautions, *other.cautions)}
        return replace(self, sections=(section, *self.sections), cautions=tuple(cautions.values()))
