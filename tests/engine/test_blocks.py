"""Blocks of rows: reference numbers, dealing, levels, price, interrupts and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import reldep
from reldep.engine import Blocks, Sizes, compute_influence
from reldep.engine.blocks import block_hsics, split_of
from reldep.kernels import Distance, Gaussian, Laplace

CLUSTERS = np.repeat(np.arange(150), 4)


def example(m=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, 2))
    y = x + rng.normal(size=(m, 2))
    return x, y, x[:, :1] ** 2 + rng.normal(size=(m, 1))


KERNELS = (Laplace(1.8), Laplace(2.5), Laplace(1.7))

# By an independent program in NumPy: the difference, its standard error, degrees of freedom.
REFERENCE = [
    ({"engine": Blocks(100, rng=1)}, 0.2439817882, 0.01951472112, 5),
    ({"engine": Blocks(100, rng=1), "measure": "hsic"}, 0.00519593966, 0.000537652322, 5),
    (
        {"engine": Blocks(100, rng=1), "measure": "dcor", "kernel": Distance()},
        *(0.3595472847, 0.01570245027, 5),
    ),
    ({"engine": Blocks(100, rng=3), "max_lag": 2}, 0.25220362092, 0.0230061681465, 39),
    ({"engine": Blocks(100, rng=4), "clusters": CLUSTERS}, 0.25134801152, 0.0210900212032, 49),
]


@pytest.mark.parametrize(("options", "estimate", "error", "df"), REFERENCE)
def test_answers_are_those_of_an_independent_program(options, estimate, error, df):
    found = reldep.compare(*example(), **{"kernel": KERNELS, **options})
    assert found.estimate == pytest.approx(estimate, rel=1e-8)
    assert found.standard_error == pytest.approx(error, rel=1e-8)
    assert found.tested.df == df
    assert found.n_observations == 600


def test_independence_is_tested_without_permutations():
    x, y, z = example()
    kernel = KERNELS[:2]
    by_law = reldep.dependence(x, y, kernel=kernel, engine=Blocks(100, rng=1))
    assert by_law.pvalue == pytest.approx(8.636115793e-39, rel=1e-6)
    noise = np.random.default_rng(2).normal(size=(600, 1))
    nothing = reldep.dependence(
        x, noise, kernel=(KERNELS[0], Laplace(1.1)), engine=Blocks(100, rng=1)
    )
    assert nothing.pvalue == pytest.approx(0.2096034041, rel=1e-8)
    in_time = reldep.dependence(x, z, kernel=KERNELS[::2], engine=Blocks(100, rng=3), max_lag=2)
    assert in_time.pvalue == pytest.approx(3.9571301577942e-05, rel=1e-8)


def test_the_answer_says_what_blocks_cost():
    found = reldep.compare(*example(), kernel=KERNELS, engine=Blocks(100, rng=1))
    note = found.summary()
    loss = found.dependences.loss()
    assert f"in 6 random blocks of 100 rows: the interval is about {loss:.0%} longer" in note
    assert "`engine=Blocks(size=200)` halves that" in note
    # Without parts of blocks it follows from HSICs, as in the independent program.
    plain = replace(found.dependences, units=replace(found.dependences.units, splits=None))
    assert plain.loss() == pytest.approx(0.0938194506, rel=1e-6)


def test_halves_of_blocks_show_what_pairs_of_rows_add_to_the_variance():
    """Given the rows, blocks vary around all pairs of rows by the component that is estimated."""
    x, y, _ = example(1_200)
    kernels = [Laplace(1.8).fit(x), Laplace(2.5).fit(y)]
    places = [(0, 1)]
    whole = block_hsics(kernels, places, np.arange(1_200))
    dealt = [Blocks(200, rng=i).deal(1_200).blocks for i in range(60)]
    hsics = [[block_hsics(kernels, places, rows)[0] for rows in blocks] for blocks in dealt]
    splits = [
        split_of(lambda half: block_hsics(kernels, places, half), rows, own)
        for blocks, values in zip(dealt[:20], hsics, strict=False)
        for rows, own in zip(blocks, values, strict=True)
    ]
    # Six blocks leave out five sixths of the pairs of rows.
    truth = np.mean((np.mean(hsics, axis=1) - whole) ** 2) * 6 / 5
    assert np.mean(np.square(splits)) / 6 == pytest.approx(truth, rel=0.5)


def test_what_is_constant_in_every_block_is_not_taken_for_rounding():
    """Five ones in twelve blocks: no block has two that vary, and rounding is no dependence."""
    x = example()[0]
    ones = np.zeros(600)
    blocks = Blocks(50).deal(600).blocks
    ones[[rows[0] for rows in blocks[:5]]] = 1
    with pytest.raises(ValueError, match="ones varies too little"):
        reldep.dependence(x, ones, engine=Blocks(50), names=["x", "ones"])
    assert reldep.hsic(x, ones, engine=Blocks(50)) == pytest.approx(0.0, abs=1e-12)


def test_the_seed_decides():
    first, again, other = (reldep.hsic(*example()[:2], engine=Blocks(60, rng=i)) for i in (0, 0, 1))
    assert first == again == reldep.hsic(*example()[:2], engine=Blocks(60))
    assert first != other


def test_rows_of_one_cluster_are_in_different_blocks():
    codes = np.repeat(np.arange(40), [200, *[10] * 39])
    blocks, units = Blocks(10).deal(590, clusters=codes)
    assert all(len(np.unique(codes[rows])) == len(rows) for rows in blocks)
    used = np.bincount(codes[np.concatenate(blocks)])
    # A cluster keeps at most twice the mean number of rows.
    assert used[0] == 30
    assert (used[1:] == 10).all()
    # Units are whole clusters.
    assert len(np.unique(units)) == 40
    assert all(len(np.unique(units[codes == g])) == 1 for g in range(40))


def test_rows_near_in_time_are_in_different_blocks():
    blocks, units = Blocks(50).deal(1_000, max_lag=5)
    label = np.empty(1_000, dtype=int)
    for g, rows in enumerate(blocks):
        label[rows] = g
    assert (np.sort(label.reshape(-1, 20), axis=1) == np.arange(20)).all()
    assert (np.diff(units) >= 0).all()
    assert units.max() == 39
    # A dependence that reaches far needs as many blocks, and longer runs.
    blocks, units = Blocks(50).deal(4_000, max_lag=60)
    assert (len(blocks), units.max()) == (80, 20)


def test_the_number_of_blocks():
    auto = Blocks()
    assert [auto.number_of_blocks(m) for m in (400, 5_000, 100_000, 100_001)] == [50, 50, 50, 51]
    # A slow kernel gets smaller blocks, by halves.
    assert [auto.number_of_blocks(100_000, s) for s in (2e-7, 4e-7, 1.0)] == [50, 100, 400]
    assert Blocks(100).number_of_blocks(100_000, 1.0) == 1_000
    with pytest.raises(ValueError, match="39 observations are too few for blocks"):
        auto.number_of_blocks(39)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": np.arange(600) % 19}, "needs at least 20 clusters, and there are 19"),
        ({"max_lag": 20}, "needs at least 20 runs of 3 times `max_lag=20` rows, and there are 9"),
        ({"variance": "fixed-kernel"}, "cannot be combined with `variance='fixed-kernel'`"),
        ({"clusters": (CLUSTERS, np.arange(600) % 30)}, "with two `clusters`; use `engine='tiled'"),
    ],
)
def test_what_was_not_shown_to_hold_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        reldep.compare(*example(), engine=Blocks(100), **options)


def interrupted_after(n_blocks):
    def stop(done, total):
        if done == n_blocks:
            raise KeyboardInterrupt

    return stop


def test_ctrl_c_after_fifty_blocks_leaves_the_answer_of_these():
    engine = Blocks(10, on_progress=interrupted_after(55))
    found = reldep.compare(*example(), kernel=KERNELS, engine=engine)
    assert "Interrupted after 55 of 60 blocks: the answer is that of 550 of 600" in found.summary()
    whole = Blocks(10).deal(600).blocks
    rows = np.concatenate(whole[:55])
    again = np.average(
        [[reldep.hsic(example()[0][r], example()[1][r], kernel=KERNELS[:2]) for r in whole[:55]]],
        axis=1,
    )
    assert len(rows) == 550
    assert found.influence.hsic(("source", "first")) == pytest.approx(again[0], rel=1e-9)
    with pytest.raises(KeyboardInterrupt):
        reldep.hsic(*example()[:2], engine=Blocks(10, on_progress=interrupted_after(49)))


def test_auto_takes_blocks_only_where_rows_can_be_dealt():
    x, y, _ = example()
    kernels = {"x": Gaussian().fit(x), "y": Gaussian().fit(y)}
    sizes = Sizes(dense_rows=0, tiled_seconds=0.0)
    few = {"clusters": np.arange(600) % 10}
    for dependence, engine in (({}, "blocks"), (None, "tiled"), (few, "tiled")):
        found = compute_influence(kernels, [("x", "y")], sizes=sizes, dependence=dependence)
        assert found.engine == engine


def four_columns(rng, m):
    x = rng.logistic(size=(m, 4))
    return x, *(x * rng.normal(1.0, 0.8, size=x.shape) for _ in "yz"), {"kernel": Laplace(4.0)}


def in_clusters(rng, m):
    codes = np.arange(m) // 5
    x, e, f = (rng.normal(size=m // 5)[codes] + rng.normal(size=m) for _ in "xyz")
    return x, x + e, x + f, {"clusters": codes}


@pytest.mark.parametrize("law", [four_columns, in_clusters])
def test_equal_dependences_differ_in_five_percent(law):
    rng, n = np.random.default_rng(20), 150
    rejected = 0
    for i in range(n):
        x, y, z, options = law(rng, 500)
        found = reldep.compare(x, y, z, engine=Blocks(50, rng=i), **options)
        rejected += found.pvalue < 0.05
    assert binom.ppf(1e-3, n, 0.05) <= rejected <= binom.isf(1e-3, n, 0.05)


@pytest.mark.parametrize("dependent", [False, True])
def test_independent_variables_are_related_in_five_percent_at_most(dependent):
    rng, n = np.random.default_rng(21), 150
    options = {"max_lag": 2} if dependent else {}
    pvalues = []
    for i in range(n):
        x, y = rng.normal(size=(2, 502))
        if dependent:
            x, y = (np.convolve(v, np.ones(3), "valid") for v in (x, y))
        pvalues.append(reldep.dependence(x, y, engine=Blocks(50, rng=i), **options).pvalue)
    assert (np.array(pvalues) < 0.05).sum() <= binom.isf(1e-3, n, 0.05)
    assert 0.3 < np.mean(pvalues) < 0.7
