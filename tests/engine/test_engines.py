"""One table: every engine gives the numbers of the definition, whatever the kernels and sizes."""

from __future__ import annotations

import itertools
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import brute_force
import reldep
from brute_force import equation_8
from calls import refused
from reldep.engine import Blocks, Dense, Features, Lines, Sizes, Tiled, compute_influence
from reldep.kernels import (
    Delta,
    Distance,
    FunctionKernel,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
)

# One tile, whole tiles and ragged ones: tiles are 64 × 256.
ROWS = (5, 63, 64, 65, 256, 257, 300)

# Engines are chosen by kernel, as they are for many rows.
LARGE = Sizes(dense_rows=0)


def fitted_kernels(m):
    """One kernel of every kind, on data that depend on each other, with ties."""
    rng = np.random.default_rng(m)
    x = rng.normal(size=(m, 3)) + 2
    x[m // 2] = x[0]
    wide = np.tile(x, 10) + rng.normal(size=(m, 30))
    wide[m // 2] = wide[0]
    texts = sparse.random_array((m, 40), density=0.2, rng=rng, format="csr")
    letters = [("a", "b", "c")[int(v > 2) + (i % 5 == 0)] for i, v in enumerate(x[:, 0])]
    letters[:2] = ["a", "a"]
    column = x[:, :1]
    return {
        "gaussian": Gaussian().fit(x),
        "gaussian-wide": Gaussian().fit(wide),
        "gaussian-sparse": Gaussian(bandwidth=2.0).fit(texts),
        "laplace-line": Laplace().fit(column),
        "laplace-wide": Laplace("mean").fit(wide),
        "distance": Distance().fit(x),
        "distance-line": Distance().fit(column),
        "distance-1.5": Distance(1.5).fit(x),
        "linear": Linear().fit(x),
        "linear-wide": Linear().fit(wide),
        "linear-sparse": Linear().fit(texts),
        "linear-labels": Linear().fit(letters),
        "polynomial": Polynomial(3).fit(x),
        "delta": Delta().fit(letters),
        "product": (Gaussian() * Laplace()).fit(x),
        "sum": (Laplace() + Linear()).fit(x),
        "function": FunctionKernel(lambda a, b: np.tanh(a @ b.T)).fit(x),
        "matrix": Precomputed(np.cos(x[:, :1] - x[:, 0])).fit(x),
    }


EXPLICIT = ("linear", "linear-wide", "linear-sparse", "linear-labels", "polynomial", "delta")
ON_LINES = ("laplace-line", "distance-line", "delta", "linear")
# Those that compiled code evaluates, if it evaluates all of them.
PROGRAMS = (
    *("gaussian", "gaussian-wide", "laplace-line", "laplace-wide", "distance", "distance-line"),
    *("delta", "product"),
)


def by_definition(K, L, engine):
    """Conditional means; for blocks of rows, the HSIC of each block."""
    if not isinstance(engine, Blocks):
        return (brute_force.conditional_means if len(K) < 8 else equation_8)(K, L)
    blocks = [np.ix_(rows, rows) for rows in engine.deal(len(K)).blocks]
    return np.array([equation_8(K[block], L[block]).mean() for block in blocks])


def matrix(kernel):
    return kernel(slice(0, len(kernel)), slice(0, len(kernel)))


def assert_definition(kernels, pairs, engine, like=None, **options):
    """Agreement to 1e-10 or, where the truth is 0, to the rounding of the kernels themselves."""
    pairs, means = pairs[::2], pairs[1::2]
    found = compute_influence(kernels, pairs, engine, means=means, **options)
    matrices = {name: matrix(kernel) for name, kernel in kernels.items()}
    for i, (x, y) in enumerate([*pairs, *means]):
        K, L = matrices[x], matrices[y]
        expected = by_definition(K, L, like or engine)
        tolerance = max(1e-10 * np.abs(expected).max(), 1e-14 * np.abs(K).max() * np.abs(L).max())
        if i < len(pairs):
            np.testing.assert_allclose(found.values[i], expected, rtol=0, atol=tolerance)
        weights = None if found.blocks is None else found.blocks.weights
        mean = np.average(expected, weights=weights)
        assert found.hsic((y, x)) == pytest.approx(mean, rel=1e-10, abs=tolerance)
    return found


ALL = {
    "dense": (Dense(), None),
    "some rows at a time": (Dense(held=30_000), None),
    "tiled": (Tiled(threads=2), PROGRAMS),
    "auto for many rows": ("auto", PROGRAMS),
    "features": (Features(), EXPLICIT),
    "lines": (Lines(), ON_LINES),
    "blocks": (Blocks(40), PROGRAMS),
}
# The same with kernels that only NumPy evaluates among them.
ANY_KERNEL = {
    "tiled by NumPy": (Tiled(), None),
    "auto by NumPy": ("auto", None),
    "blocks by NumPy": (Blocks(40), None),
}


# Fewer than 40 rows are refused by blocks.
@pytest.mark.parametrize(
    ("name", "m"),
    [(name, m) for name in (ALL | ANY_KERNEL) for m in ROWS if "blocks" not in name or m >= 40],
)
def test_every_engine_gives_the_numbers_of_the_definition(name, m):
    engine, of = (ALL | ANY_KERNEL)[name]
    kernels = {key: kernel for key, kernel in fitted_kernels(m).items() if of is None or key in of}
    assert of != PROGRAMS or all(kernel.program() is not None for kernel in kernels.values())
    pairs = [*itertools.pairwise(kernels), *((key, key) for key in kernels)]
    if name == "lines":
        pairs = [*itertools.combinations_with_replacement(kernels, 2)]
    assert_definition(kernels, pairs, engine, sizes=LARGE)


def test_auto_chooses_an_engine_for_each_pair():
    kernels = fitted_kernels(80)
    expected = {
        ("laplace-line", "distance-line"): "lines",
        ("laplace-line", "delta"): "lines",
        ("linear", "delta"): "features",
        ("linear-sparse", "polynomial"): "features",
        ("gaussian", "laplace-line"): "tiled",
        ("matrix", "linear"): "tiled",
    }
    for pair, engine in expected.items():
        assert compute_influence(kernels, [pair], sizes=LARGE).engine == engine
    assert compute_influence(kernels, list(expected)).engine == "dense"


# Of 80 rows, both sides of every size: a pair, sizes, and the engine that computes it.
LINEAR, OF_LINE = ("linear", "polynomial"), ("laplace-line", "linear")
SPARSE, SLOW = ("linear-sparse", "delta"), ("function", "gaussian")
SIDES = [
    (LINEAR, {"dense_rows": 80}, "dense"),
    (LINEAR, {"dense_rows": 79}, "features"),
    (OF_LINE, {"line_features": 3}, "lines"),
    (OF_LINE, {"line_features": 2}, "tiled"),
    # 3 features by 20 monomials: a thousand rows count for the table itself.
    (LINEAR, {"feature_products": 60_000}, "features"),
    (LINEAR, {"feature_products": 59_999}, "tiled"),
    (SPARSE, {"sparse_product": 1.0}, "features"),
    (SPARSE, {"sparse_product": 1e12}, "tiled"),
    (SLOW, {"tiled_seconds": 1e9}, "tiled"),
    (SLOW, {"tiled_seconds": 0.0}, "blocks"),
    (SLOW, {"dense_rows": 80, "slow_rows": 81, "tiled_seconds": 0.0}, "dense"),
    (SLOW, {"dense_rows": 80, "slow_rows": 80, "tiled_seconds": 0.0}, "blocks"),
]


@pytest.mark.parametrize(("pair", "sizes", "engine"), SIDES)
def test_both_sides_of_every_size_give_the_numbers_of_the_definition(pair, sizes, engine):
    kernels = {name: fitted_kernels(80)[name] for name in pair}
    found = assert_definition(
        kernels,
        [pair, (pair[0], pair[0])],
        "auto",
        Blocks() if engine == "blocks" else None,
        sizes=Sizes(**{"dense_rows": 0, **sizes}),
        dependence={},
    )
    assert found.engine.split(" and ")[0] == engine


@pytest.mark.parametrize("m", [20, 200])
def test_many_pairs_are_those_of_each_pair(m):
    rng = np.random.default_rng(m)
    kernels = {f"v{i}": Laplace("mean").fit(rng.normal(size=(m, 1))) for i in range(16)}
    pairs = list(itertools.combinations_with_replacement(kernels, 2))
    assert_definition(kernels, pairs, "dense")


def test_the_number_of_threads_changes_no_bit():
    kernels = {name: fitted_kernels(600)[name] for name in ("gaussian", "laplace-wide", "product")}
    pairs = list(itertools.combinations_with_replacement(kernels, 2))
    answers = [compute_influence(kernels, pairs, Tiled(threads=n)).values for n in (1, 2, 5)]
    assert all(np.array_equal(answers[0], answer) for answer in answers)
    tables = [
        compute_influence(kernels, pairs, Blocks(size=60, threads=n)).values for n in (1, 2, 5)
    ]
    assert all(np.array_equal(tables[0], table) for table in tables)


def distances(x):
    return np.sqrt(np.square(x[:, None] - x).sum(-1))


def laplace(x):
    apart = distances(x)
    return np.exp(-apart * (len(x) * (len(x) - 1)) / apart.sum())


def gaussian(x):
    return np.exp(-(distances(x) ** 2) / 2)


def distance(x):
    return -distances(x / np.abs(x).max())


def linear(x):
    x = (x - np.median(x, axis=0)) / np.abs(x).max()
    return x @ x.T


# Each kernel, its definition, and whether it has a scale: then the unit does not matter.
DEFINED = {
    "laplace": (Laplace("mean"), laplace, True),
    "gaussian": (Gaussian(1.0), gaussian, False),
    "distance": (Distance(), distance, True),
    "linear": (Linear(), linear, True),
}

CONDITIONS = {
    "unit 1e150": lambda x: 1e150 * x,
    "unit 1e-150": lambda x: 1e-150 * x,
    "offset": lambda x: x + 2.0**20,
    "far value": lambda x: np.vstack([x[1:], 1e3 * x[:1]]),
    "value at 1e200": lambda x: np.vstack([x[1:], 1e200 * x[:1]]),
    "ties": np.round,
    "copies": lambda x: x[np.arange(len(x)) // 2 * 2],
}

# Distances come from a matrix product from 4 columns on in NumPy, and from 6 on in compiled code.
COLUMNS = {"blocks": (3, 6), "features": (3,), "lines": (1,)}


@pytest.mark.parametrize(
    ("name", "columns"), [(name, c) for name in ALL for c in COLUMNS.get(name, (1, 3, 4, 5, 6))]
)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_engine_gives_them_whatever_the_data(condition, name, columns):
    """Against the definition in extended precision; values in units of the HSICs."""
    rng = np.random.default_rng(columns)
    m, change, engine = 257, CONDITIONS[condition], ALL[name][0]
    x = rng.normal(size=(m, columns))
    data = [change(x), change(x + rng.normal(size=x.shape))]
    kinds = {"features": ("linear",), "lines": ("laplace", "distance")}.get(name, DEFINED)
    for kernel, define, has_scale in map(DEFINED.get, kinds):
        # One value at 1e200 rules a kernel that has a scale.
        if (has_scale and "1e200" in condition) or (not has_scale and "unit" in condition):
            continue
        kernels = {key: kernel.fit(one).in_own_unit() for key, one in zip("xy", data, strict=True)}
        pairs = [("x", "y"), ("x", "x"), ("y", "y")]
        found = compute_influence(kernels, pairs, engine, sizes=LARGE)
        K, L = (define(one.astype(np.longdouble)) for one in data)
        means = [by_definition(A, B, engine) for A, B in ((K, L), (K, K), (L, L))]
        scale = np.sqrt(means[1].mean() * means[2].mean())
        own = np.sqrt(found.values[1].mean() * found.values[2].mean())
        gap = np.abs(found.values[0] / own - means[0] / scale).max()
        assert gap <= 1e-8 * np.abs(means[0] / scale).max(), kernel


def exact_hsic(x, y):
    """HSIC of XX' and YY' in rational arithmetic, for whole numbers or fractions."""
    m, features = len(x), [np.array(v).reshape(len(v), -1) for v in (x, y)]
    norms = [(v * v).sum(axis=1).astype(object) for v in features]
    k, l = ((v @ v.sum(axis=0)).astype(object) - n for v, n in zip(features, norms, strict=True))  # noqa: E741
    trace = ((features[0].T @ features[1]).astype(object) ** 2).sum() - norms[0] @ norms[1]
    total = trace + Fraction(k.sum() * l.sum(), (m - 1) * (m - 2)) - Fraction(2 * (k @ l), m - 2)
    return total / (m * (m - 3))


def assert_exact(kernels, engine, exact, rel, **sizes):
    found = compute_influence(kernels, [("x", "y")], engine, sizes=Sizes(**sizes)).estimates[0]
    assert abs(Fraction(float(found)) - exact) <= rel * abs(exact)


@pytest.mark.parametrize(
    ("engine", "m", "columns", "offset"),
    [(Tiled(), 10_000, 2, 0.0), (Features(), 100_000, 1, 1e3), (Features(), 200_000, 0, 0.0)],
    ids=["tiled", "features", "labels"],
)
def test_many_rows_agree_with_rational_arithmetic(engine, m, columns, offset):
    rng = np.random.default_rng(3)
    x = rng.integers(-50, 50, (m, columns or 1))
    y = x // 10 + rng.integers(-60, 60, x.shape)
    kernels = {key: Linear().fit(v + offset) for key, v in (("x", x), ("y", y))}
    if not columns:
        codes = {"x": x[:, 0] % 7, "y": (x[:, 0] % 7 + y[:, 0] % 5) % 6}
        kernels = {key: Delta().fit(v.astype(str)) for key, v in codes.items()}
        x, y = np.eye(7, dtype=int)[codes["x"]], np.eye(6, dtype=int)[codes["y"]]
    assert_exact(kernels, engine, exact_hsic(x, y), 1e-10)


@pytest.mark.parametrize("name", ["dense", "some rows at a time", "tiled", "features"])
@pytest.mark.parametrize("far", [1e4, 1e9, 1e20])
def test_products_with_a_far_observation_keep_the_digits_of_the_others(far, name):
    """Ever farther, its row rules the linear kernel, whose HSICs grow in proportion."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    data = {"x": np.append(x[1:] - np.median(x), far), "y": x + rng.normal(size=200)}
    kernels = {key: Linear().fit(v[:, None]) for key, v in data.items()}
    exact = [np.array([Fraction(v) for v in values.tolist()]) for values in data.values()]
    assert_exact(kernels, ALL[name][0], exact_hsic(*exact), 1e-9, again_rows=200)
    if name != "features" or far < 1e20:
        # Of more rows, what features lost is not computed again.
        assert_exact(kernels, ALL[name][0], exact_hsic(*exact), 1e-6, again_rows=199)


# Plain columns are compiled, if there are many; all other variables take the ordinary road.
@pytest.mark.parametrize("n", [Sizes().scan_columns, Sizes().scan_columns - 1])
@pytest.mark.parametrize(
    "kernel", [*(one for one, *_ in DEFINED.values()), Gaussian(), Distance(1.5)], ids=str
)
@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_a_scan_gives_the_numbers_of_single_questions(kernel, n):
    rng = np.random.default_rng(n)
    table, y = rng.normal(size=(40, n)), rng.normal(size=(40, 3))
    table[:, 1], table[:, 2] = np.round(table[:, 1]), 1e-4 * table[:, 2]
    found = reldep.scan(table, y, table[:, 0] ** 2, kernel=kernel).to_frame()
    for i in (0, 1, 2, n - 1):
        one = reldep.compare(table[:, i], y, table[:, 0] ** 2, kernel=kernel)
        expected = [one.estimate, one.standard_error, one.statistic]
        np.testing.assert_allclose(
            [found[name][i] for name in ("estimate", "standard_error", "statistic")], expected
        )


@pytest.mark.parametrize("columns", [1, 3, 10, 40])
@pytest.mark.parametrize("engine", ["dense", "tiled"])
def test_near_duplicates_in_many_columns_keep_their_small_distances(engine, columns):
    """Products of norms lose distances of 1e-9; differences do not."""
    rng = np.random.default_rng(2)
    x = np.repeat(rng.normal(size=(60, columns)), 2, axis=0)
    x[1::2] += 1e-9 * rng.normal(size=(60, columns))
    kernels = {"x": Laplace(1e-9).fit(x), "y": Gaussian().fit(x)}
    expected = equation_8(np.exp(-distances(x) / 1e-9), matrix(kernels["y"]))
    found = compute_influence(kernels, [("x", "y")], engine).values[0]
    # A coordinate of size 1 has its own last digit, 1e-16, in distances of 1e-9.
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_two_large_sets_of_labels_never_make_a_dense_table():
    m = 30_000
    rng = np.random.default_rng(3)
    labels = {name: [f"{v}" for v in rng.permutation(m) // 2] for name in "xy"}
    kernels = {name: Delta().fit(values) for name, values in labels.items()}
    found = compute_influence(kernels, [("x", "y"), ("x", "x")])
    assert found.engine == "features"
    # Every label has two rows: m pairs of equal ones, of m (m - 1).
    share = 1 / (m - 1)
    assert found.hsic(("x", "x")) == pytest.approx(share, rel=1e-3)


class Slow:
    """A kernel function that is slow enough to be interrupted."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        time.sleep(0.02)
        return a @ b.T


def test_an_interrupt_stops_the_threads_after_the_piece_in_work():
    rng = np.random.default_rng(0)
    function = Slow()
    kernel = FunctionKernel(function).fit(rng.normal(size=(800, 2)))
    done = []

    def stop(n_done, total):
        done.append((n_done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute_influence({"x": kernel}, [("x", "x")], Blocks(8, threads=2, on_progress=stop))
    assert done[0] == (1, 100)
    calls = function.calls
    assert calls < 100
    time.sleep(0.2)
    assert function.calls == calls
    assert threading.active_count() < 50


# What is asked of the kernels of 30 rows, or of an engine, and what the error says.
REFUSED = """
influence("gaussian", "linear", "features") -> needs explicit features, and there is Gaussian
influence("gaussian", "laplace-line", "lines") -> a Laplace or distance kernel … there is Gaussian
influence("gaussian", "linear", Blocks(size=8)) -> 30 observations are too few for blocks
influence("gaussian", "linear", Tiled(memory="1KB")) -> `memory='1KB'` is not enough
influence("gaussian", "linear", {}) -> TypeError: `engine` is of type dict
Tiled(memory="much") -> `memory='much'` is not understood; pass a positive
Blocks(memory="much") -> `memory='much'` is not understood; pass a positive
Tiled(memory=0) -> `memory=0`; pass a positive amount
Tiled(memory=1.5) -> TypeError: memory is of type float; pass
Tiled(threads=2.5) -> TypeError: `threads=2.5`; pass a whole number, at least 1
Blocks(threads=0) -> `threads=0`; pass a whole number, at least 1
Blocks(size=3) -> `size=3`; pass a whole number, at least 8
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_engines_refuse_what_they_cannot_compute_in_words(line):
    def influence(x, y, engine):
        return compute_influence(fitted_kernels(30), [(x, y)], engine)

    refused(line, {**globals(), "influence": influence})
