"""Rankings of many targets: matrix products give the numbers of the general way."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.stats.simultaneous import largest_leads

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


def data(m=30, n=26, seed=0):
    rng = np.random.default_rng(seed)
    source = rng.normal(size=m)
    noise = np.linspace(0.3, 3.0, n)
    return source, source[:, None] + noise * rng.normal(size=(m, n))


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_many_targets_are_ranked_as_few_are(measure):
    """Products of all pairs at once give what pairs one at a time give."""
    source, targets = data()
    many = reldep.rank(source, targets, measure=measure)
    few = reldep.rank(source, targets[:, :3], measure=measure)
    for name in ("values", "standard_errors"):
        of_many, of_few = (getattr(answer.dependences, name) for answer in (many, few))
        np.testing.assert_allclose(of_many[:3], of_few, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("p", [120, 121, 123])
def test_compiled_leads_are_those_of_plain_loops(p):
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(p, 19)).astype(np.float32)
    inverse = rng.uniform(size=(p, p)).astype(np.float32)
    inverse += inverse.T
    np.fill_diagonal(inverse, 0.0)
    gaps = np.abs(drawn[:, None] - drawn[None]) * inverse[:, :, None]
    np.testing.assert_allclose(largest_leads(drawn, inverse), gaps.max(axis=1), rtol=1e-6)
