"""Columns that have types already: of Parquet files, statistics packages, arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reldep.data.checks import printable
from reldep.data.missing_codes import as_number
from reldep.data.selectors import ColumnType, kind_of, select_words
from reldep.data.strings.dates import SPANS, on_circle
from reldep.data.strings.reading import Column, read_strings
from reldep.exceptions import InputError
from reldep.files.errors import reading_errors, reason
from reldep.files.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from reldep.files.options import CellOptions


def table_of_columns(
    name: str,
    schema: Mapping[str, pl.DataType],
    load: Callable[[list[str]], pl.DataFrame],
    n_rows: int,
    reading: CellOptions,
    *,
    said: Sequence[str] = (),
    column_said: Mapping[str, Sequence[str]] | None = None,
    kinds: Mapping[str, ColumnType] | None = None,
) -> Table:
    """Return the table of columns that have types.

    Parameters
    ----------
    name : str
    schema : mapping of str to polars.DataType
    load : callable
        Return some columns.
    n_rows : int
    reading : CellOptions
    said, column_said
        Notes about the file and about columns.
    kinds : mapping of str to ColumnType, optional
        Kinds that the types do not show, such as genes.
    """
    plain = {own: kind_of(dtype) for own, dtype in schema.items()} | dict(kinds or {})
    stated = _stated(reading, plain, name)

    def read(names: list[str]) -> dict[str, Column]:
        try:
            frame = load(names)
        except reading_errors() as error:
            raise InputError(f"cannot read {printable(name)}: {reason(error)}") from error
        return {
            own: _read(frame[own], plain[own], own, reading, stated.get(own, "")) for own in names
        }

    def load_read(names: list[str]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame({own: column.values for own, column in read(names).items()})

    # The kind of most columns is known without reading them.
    looked_at = [
        own for own, kind in plain.items() if own in stated or _is_cyclic(own, kind, reading)
    ]
    found = read(looked_at) if looked_at and n_rows else {}
    notes = {own: tuple(words) for own, words in (column_said or {}).items()}
    for own, column in found.items():
        notes[own] = (*notes.get(own, ()), *column.notes)
    return Table(
        name,
        {own: found[own].kind if own in found else kind for own, kind in plain.items()},
        load_read,
        n_rows,
        doubts={own: column.doubt for own, column in found.items() if column.doubt},
        said=tuple(said),
        column_said={own: words for own, words in notes.items() if words},
    ).composed()


def _stated(reading: CellOptions, schema: Mapping[str, ColumnType], name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for words, kind in (
        (reading.numbers, "numbers"),
        (reading.date_columns, "dates"),
        (reading.categories, "labels"),
    ):
        if words is not None:
            found |= dict.fromkeys(select_words(words, schema, printable(name)), kind)
    return found


def _is_cyclic(name: str, kind: ColumnType, reading: CellOptions) -> bool:
    return kind is ColumnType.DATE and reading.date_rule(name) != "elapsed"


def _read(
    values: pl.Series, kind: ColumnType, name: str, reading: CellOptions, stated: str
) -> Column:
    """Return a column of a type as what it is meant to be."""
    import polars as pl

    values = _tidied(values, reading)
    if stated == "labels":
        return Column(values.cast(pl.String).cast(pl.Categorical), ColumnType.CATEGORY)
    if stated == "numbers" and values.dtype == pl.Boolean:
        return Column(values.cast(pl.Int8), ColumnType.INTEGER)
    is_such = values.dtype.is_temporal() if stated == "dates" else values.dtype.is_numeric()
    if stated and not is_such and not values.dtype.is_nested():
        column = read_strings(values.cast(pl.String), na=reading.na, stated=stated)
    else:
        column = Column(values, kind)
    return on_circles(column, name, reading)


def _tidied(values: pl.Series, reading: CellOptions) -> pl.Series:
    """Return values with NaN and missing codes as null, decimals as floats, text composed."""
    import polars as pl

    if values.dtype.is_decimal():
        values = values.cast(pl.Float64)
    if values.dtype.is_float():
        values = values.fill_nan(None)
    if values.dtype == pl.String:
        values = values.str.normalize("NFC")
    return without_codes(values, reading.na)


def without_codes(values: pl.Series, na: Sequence[str | float]) -> pl.Series:
    """Return values in which those that mean missing are null."""
    import polars as pl

    if not na:
        return values
    numbers = [number for number in map(as_number, na) if number is not None]
    if values.dtype.is_numeric():
        is_code = values.cast(pl.Float64).is_in(numbers)
    elif values.dtype in (pl.String, pl.Categorical, pl.Enum):
        is_code = values.cast(pl.String).str.strip_chars().is_in([str(code) for code in na])
    else:
        return values
    return values.to_frame("v").select(pl.when(~is_code).then("v"))["v"].alias(values.name)


def on_circles(column: Column, name: str, reading: CellOptions) -> Column:
    """Return dates as places on a circle, if the user asks for it."""
    import polars as pl

    rule = reading.date_rule(name)
    if column.kind is not ColumnType.DATE or rule == "elapsed":
        return column
    dtype = column.values.dtype
    if dtype in (pl.Date if rule == "hour" else pl.Time, pl.Duration):
        raise InputError(
            f"column {name!r} has no {rule}: it holds values of the type {dtype}. Pass another "
            "value for `dates`."
        )
    note = f"dates read as their place in the {SPANS[rule]}, on a circle"
    return replace(
        column,
        values=on_circle(column.values.alias("moments"), rule),
        kind=ColumnType.CYCLE,
        notes=(*column.notes, note),
    )
