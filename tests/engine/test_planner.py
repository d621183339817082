"""The planner: which engine for which job, what it says, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from reldep import system
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
from reldep.engine.sweeps.tiled import COMPILED_START
from reldep.engine.sweeps.tiles import Outline, Sweeps
from reldep.kernels import (
    Delta,
    Distance,
    FunctionKernel,
    Gaussian,
    Haversine,
    Laplace,
    Linear,
    Polynomial,
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
        # ... unless they do not fit half of the memory: 4 × 1,900² × 8 bytes = 116 MB.
        (GAUSSIAN, 1_900, 2, 0.22, Tiled),
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
    kernels = job(GAUSSIAN, 2_100, 10)
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
    assert "requested explicitly" in str(plan(kernels, PAIR, name))


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
    with pytest.raises(ValueError, match=r"`engine='tilde'` is not known .*'tiled'"):
        select_engine("tilde", job(GAUSSIAN, 30), PAIR)


@pytest.mark.parametrize("wrong", [3, Tiled, None])
def test_what_is_no_engine_is_refused(wrong):
    with pytest.raises(TypeError, match=r"engine is of type .*; pass a name such as 'auto'"):
        select_engine(wrong, job(GAUSSIAN, 30), PAIR)


def test_matrices_that_cannot_fit_are_refused_before_the_start():
    kernels = job(GAUSSIAN, 100_000)
    with pytest.raises(ValueError, match="`engine='dense'` would need about") as caught:
        select_engine("dense", kernels, PAIR)
    assert "320 GB for 100,000 observations and 3 kernels" in str(caught.value)
    assert "only 16 GB may be used" in str(caught.value)
    assert "pass `engine='tiled'`" in str(caught.value)
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
    narrow = Gaussian(bandwidth=0.05)
    short, long = (plan(job(narrow, m, 5), PAIR) for m in (5_000, 1_000_000))
    assert "nystroem" not in short.reason
    assert 'Features(approximate="nystroem")' in long.reason
    assert re.search(r"time    about \d+ (minutes|hours)", str(long))


def test_a_plan_reads_well():
    text = str(plan(job(GAUSSIAN, 500), PAIR))
    assert text.splitlines() == [
        "engine  dense",
        "why     500 observations: whole kernel matrices are the quickest way.",
        "memory  about 8.03 MB, of 8 GB that may be used",
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


def test_planner_and_engine_agree_about_what_compiled_code_can_do():
    """Each kernel is either made by compiled code or given in blocks; both count alike."""
    rng = np.random.default_rng(0)
    plane = Numeric("x", rng.random((2_500, 2)))
    places = Numeric("x", np.column_stack([rng.uniform(-60, 60, 2_500), rng.uniform(0, 9, 2_500)]))
    for kernel, n_given in [
        (GAUSSIAN.fit(plane), 0),
        (Distance().fit(plane), 0),
        (Distance(1.5).fit(plane), 1),
        (Haversine(bandwidth=900.0).fit(places), 1),
        ((GAUSSIAN * LAPLACE).fit(plane), 0),
        (fitted(GAUSSIAN, 2_500, 60), 1),
        (fitted(Delta(), 2_500), 0),
    ]:
        kernels, wanted = {"x": kernel}, Wanted(pairs=(("x", "x"),))
        assert len(Outline.of(kernels, wanted).given) == n_given
        assert Sweeps.prepare(kernels, wanted).n_given == n_given


def test_a_kernel_that_does_not_know_its_cost_is_tried_out():
    rows = read_variable(np.arange(200.0), "x")

    def slow(a, b):
        end = time.process_time() + 1e-5 * len(a) * len(b)
        while time.process_time() < end:
            pass
        return a @ b.T

    wanted = Wanted(pairs=(("x", "x"),))
    cost = Dense().cost({"x": FunctionKernel(slow).fit(rows)}, wanted)
    assert 0.5 * 1e-5 * 200**2 < cost.seconds < 4 * 1e-5 * 200**2


def read_memory(monkeypatch, folder, files):
    """Ask for the available memory of a machine described by files."""
    monkeypatch.undo()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(system, "PROC", folder / "proc")
    monkeypatch.setattr(system, "CGROUPS", folder / "cgroup")
    return system.available_memory()


MEMINFO = {"proc/meminfo": "MemTotal:       32000000 kB\nMemAvailable:   20000000 kB\n"}
INSIDE = {"proc/self/cgroup": "0::/jobs/mine\n"}


def test_the_memory_of_the_machine_is_what_linux_calls_available(monkeypatch, tmp_path):
    assert read_memory(monkeypatch, tmp_path, MEMINFO) == 20_000_000 * 1024


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # What is left counts, not the limit; cached files do not count as taken.
        ({"memory.max": "4000000000\n", "memory.current": "1000000000\n"}, 3 * GB),
        (
            {
                "memory.max": "4000000000\n",
                "memory.current": "3000000000\n",
                "memory.stat": "anon 5\ninactive_file 500000000\n",
            },
            1_500_000_000,
        ),
        ({"memory.max": "max\n", "memory.current": "1000\n"}, 20_000_000 * 1024),
        # The group itself has no limit, but one that it lies in has.
        (
            {
                "jobs/mine/memory.max": "max\n",
                "jobs/mine/memory.current": "5\n",
                "jobs/memory.max": "2000000000\n",
                "jobs/memory.current": "500000000\n",
            },
            1_500_000_000,
        ),
    ],
)
def test_what_a_container_has_left_counts(monkeypatch, tmp_path, files, expected):
    cgroup = {f"cgroup/{name}": text for name, text in files.items()}
    assert read_memory(monkeypatch, tmp_path, {**MEMINFO, **INSIDE, **cgroup}) == expected


def test_the_first_version_of_control_groups_counts_too(monkeypatch, tmp_path):
    files = {
        "proc/self/cgroup": "4:memory:/docker/abc\n1:cpu:/\n",
        "cgroup/memory/docker/abc/memory.limit_in_bytes": "3000000000\n",
        "cgroup/memory/docker/abc/memory.usage_in_bytes": "1000000000\n",
    }
    assert read_memory(monkeypatch, tmp_path, {**MEMINFO, **files}) == 2 * GB


@pytest.mark.skipif(sys.platform != "linux", reason="address spaces are limited on Linux")
def test_the_limit_of_the_address_space_counts():
    program = (
        "import resource\n"
        "from reldep.system import available_memory\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({2 * GB}, {2 * GB}))\n"
        "print(available_memory())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert 0 < int(answer.stdout) < 2 * GB


def test_elsewhere_the_physical_memory_is_asked_for(monkeypatch, tmp_path):
    assert read_memory(monkeypatch, tmp_path, {"proc/meminfo": "MemTotal: 5 kB\n"}) > 10**8
    assert read_memory(monkeypatch, tmp_path / "nowhere", {}) > 10**8
    monkeypatch.setattr(os, "sysconf_names", {})
    assert system.available_memory() == system.MEMORY_UNKNOWN


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
    assert system.seconds_in_words(seconds) == words


def test_costs_grow_as_they_should():
    small, large = job(GAUSSIAN, 8_000), job(GAUSSIAN, 80_000)
    costs = [Tiled(threads=1).cost(kernels, PAIR) for kernels in (small, large)]
    seconds = [cost.seconds - COMPILED_START for cost in costs]
    assert seconds[1] == pytest.approx(100 * seconds[0])
    assert costs[1].memory == pytest.approx(10 * costs[0].memory)
    parallel = Tiled(threads=10).cost(large, PAIR).seconds - COMPILED_START
    assert seconds[1] == pytest.approx(10 * parallel)


def test_blocks_that_are_kept_are_filled_once():
    kernels = job(LAPLACE, 3_000, 400)
    keeps, forgets = (
        Tiled(threads=1, memory=memory).cost(kernels, PAIR) for memory in (None, "100MB")
    )
    assert keeps.seconds - COMPILED_START < 0.6 * (forgets.seconds - COMPILED_START)
    assert keeps.memory > 100e6 > forgets.memory
    once = Wanted(pairs=(), means=PAIR.pairs)
    assert Tiled(threads=1).cost(kernels, once).memory < 100e6


def test_mixed_features_cost_tiles_and_features_together():
    kernels = job((GAUSSIAN, Linear(), Delta()), 5_000)
    apart = Wanted(pairs=(("x", "x"), ("y", "z")))
    alone = Features().cost(kernels, Wanted(pairs=(("y", "z"),)))
    both = Features().cost(kernels, apart)
    tiles = Tiled().cost(kernels, Wanted(pairs=(("x", "x"),)))
    assert both.seconds == pytest.approx(alone.seconds + tiles.seconds)
    assert Features("fourier").cost(kernels, apart).memory > alone.memory
