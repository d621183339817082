"""Real files of every kind, and a way to ask about them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.mouse_files import mouse_table, write_mice
from reldep.cli import main

ROOT = Path(__file__).parents[2]


class Said(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture(scope="session")
def mice():
    return mouse_table()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of files that no test writes into."""
    path = tmp_path_factory.mktemp("mice")
    write_mice(path)
    return path


@pytest.fixture
def ask(folder, monkeypatch, capsys):
    """Run one command in this process, inside the folder."""
    monkeypatch.chdir(folder)

    def asked(*words):
        capsys.readouterr()
        status = main([str(word) for word in words])
        return Said(status, *capsys.readouterr())

    return asked


@pytest.fixture
def environment():
    """The environment of a command run in another process, on a terminal of known width."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("_RELDEP")}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100", "MPLBACKEND": "Agg"}


@pytest.fixture
def command(folder, environment):
    """Run ``python -m reldep``, or a program of one's own, in another process."""

    def called(*words, code="", extra=None, cwd=folder, **settings):
        done = subprocess.run(
            [sys.executable, *(["-c", code] if code else ["-m", "reldep"]), *map(str, words)],
            cwd=cwd,
            env={**environment, **(extra or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            **settings,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return called
