"""From paths to a table."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reldep.data.columns import ColumnType
from reldep.data.delimited import open_standard_input
from reldep.data.files import STANDARD_INPUT, open_file, stem
from reldep.data.joining import join_tables
from reldep.data.lazy import named
from reldep.data.names import listing, repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.table import Table


def open_table(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    join: str | None = None,
    categories: str | None = None,
) -> Table:
    r"""Open a file, or several joined on a key, as one table.

    Text, Parquet and Arrow files are not read before columns are asked for,
    and then only those columns; compressed text, standard input, Excel and NPZ
    are read as a whole.

    Parameters
    ----------
    paths : path or sequence of paths
        Delimited text (``.csv``, ``.tsv``, ``.txt``, ``.tab``, also ``.gz``),
        Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``,
        ``.ipc``), Excel (``.xlsx``, first sheet, needs ``reldep[excel]``),
        NumPy archives (``.npz``), or ``-`` for text from standard input.
    join : str, optional
        The column that identifies a row; needed for several files. Rows without
        a partner in every file are left out and counted in ``Table.join``; the
        rows stay in the order of the first file. If two files share a column's
        name, every column but the key gets its file's name in front
        (``lipids_C14``).
    categories : str, optional
        Columns, as an expression, whose values are labels even if they look like
        numbers: ``"group,batch_*"``.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If a file is not what it should be, or the files cannot be joined.
    OSError
        If a file does not exist, is a directory, or may not be read.

    Notes
    -----
    In text files and Excel sheets, blanks and ``NA``, ``N/A``, ``NaN``,
    ``nan``, ``NULL`` and ``null`` are missing values, and dates are written
    ``2024-01-31``. Text is expected in UTF-8; blank lines are skipped. The
    types of columns are found by looking at all of a text file below 50 MB, and
    at the first 10,000 rows of a larger one, whose integers are taken as
    numbers with decimals.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14,C16\n1,fish,0.5,0.7\n2,sun,0.4,NA\n")
    >>> table = open_table(path)
    >>> table.read(table.select("C*"), where="diet = 'fish'").rows()
    [(0.5, 0.7)]
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    places = [os.fspath(path) for path in given]
    _check_request(places, join)
    tables = [_open_place(place) for place in places]
    table = tables[0] if join is None else join_tables(tables, [*map(stem, places)], join)
    return table if categories is None else _with_categories(table, categories)


def _check_request(places: list[str], join: str | None) -> None:
    """Raise if the number of files does not fit the request."""
    if not places:
        raise ValueError("paths: name at least one file")
    if len(places) > 1 and join is None:
        raise ValueError(
            f"{len(places)} files need a column to be joined on: say join='id', "
            f"for the column that identifies a row in {listing(places)}"
        )
    if len(places) == 1 and join is not None:
        raise ValueError(f"join={join!r} needs at least two files; only {places[0]!r} is given")
    if repeated(places):
        raise ValueError(f"{listing(repeated(places))} is given more than once")


def _open_place(place: str) -> Table:
    """Open one file or standard input; raise if it has no rows."""
    table = open_standard_input() if place == STANDARD_INPUT else open_file(Path(place))
    if not table.has_rows():
        raise ValueError(f"{table.name} has {len(table.columns)} columns, but no rows")
    return table


def _with_categories(table: Table, expression: str) -> Table:
    """Return the table with some columns as labels."""
    import polars as pl

    labels = table.select(expression)
    return replace(
        table,
        frame=table.frame.with_columns(named(labels).cast(pl.String)),
        columns={**table.columns, **dict.fromkeys(labels, ColumnType.CATEGORY)},
        strays={name: stray for name, stray in table.strays.items() if name not in labels},
    )
