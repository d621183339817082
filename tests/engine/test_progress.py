"""The progress bar: late, on a terminal only, and gone afterwards."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import numpy as np
import pytest

from reldep.engine import Tiled, compute_influence
from reldep.engine.threads import progress_bar
from reldep.kernels import Laplace

pty = pytest.importorskip("pty")

SHOW_CURSOR = "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, steps, until=None, **options):
    """Return what a bar writes; the job stops after `until` steps, by an interrupt."""
    with redirect_stderr(stream), progress_bar("tiles", **options) as on_progress:
        for done in range(1, steps + 1):
            on_progress(done, steps)
            if done == until:
                raise KeyboardInterrupt
    return "" if stream is None else stream.getvalue()


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def test_a_long_job_shows_a_bar_and_wipes_it_away():
    written = shown(Terminal(), 4, delay=0.0)
    assert "tiles" in written
    assert "100%" in written
    assert written.rstrip("\n").endswith("\x1b[2K")  # the line is erased
    assert SHOW_CURSOR in written


@pytest.mark.parametrize(
    ("stream", "steps", "options"),
    [
        (Terminal(), 4, {}),  # a short job
        (Terminal(), 1, {"delay": 0.0}),  # a job that is already done
        (io.StringIO(), 4, {"delay": 0.0}),  # a pipe
        (None, 2, {"delay": 0.0}),  # a process without stderr
    ],
)
def test_nothing_is_shown_where_nobody_waits_or_looks(stream, steps, options):
    assert shown(stream, steps, **options) == ""


def test_a_function_of_ones_own_takes_the_place_of_the_bar():
    steps = []
    assert not shown(Terminal(), 4, on_progress=lambda *step: steps.append(step), delay=0.0)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_failing_job_leaves_no_bar_behind():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt):
        shown(terminal, 4, until=1, delay=0.0)
    assert "tiles" in terminal.getvalue()
    assert SHOW_CURSOR in terminal.getvalue()


def test_progress_is_told_to_the_end_of_both_sweeps():
    rng = np.random.default_rng(0)
    kernels = {n: Laplace("mean").fit(rng.normal(size=(700, 2))) for n in "xy"}
    seen = []
    engine = Tiled(on_progress=lambda done, total: seen.append((done, total)))
    compute_influence(kernels, [("x", "y")], engine)
    total = seen[0][1]
    assert seen == [(done, total) for done in range(1, total + 1)]
    assert total == 2 * 3
