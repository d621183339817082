"""Thousands of variables on the same rows, of which some are read at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import Variable
    from reldep.files.table import Table

# Bytes that the columns read at a time may take as doubles.
READ_BYTES = 100_000_000


class WideColumns(Protocol):
    """Many variables on the same rows."""

    @property
    def names(self) -> Sequence[str]:
        """Of the variables, each once."""

    @property
    def n_rows(self) -> int:
        """The number of observations."""

    def read(self, start: int, stop: int) -> list[Variable]:
        """Return the variables from `start` to before `stop`."""


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """Variables that are in memory."""

    names: Sequence[str]
    variables: Sequence[Variable]

    @property
    def n_rows(self) -> int:
        """The number of observations."""
        return len(self.variables[0])

    def read(self, start: int, stop: int) -> list[Variable]:
        """Return some of the variables."""
        return list(self.variables[start:stop])


@dataclass(eq=False)
class TableColumns:
    """Columns of a table, read some at a time; those read last are kept for the next call.

    Attributes
    ----------
    table : Table
    names : list of str
    """

    table: Table
    names: list[str]
    _start: int = field(default=0, init=False)
    _held: list[Variable] = field(default_factory=list, init=False)

    @property
    def n_rows(self) -> int:
        """The number of observations."""
        return len(self.table)

    def read(self, start: int, stop: int) -> list[Variable]:
        """Read some of the columns."""
        if not (self._start <= start and stop <= self._start + len(self._held)):
            size = max(stop - start, READ_BYTES // (8 * self.n_rows))
            block = self.names[start : start + size]
            self._held = []
            self._start, self._held = start, columns_of(self.table.read(block))
        return self._held[start - self._start : stop - self._start]


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
