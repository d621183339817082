"""The child process: its limits, and that it can be replaced."""

from __future__ import annotations

import pytest

from reldep.app.jobs import CANCELLED, Task, Worker, WorkerError

READ = {"kind": "read", "files": ["a.csv"], "reading": {}}
PLENTY = 8_000_000_000


@pytest.fixture
def worker(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n2,1\n3,3\n")
    started = []

    def start(memory):
        started.append(Worker(tmp_path, memory))
        return started[-1]

    yield start
    for one in started:
        one.close()


def quiet(done, total):
    pass


def test_work_that_takes_too_long_is_stopped_and_the_next_is_not(worker):
    working = worker(PLENTY)
    with pytest.raises(WorkerError, match="stopped after 0 seconds"):
        working.run(READ, 0.05, quiet)
    assert working.run(READ, 60, quiet)["n_rows"] == 3


def test_work_beyond_the_memory_limit_ends_in_words(worker):
    with pytest.raises(WorkerError, match="more memory than it may"):
        worker(150_000_000).run(READ, 60, quiet)


def test_mistakes_in_a_file_come_back_as_words(worker):
    with pytest.raises(WorkerError, match=r"no file nowhere\.csv"):
        worker(PLENTY).run({**READ, "files": ["nowhere.csv"]}, 60, quiet)


def test_cancelled_job_delivers_nothing(worker):
    delivered = []
    working = worker(PLENTY)
    job = Task(working, "read", READ, delivered.append, 60)
    job.cancel()
    job.wait(10)
    assert job.state == CANCELLED
    assert delivered == []
    assert working.run(READ, 60, quiet)["n_rows"] == 3
