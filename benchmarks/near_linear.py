"""Jobs of the near-linear engines: growth to a million rows, peers, agreement, plans.

Times are core seconds, the sum over all threads: they hold on a machine that has other work.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from jobs import peak_megabytes, spirals

# The shapes that people have, with the sizes up to which they are run.
SHAPES = {
    "one column": 1_000_000,
    "spirals": 1_000_000,
    "two columns": 100_000,
    "three columns": 100_000,
    "counts": 1_000_000,
    "one column, Laplace": 1_000_000,
    "one column, distance": 1_000_000,
}
EXPLICIT = {"measure": "hsic", "variance": "fixed-kernel"}


def core_seconds(work):
    """Give the processor time of all threads, and what the work returns."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def sample(shape, m, seed=0):
    """Draw three blocks of a shape, and choose kernels for them."""
    from reldep.kernels import Distance, Gaussian, Laplace

    rng = np.random.default_rng(seed)
    if shape == "spirals":
        return spirals(m, seed), (Gaussian(2.0), Gaussian(4.0), Gaussian(4.0))
    if shape == "counts":
        x = rng.poisson(5, m).astype(float)
        return (x, rng.poisson(1 + x), rng.poisson(3 + x)), Gaussian(3.0)
    columns = {"two columns": 2, "three columns": 3}.get(shape, 1)
    x = rng.normal(size=(m, columns))
    blocks = (x, x + rng.normal(size=x.shape), x + 1.3 * rng.normal(size=x.shape))
    # About the median of the distances.
    width = {1: 0.95, 2: 1.66, 3: 2.18}[columns]
    kernel = {"one column, Laplace": Laplace(width), "one column, distance": Distance()}
    widths = (width, 1.4 * width, 1.64 * width)
    return blocks, kernel.get(shape, tuple(Gaussian(w) for w in widths))


def one_size(shape, m, engine):
    """Run one test in this process: core seconds, megabytes, z, and who did it."""
    import reldep

    blocks, kernel = sample(shape, m)
    few, _ = sample(shape, 2_500)
    for name in ("tiled", "lowrank"):
        reldep.compare(*few, kernel=kernel, engine=name, **EXPLICIT)
    before = peak_megabytes()
    spent, answer = core_seconds(
        lambda: reldep.compare(*blocks, kernel=kernel, engine=engine, **EXPLICIT)
    )
    return {
        "seconds": spent,
        "megabytes": peak_megabytes() - before,
        "z": float(answer.statistic),
        "engine": answer.influence.engine,
    }


def in_process(shape, m, engine="auto"):
    """Run one size in a process of its own."""
    folder = str(Path(__file__).parent)
    code = (
        f"import sys, warnings; sys.path.insert(0, {folder!r}); warnings.simplefilter('ignore');"
        "import near_linear, json;"
        f"print(json.dumps(near_linear.one_size({shape!r}, {m}, {engine!r})))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def near_linear(quick):
    """Measure growth to a million rows, and agreement with tiles at 10,000."""
    figures = {}
    for shape, largest in SHAPES.items():
        sizes = [m for m in (10_000, 100_000, 1_000_000) if m <= (20_000 if quick else largest)]
        found = [in_process(shape, m) for m in sizes]
        tiled = in_process(shape, 10_000, "tiled")
        for m, figure in zip(sizes, found, strict=True):
            figures[f"{shape}, {m:,} rows: core seconds, extra MB, engine"] = (
                f"{figure['seconds']:.3g}, {figure['megabytes']:.0f}, {figure['engine']}"
            )
        figures[f"{shape}, 10,000 rows: times less than tiles"] = (
            tiled["seconds"] / found[0]["seconds"]
        )
        figures[f"{shape}, 10,000 rows: relative difference of z to tiles"] = abs(
            found[0]["z"] / tiled["z"] - 1
        )
        if len(sizes) > 1:
            slope = np.polyfit(np.log(sizes[-2:]), np.log([f["seconds"] for f in found[-2:]]), 1)
            figures[f"{shape}: exponent of time (want 1.15)"] = float(slope[0])
    return figures


def hundred_thousand(quick):
    """Set tiles, measured and not extrapolated, beside the near-linear way."""
    m = 20_000 if quick else 100_000
    figures = {"m": m}
    for shape in ("one column", "spirals"):
        near, tiled = (in_process(shape, m, engine) for engine in ("auto", "tiled"))
        figures[f"{shape}, near-linear (core seconds)"] = near["seconds"]
        figures[f"{shape}, tiles (core seconds)"] = tiled["seconds"]
        figures[f"{shape}, times less (want 20)"] = tiled["seconds"] / near["seconds"]
        figures[f"{shape}, relative difference of z"] = abs(near["z"] / tiled["z"] - 1)
    return figures


def columns_beside_others(quick):
    """Set our one-column tests beside the fast algorithms of others, in one process."""
    import dcor
    from sklearn.metrics.pairwise import rbf_kernel

    import reldep
    from reldep.kernels import Gaussian

    m = 20_000 if quick else 100_000
    blocks, kernel = sample("one column", m)
    few, _ = sample("one column", 2_500)
    x, y, z = (block[:, 0] for block in blocks)

    def fast(a, b):
        return dcor.u_distance_covariance_sqr(a, b, method="avl")

    fast(few[0][:, 0], few[1][:, 0])
    for measure, chosen in (("dcor", "distance"), ("hsic", Gaussian(1.0))):
        options = {**EXPLICIT, "measure": measure, "kernel": chosen}
        reldep.compare(*few, engine="lowrank", **options)
    theirs, two = core_seconds(lambda: (fast(x, y), fast(x, z)))
    distance = {**EXPLICIT, "kernel": "distance"}
    ours, answer = core_seconds(lambda: reldep.compare(x, y, z, **distance))
    gaussian, _ = core_seconds(lambda: reldep.compare(x, y, z, kernel=kernel, **EXPLICIT))
    rows = 5_000
    gram, _ = core_seconds(lambda: [rbf_kernel(block[:rows]) for block in blocks])
    difference = abs((answer.estimate - (two[0] - two[1])) / answer.estimate)
    return {
        "m": m,
        "dcor, two fast statistics (core seconds)": theirs,
        "reldep, difference of distance covariances with its z (core seconds)": ours,
        "times less (want 5)": theirs / ours,
        "relative difference of the estimates": float(difference),
        "reldep, Gaussian kernels (core seconds)": gaussian,
        f"scikit-learn, three Gram matrices of {rows:,} rows (core seconds)": gram,
    }


def plans(quick):
    """Set what the planner expects beside what happens, over twelve jobs."""
    from reldep.data.objects import read_variable
    from reldep.engine import plan
    from reldep.engine.influence import make_job
    from reldep.engine.tiled import COMPILED_START
    from reldep.kernels import Delta, Distance, EditDistance, Gaussian, Laplace, Linear
    from reldep.kernels.machine import available_cores

    small = 4_000 if quick else 20_000
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("acgt"), 30)) for _ in range(1_500)]
    wide = rng.normal(size=(3_000, 60))
    tall = rng.normal(size=(small, 10))
    jobs = {
        "dense, 1,500 rows": (rng.normal(size=(1_500, 2)), Gaussian(1.0)),
        "dense, 1,500 rows, 200 columns": (rng.normal(size=(1_500, 200)), Gaussian(20.0)),
        "tiles, 10 columns": (tall, Gaussian(4.0)),
        "tiles, 10 columns, Laplace": (tall[: small // 2], Laplace(4.0)),
        "tiles, 60 columns": (wide, Gaussian(11.0)),
        "tiles, exponent 1.5": (tall[:6_000, :2], Distance(1.5)),
        "one column": (rng.normal(size=(10 * small, 1)), Gaussian(1.0)),
        "two columns": (rng.normal(size=(2 * small, 2)), Gaussian(1.7)),
        "one column, Laplace": (rng.normal(size=(10 * small, 1)), Laplace(1.0)),
        "linear": (rng.normal(size=(10 * small, 5)), Linear()),
        "labels": ((rng.normal(size=10 * small) > 0), Delta()),
        "edit distances": (words, EditDistance(10.0)),
    }
    figures, ratios = {}, []
    for name, (block, kernel) in jobs.items():
        fitted = {n: kernel.fit(read_variable(block, n)) for n in "xyz"}
        job = make_job(fitted, [("x", "y"), ("x", "z")])
        expected = plan(job.kernels, job.wanted)
        expected.engine.terms(job.kernels, job.wanted)  # compiles what is needed
        spent, _ = core_seconds(lambda e=expected.engine, j=job: e.terms(j.kernels, j.wanted))
        threads = 1 if expected.engine.name == "dense" else available_cores()
        start = 0.0 if expected.engine.name in ("dense", "features") else COMPILED_START
        ratio = (expected.seconds - start) * threads / spent
        ratios.append(ratio)
        figures[f"{name}: {expected.engine.name}, expected over measured"] = ratio
    inside = sum(0.5 <= ratio <= 2.0 for ratio in ratios)
    return {**figures, "within a factor of 2 (of 12)": inside}


NEAR_LINEAR_JOBS = {
    job.__name__: job for job in (near_linear, hundred_thousand, columns_beside_others, plans)
}
