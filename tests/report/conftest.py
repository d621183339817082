from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import reldep
from reldep.exceptions import FewUnitsWarning

HOSTILE = "<script>alert('x')</script> & \"$y$\" --> ]]>"


@pytest.fixture(scope="session")
def variables():
    rng = np.random.default_rng(1)
    x = rng.normal(size=90)
    return x, x + 0.6 * rng.normal(size=90), x + 1.8 * rng.normal(size=90)


@pytest.fixture(scope="session")
def comparison(variables):
    return reldep.compare(*variables, names=["location", "genes", "copies"])


@pytest.fixture(scope="session")
def hostile(variables):
    """A comparison in which everything that comes from the data tries to be markup."""
    result = reldep.compare(*variables, names=[HOSTILE, f"first {HOSTILE}", "second\x00\x1b"])
    caution = FewUnitsWarning(f"caution about {HOSTILE}")
    return dataclasses.replace(result, warnings=(caution,))


@pytest.fixture(scope="session")
def sensitivity(variables):
    return reldep.sensitivity(*variables, names=["location", "genes", "copies"])


@pytest.fixture(scope="session")
def answers(variables, comparison, sensitivity):
    """One result of every kind that can be reported."""
    x, y, z = variables
    data = {"x": x, "y": y, "z": z}
    weights = {("x", "y"): 1, ("x", "z"): -0.5, ("y", "z"): -0.5}
    return {
        "comparison": comparison,
        "split": reldep.paper_test(x, y, z, method="split"),
        "contrast": reldep.contrast(data, weights),
        "dependence": reldep.dependence(x, y, measure="dcor"),
        "ranking": reldep.rank(x, {"y": y, "z": z, "w": np.sin(3 * x)}, n_simulations=500),
        "sensitivity": sensitivity,
    }


KINDS = ("comparison", "split", "contrast", "dependence", "ranking", "sensitivity")


@pytest.fixture(scope="session")
def pages(answers, hostile, sensitivity):
    """The report about every kind of result, drawn once; that of the comparison in full."""
    drawn = {kind: result.to_html() for kind, result in answers.items() if kind != "comparison"}
    full = answers["comparison"].to_html(sensitivity=sensitivity)
    called = dataclasses.replace(hostile.describe(), call=f"run {HOSTILE}")
    return {**drawn, "comparison": full, "hostile": reldep.report.page(called)}
