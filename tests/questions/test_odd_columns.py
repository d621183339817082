"""Columns that are odd but legal, in every question: read as they are meant, or named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep
from cautioned import cautioned
from reldep.exceptions import CopyWarning, MissingCodesWarning

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


COPIES = {
    "dependence": lambda x, y, _: reldep.dependence(x, y, names=("x", "y")),
    "matrix": lambda x, y, z: reldep.matrix({"x": x, "y": y, "z": z}, **FEW),
    "groups": lambda x, y, _: reldep.groups(x, y, np.tile(["a", "b"], 30), **FEW),
    "contrast": lambda x, y, z: reldep.contrast(
        {"x": x, "y": y, "z": z}, {("x", "y"): 1, ("x", "z"): -1}
    ),
}


@pytest.mark.parametrize("question", COPIES)
def test_related_by_construction_is_said_in_every_question(question, rng):
    x, z = rng.normal(size=(2, 60)) ** 2
    block = pd.DataFrame({"x": x, "w": rng.normal(size=60)})
    with cautioned(CopyWarning, "'x' and 'y' both contain 'x'"):
        COPIES[question](pd.Series(x, name="x"), block, z)
    with cautioned(CopyWarning, "One variable in two units or words, by its values: 'x' and 'y'"):
        COPIES[question](x, np.argsort(np.argsort(-x)), z)
    apart = COPIES[question](z, block, rng.normal(size=60))
    assert not [one for one in apart.warnings if isinstance(one, CopyWarning)]


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
