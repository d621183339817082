"""explain_plan says what a question would take, before it is asked."""

from __future__ import annotations

from time import thread_time

import numpy as np
import pytest

import reldep
from reldep.engine import Tiled


def test_the_plan_names_the_engine_that_compare_then_uses(rng):
    x, y, z = rng.normal(size=(3, 100))
    plan = reldep.explain_plan(x, y, z)
    result = reldep.compare(x, y, z)
    assert plan.engine.name == result.provenance.engine == "dense"
    assert plan.fits
    assert str(plan).startswith("engine  dense\nwhy     few enough observations")


def test_a_plan_sums_no_kernel_values(rng, monkeypatch):
    """Also for so many rows that the sums would take minutes."""

    def refuse(*args, **kwargs):
        raise AssertionError("a plan computed an answer")

    monkeypatch.setattr("reldep.questions.study.compute_influence", refuse)
    x, y, z = rng.normal(size=(3, 50_000, 3))
    assert reldep.explain_plan(x, y, z).engine.name in ("tiled", "blocks")
    with pytest.raises(AssertionError, match="computed"):
        reldep.compare(x[:50], y[:50], z[:50])


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


def test_kernels_that_take_long_are_computed_in_blocks_of_few_rows(rng):
    def slow(a, b):
        end = thread_time() + len(a) * len(b) * 2e-6
        while thread_time() < end:
            pass
        return np.exp(-np.abs(a - b.T))

    x, y = rng.normal(size=(2, 2_500))
    plan = reldep.explain_plan(x, y, kernel=slow)
    assert plan.engine.name == "blocks"
    # Two kernels in 50 blocks of 50 rows, and halves of twenty of them, by up to two threads.
    assert 0.2 < plan.seconds < 4.0
    assert reldep.explain_plan(x[:2_000], y[:2_000], kernel=slow).engine.name == "dense"
