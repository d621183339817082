"""The child process: it reads files and computes, within limits, and tells how far it is.

It takes one job per line on standard input, as JSON, and answers in lines of JSON: progress, then
a result or an error in words.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.questions.request import Request

# The files of an answer, with their kinds and what the page calls them.
FILES = {
    "report.html": ("text/html; charset=utf-8", "Report (HTML)"),
    "table.csv": ("text/csv; charset=utf-8", "Table (CSV)"),
    "table.tex": ("text/plain; charset=utf-8", "Table (LaTeX)"),
    "picture.svg": ("image/svg+xml", "Picture (SVG)"),
    "picture.png": ("image/png", "Picture (PNG)"),
    "answer.json": ("application/json", "Numbers (JSON)"),
}
# The part of the page that shows an answer.
SHOWN = "shown.html"


def main(folder: str, memory: int) -> None:
    """Take jobs until standard input ends."""
    limit(memory)
    # What a library prints must not get between the lines of this process.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    os.chdir(folder)

    def tell(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said) + "\n")

    jobs: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    _warm_up()
    while True:
        work = json.loads(jobs.get())
        tell(_done(work, tell))


def limit(memory: int) -> None:
    """Bound the address space of this process, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = memory if most == resource.RLIM_INFINITY else min(memory, most)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
    except (ValueError, OSError):
        return  # some systems know the limit and do not let it be set


def _listen(jobs: queue.Queue[str]) -> None:
    """Pass jobs on; when the server is gone, this process ends with all that it started."""
    for line in sys.stdin:
        jobs.put(line)
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _warm_up() -> None:
    """Load the libraries while nobody waits for them."""
    import polars  # noqa: F401

    import reldep.app.overview
    import reldep.questions.request
    import reldep.report.vector  # noqa: F401


def _done(work: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do one job; whatever goes wrong is one message."""
    from reldep.app.fields import message, remedies
    from reldep.engine.threads import LISTENER

    last = [0.0]

    def on_progress(done: int, total: int) -> None:
        now = time.monotonic()
        # The page looks every second or so.
        if now - last[0] > 0.1 or done >= total:
            last[0] = now
            tell({"progress": [done, total]})

    token = LISTENER.set(on_progress)
    try:
        with warnings.catch_warnings():
            # Cautions stand in the answer.
            warnings.simplefilter("ignore")
            return {"result": _result(work)}
    except Exception as error:
        # The edge of the program: inside, nothing is caught that is not understood.
        return {"error": message(error), "remedies": remedies(str(error))}
    finally:
        LISTENER.reset(token)


def _result(work: dict[str, Any]) -> Any:
    from reldep.app.overview import described
    from reldep.questions.request import Request

    if work["kind"] == "read":
        return described(work["files"], work["reading"])
    request = Request.from_dict(work["request"])
    if work["kind"] == "plan":
        return {"plan": str(request.plan()) if request.has_plan else ""}
    return answer(request, Path(work["folder"]), bandwidths=work["bandwidths"])


def answer(request: Request, folder: Path, *, bandwidths: bool) -> dict[str, Any]:
    """Answer a request, write the answer's files into a folder, and return what the page lists."""
    from reldep import report
    from reldep.app.fields import in_page, remedies
    from reldep.report.vector import image, svg

    found, curve = request.run_over_bandwidths() if bandwidths else (request.run(), None)
    parts = found.describe(request.alpha)
    if curve is not None:
        parts = parts.beside(curve.describe(request.alpha))
    worded = replace(parts.reworded(in_page), call=request.command())
    draw = parts.pictures[0].draw
    files: dict[str, str | bytes] = {
        SHOWN: report.article(worded, f"answer-{folder.name}"),
        "report.html": report.page(worded),
        "table.csv": report.csv_text(parts.table, for_spreadsheets=True),
        "table.tex": report.latex_table(parts),
        "picture.svg": svg(draw),
        "picture.png": image(draw, ".png"),
        "answer.json": json.dumps(report.dictionary(parts), indent=2, allow_nan=False),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return {
        "question": parts.question,
        "sentence": parts.sentence,
        "command": request.command(),
        "python": request.code(),
        "remedies": [one for caution in parts.cautions for one in remedies(str(caution))],
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
