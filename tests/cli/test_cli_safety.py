"""What strangers can put in the way: names of columns, files in the current folder, closed streams.

Each test stands for a sentence of SECURITY.md.
"""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cli.mouse_files import QUESTION

COMPARE = ("compare", "mice.csv", *QUESTION)
# Each would write a file called "hacked" if a shell took it for a command.
RUN = "touch hacked"
HOSTILE = [f"$({RUN})", rf"\$({RUN})", f"`{RUN}`", f"x))'; {RUN}; '((", f"a\x15{RUN}\r"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def hostile(tmp_path, environment):
    """A folder with tables of hostile names, and a command `reldep` for a shell."""
    for i, name in enumerate(HOSTILE):
        (tmp_path / f"{i}.csv").write_text(f"{quoted(name)}\n1\n2\n")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "reldep"
    counted = f'if [ -n "$_RELDEP_COMPLETE" ]; then echo >> "{tmp_path}/completed"; fi'
    command.write_text(f'#!/bin/sh\n"{sys.executable}" -P -m reldep "$@"\n{counted}\n')
    command.chmod(0o755)
    place = {"PATH": f"{tmp_path / 'bin'}:{environment['PATH']}", "HOME": str(tmp_path)}
    return tmp_path, {**environment, **place, "TERM": "dumb", "HISTFILE": "", "PS1": "READY>"}


def drain(terminal):
    """Read what a terminal shows until its shell has ended."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass


def press_tab_and_enter(shell, setup, folder, environment):
    """Complete the column of every table in a shell on a terminal, and take what it completed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(shell[0], shell, environment)  # noqa: S606
    threading.Thread(target=drain, args=(terminal,)).start()
    os.write(terminal, setup + b" . ./completion\r")
    completed = folder / "completed"
    for i in range(len(HOSTILE)):
        os.write(terminal, f"reldep describe {i}.csv --numbers \t".encode())
        end = time.monotonic() + 60
        while not completed.exists() or completed.stat().st_size < i + 1:
            assert time.monotonic() < end, i
            time.sleep(0.05)
        # The shell shows what it got, and runs it; then a line that is still open is given up.
        for keys in (b"\r", b"\x03\r"):
            time.sleep(0.4)
            os.write(terminal, keys)
    os.write(terminal, b"exit\r")
    os.waitpid(pid, 0)


@pytest.mark.parametrize(
    "shell", [["bash", "--norc", "-i"], ["zsh", "-f", "-i"]], ids=lambda shell: shell[0]
)
def test_names_of_columns_run_nothing_in_a_shell(hostile, shell):
    """TAB lists and completes the names, and Enter asks about what was completed."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    folder, environment = hostile
    named = {**environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = subprocess.run(
        [folder / "bin" / "reldep", "--show-completion", shell[0]],
        env=named, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (folder / "completion").write_text(script)
    setup = b"autoload -Uz compinit; compinit -u -D;" if shell[0] == "zsh" else b""
    press_tab_and_enter(shell, setup, folder, environment)
    assert not (folder / "hacked").exists()


def test_bash_is_offered_names_in_quotes_and_other_shells_plain_ones(command, hostile):
    folder, _ = hostile
    (folder / "two.csv").write_text("plain,$(touch hacked),b\x07d\n1,2,3\n")
    line = "reldep describe two.csv --numbers "
    for shell, proposed in (("bash", """plain\n'"$(touch hacked)"'\n"""), ("fish", "plain\n")):
        extra = {"_RELDEP_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        extra |= {"COMP_WORDS": line, "COMP_CWORD": "4", "_TYPER_COMPLETE_ARGS": line}
        assert command(extra=extra, cwd=folder).out == proposed


def test_files_in_the_current_folder_change_nothing(command, tmp_path):
    """Settings of numba and matplotlib that a stranger put next to the data are not read."""
    (tmp_path / "home").mkdir()
    values = np.random.default_rng(0).normal(size=(2500, 3)).round(4)
    np.savetxt(tmp_path / "t.csv", values, delimiter=",", header="x,y,z", comments="", fmt="%s")
    words = ["compare", "t.csv", "--source", "x", "--first", "y", "--second", "z"]
    words += ["--engine", "tiled", "--plot"]
    extra = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    assert command(*words, "before.png", cwd=tmp_path, extra=extra).status == 0
    (tmp_path / ".numba_config.yaml").write_text(
        f"cache_dir: {tmp_path}/stolen\ndisable_jit: 1\ndump_bytecode: 1\n"
    )
    (tmp_path / "matplotlibrc").write_text("figure.facecolor: red\ntext.usetex: True\n")
    said = command(*words, "after.png", cwd=tmp_path, extra=extra)
    assert (said.status, said.err) == (0, "")
    assert "dump" not in said.out.lower()
    assert not (tmp_path / "stolen").exists()
    assert (tmp_path / "after.png").read_bytes() == (tmp_path / "before.png").read_bytes()
    cache = tmp_path / "home" / ".cache" / "reldep" / "compiled"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert any(cache.rglob("*.nbi"))


def test_modules_in_the_current_folder_are_not_imported(command, tmp_path):
    """Python puts the folder first for ``python -m``; the command takes it away again."""
    for name in ("numpy", "polars", "narwhals", "typer", "json", "random", "csv"):
        (tmp_path / f"{name}.py").write_text("open('hacked', 'w')")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,3\n")
    said = command("describe", "t.csv", cwd=tmp_path)
    assert (said.status, said.err) == (0, "")
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("home", ["linked", "/proc/nowhere"])
def test_a_cache_that_is_not_the_users_own_is_not_used(command, tmp_path, home):
    if home == "linked":
        (tmp_path / ".cache" / "reldep").mkdir(parents=True)
        (tmp_path / ".cache" / "reldep" / "compiled").symlink_to(tmp_path)
        home = str(tmp_path)
    code = "from reldep.system import _own_cache; print(repr(_own_cache()))"
    extra = {"HOME": home, "XDG_CACHE_HOME": "", "MPLCONFIGDIR": "/proc/nowhere"}
    assert command(code=code, extra=extra).out == "''\n"
    said = command(*COMPARE, "--plot", tmp_path / "a.png", extra=extra)
    assert said.status == 0
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("words", "closed", "status", "said"),
    [
        ("--version", ">&-", 1, "Error: standard output is closed; send it somewhere.\n"),
        ("describe -", "<&-", 2, "Error: "),
        ("describe mice.csv", "<&- 2>&-", 0, ""),
        ("describe nowhere.csv", "2>&-", 2, ""),
    ],
)
def test_closed_streams_end_in_words(folder, environment, words, closed, status, said):
    line = f'"{sys.executable}" -m reldep {words} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(said)
    assert "unexpected" not in done.stderr
    assert done.stderr.count("\n") <= 1


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes")
def test_file_names_that_are_not_text_end_in_words(folder, environment, tmp_path):
    name, report = (os.fsencode(tmp_path) + end for end in (b"/m\xff.csv", b"/r\xfe.html"))
    Path(os.fsdecode(name)).write_bytes((folder / "mice.csv").read_bytes())
    for file, status in ((name, 2), (b"mice.csv", 0)):
        done = subprocess.run(
            [sys.executable, "-m", "reldep", "compare", file, *QUESTION, "--report", report],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert (r"m\udcff.csv is not valid UTF-8; rename the file." in done.stderr) == bool(status)
    assert done.stderr == ""
    assert Path(os.fsdecode(report)).stat().st_size > 10_000


@pytest.mark.parametrize(("flag", "ending"), [("--report", "html"), ("--plot", "png")])
def test_files_of_others_are_kept_and_ours_are_written_again(ask, tmp_path, flag, ending):
    mine, ours = tmp_path / f"mine.{ending}", tmp_path / f"ours.{ending}"
    mine.write_text("mine")
    for _ in range(2):
        assert ask(*COMPARE, flag, ours).status == 0
    said = ask(*COMPARE, flag, mine)
    assert said.status == 2
    assert said.err.endswith(
        "it exists and was not made by reldep; choose another name, or pass --overwrite.\n"
    )
    assert mine.read_text() == "mine"
    assert ask(*COMPARE, flag, mine, "--overwrite").status == 0
    assert mine.read_bytes() == ours.read_bytes()


def test_the_data_are_not_replaced_by_an_answer(ask, tmp_path, folder):
    data = tmp_path / "data.html"
    data.write_bytes((folder / "mice.csv").read_bytes())
    said = ask("compare", data, *QUESTION, "--report", data, "--overwrite", "--delimiter", ",")
    assert said.status == 2
    assert "the data are in it; choose another name." in said.err
    assert data.read_bytes() == (folder / "mice.csv").read_bytes()


def test_the_demo_replaces_nothing_of_others(ask, tmp_path):
    (tmp_path / "lipids.csv").write_text("my,own\n1,2\n")
    said = ask("demo", "--files", tmp_path)
    assert said.status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["lipids.csv"]
    assert ask("demo", "--files", tmp_path / "new").status == 0
    assert ask("demo", "--files", tmp_path / "new").status == 0  # the same again
    assert ask("demo", "--files", tmp_path, "--overwrite").status == 0
    assert "my,own" not in (tmp_path / "lipids.csv").read_text()
