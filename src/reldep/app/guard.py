"""Who may talk to the server: this machine's browser, with the key, from our own page."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response

from reldep.app.jobs import Worker
from reldep.app.sessions import Session
from reldep.report.markup import element

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from reldep.app.serving import PrivateFolder

COOKIE = "reldep"
SAFE_METHODS = ("GET", "HEAD")
# Pictures are drawn as data; nothing else comes from anywhere but this server, and no script or
# style stands in a page, so that a name in the data cannot become one.
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
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
        await handler(scope, receive, _with_headers(send))

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
    return _plain_page(element("p", element("a", "Go on", href=address)), on)


def refused(reason: str, status: int) -> HTMLResponse:
    """Return a page with the reason why a request is refused."""
    return HTMLResponse(_plain_page(element("h1", "Not here"), "", element("p", reason)), status)


def _plain_page(first: str, head: str, *body: str) -> str:
    meta = [element("meta", charset="utf-8"), element("link", rel="icon", href="data:,")]
    top = element("head", *meta, head, element("title", "reldep"))
    return "<!DOCTYPE html>\n" + element("html", top, element("body", first, *body), lang="en")


def _with_headers(send: Send) -> Send:
    """Add the headers that keep a browser from running or showing what it should not."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
