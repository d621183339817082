"""Every kind of file gives the same answer; what cannot be read is named."""

from __future__ import annotations

import json

import pytest

from cli.mouse_files import QUESTION

FORMATS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "xlsx", "npz")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_answer(ask, ending):
    expected = json.loads(ask("compare", "mice.csv", *QUESTION, "--json").out)
    found = json.loads(ask("compare", f"mice.{ending}", *QUESTION, "--json").out)
    assert found["statistic"] == pytest.approx(expected["statistic"], rel=1e-12)


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
