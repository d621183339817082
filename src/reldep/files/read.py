"""Files, data frames and mappings as tables: ``reldep.read`` and the argument `data`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reldep.data.checks import composed, printable
from reldep.data.frames import frame_library, is_frame, unwrapped, with_plain_names
from reldep.data.rows import Rows
from reldep.data.selectors import (
    ColumnType,
    as_expression,
    known_column,
    parse_lifetime,
    select_columns,
)
from reldep.exceptions import InputError, InputTypeError
from reldep.files.table import Scope, Table, check_order, frame_rows

if TYPE_CHECKING:
    import narwhals as nw

    from reldep.data.files.options import ReadingOptions
    from reldep.data.files.table import Table as FileTable
    from reldep.data.selectors import Words
    from reldep.data.variables import BoolArray

_THE_DATA = "the data"
# The arguments of `read` that concern files only.
_OF_FILES = (
    *("join", "numbers", "date_columns", "delimiter", "decimal", "thousands", "encoding"),
    *("header", "skip_rows", "sheet", "layer", "drop_summary"),
)

_DEFAULTS: dict[str, Any] = {"header": True, "skip_rows": 0, "drop_summary": False}


def read(
    data: Any,
    *,
    join: str | None = None,
    where: Any = None,
    id: str | None = None,  # noqa: A002 (the word for it on the command line too)
    na: str | float | Sequence[str | float] = (),
    categories: Words | None = None,
    numbers: Words | None = None,
    date_columns: Words | None = None,
    dates: str | Mapping[str, str] = "elapsed",
    order: Mapping[str, str | Sequence[str]] | Words | None = None,
    survival: str | Sequence[str] = (),
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    thousands: Literal[",", ".", " ", "'"] | None = None,
    encoding: str | None = None,
    header: bool = True,
    skip_rows: int = 0,
    sheet: str | int | None = None,
    layer: str | None = None,
    drop_summary: bool = False,
) -> Table:
    r"""Read a file or take a data frame as a table, for the argument `data` of every question.

    Text, Parquet and Arrow files are not read before columns are asked for. Ambiguous files are
    rejected with the cells at fault and the argument that settles the question.

    Parameters
    ----------
    data : path, sequence of paths, "-", data frame, mapping, AnnData or Table
        Delimited text (``.csv``, ``.tsv``, ``.txt``, ``.tab``, also compressed), Parquet, Arrow
        and Feather files, workbooks (``.xlsx``, ``.xls``, ``.ods``), NumPy archives (``.npz``),
        files of SPSS, Stata, SAS and R, AnnData (``.h5ad``), ``"-"`` for text from standard
        input; a data frame of any library, or a mapping of names to columns.
    join : str, optional
        The column that identifies a row, to join several files; rows that are not in all of
        them are left out.
    where : str, sequence of str or array of bool, optional
        A condition on the rows such as ``"age > 40 and sex = 'f'"``, several that all hold, or
        one boolean per row.
    id : str, optional
        The column that names the rows in messages and tables.
    na : str, float or sequence of these
        Values that mean missing, besides blanks and ``NA``: ``(-999, "unknown")``.
    categories : str or sequence of str, optional
        Columns of labels, even if they look like numbers: ``"group,batch_*"``.
    numbers, date_columns : str or sequence of str, optional
        Columns of numbers and of dates; other cells become missing, with a note.
    dates : {"elapsed", "hour", "weekday", "month"} or mapping of str to these
        What dates and times become: days since the first, or their place in a cycle.
    order : mapping of str to str, optional
        The order of labels: ``{"size": "s<m<l"}``.
    survival : str or sequence of str
        Lifetimes, each by its columns: ``"days,died"``, or ``"days,status=2"`` if 2 marks the
        event. The column of times then contains lifetimes (:class:`~reldep.Survival`).
    delimiter, decimal, thousands, encoding : str, optional
        How a text is written, where that is not clear from the text itself.
    header : bool
        Whether the first line contains the names of columns; else they are ``c1``, ``c2``, ….
    skip_rows : int
        Lines of a text or rows of a sheet before the header.
    sheet : str or int, optional
        The sheet of a workbook, by name or by number from 1; by default the first.
    layer : str, optional
        The layer of an AnnData file with the genes; by default ``X``.
    drop_summary : bool
        Whether to leave out a last row that sums up the others.

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
    from reldep.data.files.options import ReadingOptions

    given = {name: value for name, value in locals().items() if name != "ReadingOptions"}
    reading = ReadingOptions(
        na=na,  # type: ignore[arg-type]
        categories=None if categories is None else as_expression(categories),
        numbers=None if numbers is None else as_expression(numbers),
        date_columns=None if date_columns is None else as_expression(date_columns),
        dates=dates,
        survival=(survival,) if isinstance(survival, str) else tuple(survival),
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        header=header,
        skip_rows=skip_rows,
        sheet=sheet,
        layer=layer,
    )
    table = _table(data, given, reading)
    if order is not None:
        table = _with_order(table, order)
    if where is not None:
        table = restrict(table, where)
    if id is not None:
        table = _with_names(table, id)
    if drop_summary:
        table = _without_summary(table)
    return replace(table, call=_call(given) if table.opened is not None else "")


def as_table(data: Any) -> Table:
    """Return a table as it is, and a path, a data frame or a mapping as a table."""
    return data if isinstance(data, Table) else read(data)


def _table(data: Any, given: Mapping[str, Any], reading: ReadingOptions) -> Table:
    from reldep.data.files.foreign import annotated_table, is_annotated
    from reldep.data.files.opening import open_table
    from reldep.data.files.table import Table as FileTable

    if isinstance(data, Table):
        raise InputTypeError(
            "`data` is a table already. Pass the options of both calls to one `read`."
        )
    if isinstance(data, (str, os.PathLike)) or _are_paths(data):
        return _of_file(open_table(data, join=given["join"], options=reading))
    if isinstance(data, FileTable):
        return _of_file(data)
    if is_annotated(data):
        return _of_file(annotated_table(data, reading))
    for name in _OF_FILES:
        if given[name] != _DEFAULTS.get(name):
            raise InputError(
                f"`{name}` is about files, and `data` is of type {type(data).__name__}. Leave it "
                "out; a data frame has its own ways to do so."
            )
    return _of_frame(_as_frame(data), reading)


def _are_paths(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and all(
        isinstance(path, (str, os.PathLike)) for path in data
    )


def _of_file(opened: FileTable) -> Table:
    def load(names: list[str]) -> Any:
        return opened.read_rows(names)[0]

    def find_rows() -> Rows:
        # A column that may not be used has rows as well.
        return replace(opened, refusals={}, lifetimes={}).read_rows(list(opened.columns)[:1])[1]

    return Table(opened.name, opened.columns, load, find_rows, opened=opened)


def _as_frame(data: Any) -> Any:
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


def _of_frame(frame: nw.DataFrame[Any], reading: ReadingOptions) -> Table:
    """Return a table that keeps a frame in its own library."""
    import narwhals as nw

    schema = {name: _kind(frame, name) for name in frame.columns}
    if reading.categories is not None:
        labels = select_columns(reading.categories, schema, source=_THE_DATA)
        frame = frame.with_columns(nw.col(*labels).cast(nw.String).cast(nw.Categorical))
        schema |= dict.fromkeys(labels, ColumnType.CATEGORY)
    if reading.na:
        frame = _without_codes(frame, reading)
    frame, said = _on_circles(frame, reading)
    schema |= dict.fromkeys(said, ColumnType.CYCLE)
    lifetimes: dict[str, tuple[str, str | None]] = {}
    for text in reading.survival:
        time, event, value = parse_lifetime(text)
        known_column(event, schema, _THE_DATA)
        schema[known_column(time, schema, _THE_DATA)] = ColumnType.LIFETIME
        del schema[event]
        lifetimes[time] = event, value
    kept = np.arange(len(frame), dtype=np.int64)
    notes = tuple(f"column {name!r}: {text}." for name, texts in said.items() for text in texts)
    empty = Table(_THE_DATA, schema, list, lambda: Rows(kept), lifetimes=lifetimes, said=notes)
    return _framed(empty, frame, kept)


def _framed(table: Table, frame: nw.DataFrame[Any], kept: Any) -> Table:
    """Return a table with another frame, whose rows stood at the positions `kept`."""

    def load(names: list[str]) -> Any:
        return frame.select(*names).to_native()

    def find_rows() -> Rows:
        return frame_rows(frame.to_native(), kept)

    return replace(table, load=load, find_rows=find_rows)


def _kind(frame: nw.DataFrame[Any], name: str) -> ColumnType:
    """Return the kind of a column of a frame."""
    import narwhals as nw

    dtype = frame.schema[name]
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


def _without_codes(frame: nw.DataFrame[Any], reading: ReadingOptions) -> nw.DataFrame[Any]:
    """Return a frame in which the values are missing that mean missing."""
    import narwhals as nw

    words = [str(code) for code in reading.na]
    numbers = [float(word) for word in words if _is_number(word)]
    changed = []
    for name, dtype in frame.schema.items():
        values = nw.col(name)
        if dtype.is_numeric() and numbers:
            changed.append(
                nw.when(~values.cast(nw.Float64).is_in(numbers)).then(values).alias(name)
            )
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            is_code = values.cast(nw.String).str.strip_chars().is_in(words)
            changed.append(nw.when(~is_code).then(values).alias(name))
    return frame.with_columns(*changed) if changed else frame


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _on_circles(
    frame: nw.DataFrame[Any], reading: ReadingOptions
) -> tuple[nw.DataFrame[Any], dict[str, list[str]]]:
    """Return a frame with dates on a circle, where asked for; the frame then is one of polars."""
    if reading.dates == "elapsed" or not reading.dates:
        return frame, {}
    import narwhals as nw

    from reldep.data.files.queries import typed_columns
    from reldep.data.files.table import with_cycles

    table = as_polars(frame)
    made, _, said = with_cycles(table.lazy(), typed_columns(table.schema), reading)
    return nw.from_native(made.collect(), eager_only=True), said


def as_polars(frame: nw.DataFrame[Any]) -> Any:
    """Return the columns that polars understands."""
    import narwhals as nw
    import polars as pl

    known = [name for name, dtype in frame.schema.items() if dtype not in (nw.Object, nw.Unknown)]
    if not known:
        raise InputError("data has no columns that a condition could use.")
    native = frame.select(*known)
    if frame_library(frame.to_native()) == "pandas":
        columns = {name: pl.Series(native[name].to_list(), strict=False) for name in known}
        return pl.DataFrame(columns).with_columns(pl.selectors.float().fill_nan(None))
    return native.to_polars()


def restrict(table: Table, where: Any) -> Table:
    """Return a table with the rows for which a condition holds, or that booleans choose."""
    condition, mask = _condition(where)
    if table.opened is not None:
        opened = table.opened
        n_rows = table.scope.n_rows if table.scope is not None else opened.count_rows()
        kept_file = _restricted_file(opened, condition, mask)
        n_kept = kept_file.count_rows()
        made = _of_file(kept_file)
        made = replace(made, orders=table.orders)
    else:
        n_rows = table.scope.n_rows if table.scope is not None else len(table)
        import narwhals as nw

        names = [*table.columns, *(event for event, _ in table.lifetimes.values())]
        frame = nw.from_native(table.load(names), eager_only=True)
        chosen = _holds(frame, condition) if mask is None else _checked(mask, len(frame))
        kept = np.flatnonzero(chosen)
        n_kept = len(kept)
        made = _framed(table, frame[kept.tolist()], table.rows.positions[kept])
    if not n_kept:
        named = f"the condition {condition!r}" if condition else "`where`"
        raise InputError(f"no row of {printable(table.name)} satisfies {named}.")
    before = table.scope.condition if table.scope is not None else ""
    both = _all_of([text for text in (before, condition) if text])
    return replace(made, scope=Scope(both, n_rows, n_kept), call=table.call)


def _condition(where: Any) -> tuple[str, BoolArray | None]:
    """Return a condition as text, or as one boolean per row."""
    if isinstance(where, str):
        return composed(where), None
    each = where if isinstance(where, (list, tuple)) else ()
    if each and all(isinstance(one, str) for one in each):
        return _all_of([composed(one) for one in each]), None
    try:
        mask = np.asarray(where)
    except Exception:
        mask = np.empty(0)
    if mask.dtype.kind != "b" or mask.ndim != 1:
        raise InputTypeError(
            f'`where` is of type {type(where).__name__}. Pass a condition such as "age > 40", or '
            "one boolean per row."
        )
    return "", mask


def _all_of(conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " and ".join(f"({one})" if " or " in one.lower() else one for one in conditions)


def _checked(mask: BoolArray, n_rows: int) -> BoolArray:
    if len(mask) != n_rows:
        raise InputError(
            f"`where` has {len(mask):,} booleans for {n_rows:,} rows. Pass one per row."
        )
    return mask


def _restricted_file(opened: FileTable, condition: str, mask: BoolArray | None) -> FileTable:
    if mask is None:
        return replace(opened, frame=opened._rows(condition))
    import polars as pl

    chosen = _checked(mask, opened.count_rows())
    return replace(opened, frame=opened.frame.filter(pl.Series(chosen)))


def _holds(frame: nw.DataFrame[Any], condition: str) -> BoolArray:
    """Return the rows of a frame for which a condition holds."""
    import polars.selectors as cs

    from reldep.data.files.queries import check_types, parse_condition, polars_errors, reason

    try:
        table = as_polars(frame).with_columns(cs.string().str.normalize("NFC"))
        expression = parse_condition(condition, table.schema, _THE_DATA)
        check_types(expression, condition, table.schema)
        chosen = table.select(expression).to_series().fill_null(False)
    except polars_errors() as error:
        raise InputError(
            f"cannot apply the condition {condition!r} to {_THE_DATA}: {reason(error)}"
        ) from error
    return np.asarray(chosen.to_numpy(), dtype=bool)


def _with_names(table: Table, words: str) -> Table:
    """Return a table whose rows are named by a column."""
    found = table.select(words)
    if len(found) > 1:
        raise InputError(f"`id` names {len(found)} columns; give one.")
    return table.named_by(found[0])


def _with_order(table: Table, order: Mapping[str, str | Sequence[str]] | Words) -> Table:
    """Return a table whose labels have an order."""
    if not isinstance(order, Mapping):
        pairs = [text.rpartition("=") for text in ([order] if isinstance(order, str) else order)]
        order = {name.strip(): labels for name, _, labels in pairs}
    orders: dict[str, tuple[str, ...]] = {}
    for name, labels in order.items():
        known_column(name, table.columns, printable(table.name))
        split = labels.split("<") if isinstance(labels, str) else labels
        orders[name] = tuple(composed(str(label).strip()) for label in split)
        if len(set(orders[name])) < max(2, len(orders[name])):
            raise InputError(
                f"`order` of column {name!r} is {labels!r}. Name every label once, from the lowest "
                "to the highest: 's<m<l'."
            )
        import narwhals as nw

        values = nw.from_native(table.load([name]), eager_only=True)[name]
        present = [str(composed(value)) for value in values.drop_nulls().unique().to_list()]
        check_order(name, orders[name], present)
    return replace(table, orders=orders)


def _without_summary(table: Table) -> Table:
    """Return a table without a last row that sums up the others."""
    if table.opened is None or not any(
        "row of totals" in t or "rows above it" in t for t in table.opened.said
    ):
        return table
    import polars as pl

    n_rows = table.opened.count_rows()
    said = tuple(
        t for t in table.opened.said if "row of totals" not in t and "rows above it" not in t
    )
    opened = replace(
        table.opened,
        frame=table.opened.frame.filter(pl.Series(np.arange(n_rows) < n_rows - 1)),
        said=(*said, "the last row, which sums up the others, was left out"),
    )
    return replace(_of_file(opened), orders=table.orders)


def _call(given: Mapping[str, Any]) -> str:
    """Return the call that repeats a table; empty for data in memory."""
    import inspect

    defaults = inspect.signature(read).parameters
    data = given["data"]
    places = data if isinstance(data, (list, tuple)) else [data]
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        return ""
    written = [os.fspath(place) for place in places]
    words = [repr(written if isinstance(data, (list, tuple)) else written[0])]
    for name, parameter in defaults.items():
        if name == "data":
            continue
        value = given[name]
        is_plain = isinstance(value, (str, int, float, list, tuple, dict, type(None)))
        if not is_plain:
            words.append(f"{name}={name}")
        elif value != parameter.default:
            words.append(f"{name}={value!r}")
    return f"reldep.read({', '.join(words)})"
