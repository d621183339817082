"""Speed and memory: ``make benchmarks``, or ``python benchmarks/speed.py --help``.

Every job runs in a process of its own; what is compared is measured in the same process. Times
depend on the machine and its other work, ratios much less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import reldep

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "speed.json"
PAGE = HERE.parent / "docs" / "benchmarks.md"

TITLES = {
    "rivals": "The whole test beside other programs",
    "near_linear": "From 10,000 rows to a million",
    "hundred_thousand": "A hundred thousand rows beside tiles",
    "columns_beside_others": "One column beside the fast algorithms of others",
    "defaults": "The default beside fixed kernels",
    "followed": "How well moving bandwidths are followed",
    "limit": "How near tiles are to the limit",
    "large": "A hundred thousand rows of two columns, all defaults, by tiles",
    "growth": "Growth of tiles with the number of rows",
    "plans": "What the planner expects, over what happens",
    "shuffles": "A thousand permutations",
    "million": "A million rows, explicit features",
    "wide": "Few rows, many columns",
    "sparse": "Ten sparse variables, 45 pairs",
    "accuracy": "Digits",
    "cold": "From a cold start",
    "authors": "The program of the paper's authors",
}

ABOUT = {
    "rivals": "The paper's spirals, raw data to p-value, bandwidths included.",
    "near_linear": "Seconds of the whole test, in brackets core seconds, the sum over threads; "
    "each in a process of its own, with compiled code loaded. Gaussian kernels of given width "
    "unless another is named.",
    "columns_beside_others": "dcor computes the two statistics; reldep gives their difference, its "
    "standard error and p-value, and looks at the data for cautions on the way.",
    "defaults": "The default follows the bandwidths that the data chose; fixed kernels have the "
    "same bandwidths, given.",
    "followed": "Relative errors of standard errors, from some pairs of rows against all pairs.",
    "limit": "Gaussian kernels; *bare* evaluates the three upper triangles once and keeps nothing.",
    "plans": "Expected over measured: 1 is right, 2 expects twice too much.",
    "shuffles": "Independence on one column: features or sorted lines are shuffled, not matrices.",
}

# What was aimed at: job, figure, whether at least or at most, and the bound.
GOALS = (
    ("rivals", "times faster than plain NumPy", "at least", 100),
    ("hundred_thousand", "one column, times less", "at least", 20),
    ("hundred_thousand", "spirals, times less", "at least", 20),
    ("near_linear", "one column, 1,000,000 rows: seconds", "at most", 6),
    ("near_linear", "spirals, 1,000,000 rows: seconds", "at most", 15),
    ("near_linear", "spirals, 1,000,000 rows: extra MB", "at most", 300),
    ("near_linear", "largest exponent of time", "at most", 1.15),
    ("columns_beside_others", "times less than dcor", "at least", 5),
    ("defaults", "largest ratio, 2 to 10 columns", "at most", 1.5),
    ("defaults", "largest ratio, one column", "at most", 1.5),
    ("followed", "largest relative error", "at most", 0.005),
    ("limit", "10 columns", "at most", 2.2),
    ("cold", "import and first comparison of 500 rows (s)", "at most", 1),
)

# Why a goal is out of reach, where it is.
REASONS = {
    "times faster than plain NumPy": "half of the time goes to the exact medians of the distances",
    "largest relative error": "the median of the distances, and single HSICs only: it is moved by "
    "few pairs, which a sample of pairs shows roughly; the default is within 0.001",
    "times less than dcor": "sums along lines take two thirds, reading and cautions the rest",
    "10 columns": "two sweeps evaluate every kernel twice, the second in single precision; "
    "predicting row sums by features would save one, but moves standard errors by 1e-8 to 1e-5",
    "largest ratio, 2 to 10 columns": "the mean distance is one more pass over all pairs",
    "largest ratio, one column": "sums along lines are so quick that the slopes show",
    "largest exponent of time": "sums along lines leave the cache at a million rows",
}


def measure(name, quick):
    """Run a job in a new process and read what it prints."""
    command = [sys.executable, __file__, "--job", name, *(["--quick"] if quick else [])]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"failed": (found.stderr.strip() or "no reason given").splitlines()[-1]}
    return json.loads(found.stdout.splitlines()[-1])


def machine():
    """Say where the figures come from."""
    packages = ("numpy", "scipy", "numba", "hyppo", "dcor", "scikit-learn")
    return {
        "date": date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "reldep": reldep.__version__,
        **{package: version(package) for package in packages},
    }


def processor():
    """Name the processor as the system does."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def shown(value):
    """Write a figure with three digits."""
    if isinstance(value, list):
        return ", ".join(shown(entry) for entry in value)
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_job(name, figures):
    """Print the figures of one job."""
    print(f"\n{TITLES[name]}  [{name}]")
    for row in table_rows(figures):
        print("  " + "  ".join(f"{shown(cell):<14}" for cell in row))
    for what, value in plain(figures).items():
        print(f"  {what:<58} {shown(value)}")
    sys.stdout.flush()


def table_rows(figures):
    """Give the head and the rows of a job's table, if it has one."""
    table = figures.get("table")
    return [table["head"], *table["rows"]] if table else []


def plain(figures):
    """Give the figures beside the table."""
    return {what: value for what, value in figures.items() if what != "table"}


def markdown(head, rows):
    """Write a table: words to the left, figures to the right."""
    lines = [f"| {' | '.join(map(str, head))} |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return lines + [f"| {' | '.join(map(shown, row))} |" for row in rows]


def goals(jobs):
    """Set what was aimed at beside what was reached."""
    rows = []
    for job, what, side, bound in GOALS:
        reached = jobs.get(job, {}).get(what)
        if reached is None:
            continue
        met = reached >= bound if side == "at least" else reached <= bound
        words = "yes" if met else f"no: {REASONS[what]}" if what in REASONS else "no"
        rows.append([f"{TITLES[job]}: {what}", f"{side} {shown(bound)}", reached, words])
    return markdown(["goal", "bound", "reached", "met"], rows)


def write(path, text):
    """Write a file whole or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def page(results):
    """Write the published page from the results."""
    about = results["machine"]
    lines = [
        "# Speed and memory",
        "",
        "These figures are written by `make benchmarks` on the machine named below; each section",
        "is one run. What is compared was measured in one process, one after the other: the ratios",
        "can be trusted further than the seconds. Goals that are not reached stand here all the",
        "same.",
        "",
        ", ".join(f"{key}: {value}" for key, value in about.items()) + ".",
        "",
        "## Goals",
        "",
        *goals(results["jobs"]),
    ]
    for name, figures in results["jobs"].items():
        lines += ["", f"## {TITLES[name]}", ""]
        lines += [ABOUT[name], ""] if name in ABOUT else []
        head, *rows = table_rows(figures) or [None]
        lines += [*markdown(head, rows), ""] if head else []
        lines += markdown(["what", "figure"], plain(figures).items())
    lines += [
        "",
        "The authors' program is measured where Octave is installed and RELDEP_AUTHORS names the",
        "folder that holds it; it is not part of this repository.",
        "",
        "How the engines work and which one is chosen: [engines](guide/engines.md).",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="every job at a small size; publishes nothing"
    )
    parser.add_argument("--only", nargs="+", choices=TITLES, help="only these jobs")
    parser.add_argument("--publish", action="store_true", help="write docs/benchmarks.md too")
    parser.add_argument("--job", choices=TITLES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        import jobs
        from defaults import DEFAULT_JOBS
        from near_linear import NEAR_LINEAR_JOBS
        from plans import plans

        further = {**NEAR_LINEAR_JOBS, **DEFAULT_JOBS, "plans": plans}
        print(json.dumps(jobs.run(options.job, options.quick, further)))
        return
    known = json.loads(RESULTS.read_text())["jobs"] if options.only and RESULTS.exists() else {}
    found = {}
    for name in options.only or TITLES:
        started = time.perf_counter()
        found[name] = measure(name, options.quick)
        print_job(name, found[name])
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
    every = {name: found.get(name, known.get(name)) for name in TITLES}
    results = {"machine": machine(), "jobs": {k: v for k, v in every.items() if v}}
    if not options.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        write(RESULTS, json.dumps(results, indent=2) + "\n")
    if options.publish and not options.quick:
        write(PAGE, page(results))
    elif options.quick:
        print(page(results))


if __name__ == "__main__":
    main()
