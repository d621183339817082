"""A user's mistake is answered in one line that shows the way out, with exit status 2."""

from __future__ import annotations

import contextlib
import signal
import sys

import pytest

from cli.mouse_files import QUESTION
from reldep.cli import interrupts

COMPARE = ("compare", "mice.csv", *QUESTION)
CONTRAST = ("contrast", "mice.csv", "--variables", "lipids=C*")


def compare(source, first, second):
    return ("compare", "mice.csv", "--source", source, "--first", first, "--second", second)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (compare("Diet", "C*", "gene_*"), "no column 'Diet' in mice.csv; nearest: 'diet'"),
        (compare("diet", "K*", "gene_*"), "no column of mice.csv matches 'K*'"),
        (compare("diet", "x=C14.00", "gene_*"), "no column 'C14.00' in mice.csv; nearest:"),
        (compare("diet", "C14.0", "C14.0"), "--first and --second are both 'C14.0'"),
        (compare("id", "C*", "gene_*"), "Leave out identifiers"),
        (
            ("rank", "mice.csv", "--source", "diet", "--targets", "diet,C14.0"),
            "targets has 1 of at least 2 targets: 'C14.0'",
        ),
        (("matrix", "mice.csv", "--columns", "C*"), "name the first by --variables"),
        (
            (*COMPARE, "--paper", "--variance", "fixed-kernel"),
            "--paper is the test as published and takes no --variance",
        ),
        ((*COMPARE, "--method", "split"), "--method belongs to the published test"),
        ((*COMPARE, "--kernel", "gausian"), "--kernel gausian is not known (did you mean 'gau"),
        ((*COMPARE, "--kernel", "lipds=linear"), "names 'lipds', which is not a variable"),
        ((*COMPARE, "--engine", "denze"), "--engine denze is not known"),
        ((*COMPARE, "--alpha", "1.5"), "--alpha 1.5; pass a number strictly between 0 and 1"),
        ((*COMPARE, "--max-lag", "x"), "--max-lag x does not fit 40 observations"),
        ((*COMPARE, "--max-lag", "40"), "--max-lag 40 does not fit 40 observations"),
        (
            (*COMPARE, "--max-lag", "2", "--variance", "fixed-kernel"),
            "--variance fixed-kernel cannot be combined with --max-lag; leave one out",
        ),
        ((*COMPARE, "--clusters", "C*"), "--clusters C* names 21 columns; give one"),
        ((*COMPARE, "--where", "genotype = wt"), "text stands in single quotes: 'wt'"),
        ((*COMPARE, "--where", "diet = 'x'"), "no row of mice.csv satisfies the condition"),
        ((*COMPARE, "--json", "--csv"), "--json and --csv both print to standard output"),
        ((*COMPARE, "--plot", "x.gif"), "--plot x.gif: write a file that ends in .png, .svg, .pdf"),
        ((*COMPARE, "--report", "x.txt"), "--report x.txt: write a file that ends in .html"),
        ((*COMPARE, "--join", "id"), "--join id needs at least two files"),
        (("demo", "--out", "x.bmp"), "--out x.bmp: write a file that ends in .png"),
        ((*CONTRAST, "--weight", "diet-lipids"), "expected a pair and its weight"),
        (
            (*CONTRAST, "--weight", "diet~lipds=1"),
            "no column 'lipds' in mice.csv",
        ),
        (
            (*CONTRAST, "--weight", "diet~lipids=1", "--weight", "diet~lipids=2"),
            "--weight diet~lipids=2 repeats a pair that has a weight; give it one",
        ),
        ((*compare("diet", "C14.0", "gene_*"), "--first", "x=C16.0"), "no column 'x=C16.0'"),
        (("describe", "mise.csv"), "no file mise.csv; nearest: 'mice.csv'"),
        (
            ("compare", "design.csv", "lipids.csv", *QUESTION),
            "2 files need a column to be joined on. Pass --join id",
        ),
    ],
    ids=lambda given: " ".join(given[2:])[-40:] if isinstance(given, tuple) else "",
)
def test_wrong_input_is_one_line_with_the_way_out(ask, words, message):
    said = ask(*words)
    assert said.status == 2
    assert said.out == ""
    assert said.err.startswith("Error: ")
    assert said.err.count("\n") == 1
    assert message in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("comprae", "mice.csv"), "Did you mean 'compare'?"),
        (("compare", "mice.csv", "--sorce", "diet"), "--source"),
        (("compare", "mice.csv"), "Missing option '--source'"),
        (("describe",), "Missing argument 'FILE'"),
        (("scan", "mice.csv", "--source", "diet"), "Missing option '--first' / '--targets'"),
        ((*COMPARE, "--measure", "hsik"), "is not one of 'cka', 'hsic', 'dcor'"),
        ((*COMPARE, "--seed", "-1"), "--seed"),
        ((*COMPARE, "--alpha", "small"), "--alpha"),
    ],
    ids=lambda given: " ".join(given)[-30:] if isinstance(given, tuple) else "",
)
def test_wrong_usage_shows_what_was_meant(ask, monkeypatch, words, message):
    monkeypatch.setenv("COLUMNS", "200")
    said = ask(*words)
    assert said.status == 2
    assert message in " ".join(said.err.split())
    assert "Traceback" not in said.err


@pytest.mark.parametrize("place", [0, 1, len(COMPARE)])
def test_debug_shows_the_traceback_wherever_it_stands(ask, place):
    words = [*COMPARE, "--kernel", "gausian"]
    words.insert(place, "--debug")
    said = ask(*words)
    assert said.status == 2
    assert "Traceback (most recent call last)" in said.err
    assert said.err.splitlines()[-1].startswith("Error: --kernel gausian is not known")


def test_a_missing_package_is_named(ask, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    said = ask("describe", "mice.xlsx")
    assert said.status == 2
    assert "pip install 'reldep[excel]'" in said.err


def control_c_while_a_library_loads():
    """As a library does that turns what comes up while it loads into an error of its own."""
    with contextlib.suppress(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)
    return ImportError("initialization failed")


BUG = (
    "Error: something unexpected happened (RuntimeError: two lines). This is a bug: run the "
    "command again with --debug and report what it prints.\n"
)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError, 1, "Error: not enough memory.\n"),
        (
            lambda: OSError(5, "Input/output error", "m.csv"),
            1,
            "Error: m.csv: Input/output error\n",
        ),
        (lambda: PermissionError(13, "Permission denied", "x"), 2, "Error: x: Permission denied\n"),
        (ValueError, 2, "Error: ValueError\n"),
        (KeyboardInterrupt, 130, "Stopped.\n"),
        (control_c_while_a_library_loads, 130, "Stopped.\n"),
        (lambda: RuntimeError("two\nlines"), 1, BUG),
    ],
    ids=["memory", "disk", "permission", "value", "Ctrl-C", "Ctrl-C, late", "bug"],
)
def test_what_else_may_happen_has_its_status(ask, monkeypatch, error, status, message):
    def fail(*_, **__):
        raise error()

    interrupts.seen = False
    monkeypatch.setattr("reldep.files.read.read", fail)
    # `main` would end this process at Ctrl-C.
    monkeypatch.setattr("reldep.cli._stop", lambda **_: None)
    said = ask("describe", "mice.csv")
    assert (said.status, said.err) == (status, message)
    interrupts.seen = False


def test_names_from_a_file_cannot_command_a_terminal(ask, tmp_path):
    path = tmp_path / "evil.csv"
    name = "\x1b]0;title\x07\x1b[31mred"
    path.write_text(f"a,{name}\n" + "".join(f"{i % 7},{i * i % 11}\n" for i in range(30)))
    for words in (("describe", path), ("dependence", path, "--x", "a", "--y", name)):
        said = ask(*words)
        assert said.status == 0, said.err
        assert "\\x1b[31mred" in said.out
        assert "\x1b" not in said.out + said.err
    missing = ask("dependence", path, "--x", "a", "--y", "rod")
    assert "\x1b" not in missing.err
