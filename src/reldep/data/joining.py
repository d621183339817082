"""Several files, one table: rows with the same value of a key belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reldep.data.columns import ColumnType, known_column
from reldep.data.lazy import column
from reldep.data.names import listing, repeated
from reldep.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

_WORDS = {ColumnType.TEXT, ColumnType.CATEGORY, ColumnType.MIXED}
# Beyond this two integers may be one float.
_LARGEST_EXACT = 2**53
_NUMBERS = {ColumnType.INTEGER, ColumnType.NUMBER}


@dataclass(frozen=True)
class JoinedFile:
    """One of the files joined: its rows, and those of them without a partner."""

    name: str
    n_rows: int
    n_unmatched: int


@dataclass(frozen=True)
class JoinReport:
    """How files were joined.

    Attributes
    ----------
    key : str
        The column joined on.
    n_rows : int
        Rows with a partner in every file: those of the joined table.
    files : tuple of JoinedFile
        The files, in the order given.
    prefixed : bool
        Whether columns bear their file's name in front, because two files had
        a column of the same name.
    """

    key: str
    n_rows: int
    files: tuple[JoinedFile, ...]
    prefixed: bool

    def __str__(self) -> str:
        lost = [
            f"{file.n_unmatched:,} of {file.n_rows:,} rows of {file.name}"
            for file in self.files
            if file.n_unmatched
        ]
        without = f"; without a partner: {', '.join(lost)}" if lost else "; every row has a partner"
        return f"joined on {self.key!r}: {self.n_rows:,} rows{without}"


def join_tables(tables: Sequence[Table], stems: Sequence[str], key: str) -> Table:
    """Join tables on a key; keep the rows that have a partner in every table.

    The rows stay in the order of the first table. If two tables have a column
    of the same name, every column but the key gets its file's name in front:
    ``C14`` of ``lipids.csv`` becomes ``lipids_C14``. All of them do, so that a
    glob such as ``C*`` cannot pick up half of a block.

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
    tables, prefixed = _with_distinct_columns(tables, stems, key)
    tables = _with_comparable_keys(tables, key)
    keys = [_unique_keys(table, key) for table in tables]
    shared = set(keys[0].drop_nulls()).intersection(*keys[1:])
    if not shared:
        examples = ", ".join(
            f"{values.first()!r} in {table.name}"
            for table, values in zip(tables, keys, strict=True)
        )
        raise ValueError(f"no value of {key!r} is in every file: for example {examples}")
    frame = tables[0].frame
    for table in tables[1:]:
        frame = frame.join(table.frame, on=key, how="inner", maintain_order="left")
    files = [
        JoinedFile(table.name, len(values), len(values) - len(shared))
        for table, values in zip(tables, keys, strict=True)
    ]
    return Table(
        name=" + ".join(table.name for table in tables),
        frame=frame,
        columns={name: kind for table in tables for name, kind in table.columns.items()},
        strays={name: stray for table in tables for name, stray in table.strays.items()},
        texts=tuple(text for table in tables for text in table.texts),
        join=JoinReport(key, len(shared), tuple(files), prefixed),
    )


def _with_distinct_columns(
    tables: Sequence[Table], stems: Sequence[str], key: str
) -> tuple[Sequence[Table], bool]:
    """Put the files' names before the columns if two files share a column's name."""
    shared = repeated(name for table in tables for name in table.columns if name != key)
    if not shared:
        return tables, False
    renamed = [_prefixed_names(table, stem, key) for table, stem in zip(tables, stems, strict=True)]
    if repeated([key, *(new for names in renamed for old, new in names.items() if old != key)]):
        raise ValueError(
            f"columns {listing(shared)} are in more than one file, and the files' names do not "
            f"tell them apart ({listing(stems)}); rename a file or the columns"
        )
    return [_renamed(table, new) for table, new in zip(tables, renamed, strict=True)], True


def _prefixed_names(table: Table, stem: str, key: str) -> dict[str, str]:
    """Return new names for a table's columns: its file's name before all but the key."""
    return {name: name if name == key else f"{stem}_{name}" for name in table.columns}


def _renamed(table: Table, new: Mapping[str, str]) -> Table:
    """Return the table with new names for its columns."""
    return replace(
        table,
        frame=table.frame.rename(new),
        columns={new[name]: kind for name, kind in table.columns.items()},
        strays={new[name]: stray for name, stray in table.strays.items()},
    )


def _with_comparable_keys(tables: Sequence[Table], key: str) -> list[Table]:
    """Bring the key to one type in all tables; raise if that cannot be done.

    Whether ``7`` is a number or a word depends on the other values of its
    file, so integers are compared with words by their digits.
    """
    common, kind = _common_key_type(tables, key)
    return [
        replace(
            table,
            frame=table.frame.with_columns(column(key).cast(common)),
            columns={**table.columns, key: kind},
            # Words among the numbers of a key are no mistake.
            strays={name: stray for name, stray in table.strays.items() if name != key},
        )
        for table in tables
    ]


def _common_key_type(tables: Sequence[Table], key: str) -> tuple[pl.DataType, ColumnType]:
    """Return the type in which the keys of all tables can be compared."""
    import polars as pl

    kinds = {table.columns[key] for table in tables}
    dtypes = {table.frame.collect_schema()[key] for table in tables}
    if kinds == {ColumnType.INTEGER}:
        return pl.Int64(), ColumnType.INTEGER
    if kinds <= _NUMBERS:
        return pl.Float64(), ColumnType.NUMBER
    if kinds <= _WORDS | {ColumnType.INTEGER}:
        return pl.String(), ColumnType.TEXT
    if len(dtypes) == 1:
        return dtypes.pop(), kinds.pop()
    found = ", ".join(f"{table.columns[key]} in {table.name}" for table in tables)
    raise ValueError(f"cannot join on {key!r}: it is {found}; give it one type in all files")


def _unique_keys(table: Table, key: str) -> pl.Series:
    """Read the key of one table; raise if a value comes twice."""
    values = table.read([key]).to_series()
    present = values.drop_nulls()
    twice = present.filter(present.is_duplicated())
    if len(twice):
        raise ValueError(
            f"{key!r} does not identify the rows of {table.name}: {twice.first()!r} comes "
            f"{(present == twice.first()).sum()} times; each value may come once in a file"
        )
    if values.dtype.is_float() and (present.abs() > _LARGEST_EXACT).any():
        raise ValueError(
            f"cannot join on {key!r}: {table.name} has values above 2^53 as numbers with "
            "decimals, which cannot be told from their neighbours; write them as text"
        )
    return values
