"""Starting and ending the server, and its private folder."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from reldep.app.guard import Entrance, Guard, Sessions
from reldep.app.routes import application
from reldep.io import lock
from reldep.system import available_memory

if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of addresses that libraries reserve and never fill: 1.4 gigabytes on two cores, and more on
# more.
RESERVED = 4_000_000_000
PREFIX, IN_USE = "reldep-app-", "in-use"
# Seconds in which a folder without a lock may belong to a server that is just starting.
TIME_TO_START = 3600


def serve(
    *, host: str, port: int, max_upload: int, browser: bool, say: Callable[[str], None]
) -> None:
    """Serve the page on this machine until Ctrl-C.

    Parameters
    ----------
    host : str
        The address to listen on. Nobody outside this machine can reach "127.0.0.1". A container
        listens on "0.0.0.0", and its machine decides who reaches it; requests must still call the
        server 127.0.0.1 or localhost, and bring the token.
    port : int
        The port to listen on; 0 for any that is free.
    max_upload : int
        The most bytes that a file may have.
    browser : bool
        Whether to open the page in the browser.
    say : callable
        Prints a line.
    """
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # from here on a browser is served, if only after a moment
        own_port: int = listening.getsockname()[1]
        folder = PrivateFolder()
        sessions = Sessions(folder, available_memory() + RESERVED)
        try:
            door = folder.path / "open.html"
            entrance = Entrance(own_port, door, say)
            config = uvicorn.Config(
                Guard(application(sessions, max_upload), sessions, entrance, own_port),
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,  # second for open requests at Ctrl-C
                ws="none",
            )
            if browser:
                # A browser in this terminal comes back when it is closed.
                opening = threading.Thread(target=webbrowser.open, args=(door.as_uri(),))
                opening.daemon = True
                opening.start()
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            sessions.close()


class PrivateFolder:
    """A folder that only the user can look into, marked as in use while its server lives.

    The mark is a lock on an open file. The system gives it up with the process, however that
    ends, so that the next server can tell a folder left behind from one in use.
    """

    def __init__(self) -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            if _is_own(folder) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / IN_USE).open("w")
        lock(self._lock.fileno())

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    """Return True for a folder of this user, not a link or somebody else's."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    user = os.getuid() if sys.platform != "win32" else found.st_uid
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user


def _is_abandoned(folder: Path) -> bool:
    mark = folder / IN_USE
    try:
        if not mark.exists():
            return time.time() - folder.lstat().st_mtime > TIME_TO_START
        if sys.platform == "win32":
            mark.unlink()  # refused while it is open
            return True
        with mark.open("r+") as file:
            lock(file.fileno())  # refused while its server lives
            return True
    except OSError:
        return False
