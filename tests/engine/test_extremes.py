"""Values of any size: far observations, exact zeros, sums that no number can hold."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import reldep
from reldep.engine import Dense, Features, Sizes, Tiled, compute_influence
from reldep.exceptions import ScaleWarning
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear, Polynomial, Precomputed

PAIRS = [("x", "y"), ("x", "w")]
ENGINES = {"dense": Dense(), "some rows at a time": Dense(held=100_000), "tiled": Tiled()}


def related(m=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return {"x": x, "y": x + rng.normal(size=m), "w": x + 2 * rng.normal(size=m)}


def influence(kernel, data, engine="dense", pairs=PAIRS, **options):
    kernels = {name: kernel.fit(values) for name, values in data.items()}
    return compute_influence(kernels, pairs, engine, **options)


def z_of(found):
    difference = found.psi[0] - found.psi[1]
    standard_error = np.sqrt(difference @ difference) / found.n_observations
    return (found.estimates[0] - found.estimates[1]) / standard_error


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1.0), Distance(), Linear()], ids=str)
@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("own", [False, True])
def test_an_exact_zero_is_told_from_rounding(kernel, engine, own):
    """A column with a single 1 has a kernel f(x) + f(x'), whose HSIC with anything is 0."""
    data = related()
    single = {**data, "x": np.eye(200)[17]}
    chosen = ENGINES.get(engine, engine)
    pairs = [*PAIRS, ("x", "x")] if own else PAIRS
    found = influence(kernel, single, chosen, pairs)
    assert not found.values.any()
    assert any("Rounding leaves nothing" in str(one) for one in found.cautions)
    plain = influence(kernel, data, chosen, pairs)
    assert plain.values.any(axis=1).all()
    assert not plain.cautions


def test_features_know_an_exact_zero_too():
    data = related()
    labels = {name: values > 0 for name, values in data.items()}
    single = {**labels, "x": np.eye(200)[17] > 0}
    assert not influence(Delta(), single, Features()).values.any()
    assert influence(Delta(), labels, Features()).values.any(axis=1).all()


@pytest.mark.parametrize("kernel", [Distance(), Polynomial(2), Linear()])
@pytest.mark.parametrize(
    ("sizes", "how"),
    [((1e160,), "large to be added up"), ((1e-80, 1e-160, 1e-300), "small to be multiplied")],
)
def test_values_that_no_number_can_hold_are_refused_in_words(kernel, sizes, how):
    for size in sizes:
        data = {name: size * values for name, values in related(30).items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=rf"x and y are too {how}\. Rescale"):
                influence(kernel, data)


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("far", [1e5, 1e8, 9.97e36, 1e200])
def test_distances_from_a_far_observation_differ_by_the_effect_of_its_row(far, engine):
    """``|far - x_i|`` is a function of `far` minus x_i: how far it is changes no HSIC."""
    data, chosen = related(), ENGINES.get(engine, engine)
    near, beyond = (
        influence(
            Distance(),
            {**data, "x": np.append(data["x"][1:], value)},
            chosen,
            [*PAIRS, ("x", "x")],
            sizes=Sizes(dense_rows=0),
        )
        for value in (1e3, far)
    )
    # Sums along a sorted line would lose digits.
    assert engine != "auto" or beyond.engine == "tiled"
    np.testing.assert_allclose(beyond.estimates, near.estimates, rtol=1e-9)
    assert z_of(beyond) == pytest.approx(z_of(near), rel=1e-9)


def test_digits_that_rounding_took_are_counted():
    """Large effects of rows and columns change no HSIC, but push digits out of a matrix."""
    data = related(80)
    kernels = {name: Gaussian(1.0).fit(v) for name, v in data.items()}
    effects = np.random.default_rng(1).normal(size=80)

    def shifted(size):
        matrix = kernels["x"](slice(0, 80), slice(0, 80)) + size * (effects[:, None] + effects)
        return {**kernels, "x": Precomputed(matrix).fit(data["x"])}

    plain = compute_influence(kernels, PAIRS, "dense")
    for size, digits in ((1e2, None), (1e9, 1e-5), (1e12, 1e-2)):
        found = compute_influence(shifted(size), PAIRS, "dense")
        assert z_of(found) == pytest.approx(z_of(plain), rel=digits or 1e-9)
        assert [type(one) for one in found.cautions] == [ScaleWarning] * (digits is not None)


@pytest.mark.parametrize("bandwidth", [1e-170, 1e160])
@pytest.mark.parametrize("kernel", [Gaussian, Laplace])
def test_a_bandwidth_out_of_all_proportion_is_refused(kernel, bandwidth):
    with pytest.raises(ValueError, match="every kernel value is 0 or 1"):
        influence(kernel(bandwidth), related(30))
    with pytest.raises(ValueError, match="every kernel value is 0 or 1"):
        kernel(1.0).fit(related(30)["x"]).scaled(bandwidth)


@pytest.mark.parametrize("engine", [*ENGINES, "features"])
def test_a_polynomial_of_values_far_from_zero_keeps_their_differences(engine):
    """Far from 0 the quadratic kernel is the linear one times a constant, and a little more."""
    data = related()
    far = {name: values + 1e8 for name, values in data.items()}
    chosen = {**ENGINES, "features": Features()}[engine]
    expected = z_of(influence(Linear(), data))
    assert z_of(influence(Polynomial(2), far, chosen)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("far", [9.97e36, 1e200, 1e300])
def test_one_far_value_does_not_change_how_the_median_moves(far):
    data = related(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reldep.ReldepWarning)
        far_off, further = (
            reldep.compare(
                np.append(data["x"][1:], value), data["y"], data["w"], kernel="gaussian"
            ).statistic
            for value in (1e6, far)
        )
    assert further == pytest.approx(far_off, rel=1e-9)


def test_a_value_that_rules_the_mean_distance_is_named_as_the_reason():
    data = related(40)
    far = np.append(data["x"][1:], 9.97e36)
    with pytest.raises(ValueError, match=r"source has a value so far from the others.*write NA"):
        reldep.compare(far, data["y"], data["w"])
