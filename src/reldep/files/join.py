"""Several tables, one table: rows with the same value of a key belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from reldep.data.checks import listing, repeated
from reldep.data.selectors import ColumnType, known_column
from reldep.exceptions import InputError
from reldep.files.table import Table, at_once
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import IntArray

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

    first, own_rows = tables[0], rows[0]
    doubts = of_all("doubts")
    doubts.pop(key, None)  # words among the numbers of a key are no mistake
    return Table(
        " + ".join(table.name for table in tables),
        of_all("columns") | {key: kind},
        at_once(load),
        len(own_rows),
        places=first.places.take(
            own_rows if first.positions is None else first.positions[own_rows]
        ),
        origins={name: tables[i].places for name, (i, _) in owner.items()},
        doubts=doubts,
        said=tuple(f"{table.name}: {text}" for table in tables for text in table.said),
        joined=_in_words(tables, keys, len(own_rows), key),
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
