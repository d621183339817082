"""Files, data frames and mappings as tables: ``reldep.read`` and the argument `data`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import numpy as np

from reldep.arguments import Argument, public
from reldep.data.checks import composed, listing, printable, repeated
from reldep.data.frames import index_rows, is_frame, unwrapped, with_plain_names
from reldep.data.missing_codes import as_number
from reldep.data.selectors import ColumnType, quote_column, select_words
from reldep.data.strings.reading import Column
from reldep.exceptions import InputError, InputTypeError
from reldep.files.anndata import is_annotated, read_annotated, table_of_object
from reldep.files.byte_sources import open_source, stem
from reldep.files.cells import table_of_cells
from reldep.files.columnar import (
    is_dask,
    parquet_files,
    read_arrays,
    read_columnar,
    read_parquet_files,
    table_of_dask,
)
from reldep.files.join import join_tables
from reldep.files.options import CellOptions
from reldep.files.reading import READING, Reading
from reldep.files.statistics_packages import read_package
from reldep.files.table import Table
from reldep.files.text import read_text
from reldep.files.typed import on_circles
from reldep.files.workbook import read_workbook
from reldep.words import counted

if TYPE_CHECKING:
    import narwhals as nw

    from reldep.data.selectors import Words
    from reldep.files.byte_sources import Source

_THE_DATA = "the data"
DATA = Argument(
    "Delimited text (.csv, .tsv, .txt, .tab, also compressed), Parquet, Arrow and Feather files, a "
    "directory or pattern of Parquet files, lines of JSON, workbooks (.xlsx, .xls, .ods), NumPy "
    "archives (.npz), files of SPSS, Stata, SAS and R, AnnData (.h5ad), '-' for text from standard "
    "input; several files with `join`; a data frame of any library, or a mapping of names to "
    "columns.",
    shown="path, sequence of paths, file object, data frame, mapping or AnnData",
)
# The arguments of `read` that concern files only.
_OF_FILES = (
    *("join", "numbers", "date_columns", "delimiter", "decimal", "thousands", "encoding"),
    *("header", "skip_rows", "sheet", "layer", "drop_summary"),
)
_READERS: dict[str, Callable[[Any, CellOptions], Table]] = {
    "text": lambda source, reading: table_of_cells(read_text(source, reading), reading),
    "workbook": lambda source, reading: table_of_cells(read_workbook(source, reading), reading),
    **dict.fromkeys(("parquet", "arrow", "jsonl"), read_columnar),
    "npz": read_arrays,
    "h5ad": read_annotated,
    **dict.fromkeys(("sav", "por", "dta", "sas7bdat", "xpt", "rds", "rda"), read_package),
}
_READERS["old workbook"] = _READERS["workbook"]


@public
def read(
    data: Annotated[Any, DATA],
    **options: Unpack[Reading],
) -> Table:
    r"""Read a file or take a data frame as a table, for the argument `data` of every question.

    Parquet and Arrow files are not read before columns are asked for. Ambiguous files are rejected
    with the cells at fault and the argument that settles the question.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the file is damaged or ambiguous, or an option does not fit it.
    OSError
        If the file does not exist or may not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import reldep
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14,C16\n1,fish,0.5,0.7\n2,sun,0.4,NA\n")
    >>> mice = reldep.read(path, where="diet = 'fish'", id="id")
    >>> mice.to_frame("C*").rows(), str(mice.scope)
    ([(0.5, 0.7)], "the 1 of 2 rows with diet = 'fish'")
    """
    given: dict[str, Any] = {"data": data, **options}
    rules = CellOptions(**{one.name: given[one.name] for one in fields(CellOptions)})
    survival, order = given["survival"], given["order"]
    table = _table(data, given, rules)
    table = table.with_lifetimes([survival] if isinstance(survival, str) else [*survival])
    if order is not None:
        table = table.with_orders(_orders(order))
    if given["where"] is not None:
        table = table.restricted(given["where"])
    if given["id"] is not None:
        table = table.named_by(given["id"])
    return replace(table, call=_call(given))


def as_table(data: Any) -> Table:
    """Return a table as it is, and a path, a data frame or a mapping as a table."""
    return data if isinstance(data, Table) else read(data)


def _table(data: Any, given: Mapping[str, Any], reading: CellOptions) -> Table:
    """Return the table of files, an AnnData object or a data frame."""
    if isinstance(data, Table):
        raise InputTypeError(
            "`data` is a table already. Pass the options of both calls to one `read`."
        )
    if _is_place(data) or _are_places(data):
        places = [data] if _is_place(data) else [*data]
        return _of_files(places, given["join"], reading)
    if is_annotated(data):
        return table_of_object(data, reading)
    if is_dask(data):
        return table_of_dask(data, reading)
    frame = _as_frame(data)
    for name in _OF_FILES:
        if given[name] != READING[name].default:
            raise InputError(
                f"`{name}` is about files, and `data` is of type {type(data).__name__}. Leave it "
                "out; a data frame has its own ways to do so."
            )
    return _of_frame(frame, reading)


def _is_place(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike)) or callable(getattr(data, "read", None))


def _are_places(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and all(map(_is_place, data))


def _of_files(places: list[Any], join: str | None, reading: CellOptions) -> Table:
    """Return the table of one file, or of several joined on a key."""
    if not places:
        raise InputError("`data` names no file; name at least one.")
    names = [os.fspath(place) if isinstance(place, os.PathLike) else str(place) for place in places]
    if len(places) > 1 and join is None:
        raise InputError(
            f"{len(places)} files need a column to be joined on. Pass `join='id'` for the column "
            f"that identifies a row in {listing(names)}; to read Parquet files with the same "
            "columns as one table, name their directory, or put the pattern in quotes."
        )
    if len(places) == 1 and join is not None:
        raise InputError(f"`join={join!r}` needs at least two files; only {names[0]!r} is given.")
    if repeated(names):
        raise InputError(f"{listing(repeated(names))} is given more than once.")
    if join is None:
        files = parquet_files(places[0])
        if files is not None:
            return read_parquet_files(names[0], files, reading)
    sources = [open_source(place) for place in places]
    if join is None:
        return _of_source(sources[0], reading)
    stems = [*map(stem, places)]
    # Which columns have a stated kind can only be said of the joined table.
    plain = replace(reading, categories=None, numbers=None, date_columns=None)
    tables = [_of_source(source, plain) for source in sources]
    joined = join_tables(tables, stems, join)
    kinds = [
        _stated_of(table, own, joined, reading) for table, own in zip(tables, stems, strict=True)
    ]
    if not any(kinds):
        return joined
    again = [
        _of_source(source, replace(plain, **own))
        for source, own in zip(sources, kinds, strict=True)
    ]
    return join_tables(again, stems, join)


def _stated_of(table: Table, own: str, joined: Table, reading: CellOptions) -> dict[str, Any]:
    """Return the columns of one table whose kinds are stated for the joined one."""
    found: dict[str, Any] = {}
    for name in ("categories", "numbers", "date_columns"):
        words = getattr(reading, name)
        chosen = [] if words is None else joined.select(words)
        mine = [one for one in table.columns if one in chosen or f"{own}_{one}" in chosen]
        if mine:
            found[name] = [quote_column(one) for one in mine]
    return found


def _of_source(source: Source, reading: CellOptions) -> Table:
    """Return the table of one file or of standard input."""
    table = _READERS[source.format](source, reading)
    if not table.n_rows:
        n_columns = counted(len(table.columns), "column")
        raise InputError(f"{printable(table.name)} has {n_columns}, but no rows.")
    return table


def _as_frame(data: Any) -> nw.DataFrame[Any]:
    """Return a data frame or a mapping as a frame of narwhals."""
    import narwhals as nw

    if isinstance(data, Mapping):
        import polars as pl

        try:
            data = pl.DataFrame(
                {
                    str(name): values if isinstance(values, np.ndarray) else list(values)
                    for name, values in data.items()
                }
            )
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"data does not make a table: {reason}") from None
    data = unwrapped(data)
    if type(data).__name__ == "LazyFrame":
        raise InputTypeError("data is a lazy frame; pass data.collect().")
    if not is_frame(data):
        raise InputTypeError(
            f"data is of type {type(data).__name__}; pass a path, a data frame or a mapping of "
            "names to columns."
        )
    return nw.from_native(with_plain_names(data, "data"), eager_only=True)


def _of_frame(frame: nw.DataFrame[Any], reading: CellOptions) -> Table:
    """Return a table that keeps a frame in its own library."""
    import narwhals as nw

    schema = {name: _kind(dtype) for name, dtype in frame.schema.items()}
    if reading.categories is not None:
        labels = select_words(reading.categories, schema, _THE_DATA)
        frame = frame.with_columns(nw.col(*labels).cast(nw.String).cast(nw.Categorical))
        schema |= dict.fromkeys(labels, ColumnType.CATEGORY)
    if reading.na:
        frame = _without_codes(frame, reading.na)
    notes: dict[str, tuple[str, ...]] = {}
    cyclic = [
        name
        for name, kind in schema.items()
        if kind is ColumnType.DATE and reading.date_rule(name) != "elapsed"
    ]
    if cyclic:
        import polars as pl

        native = frame.to_polars()
        made = {
            name: on_circles(Column(native[name], ColumnType.DATE), name, reading)
            for name in cyclic
        }
        native = native.with_columns([column.values.alias(name) for name, column in made.items()])
        frame = nw.from_native(pl.DataFrame(native), eager_only=True)
        schema |= dict.fromkeys(cyclic, ColumnType.CYCLE)
        notes = {name: column.notes for name, column in made.items()}
    rows = index_rows(frame.to_native())
    labels_of_rows = None if rows is None else (rows.noun, rows.values())
    return Table(
        _THE_DATA,
        schema,
        lambda names: frame.select(*names).to_native(),
        len(frame),
        row_names=labels_of_rows,
        dated=None if rows is None else rows.time,
        column_said=notes,
    )


def _kind(dtype: Any) -> ColumnType:
    """Return the kind of a column of narwhals."""
    import narwhals as nw

    if dtype.is_integer():
        return ColumnType.INTEGER
    if dtype.is_numeric():
        return ColumnType.NUMBER
    for kind, members in (
        (ColumnType.BOOLEAN, (nw.Boolean,)),
        (ColumnType.TEXT, (nw.String, nw.Object)),
        (ColumnType.CATEGORY, (nw.Categorical, nw.Enum)),
        (ColumnType.DATE, (nw.Date, nw.Datetime, nw.Time, nw.Duration)),
    ):
        if dtype in members:
            return kind
    return ColumnType.OTHER


def _without_codes(frame: nw.DataFrame[Any], na: Sequence[str | float]) -> nw.DataFrame[Any]:
    """Return a frame in which the values are missing that mean missing."""
    import narwhals as nw

    words = [str(code) for code in na]
    numbers = [number for number in map(as_number, na) if number is not None]
    changed = []
    for name, dtype in frame.schema.items():
        values = nw.col(name)
        if dtype.is_numeric() and numbers:
            is_code = values.cast(nw.Float64).is_in(numbers)
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            is_code = values.cast(nw.String).str.strip_chars().is_in(words)
        else:
            continue
        changed.append(nw.when(~is_code).then(values).alias(name))
    return frame.with_columns(*changed) if changed else frame


def _orders(order: Mapping[str, str | Sequence[str]] | Words) -> dict[str, list[str]]:
    """Return the orders of labels, from ``{"size": "s<m<l"}`` or ``"size=s<m<l"``."""
    if not isinstance(order, Mapping):
        pairs = [text.rpartition("=") for text in ([order] if isinstance(order, str) else order)]
        order = {name.strip(): labels for name, _, labels in pairs}
    found = {}
    for name, labels in order.items():
        split = labels.split("<") if isinstance(labels, str) else labels
        found[name] = [composed(str(label).strip()) for label in split]
        if len(set(found[name])) < max(2, len(found[name])):
            raise InputError(
                f"`order` of column {name!r} is {labels!r}. Name every label once, from the lowest "
                "to the highest: 's<m<l'."
            )
    return found


def _call(given: Mapping[str, Any]) -> str:
    """Return the call that repeats a table; empty for data in memory."""
    data = given["data"]
    places = data if isinstance(data, (list, tuple)) else [data]
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        return ""
    written = [os.fspath(place) for place in places]
    words = [repr(written if isinstance(data, (list, tuple)) else written[0])]
    for name, argument in READING.items():
        value = given[name]
        if value is None or (
            isinstance(value, type(argument.default)) and value == argument.default
        ):
            continue
        is_plain = isinstance(value, (str, int, float, list, tuple, dict))
        words.append(f"{name}={value!r}" if is_plain else f"{name}={name}")
    return f"reldep.read({', '.join(words)})"
