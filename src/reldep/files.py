"""Writing files so that nothing is ever half-written."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place once all is written.

    If anything goes wrong the temporary file is removed and what stood at `path` stays.
    """
    target = Path(path)
    check_writable(target)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write {target}: {reason}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse a path that no file can be written to, before the work that would fill it."""
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the directory {path.parent} does not exist; make it first."
        )
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory; name a file in it.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {path}: no permission to write into {path.parent}; choose another "
            "directory."
        )


def _umask() -> int:
    """Read the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
