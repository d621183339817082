"""Low rank and sorted lines: the numbers of tiles, a bound that holds, and when tiles take over."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.data.objects import read_variable
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.engine import (
    Dense,
    LowRank,
    Tiled,
    Wanted,
    compute_influence,
    plan,
)
from reldep.engine.many import permuted
from reldep.engine.many.permuted import shuffled_hsics
from reldep.engine.near_linear import lowrank
from reldep.engine.near_linear.certificate import Certificate
from reldep.engine.near_linear.pivots import low_rank_map, probed_rank
from reldep.engine.terms import conditional_means, hsic, row_means
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear, Polynomial

NARROW, WIDE = Gaussian(0.5), Gaussian(2.0)
EVERYTHING = Wanted(
    (("x", "y"), ("x", "z"), ("x", "x"), ("y", "y")),
    means=(("y", "z"), ("z", "z")),
    row_sums=("z",),
)


def related(m=400, columns=1, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, columns))
    y, z = x + rng.normal(size=x.shape), np.sin(2 * x) + rng.standard_t(3, size=x.shape)
    return {"x": x, "y": y, "z": z}


def fit(kernels, data):
    fitted = {}
    for kernel, (name, values) in zip(kernels, data.items(), strict=True):
        values = values[:, 0] > 0 if isinstance(kernel, Delta) else values
        fitted[name] = kernel.fit(read_variable(values, name))
    return fitted


def assert_same_terms(found, expected, wanted, rtol=1e-9):
    """Compare what is finished from terms, which the shifts do not change."""
    for pair in wanted.crossed_pairs():
        a, b = (conditional_means(terms, pair) for terms in (found, expected))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
    for pair in wanted.product_pairs():
        size = np.sqrt(hsic(expected, pair[:1] * 2) * hsic(expected, pair[1:] * 2))
        assert hsic(found, pair) == pytest.approx(hsic(expected, pair), abs=rtol * size)
    for name in wanted.row_sums:
        a, b = row_means(found, name), row_means(expected, name)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize(
    ("kernels", "engine"),
    [
        ((WIDE, NARROW, WIDE), "lowrank"),
        ((Laplace(0.7), Laplace(2.0), Laplace(1.0)), "sorted"),
        ((Distance(), Distance(), Distance()), "sorted"),
        ((Laplace(0.7), Distance(), Laplace(1.0)), "sorted"),
        ((Laplace(0.7), WIDE, Delta()), "lowrank"),
        ((Distance(), WIDE, Linear()), "lowrank"),
        ((WIDE, Delta(), Distance()), "lowrank"),
        ((WIDE * NARROW, WIDE + NARROW, Polynomial(2)), "lowrank"),
    ],
)
def test_all_combinations_give_the_numbers_of_whole_matrices(kernels, engine):
    fitted = fit(kernels, related())
    wanted = Wanted(EVERYTHING.pairs, (*EVERYTHING.means, ("x", "x"), ("y", "y")), ("z",))
    found = LowRank().terms(fitted, wanted)
    assert found.engine == engine
    assert_same_terms(found, Dense().terms(fitted, wanted), wanted)


def test_rows_with_ties_are_summed_along_lines_too():
    rng = np.random.default_rng(0)
    data = {name: rng.integers(0, 4, size=(150, 1)) * 0.1 for name in "xyz"}
    for kernels in ((Laplace(0.3), Distance(), Laplace(1.0)), (Distance(), WIDE, Delta())):
        fitted = fit(kernels, data)
        wanted = Wanted(EVERYTHING.pairs, (("x", "x"), ("y", "y"), ("y", "z"), ("z", "z")))
        assert_same_terms(LowRank().terms(fitted, wanted), Dense().terms(fitted, wanted), wanted)


def test_a_mixed_block_has_low_rank_features():
    rng = np.random.default_rng(0)
    block = Mixed(
        "x",
        (
            Numeric("n", rng.normal(size=(500, 1))),
            Labels("l", rng.integers(0, 3, 500), tuple("abc")),
        ),
    )
    y = read_variable(block.parts[0].values[:, 0] + rng.normal(size=500), "y")
    fitted = {"x": (Gaussian(1.0) * Delta()).fit(block), "y": Gaussian(1.0).fit(y)}
    wanted = Wanted((("x", "y"), ("x", "x"), ("y", "y")))
    found = LowRank().terms(fitted, wanted)
    assert found.engine == "lowrank"
    assert_same_terms(found, Dense().terms(fitted, wanted), wanted)


def test_features_of_low_rank_reproduce_the_kernel_to_the_tolerance():
    fitted = Gaussian(1.0).fit(read_variable(related(2_500, 2)["x"], "x"))
    found = low_rank_map(fitted, 1e-10, 2_000, seed=0)
    features = found.rows(slice(0, 300))
    everything = slice(0, 300)
    assert np.abs(features @ features.T - fitted(everything, everything)).max() < 1e-8
    residuals = found.pivots.residuals(found.rows(slice(0, 2_500)).T)
    assert -1e-12 < residuals.min() <= residuals.max() < 2e-8


def test_far_rows_that_the_pilot_missed_become_pivots(monkeypatch):
    monkeypatch.setattr("reldep.engine.near_linear.pivots.PILOT_ROWS", 100)
    monkeypatch.setattr("reldep.engine.near_linear.pivots.PILOT_ENDS", 1)
    x = np.random.default_rng(0).normal(size=2_000)
    x[5], x[1_234] = 30.0, 60.0
    x[7] = 90.0
    fitted = Gaussian(1.0).fit(read_variable(x, "x"))
    found = low_rank_map(fitted, 1e-10, 2_000, seed=0)
    residuals = found.pivots.residuals(found.rows(slice(0, 2_000)).T)
    # Superfluous pivots were dropped after they were found, which leaves a little more.
    assert residuals.max() <= 1e-7


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_the_certificate_bounds_the_errors(columns, tolerance, monkeypatch):
    monkeypatch.setattr(lowrank, "ESTIMATE_ERROR", np.inf)
    monkeypatch.setattr(lowrank, "STANDARD_ERROR_ERROR", np.inf)
    fitted = fit((WIDE, NARROW if columns == 1 else WIDE, WIDE), related(600, columns))
    pairs = (("x", "y"), ("x", "z"))
    found = compute_influence(fitted, pairs, LowRank(tolerance))
    exact = compute_influence(fitted, pairs, Dense())
    certificate = found.certificate
    rounding = 1e-14
    for row, pair in enumerate(pairs):
        error = np.abs(found.values[row] - exact.values[row])
        assert (error <= certificate.rows(pair) + rounding).all()
        assert error.max() > 0
        assert abs(found.estimates[row] - exact.estimates[row]) <= certificate.hsic(pair) + rounding

    def answer(influence):
        difference = influence.values[0] - influence.values[1]
        standard_error = 4 * difference.std() / np.sqrt(600)
        return difference.mean(), standard_error, difference.mean() / standard_error

    estimate, standard_error, z = answer(found)
    bounds = certificate.of({("x", "y"): 1.0, ("x", "z"): -1.0}, standard_error, z, 600)
    true = answer(exact)
    assert abs(estimate - true[0]) <= bounds.estimate + rounding
    assert abs(standard_error - true[1]) <= bounds.standard_error + rounding
    assert abs(z - true[2]) <= bounds.statistic + 1e-10


def test_without_remainders_nothing_can_be_off():
    certificate = Certificate({}, {}, {"x": 1.0, "y": 2.0})
    assert certificate.hsic(("x", "y")) == 0.0
    assert certificate.of({("x", "y"): 1.0}, 0.1, 3.0, 50).statistic == 0.0


def test_a_bound_that_is_not_met_makes_the_tolerance_smaller_and_then_leaves_it_to_tiles(
    monkeypatch,
):
    wanted = Wanted((("x", "y"), ("x", "x"), ("y", "y")))
    fitted = fit((WIDE,) * 3, related())
    loose = LowRank(1e-5).terms(fitted, wanted)
    tight = LowRank(1e-10).terms(fitted, wanted)
    assert loose.engine == "lowrank"
    assert loose.certificate.ranks["x"] > low_rank_map(fitted["x"], 1e-5, 500, 0).pivots.rank
    monkeypatch.setattr(lowrank, "ESTIMATE_ERROR", 0.0)
    never = LowRank(1e-10).terms(fitted, wanted)
    assert never.engine == "tiled"
    assert never.certificate is None
    assert_same_terms(never, tight, wanted, rtol=1e-7)


@pytest.mark.parametrize("kernel", [Gaussian(0.2), Laplace(1.0)])
def test_kernels_of_high_rank_are_left_to_tiles(kernel):
    data = related(500, columns=3)
    fitted = fit((kernel,) * 3, data)
    found = compute_influence(fitted, [("x", "y")], LowRank())
    exact = compute_influence(fitted, [("x", "y")], Dense())
    assert found.engine == "tiled"
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-9)
    assert probed_rank(fitted["x"], 1e-10, 0, 2_500) is None


def test_the_number_of_features_can_be_limited():
    fitted = fit((NARROW,) * 3, related())
    assert LowRank(most_features=5).terms(fitted, Wanted((("x", "y"),))).engine == "tiled"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": 0.1}, "`tolerance=0.1`; pass a number from 1e-13"),
        ({"most_features": 0}, "`most_features=0`; pass a whole number, at least 1"),
        ({"rng": -1}, "`rng=-1`; pass a whole number, at least 0"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        LowRank(**options)


@pytest.mark.parametrize(
    ("kernel", "columns", "m", "expected", "words"),
    [
        (Gaussian(1.0), 1, 30_000, LowRank, r"about \d+ features stand for each kernel"),
        (Laplace(1.0), 1, 30_000, LowRank, "are summed along the sorted values"),
        (Distance(), 1, 30_000, LowRank, "are summed along the sorted values"),
        (Gaussian(1.0), 10, 30_000, Tiled, "tiles of them give the same numbers"),
        (Laplace(1.0), 2, 30_000, Tiled, "tiles of them give the same numbers"),
    ],
)
def test_auto_takes_the_near_linear_way_where_it_is_shorter(kernel, columns, m, expected, words):
    fitted = fit((kernel,) * 3, related(m, columns))
    wanted = Wanted((("x", "y"), ("x", "z")))
    chosen = plan(fitted, wanted)
    assert isinstance(chosen.engine, expected)
    assert words in chosen.reason or chosen.reason.startswith("about")
    assert chosen.seconds <= Tiled().cost(fitted, wanted).seconds


def test_a_question_is_answered_the_same_way_by_all():
    data = {name: values[:, 0] for name, values in related(2_100).items()}
    answers = [
        reldep.compare(*data.values(), kernel="gaussian", variance="fixed-kernel", engine=engine)
        for engine in ("lowrank", "tiled")
    ]
    assert answers[0].influence.engine == "lowrank"
    assert answers[0].statistic == pytest.approx(answers[1].statistic, rel=1e-9)


@pytest.mark.parametrize(
    "kernels",
    [
        (WIDE, NARROW),
        (Laplace(0.7), Distance()),
        (WIDE, Delta()),
        (WIDE, Distance()),
    ],
)
def test_shuffled_features_and_lines_give_the_hsics_of_shuffled_matrices(kernels, monkeypatch):
    data = {name: values for name, values in related(200).items() if name != "z"}
    fitted = fit(kernels, data)

    def shuffle(order):
        return fitted["y"].take(order)

    def shuffled():
        rng = np.random.default_rng(1)
        orders = (rng.permutation(200) for _ in range(7))
        return shuffled_hsics(fitted["x"], fitted["y"], shuffle, orders, "auto")

    whole = shuffled()
    monkeypatch.setattr(permuted, "IN_MEMORY", 0)
    np.testing.assert_allclose(shuffled(), whole, atol=1e-8 * np.abs(whole).max())


@pytest.mark.parametrize("kernel", [WIDE, Distance()])
def test_many_targets_are_done_in_batches(kernel, monkeypatch):
    monkeypatch.setattr(lowrank, "KERNELS_AT_A_TIME", 4)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 1))
    data = {"x": x, **{f"y{i}": x + rng.normal(size=x.shape) for i in range(9)}}
    fitted = {name: kernel.fit(read_variable(values, name)) for name, values in data.items()}
    star = tuple(("x", name) for name in data if name != "x")
    alone = tuple((name, name) for name in data)
    wanted = Wanted(star, means=alone, row_sums=("x", "y1"))
    batches = wanted.batches(4)
    assert sorted(p for b in batches for p in b.product_pairs()) == sorted(wanted.product_pairs())
    assert len(batches) == 3
    assert all(len(batch.names()) <= 4 for batch in batches)
    assert_same_terms(LowRank().terms(fitted, wanted), Dense().terms(fitted, wanted), wanted)
