"""What the machine offers: cores, and a compiler."""

from __future__ import annotations

import os

# Below this many observations compiled code is not worth the wait until it is loaded.
COMPILED_FROM = 2_000


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def numba_is_there() -> bool:
    """Tell whether numba can be imported."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def worth_compiling(n: int) -> bool:
    """Tell whether so many observations are worth compiled code, and it can be had."""
    return n >= COMPILED_FROM and numba_is_there()
