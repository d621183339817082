"""Threads whose results come in a fixed order, and the bar that shows how far they are.

The bar is for jobs of more than a few seconds, on a terminal only.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reldep.system import thread_pool

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

OnProgress: TypeAlias = Callable[[int, int], None]

# Work on every item, with results in the order of the items.
Results: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

# Modules that load a library for matrix products of their own.
WITH_BLAS = ("numpy", "scipy.linalg", "sklearn", "torch")

# Who is told how far the work is, in place of a bar: a program that shows it in its own way.
LISTENER: ContextVar[OnProgress | None] = ContextVar("listener", default=None)


@contextmanager
def at_work(
    n_threads: int, total: int = 0, on_progress: OnProgress | None = None
) -> Iterator[Results]:
    """Return a function that maps work over items by threads, with results in their order.

    Leaving the context, by an error or Ctrl-C too, ends all work after the items in work. Few items
    are under way at a time, because each result takes memory.

    Parameters
    ----------
    n_threads : int
    total : int
        The number of items in all, for `on_progress`.
    on_progress : callable, optional
        Called with the number of items done and the total.
    """
    pool, waiting = thread_pool(n_threads), deque[Future[Any]]()
    n_done = 0

    def results(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        nonlocal n_done
        following = iter(items)
        for item in islice(following, 2 * n_threads):
            waiting.append(pool.submit(_quietly, work, item))
        while waiting:
            # Some systems do not deliver Ctrl-C to a waiting thread: look for it now and then.
            while not wait([waiting[0]], timeout=0.1).done:
                pass
            result = waiting.popleft().result()
            for item in islice(following, 1):
                waiting.append(pool.submit(_quietly, work, item))
            yield result
            n_done += 1
            if on_progress is not None:
                on_progress(n_done, total)

    with one_blas_thread():
        try:
            yield results
        finally:
            wait([future for future in waiting if not future.cancel()])


def _quietly(work: Callable[[Any], Any], item: Any) -> Any:
    # What overflows is found once, in A; every thread has warnings of its own.
    with np.errstate(over="ignore", invalid="ignore"):
        return work(item)


def added(parts: Iterable[Any]) -> Any:
    """Return the sum of arrays, in their order, in the memory of the first."""
    following = iter(parts)
    total = next(following)
    for part in following:
        total += part
    return total


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products to one thread where threads of our own call them."""
    loaded = tuple(name for name in WITH_BLAS if name in sys.modules)
    limits: AbstractContextManager[Any] = _blas_libraries(loaded).limit(limits=1, user_api="blas")
    return limits


def blas_threads_for(n: int, small: int = 400) -> AbstractContextManager[Any]:
    """Keep the algebra of small matrices to one thread, and leave that of others as it is.

    Further threads would mostly wait, and keep other processes waiting (measured).
    """
    return one_blas_thread() if n <= small else nullcontext()


@cache
def _blas_libraries(loaded: tuple[str, ...]) -> Any:  # noqa: ARG001
    """Return the libraries that these modules loaded; looking takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def progress_bar(
    title: str, on_progress: OnProgress | None = None, delay: float = 2.0
) -> Iterator[OnProgress]:
    """Return a function ``on_progress(done, total)`` that draws a bar on stderr.

    The bar appears after `delay` seconds and is wiped away at the end, also when the job fails or
    is interrupted. Where stderr is not a terminal it is :func:`say_nothing`.

    Parameters
    ----------
    title : str
        What stands before the bar.
    on_progress : callable, optional
        A function of the user's, which then takes the place of the bar.
    delay : float, default 2.0
        Shorter jobs never show a bar.

    Examples
    --------
    >>> from reldep.engine.threads import progress_bar
    >>> with progress_bar("tiles", print) as on_progress:
    ...     on_progress(1, 3)
    1 3
    """
    told = on_progress or LISTENER.get()
    if told is not None or sys.stderr is None or not sys.stderr.isatty():
        yield told or say_nothing
        return
    bar = _Bar(title, delay)
    try:
        yield bar.show
    finally:
        bar.close()


def say_nothing(done: int, total: int) -> None:
    """Take the place of a bar where nobody looks."""


class _Bar:
    """A rich progress bar that is made when the job proves to be long."""

    def __init__(self, title: str, delay: float) -> None:
        self._title = title
        self._due = time.monotonic() + delay
        self._drawn: tuple[Progress, TaskID] | None = None

    def show(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._drawn is None:
            if time.monotonic() < self._due or done >= total:
                return
            from rich.console import Console
            from rich.progress import Progress

            progress = Progress(console=Console(file=sys.stderr), transient=True)
            self._drawn = progress, progress.add_task(self._title, total=total)
            progress.start()
        progress, task = self._drawn
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Wipe the bar away and give the terminal its cursor back."""
        if self._drawn is not None:
            self._drawn[0].stop()
