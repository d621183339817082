"""An answer about some of the rows says which rows they are."""

from __future__ import annotations

import json

import polars as pl
import pytest

import reldep
from reldep.datasets import load_nutrimouse

CONDITION = "genotype = 'wt'"
SCOPE = "the 20 of 40 rows with genotype = 'wt'"


@pytest.fixture(scope="module")
def mice():
    data = load_nutrimouse()
    columns = {name: data.lipid[name] for name in ("C14.0", "C16.0", "C18.0")}
    return pl.DataFrame({"diet": data.diet, "genotype": data.genotype, **columns})


@pytest.mark.parametrize("kind", ["file", "polars", "pandas", "mapping"])
def test_the_rows_that_a_condition_chose_are_known(mice, kind, tmp_path):
    path = tmp_path / "mice.csv"
    mice.write_csv(path)
    data = {
        "file": lambda: str(path),
        "polars": lambda: mice,
        "pandas": mice.to_pandas,
        "mapping": lambda: mice.to_dict(as_series=False),
    }[kind]()
    answer = reldep.compare("C14.0", "C16.0", "C18.0", data=reldep.read(data, where=CONDITION))
    assert answer.provenance.scope == SCOPE
    assert json.loads(answer.to_json())["scope"] == SCOPE
    assert SCOPE.replace("'", "&#x27;") in answer.to_html() or SCOPE in answer.to_html()
    whole = reldep.compare("C14.0", "C16.0", "C18.0", data=data)
    assert whole.provenance.scope is None
