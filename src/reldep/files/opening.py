"""Files, data frames and mappings as tables, each by its reader; several files as one table.

In several tables the rows with the same value of a key belong together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from reldep.data.frames import check_not_lazy, index_rows, is_frame, unwrapped, with_plain_names
from reldep.data.selectors import ColumnType, kind_of, known_column, quote_column
from reldep.data.variables import IntArray
from reldep.exceptions import InputError, InputTypeError, translated
from reldep.files.anndata import is_annotated, read_annotated, table_of_object
from reldep.files.byte_sources import FORMATS, Source, open_source, parquet_files, stem
from reldep.files.cells import frame_without_codes, stated_kinds, typed_column
from reldep.files.columnar import (
    is_dask,
    read_arrays,
    read_columnar,
    read_dask,
    read_package,
    read_parquet_files,
)
from reldep.files.header import check_rows
from reldep.files.read import READING, STATED, Reading, completed, date_rule
from reldep.files.table import Table, at_once
from reldep.files.text import read_text
from reldep.files.workbook import read_workbook
from reldep.system import available_memory
from reldep.words import counted, listing, printable, repeated

_THE_DATA = "the data"
# The arguments of `read` that concern files only.
_OF_FILES = (
    *("join", "numbers", "date_columns", "delimiter", "decimal", "thousands", "encoding"),
    *("header", "skip_rows", "sheet", "layer", "drop_summary"),
)
_READERS: dict[str, Callable[[Source, Reading], Table]] = {
    "text": read_text,
    **dict.fromkeys(("workbook", "old workbook"), read_workbook),
    **dict.fromkeys(("parquet", "arrow", "jsonl"), read_columnar),
    "npz": read_arrays,
    "h5ad": read_annotated,
    **dict.fromkeys(("sav", "por", "dta", "sas7bdat", "xport", "rds", "rda"), read_package),
}
# Limits of a child process that reads a file. Libraries alone take a gigabyte of address space;
# R's values become objects of Python. The slowest reader takes a megabyte in a second.
_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 40
_SECONDS, _BYTES_PER_SECOND = 60, 1_000_000
# Files that were tried, by what changes if they do: the page reads a file many times.
_SURVIVED: set[tuple[int | str, ...]] = set()
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from reldep.files import opening; "
_PROGRAM += "opening.read_in_child(sys.argv[2])"


def open_table(data: Any, options: Reading) -> Table:
    """Return data of any kind as a table."""
    places = data if isinstance(data, (list, tuple)) else [data]
    if all(map(_is_place, places)):
        return _of_files([*places], options)
    if is_annotated(data):
        return table_of_object(data, options)
    if is_dask(data):
        return read_dask(data, options)
    return _of_frame(data, options)


def _is_place(data: Any) -> bool:
    is_file = callable(getattr(data, "read", None)) and not isinstance(data, Table)
    return isinstance(data, (str, os.PathLike, Source)) or is_file


def _of_files(places: list[Any], options: Reading) -> Table:
    """Return the table of one file, or of several joined on a key."""
    join = options["join"]
    if not places:
        raise InputError("`data` names no file; name at least one.")
    names = list(map(str, places))
    if len(places) > 1 and join is None:
        raise InputError(
            f"{len(places)} files need a column to be joined on. Pass `join='id'` for the column "
            f"that identifies a row in {listing(names)}; to read Parquet files with the same "
            "columns as one table, name their directory, or put the pattern in quotes."
        )
    if repeated(names):
        raise InputError(f"{listing(repeated(names))} is given more than once.")
    if join is None:
        files = parquet_files(places[0])
        if files is not None:
            return read_parquet_files(printable(names[0]), files, options)
        return read_source(open_source(places[0]), options)
    if len(places) == 1:
        raise InputError(f"`join={join!r}` needs at least two files; only {names[0]!r} is given.")
    sources, stems = [*map(open_source, places)], [*map(stem, places)]
    # Which columns have a stated kind can only be said of the joined table.
    plain = cast("Reading", {**options, **dict.fromkeys(STATED)})
    tables = [read_source(source, plain) for source in sources]
    if any(table.columns.get(join) in _WORDS for table in tables):
        # Beside words, 007 is not the number 7.
        plain["categories"] = quote_column(join)
        tables = [
            read_source(source, plain) if table.columns.get(join) is ColumnType.INTEGER else table
            for source, table in zip(sources, tables, strict=True)
        ]
    joined = join_tables(tables, stems, join)
    kinds = stated_kinds(options, joined.columns, joined.name)
    if not kinds:
        return joined
    kinds = {join: "labels", **kinds} if plain["categories"] else kinds
    again = [
        read_source(source, _with_kinds(plain, table, own, kinds))
        for source, table, own in zip(sources, tables, stems, strict=True)
    ]
    return join_tables(again, stems, join)


def _with_kinds(plain: Reading, table: Table, own: str, kinds: Mapping[str, str]) -> Reading:
    """Return the options of one table with the kinds that are stated for the joined one."""
    stated = {one: kinds.get(one, kinds.get(f"{own}_{one}")) for one in table.columns}
    chosen = {
        option: [quote_column(one) for one, found in stated.items() if found == kind] or None
        for option, kind in STATED.items()
    }
    return cast("Reading", {**plain, **chosen})


def read_source(source: Source, options: Reading, *, is_tried: bool = False) -> Table:
    """Return the table of one file or of standard input.

    Unless it `is_tried`, a reader that some files crash reads it in a child process first.
    """
    if source.format.is_foreign and not is_tried:
        _try_in_child(source, {"sheet": options["sheet"], "layer": options["layer"]})
    with source.reading():
        table = _READERS[source.format.name](source, options)
    source.check_unchanged()
    check_rows(table.n_rows, table.columns, table.name)
    return table


def _try_in_child(source: Source, options: dict[str, str | int | None]) -> None:
    """Raise InputError for a file whose reader does not survive it.

    The readers of SPSS, Stata, SAS, R, old workbooks and HDF5 crash on some damaged files, or take
    all memory. What a child process survives within limits on memory and time is read again here.
    """
    key: tuple[int | str, ...] = (*source.stamp, json.dumps(options))
    if source.stamp and key in _SURVIVED:
        return
    root = str(Path(__file__).parents[2])
    memory = min(available_memory(), _MEMORY + _MEMORY_PER_BYTE * source.size)
    seconds = _SECONDS + source.size // _BYTES_PER_SECOND
    with source.on_disk() as path:
        task = json.dumps([str(path.absolute()), source.format.name, options, memory, seconds])
        command = [sys.executable, "-P", "-c", _PROGRAM, root, task]
        # It belongs to the group of this process, so that whoever ends the group ends it too.
        quiet = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            status = subprocess.run(  # noqa: S603
                command,
                env=quiet,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=2 * seconds,
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
    if status != 0:
        raise InputError(
            f"{source.name} is damaged, or too large to be read. Save it again, or as CSV."
        )
    _SURVIVED.add(key)


def read_in_child(task: str) -> None:
    """Read a file within limits; errors in words are raised again where they can be seen."""
    path, form, options, memory, seconds = json.loads(task)
    with suppress(ImportError):  # not on Windows
        import resource

        for limit, most in (("AS", memory), ("CPU", seconds), ("CORE", 0)):
            resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (most, most))
    with suppress(ValueError, OSError, ImportError):
        table = read_source(
            Source(path, Path(path), FORMATS[form]), completed(options), is_tried=True
        )
        table.load([*table.columns][:1] + [*table.columns][-1:])


def _of_frame(data: Any, options: Reading) -> Table:
    """Return a table that keeps a frame in its own library, unless dates become circles."""
    frame = _as_frame(data, options)
    rows = index_rows(frame.to_native())
    kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
    labels = list(stated_kinds(options, kinds, _THE_DATA))
    if labels:
        frame = frame.with_columns(nw.col(*labels).cast(nw.String).cast(nw.Categorical))
        kinds |= dict.fromkeys(labels, ColumnType.CATEGORY)
    frame = frame_without_codes(frame, options["na"])
    cyclic = {
        name: typed_column(frame[name].to_polars(), kind, name, options)
        for name, kind in kinds.items()
        if kind is ColumnType.DATE and date_rule(options, name) != "elapsed"
    }
    if cyclic:
        circles = [column.values.alias(name) for name, column in cyclic.items()]
        frame = nw.from_native(frame.to_polars().with_columns(circles), eager_only=True)
    return Table(
        _THE_DATA,
        kinds | {name: column.kind for name, column in cyclic.items()},
        at_once(lambda names: frame.select(*names).to_native()),
        len(frame),
        row_names=None if rows is None else (rows.noun, rows.values()),
        dated=None if rows is None else rows.time,
        column_said={name: column.notes for name, column in cyclic.items()},
    )


def _as_frame(data: Any, options: Reading) -> nw.DataFrame[Any]:
    """Return a data frame or a mapping as a frame of narwhals; options about files raise."""
    kind, given = type(data).__name__, cast("Mapping[str, Any]", options)
    if isinstance(data, Table):
        raise InputTypeError(
            "`data` is a table already. Pass the options of both calls to one `read`."
        )
    if isinstance(data, Mapping):
        with translated("data does not make a table"):
            data = pl.DataFrame(
                {
                    str(name): values if isinstance(values, np.ndarray) else list(values)
                    for name, values in data.items()
                }
            )
    data = unwrapped(data)
    check_not_lazy(data, "data")
    if not is_frame(data):
        raise InputTypeError(
            f"data is of type {kind}; pass a path, a data frame or a mapping of names to columns."
        )
    astray = [name for name in _OF_FILES if given[name] != READING[name].default]
    if astray:
        raise InputError(
            f"`{astray[0]}` is about files, and `data` is of type {kind}. Leave it out."
        )
    return nw.from_native(with_plain_names(data, "data"), eager_only=True)


_WORDS = {ColumnType.TEXT, ColumnType.CATEGORY, ColumnType.MIXED}
_NUMBERS = {ColumnType.INTEGER, ColumnType.NUMBER}


def join_tables(tables: Sequence[Table], stems: Sequence[str], key: str) -> Table:
    """Return tables joined on a key, with the rows that are in every table.

    The rows stay in the order of the first table. A column whose name is in two tables gets its
    file's name in front: ``C14`` of ``lipids.csv`` becomes ``lipids_C14``.

    Parameters
    ----------
    tables : sequence of Table
        Two or more.
    stems : sequence of str
        The files' names without directory and ending.
    key : str
        The column that identifies a row; in every table, each value once.
    """
    for table in tables:
        known_column(key, table.columns, table.name)
    renamed = _distinct_names(tables, stems, key)
    dtype, kind = _common_type(tables, key)
    keys = [_keys(table, key, dtype) for table in tables]
    rows = _common_rows(tables, keys, key)
    # The table of every column but the key, and its name there.
    owner = {own[old]: (i, old) for i, own in enumerate(renamed) for old in own if old != key}

    def load(names: list[str]) -> pl.DataFrame:
        found: dict[str, pl.Series] = {}
        for i, table in enumerate(tables):
            own = {owner[name][1]: name for name in names if name != key and owner[name][0] == i}
            frame = table.load([*own])[rows[i]] if own else pl.DataFrame()
            found |= {own[old]: frame[old] for old in frame.columns}
        if key in names:
            found[key] = keys[0][rows[0]]
        return pl.DataFrame({name: found[name] for name in names})

    def of_all(attribute: str) -> dict[str, Any]:
        pairs = zip(renamed, tables, strict=True)
        return {own[old]: x for own, table in pairs for old, x in getattr(table, attribute).items()}

    lines, doubts = tables[0].lines, of_all("doubts")
    doubts.pop(key, None)  # words among the numbers of a key are no mistake
    return Table(
        " + ".join(table.name for table in tables),
        of_all("columns") | {key: kind},
        at_once(load),
        len(rows[0]),
        lines=None if lines is None else lines[rows[0]],
        row_names=("row", rows[0].tolist()) if lines is None else None,
        doubts=doubts,
        said=tuple(f"{table.name}: {text}" for table in tables for text in table.said),
        joined=_in_words(tables, keys, len(rows[0]), key),
        column_said=of_all("column_said"),
    )


def _in_words(tables: Sequence[Table], keys: Sequence[pl.Series], n_rows: int, key: str) -> str:
    """Return how tables were joined, with the rows that are not in every table."""
    lost = [
        f"{len(own) - n_rows:,} of {len(own):,} rows of {table.name}"
        for table, own in zip(tables, keys, strict=True)
        if len(own) > n_rows
    ]
    unmatched = f"unmatched: {', '.join(lost)}" if lost else "every row is matched"
    return f"joined on {key!r}: {counted(n_rows, 'row')}; {unmatched}"


def _distinct_names(
    tables: Sequence[Table], stems: Sequence[str], key: str
) -> list[dict[str, str]]:
    """Return new names for the columns of every table: of those in two files with the file's."""
    shared = repeated(name for table in tables for name in table.columns if name != key)
    renamed = [
        {name: f"{stem}_{name}" if name in shared else name for name in table.columns}
        for table, stem in zip(tables, stems, strict=True)
    ]
    if repeated([key, *(new for names in renamed for old, new in names.items() if old != key)]):
        raise InputError(
            f"columns {listing(shared)} are in more than one file, and the files' names do not "
            f"tell them apart ({listing(stems)}); rename a file or the columns"
        )
    return renamed


def _common_type(tables: Sequence[Table], key: str) -> tuple[pl.DataType, ColumnType]:
    """Return the type in which the keys of all tables can be compared.

    Whether ``7`` is a number or a word depends on the other values of its file, so integers are
    compared with words by their digits.
    """
    kinds = {table.columns[key] for table in tables}
    if kinds == {ColumnType.INTEGER}:
        return pl.Int64(), ColumnType.INTEGER
    if kinds <= _NUMBERS:
        return pl.Float64(), ColumnType.NUMBER
    if kinds <= _WORDS | {ColumnType.INTEGER}:
        return pl.String(), ColumnType.TEXT
    dtypes = {table.load([key])[key].dtype for table in tables}
    if len(dtypes) == 1:
        return dtypes.pop(), kinds.pop()
    found = ", ".join(f"{table.columns[key]} in {table.name}" for table in tables)
    raise InputError(f"cannot join on {key!r}: it is {found}; give it one type in all files")


def _keys(table: Table, key: str, dtype: pl.DataType) -> pl.Series:
    """Return the keys of one table; raise if a value comes twice."""
    # Words among the numbers of a key are no mistake.
    with translated(f"cannot join on {key!r}"):
        values: pl.Series = table.load([key])[key].cast(dtype)
    if dtype == pl.String:
        values = values.str.normalize("NFC")
    present, name = values.drop_nulls(), table.name
    twice = present.filter(present.is_duplicated())
    if len(twice):
        raise InputError(
            f"{key!r} does not identify the rows of {name}: {twice.first()!r} comes "
            f"{(present == twice.first()).sum()} times; each value may come once in a file"
        )
    # Beyond 2^53 two integers may be one float.
    if values.dtype.is_float() and (present.abs() > 2**53).any():
        raise InputError(
            f"cannot join on {key!r}: {name} has values above 2^53 as numbers with decimals, which "
            "cannot be told from their neighbours; write them as text"
        )
    return values


def _common_rows(tables: Sequence[Table], keys: Sequence[pl.Series], key: str) -> list[IntArray]:
    """Return the rows of every table that are in all of them, in the order of the first."""
    frame = pl.DataFrame({"key": keys[0]}).with_row_index("0").drop_nulls()
    for i, own in enumerate(keys[1:], 1):
        other = pl.DataFrame({"key": own}).with_row_index(str(i)).drop_nulls()
        frame = frame.join(other, on="key", how="inner", maintain_order="left")
    if not frame.height:
        examples = ", ".join(
            f"{own.first()!r} in {table.name}" for table, own in zip(tables, keys, strict=True)
        )
        raise InputError(f"no value of {key!r} is in every file: for example {examples}")
    return [frame[str(i)].to_numpy().astype("int64") for i in range(len(keys))]
