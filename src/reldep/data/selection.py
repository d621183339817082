"""From a file or a frame and the names of columns to blocks of data.

This is what the command line does with its options, and what a question does with ``data=``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import composed
from reldep.data.files.options import ReadingOptions
from reldep.data.files.partitions import TableColumns
from reldep.data.frames import frame_library, index_rows, is_frame, unwrapped, with_plain_names
from reldep.data.rows import Rows, repeated_subjects, subject_column
from reldep.data.selectors import (
    ColumnType,
    columns_part,
    known_column,
    name_blocks,
    select_columns,
)
from reldep.exceptions import InputError, InputTypeError, Option, ReldepWarning

if TYPE_CHECKING:
    import narwhals as nw

    from reldep.data.files.partitions import Partitions
    from reldep.data.files.table import Table

_SOURCE = "the data"


@dataclass(frozen=True, eq=False)
class Selection:
    """Blocks of columns, taken from one table.

    Attributes
    ----------
    blocks : dict of str to data
        The data of every block: a series for one column, a frame for several.
    columns : dict of str to list of str
        The columns of every block.
    rows : Rows
        The rows that were taken, by place and name; pass them on as ``ids``.
    clusters : series or None
        The cluster labels.
    cautions : tuple of ReldepWarning
        What was understood about the table and the columns used.
    table : Table or None
        The file, if it came from one.
    n_rows : int
        The number of rows before the condition; 0 where they are not counted.
    """

    blocks: dict[str, Any]
    columns: dict[str, list[str]]
    rows: Rows
    clusters: Any = None
    cautions: tuple[ReldepWarning, ...] = field(default=())
    table: Table | None = None
    n_rows: int = 0


def select_data(
    data: Any,
    selectors: Sequence[str] | Mapping[str, str],
    *,
    where: str | None = None,
    ids: str | None = None,
    clusters: str | None = None,
    join: str | None = None,
    options: ReadingOptions | None = None,
    later: Sequence[str] = (),
) -> Selection:
    """Take blocks of columns from a file or a data frame.

    Parameters
    ----------
    data : path, sequence of paths, Table, data frame or mapping of str to arrays
        Where the columns are.
    selectors : sequence of str, or mapping of str to str
        Each names the columns of a block, as ``COLS`` or ``NAME=COLS``; or by the blocks' names.
    where : str, optional
        A condition on the rows, such as ``"age > 40"``.
    ids, clusters : str, optional
        The column that names the rows, and the one with cluster labels.
    join : str, optional
        The column on which several files are joined.
    options : ReadingOptions, optional
        How to read.
    later : sequence of str
        Blocks of a file that are not read yet, since they have thousands of columns: they become
        :class:`~reldep.data.files.partitions.TableColumns`.

    Examples
    --------
    >>> import polars
    >>> mice = polars.DataFrame({"diet": ["sun", "fish"], "C14": [0.1, 0.2], "C16": [0.3, 0.4]})
    >>> chosen = select_data(mice, ["diet", "lipids=C*"], where="C14 > 0.1")
    >>> chosen.columns, chosen.rows.values()
    ({'diet': ['diet'], 'lipids': ['C14', 'C16']}, [1])
    """
    from reldep.data.files.foreign import annotated_table, is_annotated
    from reldep.data.files.opening import open_table
    from reldep.data.files.partitions import Partitions
    from reldep.data.files.table import Table

    reading = options or ReadingOptions()
    if isinstance(data, (str, os.PathLike)) or _are_paths(data):
        data = open_table(data, join=join, options=reading)
    elif join is not None:
        raise InputError("joins files; pass paths.", argument="join", value=join)
    elif is_annotated(data):
        data = annotated_table(data, reading)
    asked = _Request(selectors, where, ids, clusters, later)
    if isinstance(data, Partitions):
        return asked.from_partitions(data)
    if isinstance(data, Table):
        return asked.from_table(data)
    if isinstance(data, Mapping):
        data = _as_frame(data)
    data = unwrapped(data)
    if type(data).__name__ == "LazyFrame":
        raise InputTypeError("data is a lazy frame; pass data.collect().")
    if not is_frame(data):
        raise InputTypeError(
            f"data is of type {type(data).__name__}; pass a path, a data frame or a mapping of "
            "names to columns."
        )
    return asked.from_frame(data, reading)


def _are_paths(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and all(
        isinstance(path, (str, os.PathLike)) for path in data
    )


def _as_frame(data: Mapping[Any, Any]) -> Any:
    import polars as pl

    try:
        return pl.DataFrame({str(name): _column(values) for name, values in data.items()})
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InputError(f"data does not make a table: {str(error).splitlines()[0]}") from None


def _column(values: Any) -> Any:
    return values if isinstance(values, np.ndarray) else list(values)


@dataclass(frozen=True)
class _Request:
    """What to take from a table."""

    selectors: Sequence[str] | Mapping[str, str]
    where: str | None
    ids: str | None
    clusters: str | None
    later: Sequence[str] = ()

    def _blocks(self, schema: Mapping[str, ColumnType], source: str) -> dict[str, list[str]]:
        if isinstance(self.selectors, Mapping):
            return {
                name: select_columns(columns_part(text, schema), schema, source=source)
                for name, text in self.selectors.items()
            }
        return name_blocks(self.selectors, schema, source=source)

    def _single(
        self, argument: str, expression: str | None, schema: Mapping[str, ColumnType], source: str
    ) -> str | None:
        """Find the one column that an option names."""
        if expression is None:
            return None
        if expression in schema:
            return expression
        found = select_columns(expression, schema, source=source)
        if len(found) > 1:
            raise InputError(
                f"names {len(found)} columns; give one.", argument=argument, value=expression
            )
        return found[0]

    def from_table(self, table: Table) -> Selection:
        """Read the blocks from a file."""
        try:
            columns = self._blocks(table.columns, table.name)
        except InputError as error:
            mapped = isinstance(self.selectors, Mapping)
            asked = self.selectors.values() if mapped else self.selectors  # type: ignore[union-attr]
            raise table.turned_round(asked, error) from None
        clusters = self._single("clusters", self.clusters, table.columns, table.name)
        ids = self._single("ids", self.ids, table.columns, table.name)
        used = [name for block in columns.values() for name in block]
        now = [name for key, block in columns.items() if key not in self.later for name in block]
        wanted = [*now, clusters] if clusters is not None else now
        frame, rows = table.read_rows(wanted or used[:1], self.where, id_column=ids)
        return Selection(
            {
                name: TableColumns(table, block, frame.height, self.where)
                if name in self.later
                else _piece(frame, block)
                for name, block in columns.items()
            },
            columns,
            rows,
            None if clusters is None else frame[clusters],
            (*table.cautions(used), *self._about_subjects(table, used, rows, clusters, ids)),
            table,
            frame.height if self.where is None else table.count_rows(),
        )

    def _about_subjects(
        self, table: Table, used: list[str], rows: Rows, clusters: str | None, ids: str | None
    ) -> tuple[ReldepWarning, ...]:
        """Notice subjects that come several times, unless the question says so."""
        if clusters is not None or any(name.startswith("clusters\0") for name in self.selectors):
            return ()
        if ids is not None:
            return repeated_subjects(ids, rows.values())
        return table.about_subjects(used, self.where)

    def from_partitions(self, data: Partitions) -> Selection:
        """Name the columns of every block; nothing is read yet."""
        from reldep.data.files.partitions import PiecesOf

        for argument in ("ids", "clusters"):
            if getattr(self, argument) is not None:
                raise InputError(
                    [Option(argument), " needs all rows in one place, which partitions are not."],
                    "Leave it out, or read the rows you need into a data frame, and pass that.",
                )
        columns = self._blocks(data.columns, data.name)
        blocks = {name: PiecesOf(data, tuple(block), self.where) for name, block in columns.items()}
        return Selection(blocks, columns, Rows.of(0))

    def from_frame(self, data: Any, options: ReadingOptions) -> Selection:
        """Take the blocks from a data frame, in its own library."""
        import narwhals as nw

        if options.numbers is not None or options.date_columns is not None:
            raise InputError(
                "numbers and date_columns are about files",
                "give the columns of a frame their types in its own library.",
            )
        frame = nw.from_native(with_plain_names(data, "data"), eager_only=True)
        schema = {name: _kind(frame, name) for name in frame.columns}
        columns = self._blocks(schema, _SOURCE)
        clusters = self._single("clusters", self.clusters, schema, _SOURCE)
        ids = self._single("ids", self.ids, schema, _SOURCE)
        if options.categories is not None:
            labels = select_columns(options.categories, schema, source=_SOURCE)
            frame = frame.with_columns(nw.col(*labels).cast(nw.String).cast(nw.Categorical))
        n_rows, kept = len(frame), self._kept(frame)
        frame = frame[kept.tolist()] if len(kept) < len(frame) else frame
        named = Rows(kept) if ids is None else Rows(kept, frame[ids].to_list(), ids)
        index = None if ids is not None else index_rows(frame.to_native())
        if index is not None:
            named = Rows(kept, index.labels, index.noun)
        used = dict.fromkeys(name for block in columns.values() for name in block)
        subject = ids or subject_column(frame.columns, list(used))
        grouped = clusters is not None or any(key.startswith("clusters\0") for key in columns)
        about: tuple[ReldepWarning, ...] = ()
        if subject is not None and not grouped:
            about = repeated_subjects(subject, frame[subject].to_list())
        frame, cautions = _on_circles(frame, list(used), options)
        return Selection(
            {name: _native_piece(frame, block) for name, block in columns.items()},
            columns,
            named,
            None if clusters is None else frame[clusters].to_native(),
            (*cautions, *about),
            n_rows=n_rows,
        )

    def _kept(self, frame: nw.DataFrame[Any]) -> Any:
        """Find the rows for which the condition holds."""
        everything = np.arange(len(frame), dtype=np.int64)
        if self.where is None:
            return everything
        import polars.selectors as cs

        from reldep.data.files.queries import check_types, parse_condition, polars_errors, reason

        try:
            table = _to_polars(frame).with_columns(cs.string().str.normalize("NFC"))
            where = composed(self.where)
            expression = parse_condition(where, table.schema, _SOURCE)
            check_types(expression, where, table.schema)
            chosen = table.select(expression).to_series().fill_null(False).to_numpy()
        except polars_errors() as error:
            raise InputError(
                f"cannot apply the condition {self.where!r} to {_SOURCE}: {reason(error)}"
            ) from error
        kept = everything[chosen]
        if not len(kept):
            raise InputError(f"no row of {_SOURCE} satisfies the condition {self.where!r}.")
        return kept


def _piece(frame: Any, columns: Sequence[str]) -> Any:
    return frame[columns[0]] if len(columns) == 1 else frame[list(columns)]


def _native_piece(frame: nw.DataFrame[Any], columns: Sequence[str]) -> Any:
    if len(columns) == 1:
        return frame[columns[0]].to_native()
    return frame.select(*columns).to_native()


def _kind(frame: nw.DataFrame[Any], name: str) -> ColumnType:
    """Say in plain words what a column of a frame holds."""
    import narwhals as nw

    dtype = frame.schema[
        known_column(name, dict.fromkeys(frame.columns, ColumnType.OTHER), _SOURCE)
    ]
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


def _to_polars(frame: nw.DataFrame[Any]) -> Any:
    """Give the columns that polars understands, for a condition on rows."""
    import narwhals as nw
    import polars as pl

    known = [name for name, dtype in frame.schema.items() if dtype not in (nw.Object, nw.Unknown)]
    if not known:
        raise InputError("data has no columns that a condition could speak of.")
    native = frame.select(*known)
    if frame_library(frame.to_native()) == "pandas":
        return pl.DataFrame({name: native[name].to_list() for name in known}, strict=False)
    return native.to_polars()


def _on_circles(
    frame: nw.DataFrame[Any], names: list[str], options: ReadingOptions
) -> tuple[nw.DataFrame[Any], tuple[ReldepWarning, ...]]:
    """Bring dates to a circle where the options ask for it; the frame then is one of polars."""
    if options.dates == "elapsed" or not options.dates:
        return frame, ()
    import narwhals as nw

    from reldep.data.files.queries import typed_columns
    from reldep.data.files.table import with_cycles
    from reldep.exceptions import DataWarning

    table = _to_polars(frame)
    made, _, said = with_cycles(table.lazy(), typed_columns(table.schema), options)
    cautions = tuple(
        DataWarning(f"column {name!r}: {text}.", ["See ", Option("dates"), "."])
        for name, texts in said.items()
        if name in names
        for text in texts
    )
    return nw.from_native(made.collect(), eager_only=True), cautions
