"""Cells as strings, of a text or a sheet, become a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reldep.data.checks import printable
from reldep.data.selectors import kind_of, select_words
from reldep.data.strings.reading import Column, read_strings
from reldep.exceptions import InputError
from reldep.files.errors import reading_errors, reason
from reldep.files.header import without_name
from reldep.files.summary_rows import summary_rows
from reldep.files.table import Table
from reldep.files.typed import on_circles, without_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from reldep.data.rows import Places
    from reldep.data.strings.numbers import Evidence
    from reldep.files.options import CellOptions

# Columns of a large text that are held as strings at a time.
_COLUMNS_AT_A_TIME = 8
_QUIET = ("',' read as the decimal mark",)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a text or a sheet.

    Attributes
    ----------
    name : str
    names : tuple of str
        Of the columns; a name that starts with a NUL stands for none.
    load : callable
        Return some columns as strings.
    n_rows : int
    places : Places
        Where each row stands.
    has_commas_between_fields : bool
    is_large : bool
        Whether columns are loaded again whenever they are used.
    typed, exact : callable or None
        Return some columns of a sheet with the types of their cells, and as numbers: its strings
        are rounded.
    skip_rows : int or None
        The lines before what looks like a header further down.
    notes : tuple of str
    """

    name: str
    names: tuple[str, ...]
    load: Callable[[list[str]], pl.DataFrame]
    n_rows: int
    places: Places
    has_commas_between_fields: bool = False
    is_large: bool = False
    typed: Callable[[list[str]], pl.DataFrame] | None = None
    exact: Callable[[list[str]], pl.DataFrame] | None = None
    skip_rows: int | None = None
    notes: tuple[str, ...] = ()

    def read(
        self,
        names: Sequence[str],
        evidence: Evidence,
        reading: CellOptions,
        stated: Mapping[str, str],
    ) -> dict[str, Column]:
        """Return some columns as what they are."""
        wanted = list(names)
        try:
            strings = self.load(wanted)
        except reading_errors() as error:
            raise InputError(f"cannot read {printable(self.name)}: {reason(error)}") from error
        typed = None if self.typed is None else self.typed(wanted)
        found = {}
        for name in wanted:
            kind = stated.get(name, "")
            plain = None if typed is None else _typed(strings[name], typed[name], reading, kind)
            found[name] = plain or read_strings(
                strings[name],
                evidence=evidence,
                na=reading.na,
                stated=kind,
                exact=None if self.exact is None else self.exact([name])[name],
                place=self.places.name,
            )
        return found


def _typed(
    strings: pl.Series, typed: pl.Series, reading: CellOptions, stated: str
) -> Column | None:
    """Return a column of a sheet all of whose cells have one type; None for words."""
    import polars as pl

    is_lost = typed.null_count() > strings.null_count()  # a word among numbers
    if is_lost or typed.dtype in (pl.String, pl.Null) or stated == "labels":
        return None
    if stated and (stated == "dates") != typed.dtype.is_temporal():
        return None
    # A workbook does not tell whole numbers from others.
    is_float = typed.dtype == pl.Float64
    if is_float and (typed.abs() < 2**53).all() and (typed % 1 == 0).all():
        typed = typed.cast(pl.Int64)
    return Column(without_codes(typed, reading.na), kind_of(typed.dtype))


def table_of_cells(cells: Cells, reading: CellOptions) -> Table:
    """Return the table of cells: every column is read as what it is."""
    evidence = reading.evidence(has_commas_between_fields=cells.has_commas_between_fields)
    known = _read_all(cells, evidence, reading)
    proven = frozenset(column.proven for column in known.values() if column.proven)
    evidence = replace(evidence, others=proven)
    again = [name for name, column in known.items() if column.is_open and proven]
    stated = _stated_kinds(known, reading, cells.name)
    again += [name for name in stated if name not in again]
    if again:
        known |= cells.read(again, evidence, reading, stated)
    known = _without_nameless(known, cells)
    if proven == {","} and not cells.has_commas_between_fields:
        known = {name: _quieter(column) for name, column in known.items()}
    known = {name: on_circles(column, name, reading) for name, column in known.items()}

    def load(names: list[str]) -> pl.DataFrame:
        import polars as pl

        if cells.is_large:
            own = [name or next(one for one in cells.names if one[:1] == "\0") for name in names]
            found = cells.read(own, evidence, reading, stated)
            columns = [on_circles(column, name, reading) for name, column in found.items()]
        else:
            columns = [known[name] for name in names]
        return pl.DataFrame(
            {name: column.values for name, column in zip(names, columns, strict=True)}
        )

    rows, notes = ([], []) if cells.is_large else _summaries(known, cells)
    table = Table(
        cells.name,
        {name: column.kind for name, column in known.items()},
        load,
        cells.n_rows,
        places=cells.places,
        doubts={name: column.doubt for name, column in known.items() if column.doubt},
        said=(*cells.notes, *notes),
        column_said={name: column.notes for name, column in known.items() if column.notes},
    )
    if rows and reading.drop_summary:
        table = replace(table, said=(*cells.notes, *(f"{note}; it was left out" for note in notes)))
        table = table.without_rows(rows)
    return table.composed()


def _read_all(cells: Cells, evidence: Evidence, reading: CellOptions) -> dict[str, Column]:
    """Return all columns; of a large text without their values."""
    names = list(cells.names)
    if not cells.is_large:
        return cells.read(names, evidence, reading, {})
    known: dict[str, Column] = {}
    for start in range(0, len(names), _COLUMNS_AT_A_TIME):
        found = cells.read(names[start : start + _COLUMNS_AT_A_TIME], evidence, reading, {})
        known |= {
            name: replace(column, values=column.values.clear(1)) for name, column in found.items()
        }
    return known


def _stated_kinds(known: Mapping[str, Column], reading: CellOptions, name: str) -> dict[str, str]:
    """Return the kinds that the user states, by column."""
    schema = {own: column.kind for own, column in known.items() if own[:1] != "\0"}
    found: dict[str, str] = {}
    for words, kind in (
        (reading.numbers, "numbers"),
        (reading.date_columns, "dates"),
        (reading.categories, "labels"),
    ):
        for own in () if words is None else select_words(words, schema, printable(name)):
            if found.get(own, kind) != kind and kind == "dates":
                raise InputError(f"column {own!r} is named both as numbers and as dates.")
            found[own] = kind
    return found


def _without_nameless(known: Mapping[str, Column], cells: Cells) -> dict[str, Column]:
    """Return the columns with names: those without one and without values are left out."""
    nameless = [name for name in known if name[:1] == "\0"]
    filled = [name for name in nameless if known[name].values.count()]
    if cells.is_large:
        filled = [name for name in nameless if cells.load([name])[name].count()]
    if len(filled) > 1:
        which = f"{len(filled)} columns"
        raise without_name(printable(cells.name), which, cells.skip_rows)
    return {
        "" if name in filled else name: column
        for name, column in known.items()
        if name not in nameless or name in filled
    }


def _quieter(column: Column) -> Column:
    """Return a column without the note about decimal commas, which the whole text uses."""
    return replace(column, notes=()) if column.notes == _QUIET else column


def _summaries(known: Mapping[str, Column], cells: Cells) -> tuple[list[int], list[str]]:
    values = {name: column.values for name, column in known.items()}
    return summary_rows(values, cells.places.name)
