"""Data frames of any library: their names, their index, and what dates their rows."""

from __future__ import annotations

import itertools
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.variables import FloatArray, IntArray, Rows
from reldep.data.written_numbers import is_missing
from reldep.exceptions import InputError, InputTypeError
from reldep.words import cell, composed, listing, repeated

if TYPE_CHECKING:
    import polars as pl


# Columns of numbers that are times, and columns of dates that do not order the rows.
_YEAR = re.compile(r"(calendar[ _.-]?)?(year|yr|date)", re.IGNORECASE)
_BIRTH = re.compile(r"birth|born|dob", re.IGNORECASE)
_DATE = re.compile(r"date|day|month|time", re.IGNORECASE)
_ISO_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?(\D|$)")
# Rows per date, on average, in a series: monthly rows with the year alone.
_ROWS_PER_DATE = 12
# Rows that are put in the order of time to see whether adjacent ones are correlated.
_MOST_RANKED = 20_000


_LIBRARIES = {"pandas", "polars", "pyarrow", "modin", "cudf"}


def make_frame(columns: Mapping[str, Sequence[Any] | FloatArray], library: str | None) -> Any:
    """Return a data frame: pandas for pandas input, arrow for arrow; polars otherwise."""
    import narwhals as nw

    backend: Any = library or "polars"
    return nw.from_dict(dict(columns), backend=backend).to_native()


def as_polars(frame: Any) -> pl.DataFrame:
    """Return a frame of any library as one of polars; NaN is null."""
    import narwhals as nw
    import polars as pl

    if frame_library(frame) == "pandas":
        lists = {
            name: [None if is_missing(one) else one for one in frame[name].to_list()]
            for name in frame.columns
        }
        return pl.DataFrame(lists, strict=False)
    made: pl.DataFrame = nw.from_native(frame, eager_only=True).to_polars()
    return made.with_columns(pl.selectors.float().fill_nan(None))


def frame_library(data: Any) -> str | None:
    """Return the name of the data frame library that `data` comes from, if any."""
    library = type(data).__module__.partition(".")[0]
    return library if library in _LIBRARIES else None


def unwrapped(data: Any) -> Any:
    """Return the frame or series that narwhals is wrapped around."""
    wrapped = type(data).__module__.partition(".")[0] == "narwhals"
    return data.to_native() if wrapped and hasattr(data, "to_native") else data


def native_name(data: Any) -> str | None:
    """Return the name of a series or of a frame with one column.

    Examples
    --------
    >>> import polars
    >>> native_name(polars.DataFrame({"bmi": [21.5]}))
    'bmi'
    """
    if isinstance(data, np.ndarray):
        return None
    if not is_frame(data):
        label = getattr(data, "name", None)
        plain = isinstance(label, (str, int, tuple)) and label not in ("", ())
        return column_name(label) if plain and not isinstance(label, bool) else None
    names = column_names(data)
    return names[0] or None if len(names) == 1 else None


def is_frame(data: Any) -> bool:
    """Return True for a data frame, False for a series, an array and anything else."""
    if frame_library(data) is None or type(data).__name__ == "LazyFrame":
        return False
    return hasattr(data, "columns") and getattr(data, "ndim", 2) == 2


def column_name(label: Any) -> str:
    """Return the label of a column as a name: several levels are joined.

    Examples
    --------
    >>> column_name(("blood", "HDL")), column_name(7)
    ('blood_HDL', '7')
    """
    if isinstance(label, tuple):
        label = "_".join(str(level) for level in label if str(level))
    return str(composed(str(label)))


def column_names(data: Any) -> list[str]:
    """Return the names of a frame's columns, as strings."""
    labels = data.column_names if hasattr(data, "column_names") else data.columns
    return [column_name(label) for label in labels]


def one_per_row(data: Any, name: str) -> list[Any]:
    """Return the values of a sequence, a series, or a frame or array of one column."""
    check_has_rows(data, name)
    data = unwrapped(data)
    check_not_lazy(data, name)
    shape: tuple[Any, ...] = getattr(data, "shape", ())
    if len(shape) > 1 and shape[1] != 1:
        raise InputError(
            f"{name} has {shape[1]} columns; pass one, or join them into one column of labels."
        )
    if is_frame(data):
        import narwhals as nw

        frame = nw.from_native(with_plain_names(data, name), eager_only=True)
        return list(frame[frame.columns[0]].to_list())
    if isinstance(data, np.ndarray):
        # Not np.asarray: a mask must stay.
        plain = (np.array(data) if isinstance(data, np.matrix) else data).reshape(-1)
        # Nanoseconds would become plain integers.
        return list(plain) if plain.dtype.kind in "mM" else list(plain.tolist())
    for method in ("to_list", "to_pylist"):
        if hasattr(data, method):
            return list(getattr(data, method)())
    if not hasattr(data, "__iter__"):
        raise no_rows(data, name)
    return list(data)


def check_has_rows(data: Any, name: str) -> None:
    """Raise InputTypeError for what is plainly not one observation per row."""
    if isinstance(data, str):
        raise InputTypeError(
            f"{name} is the string {cell(data)}; to name a column, pass its file as `data`."
        )
    if data is None or isinstance(data, (bytes, numbers.Number, dict, set)):
        raise no_rows(data, name)


def no_rows(data: Any, name: str) -> InputTypeError:
    """Return the error for what has no rows."""
    return InputTypeError(
        f"{name} is of type {type(data).__name__}; pass one observation per row, as in a list."
    )


def check_not_lazy(data: Any, name: str) -> None:
    """Raise InputTypeError for a frame whose rows are not there yet."""
    if type(data).__name__ == "LazyFrame":
        raise InputTypeError(f"{name} is a lazy frame; pass {name}.collect().")


def with_plain_names(data: Any, name: str) -> Any:
    """Return a frame whose names are strings; raise InputError if a name comes twice."""
    names = column_names(data)
    check_unique(names, name)
    if frame_library(data) == "pandas" and list(data.columns) != names:
        data = data.copy(deep=False)
        data.columns = names
    return data


def check_unique(names: Iterable[str], what: str, more: str = "") -> None:
    """Raise InputError if two columns have one name, with a further way out."""
    twice = repeated(names)
    if twice:
        raise InputError(
            f"{what} has more than one column named {listing(twice)}. Rename them{more}."
        )


def own_index(data: Any) -> Any | None:
    """Return the index of a pandas object, or of lifetimes made of such, else None."""
    if isinstance(data, np.ndarray):
        return None
    if frame_library(data) == "pandas":
        return data.index if hasattr(data, "iloc") else None
    return getattr(data, "row_index", None)


def counts_only(index: Any) -> bool:
    """Return True if an index only counts the rows, as it does if none was given."""
    counted = type(index).__name__ == "RangeIndex"
    return counted and (index.start, index.step) == (0, 1)


def index_rows(data: Any) -> Rows | None:
    """Return rows named by the index of a pandas object, unless it only counts them."""
    index = own_index(data)
    if index is None or counts_only(index):
        return None
    named = isinstance(index.name, str) and index.name
    labels = index.tolist() if index.nlevels > 1 else index.to_numpy()
    noun = index.name if named else "row"
    return replace(Rows.labelled(labels, noun), time=_time_of_index(index))


@dataclass(frozen=True)
class TimeOrder:
    """The column that dates the rows.

    Attributes
    ----------
    column : str
    is_sorted : bool
        Whether the rows are in the order of time, or in the reverse order.
    is_series : bool
        Whether they make one series: hardly more than one row per date.
    ranks : ndarray of int or None
        The place of every row in time, of a series that is not sorted.
    """

    column: str
    is_sorted: bool
    is_series: bool
    ranks: IntArray | None = None

    @classmethod
    def of(cls, column: str, values: Iterable[Any]) -> TimeOrder | None:
        """Return the order of dates or years; None if fewer than three are known."""
        listed = list(values)
        known = [value for value in listed if value is not None and value == value]
        n_dates = len(set(known))
        if n_dates < 3 or not all(map(_is_moment, known)):
            return None
        steps = list(itertools.pairwise(known))
        if all(a <= b for a, b in steps) or all(a >= b for a, b in steps):
            return cls(column, True, len(known) <= _ROWS_PER_DATE * n_dates)
        if n_dates < len(listed) or n_dates > _MOST_RANKED:
            return cls(column, False, False)
        ranks = np.empty(n_dates, dtype=np.int64)
        ranks[sorted(range(n_dates), key=known.__getitem__)] = np.arange(n_dates)
        return cls(column, False, True, ranks)

    def take(self, chosen: IntArray) -> TimeOrder:
        """Return the order of some of the rows."""
        return self if self.ranks is None else replace(self, ranks=self.ranks[chosen])


def _is_moment(value: Any) -> bool:
    """Return True for dates and numbers, and for strings that begin with a date as in ISO 8601."""
    return not isinstance(value, str) or _ISO_DATE.match(value) is not None


def dates_rows(name: str, *, is_date: bool, is_number: bool, is_text: bool = False) -> bool:
    """Return True if a column may date the rows, by its type and its name.

    Examples
    --------
    >>> dates_rows("Year", is_date=False, is_number=True)
    True
    >>> dates_rows("date_of_birth", is_date=True, is_number=False)
    False
    """
    if _BIRTH.search(name):
        return False
    by_name = (is_number and _YEAR.fullmatch(name)) or (is_text and _DATE.search(name))
    return is_date or bool(by_name)


def first_in_order(orders: Iterable[TimeOrder | None]) -> TimeOrder | None:
    """Return a column by which the rows are in order, else one by which they are not."""
    known = [one for one in orders if one is not None]
    return min(known, key=lambda one: (not one.is_series, not one.is_sorted), default=None)


def _time_of_index(index: Any) -> TimeOrder | None:
    """Return the order of an index of dates, or of whole numbers named as years."""
    kind = index.inferred_type if index.nlevels == 1 else ""
    name = index.name if isinstance(index.name, str) else ""
    is_date = kind in ("datetime64", "datetime", "date", "period")
    if not dates_rows(name, is_date=is_date, is_number=kind in ("integer", "floating")):
        return None
    return TimeOrder.of(name or "the index", index)


def time_of_blocks(blocks: Mapping[str, Any]) -> TimeOrder | None:
    """Return the order of the rows by variables that are dates."""
    return first_in_order(
        TimeOrder.of(name, np.asarray(block).tolist())
        for name, block in blocks.items()
        if str(getattr(block, "dtype", "")).lower().startswith(("date", "datetime"))
        if dates_rows(name, is_date=True, is_number=False)
    )
