"""The one place that writes files: whole or not at all, and never over what is not ours."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# What reports and pictures contain, near their beginning or end, so that they can be told from
# other people's files and written again: within this many bytes.
MADE_BY_US = "Made with reldep"
_FROM_EITHER_END = 4_096

# How the name of a temporary file ends, so that the leftovers of a killed run are known.
_UNFINISHED = ".reldep-unfinished"


def write(
    path: str | os.PathLike[str],
    content: str | bytes,
    *,
    inputs: Iterable[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> None:
    """Write a file that takes its place once all of it is on the disk.

    If anything goes wrong, what was at `path` stays. An existing file keeps its mode, and a
    symbolic link stays one: the file it leads to is written. What a killed run left next to
    `path` is removed an hour later.

    Parameters
    ----------
    path : path-like
    content : str or bytes
        The whole file; text is written as UTF-8.
    inputs : iterable of path-like
        Files that the content was made from; none of them is ever replaced.
    overwrite : bool, default False
        Whether to replace a file that reldep did not make, or to follow a symbolic link to
        another folder.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    check_writable(path, inputs=inputs, overwrite=overwrite, content=data)
    target = _destination(Path(path))
    # Short enough for any file system.
    start = f".{target.name[:40]}."
    temporary = target.with_name(f"{start}{secrets.token_hex(8)}{_UNFINISHED}")
    try:
        _remove_leftovers(target.parent, start)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        # The system takes the mask of the process off the mode.
        temporary.touch(0o666 if mode is None else 0o600, exist_ok=False)
        temporary.write_bytes(data)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write {path}: {reason}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[str | os.PathLike[str]] = (),
    overwrite: bool = False,
    content: bytes | None = None,
) -> None:
    """Raise OSError if :func:`write` would refuse `path`, before the work that would fill it."""
    link = Path(path)
    target = _destination(link)
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
    if not overwrite and link.is_symlink() and target.parent != link.parent.resolve():
        raise FileExistsError(
            f"cannot write {path}: it is a symbolic link to {target}; write there, or pass "
            "`overwrite=True`."
        )
    if not target.exists():
        return
    if not os.access(target, os.W_OK):
        raise PermissionError(f"cannot write {path}: the file is read-only; choose another name.")
    if any(_is_same(target, one) for one in inputs):
        raise FileExistsError(f"cannot write {path}: the data are in it; choose another name.")
    if not (overwrite or _is_ours(target, content)):
        raise FileExistsError(
            f"cannot write {path}: it exists and was not made by reldep; choose another name, or "
            "pass `overwrite=True`."
        )


def _is_same(target: Path, other: str | os.PathLike[str]) -> bool:
    try:
        return target.samefile(other)
    except (OSError, ValueError):  # standard input, a pattern, a name with a NUL byte
        return False


def _is_ours(target: Path, content: bytes | None) -> bool:
    """Return True if nothing is lost: a file of ours, an empty one, or the same content."""
    with target.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_FROM_EITHER_END)
        file.seek(max(0, size - _FROM_EITHER_END))
        if size == 0 or MADE_BY_US.encode() in head + file.read():
            return True
    return content is not None and len(content) == size and target.read_bytes() == content


def _destination(path: Path) -> Path:
    """Follow symbolic links to the file they lead to, which need not exist."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"cannot write {path}: the symbolic link leads to itself; remove it.")
    return target


def _remove_leftovers(folder: Path, start: str) -> None:
    """Remove the temporary files of runs that were killed while they wrote a file, an hour ago."""
    ours = re.compile(re.escape(start) + "[0-9a-f]{16}" + re.escape(_UNFINISHED))
    # What cannot be listed or removed belongs to somebody else.
    with suppress(OSError):
        for path in folder.iterdir():
            if ours.fullmatch(path.name) and time.time() - path.lstat().st_mtime > 3_600:
                path.unlink()


def lock(handle: int) -> None:
    """Mark a file as in use, for as long as this process lives."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
