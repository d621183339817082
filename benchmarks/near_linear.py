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
    "one column, all defaults": 1_000_000,
}
DEFAULTS = ", all defaults"
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
    """Run one test in this process: seconds, core seconds, megabytes, z, and who did it."""
    import reldep

    defaults = shape.endswith(DEFAULTS)
    blocks, kernel = sample(shape.removesuffix(DEFAULTS), m)
    few, _ = sample(shape.removesuffix(DEFAULTS), 2_500)
    options = {} if defaults else {**EXPLICIT, "kernel": kernel}
    for name in ("tiled", "lowrank"):
        reldep.compare(*few, engine=name, **options)
    before = peak_megabytes()
    start = time.perf_counter()
    spent, answer = core_seconds(lambda: reldep.compare(*blocks, engine=engine, **options))
    return {
        "wall": time.perf_counter() - start,
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
    sizes = (2_500, 5_000) if quick else (10_000, 100_000, 1_000_000)
    rows, figures = [], {}
    for shape, largest in SHAPES.items():
        some = [m for m in sizes if quick or m <= largest]
        found = [in_process(shape, m) for m in some]
        tiled = in_process(shape, sizes[0], "tiled")
        exponent = np.log(found[-1]["seconds"] / found[-2]["seconds"]) / np.log(some[-1] / some[-2])
        times = [f"{figure['wall']:.2g} ({figure['seconds']:.2g})" for figure in found]
        times += ["–"] * (len(sizes) - len(some))
        rows.append(
            [
                shape,
                *times,
                found[-1]["engine"],
                round(found[-1]["megabytes"]),
                float(exponent),
                tiled["seconds"] / found[0]["seconds"],
                abs(found[0]["z"] / tiled["z"] - 1),
            ]
        )
        if shape in ("one column", "spirals"):
            figures[f"{shape}, {some[-1]:,} rows: seconds"] = found[-1]["wall"]
            figures[f"{shape}, {some[-1]:,} rows: extra MB"] = found[-1]["megabytes"]
    # Where tiles take over, every pair is looked at.
    worst = max(row[-3] for row in rows if row[-5] != "tiled")
    figures["largest exponent of time"] = worst
    head = [
        "shape",
        *(f"{m:,} rows: s (core s)" for m in sizes),
        "engine",
        "extra MB at the largest",
        "exponent between the last two",
        f"times less than tiles at {sizes[0]:,}",
        "relative difference of z to tiles",
    ]
    return {"table": {"head": head, "rows": rows}, **figures}


def hundred_thousand(quick):
    """Set tiles, measured and not extrapolated, beside the near-linear way."""
    m = 6_000 if quick else 100_000
    figures = {"m": m}
    for shape in ("one column", "spirals"):
        near, tiled = (in_process(shape, m, engine) for engine in ("auto", "tiled"))
        figures[f"{shape}, near-linear (core seconds)"] = near["seconds"]
        figures[f"{shape}, tiles (core seconds)"] = tiled["seconds"]
        figures[f"{shape}, times less"] = tiled["seconds"] / near["seconds"]
        figures[f"{shape}, relative difference of z"] = abs(near["z"] / tiled["z"] - 1)
    return figures


def columns_beside_others(quick):
    """Set our one-column tests beside the fast algorithms of others, in one process."""
    import dcor
    from hyppo.independence import Dcorr

    import reldep

    m = 10_000 if quick else 100_000
    blocks, kernel = sample("one column", m)
    few, _ = sample("one column", 2_500)
    x, y, z = (block[:, 0] for block in blocks)
    theirs, two = np.inf, None
    for method in ("avl", "mergesort"):

        def fast(a, b, chosen=method):
            return dcor.u_distance_covariance_sqr(a, b, method=chosen)

        fast(few[0][:, 0], few[1][:, 0])
        for _ in range(3):
            spent, two = core_seconds(lambda f=fast: (f(x, y), f(x, z)))
            theirs = min(theirs, spent)
    distance = {**EXPLICIT, "kernel": "distance"}
    options = [distance, {"measure": "dcor"}, {**EXPLICIT, "kernel": kernel}, {}]
    times = []
    for chosen in options:
        reldep.compare(*few, engine="lowrank", **chosen)
        runs = [core_seconds(lambda o=chosen: reldep.compare(x, y, z, **o)) for _ in range(3)]
        times.append(min(spent for spent, _ in runs))
    estimate = reldep.compare(x, y, z, **distance).estimate
    peer = Dcorr()
    peer.is_fast = True
    peer.statistic(few[0], few[1])
    hyppo, _ = core_seconds(lambda: peer.statistic(x[:, None], y[:, None]))
    return {
        "m": m,
        "dcor, two fast statistics (core s)": theirs,
        "hyppo, one fast statistic, its first call apart (core s)": hyppo,
        "reldep, distance covariances: difference, error, z (core s)": times[0],
        "reldep, distance correlations with all defaults (core s)": times[1],
        "reldep, Gaussian kernels (core s)": times[2],
        "reldep, all defaults (core s)": times[3],
        "times less than dcor": theirs / times[0],
        "relative difference of the estimates": float(abs(1 - (two[0] - two[1]) / estimate)),
    }


def shuffles(quick):
    """Shuffle features: 1,000 permutations of an independence test."""
    import reldep
    from reldep.kernels import Gaussian

    m = 10_000 if quick else 100_000
    blocks, _ = sample("one column", m)
    figures = {"m": m}
    for name, kernel in (("Gaussian", Gaussian(1.0)), ("all defaults", "auto")):
        reldep.dependence(
            *(block[:2_500] for block in blocks[:2]), kernel=kernel, test="permutation",
            n_permutations=20,
        )  # fmt: skip
        before = peak_megabytes()
        n = 100 if quick else 1_000
        spent, _ = core_seconds(
            lambda k=kernel, n=n: reldep.dependence(
                *blocks[:2], kernel=k, test="permutation", n_permutations=n
            )
        )
        figures[f"{name}, {n:,} permutations (core s)"] = spent
        figures[f"{name}, extra MB"] = peak_megabytes() - before
    return figures


NEAR_LINEAR_JOBS = {
    job.__name__: job for job in (near_linear, hundred_thousand, columns_beside_others, shuffles)
}
