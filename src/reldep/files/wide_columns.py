"""Thousands of variables on the same rows, of which some are read at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import Variable
    from reldep.files.table import Table

# Bytes that the columns read at a time may take as doubles: little next to the memory of a laptop,
# and 1,000 columns of 12,000 rows.
READ_BYTES = 100_000_000


@dataclass(eq=False)
class WideColumns:
    """Many variables on the same rows: all in memory, or columns of a table.

    Of a table, those read last are kept for the next call.

    Attributes
    ----------
    names : sequence of str
        Of the variables, each once.
    table : Table or None
    held : sequence of Variable
        Those in memory.
    read_bytes : int
        The most that is read at a time, unless more columns are asked for.
    """

    names: Sequence[str]
    table: Table | None = None
    held: Sequence[Variable] = ()
    read_bytes: int = READ_BYTES
    _start: int = 0

    @property
    def n_rows(self) -> int:
        """The number of observations."""
        return len(self.held[0]) if self.table is None else len(self.table)

    def read(self, start: int, stop: int) -> Sequence[Variable]:
        """Return the variables from `start` to before `stop`."""
        is_held = self._start <= start and stop <= self._start + len(self.held)
        if self.table is not None and not is_held:
            size = max(stop - start, self.read_bytes // (8 * self.n_rows))
            self.held = ()  # to be freed before the others are read
            names = self.names[start : start + size]
            self._start, self.held = start, columns_of(self.table.read(names))
        return self.held[start - self._start : stop - self._start]


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
