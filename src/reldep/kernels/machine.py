"""What the machine offers: cores, a compiler, and packages that only some kernels need."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

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


def import_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        The module, as in ``import module``.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What needs it, as the subject of the sentence.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("sklearn", "scikit-learn")
        raise ImportError(
            f"{purpose} needs {package} ({error}); install it with: pip install 'reldep[{extra}]'"
        ) from error
