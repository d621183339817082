"""Measure level, coverage and power of every variance on simulated data.

Usage::

    export OMP_NUM_THREADS=1                      # the processes share the cores
    python benchmarks/calibration.py --quick      # 100 draws, a minute or two
    python benchmarks/calibration.py              # 1,000 draws, about a quarter of an hour
    python benchmarks/calibration.py --publish    # the same, and write docs/calibration.md

Each draw computes the conditional means once; every measure and every variance is then asked
of the same A. The rates go to ``benchmarks/results`` as CSV, facts about the run as JSON; what
is not published carries ``-draft`` in its name.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import platform
import time
from collections import Counter
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from calibration_page import page
from sampling_models import ALTERNATIVE, BANDWIDTH_NULLS, EIGHT_NULLS, MODELS, SMALL_SAMPLE_NULLS
from scipy.special import ndtri, stdtr

import reldep
from reldep.kernels import Gaussian
from reldep.questions._inference import Inference
from reldep.stats.measures import estimate, pairs_needed

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
VARIANCES = ("fixed-kernel", "bandwidth-aware", "second-order", "full")
MEASURES = ("hsic", "cka")
PAIRS = (("x", "y"), ("x", "z"))
DIFFERENCE = np.array([1.0, -1.0])
LEVEL = 0.05
CHUNK = 50

# The truth of an interval: the dependence at the median bandwidth of the population.
TRUTH_SAMPLES, TRUTH_SIZE = 40, 1000


@dataclass(frozen=True)
class Cell:
    """One law and one number of observations."""

    model: str
    m: int


@dataclass(frozen=True)
class Rate:
    """How often something happened."""

    model: str
    m: int
    measure: str
    variance: str
    quantity: str
    rate: float
    draws: int


def cells() -> list[Cell]:
    """List what is simulated for rows that are independent; each cell once."""
    wanted = [Cell(model, m) for model in SMALL_SAMPLE_NULLS for m in (20, 50, 100, 200)]
    wanted += [Cell(model, m) for model in EIGHT_NULLS for m in (30, 100, 300)]
    wanted += [Cell(model, 200) for model in (*BANDWIDTH_NULLS, ALTERNATIVE)]
    return list(dict.fromkeys(wanted))


def population(model: str) -> dict[str, float]:
    """Find the true HSIC and CKA of (x, y) at the median bandwidths of the population."""
    samples = [
        MODELS[model].draw(np.random.default_rng([999, i]), TRUTH_SIZE)
        for i in range(TRUTH_SAMPLES)
    ]
    fits = [reldep.compare(x[:500], y[:500], z[:500]).provenance.kernels for x, y, z in samples]
    widths = {
        name: float(np.mean([kernels[role]["bandwidth"] for kernels in fits]))
        for name, role in (("x", "source"), ("y", "first"))
    }
    kernels = {name: Gaussian(width) for name, width in widths.items()}
    pairs = [("x", "y"), ("x", "x"), ("y", "y")]
    xy, xx, yy = np.mean(
        [
            reldep.influence({"x": x, "y": y}, pairs, kernel=kernels).estimates
            for x, y, _ in samples
        ],
        axis=0,
    )
    return {"hsic": float(xy), "cka": float(xy / np.sqrt(xx * yy))}


def student_pvalue(psi: np.ndarray, statistic: float) -> float:
    """Give the two-sided p-value by Student's law, degrees of freedom from the kurtosis of psi.

    The variance is a mean of ψ², itself with variance (κ - 1)/m relative to its square, which
    a chi-square of 2m/(κ - 1) degrees of freedom has.
    """
    kurtosis = float(np.mean(psi**4) / np.mean(psi**2) ** 2)
    return float(2.0 * stdtr(2.0 * len(psi) / (kurtosis - 1.0), -abs(statistic)))


def draw_influence(cell: Cell, seed: int, variance: str) -> reldep.Influence:
    """Draw one sample and compute its conditional means; no two cells share a seed."""
    rng = np.random.default_rng([list(MODELS).index(cell.model), cell.m, seed])
    data = dict(zip("xyz", MODELS[cell.model].draw(rng, cell.m), strict=True))
    pairs = pairs_needed(PAIRS, "cka")
    return reldep.influence(data, pairs, variance=variance, engine="dense")


def count_events(task: tuple[Cell, range, dict[str, float] | None]) -> Counter[tuple[str, ...]]:
    """Draw samples and count rejections and intervals that contain the truth."""
    cell, seeds, truth = task
    events: Counter[tuple[str, ...]] = Counter()
    critical = float(-ndtri(LEVEL))
    for seed in seeds:
        A = draw_influence(cell, seed, "full")
        for measure in MEASURES:
            for variance in VARIANCES:
                inference = Inference(measure, "two-sided", variance, None)
                test = inference.test(A, PAIRS, DIFFERENCE, None)
                psi = DIFFERENCE @ estimate(A, PAIRS, measure, variance).psi
                key = (measure, variance)
                events[*key, "level"] += test["pvalue"] < LEVEL
                events[*key, "level, Student"] += student_pvalue(psi, test["statistic"]) < LEVEL
                events[*key, "power, one-sided"] += test["statistic"] > critical
                if truth is not None:
                    one = inference.test(A, PAIRS[:1], np.ones(1), None)
                    margin = float(-ndtri(LEVEL / 2)) * one["standard_error"]
                    events[*key, "coverage"] += abs(one["estimate"] - truth[measure]) <= margin
    return events


def count_dependent(task: tuple[Cell, range, None]) -> Counter[tuple[str, ...]]:
    """Count rejections where rows depend on each other, with and without saying so."""
    cell, seeds, _ = task
    events: Counter[tuple[str, ...]] = Counter()
    in_clusters = cell.model.startswith("clusters")
    clusters = np.arange(cell.m) // 5 if in_clusters else None
    for seed in seeds:
        A = draw_influence(cell, seed, "bandwidth-aware")
        for measure in MEASURES:
            for variance in VARIANCES[:2]:
                ignoring = Inference(measure, "two-sided", variance, None)
                told = Inference(measure, "two-sided", variance, None if in_clusters else "auto")
                for word, inference, groups in (
                    ("rows taken as independent", ignoring, None),
                    ("dependence of rows given", told, clusters),
                ):
                    pvalue = inference.test(A, PAIRS, DIFFERENCE, groups)["pvalue"]
                    events[measure, variance, word] += pvalue < LEVEL
    return events


def measure_rates(draws: int, processes: int) -> list[Rate]:
    """Run the whole simulation."""
    chunks = [range(start, min(start + CHUNK, draws)) for start in range(0, draws, CHUNK)]
    with Pool(processes) as pool:
        truths = dict(
            zip(SMALL_SAMPLE_NULLS, pool.map(population, SMALL_SAMPLE_NULLS), strict=True)
        )
        tasks = [(cell, chunk, truths.get(cell.model)) for cell in cells() for chunk in chunks]
        dependent = [
            (cell, chunk, None)
            for cell in (Cell("clusters of 5", 200), Cell("AR(0.8)", 400))
            for chunk in chunks
        ]
        counts = pool.map(count_events, tasks, chunksize=1)
        counts += pool.map(count_dependent, dependent, chunksize=1)
    return add_up(zip([cell for cell, *_ in (*tasks, *dependent)], counts, strict=True), draws)


def add_up(counted: Iterable[tuple[Cell, Counter[tuple[str, ...]]]], draws: int) -> list[Rate]:
    totals: dict[Cell, Counter[tuple[str, ...]]] = {}
    for cell, events in counted:
        totals.setdefault(cell, Counter()).update(events)
    return [
        Rate(cell.model, cell.m, *key, round(count / draws, 6), draws)
        for cell, events in totals.items()
        for key, count in events.items()
    ]


def measure_seconds(sizes: Iterable[int] = (500, 1000, 2000), repeats: int = 9) -> list[dict]:
    """Time one comparison with each variance: processor seconds, the fewest of a few."""
    rows = []
    for m in sizes:
        sample = MODELS["linear"].draw(np.random.default_rng(0), m)
        row: dict[str, float] = {"m": m}
        for variance in VARIANCES:
            elapsed = []
            for _ in range(repeats):
                start = time.process_time()
                reldep.compare(*sample, variance=variance, engine="dense")
                elapsed.append(time.process_time() - start)
            row[variance] = round(min(elapsed), 5)
        rows.append(row)
    return rows


def replace_file(path: Path, text: str) -> None:
    """Write beside the file and rename, so that a broken run leaves the old one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(path.suffix + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 draws instead of 1,000")
    parser.add_argument("--draws", type=int, help="the number of draws for each law and size")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--publish", action="store_true", help="write docs/calibration.md")
    options = parser.parse_args()
    draws = options.draws or (100 if options.quick else 1000)
    start = time.perf_counter()
    rates = [asdict(rate) for rate in measure_rates(draws, options.processes)]
    facts = {
        "draws": draws,
        "seconds": round(time.perf_counter() - start),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "reldep": reldep.__version__,
        "timings": measure_seconds(),
    }
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rates[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rates)
    stem = ROOT / "benchmarks" / "results" / f"calibration{'' if options.publish else '-draft'}"
    replace_file(stem.with_suffix(".csv"), table.getvalue())
    replace_file(stem.with_suffix(".json"), json.dumps(facts, indent=1) + "\n")
    text = page(rates, facts)
    print(text)
    if options.publish:
        replace_file(ROOT / "docs" / "calibration.md", text)


if __name__ == "__main__":
    main()
