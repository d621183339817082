"""The installed command, in a process of its own: pipes, signals, full disks, colours."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.mouse_files import QUESTION, mouse_table

resource = pytest.importorskip("resource", reason="limits, pipes and signals of POSIX")

COMPARE = ("compare", "mice.csv", *QUESTION)
GENES = {f"x=diet,{name}" for name in mouse_table().columns if name.startswith("gene_")}


def test_the_installed_command_answers(folder, environment):
    script = shutil.which("reldep", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("the package is not installed beside this Python")
    done = subprocess.run(
        [script, *COMPARE], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("diet is more closely related to lipids than to genes")
    assert done.stderr == ""


def test_standard_input_joins_files(command, folder):
    said = command(
        *("compare", "-", "lipids.csv", "genes.parquet", "--join", "id", *QUESTION, "--csv"),
        input=(folder / "design.csv").read_text(),
    )
    assert said.status == 0
    assert said.out.startswith(
        "relation,estimate,as_correlation,standard_error,low,high,statistic,pvalue\n"
        "diet ~ lipids,0.6"
    )


def test_a_reader_that_leaves_early_sees_no_traceback(folder, environment):
    process = subprocess.Popen(
        [sys.executable, "-m", "reldep", *COMPARE, "--csv"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_told_once(environment):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "reldep", "--version"],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


def test_a_disk_that_fills_leaves_nothing_half_written(command, tmp_path):
    path = tmp_path / "answer.html"
    path.write_text("old")
    said = command(*COMPARE, "--report", path, "--overwrite", preexec_fn=limit_files)
    assert said.status == 1
    assert said.err == f"Error: cannot write {path}: File too large\n"
    assert said.out.startswith("diet is more closely related")
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["answer.html"]


def test_control_c_stops_at_once(environment):
    process = subprocess.Popen(
        [sys.executable, "-m", "reldep", "describe", "-"],
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # More than a pipe takes: once it is written, the command is known to be reading.
    process.stdin.write(b"a,b\n" + 100_000 * b"1,2\n")
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
    assert process.stderr.read() == b"Stopped.\n"
    process.stdin.close()
    process.stderr.close()


def test_names_that_the_terminal_cannot_show_are_escaped(command):
    said = command(
        *("dependence", "mice.csv", "--x", "Ω=diet", "--y", "C14.0"),
        extra={"PYTHONIOENCODING": "cp1252"},
    )
    assert said.status == 0
    assert said.out.startswith("\\u03a9 and C14.0 are related")


@pytest.mark.parametrize(("variable", "coloured"), [("FORCE_COLOR", True), ("NO_COLOR", False)])
def test_colour_is_left_out_where_it_is_not_wanted(command, variable, coloured):
    said = command("comprae", extra={variable: "1"})
    assert "Did you mean 'compare'?" in said.err
    assert ("\x1b[31m" in said.err) is coloured


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("reldep co", {"compare", "contrast"}),
        ("reldep compare --measure ", {"hsic", "cka", "dcor"}),
        ("reldep compare mice.csv --source di", {"diet"}),
        ("reldep compare mice.csv --source x=diet,gen", {"x=diet,genotype"} | GENES),
        ("reldep compare none.csv --source di", set()),
    ],
)
def test_the_shell_completes_commands_choices_and_columns(command, typed, proposed):
    said = command(
        extra={
            "_RELDEP_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split(" ")) - 1),
        }
    )
    assert set(said.out.split()) == proposed


def test_completion_is_shown_for_a_shell(command):
    # Else typer looks for the shell among the processes that started this one.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    said = command("--show-completion", "bash", extra=named)
    assert "complete -o default -F _reldep_completion reldep" in said.out


def test_control_c_that_cannot_be_raised_ends_the_command_all_the_same(command):
    """While Python cleans up an object it prints what is raised, and goes on."""
    code = """
import signal, sys, reldep.cli, reldep.cli.app
class Cleaned:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def run(words):
    Cleaned()
    print("went on")
    return 0
reldep.cli.app.run = run
reldep.cli.main([])
"""
    assert command(code=code) == (130, "", "Stopped.\n")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["demo", "--help"]])
def test_what_asks_no_question_loads_nothing_heavy(command, words):
    code = (
        f"import sys; from reldep.cli import main; main({words!r});"
        "print(*sys.modules, file=sys.stderr)"
    )
    said = command(code=code)
    heavy = {"numpy", "polars", "matplotlib", "scipy", "numba", "pandas"}
    assert said.status == 0
    assert not heavy & set(said.err.split())


@pytest.mark.parametrize("module", ["typer", "numpy", "polars", "reldep.results", "PIL"])
def test_control_c_prints_no_traceback_whenever_it_comes(command, tmp_path, module):
    code = f"""
import signal, sys, reldep.cli
def interrupt(event, names):
    if event == "import" and names[0] == {module!r}:
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(interrupt)
sys.exit(reldep.cli.main())
"""
    said = command(*COMPARE, "--report", tmp_path / "a.html", code=code)
    assert (said.status, said.err) == (130, "Stopped.\n")
