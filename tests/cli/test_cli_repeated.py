"""A repeated option adds to the first one or is refused by name: never the last one in silence."""

from __future__ import annotations

import json

import pytest

from cli.mouse_files import QUESTION


@pytest.mark.parametrize(
    ("repeated", "once"),
    [
        (
            "compare mice.csv --source diet --first lipids=C14.0 --first C16.0 --second gene_*",
            "compare mice.csv --source diet --first lipids=C14.0,C16.0 --second gene_*",
        ),
        (
            "rank mice.csv --source diet --targets C14.0 --targets C16.0,C18.0",
            "rank mice.csv --source diet --targets C14.0,C16.0,C18.0",
        ),
        (
            "dependence mice.csv --x C14.0 --y C16.0 --given C18.0 --given genotype",
            "dependence mice.csv --x C14.0 --y C16.0 --given C18.0,genotype",
        ),
    ],
    ids=["first", "targets", "given"],
)
def test_columns_add_up(ask, repeated, once):
    found, expected = (json.loads(ask(*line.split(), "--json").out) for line in (repeated, once))
    assert found["table"] == expected["table"]


def test_categories_add_up(ask, mice, tmp_path):
    codes = {name: mice[name].cast(str).rank("dense").cast(int) for name in ("diet", "genotype")}
    mice.with_columns(**codes).write_csv(tmp_path / "codes.csv")
    words = ("dependence", tmp_path / "codes.csv", "--x", "diet", "--y", "genotype", "--json")
    said = json.loads(ask(*words, "--categories", "diet", "--categories", "genotype").out)
    assert said["table"] == json.loads(ask(*words, "--categories", "diet,genotype").out)["table"]


def test_more_clusters_than_two_are_refused(ask):
    three = [word for name in ("id", "diet", "genotype") for word in ("--clusters", name)]
    assert ask("compare", "mice.csv", *QUESTION, *three).status == 2


@pytest.mark.parametrize(
    "words",
    [
        ("--measure", "cka", "--measure", "hsic"),
        ("--seed", "1", "--seed", "2"),
        ("--missing", "drop", "--missing", "raise"),
        ("--alpha", "0.1", "--alpha", "0.05"),
        ("--id", "id", "--id", "diet"),
        ("--header", "--no-header"),
    ],
    ids=lambda words: words[0],
)
def test_what_cannot_add_up_is_refused_by_name(ask, words):
    said = ask("compare", "mice.csv", *QUESTION, *words)
    assert said.status == 2
    assert said.out == ""
    assert f"{words[0]} is given 2 times; give it once." in said.err
