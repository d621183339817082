"""The dask engine: the same numbers on a cluster, also when a worker dies."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.engine import DaskEngine, Dense, Tiled, Wanted, compute_influence, plan, select_engine
from reldep.engine.blocks import Tile, upper_tiles
from reldep.engine.sweeps import dask as dask_engine
from reldep.engine.sweeps.dask import OnWorkers, Region, added, default_side, summed
from reldep.engine.terms import hsic
from reldep.kernels import Delta, FunctionKernel, Gaussian, Linear

distributed = pytest.importorskip("distributed")

# distributed leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PAIRS = [("x", "y"), ("x", "x"), ("y", "z")]


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    gc.collect()


def fitted_kernels(m=150, kernel_of_x=None):
    rng = np.random.default_rng(11)
    x = rng.normal(size=(m, 2))
    return {
        "x": (kernel_of_x or Gaussian()).fit(read_variable(x, "x")),
        "y": Linear().fit(read_variable(x + rng.normal(size=(m, 2)), "y")),
        "z": Delta().fit(read_variable(["ab"[int(v > 0)] for v in x[:, 0]], "z")),
    }


def test_a_cluster_gives_the_numbers_of_one_machine(client):
    kernels = fitted_kernels()
    found = compute_influence(kernels, PAIRS, DaskEngine(client, tile=16, tiles_per_task=4))
    assert found.engine == "dask"
    for engine in (Dense(), Tiled(tile=16)):
        expected = compute_influence(kernels, PAIRS, engine).values
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-10 * expected.max())


def test_the_name_alone_takes_the_client_of_this_process(client):
    kernels = fitted_kernels(40)
    engine = select_engine("dask", kernels, Wanted(tuple(PAIRS)))
    wanted = Wanted(pairs=(), means=(("x", "y"),))
    found = hsic(engine.terms(kernels, wanted), ("x", "y"))
    assert found == pytest.approx(hsic(Dense().terms(kernels, wanted), ("x", "y")), rel=1e-12)
    assert "engine  dask" in str(plan(kernels, wanted, "dask"))


def test_progress_counts_the_tasks_of_both_sweeps(client):
    steps = []
    engine = DaskEngine(
        client,
        tile=16,
        tiles_per_task=1,
        on_progress=lambda done, total: steps.append((done, total)),
    )
    engine.terms(fitted_kernels(40), Wanted(pairs=(("x", "y"),)))
    assert steps == [(done, 12) for done in range(1, 13)]  # six tiles, twice


def slow_kernel(a, b):
    time.sleep(0.02)
    return np.exp(-((a[:, :1] - b[:, 0]) ** 2))


def test_a_worker_killed_in_mid_run_changes_nothing_but_the_time(client):
    kernels = fitted_kernels(120, FunctionKernel(slow_kernel))
    expected = compute_influence(kernels, PAIRS, Dense()).values
    pids = client.run(os.getpid)
    first_progress, killed_at = threading.Event(), []

    def kill_one_worker():
        first_progress.wait()
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        killed_at.append(time.monotonic())

    progress_after_kill = []

    def on_progress(done, total):
        first_progress.set()
        if killed_at:
            progress_after_kill.append((done, total))

    killer = threading.Thread(target=kill_one_worker)
    killer.start()
    engine = DaskEngine(client, tile=10, tiles_per_task=1, on_progress=on_progress)
    found = compute_influence(kernels, PAIRS, engine).values
    finished_at = time.monotonic()
    killer.join()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * expected.max())
    assert killed_at[0] < finished_at
    # Most of the 2 × 78 tasks were still to do when the worker died.
    assert len(progress_after_kill) > 78
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(pids.values())


def not_a_block(a, b):
    """Break on tiles; the small blocks that this process itself looks at are right."""
    return np.zeros((len(a), len(b)) if len(a) <= 8 else 3) + a[0]


def test_an_error_in_a_kernel_on_a_worker_reaches_the_user(client):
    kernels = fitted_kernels(40)
    kernels["x"] = FunctionKernel(not_a_block).fit(read_variable(np.arange(40.0), "x"))
    engine = DaskEngine(client, tile=16)
    with pytest.raises(ValueError, match="the kernel function for x returned shape"):
        engine.terms(kernels, Wanted(pairs=(("x", "y"),)))


def fail(region, sweeps):
    raise ZeroDivisionError("a task failed")


def test_a_failed_task_ends_the_job(client):
    regions = [Region(outline, 5) for outline in upper_tiles(20, 5)]
    with pytest.raises(ZeroDivisionError, match="a task failed"):
        summed(client, fail, regions, lambda done, total: None, {"sweeps": OnWorkers(client, 1)})


def die(region, sweeps):
    raise distributed.CancelledError("lost dependencies")


def test_data_lost_again_and_again_is_an_error_with_advice(client):
    regions = [Region(Tile(slice(0, 5), slice(0, 5)), 5)]
    with pytest.raises(RuntimeError, match=r"lost the data 3 times.*tiles_per_task"):
        summed(client, die, regions, lambda done, total: None, {"sweeps": OnWorkers(client, 1)})


def test_data_are_sent_once_unless_they_are_lost(client):
    value = OnWorkers(client, np.arange(3))
    first = value.future()
    assert value.future() is first
    first.cancel()
    again = value.future()
    assert again is not first
    np.testing.assert_array_equal(again.result(), np.arange(3))


def test_ctrl_c_leaves_nothing_running(client):
    class Interrupted(KeyboardInterrupt):
        pass

    def on_progress(done, total):
        raise Interrupted

    kernels = fitted_kernels(120, FunctionKernel(slow_kernel))
    engine = DaskEngine(client, tile=10, tiles_per_task=1, on_progress=on_progress)
    with pytest.raises(Interrupted):
        engine.terms(kernels, Wanted(pairs=(("x", "y"),)))
    deadline = time.monotonic() + 5
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())


def test_regions_cover_the_upper_triangle_once():
    n, tile = 53, 5
    covered = np.zeros((n, n), dtype=int)
    for outline in upper_tiles(n, 3 * tile):
        for part in Region(outline, tile).tiles():
            covered[part.rows, part.cols] += 1
    expected = np.zeros((n, n), dtype=int)
    for part in upper_tiles(n, tile):
        expected[part.rows, part.cols] += 1
    np.testing.assert_array_equal(covered, expected)


def test_partial_sums_cover_only_their_region():
    region = Region(Tile(slice(0, 4), slice(8, 10)), 2)
    sums = np.arange(20.0).reshape(2, 10)
    partial = region.covered(sums)
    assert {start: part.shape for start, part in partial.items()} == {0: (2, 4), 8: (2, 2)}
    before = partial[0].copy()
    total = added([partial, partial, {4: np.ones((2, 4))}])
    np.testing.assert_array_equal(total[0], 2 * before)
    np.testing.assert_array_equal(partial[0], before)
    assert sorted(total) == [0, 4, 8]


@pytest.mark.parametrize(
    ("n_runs", "threads", "side"),
    [(10, 2, 1), (100, 2, 12), (1_000, 100, 17), (10_000, 8, 64), (1, 4, 1)],
)
def test_regions_give_every_thread_about_sixteen_tasks(n_runs, threads, side):
    assert default_side(n_runs, threads) == side
    n_tasks = (n_runs / side) ** 2 / 2
    assert n_tasks >= 12 * threads or side == 1


@pytest.mark.parametrize("argument", ["tile", "tiles_per_task"])
@pytest.mark.parametrize("wrong", [0, 2.5, True])
def test_sizes_must_be_whole_and_positive(argument, wrong):
    with pytest.raises(ValueError, match=f"{argument}={wrong}; pass a whole number, at least 1"):
        DaskEngine(**{argument: wrong})


def test_without_a_client_the_error_says_how_to_start_one(monkeypatch):
    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", no_client)
    with pytest.raises(ValueError, match=r"distributed.Client\(\)"):
        select_engine("dask", fitted_kernels(40), Wanted(tuple(PAIRS)))


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'reldep\[dask\]'"):
        DaskEngine().connected_client()


def test_the_default_number_of_tasks_follows_the_cluster(client):
    assert dask_engine.n_threads(client) == 2


def test_workers_of_another_version_are_refused_by_name(client, monkeypatch):
    there = {"reldep": "0.0.1", "numba": "0.1"}
    monkeypatch.setattr(client, "run", lambda f, on_error: {"tcp://a:1": there})
    words = r"the worker tcp://a:1 has reldep 0\.0\.1 and this process \d.*Install one version"
    with pytest.raises(ValueError, match=words):
        DaskEngine(client).terms(fitted_kernels(40), Wanted(tuple(PAIRS)))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "the cluster has no workers, or all of them were lost; start some"),
        ({"tcp://a:1": ImportError("No module named 'numba'")}, "a:1 cannot run reldep: No module"),
    ],
)
def test_a_cluster_that_cannot_work_is_told_so(client, monkeypatch, answer, words):
    monkeypatch.setattr(client, "run", lambda f, on_error: answer)
    with pytest.raises(ValueError, match=words):
        DaskEngine(client).terms(fitted_kernels(40), Wanted(tuple(PAIRS)))


def test_workers_that_are_lost_on_the_way_are_told(client, monkeypatch):
    def nobody(*_, **__):
        raise TimeoutError("No valid workers found")

    monkeypatch.setattr(client, "scatter", nobody)
    with pytest.raises(ValueError, match="all of them were lost"):
        DaskEngine(client).terms(fitted_kernels(40), Wanted(tuple(PAIRS)))


def test_a_closed_client_is_refused(client):
    class Closed:
        status = "closed"

    with pytest.raises(ValueError, match="the client of this engine is closed; open another one"):
        DaskEngine(Closed()).terms(fitted_kernels(40), Wanted(tuple(PAIRS)))
