"""Writing files so that nothing is ever half-written."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# How the name of a temporary file ends, so that the leftovers of a killed run are known.
_UNFINISHED = ".reldep-unfinished"


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place once all is written.

    If anything goes wrong the temporary file is removed and what stood at `path` stays. An
    existing file keeps its mode, and a symbolic link stays one: the file it leads to is written.
    What a killed run left beside `path` is removed.
    """
    check_writable(Path(path))
    target = _destination(Path(path))
    temporary: Path | None = None
    handle = -1
    try:
        _remove_leftovers(target)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        temporary, handle = _begin(target, 0o666 if mode is None else 0o600)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        if sys.platform == "win32":  # which moves no open file
            handle = _closed(handle)
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write {path}: {reason}") from error
    finally:
        handle = _closed(handle)
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse a path that no file can be written to, before the work that would fill it."""
    target = _destination(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the directory {target.parent} does not exist; make it first."
        )
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory; name a file in it.")
    if target.exists() and not target.is_file():
        raise OSError(f"cannot write {path}: it is a device or a pipe; name a file.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {path}: no permission to write into {target.parent}; choose another "
            "directory."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"cannot write {path}: the file is read-only; choose another name.")


def _destination(path: Path) -> Path:
    """Follow symbolic links to the file they lead to, which need not exist."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, f"cannot write {path}: the symbolic link leads to itself")
    return target


def _begin(target: Path, mode: int) -> tuple[Path, int]:
    """Make and lock the temporary file; give it with the handle that holds the lock.

    The system takes the mask of the process off the mode. Reading the mask to do so here would
    mean setting it, for all threads.
    """
    while True:
        temporary = target.with_name(f"{_start(target)}{secrets.token_hex(8)}{_UNFINISHED}")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        try:
            lock(handle)
            if temporary.exists():
                return temporary, handle
        except BlockingIOError:
            pass
        except OSError:
            return temporary, handle  # some network drives know no locks
        os.close(handle)  # another run took the file for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove the temporary files of runs that were killed while they wrote `target`."""
    # A directory that cannot be listed, or a file that cannot be opened or removed, belongs to
    # somebody else.
    with suppress(OSError):
        for path in list(target.parent.iterdir()):
            if path.name.startswith(_start(target)) and path.name.endswith(_UNFINISHED):
                with suppress(OSError):
                    _remove_unless_locked(path)


def _start(target: Path) -> str:
    """Give how the temporary files of `target` begin, short enough for any file system."""
    return f".{target.name[:40]}."


def _remove_unless_locked(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        lock(handle)  # refused while the run that writes the file is alive
        if sys.platform != "win32":
            path.unlink()
    finally:
        os.close(handle)
    if sys.platform == "win32":
        path.unlink()  # refused by Windows while the file is open


def lock(handle: int) -> None:
    """Mark a file as being written, for as long as this process lives."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _closed(handle: int) -> int:
    if handle >= 0:
        os.close(handle)
    return -1
