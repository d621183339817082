"""One table: every engine gives the numbers of the definition, whatever the kernels and sizes."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.engine import Blocks, Dense, Features, Lines, Tiled, compute_influence
from reldep.engine.choose import Sizes
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
    numbers, labels = Numeric("x", x), read_variable(letters, "x")
    column = Numeric("x", x[:, :1])
    return {
        "gaussian": Gaussian().fit(numbers),
        "gaussian-wide": Gaussian().fit(Numeric("x", wide)),
        "gaussian-sparse": Gaussian(bandwidth=2.0).fit(read_variable(texts, "x")),
        "laplace-line": Laplace().fit(column),
        "laplace-wide": Laplace("mean").fit(Numeric("x", wide)),
        "distance": Distance().fit(numbers),
        "distance-line": Distance().fit(column),
        "distance-1.5": Distance(1.5).fit(numbers),
        "linear": Linear().fit(numbers),
        "linear-wide": Linear().fit(Numeric("x", wide)),
        "linear-sparse": Linear().fit(read_variable(texts, "x")),
        "linear-labels": Linear().fit(labels),
        "polynomial": Polynomial(3).fit(numbers),
        "delta": Delta().fit(labels),
        "product": (Gaussian() * Laplace()).fit(numbers),
        "sum": (Laplace() + Linear()).fit(numbers),
        "function": FunctionKernel(lambda a, b: np.tanh(a @ b.T)).fit(numbers),
        "matrix": Precomputed(np.cos(x[:, :1] - x[:, 0])).fit(numbers),
    }


EXPLICIT = ("linear", "linear-wide", "linear-sparse", "linear-labels", "polynomial", "delta")
ON_LINES = ("laplace-line", "distance-line", "delta", "linear")


def conditional_means(K, L):
    """The paper's equation 8, with row sums and crossed products: no formula is shared."""
    m = len(K)
    K, L = K.copy(), L.copy()
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    k, l, q = K.sum(1), L.sum(1), (K * L).sum(1)  # noqa: E741
    h = (m - 2) ** 2 * q - m * k * l + (m - 2) * (q.sum() - K @ l - L @ k)
    return (h + l.sum() * k + k.sum() * l - k @ l) / (2 * (m - 1) * (m - 2) * (m - 3))


def by_definition(K, L, engine):
    """Conditional means; for blocks of rows, the HSIC of each block."""
    if not isinstance(engine, Blocks):
        return conditional_means(K, L)
    blocks = [np.ix_(rows, rows) for rows in engine.deal(len(K)).blocks]
    return np.array([conditional_means(K[block], L[block]).mean() for block in blocks])


def matrix(kernel):
    return kernel(slice(0, len(kernel)), slice(0, len(kernel)))


def assert_definition(kernels, pairs, engine, **options):
    """Agreement to 1e-10 or, where the truth is 0, to the rounding of the kernels themselves."""
    pairs, means = pairs[::2], pairs[1::2]
    found = compute_influence(kernels, pairs, engine, means=means, **options)
    matrices = {name: matrix(kernel) for name, kernel in kernels.items()}
    for i, (x, y) in enumerate([*pairs, *means]):
        K, L = matrices[x], matrices[y]
        expected = by_definition(K, L, engine)
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
    "tiled": (Tiled(threads=2), None),
    "auto for many rows": ("auto", None),
    "features": (Features(), EXPLICIT),
    "lines": (Lines(), ON_LINES),
    "blocks": (Blocks(40), None),
}


# Fewer than 40 rows are refused by blocks.
@pytest.mark.parametrize(
    ("name", "m"), [(name, m) for name in ALL for m in ROWS if name != "blocks" or m >= 40]
)
def test_every_engine_gives_the_numbers_of_the_definition(name, m):
    engine, of = ALL[name]
    kernels = {key: kernel for key, kernel in fitted_kernels(m).items() if of is None or key in of}
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
    few = compute_influence(
        kernels, [("gaussian", "delta")], sizes=Sizes(0, tiled_seconds=0.0), dependence={}
    )
    assert few.engine == "blocks"


@pytest.mark.parametrize("m", [20, 200])
def test_many_pairs_are_those_of_each_pair(m):
    rng = np.random.default_rng(m)
    kernels = {
        f"v{i}": Laplace("mean").fit(Numeric("x", rng.normal(size=(m, 1)))) for i in range(16)
    }
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


def laplace(x):
    distances = np.sqrt(np.square(x[:, None] - x).sum(-1))
    return np.exp(-distances * (len(x) * (len(x) - 1)) / distances.sum())


def linear(x):
    x = (x - np.median(x, axis=0)) / np.abs(x).max()
    return x @ x.T


CONDITIONS = {
    "unit 1e150": lambda x: 1e150 * x,
    "unit 1e-150": lambda x: 1e-150 * x,
    "offset": lambda x: x + 2.0**20,
    "far value": lambda x: np.vstack([x[1:], 1e3 * x[:1]]),
    "ties": np.round,
    "copies": lambda x: x[np.arange(len(x)) // 2 * 2],
}


# Distances come from a matrix product from 4 columns on in NumPy, and from 6 on in compiled code.
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *((name, c) for name in list(ALL)[:4] for c in (1, 3, 4, 5, 6)),
        *(("blocks", 3), ("blocks", 6), ("features", 3), ("lines", 1)),
    ],
)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_engine_gives_them_whatever_the_data(condition, name, columns):
    """Against the definition in extended precision; values in units of the HSICs."""
    rng = np.random.default_rng(columns)
    m, change = 257, CONDITIONS[condition]
    x = rng.normal(size=(m, columns))
    data = [change(x), change(x + rng.normal(size=x.shape))]
    kernel, define = (Linear(), linear) if name == "features" else (Laplace("mean"), laplace)
    kernels = {key: kernel.fit(one).in_own_unit() for key, one in zip("xy", data, strict=True)}
    K, L = (define(one.astype(np.longdouble)) for one in data)
    engine = ALL[name][0]
    found = compute_influence(kernels, [("x", "y"), ("x", "x"), ("y", "y")], engine, sizes=LARGE)
    means = [by_definition(A, B, engine) for A, B in ((K, L), (K, K), (L, L))]
    scale = np.sqrt(means[1].mean() * means[2].mean())
    own = np.sqrt(found.values[1].mean() * found.values[2].mean())
    gap = np.abs(found.values[0] / own - means[0] / scale).max()
    assert gap <= 1e-8 * np.abs(means[0] / scale).max()


@pytest.mark.parametrize("columns", [1, 3, 10, 40])
@pytest.mark.parametrize("engine", ["dense", "tiled"])
def test_near_duplicates_in_many_columns_keep_their_small_distances(engine, columns):
    """Products of norms lose distances of 1e-9; differences do not."""
    rng = np.random.default_rng(2)
    x = np.repeat(rng.normal(size=(60, columns)), 2, axis=0)
    x[1::2] += 1e-9 * rng.normal(size=(60, columns))
    kernels = {"x": Laplace(1e-9).fit(Numeric("x", x)), "y": Gaussian().fit(Numeric("y", x))}
    distances = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    K = np.exp(-distances / 1e-9)
    expected = conditional_means(K, matrix(kernels["y"]))
    found = compute_influence(kernels, [("x", "y")], engine).values[0]
    # A coordinate of size 1 has its own last digit, 1e-16, in distances of 1e-9.
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_two_large_sets_of_labels_never_make_a_dense_table():
    m = 30_000
    rng = np.random.default_rng(3)
    labels = {name: [f"{v}" for v in rng.permutation(m) // 2] for name in "xy"}
    kernels = {name: Delta().fit(read_variable(values, name)) for name, values in labels.items()}
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
    kernel = FunctionKernel(function).fit(Numeric("x", rng.normal(size=(800, 2))))
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


def test_engines_refuse_what_they_cannot_compute():
    kernels = fitted_kernels(30)
    with pytest.raises(
        ValueError, match=r"`engine='features'` needs explicit features, and there is Gaussian"
    ):
        compute_influence(kernels, [("gaussian", "linear")], "features")
    with pytest.raises(ValueError, match=r"`engine='lines'` needs .*, and there is Gaussian"):
        compute_influence(kernels, [("gaussian", "laplace-line")], "lines")
    with pytest.raises(ValueError, match="30 observations are too few for blocks"):
        compute_influence(kernels, [("gaussian", "linear")], Blocks(size=8))
    with pytest.raises(ValueError, match="`memory='1KB'` is not enough"):
        compute_influence(kernels, [("gaussian", "linear")], Tiled(memory="1KB"))
    with pytest.raises(TypeError, match="`engine` is of type dict"):
        compute_influence(kernels, [("gaussian", "linear")], {})
    for engine in (Tiled, Blocks):
        with pytest.raises(ValueError, match="`threads=0`; pass a whole number, at least 1"):
            engine(threads=0)
    with pytest.raises(ValueError, match="at least 8"):
        Blocks(size=3)
