"""Files appear whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file under another name and rename it, so that no half of it is ever seen.

    Parameters
    ----------
    path : str or path-like
        A file that is there already is replaced; it stays as it was if anything fails.
    content : str or bytes
        Text is written as UTF-8.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OSError
        Where the folder is missing, locked or full; the message says so.
    """
    target = Path(path)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    part = target.with_name(f".{target.name[:80]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
        part.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(
            error.errno,
            f"cannot write the file ({reason}); choose a folder that exists, has room and that you "
            "may write to",
            str(target),
        ) from error
    finally:
        _discard(part)
    return target


def _discard(part: Path) -> None:
    """Take away what is left of a failed attempt, as far as the folder allows."""
    try:
        part.unlink(missing_ok=True)
    except OSError:
        # The folder itself is gone or locked: there is nothing of ours to take away.
        return
