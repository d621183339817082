"""A user's mistake is answered in one line that shows the way out, with exit status 2."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli.mouse_files import QUESTION
from reldep.cli.app import main, run

COMPARE = ("compare", "mice.csv", *QUESTION)
CONTRAST = ("contrast", "mice.csv", "--variable", "lipids=C*")


def compare(source, first, second):
    return ("compare", "mice.csv", "--source", source, "--first", first, "--second", second)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (compare("Diet", "C*", "gene_*"), "no column 'Diet' in mice.csv; nearest: 'diet'"),
        (compare("diet", "K*", "gene_*"), "no column of mice.csv matches 'K*'"),
        (compare("diet", "x=C14.00", "gene_*"), "no column 'C14.00' in mice.csv; nearest:"),
        (compare("diet", "C14.0", "C14.0"), "two variables are named 'C14.0'; give them names"),
        (compare("id", "C*", "gene_*"), "Leave out identifiers"),
        ((*COMPARE, "--kernel", "gausian"), "--kernel gausian is not known (did you mean 'gau"),
        ((*COMPARE, "--kernel", "lipds=linear"), "names 'lipds', which is not a variable"),
        ((*COMPARE, "--engine", "denze"), "--engine denze is not known"),
        ((*COMPARE, "--alpha", "1.5"), "--alpha 1.5; pass a number strictly between 0 and 1"),
        ((*COMPARE, "--max-lag", "x"), "--max-lag x is neither a whole number nor auto"),
        ((*COMPARE, "--max-lag", "40"), "--max-lag 40 for 40 observations"),
        (
            (*COMPARE, "--max-lag", "2", "--variance", "full"),
            "--variance full takes the rows to be independent and cannot be combined with "
            "--max-lag",
        ),
        ((*COMPARE, "--clusters", "C*"), "--clusters C* names 21 columns; give one"),
        ((*COMPARE, "--where", "genotype = wt"), "Text values stand in single quotes: 'wt'"),
        ((*COMPARE, "--where", "diet = 'x'"), "no row of mice.csv satisfies the condition"),
        ((*COMPARE, "--json", "--csv"), "--json and --csv both print to standard output"),
        ((*COMPARE, "--plot", "x.gif"), "--plot x.gif: write a file that ends in .png, .svg, .pdf"),
        ((*COMPARE, "--report", "x.txt"), "--report x.txt: write a file that ends in .html"),
        ((*COMPARE, "--join", "id"), "--join id needs at least two files"),
        (("demo", "--out", "x.bmp"), "--out x.bmp: write a file that ends in .png"),
        (("rank", "mice.csv", "--source", "diet"), "rank needs at least two targets: --target"),
        ((*CONTRAST, "--weight", "diet-lipids"), "expected a pair and its weight"),
        (
            (*CONTRAST, "--weight", "diet~lipds=1"),
            "--weight speaks of 'lipds', which is neither a --variable nor a column of mice.csv; "
            "nearest: 'lipids'",
        ),
        (
            (*CONTRAST, "--weight", "diet~lipids=1", "--weight", "diet~lipids=2"),
            "--weight diet~lipids=2: the pair has a weight already",
        ),
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
        ((*COMPARE, "--measure", "hsik"), "is not one of 'hsic', 'cka', 'dcor'"),
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


def test_no_command_at_all_shows_the_help(ask):
    said = ask()
    assert said.status == 2
    assert "Questions about a file" in said.out


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


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError(), 1, "Error: not enough memory.\n"),
        (OSError(5, "Input/output error", "mice.csv"), 1, "Error: mice.csv: Input/output error\n"),
        (PermissionError(13, "Permission denied", "x"), 2, "Error: x: Permission denied\n"),
        (ValueError(), 2, "Error: ValueError\n"),
        (KeyboardInterrupt(), 1, "Stopped.\n"),
    ],
    ids=repr,
)
def test_what_else_may_happen_has_its_status(ask, monkeypatch, error, status, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("reldep.data.open_table", fail)
    said = ask("describe", "mice.csv")
    assert (said.status, said.err) == (status, message)


def test_a_bug_is_not_taken_for_a_mistake(ask, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("bug")

    monkeypatch.setattr("reldep.data.open_table", fail)
    with pytest.raises(RuntimeError, match="bug"):
        ask("describe", "mice.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_a_failure(capsys, monkeypatch):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["version"]) == 1
    assert capsys.readouterr().err == "Error: No space left on device\n"


def test_the_process_ends_with_the_status(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["reldep", "version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    with pytest.raises(SystemExit) as ended:
        main(["describe", "no such file"])
    assert ended.value.code == 2
