"""Every engine gives the numbers of the dense one, whatever the kernels, pairs and sizes."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.engine import DaskEngine, Dense, Features, Tiled, Wanted
from reldep.engine.terms import conditional_means, hsic, row_means
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

TILE = 16
SIZES = (4, 5, TILE - 1, TILE, TILE + 1, 2 * TILE, 45)  # one tile, whole tiles, ragged tiles


def fitted_kernels(m):
    """One kernel of every kind, on data that depend on each other."""
    rng = np.random.default_rng(m)
    x = rng.normal(size=(m, 3)) + 2
    wide = np.tile(x, 10) + rng.normal(size=(m, 30))
    texts = sparse.random_array((m, 40), density=0.2, rng=rng, format="csr")
    letters = [("a", "b", "c")[int(v > 2) + (i % 5 == 0)] for i, v in enumerate(x[:, 0])]
    letters[:2] = ["a", "a"]
    numbers, labels = Numeric("x", x), read_variable(letters, "x")
    product = Gaussian() * Laplace()
    return {
        "gaussian": Gaussian().fit(numbers),
        "gaussian-wide": Gaussian().fit(Numeric("x", wide)),
        "gaussian-sparse": Gaussian(bandwidth=2.0).fit(read_variable(texts, "x")),
        "laplace": Laplace().fit(Numeric("x", x[:, :1])),
        "distance": Distance().fit(numbers),
        "distance-1.5": Distance(1.5).fit(numbers),
        "linear": Linear().fit(numbers),
        "linear-wide": Linear().fit(Numeric("x", wide)),
        "linear-sparse": Linear().fit(read_variable(texts, "x")),
        "linear-labels": Linear().fit(labels),
        "polynomial": Polynomial(3).fit(numbers),
        "delta": Delta().fit(labels),
        "product": product.fit(numbers),
        "sum": (Laplace() + Linear()).fit(numbers),
        "function": FunctionKernel(lambda a, b: np.tanh(a @ b.T)).fit(numbers),
        "matrix": Precomputed(np.cos(x[:, :1] - x[:, 0])).fit(numbers),
    }


EXPLICIT = ("linear", "linear-wide", "linear-sparse", "linear-labels", "polynomial", "delta")


def what_is_wanted(names):
    """Pair lists: neighbours, self-pairs, turned and repeated pairs, means and row sums."""
    chain = tuple(itertools.pairwise(names))
    yield Wanted(pairs=chain, row_sums=names[-1:])
    yield Wanted(pairs=tuple((name, name) for name in names), means=chain)
    yield Wanted(pairs=((names[2], names[0]), (names[0], names[2]), (names[1], names[1])))
    yield Wanted(pairs=(), means=(*chain, (names[1], names[0])), row_sums=names[:2])
    yield Wanted(pairs=(), row_sums=names)


def numbers_from(engine, kernels, wanted):
    terms = engine.terms(kernels, wanted)
    numbers = {("pair", *pair): conditional_means(terms, pair) for pair in wanted.pairs}
    numbers |= {("mean", *pair): np.array(hsic(terms, pair)) for pair in wanted.means}
    return numbers | {("row sum", name): row_means(terms, name) for name in wanted.row_sums}


def assert_same_numbers(engine, kernels, wanted):
    """Agreement to 1e-10 or, where the truth is 0, to the rounding of the kernels themselves."""
    expected = numbers_from(Dense(), kernels, wanted)
    found = numbers_from(engine, kernels, wanted)
    assert list(found) == list(expected)
    spread = {name: np.ptp(kernel.matrix()) for name, kernel in kernels.items()}
    for key, truth in expected.items():
        rounding = 1e-14 * np.prod([spread[name] for name in key[1:]])
        tolerance = max(1e-10 * np.abs(truth).max(), rounding)
        np.testing.assert_allclose(found[key], truth, rtol=0, atol=tolerance, err_msg=str(key))


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    gc.collect()  # distributed leaves sockets to the garbage collector


ENGINES = {
    "tiled": lambda _: Tiled(tile=TILE, threads=2),
    "tiled-one-thread": lambda _: Tiled(tile=7, threads=1),
    "tiled-compiled": lambda _: Tiled(tile=TILE, compiled=True),
    "tiled-little-memory": lambda _: Tiled(tile=TILE, threads=1, memory="120KB"),
    "features": lambda _: Features(),
    "dask": lambda request: DaskEngine(request.getfixturevalue("client"), TILE, tiles_per_task=4),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_gives_the_numbers_of_the_dense_one(name, request):
    engine = ENGINES[name](request)
    sizes = SIZES if name != "dask" else (5, 45)
    for m in sizes:
        kernels = fitted_kernels(m)
        for names in (tuple(kernels), EXPLICIT):
            for wanted in what_is_wanted(names):
                assert_same_numbers(engine, kernels, wanted)
