"""The tiled engine against whole matrices, closed forms and its own promises."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.engine import Dense, Tiled, Wanted
from reldep.engine.blocks import upper_tiles
from reldep.engine.sweeps import tiled, tiles
from reldep.engine.sweeps.tiled import cut_into_pieces
from reldep.engine.sweeps.tiles import Sweeps
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
from reldep.kernels.profiles import GaussianSlope, LaplaceProfile, LaplaceSlope, SideProfile
from reldep.kernels.radial import FittedRadial
from reldep.system import numba_is_there

# One process compiles; the others find the machine code on disk.


def labels(m, rng, name="labels"):
    return Labels(name, rng.integers(0, 3, m), ("a", "b", "c"))


def kernel_zoo(m, seed=0):
    """One fitted kernel of every kind that a tile treats differently."""
    rng = np.random.default_rng(seed)
    plane = read_variable(rng.normal(size=(m, 2)), "plane")
    wide = read_variable(rng.normal(size=(m, 40)), "wide")
    rare = read_variable(sparse.random(m, 60, 0.2, rng=rng, format="csr"), "rare")
    mixed = Mixed("mixed", (Numeric("n", rng.normal(size=(m, 3))), labels(m, rng)))
    gaussian = Gaussian(bandwidth=1.5).fit(plane)
    return {
        "gaussian": gaussian,
        "same points": FittedRadial(gaussian.points, LaplaceProfile(2.0), "Laplace"),
        "gaussian slope": FittedRadial(gaussian.points, GaussianSlope(1.5), "slope"),
        "laplace slope": FittedRadial(gaussian.points, LaplaceSlope(2.0), "slope"),
        "side": FittedRadial(gaussian.points, SideProfile(1.5), "side"),
        "laplace": Laplace(bandwidth=2.0).fit(read_variable(rng.normal(size=m), "line")),
        "distance": Distance().fit(read_variable(rng.normal(size=(m, 5)), "five")),
        "square": Distance(exponent=2).fit(plane),
        "power": Distance(exponent=1.5).fit(plane),
        "delta": Delta().fit(labels(m, rng)),
        "linear": Linear().fit(plane),
        "polynomial": Polynomial().fit(plane),
        "wide": Gaussian(bandwidth=9.0).fit(wide),
        "sparse": Gaussian(bandwidth=2.0).fit(rare),
        "matrix": Precomputed(np.corrcoef(rng.normal(size=(m, 7)))).fit(plane),
        "function": FunctionKernel(lambda a, b: np.tanh(a @ b.T)).fit(plane),
        "sum": (Gaussian(bandwidth=1.0) + Linear() + Laplace(bandwidth=1.0)).fit(plane),
        "product": (Gaussian(bandwidth=1.0) * Delta()).fit(mixed),
    }


NEIGHBOURS = tuple(zip(kernel_zoo(4), [*list(kernel_zoo(4))[1:], "gaussian"], strict=True))
PAIR_LISTS = {
    "all pairs of neighbours": Wanted(NEIGHBOURS),
    "one kernel with itself": Wanted((("wide", "wide"), ("delta", "delta"))),
    "both orders and repeats": Wanted((("wide", "delta"), ("delta", "wide"), ("wide", "delta"))),
    "some need one sweep only": Wanted(NEIGHBOURS[:4], NEIGHBOURS[3:8], ("sparse", "sum")),
    "none needs the second sweep": Wanted((), NEIGHBOURS[:5], ("product",)),
}


def assert_same(terms, expected, wanted):
    assert terms.n == expected.n
    for pair in wanted.pairs:
        right = conditional_means(expected, pair)
        np.testing.assert_allclose(
            conditional_means(terms, pair), right, rtol=0, atol=1e-10 * np.abs(right).max()
        )
    for pair in wanted.means:
        assert hsic(terms, pair) == pytest.approx(hsic(expected, pair), rel=1e-10)
    for name in wanted.row_sums:
        right = row_means(expected, name)
        np.testing.assert_allclose(row_means(terms, name), right, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("wanted", PAIR_LISTS.values(), ids=PAIR_LISTS)
@pytest.mark.parametrize(("m", "tile"), [(4, 64), (64, 64), (65, 64), (91, 30), (300, 280)])
def test_tiles_give_what_whole_matrices_give(m, tile, wanted, compiled):
    kernels = kernel_zoo(m)
    terms = Tiled(tile=tile, compiled=compiled).terms(kernels, wanted)
    assert_same(terms, Dense().terms(kernels, wanted), wanted)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_number_of_threads_changes_no_bit(compiled):
    kernels = kernel_zoo(300)
    wanted = Wanted(NEIGHBOURS)
    one, two, five = (
        Tiled(threads=n, tile=50, compiled=compiled).terms(kernels, wanted) for n in (1, 2, 5)
    )
    for pair in wanted.pairs:
        a = conditional_means(one, pair)
        assert np.array_equal(a, conditional_means(two, pair))
        assert np.array_equal(a, conditional_means(five, pair))


@pytest.mark.parametrize("compiled", [False, True])
def test_blocks_are_evaluated_once_if_they_fit_the_memory_and_twice_if_not(compiled):
    calls = []

    def slow(a, b):
        calls.append(a.shape)
        return a @ b.T

    rows = read_variable(np.random.default_rng(0).normal(size=(100, 2)), "x")
    kernels = {"x": FunctionKernel(slow).fit(rows), "y": Gaussian(bandwidth=1.0).fit(rows)}
    wanted = Wanted((("x", "y"),), row_sums=("y",))
    n_calls = {}
    for memory in ("60KB", "10MB", None):
        engine = Tiled(memory=memory, threads=1, tile=20, compiled=compiled)
        calls.clear()
        Sweeps.prepare(kernels, wanted)
        n_for_shift = len(calls)
        calls.clear()
        assert_same(engine.terms(kernels, wanted), Dense().terms(kernels, wanted), wanted)
        n_calls[memory] = len(calls) - n_for_shift - 1
    n_tiles = len(upper_tiles(100, 20))
    assert n_calls == {"60KB": 2 * n_tiles, "10MB": n_tiles, None: n_tiles}


def test_kept_blocks_are_found_again_though_the_second_sweep_needs_fewer():
    kernels = kernel_zoo(70)
    wanted = Wanted((("wide", "matrix"),), means=(("sparse", "function"),))
    sweeps = Sweeps.prepare(kernels, wanted, compiled=True)
    tiles = upper_tiles(70, 32)
    kept = {}
    first = sweeps.first(tiles, kept)
    again = sweeps.second(sweeps.vectors(first), tiles, kept)
    assert len(kept) == len(tiles)
    assert np.array_equal(again, sweeps.second(sweeps.vectors(first), tiles))


@pytest.mark.parametrize(("name", "n_given"), [("gaussian", 0), ("sparse", 1)])
def test_kernels_on_the_same_points_share_the_distances(name, n_given):
    kernels = kernel_zoo(50)
    kernels["other"] = FittedRadial(kernels[name].points, LaplaceProfile(2.0), "Laplace")
    wanted = Wanted(((name, "other"),))
    sweeps = Sweeps.prepare(kernels, wanted, compiled=True)
    assert len(sweeps.all_sums.recipe.sources) == 1
    assert sweeps.n_given == n_given
    assert_same(Tiled(compiled=True).terms(kernels, wanted), Dense().terms(kernels, wanted), wanted)


def test_single_precision_leaves_six_digits():
    kernels = {k: v for k, v in kernel_zoo(400).items() if k in ("gaussian", "laplace", "wide")}
    wanted = Wanted((("gaussian", "laplace"), ("gaussian", "wide")))
    double = Tiled(compiled=True).terms(kernels, wanted)
    single = Tiled(compiled=True, precision="single").terms(kernels, wanted)
    for pair in wanted.pairs:
        right = conditional_means(double, pair)
        error = np.abs(conditional_means(single, pair) - right).max() / np.abs(right).max()
        assert 1e-12 < error < 1e-5


@pytest.mark.parametrize(
    ("kernel", "noise"), [(Gaussian(), 1.0), (Laplace("mean"), 1.0), (Laplace("mean"), 1e6)]
)
def test_mixed_precision_moves_no_estimate_and_standard_errors_by_a_billionth(
    kernel, noise, monkeypatch
):
    monkeypatch.setattr(tiles, "MIXED_FROM", 1_500)
    rng = np.random.default_rng(0)
    x = rng.standard_t(3, size=(1_500, 4))
    y = x + noise * rng.normal(size=x.shape)
    kernels = {
        "x": kernel.fit(read_variable(x, "x")),
        "y": kernel.fit(read_variable(y, "y")),
        "z": Delta().fit(labels(len(x), rng)),
    }
    wanted = Wanted((("x", "y"), ("x", "z"), ("x", "x")))
    double = Tiled(compiled=True, precision="double").terms(kernels, wanted)
    mixed = Tiled(compiled=True).terms(kernels, wanted)
    assert Sweeps.prepare(kernels, wanted, compiled=True, precision="mixed").mixed
    for pair in wanted.pairs:
        right, found = conditional_means(double, pair), conditional_means(mixed, pair)
        assert found.mean() == pytest.approx(right.mean(), rel=1e-11, abs=1e-16)
        assert found.std() == pytest.approx(right.std(), rel=3e-9)
        # It is another way to the same numbers: were it double, they would agree further.
        assert np.abs(found - right).max() > 1e-14 * np.abs(right).max()


def test_what_does_not_suit_single_precision_keeps_double(monkeypatch):
    monkeypatch.setattr(tiles, "MIXED_FROM", 0)
    kernels = {k: v for k, v in kernel_zoo(60).items() if k in ("gaussian", "linear", "distance")}
    for pair in (("gaussian", "linear"), ("gaussian", "distance")):
        sweeps = Sweeps.prepare(kernels, Wanted((pair,)), compiled=True, precision="mixed")
        assert not sweeps.mixed
    beside = Wanted((("gaussian", "gaussian"),), means=(("gaussian", "linear"),))
    assert Sweeps.prepare(kernels, beside, compiled=True, precision="mixed").mixed
    found, right = (e.terms(kernels, beside) for e in (Tiled(compiled=True), Dense()))
    for pair in beside.product_pairs():
        assert hsic(found, pair) == pytest.approx(hsic(right, pair), rel=1e-10)


def test_without_numba_the_numbers_are_the_same(monkeypatch):
    kernels = {k: v for k, v in kernel_zoo(2_100).items() if k in ("gaussian", "delta")}
    wanted = Wanted((("gaussian", "delta"),))
    with_numba = Tiled().terms(kernels, wanted)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "reldep.engine.sweeps.fills", raising=False)
    assert not numba_is_there()
    without = Tiled().terms(kernels, wanted)
    assert_same(without, with_numba, wanted)
    with pytest.raises(ValueError, match="needs numba, which cannot be imported; install it"):
        Tiled(compiled=True)


def test_small_samples_do_not_wait_for_the_compiler():
    code = """
        import sys
        import numpy as np, reldep
        x, y, z = np.random.default_rng(0).normal(size=(3, 500, 2))
        reldep.compare(x, y, z, engine=reldep.engine.Tiled())
        assert "numba" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def exact_linear_hsic(x, y):
    """HSIC of linear kernels on whole numbers, in exact arithmetic from the features."""
    m = len(x)
    norms_x, norms_y = (x * x).sum(axis=1), (y * y).sum(axis=1)
    k, l = x @ x.sum(axis=0) - norms_x, y @ y.sum(axis=0) - norms_y  # noqa: E741
    trace = int(((x.T @ y) ** 2).sum() - norms_x @ norms_y)
    total = trace + Fraction(int(k.sum()) * int(l.sum()), (m - 1) * (m - 2))
    return float((total - Fraction(2 * int(k @ l), m - 2)) / (m * (m - 3)))


def test_twenty_thousand_rows_agree_with_exact_arithmetic():
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, size=(20_000, 2))
    y = x + rng.integers(-90, 91, size=(20_000, 2))
    kernels = {"x": Linear().fit(read_variable(x, "x")), "y": Linear().fit(read_variable(y, "y"))}
    terms = Tiled().terms(kernels, Wanted((("x", "y"),)))
    exact = exact_linear_hsic(x, y)
    assert hsic(terms, ("x", "y")) == pytest.approx(exact, rel=1e-10)
    assert conditional_means(terms, ("x", "y")).mean() == pytest.approx(exact, rel=1e-10)


def test_memory_grows_with_the_rows_not_with_their_square():
    code = """
        import resource
        import numpy as np
        from reldep.data.objects import read_variable
        from reldep.engine import Tiled, Wanted
        from reldep.kernels import Gaussian

        def run(m):
            rng = np.random.default_rng(0)
            kernels = {
                n: Gaussian(bandwidth=1.0).fit(read_variable(rng.normal(size=(m, 2)), n))
                for n in "xyz"
            }
            Tiled(threads=2).terms(kernels, Wanted((("x", "y"), ("x", "z"))))
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        print(run(20_000) - run(2_500) if run(2_500) else None)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    )
    # Three kernel matrices would take 9,600 MB.
    assert int(done.stdout) < 60_000, f"{done.stdout} KB more for 20,000 rows"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_stops_the_threads_after_the_tile_in_work():
    code = """
        import os, signal, time
        import numpy as np
        from reldep.data.objects import read_variable
        from reldep.engine import Tiled, Wanted
        from reldep.kernels import FunctionKernel

        calls = []

        def slow(a, b):
            calls.append(len(a))
            if len(calls) == 100:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            return a @ b.T

        rows = read_variable(np.random.default_rng(0).normal(size=(1_000, 2)), "x")
        kernels = {"x": FunctionKernel(slow).fit(rows)}
        try:
            Tiled(tile=20, threads=3).terms(kernels, Wanted((("x", "x"),)))
        except KeyboardInterrupt:
            at_once = len(calls)
            time.sleep(0.1)
            print(at_once, len(calls))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    )
    at_once, later = map(int, done.stdout.split())
    assert at_once < 200, "of some 2,600 calls"
    assert later == at_once


def test_an_error_in_one_thread_reaches_the_caller_and_stops_the_others(monkeypatch):
    monkeypatch.setattr(tiled, "PIECES", 2)
    calls = []

    def broken(a, b):
        calls.append(len(a))
        if len(calls) == 100:
            raise RuntimeError("no such text")
        time.sleep(0.001)
        return a @ b.T

    rows = read_variable(np.random.default_rng(0).normal(size=(400, 2)), "x")
    kernels = {"x": FunctionKernel(broken).fit(rows)}
    with pytest.raises(RuntimeError, match="no such text"):
        Tiled(tile=10, threads=2).terms(kernels, Wanted((("x", "x"),)))
    assert len(calls) < 1600, "the other thread went on to the end"


def test_progress_is_told_to_the_end_of_both_sweeps():
    kernels = kernel_zoo(100)
    seen = []
    wanted = Wanted((("gaussian", "linear"),))
    Tiled(tile=20, on_progress=lambda done, total: seen.append((done, total))).terms(
        kernels, wanted
    )
    total = seen[0][1]
    assert seen == [(done, total) for done in range(1, total + 1)]
    assert total == 2 * len(upper_tiles(100, 20))


def test_pieces_hold_all_tiles_in_order_and_about_equal_work():
    kernels = kernel_zoo(50)
    sweeps = Sweeps.prepare(kernels, Wanted((("gaussian", "linear"),)))
    tiles = upper_tiles(5_000, 100)
    pieces = cut_into_pieces(tiles, sweeps)
    assert [tile for piece in pieces for tile in piece] == tiles
    assert 36 <= len(pieces) <= 40
    assert max(map(len, pieces)) - min(map(len, pieces[:-1])) <= 1


def test_upper_tiles_cover_each_pair_once():
    seen = np.zeros((23, 23), dtype=int)
    for tile in upper_tiles(23, 7):
        seen[tile.rows, tile.cols] += 1
        assert tile.n_entries == seen[tile.rows, tile.cols].size
    assert (seen[np.triu_indices(23, 1)] == 1).all()


def test_sweeps_can_be_sent_to_another_process():
    kernels = {k: v for k, v in kernel_zoo(60).items() if k != "function"}
    wanted = Wanted(tuple(pair for pair in NEIGHBOURS if "function" not in pair))
    for compiled in (False, True):
        sweeps = Sweeps.prepare(kernels, wanted, compiled=compiled)
        copied = pickle.loads(pickle.dumps(sweeps))  # noqa: S301
        tiles = upper_tiles(60, 25)
        assert np.array_equal(copied.first(tiles), sweeps.first(tiles))


def test_read_only_arrays_do_not_need_the_compiler_again():
    from reldep.engine.sweeps.fills import sweep

    kernels = {"gaussian": kernel_zoo(60)["gaussian"]}
    sweeps = Sweeps.prepare(kernels, Wanted((("gaussian", "gaussian"),)), compiled=True)
    expected = sweeps.first(upper_tiles(60, 25))
    n_compiled = len(sweep.signatures)
    recipe = sweeps.all_sums.recipe
    for array in (recipe.columns, *recipe.tables):
        array.flags.writeable = False
    assert np.array_equal(sweeps.first(upper_tiles(60, 25)), expected)
    assert len(sweep.signatures) == n_compiled


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"memory": "much"}, ValueError, "memory='much' is not understood; pass a positive"),
        ({"memory": "12 XB"}, ValueError, "memory='12 XB' is not understood"),
        ({"memory": 0}, ValueError, "memory=0; pass a positive amount"),
        ({"memory": 1.5}, TypeError, "memory is of type float; pass"),
        ({"threads": 0}, ValueError, "threads=0; pass a whole number, at least 1"),
        ({"threads": True}, ValueError, "threads=True; pass a whole number"),
        ({"tile": 2.5}, ValueError, "tile=2.5; pass a whole number"),
        ({"precision": "singel"}, ValueError, "did you mean 'single'"),
    ],
)
def test_wrong_options_are_refused_with_a_way_out(options, error, message):
    with pytest.raises(error, match=message):
        Tiled(**options)


def test_too_little_memory_is_refused_before_the_work_begins():
    kernels = kernel_zoo(300)
    with pytest.raises(ValueError, match=r"`memory='1KB'` is not enough: 300 .* fewer threads"):
        Tiled(memory="1KB").terms(kernels, Wanted((("gaussian", "wide"),)))
