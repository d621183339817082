"""``--survival TIME,EVENT``: censored lifetimes from a file."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import reldep

LIFETIME = ("patients.csv", "--survival", "days,died")


@pytest.fixture
def patients(tmp_path, ask, monkeypatch):
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 80))
    lifetime, left = rng.exponential(np.exp(-x)), rng.exponential(np.exp(-z))
    frame = pd.DataFrame(
        {
            "days": np.minimum(lifetime, left).round(5),
            "died": np.where(lifetime <= left, "yes", "no"),
            "x": x.round(5),
            "z": z.round(5),
            "ward": np.resize(["a", "b"], 80),
        }
    )
    frame.to_csv(tmp_path / "patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


def survival(frame):
    return reldep.Survival(frame["days"], frame["died"])


@pytest.mark.parametrize("source", [(), ("--source", "days"), ("--source", "os=days")])
def test_compare(ask, patients, source):
    said = ask("compare", *LIFETIME, *source, "--first", "x", "--second", "z", "--json")
    expected = reldep.compare(survival(patients), patients["x"], patients["z"])
    assert json.loads(said.out)["pvalue"] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("rank", "--targets", "x,z"), "of 2 targets"),
        (("dependence", "--y", "x"), "days and x are related"),
        (("dependence", "--x", "x", "--y", "days"), "x and days are related"),
        (("groups", "--y", "x", "--by", "ward"), "whether days and x are more closely related"),
        (("matrix", "--variables", "days,x,z"), "Of 3 pairs, 1 is related"),
        (("scan", "--source", "days", "--targets", "x,z"), "days"),
        (("compare", "--first", "x", "--second", "z", "--plan"), "engine  dense"),
        (("describe",), "lifetime"),
    ],
)
def test_every_question_takes_lifetimes(ask, patients, words, expected):
    said = ask(words[0], *LIFETIME, *words[1:])
    assert said.status == 0, said.err
    assert expected in said.out


@pytest.mark.parametrize(
    ("survival", "words", "message"),
    [
        ("days,ward", (), "as in --survival days,ward=a."),
        ("days,died", ("--measure", "dcor"), "kernel Distance cannot be used for days"),
        ("days,died", ("--source", "days,died"), "'died' is part of the lifetimes in 'days'"),
    ],
)
def test_mistakes_show_the_way_out(ask, patients, survival, words, message):
    slots = ("--survival", survival, "--first", "x", "--second", "z")
    said = ask("compare", "patients.csv", *slots, *words)
    assert said.status == 2
    assert message in said.err


def test_a_time_alone_is_cautioned_about(ask, patients):
    said = ask("compare", "patients.csv", "--source", "days", "--first", "x", "--second", "z")
    assert "if so, pass --survival days,died." in said.out + said.err
