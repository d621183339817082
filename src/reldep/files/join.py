"""Several tables, one table: rows with the same value of a key belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.data.checks import listing, printable, repeated
from reldep.data.selectors import ColumnType, known_column
from reldep.exceptions import InputError
from reldep.files.table import Table
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

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
        known_column(key, table.columns, printable(table.name))
    tables = _with_distinct_columns(tables, stems, key)
    dtype, kind = _common_type(tables, key)
    keys = [_keys(table, key, dtype) for table in tables]
    rows = _common_rows(tables, keys, key)
    owner = {name: i for i, table in enumerate(tables) for name in table.columns if name != key}

    def load(names: list[str]) -> pl.DataFrame:
        import polars as pl

        found: dict[str, pl.Series] = {}
        for i, table in enumerate(tables):
            own = [name for name in names if owner.get(name) == i]
            if own:
                frame = table.load(own)[rows[i]]
                found |= {name: frame[name] for name in own}
        if key in names:
            found[key] = keys[0][rows[0]].alias(key)
        return pl.DataFrame({name: found[name] for name in names})

    first = tables[0]
    columns = {name: one for table in tables for name, one in table.columns.items()}
    doubts = {name: why for table in tables for name, why in table.doubts.items() if name != key}
    return Table(
        " + ".join(table.name for table in tables),
        {**columns, key: kind},
        load,
        len(rows[0]),
        positions=rows[0] if first.positions is None else first.positions[rows[0]],
        places=first.places,
        origins={name: table.places for table in tables[1:] for name in table.columns},
        doubts=doubts,
        said=tuple(f"{printable(table.name)}: {text}" for table in tables for text in table.said),
        joined=_in_words(tables, keys, len(rows[0]), key),
        column_said={name: why for table in tables for name, why in table.column_said.items()},
    )


def _in_words(tables: Sequence[Table], keys: Sequence[pl.Series], n_rows: int, key: str) -> str:
    """Return how tables were joined, with the rows that are not in every table."""
    lost = [
        f"{len(own) - n_rows:,} of {len(own):,} rows of {printable(table.name)}"
        for table, own in zip(tables, keys, strict=True)
        if len(own) > n_rows
    ]
    unmatched = f"unmatched: {', '.join(lost)}" if lost else "every row is matched"
    return f"joined on {key!r}: {counted(n_rows, 'row')}; {unmatched}"


def _with_distinct_columns(
    tables: Sequence[Table], stems: Sequence[str], key: str
) -> Sequence[Table]:
    """Return tables with the files' names before the columns that are in two files."""
    shared = repeated(name for table in tables for name in table.columns if name != key)
    if not shared:
        return tables
    renamed = [
        {name: f"{stem}_{name}" if name in shared else name for name in table.columns}
        for table, stem in zip(tables, stems, strict=True)
    ]
    if repeated([key, *(new for names in renamed for old, new in names.items() if old != key)]):
        raise InputError(
            f"columns {listing(shared)} are in more than one file, and the files' names do not "
            f"tell them apart ({listing(stems)}); rename a file or the columns"
        )
    return [table.renamed(new) for table, new in zip(tables, renamed, strict=True)]


def _common_type(tables: Sequence[Table], key: str) -> tuple[pl.DataType, ColumnType]:
    """Return the type in which the keys of all tables can be compared.

    Whether ``7`` is a number or a word depends on the other values of its file, so integers are
    compared with words by their digits.
    """
    import polars as pl

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
    found = ", ".join(f"{table.columns[key]} in {printable(table.name)}" for table in tables)
    raise InputError(f"cannot join on {key!r}: it is {found}; give it one type in all files")


def _keys(table: Table, key: str, dtype: pl.DataType) -> pl.Series:
    """Return the keys of one table; raise if a value comes twice."""
    import polars as pl

    # Words among the numbers of a key are no mistake.
    values: pl.Series = table.load([key])[key].cast(dtype)
    if dtype == pl.String:
        values = values.str.normalize("NFC")
    present, name = values.drop_nulls(), printable(table.name)
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
    import polars as pl

    frame = pl.DataFrame({"key": keys[0]}).with_row_index("0").drop_nulls()
    for i, own in enumerate(keys[1:], 1):
        other = pl.DataFrame({"key": own}).with_row_index(str(i)).drop_nulls()
        frame = frame.join(other, on="key", how="inner", maintain_order="left")
    if not frame.height:
        examples = ", ".join(
            f"{own.first()!r} in {printable(table.name)}"
            for table, own in zip(tables, keys, strict=True)
        )
        raise InputError(f"no value of {key!r} is in every file: for example {examples}")
    return [frame[str(i)].to_numpy().astype("int64") for i in range(len(keys))]
