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
from reldep.stats.correlation import as_correlation

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
    """Return every Python block with the output shown directly below it, or None."""
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
            if shown:
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
    lines = [re.sub(r"\s+#.*", "", line) for line in text.replace("\\\n", " ").splitlines()]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with the files that the pages name, as the command makes them."""
    folder = tmp_path_factory.mktemp("documents")
    assert run(["demo", "--files", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("line", shell_lines())
def test_a_documented_command_works(line, workplace, monkeypatch, capsys):
    """What takes minutes, serves until it is stopped or needs docker is checked by its words."""
    monkeypatch.chdir(workplace)
    program, *words = shlex.split(line)
    if "| reldep " in line:
        check_pipe(line, workplace)
    elif program == "reldep":
        check_command(words, workplace, capsys)
    elif line.startswith("docker run "):
        mounted = re.search(r"-v \S+:(/\S+)", line)
        inside = [word.replace(mounted[1], str(workplace)) if mounted else word for word in words]
        check_command(inside[inside.index("reldep") + 1 :], workplace, capsys)
    elif line.startswith("pip install "):
        check_extras(words[-1])
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[0] in targets
    elif line.startswith("git show "):
        check_commit(words[1:])
    else:
        assert line == "docker build --tag reldep ."


def check_command(words, workplace, capsys):
    if words[0] == "app":
        command = typer.main.get_command(application(["app"])).commands["app"]
        assert command.make_context("app", words[1:]).params
        return
    capsys.readouterr()
    assert run(words) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert said.out
    assert said.err == ""
    for option, name in itertools.pairwise(words):
        if option in ("--plot", "--report", "--out"):
            assert (workplace / name).stat().st_size > 1000


def check_pipe(line, workplace):
    if os.name != "posix":
        pytest.skip("a pipe of a POSIX shell")
    there = line.replace("| reldep ", f"| '{sys.executable}' -m reldep ")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = shell(["sh", "-c", there], workplace, env=environment)
    assert done.stdout
    assert done.stderr == ""


def shell(words, folder, **options):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, **options)


def check_extras(what):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.match(r"(\.|reldep)(\[|$)", what)
    for extra in re.findall(r"\w+", what.partition("[")[2]):
        assert extra in declared["optional-dependencies"]


def check_commit(words):
    if shell(["git", "rev-parse", "--is-shallow-repository"], ROOT).stdout != "false\n":
        pytest.skip("not a clone with its whole history")
    assert shell(["git", "show", "--stat", "--format=", *words], ROOT).stdout.strip()


def test_links_between_pages_lead_somewhere():
    """No link goes to a page that exists only once the documentation is built."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", text):
            assert (page.parent / target).exists(), f"{named(page)} links to {target}"
            assert not target.startswith(MADE_BY_THE_BUILD), f"{named(page)} links to {target}"


def test_the_files_that_contributing_names_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/.]+/[\w.]*\.pyi?)`|python (\w+/\w+\.py)", text)
    paths = [one or other for one, other in named]
    assert len(paths) > 12
    homes = (ROOT, ROOT / "src", ROOT / "src/reldep")
    assert [path for path in paths if not any((home / path).is_file() for home in homes)] == []


def test_the_table_of_strengths_is_that_of_the_program():
    text = (ROOT / "docs/guide/how-large.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (correlation|CKA|squared).*?\|(.*)\|$", text, re.MULTILINE)
    r, cka, dcor = ([float(cell) for cell in cells.split("|")] for _, cells in rows)
    assert as_correlation(cka) == pytest.approx(r, abs=0.01)
    assert as_correlation(dcor, "distance") == pytest.approx(r, abs=0.01)
