"""Writes R data files (format RDX2, XDR) without R, to test the reader on known contents.

Only what the glioma object is made of: named lists, data frames, matrices, factors and
plain vectors. The layout follows the chapter "Serialization Formats" of the manual R Internals.
"""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SYMBOL, PAIRLIST, CHARS, INTEGER, REAL, STRINGS, LIST = 1, 2, 9, 13, 14, 16, 19
REFERENCE, NIL = 255, 254
IS_OBJECT, HAS_ATTRIBUTES, HAS_TAG, IS_ASCII = 0x100, 0x200, 0x400, 0x40000
NA_INTEGER = -(2**31)


@dataclass(frozen=True)
class DataFrame:
    """An R data frame: columns of numbers by name."""

    columns: dict[str, Sequence[float]]


@dataclass(frozen=True)
class Matrix:
    """An R matrix of numbers, with column names or without."""

    rows: Sequence[Sequence[float]]
    column_names: Sequence[str] | None = None


@dataclass(frozen=True)
class Factor:
    """An R factor: codes from 1 on, and their names."""

    codes: Sequence[int]
    levels: Sequence[str]


class _Stream:
    def __init__(self) -> None:
        self.bytes = bytearray(b"RDX2\nX\n")
        # Format version 2, written by R 3.6.0, readable from R 2.3.0 on.
        self._integers(2, 0x030600, 0x020300)
        self._symbols: list[str] = []

    def _integers(self, *values: int) -> None:
        self.bytes += struct.pack(f">{len(values)}i", *values)

    def pairs(self, entries: dict[str, Any]) -> None:
        for name, value in entries.items():
            self._integers(PAIRLIST | HAS_TAG)
            self._symbol(name)
            self.item(value)
        self._integers(NIL)

    def _symbol(self, name: str) -> None:
        # A symbol is written once; later it is a number in the list of those written.
        if name in self._symbols:
            self._integers((self._symbols.index(name) + 1) << 8 | REFERENCE)
            return
        self._symbols.append(name)
        self._integers(SYMBOL)
        self._chars(name)

    def _chars(self, text: str) -> None:
        encoded = text.encode("ascii")
        self._integers(CHARS | IS_ASCII, len(encoded))
        self.bytes += encoded

    def item(self, value: Any) -> None:
        if value is None:
            self._integers(NIL)
        elif isinstance(value, dict):
            self._vector(LIST, list(value.values()), {"names": list(value)})
        elif isinstance(value, DataFrame):
            self._data_frame(value)
        elif isinstance(value, Matrix):
            self._matrix(value)
        elif isinstance(value, Factor):
            attributes = {"levels": list(value.levels), "class": ["factor"]}
            self._vector(INTEGER | IS_OBJECT, list(value.codes), attributes)
        elif isinstance(value, tuple):
            self._vector(LIST, list(value), {})
        elif all(isinstance(element, str) for element in value):
            self._vector(STRINGS, value, {})
        elif all(isinstance(element, int) for element in value):
            self._vector(INTEGER, value, {})
        else:
            self._vector(REAL, value, {})

    def _data_frame(self, frame: DataFrame) -> None:
        columns = [list(column) for column in frame.columns.values()]
        attributes = {
            "names": list(frame.columns),
            "class": ["data.frame"],
            "row.names": [NA_INTEGER, -len(columns[0])],
        }
        self._vector(LIST | IS_OBJECT, columns, attributes)

    def _matrix(self, matrix: Matrix) -> None:
        by_column = [float(value) for column in zip(*matrix.rows, strict=True) for value in column]
        attributes: dict[str, Any] = {"dim": [len(matrix.rows), len(matrix.rows[0])]}
        if matrix.column_names is not None:
            attributes["dimnames"] = (None, list(matrix.column_names))
        self._vector(REAL, by_column, attributes)

    def _vector(self, kind: int, elements: list[Any], attributes: dict[str, Any]) -> None:
        self._integers(kind | (HAS_ATTRIBUTES if attributes else 0), len(elements))
        match kind & 0xFF:
            case code if code == INTEGER:
                self._integers(*elements)
            case code if code == REAL:
                self.bytes += struct.pack(f">{len(elements)}d", *elements)
            case code if code == STRINGS:
                for element in elements:
                    self._chars(element)
            case _:
                for element in elements:
                    self.item(element)
        if attributes:
            self.pairs(attributes)


def write_rda(path: Path, objects: dict[str, Any], *, compress: bool = True) -> Path:
    """Write named R objects to a file as R's ``save`` does."""
    stream = _Stream()
    stream.pairs(objects)
    path.write_bytes(gzip.compress(stream.bytes, mtime=0) if compress else bytes(stream.bytes))
    return path
