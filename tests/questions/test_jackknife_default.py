"""What holds for the default answer of every question."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import reldep

MEASURES = ("hsic", "cka", "dcor")


def data(m=50, seed=0, noise=(0.6, 1.1, 2.0)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return {"x": x, **{name: x + s * rng.normal(size=m) for name, s in zip("yzw", noise)}}  # noqa: B905


@pytest.mark.parametrize("measure", MEASURES)
def test_a_weighted_difference_is_the_difference_scaled(measure):
    sample = data()
    plain = reldep.contrast(sample, {("x", "y"): 1, ("x", "z"): -1}, measure=measure)
    tripled = reldep.contrast(sample, {("x", "y"): -3, ("x", "z"): 3}, measure=measure)
    assert tripled.estimate == pytest.approx(-3 * plain.estimate)
    assert tripled.statistic == pytest.approx(-plain.statistic)
    assert tripled.df == pytest.approx(plain.df)
    low, high = plain.confidence_interval()
    assert tripled.confidence_interval() == pytest.approx((-3 * high, -3 * low))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_covariance_gives_the_standard_error(measure):
    sample = data()
    result = reldep.compare(sample["x"], sample["y"], sample["z"], measure=measure)
    weights = np.array([1.0, -1.0])
    assert weights @ result.covariance @ weights == pytest.approx(result.standard_error**2)
    assert (np.linalg.eigvalsh(result.covariance) > 0).all()


@pytest.mark.parametrize("question", ["compare", "contrast", "dependence", "rank", "sensitivity"])
@pytest.mark.parametrize("variance", ["jackknife", "fixed-kernel"])
def test_an_answer_survives_json_to_the_last_digit(question, variance):
    sample = data(40)
    blocks = sample["x"], sample["y"], sample["z"]
    answer = {
        "compare": lambda **o: reldep.compare(*blocks, **o),
        "contrast": lambda **o: reldep.contrast(sample, {("x", "y"): 1, ("w", "z"): -0.5}, **o),
        "dependence": lambda **o: reldep.dependence(*blocks[:2], **o),
        "rank": lambda **o: reldep.rank(blocks[0], {"y": blocks[1], "z": blocks[2]}, **o),
        "sensitivity": lambda **o: reldep.sensitivity(*blocks, factors=(0.5, 1, 2), **o),
    }[question](variance=variance)
    fields = json.loads(answer.to_json())
    assert json.loads(answer.to_json()) == fields
    assert fields["variance"] == variance
    assert fields["n_observations"] == 40
    assert fields["call"] == answer.provenance.call
    columns = answer.describe(fields["alpha"]).table.as_dict()
    for i, row in enumerate(fields["table"]):
        assert row == {name: column[i] for name, column in columns.items()}
    if hasattr(answer, "tested"):
        assert fields["estimate"] == answer.estimate
        assert fields["pvalue"] == answer.pvalue
        assert fields["confidence_interval"] == list(answer.confidence_interval())
        # JSON has no infinity: the normal law has no degrees of freedom.
        assert fields["df"] == (answer.df if math.isfinite(answer.df) else None)
