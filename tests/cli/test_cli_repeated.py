"""A repeated option adds to the first one or is refused by name: never the last one in silence."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import reldep
from cli.mouse_files import QUESTION


@pytest.fixture(scope="module")
def firms(tmp_path_factory):
    """Ten firms over eight years, with effects of both."""
    rng = np.random.default_rng(3)
    firm, year = (each.ravel() for each in np.meshgrid(np.arange(10), np.arange(8)))
    common = rng.normal(size=10)[firm] + rng.normal(size=8)[year]
    noise = rng.normal(size=(3, 80))
    frame = pl.DataFrame(
        {
            "firm": [f"f{i}" for i in firm],
            "year": [f"y{i}" for i in year],
            "x": common + noise[0],
            "y": common + noise[1],
            "z": noise[2],
        }
    )
    path = tmp_path_factory.mktemp("firms") / "firms.csv"
    frame.write_csv(path)
    return path, frame


def test_two_clusters_are_crossed(ask, firms):
    path, frame = firms
    words = ("compare", path, "--source", "x", "--first", "y", "--second", "z", "--json")
    said = json.loads(ask(*words, "--clusters", "firm", "--clusters", "year").out)
    x, y, z = (frame[name] for name in "xyz")
    crossed = reldep.compare(x, y, z, clusters=(frame["firm"], frame["year"]))
    assert said["pvalue"] == crossed.pvalue
    assert said["command"].count("--clusters") == 2
    by_name = reldep.compare("x", "y", "z", clusters=("firm", "year"), data=str(path))
    assert by_name.pvalue == crossed.pvalue
    three = [word for name in ("firm", "year", "x") for word in ("--clusters", name)]
    assert ask(*words, *three).status == 2


def test_several_conditions_hold_together(ask):
    words = ("compare", "mice.csv", *QUESTION, "--missing", "drop", "--json")
    conditions = ("genotype = 'wt' or genotype = 'ppar'", "diet != 'fish'", '"C14.0" > 0.3')
    typed = [word for one in conditions for word in ("--where", one)]
    together = json.loads(ask(*words, *typed).out)
    written = " and ".join(f"({one})" for one in conditions)
    once = json.loads(ask(*words, "--where", written).out)
    alone = json.loads(ask(*words, "--where", conditions[-1]).out)
    assert together["n_observations"] == once["n_observations"] < alone["n_observations"]
    assert together["estimate"] == once["estimate"]


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


def test_a_second_name_of_one_block_is_refused(ask):
    said = ask(
        *("compare", "mice.csv", "--source", "diet", "--second", "genes=gene_*"),
        *("--first", "C14.0", "--first", "lipids=C16.0"),
    )
    assert said.status == 2
    assert "no column 'lipids=C16.0'" in said.err
