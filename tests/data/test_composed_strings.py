"""Strings that look alike are alike: composed (NFC) and decomposed (NFD) forms everywhere."""

import io
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep
from calls import called

M = 40
NFC = unicodedata.normalize("NFC", "élevé")
NFD = unicodedata.normalize("NFD", "élevé")
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(2, M))


def mixed_up(labels):
    """Store every second label in the other form."""
    forms = ("NFC", "NFD")
    return [unicodedata.normalize(forms[i % 2], label) for i, label in enumerate(labels)]


LEVELS = [str(level) for level in RNG.choice([NFC, "bas", "très bas"], M)]
CITIES, SITES = LEVELS[::-1], [f"é{i // 4}" for i in range(M)]
FRAMES = [pl.DataFrame({"level": own(LEVELS), "city": own(CITIES)}) for own in (list, mixed_up)]
ROWS = [f"né{i}" for i in range(M)]
ORDERED = pd.Series(pd.Categorical([NFD, "bas"], ["bas", NFD], ordered=True))
GRAPHS = [([0, 1], [(0, 1)], [one, "x"]) for one in (NFC, NFD, "y")]
ALIKE = """
hsic(FRAMES[0], X) == approx(hsic(FRAMES[1], X))
hsic(FRAMES[0]["level"], X) == approx(hsic(FRAMES[1]["level"], X))
groups(X, Y, LEVELS).pvalue == approx(groups(X, Y, mixed_up(LEVELS)).pvalue)
dependence(X, Y, clusters=SITES).pvalue == approx(dependence(X, Y, clusters=mixed_up(SITES)).pvalue)
Delta()([NFC, "bas"], [NFD, "bas"]).tolist() == [[1, 0], [0, 1]]
Ordered()(ORDERED).tolist() == Ordered(["bas", NFC])([NFD, "bas"]).tolist()
Jaccard()([{NFC}, {NFD}, {"x"}])[0].tolist() == [1, 1, 0]
MinMax()([Counter({NFC: 2}), Counter({NFD: 2}), {"x": 1}])[0].tolist() == [1, 1, 0]
MinMax()([{NFC: 1, NFD: 1}, {NFC: 2}, {"x": 1}])[0].tolist() == [1, 1, 0]
WeisfeilerLehman()(GRAPHS)[0, 1] == WeisfeilerLehman()(GRAPHS)[0, 0]
WeisfeilerLehman()(GRAPHS)[0, 1] > WeisfeilerLehman()(GRAPHS)[0, 2]
hsic(pd.Series(X, mixed_up(ROWS)), pd.Series(Y, ROWS)[::-1]) == approx(hsic(X, Y))
"""


@pytest.mark.parametrize("claim", ALIKE.strip().splitlines())
def test_labels_elements_and_rows_are_alike(claim):
    assert called(claim, {"approx": pytest.approx, "Counter": Counter, **globals()})


@pytest.mark.parametrize(("stored", "typed"), [(NFC, NFD), (NFD, NFC)])
def test_column_selectors(stored, typed):
    table = reldep.read(pl.DataFrame({"age": X, stored: X, f"{stored}_2": X}))
    assert table.select(typed) == [stored]
    assert table.select(f"{typed}*") == [stored, f"{stored}_2"]
    assert table.select(f"!{typed}") == ["age", f"{stored}_2"]
    assert table.select(f"age:{typed}") == ["age", stored]
    frame = pd.DataFrame({stored: X, "age": Y, "w": X + Y})
    assert reldep.compare(typed, "age", "w", data=frame).n_observations == M


def test_columns_that_differ_in_form_only_stay_apart():
    table = reldep.read(io.BytesIO(f"{NFC},{NFD}\n1,2\n".encode()))
    assert (table.select(NFC), table.select(NFD)) == ([NFC], [NFD])


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_files(tmp_path, form):
    keys = [unicodedata.normalize(form, f"né{i}") for i in range(M)]
    left = pl.DataFrame({"clé": keys, "x": X, "level": mixed_up(LEVELS)})
    name = unicodedata.normalize("NFD", "clé")
    right = pl.DataFrame({name: [unicodedata.normalize("NFC", key) for key in keys], "y": Y})
    left.write_csv(tmp_path / "left.csv")
    right.write_parquet(tmp_path / "right.parquet")
    files = [tmp_path / "left.csv", tmp_path / "right.parquet"]
    table = reldep.read(files, join="clé")
    assert len(table) == M
    wanted = sum(level == NFC for level in LEVELS)
    for typed in (NFC, NFD):
        assert len(table.restricted(f"level = '{typed}'")) == wanted
    frame = pd.DataFrame({"x": X, "y": Y, "w": X - Y, "level": mixed_up(LEVELS)})
    answer = reldep.compare("x", "y", "w", data=reldep.read(frame, where=f"level = '{NFD}'"))
    assert answer.n_observations == wanted
