"""Strings that look alike are alike: composed (NFC) and decomposed (NFD) forms everywhere."""

from __future__ import annotations

import io
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep
from reldep.kernels import Delta, Jaccard, MinMax, Ordered, WeisfeilerLehman

M = 40
NFC = unicodedata.normalize("NFC", "élevé")
NFD = unicodedata.normalize("NFD", "élevé")
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(2, M))


def mixed_up(labels):
    """Store every second label in the other form."""
    forms = ("NFC", "NFD")
    return [unicodedata.normalize(forms[i % 2], label) for i, label in enumerate(labels)]


@pytest.fixture
def levels():
    return [str(level) for level in RNG.choice([NFC, "bas", "très bas"], M)]


def test_labels_beside_each_other(levels):
    ages = pl.DataFrame({"level": levels, "city": levels[::-1]})
    mixed = pl.DataFrame({"level": mixed_up(levels), "city": mixed_up(levels[::-1])})
    assert reldep.hsic(mixed, X) == pytest.approx(reldep.hsic(ages, X))
    assert reldep.hsic(mixed["level"], X) == pytest.approx(reldep.hsic(ages["level"], X))


def test_group_labels(levels):
    plain, mixed = (reldep.groups(X, Y, by) for by in (levels, mixed_up(levels)))
    assert mixed.pvalue == pytest.approx(plain.pvalue)


def test_cluster_labels():
    clusters = [f"é{i // 4}" for i in range(M)]
    plain, mixed = (
        reldep.dependence(X, Y, clusters=labels) for labels in (clusters, mixed_up(clusters))
    )
    assert mixed.standard_error == pytest.approx(plain.standard_error)


def test_levels_of_two_frames():
    """The values between two samples: the same level in either form."""
    assert Delta()([NFC, "bas"], [NFD, "bas"]).tolist() == [[1, 0], [0, 1]]
    ordered = pd.Categorical([NFD, "bas", "moyen"], ["bas", "moyen", NFD], ordered=True)
    expected = Ordered(["bas", "moyen", NFC])([NFD, "bas", "moyen"])
    np.testing.assert_allclose(Ordered()(pd.Series(ordered)), expected)


def test_elements_of_sets_counts_and_graphs():
    assert Jaccard()([{NFC}, {NFD}, {"x"}])[0].tolist() == [1, 1, 0]
    assert MinMax()([Counter({NFC: 2}), Counter({NFD: 2}), {"x": 1}])[0].tolist() == [1, 1, 0]
    assert MinMax()([{NFC: 1, NFD: 1}, {NFC: 2}, {"x": 1}])[0].tolist() == [1, 1, 0]
    graphs = [([0, 1], [(0, 1)], [one, "x"]) for one in (NFC, NFD, "y")]
    values = WeisfeilerLehman()(graphs)
    assert values[0, 1] == values[0, 0] > values[0, 2]


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
def test_files(tmp_path, form, levels):
    keys = [unicodedata.normalize(form, f"né{i}") for i in range(M)]
    left = pl.DataFrame({"clé": keys, "x": X, "level": mixed_up(levels)})
    name = unicodedata.normalize("NFD", "clé")
    right = pl.DataFrame({name: [unicodedata.normalize("NFC", key) for key in keys], "y": Y})
    left.write_csv(tmp_path / "left.csv")
    right.write_parquet(tmp_path / "right.parquet")
    files = [tmp_path / "left.csv", tmp_path / "right.parquet"]
    table = reldep.read(files, join="clé")
    assert len(table) == M
    wanted = sum(level == NFC for level in levels)
    for typed in (NFC, NFD):
        assert len(table.restricted(f"level = '{typed}'")) == wanted
    frame = pd.DataFrame({"x": X, "y": Y, "w": X - Y, "level": mixed_up(levels)})
    answer = reldep.compare("x", "y", "w", data=reldep.read(frame, where=f"level = '{NFD}'"))
    assert answer.n_observations == wanted


def test_rows_of_pandas_are_matched_by_the_form_that_is_seen():
    index = [f"né{i}" for i in range(M)]
    x = pd.Series(X, [unicodedata.normalize("NFD", one) for one in index])
    y = pd.Series(Y, index)[::-1]
    assert reldep.hsic(x, y) == pytest.approx(reldep.hsic(X, Y))
