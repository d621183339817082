"""Files whose columns have types: Parquet, Arrow, NPZ, lines of JSON; SPSS, Stata, SAS and R.

A directory of Parquet files and a data frame of Dask are one table in several pieces.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import polars.selectors as cs

from reldep.data.frames import check_unique
from reldep.data.selectors import kind_of
from reldep.exceptions import InputError, InputTypeError, translated
from reldep.files.byte_sources import Source, check_budget
from reldep.files.cells import table_of_columns
from reldep.files.read import STATED, Reading
from reldep.files.table import Table, at_once
from reldep.system import import_extra
from reldep.words import counted, listed

# boolean, integers, floats, text, bytes, dates
_COLUMN_KINDS = "biufUSM"


def read_columnar(source: Source, options: Reading) -> Table:
    """Return the table of a Parquet or Arrow file, or of lines of JSON; columns are read later."""
    return read_parquet_files(source.name, [source], options, source.notes)


def read_parquet_files(
    name: str, sources: Sequence[Source], options: Reading, said: Sequence[str] = ()
) -> Table:
    """Return one table of files with the same columns, in any order."""
    frames, schemas, sizes = [], [], []
    for source in sources:
        with source.reading():
            frames.append(_scan(source))
            schemas.append(frames[-1].collect_schema())
            sizes.append(int(frames[-1].select(pl.len()).collect().item()))

    def joined(names: list[str]) -> pl.LazyFrame:
        for own in names:
            _common_type(own, schemas, sources)
        filled = [one for one, size in zip(frames, sizes, strict=True) if size] or frames[:1]
        parts = [frame.select(cs.by_name(*names)) for frame in filled]
        return pl.concat(parts, how="vertical_relaxed")

    n_rows = sum(sizes)

    def check(n_columns: int, *, at_once: bool) -> None:
        what = f"{counted(n_columns, 'column')} of {n_rows:,} rows of {name}"
        packed = sum(source.size for source in sources)
        check_budget(8 * n_rows * n_columns, packed, what, at_once=at_once)

    def parts(names: list[str], size: int | None) -> Iterator[pl.DataFrame]:
        if size is None:
            check(len(names), at_once=True)
            yield joined(names).collect()
        else:
            yield from joined(names).collect_batches(chunk_size=size, maintain_order=True)
        for source in sources:
            source.check_unchanged()

    check(1, at_once=False)
    schema = {own: _common_type(own, schemas, sources, strict=False) for own in schemas[0]}
    return table_of_columns(name, schema, parts, n_rows, options, said=said, is_in_parts=True)


def _scan(source: Source) -> pl.LazyFrame:
    if source.format.name == "jsonl":
        # By default only the first hundred lines show which columns there are.
        return pl.read_ndjson(source.file(), infer_schema_length=None).lazy()
    if source.format.name == "parquet":
        return pl.scan_parquet(source.file(), glob=False)
    # The path is read as a pattern.
    path = source.content
    return pl.scan_ipc(path if isinstance(path, bytes) else glob.escape(str(path)))


def _common_type(
    name: str,
    schemas: Sequence[Mapping[str, pl.DataType]],
    sources: Sequence[Source],
    *,
    strict: bool = True,
) -> pl.DataType:
    """Return the type of a column in several files: with decimals if it has them in one.

    Raises InputError if a file lacks it, or has it with values of another kind, unless not
    `strict`: a column that is not used does no harm.
    """
    first: pl.DataType = pl.Null()
    for schema, source in zip(schemas, sources, strict=True):
        if name not in schema:
            if not strict:
                continue
            raise InputError(
                f"{source.name} has no column {name!r}, which other files have. Leave it out."
            )
        own = schema[name]
        if first == pl.Null or (own.is_float() and first.is_numeric()):
            first = own
        is_alike = kind_of(own) == kind_of(first) or (own.is_numeric() and first.is_numeric())
        if strict and own != pl.Null and not is_alike:
            raise InputError(
                f"column {name!r} has values of the type {own} in {source.name}, and of "
                f"the type {first} in other files. Write one type in all files."
            )
    return first


def is_dask(data: Any) -> bool:
    """Return True for a data frame of Dask, without importing it."""
    is_of_dask = type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
    return is_of_dask and hasattr(data, "npartitions")


def read_dask(data: Any, options: Reading) -> Table:
    """Return the table of a Dask data frame, whose partitions are computed when they are used."""
    if not hasattr(data, "columns") or getattr(data, "ndim", 0) != 2:
        raise InputTypeError(
            "data is a dask series or array. Pass a dask data frame, and name its columns."
        )
    names = [str(name) for name in data.columns]
    check_unique(names, "the data")
    own = dict(zip(names, data.columns, strict=True))

    sums: dict[str, int] = {}

    def parts(wanted: list[str], size: int | None) -> Iterator[pl.DataFrame]:
        needed = 8 * n_rows * len(wanted)
        if size is None:
            check_budget(needed, needed, f"{len(wanted):,} columns of {n_rows:,} rows of the data")
        pieces = range(data.npartitions)
        first = next(iter(sums), wanted[0])
        found = start = 0
        for piece in [data] if size is None else map(data.get_partition, pieces):
            with translated("the data cannot be computed"):
                both = list(dict.fromkeys([*wanted, first]))
                frame = piece[[own[name] for name in both]].compute().reset_index(drop=True)
            frame.columns = both
            part = pl.from_pandas(frame)
            found += _sum_of_hashes(part[first], start)
            start += part.height
            yield from part.select(wanted).iter_slices(size or max(1, part.height))
        if sums.setdefault(first, found % 2**64) != found % 2**64:
            raise InputError(
                f"the values of {first!r} of the data have changed while they were computed. "
                "Make partitions that are the same in every pass, or write them to Parquet files."
            )

    with translated("the data cannot be computed"):
        n_rows = sum(int(size) for size in data.map_partitions(len).compute())
        empty = data.head(0, npartitions=-1)
        empty.columns = names
        schema = pl.from_pandas(empty).schema
    table = table_of_columns("the data", schema, parts, n_rows, options, is_in_parts=True)
    is_plain = all(a == b for a, b in own.items()) and [*table.columns] == names
    given = [options["na"], *(cast("Mapping[str, Any]", options)[one] for one in STATED)]
    given.append(options["dates"] != "elapsed")
    return replace(table, distributed=data if is_plain and not any(given) else None)


def _sum_of_hashes(values: pl.Series, start: int) -> int:
    """Return the sum of the hashes of values, weighted by their places in a column."""
    places = np.arange(start, start + len(values), dtype=np.uint64)
    with np.errstate(over="ignore"):
        return int((values.hash().to_numpy() * (2 * places + 1)).sum())


def read_arrays(source: Source, options: Reading) -> Table:
    """Return the table of an NPZ archive: its rows are the first axis of every array.

    A 1-D array `x` becomes the column ``x``; a 2-D array `x` becomes ``x_0``, ``x_1`` and so on.
    """
    name = source.name
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    with np.load(source.file(), allow_pickle=False) as archive:
        for own in archive.files:
            arrays[own] = _as_column_values(_array(archive, own, name), f"{own!r} of {name}")
        lengths = {own: len(array) for own, array in arrays.items()}
        if len(set(lengths.values())) != 1:
            found = ", ".join(f"{own!r}: {length}" for own, length in lengths.items())
            raise InputError(
                f"the arrays of {name} must have equally many rows; they have {found or 'none'}"
            )
        columns = [
            pl.Series(own if array.ndim == 1 else f"{own}_{j}", values)
            for own, array in arrays.items()
            for j, values in enumerate([array] if array.ndim == 1 else array.T)
        ]
        check_unique([column.name for column in columns], source.name)
        frame = pl.DataFrame(columns)
    return table_of_columns(
        source.name, frame.schema, at_once(frame.select), frame.height, options, said=source.notes
    )


def _array(archive: Any, own: str, name: str) -> Any:
    """Return one array of an archive; raise InputError if it is damaged or pickled."""
    with translated(f"array {own!r} of {name} is damaged"):
        try:
            return archive[own]
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise InputError(
                f"array {own!r} of {name} contains pickled Python objects, which are never loaded. "
                f"Save {own}.astype(float) or {own}.astype(str)."
            ) from error


def _as_column_values(array: object, what: str) -> npt.NDArray[np.generic]:
    """Return an array in a type that polars takes; raise if it cannot be columns."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _COLUMN_KINDS:
        found = array.dtype if isinstance(array, np.ndarray) else "no array"
        raise InputError(f"{what} is {found}; expected numbers, booleans, text or dates")
    if array.ndim not in (1, 2):
        raise InputError(
            f"array {what} has {array.ndim} dimensions, its shape is {array.shape}; pass 1 or 2."
        )
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "S":
        with translated(f"array {what} contains bytes that are not UTF-8 text"):
            return np.char.decode(array, "utf-8")
    if kind == "f" and size not in (4, 8):
        return array.astype(np.float64)
    if kind == "M" and array.dtype != np.dtype("M8[D]"):
        return array.astype("M8[us]")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


# Bytes of a value in memory while it is read: an object of Python in a list.
_VALUE = 40


def read_package(source: Source, options: Reading) -> Table:
    """Return the table of a file of SPSS, Stata, SAS or R; it is read as a whole.

    A column all of whose values have labels becomes these labels; of others the labels are said,
    of which one may mean missing. Missing values that the user
    of the other program defined are missing, and so are empty strings.
    """
    name = source.name
    is_r = source.format.name in ("rds", "rda")
    module, extra = ("rdata", "rda") if is_r else ("pyreadstat", "surveys")
    library = import_extra(module, extra=extra, purpose=f"reading {name}")
    read = getattr(library, f"read_{source.format.name}")
    frame, notes = (_from_r if is_r else _from_readstat)(source, read)
    return table_of_columns(
        source.name,
        frame.schema,
        at_once(frame.select),
        frame.height,
        options,
        said=source.notes,
        column_said=notes,
    )


def _from_readstat(source: Source, read: Any) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read a file of SPSS, Stata or SAS."""
    with source.on_disk() as path:
        about = read(str(path), metadataonly=True)[1]
        n_values = (about.number_rows or 0) * (about.number_columns or 0)
        source.check_budget(_VALUE * n_values, f"{n_values:,} values")
        columns, about = read(str(path), output_format="dict")
    notes: dict[str, list[str]] = {}
    kept = []
    for name, values in columns.items():
        labels = about.variable_value_labels.get(name, {})
        cells = [None if value == "" else value for value in values]
        present = {value for value in cells if value is not None and value == value}
        if labels and present and present <= labels.keys():
            cells = [labels.get(value) for value in cells]
            kept.append(pl.Series(name, cells, dtype=pl.String).cast(pl.Categorical))
            notes[name] = ["the labels of its values were read, not their numbers"]
        else:
            kept.append(pl.Series(name, cells, strict=False))
            known = [
                f"{value:g} is {labels[value]!r}"
                for value in labels
                if value in present and isinstance(value, float)
            ]
            if known:
                notes[name] = [
                    f"numbers were read, for some have no label ({listed(known, 5)}); if one means "
                    "missing, pass `na`"
                ]
    return pl.DataFrame(kept), notes


def _from_r(source: Source, read: Any) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read the one data frame of a file of R."""
    found = read(source.file())
    frames: dict[str, Any] = found if isinstance(found, dict) else {"": found}
    tables = {own: value for own, value in frames.items() if hasattr(value, "columns")}
    if len(tables) != 1:
        raise InputError(
            f"{source.name} contains {len(tables)} data frames. Save the one you want with "
            "saveRDS()."
        )
    table = next(iter(tables.values()))
    return pl.DataFrame([series_of_pandas(str(own), table[own]) for own in table.columns]), {}


def series_of_pandas(name: str, column: Any) -> pl.Series:
    """Return a column of pandas; categories stay such."""
    values = column.astype(object).where(column.notna(), None).to_list()
    if hasattr(column, "cat"):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(name, words, dtype=pl.String).cast(pl.Categorical)
    return pl.Series(name, values, strict=False)
