"""Tables too large for memory: some columns of a wide one at a time, rows of a long one on disk.

One pass over a long table, some rows at a time, writes every row to the part of its block; a part
is a run of blocks that fits into memory. Nothing is shuffled within pieces of a file only: a sorted
file, or one file per group, gives the same answer.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.objects import columns_of
from reldep.data.variables import BoolArray, IntArray, Variable
from reldep.exceptions import InputError
from reldep.files.table import Table

if TYPE_CHECKING:
    import polars as pl


# The columns with the block of a row and, where rows depend on each other, with its unit. Names
# with zero bytes are cut by Arrow.
BLOCK, UNIT = "__reldep_block__", "__reldep_unit__"

# Parts in memory: that of the blocks at work, and of those after them.
KEPT_PARTS = 2


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


class DealtRows:
    """Blocks of rows in files of a temporary folder, which goes with the object.

    Parameters
    ----------
    frames : iterable of polars.DataFrame
        All rows, some at a time.
    numbers : ndarray of int, shape (n_rows,)
        The block of every row; -1 for a row that no block has.
    n_parts : int
        The parts in which the blocks are read again.
    is_sampled : ndarray of bool, shape (n_rows,)
        The rows that are kept in memory too.
    units : ndarray of int, shape (n_rows,), optional
        The unit of every row, which its block has as a further column.

    Attributes
    ----------
    sample : polars.DataFrame
        The rows in memory.
    """

    def __init__(
        self,
        frames: Iterable[pl.DataFrame],
        numbers: IntArray,
        n_parts: int,
        is_sampled: BoolArray,
        units: IntArray | None = None,
    ) -> None:
        import polars as pl

        self.n_blocks = int(numbers.max()) + 1
        self._held: dict[int, dict[int, pl.DataFrame]] = {}
        self._lock = threading.Lock()
        self.edges = np.linspace(0, self.n_blocks, n_parts + 1).astype(np.int64)
        self._path = Path(tempfile.mkdtemp(prefix="reldep-rows-"))
        weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        start, sampled = 0, []
        for j, frame in enumerate(frames):
            own = numbers[start : start + frame.height]
            if len(own) < frame.height:
                raise _changed()
            here = slice(start, start := start + frame.height)
            sampled.append(frame.filter(pl.Series(is_sampled[here])))
            beside = [pl.Series(BLOCK, own)]
            beside += [] if units is None else [pl.Series(UNIT, units[here])]
            order = np.argsort(own, kind="stable")
            dealt = frame.with_columns(beside)[order]
            cuts = np.searchsorted(own[order], self.edges)
            for k in range(n_parts):
                self._write(dealt[int(cuts[k]) : int(cuts[k + 1])], k, j)
        if start < len(numbers):
            raise _changed()
        self.sample = pl.concat(sampled)

    def _write(self, frame: pl.DataFrame, part: int, batch: int) -> None:
        try:
            if frame.height:
                frame.write_ipc(self._path / f"{part:06d}-{batch:06d}.arrow")
        except OSError as error:
            raise InputError(
                f"rows cannot be written to {self._path.parent}: {error}. Set another TMPDIR."
            ) from error

    def block(self, number: int) -> pl.DataFrame | None:
        """Return the rows of a block in the order of the table; None if it has none.

        Blocks are asked for one after another, so that the part of the last ones is kept.
        """
        part = int(np.searchsorted(self.edges, number, side="right")) - 1
        with self._lock:
            if part not in self._held:
                while len(self._held) >= KEPT_PARTS:
                    del self._held[min(self._held)]
                self._held[part] = self._read(part)
            return self._held[part].get(number)

    def _read(self, part: int) -> dict[int, pl.DataFrame]:
        import polars as pl

        files = sorted(self._path.glob(f"{part:06d}-*.arrow"))
        if not files:
            return {}
        whole = pl.concat([pl.read_ipc(file) for file in files], how="vertical")
        blocks = whole.partition_by(BLOCK, maintain_order=True, include_key=False, as_dict=True)
        return {int(key[0]): frame for key, frame in blocks.items()}


def _changed() -> InputError:
    return InputError(
        "the number of rows changed while they were read. Ask again when nothing writes to them."
    )
