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


def planned(x, y, z):
    return reldep.paper_test(x, y, z, kernel=KERNEL)


def halved(x, y, z):
    return reldep.paper_test(x, y, z, kernel=KERNEL, method="split")


def related(x, y, _):
    return reldep.dependence(x, y, kernel=KERNEL)


@pytest.mark.parametrize(
    ("ask", "n", "noise", "seed"),
    [
        (planned, 60, (0.8, 1.2), 99),
        (halved, 240, (0.8, 1.2), 99),
        (related, 50, (2.5, 1.0), 5),
    ],
)
def test_the_power_planned_is_the_power_had(ask, n, noise, seed):
    pilot = ask(*data(1500, seed, noise))
    rejected = [ask(*data(n, i, noise)).pvalue < 0.05 for i in range(200)]
    power, needed = pilot.power(n), pilot.sample_size(0.8)
    assert 0.2 < power < 0.95
    # Three binomial deviations of 200 draws, and what the pilot itself does not know.
    assert np.mean(rejected) == pytest.approx(power, abs=3 * np.sqrt(0.25 / 200) + 0.06)
    assert pilot.power(needed) >= 0.8 > pilot.power(needed - 1)
