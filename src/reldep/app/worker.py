"""The child process: it reads files and computes, within limits, and tells how far it is.

It takes one job a line on standard input, as JSON, and answers in lines of JSON: progress, then
a result or an error in words.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds between two lines about progress.
PAUSE = 0.1


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
    """Pass jobs on; when the server is gone, so is this process, whatever it was doing."""
    for line in sys.stdin:
        jobs.put(line)
    os._exit(0)


def _warm_up() -> None:
    """Load the libraries while nobody waits for them."""
    import polars  # noqa: F401

    import reldep.app.answering
    import reldep.app.reading  # noqa: F401


def _done(work: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do one job; whatever goes wrong is one message."""
    from reldep.app.wording import message
    from reldep.engine.threads import LISTENER

    last = [0.0]

    def on_progress(done: int, total: int) -> None:
        now = time.monotonic()
        if now - last[0] > PAUSE or done >= total:
            last[0] = now
            tell({"progress": [done, total]})

    token = LISTENER.set(on_progress)
    try:
        with warnings.catch_warnings():
            # Cautions stand in the answer.
            warnings.simplefilter("ignore")
            return {"result": _result(work)}
    except MemoryError as error:
        return {"error": f"Not enough memory. {error}".strip()}
    except Exception as error:
        # The edge of the program: inside, nothing is caught that is not understood.
        return {"error": message(error)}
    finally:
        LISTENER.reset(token)


def _result(work: dict[str, Any]) -> Any:
    from reldep.app.answering import answer, plan
    from reldep.app.reading import described
    from reldep.questions.request import Request

    if work["kind"] == "read":
        return described(work["files"], work["join"], work["reading"])
    request = Request.from_dict(work["request"])
    if work["kind"] == "plan":
        return plan(request)
    return answer(request, Path(work["folder"]), work["number"], bandwidths=work["bandwidths"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
