"""Thousands of columns, each a variable of its own, read some at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from reldep.data.files.table import Table
    from reldep.data.variables import Variable

# About what the columns that are read from a file at a time may take in memory.
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
        """Give the variables from `start` to before `stop`."""


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
        """Give some of the variables."""
        return list(self.variables[start:stop])


@dataclass(eq=False)
class TableColumns:
    """Columns of a file, which is read again for each block of them.

    Attributes
    ----------
    table : Table
    names : list of str
    n_rows : int
        The number of rows for which the condition holds.
    where : str or None
        A condition on the rows.
    """

    table: Table
    names: list[str]
    n_rows: int
    where: str | None = None
    _start: int = field(default=0, init=False)
    _held: list[Variable] = field(default_factory=list, init=False)

    def read(self, start: int, stop: int) -> list[Variable]:
        """Read some of the columns; those read last are kept for the next call."""
        if not (self._start <= start and stop <= self._start + len(self._held)):
            size = max(stop - start, READ_BYTES // (8 * self.n_rows))
            block = self.names[start : start + size]
            self._held = []
            self._start, self._held = start, _variables(self.table.read(block, self.where))
        return self._held[start - self._start : stop - self._start]


def _variables(frame: pl.DataFrame) -> list[Variable]:
    """Read every column of a frame; numbers all at once."""
    if not all(dtype.is_numeric() for dtype in frame.schema.values()):
        return [read_variable(frame[name], name) for name in frame.columns]
    import polars as pl

    by_column = np.ascontiguousarray(
        frame.select(pl.all().cast(pl.Float64).fill_null(float("nan"))).to_numpy().T
    )
    by_column.flags.writeable = False
    pairs = zip(frame.columns, by_column, strict=True)
    return [Numeric(name, column[:, None], (name,)) for name, column in pairs]
