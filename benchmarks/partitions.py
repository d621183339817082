"""Time and memory of a comparison whose rows stay in Parquet files.

Run as ``python benchmarks/partitions.py [rows]``. A child process asks the question; its resident
memory is sampled every 50 ms, and what it had before the first pass is taken off.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import psutil

ROWS_OF_A_FILE = 1_000_000


def write_rows(folder: Path, n: int) -> None:
    """Write three numbers a row, in files of a million rows."""
    for number, start in enumerate(range(0, n, ROWS_OF_A_FILE)):
        rng = np.random.default_rng([1, number])
        size = min(ROWS_OF_A_FILE, n - start)
        x = rng.normal(size=size)
        y, z = x + rng.normal(size=size), x + 1.1 * rng.normal(size=size)
        pl.DataFrame({"x": x, "y": y, "z": z}).write_parquet(folder / f"{number:04}.parquet")


def ask(folder: str, answers: multiprocessing.Queue[tuple[float, float, int, str]]) -> None:
    """Answer in a process of its own; compile on a few rows first."""
    import warnings

    import reldep
    from reldep.kernels import Gaussian

    warnings.simplefilter("ignore")
    first = str(next(Path(folder).glob("*.parquet")))
    small = pl.scan_parquet(first).head(3_000).collect()
    kernel = Gaussian(bandwidth="mean")
    reldep.compare("x", "y", "z", data=small, kernel=kernel, engine="lowrank")
    before = psutil.Process().memory_info().rss
    start, cpu = time.perf_counter(), time.process_time()
    found = reldep.compare("x", "y", "z", data=f"{folder}/*.parquet", kernel=kernel)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    ranks = dict(found.influence.certificate.ranks)
    answers.put((seconds, used, before, f"z = {found.statistic:.4f}, ranks {ranks}"))


def main() -> None:
    """Measure once and print a line."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), n)
        answers = context.Queue()
        child = context.Process(target=ask, args=(folder, answers))
        child.start()
        watched, peak = psutil.Process(child.pid), 0
        while child.is_alive() and answers.empty():
            peak = max(peak, watched.memory_info().rss)
            time.sleep(0.05)
        seconds, cpu, before, words = answers.get()
        child.join()
    print(
        f"{n:,} rows x 3 columns: {seconds:.0f} s ({cpu:.0f} s of CPU), "
        f"{(peak - before) / 1e6:.0f} MB beyond the start; {words}"
    )


if __name__ == "__main__":
    main()
