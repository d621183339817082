"""Threads that take pieces of work, give results in order, and can be stopped in a piece."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds between two looks for Ctrl-C, which some systems do not deliver to a waiting thread.
PATIENCE = 0.1


class Threads:
    """A pool of threads; each piece of work is a list of items that a function goes through."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="reldep")
        self._stop = Event()

    def results(
        self, work: Callable[[Iterable[Item]], Result], pieces: Iterable[Sequence[Item]]
    ) -> Iterator[Result]:
        """Work on all pieces; give the results in the order of the pieces."""
        waiting: deque[Future[Result]] = deque()
        following = iter(pieces)
        # Few pieces are under way at a time: each holds memory of its own.
        for piece in islice(following, 2 * self._n_threads):
            waiting.append(self._pool.submit(work, self._until_stopped(piece)))
        while waiting:
            result = _result(waiting.popleft())
            for piece in islice(following, 1):
                waiting.append(self._pool.submit(work, self._until_stopped(piece)))
            yield result

    def end(self) -> None:
        """Let go of what is waiting, stop what is running, and wait until it has."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _until_stopped(self, piece: Sequence[Item]) -> Iterator[Item]:
        for item in piece:
            if self._stop.is_set():
                raise _Stopped
            yield item


class _Stopped(Exception):  # noqa: N818
    """Ends the work of a thread after the item in work."""


def _result(future: Future[Result]) -> Result:
    while not wait([future], timeout=PATIENCE).done:
        pass
    return future.result()


@contextmanager
def running_threads(n_threads: int) -> Iterator[Threads]:
    """Start threads and end them, whatever happens in between."""
    threads = Threads(n_threads)
    try:
        yield threads
    finally:
        threads.end()


def single_threaded_blas(n_threads: int) -> AbstractContextManager[Any]:
    """Keep matrix products to one thread where several threads of our own call them."""
    if n_threads == 1:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits
