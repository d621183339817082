"""Ways to compare censored lifetimes: ``python benchmarks/survival.py --publish``.

The question is always whether the lifetime depends more on x than on z. In all laws but the last
it does; in the last it depends on both alike. Counted is how often the answer of ``compare`` with
its defaults is significant (5%, two-sided) and right, and how often it is significant and wrong.
The table goes into docs/guide/kernels.md.

The width of ``LogRank`` was chosen on other samples of the laws that are not in ``HELD_OUT``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import reldep
from reldep import Survival
from reldep.exceptions import ReldepWarning
from reldep.kernels import LogRank, Precomputed
from reldep.kernels.survival import Hazard

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "survival.json"
PAGE = HERE.parent / "docs" / "guide" / "kernels.md"
BEGIN, END = "<!-- survival: begin -->", "<!-- survival: end -->"

M = 100
# Neither the seed nor these laws played a part in the choice of the kernel.
SEED = 20_261
HELD_OUT = {"time × e^(0.6x)", "staggered entry", "depends on z²", "x and z, opposite"}

LAWS = {
    "hazard e^(0.7x)": lambda d: d["e"] * np.exp(-0.7 * d["x"]),
    "hazard e^(x + 0.4z)": lambda d: d["e"] * np.exp(-d["x"] - 0.4 * d["z"]),
    "hazard e^(0.8x²)": lambda d: d["e"] * np.exp(-0.8 * (d["x"] ** 2 - 1)),
    "spread, not mean": lambda d: np.exp(np.where(d["x"] > 0, 1.2, 0.3) * d["g"]),
    "time × e^(0.6x)": lambda d: np.exp(0.8 * d["g"] - 0.6 * d["x"]),
    "x and z alike": lambda d: d["e"] * np.exp(-0.8 * d["x"] - 0.8 * d["z"]),
}
CENSORING = {
    "none": lambda _: np.full(M, np.inf),
    "random, heavy": lambda d: 0.7 * d["c"],
    "end of study": lambda d: np.full(M, np.quantile(d["life"], 0.6)),
    "depends on x": lambda d: d["c"] * np.exp(-1.5 * d["x"]),
    "depends on z": lambda d: d["c"] * np.exp(-1.5 * d["z"]),
    "staggered entry": lambda d: d["u"] * np.quantile(d["life"], 0.8),
    "depends on z²": lambda d: d["c"] * np.exp(-0.9 * (d["z"] ** 2 - 1)),
    "x and z, opposite": lambda d: d["c"] * np.exp(d["x"] - d["z"]),
}


def residuals(time, event):
    """Give events less expected events, from the Nelson-Aalen hazard at one's own time."""
    hazard = Hazard.of(time, event)
    expected = np.concatenate([[0.0], np.cumsum(hazard.jumps)])
    return event - expected[np.searchsorted(hazard.times, time, side="right")]


WAYS = {
    "time": lambda time, _: time,
    "time × event": lambda time, event: time * event,
    "residuals, Gaussian": residuals,
    "log-rank": lambda time, event: Precomputed(LogRank(1e6)(Survival(time, event))),
    "`LogRank()`": Survival,
}


def share(law, censoring, n, rng):
    """Count right and wrong answers of every way on n samples."""
    counts = {way: [0, 0] for way in WAYS}
    n_events = 0
    for _ in range(n):
        d = dict(zip("xzg", rng.normal(size=(3, M)), strict=True))
        d |= dict(zip("ec", rng.exponential(size=(2, M)), strict=True))
        d["u"] = rng.uniform(size=M)
        d["life"] = LAWS[law](d)
        left = CENSORING[censoring](d)
        time, event = np.minimum(d["life"], left), d["life"] <= left
        n_events += int(event.sum())
        for way, read in WAYS.items():
            answer = reldep.compare(read(time, event), d["x"], d["z"], alternative="two-sided")
            if answer.pvalue < 0.05:
                counts[way][int(answer.statistic < 0)] += 1
    return {
        "events": n_events / (n * M),
        **{way: [right / n, wrong / n] for way, (right, wrong) in counts.items()},
    }


def table(found):
    """Write right/wrong of every way in Markdown."""
    lines = [
        "| lifetime | censoring | events | " + " | ".join(WAYS) + " |",
        "|---|---|--:|" + "--:|" * len(WAYS),
    ]
    for row in found:
        cells = " | ".join(f"{row[way][0]:.2f} / {row[way][1]:.2f}" for way in WAYS)
        law, censoring = (
            name + "*" * (name in HELD_OUT) for name in (row["law"], row["censoring"])
        )
        lines.append(f"| {law} | {censoring} | {row['events']:.0%} | {cells} |")
    return "\n".join(lines)


def main():
    """Simulate, and write the table where it belongs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="write docs/guide/kernels.md")
    parser.add_argument("--draws", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ReldepWarning)
    rng = np.random.default_rng(SEED)
    found = []
    for law in LAWS:
        for censoring in CENSORING:
            row = share(law, censoring, arguments.draws, rng)
            found.append({"law": law, "censoring": censoring, **row})
            print(found[-1], flush=True)
    if not arguments.publish:
        print(table(found))
        return
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    page = f"{before}{BEGIN}\n{table(found)}\n{END}{rest.split(END)[1]}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
