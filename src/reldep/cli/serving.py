"""The command ``reldep app``: the page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from reldep.cli.delivery import say

MEGABYTE = 1_000_000


def app(
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 for any free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="The largest file to take, in megabytes.")
    ] = 512,
) -> None:
    """Ask in the browser: drop a file, pick the columns, read the answer.

    The page is served to this machine only, and the data do not leave it.
    """
    from reldep.kernels.machine import import_extra

    for module in ("starlette", "uvicorn", "python_multipart"):
        import_extra(module, extra="app", purpose="reldep app")
    from reldep.app.serving import serve

    serve(port=port, max_upload=max_upload * MEGABYTE, browser=browser, say=say)
