"""Reading: any array, list, series or frame becomes a :class:`~reldep.data.variables.Variable`.

Data passed in is never modified; arrays of float64 are used as they are, read-only.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reldep.data.frames import (
    check_has_rows,
    check_not_lazy,
    column_names,
    frame_library,
    is_frame,
    native_name,
    no_rows,
    one_per_row,
    unwrapped,
    with_plain_names,
)
from reldep.data.lifetimes import Lifetime, Survival
from reldep.data.variables import FloatArray, Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.data.written_numbers import (
    are_moments,
    float_of,
    is_missing,
    is_number,
    labels_of,
    only_missing,
    read_moments,
    read_words,
)
from reldep.exceptions import InputError, InputTypeError, translated
from reldep.words import composed

if TYPE_CHECKING:
    import narwhals as nw


WAY_OUT_OBJECTS = (
    "Convert it to numbers or strings, or pass a kernel made for such objects "
    "(see reldep.kernels) or a function f(A, B) that returns a block of kernel values."
)


def read_variable(data: Any, name: str) -> Variable:
    """Return data of any kind as a named variable.

    Parameters
    ----------
    data : array_like, sparse matrix, series, frame or sequence of objects
        One observation per row (or entry).
    name : str
        The name of the argument or variable, for messages and results.

    Returns
    -------
    Variable
        Numbers become `Numeric` (or `Sparse`), booleans and categoricals `Labels`, frames with
        both `Mixed`, everything else `Items`. Strings become numbers where all of them are, with
        a caution, and `Labels` otherwise; dates become the days since the first one.
    """
    if isinstance(data, np.ndarray):
        return _from_array(data, name)
    if isinstance(data, Variable):
        return replace(data, name=name)
    return _from_object(data, name)


def read_labels(data: Any, name: str) -> Labels:
    """Read one label per row, such as a group or a cluster; ordered categories keep their order."""
    labels = labels_of(one_per_row(data, name), name)
    written: dict[str, Any] = {}
    for label in labels.categories:
        twin = written.setdefault(str(label), label)
        if twin is not label:
            raise InputError(
                f"{name} has the labels {twin!r} and {label!r}, which look the same; unify them."
            )
    ordered = getattr(getattr(data, "dtype", None), "ordered", False)
    if ordered and frame_library(data) == "pandas":
        return replace(labels, order=tuple(map(composed, data.dtype.categories)))
    return labels


def columns_of(frame: Any) -> list[Variable]:
    """Return every column of a frame as a variable; numbers all at once."""
    import narwhals as nw

    wrapped = nw.from_native(frame, eager_only=True)
    if not all(dtype.is_numeric() for dtype in wrapped.schema.values()):
        return [read_variable(wrapped[name].to_native(), name) for name in wrapped.columns]
    doubles = wrapped.select(nw.all().cast(nw.Float64)).to_numpy()
    by_column = np.ascontiguousarray(np.asarray(doubles, dtype=np.float64).T)
    by_column.flags.writeable = False
    pairs = zip(wrapped.columns, by_column, strict=True)
    return [Numeric(name, column[:, None], (name,)) for name, column in pairs]


def _from_object(data: Any, name: str) -> Variable:
    """Return anything but an array as a variable."""
    check_has_rows(data, name)
    _check_shape(data, name)
    if type(data).__module__.startswith("scipy.sparse"):
        return _from_sparse(data, name)
    if isinstance(data, Survival):
        return Items(name, data[:])
    data = unwrapped(data)
    if frame_library(data) is not None:
        return _from_frame_library(data, name)
    if hasattr(data, "__array__"):
        return _from_array(_as_array(data, name), name)
    if hasattr(data, "__narwhals_dataframe__") or hasattr(data, "__narwhals_series__"):
        return _from_frame_library(data, name)
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        with translated(f"{name} of type {type(data).__name__} cannot be read"):
            rows = list(data)
        return _from_sequence(rows, name)
    raise no_rows(data, name)


def _check_shape(data: Any, name: str) -> None:
    """Raise InputError for data without columns or without rows."""
    shape = getattr(data, "shape", None)
    if not isinstance(shape, tuple):
        shape = (len(data),) if hasattr(data, "__len__") else ()
    if len(shape) == 2 and shape[1] == 0:
        raise InputError(f"{name} has no columns (shape {tuple(shape)}); pass at least one.")
    if shape and shape[0] == 0:
        raise InputError(f"{name} has no observations; pass at least 4.")


def _as_array(data: Any, name: str) -> npt.NDArray[Any]:
    """Return what an object's own conversion makes of it, such as that of a tensor."""
    with translated(f"{name} of type {type(data).__name__} cannot be converted to an array"):
        return np.asarray(data)


def _from_sparse(data: Any, name: str) -> Sparse:
    from scipy.sparse import csr_array

    if data.ndim != 2:
        raise InputError(f"{name} is a sparse array of shape {data.shape}; pass rows × columns.")
    if data.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} is a sparse matrix of dtype {data.dtype}; pass real numbers.")
    with translated(f"{name} is not a valid sparse matrix"):
        check_sparse(data)
        return Sparse(name, csr_array(data, dtype=np.float64))


def check_sparse(data: Any) -> None:
    """Raise ValueError if a sparse matrix has values outside of its shape.

    SciPy believes the places of values and writes there, into whatever memory it is.
    """
    if hasattr(data, "check_format"):
        data.check_format(full_check=True)
    for places, size in zip(getattr(data, "coords", ()), data.shape, strict=False):
        if len(places) and not 0 <= places.min() <= places.max() < size:
            raise ValueError(f"it has values outside of its shape {data.shape}")


def _from_array(array: npt.NDArray[Any], name: str) -> Variable:
    if array.ndim == 0:
        raise InputTypeError(f"{name} is a single value; pass one observation per row.")
    if not array.size:
        _check_shape(array, name)
    kind = array.dtype.kind
    if isinstance(array, np.ma.MaskedArray) and kind in "biuf":
        array, kind = np.ma.filled(array.astype(np.float64), np.nan), "f"
    if array.ndim > 2:
        return Items(name, array)
    if kind in "iuf":
        return Numeric(name, _as_doubles(array.reshape(len(array), -1), name))
    if kind in "Mm":
        return read_moments(array, name)
    if kind in "bUSTO" and array.ndim == 1:
        return _from_sequence(array.tolist(), name)
    if kind in "bUSTO":
        columns = array.reshape(len(array), -1).T
        return _combine(
            name, [_from_sequence(c.tolist(), f"{name}[:, {i}]") for i, c in enumerate(columns)]
        )
    raise InputTypeError(
        f"{name} has dtype {array.dtype}, which is neither numbers nor labels. {WAY_OUT_OBJECTS}"
    )


def _as_doubles(table: npt.NDArray[Any], name: str) -> FloatArray:
    """Return float64, read-only; raise InputError for numbers finite only in a wider type."""
    with np.errstate(over="ignore"):
        doubles = np.asarray(table, dtype=np.float64)
    if table.dtype.itemsize > 8 and not np.array_equal(np.isfinite(doubles), np.isfinite(table)):
        raise InputError(f"{name} has numbers beyond 1e308; divide them by a constant.")
    return _frozen(doubles)


def _from_sequence(values: list[Any], name: str) -> Variable:
    """Read a plain list: by the kinds of its elements, not by what NumPy would coerce."""
    present = [value for value in values if not is_missing(value)]
    if not present:
        raise only_missing(name)
    if all(isinstance(value, (bool, np.bool_)) for value in present):
        return labels_of(values, name)
    if all(map(is_number, present)):
        column = np.array([float_of(value, name) for value in values], dtype=np.float64)
        return Numeric(name, _frozen(column[:, None]))
    if all(isinstance(value, (str, bytes)) for value in present):
        return read_words(values, name)
    if all(isinstance(value, str) or is_number(value) for value in present):
        understood = read_words(values, name)
        plain = isinstance(understood, Labels) and understood.doubt is None
        return Items(name, values) if plain else understood
    if are_moments(present):
        return read_moments(values, name)
    if all(isinstance(value, (list, tuple, np.ndarray)) for value in present):
        return _from_rows(values, name)
    if all(isinstance(value, Lifetime) for value in present):
        return Items(name, [None if is_missing(value) else value for value in values])
    return Items(name, values)


def _from_rows(rows: list[Any], name: str) -> Variable:
    """Read a list of rows: a table if they are numbers or labels of equal length.

    Other rows (series or sets of different sizes, pictures, graphs as tuples) stay as they
    are, for a kernel made for them.
    """
    present = [row for row in rows if not is_missing(row)]
    if not all(_is_flat(row) for row in present) or len({len(row) for row in present}) > 1:
        return Items(name, rows)
    gap = [None] * len(present[0])
    table = np.empty((len(rows), len(present[0])), dtype=object)
    for i, row in enumerate(rows):
        table[i] = gap if is_missing(row) else list(row)
    return _from_array(table, name)


def _is_flat(row: Any) -> bool:
    """Return True if a row contains numbers or labels only."""
    if isinstance(row, np.ndarray) and (row.ndim != 1 or row.dtype.kind in "biuf"):
        return row.ndim == 1
    return all(isinstance(cell, (numbers.Real, str)) or is_missing(cell) for cell in row)


def _from_frame_library(data: Any, name: str) -> Variable:
    import narwhals as nw

    if type(data).__module__.startswith("pyarrow") and hasattr(data, "buffers"):
        import pyarrow as pa

        data = pa.chunked_array([data])  # which narwhals understands
    if is_frame(data) and frame_library(data) == "pandas":
        data = with_plain_names(data, name)
    check_not_lazy(data, name)
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return replace(_from_series(native, native_name(data) or name), name=name)
    if not isinstance(native, nw.DataFrame):
        return _from_array(_as_array(data, name), name)
    dtypes = set(native.schema.values())
    if all(dtype.is_numeric() for dtype in dtypes):
        # As a whole: column by column, thousands of genes take seconds.
        doubles = native if dtypes == {nw.Float64} else native.select(nw.all().cast(nw.Float64))
        return Numeric(name, _frozen(_to_doubles(doubles)), tuple(column_names(data)))
    return _combine(name, [_from_series(native[c], str(c)) for c in native.columns])


def _to_doubles(data: nw.DataFrame[Any] | nw.Series[Any]) -> FloatArray:
    return np.asarray(data.to_numpy(), dtype=np.float64)


def _from_series(series: nw.Series[Any], name: str) -> Variable:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return Numeric(name, _frozen(_to_doubles(series.cast(nw.Float64))[:, None]), (name,))
    if isinstance(dtype, nw.Enum) and series.implementation.is_pandas_like():
        # An ordered categorical; an Enum of polars only lists what may occur.
        return replace(
            labels_of(series.to_list(), name), order=tuple(map(composed, dtype.categories))
        )
    if dtype in (nw.Boolean, nw.Categorical, nw.Enum):
        return labels_of(series.to_list(), name)
    if dtype.is_temporal() or dtype in (nw.String, nw.Object, nw.List, nw.Array, nw.Unknown):
        found = _from_sequence(series.to_list(), name)
        if isinstance(found, Numeric):
            return replace(found, columns=(name,) * found.values.shape[1])
        return found
    if isinstance(dtype, nw.Struct) and {one.name for one in dtype.fields} == {"time", "event"}:
        cells = series.to_list()
        return Items(name, [None if one is None else Lifetime(**one) for one in cells])
    raise InputTypeError(
        f"column {name!r} has type {dtype}, which is neither numbers nor labels. Convert it first."
    )


def _combine(name: str, columns: Sequence[Variable]) -> Variable:
    """Return columns as one variable: the numbers as one part, each label column as its own."""
    if len(columns) == 1 and not isinstance(columns[0], Numeric):
        return replace(columns[0], name=name)
    flat = [
        part
        for column in columns
        for part in (column.parts if isinstance(column, Mixed) else (column,))
    ]
    odd = [column for column in flat if not isinstance(column, (Numeric, Labels))]
    if odd:
        is_alive = isinstance(odd[0], Items) and isinstance(odd[0].items[0], Lifetime | None)
        why = f"is neither numbers nor labels. {WAY_OUT_OBJECTS}"
        why = "contains lifetimes. Make it a variable of its own." if is_alive else why
        raise InputTypeError(f"column {odd[0].name!r} of {name} {why}")
    notes = tuple(note for column in columns for note in column.notes)
    numeric = [column for column in flat if isinstance(column, Numeric)]
    labels = [column for column in flat if isinstance(column, Labels)]
    parts: list[Numeric | Labels] = [*labels]
    if numeric:
        block = np.column_stack([column.values for column in numeric])
        named = tuple(own for column in numeric for own in [column.name] * column.values.shape[1])
        parts.insert(0, Numeric(name, _frozen(block), named))
    if len(parts) == 1:
        return replace(parts[0], notes=notes)
    return Mixed(name, tuple(parts), notes=notes)


def _frozen(array: FloatArray) -> FloatArray:
    """Return a read-only view, so that no later step can write into the caller's data."""
    view = array.view()
    view.flags.writeable = False
    return view
