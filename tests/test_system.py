"""Threads that stay for the next call."""

from __future__ import annotations

import multiprocessing
import sys
from threading import current_thread

import pytest

from reldep.system import on_all_cores, thread_pool


def test_a_pool_is_used_again_but_not_from_within():
    assert thread_pool(2) is thread_pool(2)
    within = thread_pool(2).submit(thread_pool, 2).result()
    assert within is not thread_pool(2)
    # Work that waits for work of its own would wait for ever in a single pool.
    assert on_all_cores(lambda n: sum(on_all_cores(abs, range(-n, 0))), range(9))[8] == 36


def test_an_error_reaches_the_caller_and_the_pool_goes_on():
    def broken(item):
        raise RuntimeError(f"no {item}")

    with pytest.raises(RuntimeError, match="no 0"):
        on_all_cores(broken, range(5))
    assert on_all_cores(abs, [-1]) == [1]


def thread_names(_):
    return on_all_cores(lambda _: current_thread().name, range(4))


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_process_starts_threads_of_its_own():
    thread_names(0)
    with multiprocessing.get_context("fork").Pool(1) as children:
        found = children.map_async(thread_names, [0]).get(timeout=30)
    assert all(name.startswith("reldep") for name in found[0])
