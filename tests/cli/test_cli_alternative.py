"""Every question is two-sided by default; only the published test is one-sided."""

from __future__ import annotations

import json

import pytest

import reldep
from reldep.cli.app import run
from reldep.datasets import load_nutrimouse

SLOTS = ("--source", "genotype", "--first", "lipids=C*", "--second", "genes=gene_*")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    assert run(["demo", "--files", str(tmp_path)]) == 0
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "alternative"),
    [
        ((), "two-sided"),
        (("--alternative", "greater"), "greater"),
        (("--paper",), "greater"),
        (("--paper", "--alternative", "two-sided"), "two-sided"),
    ],
)
def test_the_published_test_alone_is_one_sided(folder, words, alternative, capsys):
    capsys.readouterr()
    assert run(["compare", "mice.csv", *SLOTS, *words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["alternative"] == alternative
    written = f"alternative='{alternative}'" in answer["call"]
    assert written == ("--alternative" in words)


def test_python_asks_the_same(rng):
    x, y, z = rng.normal(size=(3, 30))
    weights = {("x", "y"): 1, ("x", "z"): -1}
    answers = (
        reldep.compare(x, y, z),
        reldep.contrast({"x": x, "y": y, "z": z}, weights),
        reldep.scan({"x": x, "w": x + y}, y, z, n_simulations=400),
        reldep.sensitivity(x, y, z, factors=[1, 2]),
        reldep.groups(x, y, z > 0, n_simulations=400),
    )
    assert [one.alternative for one in answers] == ["two-sided"] * len(answers)
    assert reldep.paper_test(x, y, z).alternative == "greater"


def test_our_own_mice_are_told_apart_rightly():
    mice = load_nutrimouse()
    names = ("genotype", "lipids", "genes")
    said = reldep.compare(mice.genotype, mice.lipid, mice.gene, names=names).sentence()
    start = "genotype is more closely related to genes than to lipids: CKA 0.620 against 0.353"
    assert said.startswith(start)
