"""A delimited text file, as one that can say on which line something stands."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reldep.data.dialect import Dialect


@dataclass(frozen=True)
class TextFile:
    """A delimited text: on disk, or in memory if it came compressed or through a pipe."""

    name: str
    content: Path | bytes = field(repr=False)
    dialect: Dialect
    header: tuple[str, ...] = field(repr=False)

    def line_of_value(self, position: int, value: str) -> int | None:
        """Return the line on which a column first holds a value."""
        for line, record in self._records():
            if len(record) > position and record[position].strip() == value.strip():
                return line
        return None

    def line_too_long(self) -> tuple[int, int] | None:
        """Return the first line with more fields than the header, and their number."""
        for line, record in self._records():
            if len(record) > len(self.header):
                return line, len(record)
        return None

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the records after the header, each with the line it starts on."""
        binary = (
            io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")
        )
        with io.TextIOWrapper(binary, "utf-8-sig", errors="replace", newline="") as lines:
            reader = csv.reader(lines, delimiter=self.dialect.delimiter)
            next(reader, None)
            start = reader.line_num + 1
            try:
                for record in reader:
                    yield start, record
                    start = reader.line_num + 1
            except csv.Error:  # unreadable from here on: the line is not found
                return
