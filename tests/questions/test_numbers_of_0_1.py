"""With the options of version 0.1 the numbers are those of version 0.1, to rounding.

`numbers_of_0_1.json` was written by version 0.1.0 with the calls below. Only what was wrong then
is left out: the differences of a ranking under second-order variances, which did not agree with
`compare`, the test of independence in clusters, which ignored them, `without_top`, which divided
by m - 1 in place of m - 4, and everything that rests on random draws.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import reldep
from synthetic import spirals

NUMBERS = json.loads(Path(__file__).with_name("numbers_of_0_1.json").read_text())

X, Y, Z = spirals(60, 0.6, 3)
LABELS = np.where(X[:, 0] > 3, "a", np.where(X[:, 1] > 0, "b", "c"))
W = X[:, 0] + np.random.default_rng(5).normal(size=60)
ALL = {"x": X, "y": Y, "z": Z, "w": W}
CLUSTERS = np.repeat(np.arange(20), 3)

CALLS = {
    "compare": lambda **o: reldep.compare(X, Y, Z, **o),
    "labels": lambda **o: reldep.compare(X, Y, LABELS, alternative="two-sided", **o),
    "split": lambda **o: reldep.compare(X, Y, Z, method="split", rng=4, **o),
    "contrast": lambda **o: reldep.contrast(
        ALL, {("x", "y"): 1, ("x", "z"): 1, ("x", "w"): -2}, **o
    ),
    "mixed contrast": lambda **o: reldep.contrast(
        ALL, {("x", "y"): 1, ("z", "w"): -0.5}, alternative="less", **o
    ),
    "dependence": lambda **o: reldep.dependence(X, W, **o),
    "clusters": lambda **o: reldep.compare(X, Y, Z, clusters=CLUSTERS, **o),
    "lag": lambda **o: reldep.compare(X, Y, Z, max_lag=3, **o),
    "dependence in clusters": lambda **o: reldep.dependence(X, W, clusters=CLUSTERS, **o),
    "rank": lambda **o: reldep.rank(X, {"y": Y, "z": Z, "w": W, "labels": LABELS}, **o),
}

# What "auto" stood for in version 0.1: the Gaussian kernel at the median, Delta for labels.
GAUSSIAN = {
    "labels": {"first": "gaussian", "source": "gaussian", "second": "delta"},
    "rank": {"source": "gaussian", "targets": "gaussian", "labels": "delta"},
}


def numbers_of(answer):
    if isinstance(answer, reldep.results.Ranking):
        table = answer.pairwise()
        return {
            "estimates": answer.estimates,
            "standard_errors": answer.standard_errors,
            "statistics": table["statistic"].to_numpy(),
            "pvalues": table["pvalue"].to_numpy(),
        }
    low, high = answer.confidence_interval(0.9)
    return {
        "estimate": answer.estimate,
        "standard_error": answer.standard_error,
        "statistic": answer.statistic,
        "pvalue": answer.pvalue,
        "low": low,
        "high": high,
        "estimates": answer.estimates,
        "power": answer.power(50),
    }


@pytest.mark.parametrize("case", NUMBERS)
def test_the_numbers_are_those_of_version_0_1(case):
    call, measure, variance = case.split(", ")
    kernel = "auto" if measure == "dcor" else GAUSSIAN.get(call, "gaussian")
    answer = CALLS[call](measure=measure, variance=variance, kernel=kernel)
    found = numbers_of(answer)
    assert found.keys() >= NUMBERS[case].keys()
    for name, expected in NUMBERS[case].items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-13, err_msg=name)
