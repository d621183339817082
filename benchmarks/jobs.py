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


PAPER = {"kernel": "gaussian", "measure": "hsic", "variance": "fixed-kernel"}


def rivals(quick):
    """Time the whole test on raw data side by side with other programs, in one process."""
    import dcor
    import straightforward
    from hyppo.independence import Hsic

    import reldep

    m = 2_500 if quick else 10_000
    x, y, z = spirals(m)
    warm_up()
    for options in (PAPER, {}):
        reldep.compare(x[:2_500], y[:2_500], z[:2_500], engine="lowrank", **options)
    dcor.u_distance_covariance_sqr(x[:50], y[:50])
    Hsic().statistic(x[:50], y[:50])
    before = peak_megabytes()
    # The others run once, so ours is a typical run and not the best of several.
    ours, whole = (
        float(np.median([seconds(lambda o=o: reldep.compare(x, y, z, **o), 1) for _ in range(5)]))
        for o in (PAPER, {})
    )
    memory = peak_megabytes() - before
    start = time.perf_counter()
    z_plain, _ = straightforward.compare(x, y, z)
    plain = time.perf_counter() - start
    hyppo = seconds(lambda: [Hsic().statistic(x, target) for target in (y, z)], 1)
    distances = seconds(lambda: [dcor.u_distance_covariance_sqr(x, target) for target in (y, z)], 1)
    z_ours = reldep.compare(x, y, z, **PAPER).statistic
    return {
        "m": m,
        "reldep, the paper's test (s)": ours,
        "reldep, all defaults (s)": whole,
        "plain NumPy and SciPy, the paper's test (s)": plain,
        "hyppo, two statistics (s)": hyppo,
        "dcor, two statistics (s)": distances,
        "times faster than plain NumPy": plain / ours,
        "times faster than hyppo": hyppo / ours,
        "times faster than dcor": distances / ours,
        "peak extra memory (MB)": memory,
        "relative difference of z to plain NumPy": abs(z_ours / z_plain - 1),
    }


def limit(quick):
    """Set the tiled test beside the bare evaluation of its three triangles, in core seconds."""
    from defaults import blocks_of
    from limit import fill_triangles
    from near_linear import core_seconds

    import reldep
    from reldep.kernels import Gaussian

    m = 3_000 if quick else 16_000
    tiles = {"engine": "tiled", "measure": "hsic", "variance": "fixed-kernel"}
    rows = []
    for columns, width in ((2, 1.7), (3, 2.2), (5, 3.0), (10, 4.4), (20, 6.3)):
        blocks = blocks_of(m, columns)
        widths = (width, 1.4 * width, 1.64 * width)
        kernel = tuple(Gaussian(w) for w in widths)
        works = (
            lambda b=blocks, w=widths: fill_triangles(b, w),
            lambda b=blocks, k=kernel: reldep.compare(*b, kernel=k, **tiles),
        )
        bare, test = (min(core_seconds(work)[0] for _ in range(3)) for work in works)
        rows.append([columns, bare, 1e9 * bare / (1.5 * m * (m - 1)), test, test / bare])
    head = ["columns", "bare (core s)", "ns a value", "test (core s)", "test over bare"]
    return {"m": m, "table": {"head": head, "rows": rows}, "10 columns": rows[3][-1]}


def large(quick):
    """Run the exact test at 100,000 rows."""
    import reldep

    m = 5_000 if quick else 100_000
    data = spirals(m)
    warm_up()
    before = peak_megabytes()
    start = time.perf_counter()
    result = reldep.compare(*data)
    return {
        "m": m,
        "seconds": time.perf_counter() - start,
        "peak memory of the process (MB)": peak_megabytes(),
        "of it beyond the start (MB)": peak_megabytes() - before,
        "bandwidth rule": result.provenance.kernels["source"]["rule"],
    }


def growth(quick):
    """Fit the exponents of time and memory of tiles in the number of rows."""
    sizes = (2_500, 5_000) if quick else (10_000, 20_000, 40_000)
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
        "exponent of time": float(np.polyfit(np.log(sizes), np.log(times), 1)[0]),
        "exponent of arrays held": float(np.polyfit(np.log(sizes), np.log(memory), 1)[0]),
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
    spent = seconds(lambda: reldep.compare(*data, kernel=kernel, engine="tiled"), 2)
    resident = peak_megabytes() - before
    tracemalloc.start()
    reldep.compare(*data, kernel=kernel, engine="tiled")
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
        "linear kernels, 10 columns (s)": linear,
        "labels and linear kernels (s)": delta,
        "extra memory (MB)": peak_megabytes() - before,
        "data (MB)": 3 * x.nbytes / 1e6,
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
        "times the Gram matrices": ours / gram,
    }


def cold(quick):  # noqa: ARG001
    """Time the first comparison in a new process, the bare import, and the command's help."""
    first = (
        "import numpy as np, reldep; rng = np.random.default_rng(0); x = rng.normal(size=(500, 2));"
        "reldep.compare(x, x + rng.normal(size=x.shape), x**2 + rng.normal(size=x.shape))"
    )

    def spent(*arguments):
        command = [sys.executable, *arguments]
        return seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    return {
        "python -c pass (s)": spent("-c", "pass"),
        "import reldep (s)": spent("-c", "import reldep"),
        "import and first comparison of 500 rows (s)": spent("-c", first),
        "reldep --help (s)": spent("-m", "reldep", "--help"),
    }


def accuracy(quick):
    """Set tiles and features beside exact arithmetic, and single beside double precision."""
    from accuracy import linear_error, single_error

    m = 3_000 if quick else 20_000
    by_sums, by_means = linear_error(m)
    worst, mean = single_error(m)
    return {
        "m": m,
        "linear kernels by tiles against exact arithmetic: HSIC": by_sums,
        "the same: mean of the conditional means": by_means,
        "single precision: largest error of a conditional mean, of the largest": worst,
        "single precision: HSIC": mean,
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
    for job in (rivals, limit, large, growth, million, wide, sparse, cold, accuracy, authors)
}


def run(name, quick, further):
    """Run one job, of these or of further ones, without the cautions that synthetic data earn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**JOBS, **further}[name](quick)
