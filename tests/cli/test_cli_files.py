"""Every kind of file gives the same answer; what cannot be read is named."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import polars as pl
import pytest

from cli.mouse_files import QUESTION

FORMATS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "xlsx", "npz")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_answer(ask, ending):
    expected = json.loads(ask("compare", "mice.csv", *QUESTION, "--json").out)
    found = json.loads(ask("compare", f"mice.{ending}", *QUESTION, "--json").out)
    assert found["statistic"] == pytest.approx(expected["statistic"], rel=1e-12)


def test_standard_input_is_a_file(ask, folder, monkeypatch):
    text = io.TextIOWrapper(io.BytesIO((folder / "mice.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", text)
    assert ask("compare", "-", *QUESTION).out == ask("compare", "mice.csv", *QUESTION).out


JOINED = ("compare", "design.csv", "lipids.csv", "genes.parquet", "--join", "id", *QUESTION)


def test_files_are_joined_and_lost_rows_told(ask):
    told = (
        "joined on 'id': 38 rows; unmatched: 2 of 40 rows of design.csv, "
        "2 of 40 rows of genes.parquet"
    )
    said = ask(*JOINED)
    assert said.out.startswith(f"{told}\n\ndiet is more closely related")
    assert "observations: 38" in said.out
    for_machines = ask(*JOINED, "--csv")
    assert for_machines.out.startswith("relation,estimate")
    assert for_machines.err == f"{told}\n"
    assert json.loads(ask(*JOINED, "--json").out)["join"] == told


def test_the_order_of_rows_in_a_joined_file_does_not_matter(ask):
    one_file = ask("compare", "mice.csv", *QUESTION, "--where", "id not in ('m0', 'm1')", "--csv")
    assert ask(*JOINED, "--csv").out == one_file.out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty.csv is empty: it has no columns and no rows"),
        ("header.csv", b"diet,C14.0\n", "header.csv has 2 columns, but no rows"),
        ("false.parquet", b"PAR1,C14.0\n", "false.parquet is damaged, or only a part of a Parquet"),
        ("mice.docx", b"PK\x03\x04", "mice.docx is damaged, or not a ZIP archive"),
        ("long.csv", b"a,b\n1,2\n3,4,5\n", "line 3 of"),
        ("latin.csv", "größe,b\n1,2\n".encode("latin-1"), "UTF-8"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(ask, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    said = ask("describe", tmp_path / name)
    assert said.status == 2
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_directory_and_a_missing_file_are_no_files(ask, folder):
    (folder / "empty").mkdir()
    assert "empty has no Parquet files" in ask("describe", folder / "empty").err
    said = ask("describe", "mise.csv")
    assert said.status == 2
    assert "no file mise.csv; nearest: 'mice.csv'" in said.err


@pytest.fixture
def pieces(tmp_path):
    """A table in two Parquet files."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    rows = pl.DataFrame({"x": x, "y": x + rng.normal(size=600), "z": rng.normal(size=600)})
    rows[:250].write_parquet(tmp_path / "a.parquet")
    rows[250:].write_parquet(tmp_path / "b.parquet")
    rows.write_csv(tmp_path / "whole.csv")
    return tmp_path


SLOTS = ("--source", "x", "--first", "y", "--second", "z")


@pytest.mark.parametrize("flags", [(), ("--paper",)])
def test_parquet_files_in_a_directory_or_behind_a_pattern_are_one_table(ask, pieces, flags):
    in_memory = ("compare", pieces / "whole.csv", *SLOTS, "--kernel", "gaussian:1.5", "--json")
    expected = json.loads(ask(*in_memory, *flags).out)
    for place in (pieces, pieces / "*.parquet"):
        said = ask("compare", place, *SLOTS, "--kernel", "gaussian:1.5", "--json", *flags)
        found = json.loads(said.out)
        assert found["statistic"] == pytest.approx(expected["statistic"], rel=1e-6)


def test_several_targets_in_pieces_are_ranked(ask, pieces):
    assert (
        "Of 2 targets, x is more closely related to y"
        in ask("rank", pieces, *SLOTS[:2], "--targets", "y,z").out
    )


def test_a_pattern_that_the_shell_expanded_is_explained(ask, pieces):
    said = ask("compare", pieces / "a.parquet", pieces / "b.parquet", *SLOTS)
    assert "put the pattern in quotes" in said.err
