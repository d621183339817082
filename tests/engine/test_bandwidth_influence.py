"""What the bandwidths that the data chose add to the influence values."""

import numpy as np
import pytest

from reldep.engine import Dense, Sizes, Tiled, compute_influence
from reldep.kernels import FunctionKernel, Gaussian, Laplace

PAIRS = (("x", "y"), ("x", "x"), ("y", "y"))


def samples(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=n)
    return {"x": x, "y": np.sin(x) + rng.normal(size=n)}


def fit(data, kernel):
    return {name: kernel.fit(values) for name, values in data.items()}


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Gaussian(factor=0.5)])
def test_the_corrected_influence_is_that_of_leaving_an_observation_out(kernel):
    n = 120
    data = samples(n)
    whole = compute_influence(fit(data, kernel), PAIRS, Dense(), bandwidths=True)
    without = []
    for i in range(n):
        rest = {name: np.delete(values, i) for name, values in data.items()}
        without.append(compute_influence(fit(rest, kernel), PAIRS, Dense()).estimates)
    jackknife = (n - 1) * (whole.estimates[:, None] - np.array(without).T)
    jackknife -= jackknife.mean(axis=1, keepdims=True)
    corrected = whole.psi + whole.bandwidth_psi
    errors = ((jackknife - corrected) ** 2).sum(axis=1)
    held_fixed = ((jackknife - whole.psi) ** 2).sum(axis=1)
    assert (errors < 0.6 * held_fixed).all()
    assert errors[0] < 0.3 * held_fixed[0]
    assert (errors < 0.1 * (jackknife**2).sum(axis=1)).all()


def test_the_slope_of_an_hsic_is_its_derivative_in_the_bandwidths():
    data = samples(40)
    kernels = fit(data, Gaussian())
    moved = compute_influence(kernels, PAIRS, Dense(), bandwidths=True).bandwidth_psi
    (bandwidth,) = kernels["x"].bandwidths()
    score = bandwidth.score(slice(0, 40), slice(0, 40))
    np.fill_diagonal(score, 0.0)
    influence = bandwidth.leverage(score.sum(axis=1) / 39)
    step = 1e-5
    estimates = []
    for width in (bandwidth.value * np.exp(sign * step) for sign in (1, -1)):
        wide = {**kernels, "x": Gaussian(width).fit(data["x"])}
        estimates.append(compute_influence(wide, [("x", "x")], Dense()).estimates[0])
    slope = (estimates[0] - estimates[1]) / (2 * step)
    assert moved[1] == pytest.approx(slope * influence, rel=1e-6)


def standard_errors(found):
    """Give those of all HSICs and of the difference of the first two."""
    psi = found.psi + found.bandwidth_psi
    psi = np.vstack([psi, psi[0] - psi[1]])
    return np.sqrt((psi**2).sum(axis=1)) / found.n_observations


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace("mean", 1.4)])
@pytest.mark.parametrize("columns", [1, 2, 30])
def test_bandwidths_followed_in_blocks_give_the_standard_errors_of_all_pairs(kernel, columns):
    """Slopes and row means from blocks of 500 rows: errors below 1%."""
    rng = np.random.default_rng(columns)
    x = rng.normal(size=(2_600, columns))
    data = {"x": x, "y": x + rng.normal(size=x.shape), "z": x**2 + rng.normal(size=x.shape)}
    kernels = fit(data, kernel)
    pairs = (("x", "y"), ("x", "z"), ("x", "x"))
    exact, in_blocks = (
        compute_influence(kernels, pairs, Tiled(), bandwidths=True, sizes=Sizes(followed_rows=n))
        for n in (3_000, 0)
    )
    assert not np.array_equal(in_blocks.bandwidth_psi, exact.bandwidth_psi)
    np.testing.assert_allclose(standard_errors(in_blocks), standard_errors(exact), rtol=1e-2)
    assert in_blocks.bandwidth_psi.sum(axis=1) == pytest.approx(0.0, abs=1e-9)


def test_one_block_of_all_rows_gives_the_slopes_of_all_pairs():
    """With kernels that have programs and with one that has none."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    kernels = fit({"x": x, "y": x + rng.normal(size=x.shape)}, Laplace("mean"))
    plain = FunctionKernel(lambda a, b: a @ b.T).fit(x)
    pairs = [("x", "y"), ("x", "x")]
    for more in ({}, {"z": plain}):
        some = [*pairs, *(("x", name) for name in more)]
        exact, in_blocks = (
            compute_influence(
                {**kernels, **more}, some, bandwidths=True, sizes=Sizes(followed_rows=n)
            ).bandwidth_psi
            for n in (3_000, 0)
        )
        np.testing.assert_allclose(in_blocks, exact, rtol=1e-9, atol=1e-13)
