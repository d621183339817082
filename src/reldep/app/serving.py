"""Starting and ending the server."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from typing import TYPE_CHECKING

from reldep.app.guard import OPENING
from reldep.app.routes import application
from reldep.app.sessions import Sessions
from reldep.system import available_memory

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "127.0.0.1"
MEGABYTE = 1_000_000
# Libraries reserve addresses that they never fill.
RESERVED = 4_000_000_000
# Seconds that open requests have when Ctrl-C is pressed.
PATIENCE = 1


def serve(
    *,
    host: str = ADDRESS,
    port: int = 0,
    max_upload: int = 512 * MEGABYTE,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page on this machine until Ctrl-C.

    Parameters
    ----------
    host : str, default "127.0.0.1"
        The address to listen on. Nobody outside this machine can reach the default. A container
        listens on "0.0.0.0", and its machine decides who reaches it; requests must still call the
        server 127.0.0.1 or localhost, and bring the token.
    port : int, default 0
        The port to listen on; 0 for any that is free.
    max_upload : int
        The most bytes that a file may have.
    browser : bool, default True
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
        token = secrets.token_urlsafe(32)
        sessions = Sessions(available_memory() + RESERVED)
        address = f"http://{ADDRESS}:{own_port}{OPENING}?token={token}"
        config = uvicorn.Config(
            application(sessions, token, own_port, max_upload),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=PATIENCE,
            ws="none",
        )
        say(f"The page is at {address}\nCtrl-C ends it.")
        if browser:
            webbrowser.open(address)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            sessions.close()
