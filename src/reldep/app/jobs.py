"""Work in a child process that can be watched, stopped and replaced."""

from __future__ import annotations

import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reldep.app.fields import in_page, message, remedies
from reldep.engine.threads import LISTENER, OnProgress
from reldep.exceptions import InputError
from reldep.questions.request import Request

RUNNING, FOLLOWED, DONE, FAILED, CANCELLED = "running", "followed", "done", "failed", "cancelled"
# Seconds after which work at a page counts as hanging; the command line has no limit.
READING_SECONDS, COMPUTING_SECONDS = 300.0, 3600.0


class WorkerError(Exception):
    """The child process could not do a job; the message is for the person at the page.

    Parameters
    ----------
    message : str
    remedies : sequence of (str, str)
        Options with values that the message proposes.
    """

    def __init__(self, message: str, remedies: Sequence[Sequence[str]] = ()) -> None:
        super().__init__(message)
        self.remedies = remedies


class Worker:
    """A child process that takes one job at a time.

    It is started before the first job, since loading the libraries takes seconds, and again
    after it was stopped.

    Parameters
    ----------
    folder : Path
        Where the files of the session lie; the names of files in jobs are relative to it.
    memory : int
        How many bytes of address space it may use.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        self._folder = folder
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def start(self) -> subprocess.Popen[bytes]:
        """Return the running process; a new one where there is none."""
        with self._lock:
            if self._is_closed:
                raise WorkerError("The server is ending.")
            if self._process is None or self._process.poll() is not None:
                # Without -P a file named like a module would be imported in its place.
                command = [sys.executable, "-P", "-m", "reldep.app.jobs"]
                self._process = subprocess.Popen(  # noqa: S603 (our own module)
                    [*command, str(self._folder), str(self._memory)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in the terminal ends the server, in order
                )
            return self._process

    def run(self, work: Mapping[str, Any], seconds: float, on_progress: OnProgress) -> Any:
        """Return the result of a job; raise `WorkerError` if it fails or is stopped."""
        process = self.start()
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            return self._talk(process, work, on_progress)
        except EOFError:
            self._discard(process)
            if late.is_set():
                raise WorkerError(
                    f"The work was stopped after {seconds:,.0f} seconds, the most that it may take."
                ) from None
            raise WorkerError(
                "The work ended at once: it took more memory than it may, or crashed. Choose "
                "fewer columns or rows, or a smaller file."
            ) from None
        finally:
            timer.cancel()

    def _talk(
        self, process: subprocess.Popen[bytes], work: Mapping[str, Any], on_progress: OnProgress
    ) -> Any:
        """Send a job and listen to lines until there is a result."""
        into, out = process.stdin, process.stdout
        if into is None or out is None:
            raise EOFError
        try:
            into.write(json.dumps(work).encode() + b"\n")
            into.flush()
            while "progress" in (said := json.loads(out.readline())):
                on_progress(*said["progress"])
        except (OSError, ValueError):
            # A process that was ended leaves no line, half of one, or a pipe that is closed.
            raise EOFError from None
        if "error" in said:
            raise WorkerError(said["error"], said["remedies"])
        return said["result"]

    def stop(self) -> None:
        """End the process and whatever it is doing."""
        if self._process is not None:
            self._discard(self._process)

    def _discard(self, process: subprocess.Popen[bytes]) -> None:
        """End one process; another one may have taken its place already, and stays."""
        with self._lock:
            if self._process is process:
                self._process = None
        _kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                # Bytes that the dead process did not take cannot be sent any more.
                with suppress(OSError, ValueError):
                    pipe.close()

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        self.stop()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    if sys.platform == "win32":
        process.kill()
        return
    # It leads a group of its own, which may be left when the process itself has ended.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@dataclass
class Task:
    """One piece of work of a session, on a thread that waits for the child process.

    Attributes
    ----------
    worker : Worker
    kind : str
        What is done: "read", "plan" or "answer".
    work : mapping
        The job as the child process takes it.
    finish : callable
        Takes the result, on the thread of the job, before the job counts as done. May return
        what is to be done next.
    limit : float
        The most seconds it may take.
    fail : callable, optional
        Called before the job counts as failed.
    """

    worker: Worker
    kind: str
    work: Mapping[str, Any]
    finish: Callable[[Any], Callable[[], None] | None]
    limit: float
    fail: Callable[[], None] = lambda: None
    state: str = RUNNING
    error: str = ""
    remedies: Sequence[Sequence[str]] = ()
    done: int = 0
    total: int = 0
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"reldep {self.kind}")
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it is still at work."""
        return self.state in (RUNNING, FOLLOWED)

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self.began

    def _run(self) -> None:
        try:
            result = self.worker.run(self.work, self.limit, self._advance)
            if self.state == RUNNING:
                following = self.finish(result)
                if following is not None:
                    self.state = FOLLOWED
                    following()
                self.state = DONE
        except WorkerError as error:
            if self.state == RUNNING:
                self.fail()
                self.error, self.remedies, self.state = str(error), error.remedies, FAILED
        except InputError as error:
            # What was to follow cannot be asked.
            self.error, self.state = message(error), FAILED
        except OSError as error:
            self.error, self.state = f"The work could not be started: {error}", FAILED

    def _advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def cancel(self) -> None:
        """Stop the work by ending the process that does it."""
        if self.state == RUNNING:
            self.state = CANCELLED
            self.worker.stop()

    def wait(self, seconds: float) -> None:
        """Wait until it is done, but no longer than this many seconds."""
        self._thread.join(seconds)


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
    # The libraries are loaded while nobody waits for them.
    for module in ("polars", "reldep.app.data", "reldep.report.vector"):
        importlib.import_module(module)
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


def _done(work: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do one job; whatever goes wrong is one message."""
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
    from reldep.app.data import described

    if work["kind"] == "read":
        return described(work["files"], work["reading"])
    request = Request.from_dict(work["request"])
    if work["kind"] == "plan":
        return {"plan": str(request.plan()) if request.has_plan else ""}
    return answer(request, Path(work["folder"]), bandwidths=work["bandwidths"])


def answer(request: Request, folder: Path, *, bandwidths: bool) -> dict[str, Any]:
    """Answer a request, write the answer's files into a folder, and return what the page lists."""
    from reldep import report
    from reldep.report.vector import image, svg

    parts = request.describe(bandwidths=bandwidths)
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
        "sentence": worded.sentence,
        "command": request.command(),
        "python": request.code(),
        "remedies": [one for caution in parts.cautions for one in remedies(str(caution))],
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
