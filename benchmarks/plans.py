"""What the planner expects, beside what happens: twelve jobs and more, each in this process."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

SOURCES = ("x", "y", "z")
PAIRS = [("x", "y"), ("x", "z")]

# Memory of less than this is not worth a forecast.
LEAST_MEGABYTES = 5.0


def samples(small):
    """Give the blocks and the kernels of the jobs, `small` the rows of a middling one."""
    from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear

    rng = np.random.default_rng(0)
    tall = rng.normal(size=(small, 10))
    line = rng.normal(size=(10 * small, 1))
    return {
        "dense, 1,500 rows": (rng.normal(size=(1_500, 2)), Gaussian(1.0)),
        "dense, 1,500 rows, 200 columns": (rng.normal(size=(1_500, 200)), Gaussian(20.0)),
        "10 columns": (tall, Gaussian(4.0)),
        "10 columns, Laplace": (tall[: small // 2], Laplace(4.0)),
        "60 columns": (rng.normal(size=(3_000, 60)), Gaussian(11.0)),
        "exponent 1.5": (tall[:6_000, :2], Distance(1.5)),
        "one column": (line, Gaussian(1.0)),
        "two columns": (rng.normal(size=(2 * small, 2)), Gaussian(1.7)),
        "one column, Laplace": (line, Laplace(1.0)),
        "linear": (rng.normal(size=(10 * small, 5)), Linear()),
        "labels": (line[:, 0] > 0, Delta()),
        **slow_samples(rng),
    }


def slow_samples(rng):
    """Give blocks of objects whose kernels take microseconds a value."""
    from reldep.kernels import EditDistance, TimeSeries, WeisfeilerLehman

    words = ["".join(rng.choice(list("acgt"), 30)) for _ in range(700)]
    series = [rng.normal(size=(30, 1)) for _ in range(300)]
    graphs = [(range(12), rng.integers(0, 12, size=(20, 2)).tolist()) for _ in range(300)]
    return {
        "edit distances": (words, EditDistance(10.0)),
        "time series": (series, TimeSeries(5.0)),
        "graphs": (graphs, WeisfeilerLehman()),
    }


def forecast(block, kernel):
    """Give expected over measured core seconds and bytes of one job, and its engine."""
    from reldep.data.objects import read_variable
    from reldep.engine import plan
    from reldep.engine.influence import make_job
    from reldep.engine.sweeps.tiled import COMPILED_START
    from reldep.system import available_cores

    fitted = {name: kernel.fit(read_variable(block, name)) for name in SOURCES}
    job = make_job(fitted, PAIRS)
    expected = plan(job.kernels, job.wanted)
    engine = expected.engine
    tracemalloc.start()
    engine.terms(job.kernels, job.wanted)  # compiles what is needed
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    engine.terms(job.kernels, job.wanted)
    held = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    start = time.process_time()
    engine.terms(job.kernels, job.wanted)
    spent = time.process_time() - start
    threads = 1 if engine.name == "dense" else available_cores()
    loading = 0.0 if engine.name in ("dense", "features") else COMPILED_START
    seconds = (expected.seconds - loading) * threads
    return seconds / spent, expected.memory / held, held / 1e6, engine.name


def plans(quick):
    """Set what the planner expects beside what happens."""
    rows, times, memories = [], [], []
    for name, (block, kernel) in samples(4_000 if quick else 20_000).items():
        time_ratio, memory_ratio, held, engine = forecast(block, kernel)
        times.append(time_ratio)
        if held > LEAST_MEGABYTES:
            memories.append(memory_ratio)
        rows.append([name, engine, time_ratio, memory_ratio, held])
    return {
        "table": {
            "head": ["job", "engine", "time", "memory", "memory held (MB)"],
            "rows": rows,
        },
        "jobs": len(times),
        "expected time within a factor of 2": sum(0.5 <= ratio <= 2.0 for ratio in times),
        f"expected memory within a factor of 1.5, of {len(memories)} that hold more than 5 MB": sum(
            1 / 1.5 <= ratio <= 1.5 for ratio in memories
        ),
    }
