"""The planner: which engine for which job, what it says, and what it refuses."""

from __future__ import annotations

import os
import re
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.engine import (
    Dense,
    Features,
    Tiled,
    Wanted,
    plan,
    planner,
    select_engine,
)
from reldep.engine.costs import dask_cost, features_cost, fill_of, tiled_cost
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

GB = 10**9
PAIR = Wanted(pairs=(("x", "y"), ("x", "z")))


@pytest.fixture(autouse=True)
def _sixteen_gigabytes(monkeypatch):
    monkeypatch.setattr(planner, "available_memory", lambda: 16 * GB)


def fitted(kernel, m, columns=2, name="x"):
    """Fit a kernel to m rows; their values do not matter to a plan."""
    rng = np.random.default_rng(m)
    if isinstance(kernel, Delta):
        return kernel.fit(read_variable([str(i % 9) for i in range(m)], name))
    if columns == "sparse":
        matrix = sparse.random_array((m, 10_000), density=0.01, rng=rng, format="csr")
        return kernel.fit(read_variable(matrix, name))
    return kernel.fit(Numeric(name, rng.random((m, columns))))


def job(kernels, m, columns=2):
    kernels = kernels if isinstance(kernels, tuple) else (kernels,) * 3
    return {n: fitted(k, m, columns, n) for n, k in zip("xyz", kernels, strict=True)}


GAUSSIAN = Gaussian(bandwidth=1.0)
LAPLACE = Laplace(bandwidth=1.0)


@pytest.mark.parametrize(
    ("kernels", "m", "columns", "gigabytes", "expected"),
    [
        # Few observations: whole matrices, whatever the kernels.
        (GAUSSIAN, 50, 2, 16, Dense),
        (Linear(), 1_999, 2, 16, Dense),
        (GAUSSIAN, 53, 15_702, 16, Dense),
        # ... unless they do not fit half of the memory: 6 × 1,900² × 8 bytes = 173 MB.
        (GAUSSIAN, 1_900, 2, 0.3, Tiled),
        # More: tiles, or features where all kernels have them.
        (GAUSSIAN, 2_000, 2, 16, Tiled),
        (Distance(), 2_000, 2, 16, Tiled),
        (Linear(), 2_000, 10, 16, Features),
        (Delta(), 2_000, 1, 16, Features),
        (Polynomial(2), 5_000, 5, 16, Features),
        ((Linear(), Delta(), Linear()), 100_000, 10, 16, Features),
        # One kernel without features sends all to tiles.
        ((Linear(), GAUSSIAN, Delta()), 100_000, 10, 16, Tiled),
        # Features exist but are dearer than the kernel matrix, or do not exist.
        (Linear(), 2_000, 6_000, 16, Tiled),
        (Polynomial(2), 2_000, 100, 16, Tiled),
        (Linear(), 2_500, "sparse", 16, Tiled),
    ],
)
def test_auto_chooses(kernels, m, columns, gigabytes, expected, monkeypatch):
    monkeypatch.setattr(planner, "available_memory", lambda: int(gigabytes * GB))
    kernels = job(kernels, m, columns)
    assert type(plan(kernels, PAIR).engine) is expected
    assert type(select_engine("auto", kernels, PAIR)) is expected


def test_auto_plans_with_half_of_the_memory_only():
    kernels = job(GAUSSIAN, 2_100)
    chosen = plan(kernels, PAIR)
    assert chosen.allowed == 8 * GB
    assert chosen.engine.memory == 8 * GB


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dense", Dense), ("tiled", Tiled), ("features", Features)],
)
def test_a_name_gives_its_engine(name, expected):
    kernels = job(GAUSSIAN, 100)
    assert type(select_engine(name, kernels, PAIR)) is expected
    assert "you asked for it" in str(plan(kernels, PAIR, name))


def test_an_engine_object_is_taken_as_it_is():
    engine = Tiled(memory="100MB", threads=1)
    assert select_engine(engine, job(GAUSSIAN, 100), PAIR) is engine


def test_an_engine_of_ones_own_needs_no_estimate():
    class Own:
        name = "own"

        def terms(self, kernels, wanted):
            return Dense().terms(kernels, wanted)

    own = Own()
    kernels = job(GAUSSIAN, 30)
    assert select_engine(own, kernels, PAIR) is own
    assert "memory  unknown" in str(plan(kernels, PAIR, own))
    assert "time    unknown" in str(plan(kernels, PAIR, own))


def test_a_misspelt_engine_is_met_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"engine='tilde' is not known \(did you mean 'tiled'\?\)"):
        select_engine("tilde", job(GAUSSIAN, 30), PAIR)


@pytest.mark.parametrize("wrong", [3, Tiled, None])
def test_what_is_no_engine_is_refused(wrong):
    with pytest.raises(TypeError, match=r"engine is of type .*; pass a name such as 'auto'"):
        select_engine(wrong, job(GAUSSIAN, 30), PAIR)


def test_matrices_that_cannot_fit_are_refused_before_the_start():
    kernels = job(GAUSSIAN, 100_000)
    with pytest.raises(ValueError, match="engine='dense' would need about") as caught:
        select_engine("dense", kernels, PAIR)
    assert "480 GB for 100,000 observations and 3 kernels" in str(caught.value)
    assert "only 16 GB may be used" in str(caught.value)
    assert 'pass engine="tiled"' in str(caught.value)
    assert "It does not fit" in str(plan(kernels, PAIR, "dense"))


@pytest.mark.parametrize(
    ("engine", "way_out"),
    [
        (Tiled(), "ask for fewer pairs at a time or pass Tiled with fewer threads"),
        (Features("nystroem", 2_000), "Features with a smaller n_components"),
    ],
)
def test_every_engine_says_its_way_out(engine, way_out, monkeypatch):
    monkeypatch.setattr(planner, "available_memory", lambda: 1_000_000)
    with pytest.raises(ValueError, match=way_out):
        select_engine(engine, job(GAUSSIAN, 20_000), PAIR)


def test_a_long_job_is_told_of_faster_ways(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    short, long = plan(job(GAUSSIAN, 5_000), PAIR), plan(job(GAUSSIAN, 1_000_000), PAIR)
    assert "nystroem" not in short.reason
    assert 'Features(approximate="nystroem")' in long.reason
    assert re.search(r"time    about \d+ (minutes|hours)", str(long))


def test_a_plan_reads_well():
    text = str(plan(job(GAUSSIAN, 500), PAIR))
    assert text.splitlines() == [
        "engine  dense",
        "why     500 observations: whole kernel matrices are the quickest way.",
        "memory  about 12 MB, of 8 GB that may be used",
        "time    less than a second",
    ]


@pytest.mark.parametrize(
    ("kernels", "m", "columns", "engine"),
    [
        (GAUSSIAN, 900, 2, Dense()),
        (GAUSSIAN, 900, 60, Dense()),
        (GAUSSIAN, 3_000, 2, Tiled(threads=2)),
        (LAPLACE, 1_500, 40, Tiled(threads=2)),
        (LAPLACE, 1_500, 40, Tiled(threads=1, memory="30MB")),
        (Linear(), 300_000, 5, Features()),
    ],
)
def test_the_expected_memory_is_near_the_measured_peak(kernels, m, columns, engine):
    kernels = job(kernels, m, columns)
    engine.terms(job(GAUSSIAN, 2_000), PAIR)  # compile and import first
    tracemalloc.start()
    engine.terms(kernels, PAIR)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = plan(kernels, PAIR, engine).memory
    assert 0.45 * expected < peak < 1.4 * expected


def test_a_kernel_costs_what_it_is_made_of():
    numbers, labels = fitted(GAUSSIAN, 40), fitted(Delta(), 40)
    assert fill_of(numbers, compiled=True).nanoseconds < 2
    assert not fill_of(labels, compiled=True).is_block
    assert fill_of(numbers, compiled=False).is_block
    both = GAUSSIAN * Laplace(bandwidth=2.0)
    product = fill_of(
        both.fit(Numeric("x", np.random.default_rng(0).random((9, 2)))), compiled=True
    )
    assert product.nanoseconds == 2 * fill_of(numbers, compiled=True).nanoseconds
    rows = read_variable(np.arange(40.0), "x")
    wide, stored = (
        fitted(GAUSSIAN, 40, 500),
        Precomputed(np.kron(np.eye(2), np.ones((20, 20)))).fit(rows),
    )
    assert fill_of(wide, compiled=True).nanoseconds > fill_of(stored, compiled=True).nanoseconds
    own = FunctionKernel(lambda a, b: a @ b.T).fit(rows)
    assert fill_of(own, compiled=True).is_block


def read_memory(monkeypatch, folder, meminfo=None, limit=None):
    """Ask for the available memory of a machine described by files."""
    monkeypatch.undo()
    for name, text in (("MEMINFO", meminfo), ("CONTAINER_LIMIT", limit)):
        path = folder / name
        if text is not None:
            path.write_text(text)
        monkeypatch.setattr(planner, name, path)
    return planner.available_memory()


MEMINFO = "MemTotal:       32000000 kB\nMemAvailable:   20000000 kB\n"


def test_the_memory_of_the_machine_is_what_linux_calls_available(monkeypatch, tmp_path):
    assert read_memory(monkeypatch, tmp_path, MEMINFO) == 20_000_000 * 1024


@pytest.mark.parametrize(
    ("limit", "expected"), [("4000000000\n", 4 * GB), ("max\n", 20_000_000 * 1024)]
)
def test_the_limit_of_a_container_counts(monkeypatch, tmp_path, limit, expected):
    assert read_memory(monkeypatch, tmp_path, MEMINFO, limit) == expected


def test_elsewhere_the_physical_memory_is_asked_for(monkeypatch, tmp_path):
    assert read_memory(monkeypatch, tmp_path, "MemTotal: 5 kB\n") > 10**8
    assert read_memory(monkeypatch, tmp_path / "nowhere") > 10**8
    monkeypatch.setattr(os, "sysconf_names", {})
    assert planner.available_memory() == planner.MEMORY_UNKNOWN


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "less than a second"),
        (1.2, "about a second"),
        (7.2, "about 7 seconds"),
        (600, "about 10 minutes"),
        (36_000, "about 10 hours"),
    ],
)
def test_time_is_told_as_roughly_as_it_is_known(seconds, words):
    assert planner.seconds_in_words(seconds) == words


def test_costs_grow_as_they_should():
    small, large = job(GAUSSIAN, 4_000), job(GAUSSIAN, 40_000)
    seconds = [tiled_cost(k, PAIR, Tiled(threads=1)).seconds - 1 for k in (small, large)]
    assert seconds[1] == pytest.approx(100 * seconds[0])
    memory = [tiled_cost(k, PAIR, Tiled(threads=1)).memory for k in (small, large)]
    assert memory[1] == pytest.approx(10 * memory[0])
    cluster = [dask_cost(large, PAIR, threads).seconds - 3 for threads in (1, 10)]
    assert cluster[0] == pytest.approx(10 * cluster[1])


def test_blocks_that_are_kept_are_filled_once():
    kernels = job(LAPLACE, 3_000, 400)
    keeps, forgets = (
        tiled_cost(kernels, PAIR, Tiled(threads=1, memory=memory)) for memory in (None, "100MB")
    )
    assert keeps.seconds - 1 < 0.6 * (forgets.seconds - 1)  # one second is the start
    assert keeps.memory > 100e6 > forgets.memory
    once = Wanted(pairs=(), means=PAIR.pairs)
    assert tiled_cost(kernels, once, Tiled(threads=1)).memory < 100e6


def test_mixed_features_cost_tiles_and_features_together():
    kernels = job((GAUSSIAN, Linear(), Delta()), 5_000)
    apart = Wanted(pairs=(("x", "x"), ("y", "z")))
    alone = features_cost(kernels, Wanted(pairs=(("y", "z"),)), Features())
    both = features_cost(kernels, apart, Features())
    tiles = tiled_cost(kernels, Wanted(pairs=(("x", "x"),)), Tiled())
    assert both.seconds == pytest.approx(alone.seconds + tiles.seconds)
    approximate = features_cost(kernels, apart, Features("fourier"))
    assert approximate.memory > alone.memory
