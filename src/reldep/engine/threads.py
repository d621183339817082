"""Threads that sum pieces of work in a fixed order and can be stopped within a piece."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

Item = TypeVar("Item")
Part = TypeVar("Part")

# Seconds between two looks for Ctrl-C, which some systems do not deliver to a waiting thread.
PATIENCE = 0.1


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
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="reldep")
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
        self._pool.shutdown(wait=True, cancel_futures=True)

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
        waiting: deque[Future[Part]] = deque()
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
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits
