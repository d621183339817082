"""Columns become a table: cells of texts and sheets as strings, and values that have types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl
import polars.selectors as cs

from reldep.data.dates import SPANS, on_circle
from reldep.data.missing_codes import as_number
from reldep.data.numbers import Evidence
from reldep.data.selectors import ColumnType, kind_of, select_columns
from reldep.data.strings import Column, read_strings
from reldep.data.variables import IntArray
from reldep.exceptions import InputError, translated
from reldep.files.header import in_composed_form, summary_rows
from reldep.files.read import STATED, Reading, date_rule
from reldep.files.table import Parts, Table, at_once

# Columns of a large text that are held as strings at a time: one pass over it serves all of them.
_COLUMNS_AT_A_TIME = 8
# Days from 1970-01-01 to the first and to the last date of Python.
_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = (date.min - _EPOCH).days, (date.max - _EPOCH).days
# The note about decimal commas, where the whole text uses them.
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
    lines : ndarray of int
        Where each row stands.
    has_commas_between_fields : bool
    is_large : bool
        Whether columns are loaded again whenever they are used.
    typed, exact : callable or None
        Return some columns of a sheet with the types of their cells, and one as numbers: its
        strings are rounded.
    skip_rows : int or None
        The lines before what looks like a header further down.
    notes : tuple of str
    """

    name: str
    names: tuple[str, ...]
    load: Callable[[list[str]], pl.DataFrame]
    lines: IntArray
    has_commas_between_fields: bool = False
    is_large: bool = False
    typed: Callable[[list[str]], pl.DataFrame] | None = None
    exact: Callable[[str], pl.Series] | None = None
    skip_rows: int | None = None
    notes: tuple[str, ...] = ()

    def without(self, rows: Sequence[int], said: Sequence[str]) -> Cells:
        """Return the cells without some rows, and what is to be said about it."""
        kept = np.setdiff1d(np.arange(len(self.lines)), rows)

        def at(load: Callable[[Any], Any] | None) -> Any:
            return None if load is None else lambda names: load(names)[kept]

        return replace(
            self,
            load=at(self.load),
            lines=self.lines[kept],
            typed=at(self.typed),
            exact=at(self.exact),
            notes=(*self.notes, *said),
        )

    def place(self, row: int) -> str:
        """Return the name of a row."""
        return f"line {self.lines[row]}"

    def read(
        self, names: Sequence[str], evidence: Evidence, options: Reading, stated: Mapping[str, str]
    ) -> dict[str, Column]:
        """Return some columns as what they are."""
        wanted, na = list(names), options["na"]
        with translated(f"cannot read {self.name}"):
            strings = self.load(wanted)
            typed = None if self.typed is None else self.typed(wanted)
        found = {}
        for name in wanted:
            kind = stated.get(name, "")
            plain = None if typed is None else _typed(strings[name], typed[name], na, kind)
            found[name] = plain or read_strings(
                strings[name],
                evidence=evidence,
                na=na,
                stated=kind,
                exact=None if self.exact is None else partial(self.exact, name),
                place=self.place,
            )
        return found


def _typed(
    strings: pl.Series, typed: pl.Series, na: Sequence[str | float], stated: str
) -> Column | None:
    """Return a column of a sheet all of whose cells have one type; None for words."""
    is_lost = typed.null_count() > strings.null_count()  # a word among numbers
    if is_lost or typed.dtype in (pl.String, pl.Null) or stated == "labels":
        return None
    if stated and (stated == "dates") != typed.dtype.is_temporal():
        return None
    # A workbook does not tell whole numbers from others.
    is_float = typed.dtype == pl.Float64
    if is_float and (typed.abs() < 2**53).all() and (typed % 1 == 0).all():
        typed = typed.cast(pl.Int64)
    return Column(_tidied(typed.to_frame(), na).to_series(), kind_of(typed.dtype))


def table_of_cells(cells: Cells, options: Reading, *, has_summary: bool = True) -> Table:
    """Return the table of cells: every column is read as what it is.

    Rows that sum up others, if there may be such, are left out before it is read if the user says
    so: their words would stand among numbers and dates.
    """
    stated_mark = options["decimal"] or {".": ",", ",": "."}.get(options["thousands"] or "", "")
    evidence = Evidence(stated_mark, cells.has_commas_between_fields)
    known = _read_all(cells, evidence, options)
    proven = frozenset(column.proven for column in known.values() if column.proven)
    evidence = replace(evidence, others=proven)
    schema = {own: column.kind for own, column in known.items() if own[:1] != "\0"}
    stated = stated_kinds(options, schema, cells.name)
    again = [name for name, column in known.items() if column.is_open and proven]
    again += [name for name in stated if name not in again]
    if again:
        known |= cells.read(again, evidence, options, stated)
    known = _without_nameless(known, cells)
    if proven == {","} and not cells.has_commas_between_fields:
        quiet = [name for name, column in known.items() if column.notes == _QUIET]
        known |= {name: replace(known[name], notes=()) for name in quiet}
    known = {name: on_circles(column, name, options) for name, column in known.items()}

    def load(names: list[str]) -> pl.DataFrame:
        columns = [known[name] for name in names]
        if cells.is_large:
            own = [name or next(one for one in cells.names if one[:1] == "\0") for name in names]
            found = cells.read(own, evidence, options, stated)
            columns = [on_circles(column, name, options) for name, column in found.items()]
        return pl.DataFrame(
            {name: column.values for name, column in zip(names, columns, strict=True)}
        )

    values = {} if cells.is_large else {name: column.values for name, column in known.items()}
    rows, notes = summary_rows(values, cells.place) if has_summary else ([], [])
    if rows and options["drop_summary"]:
        said = [f"{note}; it was left out" for note in notes]
        return table_of_cells(cells.without(rows, said), options, has_summary=False)
    end = ", but counted as one; pass `drop_summary=True` to leave it out"
    return Table(
        cells.name,
        {name: column.kind for name, column in known.items()},
        at_once(load),
        len(cells.lines),
        lines=cells.lines,
        doubts={name: column.doubt for name, column in known.items() if column.doubt},
        said=(*cells.notes, *(f"{note}{end}" for note in notes)),
        column_said={name: column.notes for name, column in known.items() if column.notes},
    )


def _read_all(cells: Cells, evidence: Evidence, options: Reading) -> dict[str, Column]:
    """Return all columns; of a large text with the first value alone."""
    names = list(cells.names)
    if not cells.is_large:
        return cells.read(names, evidence, options, {})
    known: dict[str, Column] = {}
    for start in range(0, len(names), _COLUMNS_AT_A_TIME):
        found = cells.read(names[start : start + _COLUMNS_AT_A_TIME], evidence, options, {})
        known |= {
            name: replace(column, values=column.values.drop_nulls().head(1))
            for name, column in found.items()
        }
    return known


def _without_nameless(known: Mapping[str, Column], cells: Cells) -> dict[str, Column]:
    """Return the columns with names: those without one and without values are left out."""
    nameless = [name for name in known if name[:1] == "\0"]
    filled = [name for name in nameless if known[name].values.count()]
    if len(filled) > 1:
        way_out = "Give every column a name of its own."
        if cells.skip_rows is not None:
            way_out = f"If the table starts further down, pass `skip_rows={cells.skip_rows}`."
        raise InputError(
            f"{cells.name} has {len(filled)} columns without a name that contain values. {way_out}"
        )
    return {
        "" if name in filled else name: column
        for name, column in known.items()
        if name not in nameless or name in filled
    }


def table_of_columns(
    name: str,
    schema: Mapping[str, pl.DataType],
    parts: Parts,
    n_rows: int,
    options: Reading,
    *,
    said: Sequence[str] = (),
    column_said: Mapping[str, Sequence[str]] | None = None,
    kinds: Mapping[str, ColumnType] | None = None,
    is_in_parts: bool = False,
) -> Table:
    """Return the table of columns that have types.

    Parameters
    ----------
    name : str
    schema : mapping of str to polars.DataType
    parts : Parts
        Yield frames with some columns.
    n_rows : int
    options : Reading
    said, column_said
        Notes about the file and about columns.
    kinds : mapping of str to ColumnType, optional
        Kinds that the types do not show, such as genes.
    is_in_parts : bool
        Whether some rows can be read at a time.
    """
    own = dict(zip(in_composed_form([*schema]), schema, strict=True))
    plain = {new: (kinds or {}).get(old) or kind_of(schema[old]) for new, old in own.items()}
    stated = stated_kinds(options, plain, name)
    # The kind of most columns is known without reading them.
    special = [
        own
        for own, kind in plain.items()
        if own in stated or (kind is ColumnType.DATE and date_rule(options, own) != "elapsed")
    ]
    na = options["na"]

    def read(
        names: list[str], size: int | None
    ) -> Iterator[tuple[pl.DataFrame, dict[str, Column]]]:
        for part in parts([own[one] for one in names], size):
            part.columns = names
            tidy = _tidied(part, na)
            found = {
                one: typed_column(tidy[one], plain[one], one, options, stated.get(one, ""))
                for one in special
                if one in names
            }
            yield tidy.with_columns([one.values.alias(new) for new, one in found.items()]), found

    found: dict[str, Column] = {}
    if special and n_rows:
        ((_, found),) = read(special, None)
    notes = {new: (column_said or {}).get(old, ()) for new, old in own.items()}
    notes |= {new: (*notes[new], *column.notes) for new, column in found.items()}
    return Table(
        name,
        plain | {new: column.kind for new, column in found.items()},
        lambda names, size: (frame for frame, _ in read(names, size)),
        n_rows,
        said=tuple(said),
        doubts={new: column.doubt for new, column in found.items() if column.doubt},
        column_said={new: words for new, words in notes.items() if words},
        is_in_parts=is_in_parts,
    )


def _tidied(frame: pl.DataFrame, na: Sequence[str | float]) -> pl.DataFrame:
    """Return a frame with NaN and missing codes as null, decimals as floats, text composed.

    Raises InputError for dates that Python cannot count, as damaged files have them.
    """
    days = frame.select((cs.date() | cs.datetime()).cast(pl.Date).to_physical())
    for own in days.columns:
        if not days[own].is_between(_FIRST, _LAST).all():
            raise InputError(f"column {own!r} has dates outside of the years 1 to 9999.")
    tidy = frame.with_columns(
        cs.decimal().cast(pl.Float64), cs.float().fill_nan(None), cs.string().str.normalize("NFC")
    )
    if not na:
        return tidy
    return frame_without_codes(nw.from_native(tidy, eager_only=True), na).to_polars()


def typed_column(
    values: pl.Series, kind: ColumnType, name: str, options: Reading, stated: str = ""
) -> Column:
    """Return a tidied column of a type as what it is meant to be."""
    if stated and values.dtype.is_nested():
        raise InputError(f"column {name!r} contains lists, not {stated}. Do not name it as such.")
    if stated == "labels":
        return Column(values.cast(pl.String).cast(pl.Categorical), ColumnType.CATEGORY)
    if stated == "numbers" and values.dtype == pl.Boolean:
        return Column(values.cast(pl.Int8), ColumnType.INTEGER)
    is_such = values.dtype.is_temporal() if stated == "dates" else values.dtype.is_numeric()
    if stated and not is_such:
        na = options["na"]
        column = read_strings(values.cast(pl.String), na=na, stated=stated)
    else:
        column = Column(values, kind)
    return on_circles(column, name, options)


def stated_kinds(options: Reading, schema: Mapping[str, ColumnType], name: str) -> dict[str, str]:
    """Return the kinds that the user states, by column."""
    found: dict[str, str] = {}
    for option, kind in STATED.items():
        words = cast("Mapping[str, Any]", options)[option]
        for own in () if words is None else select_columns(words, schema, source=name):
            if kind == "dates" and own in found:
                raise InputError(f"column {own!r} is named both as numbers and as dates.")
            found[own] = kind
    return found


def frame_without_codes(frame: nw.DataFrame[Any], na: Sequence[str | float]) -> nw.DataFrame[Any]:
    """Return a frame of any library in which the values that mean missing are null."""
    numbers = [number for number in map(as_number, na) if number is not None]
    changed = []
    for name, dtype in frame.schema.items() if na else ():
        values = nw.col(name)
        if dtype.is_numeric() and numbers:
            is_code = values.cast(nw.Float64).is_in(numbers)
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            is_code = values.cast(nw.String).str.strip_chars().is_in([str(code) for code in na])
        elif dtype == nw.Object:  # of pandas: numbers and strings side by side
            is_code = values.is_in([*na, *map(str, na), *numbers])
        else:
            continue
        changed.append(nw.when(~is_code).then(values).alias(name))
    return frame.with_columns(*changed) if changed else frame


def on_circles(column: Column, name: str, options: Reading) -> Column:
    """Return dates as places on a circle, if the user asks for it."""
    rule = date_rule(options, name)
    if column.kind is not ColumnType.DATE or rule == "elapsed":
        return column
    dtype = column.values.dtype
    if dtype in (pl.Date if rule == "hour" else pl.Time, pl.Duration):
        raise InputError(f"column {name!r} has no {rule}: its type is {dtype}. Change `dates`.")
    note = f"dates read as their place in the {SPANS[rule]}, on a circle"
    return replace(
        column,
        values=on_circle(column.values.alias("moments"), rule),
        kind=ColumnType.CYCLE,
        notes=(*column.notes, note),
    )
