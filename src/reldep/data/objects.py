"""Reading: any array, list, series or frame becomes a :class:`~reldep.data.variables.Variable`.

Data passed in is never modified; arrays of float64 are used as they are, read-only.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reldep.data.variables import (
    MISSING_CODE,
    FloatArray,
    Items,
    Labels,
    Mixed,
    Numeric,
    Sparse,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import narwhals as nw

WAY_OUT_OBJECTS = (
    "Convert it to numbers or strings, or pass a kernel made for such objects "
    "(see reldep.kernels) or a function f(A, B) that returns a block of kernel values."
)


def read_variable(data: Any, name: str) -> Variable:
    """Turn whatever a person has into a named variable.

    Parameters
    ----------
    data : array_like, sparse matrix, series, frame or sequence of objects
        One observation per row (or entry).
    name : str
        The name of the argument or variable, for messages and results.

    Returns
    -------
    Variable
        Numbers become `Numeric` (or `Sparse`), booleans, strings and categoricals `Labels`,
        frames with both `Mixed`, everything else `Items`.
    """
    variable = _dispatch(data, name)
    if len(variable) == 0:
        raise ValueError(f"{name} has no observations; pass at least 4.")
    return variable


def native_name(data: Any) -> str | None:
    """Give the name a series carries, if it has one."""
    label = getattr(data, "name", None)
    return str(label) if isinstance(label, str) and label else None


def frame_library(data: Any) -> str | None:
    """Name the data frame library that `data` comes from, if any."""
    library = type(data).__module__.partition(".")[0]
    return library if library in {"pandas", "polars", "pyarrow", "modin", "cudf"} else None


def _dispatch(data: Any, name: str) -> Variable:
    if data is None or isinstance(data, (str, bytes, numbers.Number, dict, set)):
        raise TypeError(
            f"{name} is of type {type(data).__name__}; pass one observation per row as an "
            "array, list, series or data frame."
        )
    if type(data).__module__.startswith("scipy.sparse"):
        return _from_sparse(data, name)
    if isinstance(data, np.ndarray):
        return _from_array(data, name)
    if frame_library(data) is not None:
        return _from_frame_library(data, name)
    if hasattr(data, "__array__"):
        return _from_array(np.asarray(data), name)
    if hasattr(data, "__narwhals_dataframe__") or hasattr(data, "__narwhals_series__"):
        return _from_frame_library(data, name)
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return _from_sequence(list(data), name)
    raise TypeError(
        f"{name} is of type {type(data).__name__}, which has no rows; pass an array, list, "
        "series or data frame."
    )


def _from_sparse(data: Any, name: str) -> Sparse:
    from scipy.sparse import csr_array

    if data.ndim != 2 or data.shape[1] == 0:
        raise ValueError(
            f"{name} is a sparse matrix of shape {data.shape}; pass rows × columns with at "
            "least one column."
        )
    if data.dtype.kind not in "biuf":
        raise TypeError(f"{name} is a sparse matrix of dtype {data.dtype}; pass real numbers.")
    return Sparse(name, csr_array(data, dtype=np.float64))


def _from_array(array: npt.NDArray[Any], name: str) -> Variable:
    if array.ndim == 0:
        raise TypeError(f"{name} is a single value; pass one observation per row.")
    if len(array) == 0:
        raise ValueError(f"{name} has no observations; pass at least 4.")
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(f"{name} has no columns (shape {array.shape}); pass at least one.")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    kind = array.dtype.kind
    if array.ndim > 2:
        return Items(name, array)
    if kind in "iuf":
        table = array.reshape(len(array), -1)
        return Numeric(name, _frozen(np.asarray(table, dtype=np.float64)))
    if kind == "O" and array.ndim == 1:
        return _from_sequence(array.tolist(), name)
    if kind in "bUSTO":
        columns = array.reshape(len(array), -1).T
        return _combine(
            name, [_from_sequence(c.tolist(), f"{name}[:, {i}]") for i, c in enumerate(columns)]
        )
    raise TypeError(
        f"{name} has dtype {array.dtype}, which is neither numbers nor labels. {WAY_OUT_OBJECTS}"
    )


def _from_sequence(values: list[Any], name: str) -> Variable:
    """Read a plain list: by the kinds of its elements, not by what NumPy would coerce."""
    present = [value for value in values if not _is_missing(value)]
    if not present:
        if values:
            raise ValueError(f"{name} has only missing values; leave it out or fill it in.")
        raise ValueError(f"{name} has no observations; pass at least 4.")
    if all(isinstance(value, (bool, np.bool_)) for value in present) or all(
        isinstance(value, (str, bytes)) for value in present
    ):
        return labels_of(values, name)
    if all(isinstance(value, numbers.Real) for value in present):
        column = [np.nan if _is_missing(value) else float(value) for value in values]
        return Numeric(name, _frozen(np.array(column, dtype=np.float64)[:, None]))
    if all(isinstance(value, (list, tuple, np.ndarray)) for value in present):
        return _from_rows(values, name)
    return Items(name, values)


def _from_rows(rows: list[Any], name: str) -> Variable:
    """Read a list of rows: a table if they are numbers or labels of equal length.

    Other rows (series or sets of different sizes, pictures, graphs as tuples) stay as they
    are, for a kernel made for them.
    """
    present = [row for row in rows if not _is_missing(row)]
    if not all(_is_flat(row) for row in present) or len({len(row) for row in present}) > 1:
        return Items(name, rows)
    gap = [None] * len(present[0])
    return _from_array(np.array([gap if _is_missing(r) else r for r in rows], object), name)


def _is_flat(row: Any) -> bool:
    """Tell whether a row holds numbers or labels only."""
    if isinstance(row, np.ndarray) and (row.ndim != 1 or row.dtype.kind in "biuf"):
        return row.ndim == 1
    return all(isinstance(cell, (numbers.Real, str)) or _is_missing(cell) for cell in row)


def _from_frame_library(data: Any, name: str) -> Variable:
    import narwhals as nw

    if frame_library(data) == "pyarrow" and type(data).__name__.endswith("Array"):
        data = _chunked(data)
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame; pass {name}.collect().")
    if isinstance(native, nw.Series):
        return replace(_from_series(native, str(native.name or name)), name=name)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] == 0:
            raise ValueError(f"{name} has no columns; pass at least one.")
        dtypes = set(native.schema.values())
        if all(dtype.is_numeric() for dtype in dtypes):
            # As a whole: column by column, thousands of genes take seconds.
            doubles = native if dtypes == {nw.Float64} else native.select(nw.all().cast(nw.Float64))
            table = doubles.to_numpy()
            columns = tuple(str(column) for column in native.columns)
            return Numeric(name, _frozen(np.asarray(table, dtype=np.float64)), columns)
        return _combine(name, [_from_series(native[c], str(c)) for c in native.columns])
    return _from_array(np.asarray(data), name)


def _chunked(data: Any) -> Any:
    """Wrap an arrow array as the chunked array that narwhals understands."""
    import pyarrow as pa

    return data if isinstance(data, pa.ChunkedArray) else pa.chunked_array([data])


def _from_series(series: nw.Series[Any], name: str) -> Variable:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        column = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return Numeric(name, _frozen(column[:, None]), (name,))
    if dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
        return labels_of(series.to_list(), name)
    if dtype in (nw.Object, nw.List, nw.Array):
        return _from_sequence(series.to_list(), name)
    raise TypeError(
        f"column {name!r} has type {dtype}, which is neither numbers nor labels. "
        "Convert it first, for instance a date to days since the first one."
    )


def labels_of(values: Iterable[Any], name: str) -> Labels:
    """Give numbers to the distinct values in order of first appearance."""
    numbering: dict[Any, int] = {}
    codes = np.fromiter(
        (
            MISSING_CODE if _is_missing(value) else numbering.setdefault(value, len(numbering))
            for value in values
        ),
        dtype=np.int64,
    )
    return Labels(name, codes, tuple(numbering))


def _combine(name: str, columns: Sequence[Variable]) -> Variable:
    """Put columns side by side: the numbers as one part, each label column as its own."""
    if len(columns) == 1 and not isinstance(columns[0], Numeric):
        return replace(columns[0], name=name)
    odd = [column for column in columns if not isinstance(column, (Numeric, Labels))]
    if odd:
        raise TypeError(
            f"column {odd[0].name!r} of {name} is neither numbers nor labels. {WAY_OUT_OBJECTS}"
        )
    numeric = [column for column in columns if isinstance(column, Numeric)]
    labels = [column for column in columns if isinstance(column, Labels)]
    parts: list[Numeric | Labels] = [*labels]
    if numeric:
        block = np.column_stack([column.values for column in numeric])
        columns_named = tuple(column.name for column in numeric)
        parts.insert(0, Numeric(name, _frozen(block), columns_named))
    return parts[0] if len(parts) == 1 else Mixed(name, tuple(parts))


def _is_missing(value: Any) -> bool:
    """Recognise None, NaN and the missing-value marks of the frame libraries."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return type(value).__name__ in {"NAType", "NaTType"}


def _frozen(array: FloatArray) -> FloatArray:
    """Give a read-only view, so that no later step can write into the caller's data."""
    view = array.view()
    view.flags.writeable = False
    return view
