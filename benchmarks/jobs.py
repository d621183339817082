"""What is measured: each job runs in a process of its own and gives plain numbers."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np


def spirals(m, seed=0, gamma3=0.6):
    from reldep.datasets import make_spirals

    data = make_spirals(m, gamma3=gamma3, rng=seed)
    return data["source"], data["first"], data["second"]


def seconds(work, repetitions=3):
    """Give the least of a few timings: the others were disturbed."""
    best = np.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm_up():
    """Load compiled code before anything is measured."""
    import reldep
    from reldep.kernels import Gaussian

    reldep.compare(*spirals(2_500), engine="tiled")
    reldep.compare(*spirals(2_500), engine="tiled", kernel=Gaussian(2.0))


def rivals(quick):
    """Time the whole test on raw data side by side with other programs, in one process."""
    import dcor
    import straightforward
    from hyppo.independence import Hsic

    import reldep

    m = 3_000 if quick else 10_000
    x, y, z = spirals(m)
    warm_up()
    dcor.u_distance_covariance_sqr(x[:50], y[:50])
    Hsic().statistic(x[:50], y[:50])
    before = peak_megabytes()
    # The others run once, so ours is a typical run and not the best of several.
    ours = float(np.median([seconds(lambda: reldep.compare(x, y, z), 1) for _ in range(5)]))
    memory = peak_megabytes() - before
    plain = seconds(lambda: straightforward.compare(x, y, z), 1)
    hyppo = seconds(lambda: [Hsic().statistic(x, target) for target in (y, z)], 1)
    distances = seconds(lambda: [dcor.u_distance_covariance_sqr(x, target) for target in (y, z)], 1)
    z_ours, (z_plain, _) = reldep.compare(x, y, z).statistic, straightforward.compare(x, y, z)
    return {
        "m": m,
        "reldep, whole test (s)": ours,
        "straightforward NumPy/SciPy, whole test (s)": plain,
        "hyppo, two statistics (s)": hyppo,
        "dcor, two statistics (s)": distances,
        "times faster than straightforward (want 30)": plain / ours,
        "times faster than hyppo (want 100)": hyppo / ours,
        "times faster than dcor": distances / ours,
        "peak extra memory (MB, want 100)": memory,
        "relative difference of z to straightforward": abs(z_ours / z_plain - 1),
    }


def limit(quick):
    """Set the test beside the bare evaluation of its three triangles."""
    from limit import fill_triangles

    import reldep
    from reldep.kernels import Gaussian

    m = 5_000 if quick else 10_000
    blocks = spirals(m)
    warm_up()
    widths = (2.0, 4.0, 4.0)
    given = tuple(Gaussian(width) for width in widths)
    tiles = {"engine": "tiled", "measure": "hsic", "variance": "fixed-kernel"}
    fill_triangles(blocks, widths)
    times = [
        (
            seconds(lambda: fill_triangles(blocks, widths), 1),
            seconds(lambda: reldep.compare(*blocks, kernel=given, **tiles), 1),
            seconds(lambda: reldep.compare(*blocks, kernel="gaussian", **tiles), 1),
        )
        for _ in range(5)
    ]
    bare, test, whole = np.min(times, axis=0)
    return {
        "m": m,
        "three triangles, nothing else (s)": bare,
        "ns per value and core": 1e9 * bare * 2 / (3 * m * (m - 1) / 2),
        "test, bandwidths given (s)": test,
        "test over bare evaluation (want 4)": test / bare,
        "exact medians over test (want 1)": (whole - test) / test,
    }


def large(quick):
    """Run the exact test at 100,000 rows."""
    import reldep

    m = 20_000 if quick else 100_000
    data = spirals(m)
    warm_up()
    before = peak_megabytes()
    start = time.perf_counter()
    result = reldep.compare(*data)
    return {
        "m": m,
        "seconds (want 120)": time.perf_counter() - start,
        "peak memory of the process (MB, want 500)": peak_megabytes(),
        "of it beyond the start (MB)": peak_megabytes() - before,
        "bandwidth rule": result.provenance.kernels["source"]["rule"],
    }


def growth(quick):
    """Fit the exponents of time and memory in the number of rows."""
    sizes = (5_000, 10_000, 20_000) if quick else (10_000, 20_000, 40_000, 80_000)
    code = (
        "import sys; sys.path.insert(0, {folder!r}); import jobs, json;"
        "print(json.dumps(jobs.one_size({m})))"
    )
    folder = str(Path(__file__).parent)
    times, memory, resident = [], [], []
    for m in sizes:
        command = [sys.executable, "-c", code.format(folder=folder, m=m)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        spent, held, beyond = json.loads(printed)
        times.append(spent)
        memory.append(held)
        resident.append(beyond)
    return {
        "sizes": list(sizes),
        "seconds": times,
        "arrays held (MB)": memory,
        "peak of the process beyond the warm-up (MB)": resident,
        "exponent of time (want 2.1)": float(np.polyfit(np.log(sizes), np.log(times), 1)[0]),
        "exponent of arrays held (want 1.1)": float(
            np.polyfit(np.log(sizes), np.log(memory), 1)[0]
        ),
    }


def one_size(m):
    """Give seconds of one test with given bandwidths, and its memory in two ways.

    Arrays that Python makes are traced, without the small scratch of compiled code. The peak of
    the process beyond the warm-up has everything, but starts from memory that is used again.
    """
    import tracemalloc

    import reldep
    from reldep.kernels import Gaussian

    data = spirals(m)
    kernel = (Gaussian(2.0), Gaussian(4.0), Gaussian(4.0))
    warm_up()
    before = peak_megabytes()
    spent = seconds(lambda: reldep.compare(*data, kernel=kernel), 2)
    resident = peak_megabytes() - before
    tracemalloc.start()
    reldep.compare(*data, kernel=kernel)
    return spent, tracemalloc.get_traced_memory()[1] / 1e6, resident


def million(quick):
    """Run linear and delta kernels exactly at a million rows, in linear memory."""
    import reldep

    m = 100_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    x = rng.normal(size=(m, 10))
    y, z = x + rng.normal(size=(m, 10)), x + 2 * rng.normal(size=(m, 10))
    labels = np.digitize(x[:, 0], [-1, 0, 1]).astype(str)
    before = peak_megabytes()
    linear = seconds(lambda: reldep.compare(x, y, z, kernel="linear"), 1)
    delta = seconds(lambda: reldep.compare(labels, y, z, kernel=("delta", "linear", "linear")), 1)
    return {
        "m": m,
        "linear kernels, 10 columns (s, want 10)": linear,
        "labels and linear kernels (s, want 10)": delta,
        "extra memory (MB)": peak_megabytes() - before,
        "data (MB)": 3 * x.nbytes / 1e6,
    }


def fourier(quick):
    """Approximate Gaussian kernels by random features at a million rows."""
    import reldep
    from reldep.engine import Features

    m = 100_000 if quick else 1_000_000
    data = spirals(m)
    before = peak_megabytes()
    engine = Features(approximate="fourier")
    start = time.perf_counter()
    result = reldep.compare(*data, engine=engine)
    spent = time.perf_counter() - start
    notes = [str(note) for note in result.warnings if "pproximat" in str(note)]
    return {
        "m": m,
        "seconds (want 60)": spent,
        "extra memory (MB)": peak_megabytes() - before,
        "n_components": engine.n_components,
        "what the result says": " ".join(notes),
    }


def wide(quick):
    """Compare few rows of many columns, as 53 tumours with 15,702 genes."""
    import reldep

    rng = np.random.default_rng(0)
    columns = 2_000 if quick else 15_702
    genes = rng.normal(size=(53, columns))
    segments = rng.normal(size=(53, 1_229))
    place = np.array(["a", "b", "c"])[rng.integers(0, 3, 53)]
    genes[place == "a"] += 0.2
    return {
        "columns": columns,
        "seconds": seconds(lambda: reldep.compare(place, genes, segments)),
    }


def sparse(quick):
    """Sum 45 pairs of ten sparse blocks, beside ten Gram matrices by scikit-learn."""
    import scipy.sparse as sp
    from sklearn.metrics.pairwise import rbf_kernel

    import reldep

    m = 1_000 if quick else 3_000
    rng = np.random.default_rng(0)
    weights = 1.0 / np.arange(1, 20_001)
    weights /= weights.sum()
    blocks = {}
    for i in range(10):
        words = rng.choice(20_000, size=(m, 150), p=weights)
        rows = np.repeat(np.arange(m), 150)
        counts = sp.csr_array((np.ones(m * 150), (rows, words.ravel())), shape=(m, 20_000))
        norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        blocks[f"language {i}"] = sp.csr_array(sp.diags_array(1 / norms) @ counts)
    names = list(blocks)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    warm_up()
    gram = seconds(lambda: [rbf_kernel(block) for block in blocks.values()], 1)
    ours = seconds(lambda: reldep.influence(blocks, pairs), 1)
    return {
        "m": m,
        "ten Gram matrices, scikit-learn (s)": gram,
        "45 pairs of ten variables, medians included (s)": ours,
        "times the Gram matrices (want 3)": ours / gram,
    }


def cold(quick):  # noqa: ARG001
    """Time the first comparison in a new process, and the bare import."""
    first = (
        "import time; t = time.perf_counter();"
        "import numpy as np, reldep; rng = np.random.default_rng(0); x = rng.normal(size=(500, 2));"
        "reldep.compare(x, x + rng.normal(size=x.shape), x**2 + rng.normal(size=x.shape));"
        "print(time.perf_counter() - t)"
    )
    bare = "import time; t = time.perf_counter(); import reldep; print(time.perf_counter() - t)"

    def printed(code):
        command = [sys.executable, "-c", code]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    return {
        "first comparison of 500 rows, import included (s, want 1)": min(
            printed(first) for _ in range(3)
        ),
        "import reldep (s, want 0.3)": min(printed(bare) for _ in range(3)),
    }


def authors(quick):
    """Time the program of the paper's authors in Octave, for kernels already computed.

    It is theirs and under the GPL: whoever has it names its folder in RELDEP_AUTHORS.
    """
    import straightforward
    from scipy.io import savemat

    import reldep
    from reldep.kernels import Precomputed

    folder, octave = os.environ.get("RELDEP_AUTHORS"), shutil.which("octave-cli")
    if folder is None or octave is None:
        return {"skipped": "needs octave-cli, and the program's folder in RELDEP_AUTHORS"}
    m = 500 if quick else 3_000
    matrices = [straightforward.gaussian_matrix(rows) for rows in spirals(m)]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "kernels.mat"
        savemat(path, dict(zip("KLM", matrices, strict=True)))
        code = (
            f"addpath('{folder}'); load('{path}'); tic; p = relative_dependency_test(K, L, M);"
            "printf('%.17g %.17g\\n', toc, p);"
        )
        command = [octave, "--no-gui", "--quiet", "--eval", code]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent, pvalue = map(float, found.split()[-2:])
    K, L, M = map(Precomputed, matrices)
    ours = seconds(lambda: reldep.compare(K, L, M))
    return {
        "m": m,
        "authors' program, kernels given (s)": spent,
        "reldep, kernels given (s)": ours,
        "times faster": spent / ours,
        "difference of the p-values": abs(reldep.compare(K, L, M).pvalue - pvalue),
    }


JOBS = {
    job.__name__: job
    for job in (rivals, limit, large, growth, million, fourier, wide, sparse, cold, authors)
}


def run(name, quick, further):
    """Run one job, of these or of further ones, without the cautions that synthetic data earn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**JOBS, **further}[name](quick)
