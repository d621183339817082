"""Every example in README and docs runs, in Python and in the shell, and every link leads on."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest
import typer

from reldep.cli.app import application, run

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in p.parts),
]
MADE_BY_THE_BUILD = ("auto_examples", "api/generated", "_build")
FENCED = r"^```{}\n(.*?)^```"


def blocks(page, language):
    pattern = re.compile(FENCED.format(language), re.MULTILINE | re.DOTALL)
    return pattern.findall(page.read_text(encoding="utf-8"))


def named(page):
    return str(page.relative_to(ROOT))


def python_blocks(page):
    """Give every Python block with the output shown directly below it, or None."""
    pattern = r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def words_and_numbers(text):
    """Take a printed text apart; widths of columns and lengths of rules do not count."""
    words = re.sub(r"[\s─═┄-]+", " ", NUMBER.sub("#", text)).split()
    return words, [float(found) for found in NUMBER.findall(text)]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=named)
def test_examples_of_a_page_run_in_order_and_print_what_it_shows(page, tmp_path, monkeypatch):
    """Digits may differ a little between machines and versions, words may not."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code, shown in python_blocks(page):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(code, named(page), "exec"), names)  # noqa: S102
            if shown and page.is_relative_to(ROOT / "docs"):
                words, numbers = words_and_numbers(said.getvalue())
                expected, values = words_and_numbers(shown)
                assert words == expected
                assert numbers == pytest.approx(values, rel=0.03, abs=2e-3)


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("plot_*.py")), ids=named)
def test_gallery_scripts_run(script):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "reldep" in runpy.run_path(str(script))


def shell_lines():
    """List the lines of all shell blocks once, continued lines joined, comments taken off."""
    text = "\n".join(block for page in PAGES for block in blocks(page, "(?:sh|bash|console)"))
    words = [shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines()]
    assert len(words) >= 12, "the pages show commands"
    lines = [re.sub(r"\s+#.*", "", line) for line in text.replace("\\\n", " ").splitlines()]
    return list(dict.fromkeys(line for line, found in zip(lines, words, strict=True) if found))


LINES = shell_lines()
# These take minutes or serve until they are stopped; their words are checked, not their work.
ENDLESS = ("reldep app",)
DOCKER = re.compile(r"^docker run .*?\breldep (?P<command>.*)$")
MOUNTED = re.compile(r"-v \S+:(/\S+)")


def of_kind(*starts):
    return [line for line in LINES if line.startswith(starts)]


def in_process(line):
    return line.startswith("reldep ") and not line.startswith(ENDLESS) and "|" not in line


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with the files that the pages name, as the command makes them."""
    folder = tmp_path_factory.mktemp("documents")
    assert run(["demo", "--files", str(folder)]) == 0
    return folder


def check_command(words, workplace, monkeypatch, capsys):
    monkeypatch.chdir(workplace)
    capsys.readouterr()
    assert run(words) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert said.out
    assert said.err == ""
    for option, name in itertools.pairwise(words):
        if option in ("--plot", "--report", "--out"):
            assert (workplace / name).stat().st_size > 1000


@pytest.mark.parametrize("line", [line for line in LINES if in_process(line)])
def test_a_documented_command_runs(workplace, monkeypatch, capsys, line):
    check_command(shlex.split(line)[1:], workplace, monkeypatch, capsys)


@pytest.mark.skipif(os.name != "posix", reason="a pipe of a POSIX shell")
@pytest.mark.parametrize("line", [line for line in LINES if "| reldep " in line])
def test_a_documented_pipe_runs(workplace, tmp_path, line):
    script = tmp_path / "reldep"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reldep "$@"\n')
    script.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=workplace,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    assert done.stderr == ""


def check_words(line):
    _, name, *words = shlex.split(line)
    command = typer.main.get_command(application([name])).commands[name]
    assert command.make_context(name, words).params


def test_long_documented_commands_are_understood():
    for line in of_kind(*ENDLESS):
        check_words(line)


def test_commands_in_the_container_run_outside_it(workplace, monkeypatch, capsys):
    for line in of_kind("docker run"):
        found = DOCKER.match(line)
        assert found, "docker run … reldep COMMAND"
        words = shlex.split(found["command"])
        if words[0] == "app":
            check_words(f"reldep {found['command']}")
        else:
            mounted = MOUNTED.search(line)
            assert mounted, "docker run … -v HERE:THERE … reldep COMMAND"
            there = [word.replace(mounted[1], str(workplace)) for word in words]
            check_command(there, workplace, monkeypatch, capsys)


@pytest.mark.parametrize("line", of_kind("pip install"))
def test_documented_extras_exist(line):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    what = shlex.split(line)[-1]
    assert re.match(r"(\.|reldep)(\[|$)", what)
    for extra in re.findall(r"\w+", what.partition("[")[2]):
        assert extra in declared["optional-dependencies"]


@pytest.mark.parametrize("line", of_kind("make"))
def test_documented_targets_exist(line):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert line.split()[1] in targets


def test_no_shell_line_goes_unchecked():
    known = ("reldep ", "docker run ", "docker build ", "pip install ", "make ")
    assert [line for line in LINES if not line.startswith(known) and "| reldep " not in line] == []


def test_links_between_pages_lead_somewhere():
    """No link goes to a page that exists only once the documentation is built."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", text):
            assert (page.parent / target).exists(), f"{named(page)} links to {target}"
            assert not target.startswith(MADE_BY_THE_BUILD), f"{named(page)} links to {target}"


def test_no_page_has_a_placeholder_left():
    written = [*PAGES, *(ROOT / "src").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
    left = [named(p) for p in written if re.search(r"@@\w+@@|\bTBD\b", p.read_text("utf-8"))]
    assert left == []
