"""The stacks of small samples behind the simulations agree with the package."""

import sys
from pathlib import Path

import numpy as np
import pytest

import reldep
from reldep.kernels import Gaussian, Laplace

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import batched

PAIRS = [("x", "x"), ("x", "y"), ("y", "y")]


@pytest.mark.parametrize(
    ("stacked", "kernel"),
    [
        (batched.gaussian(batched.median_scale), Gaussian()),
        (batched.laplace(batched.median_scale), Laplace()),
        (batched.negative_distance, "distance"),
        (batched.linear, "linear"),
    ],
)
@pytest.mark.parametrize("columns", [1, 3])
def test_a_stack_gives_what_the_package_gives_sample_by_sample(stacked, kernel, columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 25, columns))
    y = x + rng.normal(size=x.shape)
    found = batched.influence({"x": stacked(x), "y": stacked(y)}, PAIRS)
    for b in range(4):
        one = reldep.influence({"x": x[b], "y": y[b]}, PAIRS, kernel=kernel)
        assert found.means[b] == pytest.approx(one.values, rel=1e-9, abs=1e-12)
        assert found.bandwidth[b] == pytest.approx(one.bandwidth_psi, rel=1e-6, abs=1e-12)


def test_the_mean_distance_moves_as_its_influence_says():
    x = np.random.default_rng(1).exponential(size=(1, 400, 1))
    scale, moves = batched.mean_scale(batched.distances(x))
    without, _ = batched.mean_scale(batched.distances(x[:, 1:]))
    assert without - scale == pytest.approx(-moves[:, 0] / 398, rel=1e-9)
