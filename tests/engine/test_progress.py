"""The progress bar: late, on a terminal only, and gone afterwards."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from reldep.engine import threads
from reldep.engine.threads import progress_bar

pty = pytest.importorskip("pty")

SHOW_CURSOR = "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(monkeypatch, delay=0.0):
    """Replace stderr; not a fixture, for pytest puts its own stderr back between phases."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(threads, "DELAY_SECONDS", delay)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def run_bar(steps):
    with progress_bar("tiles") as on_progress:
        for done in range(1, steps + 1):
            on_progress(done, steps)


def test_a_long_job_shows_a_bar_and_wipes_it_away(monkeypatch):
    terminal = open_terminal(monkeypatch)
    run_bar(4)
    assert "tiles" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    assert terminal.getvalue().rstrip("\n").endswith("\x1b[2K")  # the line is erased
    assert SHOW_CURSOR in terminal.getvalue()


def test_a_short_job_shows_nothing(monkeypatch):
    terminal = open_terminal(monkeypatch, delay=2.0)
    run_bar(4)
    assert terminal.getvalue() == ""


def test_a_job_that_is_already_done_shows_nothing(monkeypatch):
    terminal = open_terminal(monkeypatch)
    run_bar(1)
    assert terminal.getvalue() == ""


def test_nothing_is_written_into_a_pipe(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(threads, "DELAY_SECONDS", 0.0)
    run_bar(4)
    assert stream.getvalue() == ""


def test_a_function_of_ones_own_takes_the_place_of_the_bar(monkeypatch):
    terminal = open_terminal(monkeypatch)
    steps = []
    with progress_bar("tiles", lambda *step: steps.append(step)) as on_progress:
        on_progress(1, 4)
    assert steps == [(1, 4)]
    assert terminal.getvalue() == ""


def test_a_process_without_stderr_runs_all_the_same(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    run_bar(2)


def test_a_failing_job_leaves_no_bar_behind(monkeypatch):
    terminal = open_terminal(monkeypatch)

    def job():
        with progress_bar("tiles") as on_progress:
            on_progress(1, 4)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job()
    assert terminal.getvalue().count("tiles") >= 1
    assert SHOW_CURSOR in terminal.getvalue()


WAITING_JOB = """
import time
from reldep.engine import threads
threads.DELAY_SECONDS = 0.0
with threads.progress_bar("tiles") as on_progress:
    on_progress(1, 4)
    time.sleep(60)
"""


def test_ctrl_c_in_a_real_terminal_ends_the_bar_within_a_second():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING_JOB], stderr=theirs, env=environment
    ) as job:
        os.close(theirs)
        written = b""
        while b"tiles" not in written:
            written += os.read(ours, 4096)
        pressed = time.monotonic()
        job.send_signal(signal.SIGINT)
        try:
            while chunk := os.read(ours, 4096):
                written += chunk
        except OSError:  # Linux reports the end of a pseudo-terminal this way
            pass
        assert job.wait(timeout=5) != 0
        assert time.monotonic() - pressed < 2.0
    os.close(ours)
    assert SHOW_CURSOR.encode() in written
    assert b"KeyboardInterrupt" in written
