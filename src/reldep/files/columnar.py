"""Files whose columns have types: Parquet, Arrow and Feather, NPZ archives, lines of JSON."""

from __future__ import annotations

import glob
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import listing, printable
from reldep.data.selectors import kind_of
from reldep.exceptions import InputError, InputTypeError
from reldep.files.errors import reading_errors, reason
from reldep.files.header import check_unique
from reldep.files.typed import table_of_columns
from reldep.system import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from reldep.files.byte_sources import Source
    from reldep.files.options import CellOptions
    from reldep.files.table import Table

# boolean, integers, floats, text, bytes, dates
_COLUMN_KINDS = "biufUSM"
_DAMAGES = (
    *(ValueError, OSError, EOFError, NotImplementedError, TypeError, OverflowError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, SyntaxError, UnicodeError),
)
_EXPECTED = {
    "parquet": "a Parquet file",
    "arrow": "an Arrow (IPC) or Feather 2 file",
    "jsonl": "lines of JSON objects",
}


def read_columnar(source: Source, reading: CellOptions) -> Table:
    """Return the table of a Parquet or Arrow file, or of lines of JSON; columns are read later."""
    import polars as pl

    name = printable(source.name)
    try:
        if source.format == "jsonl":
            frame = pl.read_ndjson(source.file()).lazy()
        elif source.format == "parquet":
            frame = pl.scan_parquet(source.file(), glob=False)
        else:
            # The path is read as a pattern.
            path = source.content
            frame = pl.scan_ipc(path if isinstance(path, bytes) else glob.escape(str(path)))
        schema = frame.collect_schema()
        n_rows = int(frame.select(pl.len()).collect().item())
    except reading_errors() as error:
        raise InputError(
            f"{name} is damaged, or only a part of {_EXPECTED[source.format]}: {reason(error)}"
        ) from error

    def load(names: list[str]) -> pl.DataFrame:
        import polars.selectors as cs

        check_memory(name, n_rows, len(names))
        return frame.select(cs.by_name(*names)).collect()

    return table_of_columns(source.name, schema, load, n_rows, reading, said=source.notes)


def parquet_files(place: Any) -> list[Path] | None:
    """Return the Parquet files of a directory or a pattern, each once; None for anything else.

    Raises
    ------
    ValueError
        If a symbolic link leads out of the directory, or a pattern names other files.
    """
    if not isinstance(place, (str, os.PathLike)) or place == "-":
        return None
    text, path = os.fspath(place), Path(place)
    if path.is_dir():
        found = [file for end in ("parquet", "pq") for file in path.rglob(f"*.{end}")]
        hidden = ("_", ".")
        found = [f for f in found if not f.relative_to(path).as_posix().startswith(hidden)]
        root = path.resolve()
        away = [file for file in found if not file.resolve().is_relative_to(root)]
        if away:
            raise InputError(
                f"{printable(away[0])} is a link that leads out of {printable(text)}. Name the "
                "files, or copy them into the directory."
            )
    elif glob.has_magic(text) and not path.exists():
        found = [Path(one) for one in glob.glob(text)]  # noqa: PTH207
    else:
        return None
    others = [str(file) for file in found if file.suffix.lower() not in (".parquet", ".pq")]
    if not found or others:
        raise InputError(
            f"{printable(text)} has {'other files than' if others else 'no'} Parquet files"
            f"{': ' + listing(others) if others else ''}. Name one file, or a directory of Parquet "
            "files with the same columns."
        )
    # A link counts its rows once; the order of a file system may change, and the rows with it.
    once = {(file.stat().st_dev, file.stat().st_ino): file for file in sorted(found)[::-1]}
    return sorted(once.values())


def read_parquet_files(name: str, files: Sequence[Path], reading: CellOptions) -> Table:
    """Return one table of several Parquet files with the same columns, in any order."""
    import polars as pl

    shown = printable(name)
    try:
        schemas = {file: pl.read_parquet_schema(file) for file in files}
        frames = {file: pl.scan_parquet(file, glob=False) for file in files}
        n_rows = sum(int(one.select(pl.len()).collect().item()) for one in frames.values())
    except reading_errors() as error:
        raise InputError(f"{shown} cannot be read as one table: {reason(error)}") from error

    def load(names: list[str]) -> pl.DataFrame:
        import polars.selectors as cs

        check_memory(shown, n_rows, len(names))
        for file, schema in schemas.items():
            _check_columns(file, schema, names, schemas[files[0]])
        parts = [one.select(cs.by_name(*names)) for one in frames.values()]
        return pl.concat(parts, how="vertical_relaxed").collect()

    first = schemas[files[0]]
    common = {own: _widest([one[own] for one in schemas.values() if own in one]) for own in first}
    return table_of_columns(name, common, load, n_rows, reading)


def _check_columns(
    file: Path, schema: Mapping[str, pl.DataType], names: Sequence[str], first: Mapping[str, Any]
) -> None:
    """Raise InputError if a file lacks a column, or has one of another kind."""
    import polars as pl

    for name in names:
        if name not in schema:
            raise InputError(
                f"{printable(file)} has no column {name!r}, which other files have. Write all "
                "files with the same columns, or leave that file out."
            )
        is_number = [one[name].is_numeric() or one[name] == pl.Null for one in (schema, first)]
        if not all(is_number) and kind_of(schema[name]) != kind_of(first[name]):
            raise InputError(
                f"column {name!r} has values of the type {schema[name]} in {printable(file)}, and "
                f"of the type {first[name]} in other files. Write it with one type in all files."
            )


def _widest(dtypes: Sequence[pl.DataType]) -> pl.DataType:
    """Return the type of a column in several files: with decimals if it has them in one."""
    return next((dtype for dtype in dtypes if dtype.is_float()), dtypes[0])


def is_dask(data: Any) -> bool:
    """Return True for a data frame of Dask, without importing it."""
    is_of_dask = type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
    return is_of_dask and hasattr(data, "npartitions")


def table_of_dask(data: Any, reading: CellOptions) -> Table:
    """Return the table of a Dask data frame, whose columns are computed when they are used."""
    import polars as pl

    if not hasattr(data, "columns") or getattr(data, "ndim", 0) != 2:
        raise InputTypeError(
            "data is a dask series or array. Pass a dask data frame, and name its columns."
        )
    names = [str(name) for name in data.columns]
    check_unique(names, "the data")
    own = dict(zip(names, data.columns, strict=True))
    n_rows = len(data)

    def load(wanted: list[str]) -> pl.DataFrame:
        check_memory("the data", n_rows, len(wanted))
        found = data[[own[name] for name in wanted]].compute().reset_index(drop=True)
        found.columns = wanted
        return pl.from_pandas(found)

    empty = data.head(0, npartitions=-1)
    empty.columns = names
    schema = pl.from_pandas(empty).schema
    return table_of_columns("the data", schema, load, n_rows, reading)


def check_memory(name: str, n_rows: int, n_columns: int) -> None:
    """Raise InputError if columns would not fit into memory as doubles."""
    needed, free = 8 * n_rows * n_columns, available_memory()
    if needed > free:
        raise InputError(
            f"{n_columns:,} columns of {n_rows:,} rows of {name} need {needed / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB of memory are free. Name fewer columns, or write a part of the "
            "rows to a file of its own."
        )


def read_arrays(source: Source, reading: CellOptions) -> Table:
    """Return the table of an NPZ archive: its rows are the first axis of every array.

    A 1-D array `x` becomes the column ``x``; a 2-D array `x` becomes ``x_0``, ``x_1`` and so on.
    """
    import polars as pl

    name = printable(source.name)
    arrays = _load(source, name)
    lengths = {own: len(array) for own, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{own!r}: {length}" for own, length in lengths.items())
        raise InputError(
            f"the arrays of {name} must have equally many rows; they have {found or 'none'}"
        )
    columns = [pair for own, array in arrays.items() for pair in _columns_of(own, array)]
    check_unique([label for label, _ in columns], source.name)
    frame = pl.DataFrame([pl.Series(label, values) for label, values in columns])
    return table_of_columns(
        source.name, frame.schema, frame.select, frame.height, reading, said=source.notes
    )


def _load(source: Source, name: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an archive; raise InputError if one is not a block of columns."""
    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        # NumPy would take what is not an archive for pickled objects.
        zipfile.ZipFile(source.file()).close()
        archive = np.load(source.file(), allow_pickle=False)
    except _DAMAGES as error:
        raise InputError(
            f"{name} is damaged, or only a part of an NPZ archive: {reason(error)}"
        ) from error
    with archive:
        for own in archive.files:
            try:
                array = archive[own]
            except _DAMAGES as error:
                raise InputError(_unreadable(name, own, error)) from error
            arrays[own] = _as_column_values(array, f"{own!r} of {name}")
    return arrays


def _unreadable(name: str, own: str, error: BaseException) -> str:
    if "allow_pickle" in str(error):
        return (
            f"array {own!r} of {name} holds pickled Python objects, which are never loaded: "
            "they may run any program. Save numbers or text instead, as with "
            f"{own}.astype(float) or {own}.astype(str)"
        )
    return f"array {own!r} of {name} is damaged: {reason(error)}"


def _as_column_values(array: object, what: str) -> NDArray[np.generic]:
    """Return an array in a type that polars takes; raise if it cannot be columns."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _COLUMN_KINDS:
        found = array.dtype if isinstance(array, np.ndarray) else "no array"
        raise InputError(f"{what} is {found}; expected numbers, booleans, text or dates")
    if array.ndim not in (1, 2):
        raise InputError(
            f"array {what} has {array.ndim} dimensions, its shape is {array.shape}; expected one "
            "column (1-D) or a block of columns (2-D), as array.reshape(len(array), -1) gives"
        )
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"array {what} holds bytes that are not UTF-8 text") from None
    if kind == "f" and size not in (4, 8):
        return array.astype(np.float64)
    if kind == "M" and array.dtype != np.dtype("M8[D]"):
        return array.astype("M8[us]")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns_of(name: str, array: NDArray[np.generic]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Yield the columns of an array, each with its name."""
    if array.ndim == 1:
        yield name, array
        return
    for position in range(array.shape[1]):
        yield f"{name}_{position}", array[:, position]
