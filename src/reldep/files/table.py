"""A table: columns with names and kinds, whose values are read when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reldep.data.checks import listing, printable
from reldep.data.files.overview import describe, describe_frame
from reldep.data.frames import frame_library, index_rows
from reldep.data.lifetimes import Survival, censored
from reldep.data.objects import read_variable
from reldep.data.rows import Rows, TimeOrder, dates_rows, first_in_order
from reldep.data.selectors import ColumnType, known_column, select_columns, select_variables
from reldep.data.variables import Labels, Mixed
from reldep.exceptions import InputError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reldep.data.files.overview import ColumnDescription
    from reldep.data.files.table import Table as FileTable
    from reldep.data.selectors import Words
    from reldep.data.variables import IntArray, Variable
    from reldep.exceptions import ReldepWarning

# Columns that the text of a table shows.
_SHOWN = 12
_NUMBERS = (ColumnType.NUMBER, ColumnType.INTEGER)


@dataclass(frozen=True)
class Scope:
    """The rows that a condition left.

    Attributes
    ----------
    condition : str
        The condition as it was written; empty if the rows were chosen by booleans.
    n_rows, n_kept : int
        Rows before and after; 0 where they are not counted.

    Examples
    --------
    >>> str(Scope("sex = 'f'", 700, 260))
    "the 260 of 700 rows with sex = 'f'"
    """

    condition: str
    n_rows: int
    n_kept: int

    def __str__(self) -> str:
        chosen = f"with {' '.join(self.condition.split())}" if self.condition else "chosen"
        counts = f"{self.n_kept:,} of {self.n_rows:,} " if self.n_rows else ""
        return f"the {counts}rows {chosen}"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns with names: what :func:`reldep.read` returns, and every question takes as `data`.

    Values are read from a file when they are asked for. ``table["age"]`` is one column,
    ``len(table)`` the number of rows.

    Attributes
    ----------
    name : str
        The file, as it was given; several joined with ``+``; or "the data".
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
    load: Callable[[list[str]], Any] = field(repr=False)
    find_rows: Callable[[], Rows] = field(repr=False)
    scope: Scope | None = None
    call: str = ""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lifetimes: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    opened: FileTable | None = None

    @cached_property
    def rows(self) -> Rows:
        """Where every row stands in the input, and what it is called."""
        return self.find_rows()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Any:
        """Return one column, as a series of the table's own library."""
        known_column(name, self.columns, printable(self.name))
        return self._block([name], name)

    def __repr__(self) -> str:
        width = max(len(printable(name)) for name in self.columns)
        lines = [f"  {printable(name):<{width}}  {kind}" for name, kind in self.columns.items()]
        more = [f"  … and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        size = f"{counted(len(self), 'row', 'rows')}, {counted(len(lines), 'column', 'columns')}"
        scope = f", {self.scope}" if self.scope is not None else ""
        title = f"Table of {printable(self.name)}: {size}{scope}"
        notes = [f"  ({note})" for note in self.notes[:_SHOWN]]
        return "\n".join([title, *lines[:_SHOWN], *more, *notes])

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood about the file and its columns."""
        return tuple(str(caution) for caution in self.cautions(list(self.columns)))

    def cautions(self, columns: Sequence[str]) -> tuple[ReldepWarning, ...]:
        """Return what was understood about the file and some of its columns, as cautions."""
        from reldep.exceptions import DataWarning

        if self.opened is not None:
            return self.opened.cautions(columns)
        unused = [name for name in self.columns if name not in columns]
        times = [name for name in columns if self.columns.get(name) in _NUMBERS]
        return (
            *(DataWarning(text) for text in self.said),
            *(one for name in times for one in censored(name, unused)),
        )

    def time_order(self) -> TimeOrder | None:
        """Return the column or index that dates the rows, if there is one."""
        dates = [
            name
            for name, kind in self.columns.items()
            if self.opened is None or name not in self.opened.refusals
            if dates_rows(name, is_date=kind is ColumnType.DATE, is_number=kind in _NUMBERS)
        ]
        orders = [TimeOrder.of(name, self.values(name)) for name in dates]
        return first_in_order([self.rows.time, *orders])

    def select(self, words: Words) -> list[str]:
        """Return the names of the columns that words such as ``"age,C*"`` name, each once."""
        if self.opened is not None and isinstance(words, str):
            return self.opened.select(words)
        each = [words] if isinstance(words, str) else words
        source = printable(self.name)
        found = [
            name for word in each for name in select_columns(word, self.columns, source=source)
        ]
        return list(dict.fromkeys(found))

    def variables(
        self, words: Words | Mapping[str, Words], *, several: bool = False
    ) -> dict[str, list[str]]:
        """Return the names of the columns of every variable that words name; nothing is read."""
        source = printable(self.name)
        try:
            return select_variables(words, self.columns, several=several, source=source)
        except InputError as error:
            if self.opened is None:
                raise
            given = [words] if isinstance(words, str) else words
            raise self.opened.turned_round([str(word) for word in given], error) from None

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
        frame = self.load(plain) if plain else None
        return {name: self._block(block, name, frame) for name, block in chosen.items()}

    def to_frame(self, words: Words = "@all") -> Any:
        """Read columns as a data frame of the table's own library (polars for files)."""
        return self.load([name for name in self.select(words) if name not in self.lifetimes])

    def describe(self) -> list[ColumnDescription]:
        """Return the kind, range, missing values and automatic kernel of every column."""
        if self.opened is not None:
            return describe(self.opened)
        plain = {name: kind for name, kind in self.columns.items() if name not in self.lifetimes}
        return describe_frame(plain, self._polars(list(plain)))

    def values(self, name: str) -> list[Any]:
        """Return the values of one column as a list."""
        import narwhals as nw

        return list(nw.from_native(self.load([name]), eager_only=True)[name].to_list())

    def named_by(self, column: str) -> Table:
        """Return the table with the values of a column as names of the rows."""
        rows = Rows(self.rows.positions, self.values(column), column, self.rows.time)
        return replace(self, find_rows=lambda: rows)

    def restricted(self, where: Any) -> Table:
        """Return the table with the rows for which a condition holds."""
        from reldep.files.read import restrict

        return restrict(self, where)

    def _polars(self, names: list[str]) -> Any:
        """Read columns as a frame of polars."""
        import narwhals as nw
        import polars as pl

        frame = nw.from_native(self.load(names), eager_only=True)
        if frame_library(frame.to_native()) == "pandas":
            return pl.DataFrame({name: frame[name].to_list() for name in names}, strict=False)
        return frame.to_polars()

    def _block(self, names: list[str], variable: str, frame: Any = None) -> Any:
        import narwhals as nw

        lifetime = next((name for name in names if name in self.lifetimes), None)
        if lifetime is not None:
            if len(names) > 1:
                raise InputError(
                    f"column {lifetime!r} of {variable} contains lifetimes. Make it a variable of "
                    "its own."
                )
            return self._survival(lifetime)
        loaded = nw.from_native(self.load(names) if frame is None else frame, eager_only=True)
        block = loaded[names[0]] if len(names) == 1 else loaded.select(*names)
        if not any(name in self.orders for name in names):
            return block.to_native()
        return _ordered(read_variable(block.to_native(), variable), self.orders, names)

    def _survival(self, name: str) -> Survival:
        event, value = self.lifetimes[name]
        import narwhals as nw

        frame = nw.from_native(self.load([name, event]), eager_only=True)
        return Survival(frame[name].to_native(), frame[event].to_native(), event_value=value)


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
            f"column {names[0]!r} does not contain labels; leave it out of `order`, or name it in "
            "`categories` too."
        )
    return replace(variable, order=orders[names[0]])


def check_order(name: str, order: Sequence[str], labels: Sequence[str]) -> None:
    """Raise if a column has labels that its stated order lacks."""
    unknown = [label for label in labels if label not in order]
    if unknown:
        raise InputError(
            f"column {name!r} has labels that `order` lacks: {listing(unknown)}. Name every label "
            "once, as in order={'size': 's<m<l'}."
        )


def frame_rows(data: Any, kept: IntArray) -> Rows:
    """Return the rows of a frame by their positions before any was left out."""
    index = index_rows(data)
    return Rows(kept) if index is None else replace(index, positions=kept)
