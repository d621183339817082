"""Words of the command line: kernels, options, help."""

from __future__ import annotations

import polars as pl
import pytest

from cli.mouse_files import QUESTION
from reldep.cli.output import in_shell
from reldep.files.read import READING
from reldep.questions import SENTENCES
from reldep.questions.request import offered


@pytest.mark.parametrize(
    ("argument", "typed"),
    [
        ("`missing='drop'`", "--missing drop"),
        ("`max_lag=400`", "--max-lag 400"),
        ("`max_lag`", "--max-lag"),
        ("`rng=3`", "--seed 3"),
        ("`kernel=EditDistance()`", "--kernel edit-distance"),
        ("`paper=True`", "--paper"),
        ("`where='a > 1'`", "--where 'a > 1'"),
        ("`alpha=-1.5`", "--alpha -1.5"),
        ("`adjusted_pvalue`", "adjusted_pvalue"),
        ("`bandwidth='x'`", "bandwidth=x"),
        ("no column 'missing=drop' in x", "no column 'missing=drop' in x"),
    ],
)
def test_arguments_in_backticks_are_options(argument, typed):
    assert in_shell(f"pass {argument}.") == f"pass {typed}."


def test_a_column_called_like_an_option_is_printed_as_it_is(ask, mice, tmp_path):
    renamed = mice.rename({"C14.0": "test=A", "C16.0": "kernel='x'"})
    renamed.write_csv(tmp_path / "odd.csv")
    said = ask("rank", tmp_path / "odd.csv", "--source", "diet", "--targets", "test=A,C18.0")
    assert said.status == 0, said.err
    rows = [line for line in said.out.splitlines() if line.startswith("test=A ")]
    assert len(rows) == 1
    assert "--test" not in said.out
    both = ask("dependence", tmp_path / "odd.csv", "--x", "test=A", "--y", "kernel='x'")
    assert both.out.startswith(
        ("test=A and kernel='x' are", "It is not shown that test=A and kernel='x'")
    )
    assert "test=A ~ kernel='x'" in both.out


def test_rows_are_named_by_their_line_in_the_file(ask, mice, tmp_path):
    odd = mice.with_columns(
        pl.when(pl.int_range(pl.len()) == 33).then(900.0).otherwise(pl.col("C14.0")).alias("C14.0")
    )
    odd.write_csv(tmp_path / "odd.csv")
    words = ("compare", tmp_path / "odd.csv", *QUESTION, "--kernel", "lipids=linear")
    condition = ("--where", f"genotype = '{mice['genotype'][33]}'")
    report = tmp_path / "a.html"
    said = ask(*words, *condition, "--report", report)
    # The header is line 1, so the row at position 33 stands in line 35.
    assert "line 35" in said.out
    assert '<th scope="row">35</th>' in report.read_text()
    named = ask(*words, *condition, "--id", "id", "--report", report)
    assert "id m33" in named.out
    assert '<th scope="row">m33</th>' in report.read_text()


@pytest.mark.parametrize(("words", "status"), [((), 2), (("--help",), 0)])
def test_help_lists_every_question(ask, words, status):
    said = ask(*words)
    assert said.status == status
    for question in SENTENCES:
        assert f"\n│ {question} " in said.out, question


@pytest.mark.parametrize("question", SENTENCES)
def test_every_question_is_a_command_with_all_its_options(ask, monkeypatch, question):
    monkeypatch.setenv("COLUMNS", "300")
    said = ask(question, "--help")
    assert said.status == 0
    assert "<bool>" not in said.out
    assert "list[str]" not in said.out
    words = set(said.out.split())
    for argument in (*offered(question).values(), *READING.values()):
        assert argument.flags[0] in words


def test_names_with_line_breaks_do_not_break_the_lines_of_an_answer(ask, tmp_path):
    rows = "\n".join(f"{i % 7},{i % 5},{(i * i) % 11}" for i in range(40))
    path = tmp_path / "broken.csv"
    path.write_text(f'"age\n(years)","x\rError: stop",z\n{rows}\n', encoding="utf-8")
    said = ask("describe", path)
    assert "age\\n(years)" in said.out
    said = ask("compare", path, "--source", "age*", "--first", "x*", "--second", "z")
    assert said.status == 0, said.err
    assert said.out.startswith(("age (years)", "It is", "Neither"))
    assert "age (years) ~ x Error: stop" in said.out
