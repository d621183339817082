"""The private folder of a server: removed at its end, or by the next server if it was killed."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

PREFIX = "reldep-app-"
LOCK = "in-use"
# A folder without a lock may belong to a server that is just starting.
SECONDS_TO_START = 3600


class PrivateFolder:
    """A folder that only the user can look into, marked as in use while its server lives.

    The mark is a lock on an open file. The system gives it up with the process, however that
    ends, so that the next server can tell a folder left behind from one in use.
    """

    def __init__(self) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / LOCK).open("w")
        _locked(self._lock)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove the folders that servers of this user left behind when they were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_own(folder) and _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    """Tell whether it is a folder of this user, not a link or somebody else's."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    user = os.getuid() if sys.platform != "win32" else found.st_uid
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user


def _is_abandoned(folder: Path) -> bool:
    lock = folder / LOCK
    try:
        if not lock.exists():
            return time.time() - folder.lstat().st_mtime > SECONDS_TO_START
        if sys.platform == "win32":
            lock.unlink()  # refused while it is open
            return True
        with lock.open("r+") as file:
            return _locked(file)
    except OSError:
        return False


def _locked(file: IO[str]) -> bool:
    """Lock a file for this process; False if another process has it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
