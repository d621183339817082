"""NPZ archives of NumPy arrays as tables; pickled objects are never loaded."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

from reldep.data.dialect import refuse_duplicates
from reldep.data.failures import not_as_named
from reldep.data.lazy import tidy_numbers, typed_columns
from reldep.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

# boolean, integers, floats, text, bytes, dates
_COLUMN_KINDS = "biufUSM"
_DAMAGES = (ValueError, OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def open_arrays(path: Path) -> Table:
    """Open an NPZ archive: its rows are the first axis of every array.

    A 1-D array `x` becomes the column ``x``; a 2-D array `x` becomes ``x_0``,
    ``x_1`` and so on. The archive is read as a whole.
    """
    import polars as pl

    arrays = _load(path)
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise ValueError(
            f"the arrays of {path} must have equally many rows; they have {found or 'none'}"
        )
    columns = [
        (label, values)
        for name, array in arrays.items()
        for label, values in _columns_of(name, array)
    ]
    refuse_duplicates([label for label, _ in columns], str(path))
    frame = pl.DataFrame([pl.Series(label, values) for label, values in columns])
    return Table(
        name=str(path),
        frame=tidy_numbers(frame.lazy()),
        columns=typed_columns(frame.schema),
    )


def _load(path: Path) -> dict[str, NDArray[np.generic]]:
    """Load the arrays of an archive; raise if one is no column or block of columns."""
    import numpy as np

    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        # NumPy would take what is no archive for pickled objects, and say so.
        zipfile.ZipFile(path).close()
        archive = np.load(path, allow_pickle=False)
    except _DAMAGES as error:
        raise not_as_named(path, "an NPZ archive (numpy.savez)", b"PK", error) from error
    with archive:
        for name in archive.files:
            try:
                array = archive[name]
            except _DAMAGES as error:
                raise ValueError(_unreadable(path, name, error)) from error
            arrays[name] = _as_column_values(array, f"{name!r} of {path}")
    return arrays


def _unreadable(path: Path, name: str, error: BaseException) -> str:
    if "allow_pickle" in str(error):
        return (
            f"array {name!r} of {path} holds pickled Python objects, which are never loaded: "
            "they may run any program. Save numbers or text instead, as with "
            f"{name}.astype(float) or {name}.astype(str)"
        )
    return f"array {name!r} of {path} is damaged: {error}"


def _as_column_values(array: object, what: str) -> NDArray[np.generic]:
    """Return an array in a type that polars takes; raise if it cannot be columns."""
    import numpy as np

    if not isinstance(array, np.ndarray) or array.dtype.kind not in _COLUMN_KINDS:
        found = array.dtype if isinstance(array, np.ndarray) else "no array"
        raise ValueError(f"{what} is {found}; expected numbers, booleans, text or dates")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"array {what} has {array.ndim} dimensions, its shape is {array.shape}; expected one "
            "column (1-D) or a block of columns (2-D), as array.reshape(len(array), -1) gives"
        )
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"array {what} holds bytes that are not UTF-8 text") from None
    if kind == "f" and size not in (4, 8):
        return array.astype(np.float64)
    if kind == "M" and array.dtype != np.dtype("M8[D]"):
        return array.astype("M8[us]")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns_of(name: str, array: NDArray[np.generic]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Yield the columns of an array, each with its name."""
    if array.ndim == 1:
        yield name, array
        return
    for position in range(array.shape[1]):
        yield f"{name}_{position}", array[:, position]
