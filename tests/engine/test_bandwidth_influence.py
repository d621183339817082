"""What the median bandwidths add to the influence values."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.engine import Dense, Tiled, bandwidths, compute_influence, influence
from reldep.engine.bandwidths import paired_hsics, sampled_row_means, slope_partners
from reldep.engine.terms import Wanted, hsic, row_means
from reldep.kernels import Delta, Gaussian, Laplace
from reldep.kernels import points as points_module
from reldep.kernels.points import Points
from reldep.kernels.profiles import PowerProfile
from reldep.kernels.radial import FittedRadial

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


def standard_errors(found):
    """Give those of all HSICs and of the difference of the first two."""
    psi = found.psi + found.bandwidth_psi
    psi = np.vstack([psi, psi[0] - psi[1]])
    return np.sqrt((psi**2).sum(axis=1)) / found.n_observations


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace("mean", 1.4), Gaussian("mid-median")])
@pytest.mark.parametrize("columns", [1, 2, 30])
def test_bandwidths_followed_on_some_rows_give_the_standard_errors_of_all(
    kernel, columns, monkeypatch
):
    """Slopes from blocks and row means from half of the reference rows: errors below 0.5%."""
    rng = np.random.default_rng(columns)
    x = rng.normal(size=(2_600, columns))
    data = {"x": x, "y": x + rng.normal(size=x.shape), "z": x**2 + rng.normal(size=x.shape)}
    kernels = fit(data, kernel)
    pairs = (("x", "y"), ("x", "z"), ("x", "x"))
    monkeypatch.setattr(bandwidths, "REFERENCE_ROWS", {None: 2_000})
    monkeypatch.setattr(influence, "FOLLOWED_EXACTLY_UP_TO", 2_600)
    exact = compute_influence(kernels, pairs, Tiled(), bandwidths=True)
    monkeypatch.setattr(influence, "FOLLOWED_EXACTLY_UP_TO", 2_000)
    sampled = compute_influence(kernels, pairs, Tiled(), bandwidths=True)
    assert not np.array_equal(sampled.bandwidth_psi, exact.bandwidth_psi)
    np.testing.assert_allclose(standard_errors(sampled), standard_errors(exact), rtol=5e-3)
    assert sampled.bandwidth_psi.sum(axis=1) == pytest.approx(0.0, abs=1e-9)


def paired(n, n_partners, *, compiled, monkeypatch):
    """Give estimates of slopes, the slopes themselves, and the pairs."""
    data = samples(n)
    kernels = fit(data, Gaussian()) | {"z": Delta().fit(read_variable(data["x"] > 1, "z"))}
    kernels["slope"] = kernels["x"].bandwidth_probes()[0].slope
    slopes = [("slope", "y"), ("slope", "x"), ("slope", "z")]
    terms = Dense().terms(kernels, Wanted((), tuple(slopes)))
    monkeypatch.setattr(bandwidths, "numba_is_there", lambda: compiled)
    found = paired_hsics(kernels, slopes, lambda name: row_means(terms, name), n_partners)
    return found, {pair: hsic(terms, pair) for pair in slopes}, slopes


@pytest.mark.parametrize("compiled", [True, False])
def test_slopes_from_all_pairs_are_the_hsics(compiled, monkeypatch):
    # 48 rows on either side are all others; so is a block of all rows.
    found, exact, slopes = paired(97, 48, compiled=compiled, monkeypatch=monkeypatch)
    for pair in slopes:
        assert found[pair] == pytest.approx(exact[pair], rel=1e-10)


@pytest.mark.parametrize("compiled", [True, False])
def test_slopes_from_some_pairs_are_near(compiled, monkeypatch):
    found, exact, slopes = paired(1_600, 30, compiled=compiled, monkeypatch=monkeypatch)
    for pair in slopes:
        assert found[pair] != pytest.approx(exact[pair], rel=1e-9)
        assert found[pair] == pytest.approx(exact[pair], rel=0.15)


def test_more_pairs_are_taken_where_they_do_not_show():
    assert slope_partners(2_000, quick=False) == 125
    assert slope_partners(20_000, quick=False) == 99
    assert slope_partners(20_000, quick=True) == 12
    assert slope_partners(10**6, quick=False) == slope_partners(10**6, quick=True) == 8


@pytest.mark.parametrize("rule", ["median", "mean", "mid-median"])
@pytest.mark.parametrize("values", ["continuous", "counts", "mostly equal"])
def test_row_means_on_one_column_are_those_of_all_pairs(rule, values):
    rng = np.random.default_rng(0)
    column = {
        "continuous": rng.normal(size=81),
        "counts": rng.integers(0, 4, 81) * 0.1,
        "mostly equal": np.where(rng.random(81) < 0.85, 0.0, rng.integers(0, 5, 81)),
    }[values]
    fitted = Gaussian(rule).fit(Numeric("x", column[:, None]))
    side = type(fitted)(fitted.points, fitted.scale.side(), "side")
    matrix = side.matrix()
    np.fill_diagonal(matrix, 0.0)
    found = sampled_row_means(side, np.arange(3))
    np.testing.assert_allclose(found, matrix.sum(axis=1) / 80, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-80, 1e80])
def test_mean_distances_in_single_precision_have_nine_digits_together(scale, monkeypatch):
    monkeypatch.setattr(points_module, "SINGLE_FROM", 0)
    monkeypatch.setattr("reldep.system.COMPILED_FROM", 0)
    rng = np.random.default_rng(0)
    rows = scale * (5.0 + rng.standard_t(3, size=(900, 3)))
    found = Points.of(Numeric("x", rows)).mean_distances
    expected = cdist(rows, rows).sum(axis=1) / 899
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert found.mean() == pytest.approx(expected.mean(), rel=2e-9)
    assert np.abs(found / expected - 1).max() > 1e-12


def test_mean_distances_from_a_far_point_keep_double_precision(monkeypatch):
    monkeypatch.setattr(points_module, "SINGLE_FROM", 0)
    monkeypatch.setattr("reldep.system.COMPILED_FROM", 0)
    rows = np.random.default_rng(0).normal(size=(300, 2))
    rows[7] = 1e30
    found = Points.of(Numeric("x", rows)).mean_distances
    np.testing.assert_allclose(found, cdist(rows, rows).sum(axis=1) / 299, rtol=1e-12)


def test_mean_distances_that_the_bandwidth_needed_are_used_again():
    rng = np.random.default_rng(0)
    points = Points.of(Numeric("x", rng.normal(size=(531, 3))))
    side = FittedRadial(points, PowerProfile(1.0), "side")
    assert side.exact_row_means() is None
    expected = cdist(points.rows, points.rows).sum(axis=1) / 530
    np.testing.assert_allclose(points.mean_distances, expected, rtol=1e-13)
    np.testing.assert_allclose(sampled_row_means(side, np.arange(3)), -expected, rtol=1e-13)
    assert side.take(np.arange(9)).exact_row_means() is None


@pytest.mark.parametrize("columns", [2, 30])
def test_row_means_on_several_columns_come_from_reference_rows(columns):
    rng = np.random.default_rng(0)
    fitted = Gaussian("median").fit(Numeric("x", rng.normal(size=(60, columns))))
    (probe,) = fitted.bandwidth_probes()
    rows = np.array([3, 14, 15, 40])
    expected = probe.side.matrix()[:, rows].mean(axis=1)
    np.testing.assert_allclose(sampled_row_means(probe.side, rows), expected, rtol=1e-12)
