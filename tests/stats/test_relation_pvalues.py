"""Whether relations are shown at all, in sentences and p-values."""

from __future__ import annotations

import re

import numpy as np
import pytest

import reldep
from reldep.stats.independence import independence_pvalues

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


def linear(m=200, seed=0, noise=(0.5, 1.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


def kinds(result):
    return {type(caution) for caution in result.warnings}


def test_a_pair_without_dependence_is_named():
    x, y, _ = linear()
    noise = np.random.default_rng(10).normal(size=200)
    result = reldep.compare(x, y, noise, names=["x", "y", "noise"])
    assert kinds(result) == set()
    assert re.search(r"Not shown to be related to x: noise \(p = 0\.\d+\)", str(result))


def test_the_screen_has_the_level_of_the_independence_test():
    p = []
    for seed in range(40):
        x, y = np.random.default_rng(seed).normal(size=(2, 40))
        said = reldep.contrast({"x": x, "y": y}, {("x", "y"): 1}).sentence()
        flagged = "Not shown to be related: x and y" in said
        p.append(reldep.dependence(x, y).pvalue)
        assert flagged == (p[-1] > 0.05)
    # Three binomial errors of 40 draws above 5%.
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_contrasts_of_an_influence_are_screened_where_it_knows_enough():
    x, y, z = np.random.default_rng(3).normal(size=(3, 100))
    computed = reldep.influence({"x": x, "y": y, "z": z}, [("x", "y"), ("x", "z")])
    weights = {("x", "y"): 1, ("x", "z"): -1}
    published = {"measure": "hsic", "variance": "fixed-kernel"}
    result = reldep.contrast(computed, weights, **published)
    bare = reldep.Influence(computed.values, computed.pairs, computed.names, 100)
    other = reldep.contrast(bare, weights, **published)
    for answer in (result, other):
        assert answer.sentence().startswith("Neither x and ")
        assert "are shown to be related" in answer.sentence()


def test_the_screen_without_self_pairs_keeps_its_level_and_sees_dependence():
    rng = np.random.default_rng(8)
    draws, passed = 300, 0
    for _ in range(draws):
        x, y = rng.normal(size=(2, 60))
        A = reldep.influence({"x": x, "y": y}, [("x", "y")])
        bare = reldep.Influence(A.values, A.pairs, A.names, 60)
        passed += independence_pvalues(bare, bare.pairs, 60)["x", "y"] < 0.05
    assert passed / draws < 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    A = reldep.influence({"x": x, "y": x + y}, [("x", "y")])
    bare = reldep.Influence(A.values, A.pairs, A.names, 60)
    assert independence_pvalues(bare, bare.pairs, 60)["x", "y"] < 0.05
