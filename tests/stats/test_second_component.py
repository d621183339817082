"""The second Hoeffding component: the variance that is left under independence."""

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.engine import Dense, compute_influence
from reldep.engine.terms import Terms
from reldep.kernels import Gaussian, Linear
from reldep.stats.second_order import pairs_of_second_component, second_component

PAIRS = (("x", "y"), ("x", "z"))


def fit(data, kernel=None):
    return {k: (kernel or Gaussian()).fit(read_variable(v, k)) for k, v in data.items()}


def component_of(kernels, pairs, engine=None):
    means = pairs_of_second_component(pairs)
    influence = compute_influence(kernels, pairs, engine or Dense(), means=means)
    return second_component(influence.hsic, pairs, influence.n_observations)


class Recording(Dense):
    def terms(self, kernels, wanted) -> Terms:
        object.__setattr__(self, "wanted", wanted)
        return super().terms(kernels, wanted)


def test_it_is_the_covariance_of_the_hsics_when_the_source_is_shuffled():
    rng = np.random.default_rng(0)
    n, n_shuffles = 40, 1000
    z = rng.normal(size=n)
    data = {"x": rng.gamma(1.0, size=n), "y": z + rng.normal(size=n), "z": z}
    kernels = fit(data)
    component = component_of(kernels, PAIRS)
    estimates = []
    for _ in range(n_shuffles):
        x = Gaussian().fit(read_variable(rng.permutation(data["x"]), "x"))
        estimates.append(compute_influence({**kernels, "x": x}, PAIRS, Dense()).estimates)
    shuffled = np.cov(np.array(estimates).T)
    # Skewed statistics: a variance from 1000 draws is known to about 8%; terms of order 1/m
    # are left out of the component.
    assert component == pytest.approx(shuffled, rel=0.2)


def test_the_difference_of_two_targets_has_the_closed_form():
    rng = np.random.default_rng(1)
    data = {name: rng.normal(size=25) for name in "xyz"}
    kernels = fit(data, Linear())
    component = component_of(kernels, PAIRS)
    names = ["xx", "yy", "zz", "yz", "xy", "xz"]
    h = dict(
        zip(
            names,
            compute_influence(kernels, [tuple(pair) for pair in names], Dense()).estimates,
            strict=True,
        )
    )
    expected = 2 * h["xx"] * (h["yy"] + h["zz"] - 2 * h["yz"]) + 2 * (h["xy"] - h["xz"]) ** 2
    weights = np.array([1.0, -1.0])
    assert weights @ component @ weights == pytest.approx(expected / 25**2)


def test_self_pairs_take_no_part():
    rng = np.random.default_rng(2)
    kernels = fit({"x": rng.normal(size=12), "y": rng.normal(size=12)})
    component = component_of(kernels, [("x", "x"), ("x", "y"), ("y", "y")])
    assert component[1, 1] > 0
    assert np.count_nonzero(component) == 1
    assert pairs_of_second_component([("x", "x")]) == ()


def test_it_needs_no_second_sweep():
    rng = np.random.default_rng(3)
    engine = Recording()
    kernels = fit({name: rng.normal(size=12) for name in "xyz"})
    component_of(kernels, PAIRS, engine)
    assert engine.wanted.crossed_pairs() == PAIRS
    assert len(engine.wanted.product_pairs()) == 6


def test_an_hsic_that_is_not_known_is_a_key_error():
    rng = np.random.default_rng(4)
    kernels = fit({name: rng.normal(size=12) for name in "xyz"})
    influence = compute_influence(kernels, PAIRS, Dense())
    with pytest.raises(KeyError):
        second_component(influence.hsic, PAIRS, 12)
