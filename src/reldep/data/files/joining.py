"""Several files, one table: rows with the same value of a key belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reldep.data.cells import ROW
from reldep.data.checks import listing, printable, repeated
from reldep.data.files.queries import column
from reldep.data.files.table import Table, with_categories
from reldep.data.selectors import ColumnType, known_column
from reldep.exceptions import InputError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_WORDS = {ColumnType.TEXT, ColumnType.CATEGORY, ColumnType.MIXED}
# Beyond this two integers may be one float.
_LARGEST_EXACT = 2**53
_NUMBERS = {ColumnType.INTEGER, ColumnType.NUMBER}


@dataclass(frozen=True)
class JoinedFile:
    """One of the files joined: its rows, and how many of them are unmatched."""

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
        Rows that are matched in every file: those of the joined table.
    files : tuple of JoinedFile
        The files, in the order given.
    prefixed : bool
        Whether some columns have their file's name in front, because two files
        had a column of the same name.
    """

    key: str
    n_rows: int
    files: tuple[JoinedFile, ...]
    prefixed: bool

    def __str__(self) -> str:
        lost = [
            f"{file.n_unmatched:,} of {file.n_rows:,} rows of {printable(file.name)}"
            for file in self.files
            if file.n_unmatched
        ]
        unmatched = f"unmatched: {', '.join(lost)}" if lost else "every row is matched"
        return f"joined on {self.key!r}: {counted(self.n_rows, 'row')}; {unmatched}"


def join_tables(
    tables: Sequence[Table], stems: Sequence[str], key: str, categories: str | None = None
) -> Table:
    """Join tables on a key; keep the rows that are matched in every table.

    The rows stay in the order of the first table. A column whose name is in two
    tables gets its file's name in front: ``C14`` of ``lipids.csv`` becomes
    ``lipids_C14``.

    Parameters
    ----------
    tables : sequence of Table
        Two or more.
    stems : sequence of str
        The files' names without directory and ending.
    key : str
        The column that identifies a row; in every table, each value once.
    categories : str, optional
        Columns of the joined table, as an expression, whose values are labels.
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
        raise InputError(f"no value of {key!r} is in every file: for example {examples}")
    frame = tables[0].frame
    for table in tables[1:]:
        other = table.frame.drop(ROW)
        frame = frame.join(other, on=key, how="inner", maintain_order="left")
    files = [
        JoinedFile(table.name, len(values), len(values) - len(shared))
        for table, values in zip(tables, keys, strict=True)
    ]
    joined = Table(
        name=" + ".join(table.name for table in tables),
        frame=frame,
        columns={name: kind for table in tables for name, kind in table.columns.items()},
        refusals={name: why for table in tables for name, why in table.refusals.items()},
        places=tables[0].places,
        origins={name: table.places for table in tables[1:] for name in table.columns},
        texts=tuple(text for table in tables for text in table.texts),
        join=JoinReport(key, len(shared), tuple(files), prefixed),
        said=tuple(f"{printable(table.name)}: {text}" for table in tables for text in table.said),
        column_said={name: why for table in tables for name, why in table.column_said.items()},
    )
    return joined if categories is None else with_categories(joined, joined.select(categories))


def _with_distinct_columns(
    tables: Sequence[Table], stems: Sequence[str], key: str
) -> tuple[Sequence[Table], bool]:
    """Put the files' names before the columns that are in two files."""
    shared = repeated(name for table in tables for name in table.columns if name != key)
    if not shared:
        return tables, False
    renamed = [
        {name: f"{stem}_{name}" if name in shared else name for name in table.columns}
        for table, stem in zip(tables, stems, strict=True)
    ]
    if repeated([key, *(new for names in renamed for old, new in names.items() if old != key)]):
        raise InputError(
            f"columns {listing(shared)} are in more than one file, and the files' names do not "
            f"tell them apart ({listing(stems)}); rename a file or the columns"
        )
    return [table.renamed(new) for table, new in zip(tables, renamed, strict=True)], True


def _with_comparable_keys(tables: Sequence[Table], key: str) -> list[Table]:
    """Bring the key to one type in all tables; raise if that cannot be done.

    Whether ``7`` is a number or a word depends on the other values of its
    file, so integers are compared with words by their digits.
    """
    common, kind = _common_key_type(tables, key)
    keys = column(key).cast(common)
    if kind is ColumnType.TEXT:
        keys = keys.str.normalize("NFC")
    return [
        replace(
            table,
            frame=table.frame.with_columns(keys),
            columns={**table.columns, key: kind},
            # Words among the numbers of a key are no mistake.
            refusals={name: why for name, why in table.refusals.items() if name != key},
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
    raise InputError(f"cannot join on {key!r}: it is {found}; give it one type in all files")


def _unique_keys(table: Table, key: str) -> pl.Series:
    """Read the key of one table; raise if a value comes twice."""
    values = table.read([key]).to_series()
    present = values.drop_nulls()
    twice = present.filter(present.is_duplicated())
    if len(twice):
        raise InputError(
            f"{key!r} does not identify the rows of {table.name}: {twice.first()!r} comes "
            f"{(present == twice.first()).sum()} times; each value may come once in a file"
        )
    if values.dtype.is_float() and (present.abs() > _LARGEST_EXACT).any():
        raise InputError(
            f"cannot join on {key!r}: {table.name} has values above 2^53 as numbers with "
            "decimals, which cannot be told from their neighbours; write them as text"
        )
    return values
