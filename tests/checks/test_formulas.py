"""Variables that are computed from each other, and several rows of one subject: both are said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reldep
from cautioned import cautioned
from reldep.exceptions import CopyWarning

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
FEW = {"n_simulations": 400}


@pytest.fixture
def body(rng):
    weight, height, age = rng.normal((70, 1.7, 50), (10, 0.1, 10), size=(60, 3)).T
    return {"weight": np.round(weight, 1), "height": np.round(height, 2), "age": np.round(age)}


def kinds(answer, kind):
    return [str(one) for one in answer.warnings if isinstance(one, kind)]


def test_a_ratio_of_the_targets_is_named_though_it_is_rounded(body):
    bmi = np.round(body["weight"] / body["height"] ** 2, 1)
    names = ("bmi", "weight", "height")
    with cautioned(CopyWarning, "'bmi' is a product or ratio of 'weight' and 'height'"):
        reldep.compare(bmi, body["weight"], body["height"], names=names)
    alone = reldep.compare(bmi, body["weight"], body["age"], names=("bmi", "weight", "age"))
    assert not kinds(alone, CopyWarning)


def test_a_sum_of_the_targets_is_named(body):
    total = body["weight"] + 2 * body["age"]
    with cautioned(CopyWarning, "'total' is a weighted sum of 'weight' and 'age',"):
        reldep.rank(pd.Series(total, name="total"), body, **FEW)


def test_a_part_of_a_whole_is_named(rng):
    parts = 100 * rng.dirichlet(np.ones(5), size=60)
    with cautioned(CopyWarning, "'part' is a weighted sum of the columns of 'rest'"):
        reldep.compare(
            parts[:, 0], parts[:, 1:], rng.normal(size=60), names=("part", "rest", "other")
        )


def test_strong_dependence_alone_is_no_formula(rng):
    x, y = rng.normal(size=(2, 60))
    noisy = reldep.compare(x + y + 0.1 * rng.normal(size=60), x, y)
    assert not kinds(noisy, CopyWarning)
    block = rng.normal(size=(60, 40))
    assert not kinds(reldep.compare(x, block, y), CopyWarning)


def test_targets_that_are_copies_of_each_other_are_said(body, rng):
    pounds = body["weight"] * 2.2046
    targets = {"kilograms": body["weight"], "pounds": pounds, "age": body["age"]}
    with cautioned(CopyWarning, "One variable in two units or words.*: 'kilograms' and 'pounds'"):
        reldep.rank(body["weight"] + rng.normal(size=60), targets, **FEW)


def test_few_rows_in_one_order_are_no_copies(rng):
    x = np.sort(rng.normal(size=10))
    y = np.sort(rng.normal(size=10))
    words = "One variable in two units"
    assert not any(words in one for one in kinds(reldep.compare(x, y, x[::-1] ** 2), CopyWarning))
    assert any(words in one for one in kinds(reldep.compare(x, 3 - 2 * x, y), CopyWarning))


def test_differences_of_normalised_measures_stay_between_minus_one_and_one(rng):
    x = rng.normal(size=8)
    answer = reldep.compare(x, x + 0.1 * rng.normal(size=8), rng.normal(size=8))
    assert answer.tested.interval(0.95)[1] > 1.0
    low, high = answer.confidence_interval()
    assert -1.0 <= low < high <= 1.0
    ranking = reldep.rank(x, {"a": x + 0.1, "b": x**2, "c": rng.normal(size=8)}, **FEW)
    table = ranking.pairwise()
    assert table["low"].min() >= -1.0
    assert table["high"].max() <= 1.0
    raw = reldep.compare(x, 2 * x, rng.normal(size=8), measure="hsic", kernel="linear")
    assert raw.confidence_interval() == raw.tested.interval(0.95)
