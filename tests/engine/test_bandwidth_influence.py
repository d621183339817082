"""What the median bandwidths add to the influence values."""

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.engine import Dense, compute_influence
from reldep.kernels import Delta, Gaussian, Laplace

PAIRS = (("x", "y"), ("x", "x"), ("y", "y"))


def samples(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=n)
    return {"x": x, "y": np.sin(x) + rng.normal(size=n)}


def fit(data, kernel):
    return {name: kernel.fit(read_variable(values, name)) for name, values in data.items()}


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
    (probe,) = kernels["x"].bandwidth_probes()
    side = probe.side.matrix()
    np.fill_diagonal(side, 0.0)
    influence = probe.influence(side.sum(axis=1) / 39)
    step = 1e-5 * kernels["x"].profile.bandwidth
    estimates = []
    for width in (kernels["x"].profile.bandwidth + sign * step for sign in (1, -1)):
        wide = {**kernels, "x": Gaussian(width).fit(read_variable(data["x"], "x"))}
        estimates.append(compute_influence(wide, [("x", "x")], Dense()).estimates[0])
    slope = (estimates[0] - estimates[1]) / (2 * step)
    assert moved[1] == pytest.approx(slope * influence, rel=1e-6)


def test_corrections_sum_to_zero_and_leave_the_conditional_means_alone():
    kernels = fit(samples(30), Gaussian())
    aware = compute_influence(kernels, PAIRS, Dense(), bandwidths=True)
    plain = compute_influence(kernels, PAIRS, Dense())
    assert aware.bandwidth_psi.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert (aware.values == plain.values).all()
    assert aware.names == plain.names == ("x", "y")
    assert plain.bandwidth_psi is None


def test_fixed_kernels_get_no_correction():
    data = samples(30)
    kernels = fit(data, Gaussian(1.0)) | {
        "y": Delta().fit(read_variable(data["y"] > 0, "y")),
    }
    assert not compute_influence(kernels, PAIRS, Dense(), bandwidths=True).bandwidth_psi.any()
