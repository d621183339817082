"""How a median bandwidth moves with every observation."""

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear, Precomputed
from reldep.kernels.points import Points
from reldep.kernels.scales.bandwidth import DENSITY_ROWS, density_at
from reldep.kernels.scales.median import median_distance, pairwise_distances


def fitted(kernel, values, name="x"):
    return kernel.fit(read_variable(values, name))


def normal_points(n, seed=0, columns=1):
    values = np.random.default_rng(seed).normal(size=(n, columns))
    return Points.of(read_variable(values, "x"))


def side_means(probe):
    matrix = probe.side.matrix()
    np.fill_diagonal(matrix, 0.0)
    return matrix.sum(axis=1) / (len(matrix) - 1)


@pytest.mark.parametrize("kernel", [Gaussian, Laplace])
def test_slope_is_the_derivative_of_the_kernel_in_its_bandwidth(kernel):
    values = np.random.default_rng(0).normal(size=(12, 3))
    original = fitted(kernel(), values)
    (probe,) = original.bandwidth_probes()
    width, step = original.profile.bandwidth, 1e-6
    wider = fitted(kernel(width + step), values).matrix()
    narrower = fitted(kernel(width - step), values).matrix()
    assert probe.slope.matrix() == pytest.approx((wider - narrower) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_influence_on_the_median_bandwidth_is_that_of_leaving_an_observation_out(factor):
    n = 200
    values = np.random.default_rng(1).gamma(2.0, size=(n, 1))
    (probe,) = fitted(Gaussian(factor=factor), values).bandwidth_probes()
    influence = probe.influence(side_means(probe))
    whole = factor * median_distance(Points.of(read_variable(values, "x"))).value
    without = [
        factor * median_distance(Points.of(read_variable(np.delete(values, i, 0), "x"))).value
        for i in range(n)
    ]
    jackknife = (n - 1) * (whole - np.array(without))
    slope, _ = np.polyfit(influence, jackknife, 1)
    assert np.corrcoef(influence, jackknife)[0, 1] > 0.98
    # Leaving one out moves the median over a few distances only, whose own density varies.
    assert slope == pytest.approx(1.0, abs=0.15)
    assert influence.sum() == pytest.approx(0.0, abs=1e-9)


def test_variance_of_the_median_bandwidth_follows_from_its_influence():
    draws = [np.random.default_rng([2, i]).normal(size=(100, 1)) for i in range(300)]
    kernels = [fitted(Gaussian(), values) for values in draws]
    spread = np.std([kernel.profile.bandwidth for kernel in kernels])
    (probe,) = kernels[0].bandwidth_probes()
    predicted = np.sqrt((probe.influence(side_means(probe)) ** 2).sum()) / 100
    # A deviation from 300 draws is known to 4 %; one sample predicts it to about 10 %.
    assert predicted == pytest.approx(spread, rel=0.3)


def test_density_of_the_distances_of_a_normal_sample_is_the_half_normal_one():
    # |x - y| of two standard normals has density exp(-d²/4)/sqrt(π).
    points = normal_points(2 * DENSITY_ROWS)
    median = median_distance(points).value
    assert density_at(points, median) == pytest.approx(
        np.exp(-(median**2) / 4) / np.sqrt(np.pi), rel=0.05
    )


def test_density_takes_the_unit_of_the_distances():
    points = normal_points(60)
    metres = Points.of(read_variable(1000 * points.rows, "x"))
    median = median_distance(points).value
    assert density_at(metres, 1000 * median) == pytest.approx(density_at(points, median) / 1000)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.5),
        Laplace(0.5, factor=2.0),
        Linear(),
        Distance(),
        Precomputed(np.ones((9, 9)) - np.diag(np.arange(9.0))),
    ],
)
def test_a_kernel_that_does_not_follow_the_data_has_no_probe(kernel):
    if isinstance(kernel, Precomputed):
        kernel = Precomputed(np.cov(np.random.default_rng(0).normal(size=(9, 20))))
    assert fitted(kernel, np.arange(9.0)).bandwidth_probes() == ()


@pytest.mark.parametrize(
    "values",
    [
        np.tile([0.0, 1.0], 20),  # two levels: every non-zero distance is 1
        np.repeat([0.0, 1.0, 2.0], 12),  # integers: a large share of distances is the median
        np.r_[np.zeros(30), 1.0, 1.0, 1.0],  # ties: the median of the others is fixed
    ],
)
def test_a_median_on_an_atom_does_not_move(values):
    assert fitted(Gaussian(), values).bandwidth_probes() == ()


def test_a_median_beside_an_atom_has_a_density():
    # 80 % of the distances are equal, but not those around 0.5.
    distances_to_first = np.r_[0.0, np.full(8, 1.0), 0.4, 0.5]
    simplex = np.eye(11) / np.sqrt(2.0)
    simplex[9:] = simplex[0] + np.array([[0.4], [0.5]]) * (simplex[9:] - simplex[0])
    points = Points.of(read_variable(simplex, "x"))
    spread = pairwise_distances(points)
    assert spread[:10] == pytest.approx(distances_to_first[1:])
    assert np.percentile(spread, 75) == pytest.approx(np.percentile(spread, 40))
    assert 0 < density_at(points, 0.5) < np.inf


def test_rows_that_are_all_tied_in_the_subsample_give_no_probe():
    values = np.zeros(4 * DENSITY_ROWS)
    values[1::997] = np.random.default_rng(6).normal(size=len(values[1::997]))
    assert density_at(Points.of(read_variable(values, "x")), 1.0) == np.inf


def test_ties_are_left_out_of_the_side_where_they_were_left_out_of_the_median():
    values = np.r_[np.zeros(160), np.random.default_rng(3).normal(size=40)]
    kernel = fitted(Gaussian(), values)
    (probe,) = kernel.bandwidth_probes()
    sides = probe.side.matrix()[np.triu_indices(200, k=1)]
    distances = pairwise_distances(kernel.points)
    assert (sides[distances == 0] == 0).all()
    # Half of the others lie on each side, up to the 160 that are equal to the median.
    assert abs(sides.sum()) <= 80


def test_a_product_is_differentiated_in_the_bandwidth_of_each_factor():
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(10, 2))
    product = fitted(Gaussian() * Laplace(), numbers)
    probes = product.bandwidth_probes()
    gaussian, laplace = product.factors
    (own_first,), (own_second,) = gaussian.bandwidth_probes(), laplace.bandwidth_probes()
    assert probes[0].slope.matrix() == pytest.approx(own_first.slope.matrix() * laplace.matrix())
    assert probes[1].slope.matrix() == pytest.approx(own_second.slope.matrix() * gaussian.matrix())


def test_a_sum_is_differentiated_term_by_term():
    numbers = np.random.default_rng(5).normal(size=(10, 1)).round(1)
    total = fitted(Gaussian(2.0) + Laplace(), numbers)
    (probe,) = total.bandwidth_probes()
    (own,) = total.factors[1].bandwidth_probes()
    assert probe.slope.matrix() == pytest.approx(own.slope.matrix())
    assert fitted(Delta() + Linear(), np.arange(6.0) // 2).bandwidth_probes() == ()
