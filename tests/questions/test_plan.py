"""explain_plan says what a question would take, before it is asked."""

from __future__ import annotations

import numpy as np

import reldep
from reldep.engine import Tiled


def test_the_plan_names_the_engine_that_compare_then_uses(rng):
    x, y, z = rng.normal(size=(3, 100))
    plan = reldep.explain_plan(x, y, z)
    result = reldep.compare(x, y, z)
    assert plan.engine.name == result.provenance.engine == "dense"
    assert plan.fits
    assert str(plan).startswith("engine  dense\nwhy     few enough observations")


def test_what_was_asked_for_is_planned(rng):
    x, y = rng.normal(size=(2, 100))
    assert reldep.explain_plan(x, y, engine=Tiled(threads=1)).engine == Tiled(threads=1)
    assert reldep.explain_plan(x, y, engine="features", kernel="linear").engine.name == "features"


def test_more_memory_is_expected_for_more_targets(rng):
    x, y, z = rng.normal(size=(3, 4000, 2))
    two = reldep.explain_plan(x, y, z)
    assert two.engine.name == "tiled"
    assert two.seconds > 0
    assert two.memory > reldep.explain_plan(x, y).memory


def test_a_million_labels_are_planned_with_explicit_features():
    rng = np.random.default_rng(0)
    a, b, c = np.array(list("abcde"))[rng.integers(0, 5, (3, 200_000))]
    plan = reldep.explain_plan(a, b, c)
    assert plan.engine.name == "features"
    assert plan.memory < 1_000_000_000
