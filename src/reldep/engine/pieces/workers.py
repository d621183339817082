"""Who makes passes over the pieces of a table: the threads of this process, or dask.

A pass turns a block of rows into something that can be added. What the pieces give is added in
their order, so that the same pieces give the same numbers, whoever works on them and however often
a worker dies on the way.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reldep.engine.sweeps.dask import FAN_IN, LOST_WORKERS, DaskEngine, check_workers
from reldep.engine.threads import Steps, SummingThreads, progress_bar, single_threaded_blas
from reldep.exceptions import InputError
from reldep.files.first_look import FirstLook, read_block, scan_piece
from reldep.system import available_cores, import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reldep.engine.threads import OnProgress
    from reldep.files.partitions import Block, Partitions, PieceLayout

Sums = TypeVar("Sums")

SMALLER_PIECES = (
    "start some and call again; workers that run out of memory need smaller partitions, as "
    "data.repartition gives."
)


@dataclass(frozen=True)
class ScanPass:
    """The pass that takes a first look."""

    layout: PieceLayout
    seed: int

    def __call__(self, piece: Any, number: int) -> FirstLook:
        """Look at a piece."""
        return scan_piece(self.layout, piece, number, self.seed)


@dataclass(frozen=True, eq=False)
class BlockPass:
    """A pass over the complete rows of every piece."""

    layout: PieceLayout
    work: Callable[[Block], Any]

    def __call__(self, piece: Any, number: int) -> Any:
        """Read a piece and work on it."""
        return self.work(read_block(self.layout, piece, number))


class Pieces(Protocol):
    """Whoever can make a pass over all pieces."""

    def total(self, one_pass: Callable[[Any, int], Sums]) -> Sums:
        """Add what a pass makes of every piece, in their order."""


@dataclass(frozen=True, eq=False)
class LocalPieces:
    """Pieces that the threads of this process read and work on, a few at a time."""

    pieces: Sequence[Any]
    on_progress: OnProgress | None = field(default=None, repr=False)

    def total(self, one_pass: Callable[[Any, int], Sums]) -> Sums:
        """Add what a pass makes of every piece, in their order."""

        def work(items: Iterable[tuple[int, Any]]) -> Sums:
            return reduce(add, (one_pass(piece, number) for number, piece in items))

        numbered = [[item] for item in enumerate(self.pieces)]
        n_threads = min(available_cores(), len(numbered))
        with (
            progress_bar("pieces", self.on_progress) as on_progress,
            SummingThreads[tuple[int, Any]](n_threads) as threads,
            single_threaded_blas(n_threads),
        ):
            return threads.summed(work, numbered, Steps(on_progress, len(numbered)).one_more)


@dataclass(frozen=True, eq=False)
class DaskPieces:
    """Pieces that dask reads and works on: partitions of a data frame, or parts of files.

    Attributes
    ----------
    pieces : sequence
        Delayed frames, or pieces of files that every worker can read.
    client : distributed.Client or None
        Without one the threads of this process do the work.
    """

    pieces: Sequence[Any]
    client: Any = None

    def total(self, one_pass: Callable[[Any, int], Sums]) -> Sums:
        """Add what a pass makes of every piece, a few at a time, where the pieces are."""
        from dask.delayed import delayed

        # Once for all tasks: pivots and sums are sent to a worker only once.
        shared = delayed(one_pass, pure=False, traverse=False)
        level = [
            delayed(run_pass, pure=False)(shared, piece, i) for i, piece in enumerate(self.pieces)
        ]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [delayed(added, pure=False)(group) for group in groups]
        result: Sums = self._computed(level[0])
        return result

    def _computed(self, root: Any) -> Any:
        if self.client is None:
            return root.compute(scheduler="threads", num_workers=available_cores())
        from distributed import CancelledError, KilledWorker

        try:
            return self.client.compute(root).result()
        except (CancelledError, KilledWorker) as error:
            raise InputError(f"{LOST_WORKERS} ({error}); {SMALLER_PIECES}") from error


def run_pass(one_pass: Callable[[Any, int], Sums], piece: Any, number: int) -> Sums:
    """Make a pass over a piece, as a task of dask."""
    with single_threaded_blas(2):
        return one_pass(piece, number)


def added(parts: Sequence[Any]) -> Any:
    """Add what pieces gave, in their order."""
    return reduce(add, parts)


def pieces_of(partitions: Partitions, engine: Any) -> Pieces:
    """Choose who works on the pieces of a table.

    Parameters
    ----------
    partitions : Partitions
    engine : str or engine
        "dask" or :class:`DaskEngine` for a cluster. Else files are read by this process, and
        partitions of a dask data frame by the client of this process, if there is one.
    """
    asks_for_dask = isinstance(engine, DaskEngine) or engine == "dask"
    if asks_for_dask:
        client = (
            engine.connected_client()
            if isinstance(engine, DaskEngine)
            else (DaskEngine().connected_client())
        )
        check_workers(client)
        return DaskPieces(partitions.pieces, client)
    if not partitions.in_dask:
        return LocalPieces(partitions.pieces, getattr(engine, "on_progress", None))
    import_extra("dask", extra="dask", purpose="a dask data frame")
    client = _client_of_process()
    if client is not None:
        check_workers(client)
    return DaskPieces(partitions.pieces, client)


def _client_of_process() -> Any:
    """Find the client that this process opened last; None if it opened none."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None
