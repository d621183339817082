"""Readers in foreign code are tried in another process first, because files can end theirs.

The readers of SPSS, Stata, SAS, R, old workbooks and HDF5 crash on some damaged files, or take all
memory. What a child process survives within limits on memory and time is read again here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reldep.data.checks import printable
from reldep.exceptions import InputError
from reldep.system import available_memory

if TYPE_CHECKING:
    from reldep.files.byte_sources import Source

FOREIGN = frozenset({"old workbook", "h5ad", "sav", "por", "dta", "sas7bdat", "xpt", "rds", "rda"})
"""Formats whose readers are tried in a child process."""

# Libraries alone take a gigabyte of address space; R's values become objects of Python.
_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 40
# Seconds, and bytes that the slowest reader takes in a second.
_SECONDS, _BYTES_PER_SECOND = 60, 1_000_000
# Files that were tried, by what changes if they do: the page reads a file many times.
_SURVIVED: set[tuple[int | str, ...]] = set()
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from reldep.files import attempt; "
_PROGRAM += "attempt.read_in_child(*sys.argv[2:])"


def try_in_child(source: Source, options: dict[str, str | int | None]) -> None:
    """Raise InputError for a file whose reader does not survive it.

    Parameters
    ----------
    source : Source
    options : dict
        Of :func:`reldep.read`: those that choose a part of the file.
    """
    key: tuple[int | str, ...] = (*source.stamp, json.dumps(options))
    if source.stamp and key in _SURVIVED:
        return
    root = str(Path(__file__).parents[2])
    memory = min(available_memory(), _MEMORY + _MEMORY_PER_BYTE * source.size)
    seconds = _SECONDS + source.size // _BYTES_PER_SECOND
    with source.on_disk() as path:
        words = [str(path.absolute()), source.format, json.dumps(options), str(memory)]
        command = [sys.executable, "-P", "-c", _PROGRAM, root, *words, str(seconds)]
        if _status(command, 2 * seconds) != 0:
            raise InputError(
                f"{printable(source.name)} is damaged, or too large to be read. Open it in its own "
                "program, and save it again or as CSV."
            )
    _SURVIVED.add(key)


def _status(command: list[str], seconds: int) -> int | None:
    """Return the exit status of a process; None if it was ended, with all that it started."""
    quiet = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(  # noqa: S603
        command,
        env=quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read_in_child(path: str, form: str, options: str, memory: str, seconds: str) -> None:
    """Read a file within limits; errors in words are raised again where they can be seen."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(memory),) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:  # not on Windows
        pass
    from reldep.files.byte_sources import Source
    from reldep.files.read import READERS
    from reldep.files.reading import completed

    try:
        table = READERS[form](Source(path, Path(path), form), completed(json.loads(options)))
        table.load([*table.columns][:1] + [*table.columns][-1:])
    except (ValueError, OSError, ImportError):
        pass
