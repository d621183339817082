"""A user's mistake is answered in one line that shows the way out, with exit status 2."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys

import pytest

from cli.mouse_files import QUESTION
from reldep.cli import interrupts

COMPARE = ("compare", "mice.csv", *QUESTION)
# A command and what is said of it; "+" stands for the comparison above.
MISTAKES = """
compare mice.csv --source Diet --first C* --second gene_* -> no column 'Diet' in mice.csv; nearest:
compare mice.csv --source diet --first K* --second gene_* -> no column of mice.csv matches 'K*'
compare mice.csv --source diet --first x=C14.00 --second gene_* -> no column 'C14.00' in mice.csv;
compare mice.csv --source diet --first C14.0 --second C14.0 -> --first and --second are both 'C14.0'
compare mice.csv --source id --first C* --second gene_* -> Leave out identifiers
compare mice.csv --source diet --first C14.0 --first x=C16.0 --second C* -> no column 'x=C16.0'
matrix mice.parquet mice.parquet -> put the pattern in quotes
matrix design.csv lipids.csv -> 2 files need a column to be joined on. Pass --join id
rank mice.csv --source diet --targets diet,C14.0 -> targets has 1 of at least 2 targets: 'C14.0'
matrix mice.csv --columns C* -> name the first by --variables
describe mise.csv -> no file mise.csv; nearest: 'mice.csv'
demo --out x.bmp -> --out x.bmp: write a file that ends in .png
contrast mice.csv --weight diet-lipids -> expected a pair and its weight
contrast mice.csv --variables lipids=C* --weight diet~lipds=1 -> no column 'lipds' in mice.csv
contrast mice.csv --weight diet~C14.0=1 --weight diet~C14.0=2 -> repeats a pair that has a weight
+ --paper --variance fixed-kernel -> --paper is the test as published and takes no --variance
+ --paper --measure cka -> --paper is the test as published and takes no --measure
+ --method split -> --method belongs to the published test
+ --kernel gausian -> --kernel gausian is not known (did you mean 'gaussian'?)
+ --kernel gausian:2 -> --kernel gausian is not known
+ --kernel lipds=linear -> names 'lipds', which is not a variable
+ --kernel delta:2 -> --kernel delta:2: delta does not have this parameter; write --kernel delta
+ --kernel gaussian:x -> --kernel gaussian:x cannot be used: bandwidth=x is not known
+ --kernel gaussian:x*median -> factor=x; pass
+ --kernel polynomial:median -> degree=median; pass
+ --kernel gaussian:-1 -> bandwidth=-1; pass
+ --kernel linear --kernel delta -> 2 times; write NAME=KERNEL for each, and each name once
+ --kernel linear --kernel lipids=delta -> 2 times; write NAME=KERNEL for each, and each name once
+ --kernel lipids=linear --kernel lipids=delta -> write NAME=KERNEL for each, and each name once
+ --engine denze -> --engine denze is not known
+ --alpha 1.5 -> --alpha 1.5; pass a number strictly between 0 and 1
+ --max-lag x -> --max-lag x does not fit 40 observations
+ --max-lag 40 -> --max-lag 40 does not fit 40 observations
+ --max-lag 2 --variance fixed-kernel -> cannot be combined with --max-lag; leave one out
+ --clusters C* -> --clusters C* names 21 columns; give one
+ --clusters id --clusters diet --clusters genotype -> clusters
+ --where 'genotype = wt' -> text stands in single quotes: 'wt'
+ --where "diet = 'x'" -> no row of mice.csv satisfies the condition
+ --json --csv -> --json and --csv both print to standard output
+ --plot x.gif -> --plot x.gif: write a file that ends in .png, .svg, .pdf
+ --report x.txt -> --report x.txt: write a file that ends in .html
+ --join id -> --join id needs at least two files
"""
# Found by the parser, which shows the usage, too.
USAGE = """
comprae mice.csv -> Did you mean 'compare'?
compare mice.csv --sorce diet -> --source
compare mice.csv -> Missing option '--source'
describe -> Missing argument 'FILE'
scan mice.csv --source diet -> Missing option '--first' / '--targets'
+ --measure hsik -> is not one of 'cka', 'hsic', 'dcor'
+ --seed -1 -> --seed
+ --alpha small -> --alpha
+ --measure cka --measure hsic -> --measure is given 2 times; give it once.
+ --seed 1 --seed 2 -> --seed is given 2 times; give it once.
+ --missing drop --missing raise -> --missing is given 2 times; give it once.
+ --alpha 0.1 --alpha 0.05 -> --alpha is given 2 times; give it once.
+ --id id --id diet -> --id is given 2 times; give it once.
+ --header --no-header -> --header is given 2 times; give it once.
"""


def asked(ask, line):
    words, message = line.split(" -> ")
    said = ask(*(COMPARE if words[0] == "+" else ()), *shlex.split(words.removeprefix("+")))
    assert said.status == 2
    assert said.out == ""
    return said.err, message


@pytest.mark.parametrize("line", MISTAKES.strip().splitlines())
def test_wrong_input_is_one_line_with_the_way_out(ask, line):
    said, message = asked(ask, line)
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    assert message in said


@pytest.mark.parametrize("line", USAGE.strip().splitlines())
def test_wrong_usage_shows_what_was_meant(ask, monkeypatch, line):
    monkeypatch.setenv("COLUMNS", "200")
    said, message = asked(ask, line)
    assert message in " ".join(said.split())
    assert "Traceback" not in said


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
