"""A table: columns with names and kinds, whose values are read when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from reldep.data.frames import TimeOrder, dates_rows, first_in_order
from reldep.data.lifetimes import Survival
from reldep.data.objects import read_variable
from reldep.data.selectors import (
    ColumnType,
    Words,
    known_column,
    select_columns,
    select_variables,
)
from reldep.data.variables import IntArray, Labels, Mixed, Rows, Variable
from reldep.exceptions import InputError, translated
from reldep.words import counted, listed, printable

if TYPE_CHECKING:
    from reldep.data.numbers import Doubt
    from reldep.files.describe import ColumnDescription
    from reldep.files.filters import Scope


Found = TypeVar("Found")
# Columns that the text of a table shows: half a screen.
_SHOWN = 12
# Columns that a message names: two lines.
SHOWN_NAMES = 6
# Yields frames with some columns, one after another: all rows in frames of about so many, or in
# one frame for None.
Parts: TypeAlias = "Callable[[list[str], int | None], Iterator[Any]]"


_NUMBERS = (ColumnType.NUMBER, ColumnType.INTEGER)
_LABELS = (ColumnType.TEXT, ColumnType.CATEGORY)


_NAMES_FEATURES = re.compile(
    r"(gene|transcript|probe|probeset|feature|protein|peptide|metabolite|otu|asv|taxon|cpg|snp|"
    r"ensembl|entrez|hgnc|symbol|ensg|uniprot)s?([ _.-]?(id|name|symbol|accession)s?)?",
    re.IGNORECASE,
)
_DATED_GENE = re.compile(
    r"\d{1,2}[-. ]?(mar|sep|sept|dec|oct|apr|feb|märz|mrz|okt|dez)[a-z]*\.?|"
    r"(mar|sep|sept|dec|oct|apr|feb|mrz|okt|dez)[-. ]\d{1,2}|\d{4}-(03|09|12|10|04|02)-\d\d.*",
    re.IGNORECASE,
)


def at_once(load: Callable[[list[str]], Any]) -> Parts:
    """Return the parts of a table that is read as a whole by `load`."""
    return lambda names, _: iter([load(names)])


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns with names: what :func:`reldep.read` returns, and every question takes as `data`.

    Values are read from a file when they are asked for. ``table["age"]`` is one column,
    ``len(table)`` the number of rows.

    Attributes
    ----------
    name : str
        The file, as it was given but printable; several joined with ``+``; or "the data".
    columns : mapping of str to ColumnType
        The kind of every column, in the file's order.
    scope : Scope or None
        The condition on the rows, with the number of rows before and after, if there is one.
    call : str
        The call of :func:`reldep.read` that repeats it; empty for data in memory.
    rows : Rows
        Where every row stands in the input, and what it is called.
    notes : tuple of str
        What was understood about the file and its columns beyond what they plainly say.

    Examples
    --------
    >>> import reldep
    >>> mice = reldep.read({"diet": ["sun", "fish", "sun"], "C14": [0.1, 0.2, 0.3]})
    >>> mice
    Table of the data: 3 rows, 2 columns
      diet  text
      C14   number
    >>> len(mice), list(mice.take("C*"))
    (3, ['C14'])
    """

    name: str
    columns: Mapping[str, ColumnType]
    source: Parts
    n_rows: int
    positions: IntArray | None = None  # the rows of the source, if not all
    lines: IntArray | None = None  # of the rows of the source, if it is a text or a sheet
    row_names: tuple[str, Sequence[Any]] | None = None  # noun and labels
    dated: TimeOrder | None = None  # by the row names
    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    joined: str = ""  # how several files were joined
    column_said: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lifetimes: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scope: Scope | None = None
    call: str = ""
    is_in_parts: bool = False  # whether it can be read some rows at a time
    distributed: Any = None  # the Dask data frame that it is, unchanged

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: str) -> Any:
        """Return one column, as a series of the table's own library."""
        known_column(name, self.columns, self.name)
        return self.block([name], name)

    def __repr__(self) -> str:
        width = max((len(printable(name)) for name in self.columns), default=0)
        lines = [f"  {printable(name):<{width}}  {kind}" for name, kind in self.columns.items()]
        more = [f"  … and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        size = f"{counted(len(self), 'row')}, {counted(len(lines), 'column')}"
        scope = f", {self.scope}" if self.scope is not None else ""
        notes = [f"  ({note})" for note in self.notes[:_SHOWN]]
        title = f"Table of {self.name}: {size}{scope}"
        return "\n".join([title, *lines[:_SHOWN], *more, *notes])

    @cached_property
    def rows(self) -> Rows:
        """Where every row stands in the input, and what it is called."""
        positions = self.positions
        if positions is None:
            positions = np.arange(self.n_rows, dtype=np.int64)
        if self.row_names is not None:
            noun, labels = self.row_names
            return Rows(positions, labels, noun)
        if self.lines is not None:
            return Rows(positions, self.lines[positions], "line")
        return Rows(positions)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood about the file and its columns."""
        return self.notes_about(list(self.columns))

    def notes_about(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return what was understood about the file and some of its columns."""
        name = self.name
        of_file = [f"{name}: {text}." for text in self.said]
        of_file += [f"{self.joined}."] if "unmatched" in self.joined else []
        of_file += [f"{name}: {text}." for text in _doubts_about_names(self, columns)]
        alike: dict[str, list[str]] = {}
        for column in columns:
            for text in self.column_said.get(column, ()):
                alike.setdefault(text, []).append(column)
        of_columns = []
        for text, names in alike.items():
            noun = "column" if len(names) == 1 else "columns"
            shown = listed([*map(repr, names)], SHOWN_NAMES)
            of_columns.append(f"{noun} {shown} of {name}: {text}.")
        doubtful = [column for column in columns if column in self.doubts][:SHOWN_NAMES]
        of_columns += [f"column {one!r} of {name} {self.doubts[one]}." for one in doubtful]
        return (*of_file, *of_columns)

    @property
    def dates(self) -> list[str]:
        """The columns that may date the rows."""
        return [
            name
            for name, kind in self.columns.items()
            if name not in self.doubts
            if dates_rows(
                name,
                is_date=kind is ColumnType.DATE,
                is_number=kind in _NUMBERS,
                is_text=kind is ColumnType.TEXT,
            )
        ]

    def time_order(self) -> TimeOrder | None:
        """Return the column or index that dates the rows, if there is one."""
        orders = [TimeOrder.of(name, self.values(name)) for name in self.dates]
        return first_in_order([self.dated, *orders])

    def select(self, words: Words) -> list[str]:
        """Return the names of the columns that words such as ``"age,C*"`` name, each once."""
        return self._found(words, lambda: select_columns(words, self.columns, source=self.name))

    def variables(
        self, words: Words | Mapping[str, Words], *, several: bool = False
    ) -> dict[str, list[str]]:
        """Return the names of the columns of every variable that words name; nothing is read."""
        return self._found(
            words,
            lambda: select_variables(words, self.columns, several=several, source=self.name),
        )

    def take(self, words: Words | Mapping[str, Words], *, several: bool = False) -> dict[str, Any]:
        """Read the data of every variable that words name, by its name.

        Parameters
        ----------
        words : str, sequence of str or mapping
            ``"age"``, ``"C*"``, ``"C14:C22"``, ``"lipids=C14,C16"``, several of these, or the
            words of every variable by its name.
        several : bool
            Whether every column is a variable of its own, unless it is part of ``NAME=COLS``.

        Returns
        -------
        dict of str to series or data frame
            In the table's own library (polars for files), one entry per row.
        """
        chosen = self.variables(words, several=several)
        names = list(dict.fromkeys(name for block in chosen.values() for name in block))
        plain = [name for name in names if name not in self.lifetimes]
        frame = self.read(plain) if plain else None
        return {name: self.block(block, name, frame) for name, block in chosen.items()}

    def to_frame(self, words: Words = "@all") -> Any:
        """Read columns as a data frame of the table's own library (polars for files)."""
        return self.read([name for name in self.select(words) if name not in self.lifetimes])

    def read(self, names: Sequence[str]) -> Any:
        """Read columns by their names, as a data frame.

        Raises
        ------
        ValueError
            If a column cannot be used without being told how to read it.
        """
        if not names:
            raise InputError(f"name at least one column of {self.name}.")
        events = {event for event, _ in self.lifetimes.values()}
        for name in names:
            if name not in events:
                known_column(name, self.columns, self.name)
        doubtful = [name for name in names if name in self.doubts]
        if doubtful:
            from reldep.files.describe import refused

            raise refused(self, doubtful)
        return self.load(names)

    def load(self, names: Sequence[str]) -> Any:
        """Read columns that may be doubtful, to describe them."""
        (frame,) = self.parts(names, None)
        return frame

    def parts(self, names: Sequence[str], size: int | None) -> Iterator[Any]:
        """Yield the rows of some columns, about `size` at a time; all at once for None."""
        import narwhals as nw

        start = 0
        with translated(f"cannot read {self.name}"):
            for part in self.source(list(names), size):
                if self.positions is None:
                    yield part
                    continue
                frame = nw.from_native(part, eager_only=True)
                stop = start + len(frame)
                own = slice(*np.searchsorted(self.positions, [start, stop]))
                yield frame[(self.positions[own] - start).tolist()].to_native()
                start = stop

    def values(self, name: str) -> list[Any]:
        """Return the values of one column as a list."""
        import narwhals as nw

        return list(nw.from_native(self.load([name]), eager_only=True)[name].to_list())

    def describe(self, names: Sequence[str] | None = None) -> list[ColumnDescription]:
        """Return kind, range, missing values and automatic kernel of all columns, or of some."""
        from reldep.files.describe import describe

        return describe(self, list(self.columns) if names is None else names)

    def restricted(self, where: Any) -> Table:
        """Return the table with the rows for which a condition holds, or that booleans choose."""
        from reldep.files.filters import restricted

        return restricted(self, where)

    def at(self, places: IntArray) -> Table:
        """Return the table with the rows at some places, in their order."""
        names, dated = self.row_names, self.dated
        if names is not None:
            names = names[0], [names[1][i] for i in places.tolist()]
            dated = None if dated is None else TimeOrder.of(dated.column, names[1])
        return replace(
            self,
            n_rows=len(places),
            positions=places if self.positions is None else self.positions[places],
            row_names=names,
            dated=dated,
            distributed=None,
        )

    def block(self, names: list[str], variable: str, frame: Any = None) -> Any:
        """Return the data of one variable: a series for one column, else a frame.

        `frame` contains the columns if they have been read already.
        """
        import narwhals as nw

        lifetime = next((name for name in names if name in self.lifetimes), None)
        if lifetime is not None:
            if len(names) > 1:
                raise InputError(
                    f"column {lifetime!r} of {variable} contains lifetimes, which stand alone."
                )
            event, value = self.lifetimes[lifetime]
            both = nw.from_native(self.read([lifetime, event]), eager_only=True)
            time, ended = (both[name].to_native() for name in (lifetime, event))
            return Survival.of_columns(time, ended, value, self.rows)
        loaded = nw.from_native(self.read(names) if frame is None else frame, eager_only=True)
        block = loaded[names[0]] if len(names) == 1 else loaded.select(*names)
        if not any(name in self.orders for name in names):
            return block.to_native()
        return _ordered(read_variable(block.to_native(), variable), self.orders, names)

    def _found(self, words: Words | Mapping[str, Words], select: Callable[[], Found]) -> Found:
        """Return what is selected; of a name that is not a column, say where it is instead."""
        try:
            return select()
        except InputError as error:
            texts = words.values() if isinstance(words, Mapping) else [words]
            each = [one for text in texts for one in ([text] if isinstance(text, str) else text)]
            asked = {piece.strip(' "') for text in each for piece in re.split("[=,]", text)}
            for time, (event, _) in self.lifetimes.items():
                if event in asked:
                    raise InputError(
                        f"column {event!r} is part of the lifetimes in {time!r}; name only that."
                    ) from error
            first = next(iter(self.columns), "")
            if self.columns.get(first) not in _LABELS or first in self.doubts:
                raise
            values = map(str, self.values(first))
            found = next((value for value in values if value in asked), None)
            if found is None:
                raise
            raise InputError(
                f"no column {found!r} in {self.name}, but a row: it stands in the first "
                f"column, {first!r}. Transpose the table: its columns are the variables."
            ) from error


def _doubts_about_names(table: Table, columns: Sequence[str]) -> list[str]:
    """Return what names of columns show: genes down the rows, genes turned into dates."""
    if table.name == "the data":
        return []
    said = []
    first = next(iter(table.columns), "")
    has_words_first = first not in columns and table.columns.get(first) in _LABELS
    if has_words_first and _NAMES_FEATURES.fullmatch(first):
        said.append(
            f"by its name, the first column {first!r} names what was measured in each row, but "
            "rows are taken as observations and columns as variables. If the samples are the "
            "columns, transpose the table first"
        )
    dates = [name for name in columns if _DATED_GENE.fullmatch(name)]
    if dates:
        shown = listed([*map(repr, dates)], SHOWN_NAMES)
        said.append(
            f"names of columns look like dates ({shown}), which spreadsheets make of names of "
            "genes such as MARCH1 and SEPT2"
        )
    return said


def _ordered(
    variable: Variable, orders: Mapping[str, tuple[str, ...]], names: Sequence[str]
) -> Variable:
    """Return a variable whose labels have the orders that the user stated."""
    if isinstance(variable, Mixed):
        parts = tuple(
            replace(part, order=orders[part.name])
            if isinstance(part, Labels) and part.name in orders
            else part
            for part in variable.parts
        )
        return replace(variable, parts=parts)
    if not isinstance(variable, Labels):
        raise InputError(
            f"column {names[0]!r} does not contain labels; name it in `categories` or leave it out."
        )
    return replace(variable, order=orders[names[0]])
