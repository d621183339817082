"""The server: starting and ending it, its private folder, and who may talk to it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reldep.app.jobs import Worker
from reldep.app.page import ICON
from reldep.app.routes import application
from reldep.app.sessions import Session
from reldep.io import lock
from reldep.report.html import document, element
from reldep.system import available_memory

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
                Guard(application(sessions.close, max_upload), sessions, entrance, own_port),
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
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / IN_USE).open("w")
        lock(self._lock.fileno())

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Return True for a folder of this user, not a link, whose server has ended."""
    mark = folder / IN_USE
    try:
        found = folder.lstat()
        user = os.getuid() if sys.platform != "win32" else found.st_uid
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != user:
            return False
        if not mark.exists():
            return time.time() - found.st_mtime > TIME_TO_START
        if sys.platform == "win32":
            mark.unlink()  # refused while it is open
            return True
        with mark.open("r+") as file:
            lock(file.fileno())  # refused while its server lives
            return True
    except OSError:
        return False


COOKIE = "reldep"
SAFE_METHODS = ("GET", "HEAD")
# Pictures are drawn as data; nothing else comes from anywhere but this server, and no script or
# style stands in a page, so that a name in the data cannot become one.
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# They keep a browser from running or showing what it should not.
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Browsers at once: each has a process, of 150 megabytes without data.
MOST_SESSIONS = 16


class Sessions:
    """The sessions of all browsers that have the token.

    Parameters
    ----------
    folder : PrivateFolder
        It gets a folder for each session, and is removed at the end.
    memory : int
        How many bytes of address space the process of a session may use.
    """

    def __init__(self, folder: PrivateFolder, memory: int) -> None:
        self._folder, self._memory = folder, memory
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def find(self, key: str) -> Session | None:
        """Return the session of a cookie."""
        session = self._known.get(key)
        if session is not None:
            session.used = time.monotonic()
        return session

    def begin(self) -> Session:
        """Begin a session; if there are too many, the one that was unused longest ends."""
        key = secrets.token_urlsafe(32)
        folder = self._folder.path / secrets.token_hex(8)
        (folder / "data").mkdir(parents=True)
        session = Session(key, folder, Worker(folder / "data", self._memory))
        with self._lock:
            self._known[key] = session
            oldest = sorted(self._known.values(), key=lambda one: one.used)
            ended = oldest[: max(0, len(oldest) - MOST_SESSIONS)]
            for one in ended:
                del self._known[one.key]
        for one in ended:
            one.close()
        return session

    def close(self) -> None:
        """End all sessions and remove all files."""
        with self._lock:
            known, self._known = self._known, {}
        for session in known.values():
            session.close()
        self._folder.remove()


class Entrance:
    """The address that opens the page, once: whoever enters, the next one needs another.

    All addresses of the page are under a random path, and so is the cookie: a browser sends
    cookies to every port of a machine, but not to other paths.

    Parameters
    ----------
    port : int
    file : Path
        A private file that forwards to the address. A browser is started with its name, because
        everybody on the machine can read what processes are started with.
    say : callable
        Prints a line on the terminal.
    """

    def __init__(self, port: int, file: Path, say: Callable[[str], None]) -> None:
        self.path = f"/{secrets.token_hex(16)}/"
        self._origin = f"http://127.0.0.1:{port}"
        self._file, self._say = file, say
        self._renew()
        say(f"The page is at {self.address}\nCtrl-C ends it.")

    def _renew(self) -> None:
        self._token = secrets.token_urlsafe(32)
        self._file.touch(0o600)
        self._file.write_text(forwarding(self.address), encoding="utf-8")

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self._origin}{self.path}open?token={self._token}"

    def admits(self, token: str) -> bool:
        """Return True if the token is the right one, which is of no use any more then."""
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return False
        self._renew()
        with suppress(OSError):  # nobody reads what is printed
            self._say(f"A browser has opened the page. For another one: {self.address}")
        return True


class Guard:
    """Refuses requests that do not come from our own page in a browser that was let in.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass; it finds the session in ``scope["session"]``.
    sessions : Sessions
    entrance : Entrance
    port : int
        The port that the ``Host`` header must name.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions, entrance: Entrance, port: int) -> None:
        self._app = app
        self._sessions = sessions
        self._entrance = entrance
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        refusal = self._refusal(scope)
        handler: ASGIApp = self._app if refusal is None else refusal

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await handler(scope, receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        """Add the session to a request, or return why it is refused."""
        headers = Headers(scope=scope)
        # A foreign name that leads to this machine (DNS rebinding) is still a foreign name.
        if headers.get("host", "") not in self._hosts:
            return refused("This address is not the one that the server listens on.", 421)
        inside = self._entrance.path
        # Cookies of other programs on this machine come along; they may look like anything.
        key = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        session = self._sessions.find(key)
        if scope["path"] == f"{inside}open" and scope["method"] in SAFE_METHODS:
            query = parse_qs(scope["query_string"].decode("latin1"))
            if self._entrance.admits(query.get("token", [""])[0]):
                session = session or self._sessions.begin()
                return self._opened(session.key)
            if session is not None:
                return self._opened(session.key)
        if session is None or not scope["path"].startswith(inside):
            return refused("Open the latest address that reldep app printed in the terminal.", 403)
        if scope["method"] not in SAFE_METHODS and not _is_from_our_page(headers):
            return refused("Only the page of this server may change anything.", 403)
        scope["session"], scope["path"] = session, scope["path"][len(inside) - 1 :]
        return None

    def _opened(self, key: str) -> Response:
        """Return a page that leads on: a redirection would come without the strict cookie."""
        response = HTMLResponse(forwarding("./"))
        place = self._entrance.path
        response.set_cookie(COOKIE, key, httponly=True, samesite="strict", path=place)
        return response


def _is_from_our_page(headers: Headers) -> bool:
    """Return True if the browser says that a page of this very server sent the request."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return False
    ours = f"http://{headers.get('host', '')}"
    return origin in (None, ours) and site in (None, "same-origin")


def forwarding(address: str) -> str:
    """Return a page that leads to an address."""
    on = element("meta", http_equiv="refresh", content=f"0; url={address}")
    return document("reldep", element("p", element("a", "Go on", href=address)), head=[ICON, on])


def refused(reason: str, status: int) -> HTMLResponse:
    """Return a page with the reason why a request is refused."""
    said = [element("h1", "Not here"), element("p", reason)]
    return HTMLResponse(document("reldep", *said, head=[ICON]), status)
