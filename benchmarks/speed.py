"""Speed and memory: ``make benchmarks``, or ``python benchmarks/speed.py --only small cold``.

Every job runs in a process of its own. What is compared is measured in the same process, one after
the other: ratios are more reliable than seconds. Everything goes through public names.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import resource
import string
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from simulation import DOCS, RESULTS, markdown

FIGURES = RESULTS / "speed.json"
PAGE = DOCS / "benchmarks.md"
JOBS = {}


def job(title, about=""):
    """Register a function that returns rows (what, figure) or a table with a head."""

    def registered(function):
        JOBS[function.__name__] = (title, about, function)
        return function

    return registered


# ------------------------------------------------------------------------------------- measuring


def seconds(ask, repeats=1):
    """Return the least wall time of several runs and the core seconds of that run."""
    runs = []
    for _ in range(repeats):
        wall, cores = time.perf_counter(), time.process_time()
        ask()
        runs.append((time.perf_counter() - wall, time.process_time() - cores))
    return min(runs)


def forget_peak():
    """Let Linux begin anew with the peak of this process, at the memory that it has now."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory():
    """Return the largest resident memory of this process since then, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def three(m, columns, seed=0):
    """Draw a source and two targets of unlike shape."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, columns))
    return x, x + rng.normal(size=(m, columns)), np.sin(2 * x) + rng.normal(size=(m, columns))


# ------------------------------------------------------------------------------------------ jobs


@job("Small questions", "All defaults; the least of many calls, in milliseconds.")
def small(quick):
    import reldep

    rows = []
    for m, columns in ((40, 3), (200, 1), (1_000, 2)):
        data = three(m, columns)
        reldep.compare(*data)
        wall, _ = seconds(lambda data=data: reldep.compare(*data), 5 if quick else 60)
        rows.append((f"compare, {m} × {columns} (ms)", 1e3 * wall))
    x, *_ = three(300, 1)
    targets = {f"t{i}": x + np.random.default_rng(i).normal(size=x.shape) for i in range(20)}
    rows.append(
        ("rank, 20 targets, 300 rows (ms)", 1e3 * seconds(lambda: reldep.rank(x, targets), 3)[0])
    )
    return rows


def plain_numpy(source, first, second):
    """Compute z of the published test with whole matrices, as one would from the paper."""
    from scipy.spatial.distance import pdist, squareform

    def kernel(rows):
        distances = pdist(rows)
        return squareform(np.exp(-(distances**2) / (2 * np.median(distances) ** 2)))

    K, L, M = kernel(source), kernel(first), kernel(second)
    m = len(K)

    def conditional_means(K, L):
        k, l, q = K.sum(1), L.sum(1), (K * L).sum(1)  # noqa: E741
        h = (m - 2) ** 2 * q - m * k * l + (m - 2) * (q.sum() - K @ l - L @ k)
        return (h + l.sum() * k + k.sum() * l - k @ l) / (2 * (m - 1) * (m - 2) * (m - 3))

    A = np.array([conditional_means(K, L), conditional_means(K, M)])
    deviations = 4 * (A - A.mean(1, keepdims=True))
    difference = deviations[0] - deviations[1]
    return (A[0].mean() - A[1].mean()) * m / np.sqrt(difference @ difference)


@job(
    "The published test next to other programs",
    "The paper's spirals, raw data to p-value, bandwidths included; all pairs in double precision. "
    "z differs by its bandwidths: the median of the distances of random pairs, or of all pairs.",
)
def peers(quick):
    import reldep
    from reldep.datasets import make_spirals

    m = 1_500 if quick else 10_000
    data = [np.asarray(block) for block in make_spirals(m, rng=0).values()]
    reldep.paper_test(*data, engine="tiled")
    found = {}
    wall, _ = seconds(lambda: found.update(z=reldep.paper_test(*data, engine="tiled").statistic), 3)
    default, _ = seconds(lambda: reldep.compare(*data))
    numpy, _ = seconds(lambda: found.update(reference=plain_numpy(*data)))
    rows = [
        ("rows", m),
        ("reldep, the published test (s)", wall),
        ("reldep, all defaults (s)", default),
        ("plain NumPy and SciPy (s)", numpy),
        ("times faster than plain NumPy", numpy / wall),
        ("relative difference of z, other bandwidths", abs(found["z"] / found["reference"] - 1)),
    ]
    for name, ask in (("dcor", _dcor), ("hyppo", _hyppo)):
        try:
            other, _ = seconds(lambda ask=ask: ask(*data))
        except ImportError:
            continue
        rows += [
            (f"{name}, two statistics (s)", other),
            (f"times faster than {name}", other / wall),
        ]
    return rows


def _dcor(x, y, z):
    import dcor

    return dcor.u_distance_correlation_sqr(x, y), dcor.u_distance_correlation_sqr(x, z)


def _hyppo(x, y, z):
    from hyppo.independence import Hsic

    return Hsic().statistic(x, y), Hsic().statistic(x, z)


@job(
    "From 10,000 rows to a million",
    "All defaults, three variables; each cell in a process of its own with compiled code loaded.",
)
def sizes(quick):
    rows = []
    for columns in (1, 3, 10, 30):
        row, walls = [f"{columns} columns" if columns > 1 else "one column"], []
        for m in (2_000, 4_000) if quick else (10_000, 100_000, 1_000_000):
            figures = measure("one_size", quick, str(m), str(columns))
            cells = dict(figures["rows"])
            walls.append((m, cells["seconds"]))
            row.append(f"{cells['seconds']:.2g} ({cells['core seconds']:.2g})")
        (m, last), (n, before) = walls[-1], walls[-2]
        exponent = np.log(last / before) / np.log(m / n)
        rows.append([*row, cells["engine"], f"{cells['extra MB']:.0f}", f"{exponent:.2f}"])
    heads = ["4,000 rows"] if quick else ["100,000 rows", "1,000,000 rows"]
    first = "2,000 rows: s (core s)" if quick else "10,000 rows: s (core s)"
    return {
        "head": ["", first, *heads, "engine at the largest", "extra MB", "last exponent"],
        "rows": rows,
    }


@job("One size", "")
def one_size(_quick, m, columns):
    import reldep

    data = three(int(m), int(columns))
    reldep.compare(*(block[: min(len(block), 6_000)] for block in data))  # load compiled code
    forget_peak()
    found, before = {}, peak_memory()
    wall, cores = seconds(lambda: found.update(a=reldep.compare(*data)))
    return [
        ("seconds", wall),
        ("core seconds", cores),
        ("extra MB", peak_memory() - before),
        ("engine", found["a"].influence.engine),
    ]


@job(
    "Texts, graphs and series",
    "Three lists, all defaults: texts of ten words (TF-IDF), graphs of 20 nodes "
    "(Weisfeiler-Lehman), series of 20 steps (alignments); what `explain_plan` expects next to "
    "what the comparison then takes.",
)
def objects(quick):
    import reldep

    makers = {"texts": (make_texts, 1_000_000), "graphs": (make_graphs, 100_000)}
    makers["series"] = (make_series, 50_000)
    rows = []
    for what, (make, most) in makers.items():
        for m in (500,) if quick else (most // 10, most):
            kernel, lists = make(np.random.default_rng(0), m)
            plan = reldep.explain_plan(*lists, kernel=kernel)
            wall, cores = seconds(
                lambda lists=lists, kernel=kernel: reldep.compare(*lists, kernel=kernel)
            )
            rows.append([f"{m:,} {what}", plan.engine.name, plan.seconds, wall, cores])
    return {"head": ["what", "engine", "planned (s)", "taken (s)", "core s"], "rows": rows}


def make_texts(rng, m):
    """Return lists of texts that share words of their topic."""
    letters = string.ascii_lowercase
    words = np.array(["".join(word) for word in itertools.product(letters, repeat=3)][:2_000])
    topics = rng.integers(0, 2_000, (m, 1))

    def one(share):
        places = rng.integers(0, 2_000, (m, 10))
        own = (topics + rng.integers(0, 5, (m, 10))) % 2_000
        return [
            " ".join(line) for line in words[np.where(rng.random((m, 10)) < share, own, places)]
        ]

    return "text", [one(share) for share in (0.5, 0.5, 0.3)]


def make_graphs(rng, m):
    """Return lists of random graphs with similar shares of edges."""
    nodes, ends = list(range(20)), np.column_stack(np.triu_indices(20, 1))
    share = rng.uniform(0.1, 0.4, m)

    def one(noise):
        shares = np.clip(share + noise * rng.normal(size=m), 0.05, 0.6)
        return [(nodes, ends[rng.random(len(ends)) < own].tolist()) for own in shares]

    return "weisfeiler-lehman", [one(noise) for noise in (0.02, 0.02, 0.1)]


def make_series(rng, m):
    """Return lists of waves of the same height with noise."""
    waves = rng.normal(size=(m, 1)) * np.sin(np.arange(20) / 3)
    return "time-series", [
        list(waves + noise * rng.normal(size=(m, 20))) for noise in (0.3, 0.3, 0.8)
    ]


@job(
    "Blocks next to all pairs of rows",
    "100,000 rows × 10 columns, three variables, Laplace kernels of fixed bandwidth; one sweep "
    "evaluates the kernel values of all blocks once.",
)
def blocks(quick):
    import reldep
    from reldep.engine import Blocks, Tiled
    from reldep.kernels import Laplace

    m, part = (5_000, 2_000) if quick else (100_000, 20_000)
    data, kernel = three(m, 10), Laplace(4.0)
    reldep.compare(*(block[:4_000] for block in data), kernel=kernel, engine=Blocks(size=500))
    wall, cores = seconds(lambda: reldep.compare(*data, kernel=kernel, engine=Blocks()), 2)
    few = [block[:part] for block in data]
    all_pairs, _ = seconds(lambda: reldep.compare(*few, kernel=kernel, engine=Tiled()))
    one = data[0][:2_000]
    reldep.hsic(one, one, kernel=kernel, engine="tiled")
    sweep = seconds(lambda: [kernel(block[:2_000]) for block in data])[1] * m / 2_000
    return [
        ("blocks (s)", wall),
        ("blocks (core s)", cores),
        (f"all pairs, from {part:,} rows (s)", all_pairs * (m / part) ** 2),
        ("times faster than all pairs", all_pairs * (m / part) ** 2 / wall),
        ("kernel values of all blocks by NumPy (core s)", sweep),
    ]


def write_parquet(folder, m, columns, files):
    """Write a source and two targets as Parquet files, one piece at a time."""
    import polars as pl

    for i in range(files):
        data = three(m // files, columns, seed=i)
        named = zip("xyz", data, strict=True)
        frame = {f"{name}{j}": block[:, j] for name, block in named for j in range(columns)}
        pl.DataFrame(frame).write_parquet(Path(folder) / f"{i:03d}.parquet", compression="lz4")


@job(
    "Beyond memory",
    "Three variables of 10 columns from Parquet files, all defaults but `Blocks(memory=...)`; the "
    "memory is that of the whole process at its peak.",
)
def parquet(quick):
    import reldep
    from reldep.engine import Blocks

    m, limit = (20_000, 500_000) if quick else (10_000_000, "400MB")
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(folder, m, 10, 4 if quick else 40)
        ask = ("x=x*", "y=y*", "z=z*")
        options = {"data": folder, "engine": Blocks(memory=limit)}
        forget_peak()
        wall, cores = seconds(lambda: reldep.compare(*ask, **options))
    figures = [("rows", m), ("seconds", wall), ("core seconds", cores)]
    return [*figures, ("peak memory (MB)", peak_memory())]


@job(
    "On a Dask cluster",
    "Three variables of 10 columns in a Dask data frame of Parquet files; a LocalCluster of two "
    "workers of one thread each, next to one process with two threads.",
)
def cluster(quick):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import reldep
    from reldep.engine import Blocks

    m = 20_000 if quick else 1_000_000
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    ask = ("x=x*", "y=y*", "z=z*")
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(folder, m, 10, 8)
        on_disk = {"data": folder, "engine": Blocks(memory="100MB" if not quick else 500_000)}
        alone, _ = seconds(lambda: reldep.compare(*ask, **on_disk))
        with LocalCluster(**options) as made, Client(made):
            frame = dd.read_parquet(folder)
            workers, _ = seconds(lambda: reldep.compare(*ask, data=frame, engine=Blocks()))
    return [("rows", m), ("one process (s)", alone), ("two workers (s)", workers)]


@job("A scan", "Every column of a table as the source, two targets, all defaults.")
def scan(quick):
    import reldep

    n = 200 if quick else 20_000
    rng = np.random.default_rng(0)
    table, y, z = rng.normal(size=(200, n)), rng.normal(size=200), rng.normal(size=200)
    reldep.scan(table[:, :50], y, z)
    wall, cores = seconds(lambda: reldep.scan(table, y, z))
    return [(f"{n:,} sources of 200 rows (s)", wall), ("core seconds", cores)]


@job("From a cold start", "A new process each; the least of several, in seconds.")
def cold(quick):
    def fresh(code, **environment):
        command = [sys.executable, "-c", code]
        return lambda: subprocess.run(command, check=True, env={**os.environ, **environment})

    once = "import numpy as np, reldep; x = np.random.default_rng(0).normal(size=({m}, 2));"
    once += "reldep.compare(x, x + 1 / (1 + x**2), x[:, :1] ** 2)"
    repeats = 1 if quick else 5
    help_text = "import sys; sys.argv = ['reldep', '--help'];from reldep.cli import main; main()"
    programs = {
        "python -c pass": "pass",
        "import reldep": "import reldep",
        "reldep --help": help_text,
        "import and a question on 500 rows": once.format(m=500),
        "import and a compiled question, cached": once.format(m=6_000),
    }
    rows = [(what, seconds(fresh(code), repeats)[0]) for what, code in programs.items()]
    with tempfile.TemporaryDirectory() as empty:
        compiled = fresh(once.format(m=6_000), NUMBA_CACHE_DIR=empty)
        rows.append(("import and a compiled question, no cache", seconds(compiled)[0]))
    return rows


# ------------------------------------------------------------------------------------- publishing

# What was aimed at: job, figure, "at least" or "at most", bound.
GOALS = (
    ("small", "compare, 40 × 3 (ms)", "at most", 1.5),
    ("small", "compare, 200 × 1 (ms)", "at most", 3.0),
    ("peers", "times faster than plain NumPy", "at least", 80),
    ("blocks", "blocks (s)", "at most", 1.5),
    ("parquet", "seconds", "at most", 180),
    ("parquet", "peak memory (MB)", "at most", 1_000),
    ("scan", "20,000 sources of 200 rows (s)", "at most", 2.5),
    ("cold", "import and a compiled question, no cache", "at most", 8.0),
)


def measure(name, quick, *words):
    """Run a job in a new process and read what it prints."""
    command = [sys.executable, __file__, "--job", name, *words, *(["--quick"] if quick else [])]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"rows": [("failed", (found.stderr.strip() or "no reason").splitlines()[-1])]}
    return json.loads(found.stdout.splitlines()[-1])


def run(name, quick, words):
    """Run a job in this process."""
    warnings.simplefilter("ignore")
    figures = JOBS[name][2](quick, *words)
    figures = figures if isinstance(figures, dict) else {"rows": figures}
    print(json.dumps(figures, default=float))


def shown(value):
    """Return a figure with three digits."""
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(figures):
    """Return the rows of a job, or of the goals, in Markdown."""
    head = figures.get("head", ["what", "figure"])
    return markdown(head, [[shown(value) for value in row] for row in figures["rows"]])


def goals(jobs):
    """Return what was aimed at next to what was reached."""
    rows = []
    for name, what, side, bound in GOALS:
        reached = dict(jobs.get(name, {}).get("rows", [])).get(what)
        if isinstance(reached, (int, float)):
            is_met = reached >= bound if side == "at least" else reached <= bound
            met = "yes" if is_met else "no"
            rows.append([f"{JOBS[name][0]}: {what}", f"{side} {bound}", reached, met])
    return table({"head": ["goal", "bound", "reached", "met"], "rows": rows})


def page(results):
    """Return the published page."""
    about = ", ".join(f"{key}: {value}" for key, value in results["machine"].items())
    lines = ["# Speed and memory", "", *PREAMBLE, "", about + ".", "", "## Goals", ""]
    lines.append(goals(results["jobs"]))
    for name, figures in results["jobs"].items():
        title, what, _ = JOBS[name]
        lines += ["", f"## {title}", "", *([what, ""] if what else [])]
        lines.append(table(figures))
    return "\n".join([*lines, "", "Which engine is chosen: [engines](guide/engines.md).", ""])


PREAMBLE = [
    "Written by `make benchmarks` on the machine named below. What is compared was measured in one",
    "process, one after the other: ratios are more reliable than seconds. Goals that were not",
    "reached are listed, too.",
]


def machine():
    """Return where the figures come from."""
    found = {"date": date.today().isoformat(), "processor": processor(), "cores": os.cpu_count()}
    found["python"] = platform.python_version()
    for package in ("reldep", "numpy", "scipy", "numba", "dcor", "hyppo"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def processor():
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main():
    """Measure, print and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; publishes nothing")
    parser.add_argument("--only", nargs="+", choices=JOBS, help="only these jobs")
    parser.add_argument("--publish", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        return run(options.job[0], options.quick, options.job[1:])
    known = json.loads(FIGURES.read_text())["jobs"] if options.only and FIGURES.exists() else {}
    names = [name for name in JOBS if name != "one_size"]
    for name in options.only or names:
        known[name] = measure(name, options.quick)
        print(f"\n{JOBS[name][0]}", table(known[name]), sep="\n", flush=True)
    results = {"machine": machine(), "jobs": {name: known[name] for name in names if name in known}}
    if not options.quick:
        FIGURES.write_text(json.dumps(results, indent=1) + "\n")
    if options.publish and not options.quick:
        PAGE.write_text(page(results))
    return None


if __name__ == "__main__":
    main()
