"""The machine: cores and threads, memory, a compiler, and optional packages."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import current_thread
from types import ModuleType
from typing import Any, TypeVar

from reldep.exceptions import InputError, InputTypeError

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# The name by which a thread of a pool is known.
POOLED = "reldep"


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix=POOLED)


# A child process has the pools of its parent, but not their threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def thread_pool(n_threads: int) -> ThreadPoolExecutor:
    """Return a pool of threads that is kept for later calls: starting one takes milliseconds.

    A thread of the pool gets a pool of its own, because it must not wait for its own pool.
    """
    if current_thread().name.startswith(POOLED):
        return ThreadPoolExecutor(n_threads)
    return _pool(n_threads)


def on_all_cores(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the results of the work on all items, in their order, computed on all cores."""
    return list(thread_pool(available_cores()).map(work, items))


class _NoSettings(ModuleType):
    """Stands for the package that reads numba's settings from a file; it reads nothing."""

    @staticmethod
    def load(*_: Any, **__: Any) -> None:
        """Return None, as for an empty file."""

    safe_load = load


def _import_numba() -> Any:
    """Return numba, without the settings of a file in the current folder.

    That file may come from a stranger, and could name a folder with machine code to run. Numba
    looks for it when it is imported and whenever it compiles.
    """
    if "numba" not in sys.modules:
        reader = sys.modules.get("yaml")
        sys.modules["yaml"] = _NoSettings("yaml")
        try:
            import_module("numba.core.config")
        finally:
            del sys.modules["yaml"]
            if reader is not None:
                sys.modules["yaml"] = reader
    return import_module("numba")


def compile_loop(loop: Any, **options: Any) -> Any:
    """Return a loop that is compiled on its first call, with the machine code kept on disk."""
    numba = _import_numba()
    folder = os.environ.get("NUMBA_CACHE_DIR") or _own_cache()
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
    try:
        return numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # no folder can be written to, as in many containers
        return numba.njit(**options)(loop)
    finally:
        numba.config.CACHE_DIR = before


@cache
def _own_cache() -> str:
    """Return a folder for machine code that only this user can write to, or an empty string.

    Without it numba takes the folder of this package.
    """
    caches = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(caches) if Path(caches).is_absolute() else Path("~/.cache").expanduser()
    folder = home / "reldep" / "compiled"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if sys.platform != "win32" and (
            not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid()
        ):
            return ""
        folder.chmod(0o700)
    except (OSError, RuntimeError):  # no home, or one that cannot be written to
        return ""
    return str(folder)


def import_away(module: str) -> Any:
    """Return a module, imported from another folder: some read settings from the current one.

    For programs only: threads of a library's user may be reading files.
    """
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return import_module(module)
    os.chdir(Path(__file__).parent)
    try:
        return import_module(module)
    finally:
        os.chdir(here)


def import_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Return a module of an optional package, or raise ImportError with the way to install it.

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


_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)\s*")

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

# The files of a control group, in its second and its first version: the limit, what is taken,
# and the line of the statistics that counts cached files, which are given up when memory is short.
CGROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def bytes_of(memory: Any) -> int:
    """Return the number of bytes of an amount such as ``"512MB"`` or ``"1.5 GiB"``.

    Examples
    --------
    >>> from reldep.system import bytes_of
    >>> bytes_of("1.5GB")
    1500000000
    """
    way_out = 'pass a positive amount such as "512MB" or "2 GiB", or a number of bytes.'
    if isinstance(memory, bool) or not isinstance(memory, (str, int)):
        raise InputTypeError(f"memory is of type {type(memory).__name__}; {way_out}")
    amount = memory
    if isinstance(memory, str):
        match = _AMOUNT.fullmatch(memory)
        unit = match and _UNITS.get(match[2].upper())
        if not match or not unit:
            raise InputError(f"`memory={memory!r}` is not understood; {way_out}")
        amount = int(float(match[1]) * unit)
    if int(amount) <= 0:
        raise InputError(f"`memory={memory!r}`; {way_out}")
    return int(amount)


def in_words(n_bytes: float) -> str:
    """Return an amount of memory in words, with a unit that suits it.

    Examples
    --------
    >>> from reldep.system import in_words
    >>> in_words(1_234_000_000)
    '1.23 GB'
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if n_bytes >= _UNITS[unit]:
            return f"{n_bytes / _UNITS[unit]:.3g} {unit}"
    return f"{n_bytes:.0f} B"


def seconds_in_words(seconds: float) -> str:
    """Return an expected time in words, as roughly as it is known.

    Examples
    --------
    >>> from reldep.system import seconds_in_words
    >>> seconds_in_words(0.2), seconds_in_words(47), seconds_in_words(4_000)
    ('less than a second', 'about 47 seconds', 'about 67 minutes')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 1.5:
        return "about a second"
    if seconds < 120:
        return f"about {seconds:.0f} seconds"
    if seconds < 7_200:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3_600:.0f} hours"


def available_memory() -> int:
    """Return how many bytes this process may still use.

    The least of what the machine has left, what each control group that the process is in
    (a container, a batch job) has left, and what the limit on its address space leaves.
    """
    return max(1, min([_left_on_machine(), *_left_in_cgroups(), *_left_in_address_space()]))


def _left_on_machine() -> int:
    known = _numbers_in(PROC / "meminfo")
    if "MemAvailable" in known:
        return 1024 * known["MemAvailable"]
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4_000_000_000  # a guess, where the system does not tell


def _left_in_cgroups() -> Iterator[int]:
    """Return what each control group leaves: that of the process and all that contain it."""
    for line in _text_of(PROC / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = CGROUPS / "memory" if controllers else CGROUPS
        inner = root / path.lstrip("/")
        for group in (inner, *inner.parents):
            if group.is_relative_to(root):
                yield from _left_in(group)


def _left_in(group: Path) -> Iterator[int]:
    for limit_file, usage_file, cached in CGROUP_FILES:
        limit, usage = _numbers_in(group / limit_file), _numbers_in(group / usage_file)
        if limit and usage:
            given_up = _numbers_in(group / "memory.stat").get(cached, 0)
            yield max(0, limit[""] - usage[""] + given_up)


def _left_in_address_space() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _numbers_in(PROC / "self" / "statm")
    if limit != resource.RLIM_INFINITY and pages:
        yield max(0, limit - pages[""] * os.sysconf("SC_PAGE_SIZE"))


def _numbers_in(path: Path) -> dict[str, int]:
    """Return the first number of every line by the word before it; without a word by ""."""
    found = re.findall(r"^([A-Za-z_]*):?\s*(\d+)", _text_of(path), re.MULTILINE)
    return {word: int(digits) for word, digits in found}


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
