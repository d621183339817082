"""Labels and columns of odd kinds, and a label that two rows have."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep
from calls import called
from cautioned import cautioned
from reldep.exceptions import MissingCodesWarning

FEW = {"n_simulations": 400}
SUBJECT = np.repeat(np.arange(10), 4)


@pytest.fixture
def xyz(rng):
    x = rng.normal(size=40)
    return x, x + rng.normal(size=40), x + rng.normal(size=40)


def test_clusters_may_come_as_any_column(xyz):
    expected = reldep.compare(*xyz, clusters=SUBJECT).pvalue
    for clusters in (
        (label for label in SUBJECT),
        SUBJECT[:, None],
        pa.array(SUBJECT),
        pa.array(map(str, SUBJECT)).dictionary_encode(),
        pl.DataFrame({"mouse": SUBJECT}),
        pd.DataFrame({"mouse": SUBJECT}),
    ):
        assert reldep.compare(*xyz, clusters=clusters).pvalue == pytest.approx(expected)


@pytest.mark.parametrize(
    "labels",
    [
        (1, 2, 0, 3, 4, -99),
        ("1", "2", "4", "5", "6", "-99"),
        ("a", "b", "c", "d", "e", "n/a"),
        (1, 2, 4, 5, 6, 99),
    ],
)
@pytest.mark.parametrize("argument", ["by", "clusters"])
def test_codes_among_labels_of_rows_may_mean_missing(rng, argument, labels):
    xyz, own = rng.normal(size=(3, 60)), [labels[i % 6] for i in range(60)]
    with cautioned(MissingCodesWarning, rf"{labels[-1]!r} in '{argument}' may mean missing"):
        if argument == "by":
            reldep.groups(*xyz[:2], own)
        else:
            reldep.compare(*xyz, clusters=own)
    plain = reldep.groups(*xyz[:2], [(-1, 1)[i % 2] for i in range(60)])
    assert not any(isinstance(one, MissingCodesWarning) for one in plain.warnings)


def test_names_are_words(xyz):
    lines = reldep.rank(xyz[0], {"a\nb": xyz[1], "z": xyz[2]}, **FEW)
    assert lines.targets == ("a b", "z")


def test_clusters_beside_data_are_named_too(xyz, rng):
    frame = pl.DataFrame(dict(zip("xyz", xyz, strict=True))).with_columns(
        mouse=SUBJECT, day=np.tile(np.arange(4), 10)
    )
    crossed = reldep.compare("x", "y", "z", data=frame, clusters=("mouse", "day"))
    expected = reldep.compare(*xyz, clusters=(SUBJECT, np.tile(np.arange(4), 10)))
    assert crossed.pvalue == expected.pvalue


M = 20
RNG = np.random.default_rng(0)
X = RNG.normal(size=M)
Y = X + RNG.normal(size=M)
RARE = np.array(["a"] * (M - 2) + ["b"] * 2)
FREE = RNG.normal(size=(2, M))
COLUMNS = {"y": Y, "rare": RARE, "free": FREE[0]}


QUESTIONS = """
compare(X, Y, RARE, measure=measure)
compare(RARE, Y, X, alternative='greater', measure=measure)
dependence(X, RARE, measure=measure)
contrast({'x': X, **COLUMNS}, {('x', 'rare'): 1, ('y', 'x'): 2}, measure=measure)
rank(X, COLUMNS, measure=measure)
matrix({'x': X, **COLUMNS}, measure=measure)
scan(COLUMNS, *FREE[::-1] + X, measure=measure)
scan(X, COLUMNS, measure=measure)
"""


@pytest.mark.parametrize("measure", ["cka", "dcor"])
@pytest.mark.parametrize("question", QUESTIONS.strip().splitlines())
def test_every_question_answers_and_every_page_shows_it(question, measure):
    answer = called(question, {**globals(), "measure": measure})
    assert "∞" in answer.summary()
    assert "nan" not in answer.summary().lower()
    table = json.loads(answer.to_json())["table"]
    errors = [row.get("standard_error") for row in table]
    assert None in errors or answer.standard_error == np.inf
    answer.to_html()


def test_what_needs_no_error_is_given_and_the_rest_is_said():
    rare = reldep.dependence(X, RARE)
    assert rare.estimate == pytest.approx(reldep.cka(X, RARE))
    expected = np.sqrt(M * rare.estimate + 1)
    from scipy.stats import norm

    assert rare.pvalue == pytest.approx(2 * norm.sf(expected))
    assert rare.confidence_interval() == (0, 1)
    assert any("'y' would not vary without one of the rows" in str(w) for w in rare.warnings)
    ranking = reldep.rank(X, COLUMNS)
    others = reldep.rank(X, {"y": Y, "free": FREE[0]})
    kept = ranking.pairwise().to_numpy()[1]
    assert kept[0] == "y"
    assert kept[2] == pytest.approx(others.pairwise().to_numpy()[0][2])
    assert "rare" in ranking.best
