"""Planning: power and sample size from a pilot, against simulation."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.kernels import Gaussian

KERNEL = Gaussian(1.0)


def data(m, seed, noise=(0.8, 1.2)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


@pytest.mark.parametrize(("method", "n"), [("joint", 60), ("split", 240)])
def test_the_power_planned_is_the_power_had(method, n):
    pilot = reldep.paper_test(*data(1500, 99), kernel=KERNEL, method=method)
    rejected = [
        reldep.paper_test(*data(n, seed), kernel=KERNEL, method=method).pvalue < 0.05
        for seed in range(200)
    ]
    planned, needed = pilot.power(n), pilot.sample_size(0.9)
    assert pilot.power(needed) >= 0.9 > pilot.power(needed - 1)
    assert 0.2 < planned < 0.95
    # Three binomial deviations of 200 draws, and what the pilot itself does not know.
    assert np.mean(rejected) == pytest.approx(planned, abs=3 * np.sqrt(0.25 / 200) + 0.05)


def test_the_power_of_the_independence_test_is_that_of_chi_square():
    x, y, _ = data(1500, 5, noise=(2.5, 1.0))
    pilot = reldep.dependence(x, y, kernel=KERNEL)
    n = 50
    rejected = [
        reldep.dependence(*data(n, seed, noise=(2.5, 1.0))[:2], kernel=KERNEL).pvalue < 0.05
        for seed in range(200)
    ]
    planned = pilot.power(n)
    assert 0.2 < planned < 0.9
    assert np.mean(rejected) == pytest.approx(planned, abs=3 * np.sqrt(0.25 / 200) + 0.06)
    needed = pilot.sample_size(0.8)
    assert pilot.power(needed) >= 0.8 > pilot.power(needed - 1)
