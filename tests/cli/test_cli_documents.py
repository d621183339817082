"""The shell lines in README and the guide run as they stand."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib import resources

import pytest

from cli.conftest import ROOT
from cli.mouse_files import write_mice
from reldep.cli.app import run

PAGES = (ROOT / "README.md", ROOT / "docs" / "guide" / "command-line.md")
SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shell_lines():
    blocks = [block for page in PAGES for block in SHELL_BLOCK.findall(page.read_text())]
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.search(r"(^|\| )reldep ", line)]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with the files that the pages name, and a command ``reldep``."""
    folder = tmp_path_factory.mktemp("documents")
    write_mice(folder)
    script = folder / "bin" / "reldep"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reldep "$@"\n')
    script.chmod(0o755)
    return folder


def written_by(line):
    return re.findall(r"--(?:plot|report) (\S+)", line)


@pytest.mark.parametrize("line", [line for line in shell_lines() if line.startswith("reldep ")])
def test_a_documented_command_runs(workplace, monkeypatch, capsys, line):
    monkeypatch.chdir(workplace)
    assert run(shlex.split(line)[1:]) == 0
    said = capsys.readouterr()
    assert said.out
    assert said.err == ""
    assert all((workplace / name).stat().st_size > 1000 for name in written_by(line))


@pytest.mark.parametrize("line", [line for line in shell_lines() if "| reldep" in line])
def test_a_documented_pipe_runs(workplace, environment, line):
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=workplace,
        env={**environment, "PATH": f"{workplace / 'bin'}:{environment['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    assert done.stderr == ""


def test_the_pages_show_commands():
    assert len(shell_lines()) >= 9


def test_every_field_of_the_json_is_documented():
    schema = json.loads(resources.files("reldep.cli").joinpath("result.schema.json").read_text())
    table = PAGES[1].read_text().partition("## JSON")[2]
    assert set(schema["properties"]) <= set(re.findall(r"`(\w+)`", table))
