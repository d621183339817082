"""Threads that sum pieces of work in a fixed order, and the bar that shows how far they are.

The threads can be stopped within a piece. The bar is for jobs of more than a few seconds, on a
terminal only.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from reldep.system import available_cores, thread_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress, TaskID

OnProgress: TypeAlias = Callable[[int, int], None]
Item = TypeVar("Item")
Part = TypeVar("Part")

# Seconds between two looks for Ctrl-C, which some systems do not deliver to a waiting thread.
PATIENCE = 0.1

# Runs of observations are cut so that what is made of them fills about this much: few enough for
# the cache of a processor, enough for matrix products.
RUN_BYTES = 4_000_000

# Modules that load a library for matrix products of their own.
WITH_BLAS = ("numpy", "scipy.linalg", "sklearn", "torch")

# Matrices of so few rows are decomposed by one thread: further ones would mostly wait, and keep
# other processes waiting.
SMALL_MATRICES = 400

# A job that ends before this many seconds never shows a bar.
DELAY_SECONDS = 2.0

# Who is told how far the work is, in place of a bar: a program that shows it in its own way.
LISTENER: ContextVar[OnProgress | None] = ContextVar("listener", default=None)


class Stopped(Exception):  # noqa: N818
    """Ends the work of a thread after the item in work."""


class SummingThreads(Generic[Item]):
    """A pool that adds up arrays, or whatever else can be added.

    Leaving the context, by an error or Ctrl-C too, ends all work after the items in work.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._pool = thread_pool(n_threads)
        self._waiting: deque[Future[Any]] = deque()
        self._stop = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        wait([future for future in self._waiting if not future.cancel()])

    def summed(
        self,
        work: Callable[[Iterable[Item]], Part],
        pieces: Sequence[Sequence[Item]],
        one_more: Callable[[], None],
    ) -> Part:
        """Add what the work makes of all pieces, in their order.

        Parameters
        ----------
        work : callable
            Turns the items of a piece into a part of the sum, an array of its own.
        pieces : sequence of sequences
            At least one.
        one_more : callable
            Called after each piece that is added.
        """
        results = self._results(work, pieces)
        total = next(results)
        one_more()
        for part in results:
            total += part  # type: ignore[operator]
            one_more()
        return total

    def _results(
        self, work: Callable[[Iterable[Item]], Part], pieces: Sequence[Sequence[Item]]
    ) -> Iterator[Part]:
        waiting = self._waiting
        waiting.clear()
        following = iter(pieces)
        # Few pieces are under way at a time: each holds sums of its own.
        for piece in islice(following, 2 * self._n_threads):
            waiting.append(self._pool.submit(self._run, work, piece))
        while waiting:
            result = _first_result(waiting)
            for piece in islice(following, 1):
                waiting.append(self._pool.submit(self._run, work, piece))
            yield result

    def _run(self, work: Callable[[Iterable[Item]], Part], piece: Sequence[Item]) -> Part:
        is_done = False
        try:
            # What overflows is found once, in A; every thread has warnings of its own.
            with np.errstate(over="ignore", invalid="ignore"):
                result = work(self._until_stopped(piece))
            is_done = True
        finally:
            if not is_done:
                # An error in one thread is the end of all.
                self._stop.set()
        return result

    def _until_stopped(self, piece: Sequence[Item]) -> Iterator[Item]:
        for item in piece:
            if self._stop.is_set():
                raise Stopped
            yield item


def _first_result(waiting: deque[Future[Part]]) -> Part:
    """Take the next result, or raise the error that stopped the threads."""
    future = waiting.popleft()
    while not wait([future], timeout=PATIENCE).done:
        pass
    if isinstance(future.exception(), Stopped):
        errors = (other.exception() for other in waiting)
        raise next(error for error in errors if error and not isinstance(error, Stopped))
    return future.result()


def single_threaded_blas(n_threads: int) -> AbstractContextManager[Any]:
    """Keep matrix products to one thread where several threads of our own call them."""
    if n_threads == 1:
        return nullcontext()
    loaded = tuple(name for name in WITH_BLAS if name in sys.modules)
    limits: AbstractContextManager[Any] = _blas_libraries(loaded).limit(limits=1, user_api="blas")
    return limits


def blas_threads_for(n: int) -> AbstractContextManager[Any]:
    """Keep the algebra of small matrices to one thread, and leave that of others as it is."""
    return single_threaded_blas(2) if n <= SMALL_MATRICES else nullcontext()


@cache
def _blas_libraries(loaded: tuple[str, ...]) -> Any:  # noqa: ARG001
    """Find the libraries that these modules loaded; looking takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def runs(n: int, bytes_per_row: float) -> Iterator[slice]:
    """Cut the observations into runs of about `RUN_BYTES`."""
    length = max(1, int(RUN_BYTES / bytes_per_row))
    for start in range(0, n, length):
        yield slice(start, min(start + length, n))


def over_runs(work: Callable[[Iterable[slice]], Part], n: int, width: int) -> Part:
    """Add what the work makes of all runs of rows of so many numbers, on all cores."""
    pieces = [[place] for place in runs(n, 8.0 * max(1, width))]
    n_threads = min(available_cores(), len(pieces))
    with SummingThreads[slice](n_threads) as threads, single_threaded_blas(n_threads):
        return threads.summed(work, pieces, _nothing)


def _nothing() -> None:
    """Take the place of a progress bar."""


@contextmanager
def progress_bar(title: str, on_progress: OnProgress | None = None) -> Iterator[OnProgress]:
    """Give a function ``on_progress(done, total)`` that draws a bar on stderr.

    The bar appears after `DELAY_SECONDS`, only if stderr is a terminal, and is wiped away at
    the end, also when the job fails or is interrupted.

    Parameters
    ----------
    title : str
        What stands before the bar.
    on_progress : callable, optional
        A function of the user's, which then takes the place of the bar.

    Examples
    --------
    >>> from reldep.engine.threads import progress_bar
    >>> with progress_bar("tiles") as on_progress:
    ...     for done in range(3):
    ...         on_progress(done + 1, 3)
    """
    told = on_progress or LISTENER.get()
    if told is not None:
        yield told
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield _say_nothing
        return
    bar = _Bar(title)
    try:
        yield bar.show
    finally:
        bar.close()


class Steps:
    """Count the steps that are done, and tell."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self._on_progress = on_progress
        self._done, self._total = 0, total

    def one_more(self) -> None:
        """Tell that a step is done."""
        self._done += 1
        self._on_progress(self._done, self._total)


def _say_nothing(done: int, total: int) -> None:
    """Take the place of a bar where there is no terminal."""


class _Bar:
    """A rich progress bar that is made when the job proves to be long."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def show(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._drawn is None:
            if time.monotonic() - self._started < DELAY_SECONDS or done >= total:
                return
            progress = _rich_progress()
            self._drawn = progress, progress.add_task(self._title, total=total)
            progress.start()
        progress, task = self._drawn
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Wipe the bar away and give the terminal its cursor back."""
        if self._drawn is not None:
            self._drawn[0].stop()


def _rich_progress() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
