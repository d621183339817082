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
from datetime import date
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "speed.json"
PAGE = HERE.parent / "docs" / "benchmarks.md"

TITLES = {
    "rivals": "The whole test beside other programs",
    "near_linear": "From 10,000 rows to a million, near-linear",
    "hundred_thousand": "A hundred thousand rows beside tiles",
    "columns_beside_others": "One column beside the fast algorithms of others",
    "plans": "What the planner expects",
    "limit": "How near tiles are to the limit",
    "large": "A hundred thousand rows, the whole answer",
    "growth": "Growth with the number of rows",
    "million": "A million rows, explicit features",
    "fourier": "A million rows, Gaussian by random features",
    "wide": "Few rows, many columns",
    "sparse": "Ten sparse variables, 45 pairs",
    "cold": "From a cold start",
    "authors": "The program of the paper's authors",
}


def measure(name, quick):
    """Run a job in a new process and read what it prints."""
    command = [sys.executable, __file__, "--job", name, *(["--quick"] if quick else [])]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"failed": found.stderr.strip().splitlines()[-1]}
    return json.loads(found.stdout.splitlines()[-1])


def machine():
    """Say where the figures come from."""
    packages = ("numpy", "scipy", "numba", "hyppo", "dcor", "scikit-learn")
    return {
        "date": date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "reldep": version("reldep"),
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
    for what, value in figures.items():
        print(f"  {what:<58} {shown(value)}")


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
        "These figures are written by `make benchmarks`, in one run on the machine named below.",
        "What is compared was measured in one process, one after the other: the ratios can be",
        "trusted further than the seconds. *Want* is the bound we set ourselves. The paper's",
        "synthetic data, three variables of two columns, unless another shape is named.",
        "",
        ", ".join(f"{key}: {value}" for key, value in about.items()) + ".",
    ]
    for name, figures in results["jobs"].items():
        lines += ["", f"## {TITLES[name]}", "", "| what | figure |", "|---|--:|"]
        lines += [f"| {what} | {shown(value)} |" for what, value in figures.items()]
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
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about a minute")
    parser.add_argument("--only", nargs="+", choices=TITLES, help="only these jobs")
    parser.add_argument("--publish", action="store_true", help="write docs/benchmarks.md too")
    parser.add_argument("--job", choices=TITLES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        import jobs
        from near_linear import NEAR_LINEAR_JOBS

        print(json.dumps(jobs.run(options.job, options.quick, NEAR_LINEAR_JOBS)))
        return
    known = json.loads(RESULTS.read_text())["jobs"] if options.only and RESULTS.exists() else {}
    found = {}
    for name in options.only or TITLES:
        found[name] = measure(name, options.quick)
        print_job(name, found[name])
    every = {name: found.get(name, known.get(name)) for name in TITLES}
    results = {"machine": machine(), "jobs": {k: v for k, v in every.items() if v}}
    if not options.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        write(RESULTS, json.dumps(results, indent=2) + "\n")
    if options.publish:
        write(PAGE, page(results))


if __name__ == "__main__":
    main()
