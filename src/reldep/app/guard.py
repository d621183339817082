"""Who may talk to the server: this machine's browser, with the token, from our own page."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reldep.report.markup import element

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from reldep.app.sessions import Sessions

OPENING = "/open"
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


class Guard:
    """Refuses requests that do not come from our own page in a browser that has the token.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass; it finds the session in ``scope["session"]``.
    sessions : Sessions
    token : str
        What the opening address carries.
    port : int
        The port that the ``Host`` header must name.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions, token: str, port: int) -> None:
        self._app = app
        self._sessions = sessions
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        # Cookies do not know ports: two servers on one machine need two names.
        self.cookie = f"reldep-{port}"

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
        """Find the session of a request, or say why it is refused."""
        headers = Headers(scope=scope)
        # A foreign name that leads to this machine (DNS rebinding) is still a foreign name.
        if headers.get("host", "") not in self._hosts:
            return refused("This address is not the one that the server listens on.", 421)
        if scope["path"] == OPENING and scope["method"] in SAFE_METHODS:
            return self._opened(scope, headers)
        session = self._sessions.find(self._cookie_of(headers))
        if session is None:
            return refused("Open the address that reldep app printed in the terminal.", 403)
        if scope["method"] not in SAFE_METHODS and not _is_from_our_page(headers):
            return refused("Only the page of this server may change anything.", 403)
        scope["session"] = session
        return None

    def _opened(self, scope: Scope, headers: Headers) -> Response:
        """Turn the token of the opening address into a cookie, a new one for every browser."""
        query = parse_qs(scope["query_string"].decode("latin1"))
        given = query.get("token", [""])[0]
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return refused("The token in the address is not the right one.", 403)
        response = RedirectResponse("/", status_code=303)
        session = self._sessions.find(self._cookie_of(headers)) or self._sessions.begin()
        response.set_cookie(self.cookie, session.key, httponly=True, samesite="strict", path="/")
        return response

    def _cookie_of(self, headers: Headers) -> str:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self.cookie].value if self.cookie in cookies else ""


def _is_from_our_page(headers: Headers) -> bool:
    """Tell whether the browser says that a page of this very server sent the request."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return False
    ours = f"http://{headers.get('host', '')}"
    return origin in (None, ours) and site in (None, "same-origin")


def refused(reason: str, status: int) -> HTMLResponse:
    """Say in a page why a request is refused."""
    page = element(
        "html",
        element("head", element("meta", charset="utf-8"), element("title", "reldep")),
        element("body", element("h1", "Not here"), element("p", reason)),
        lang="en",
    )
    return HTMLResponse("<!DOCTYPE html>\n" + page, status)


def _with_headers(send: Send) -> Send:
    """Add the headers that keep a browser from running or showing what it should not."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
