"""Level and power of ``compare(..., given=W)`` under confounding, beside the marginal test.

    python benchmarks/calibration_given.py --rows 100 --draws 500
    python benchmarks/calibration_given.py --rows 400 --draws 200
    python benchmarks/calibration_given.py --publish

A run adds its counts to ``benchmarks/results/calibration_given.json``; ``--publish`` writes them
as a table into ``docs/guide/given.md``. Set ``OMP_NUM_THREADS=1`` on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

import reldep
from reldep.kernels import Linear
from reldep.stats.estimates import estimate_dependences

if TYPE_CHECKING:
    from collections.abc import Callable

Array = npt.NDArray[np.float64]
HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "calibration_given.json"
PAGE = HERE.parent / "docs" / "guide" / "given.md"
START, END = "<!-- table of calibration_given.py -->", "<!-- end of the table -->"
LEVEL = 0.05
COLUMNS = ("marginal", "cka", "hsic", "independence")
WEIGHTS = np.array([1.0, -1.0])
SECTION = """\
## Given covariates

Strong confounding by one to ten covariates, numbers and labels; two-sided tests at 5%. The null
is true given w, but in a row that says "alternative". The marginal test, the first column of
rates, answers another question and rejects nearly always. "No dependence" leaves nothing of x in
either target once w is held fixed; "equal dependence" leaves the same in both. Written by
`benchmarks/calibration_given.py`. A rate of .05 is known to ±.02 from 500 samples, ±.03 from 200.

{table}
"""


@dataclass(frozen=True)
class Law:
    """How x, y and z arise from w, from what x shares with the targets, and from noise.

    With a linear kernel for the targets the dependence given w does not depend on how w enters
    them, so that "equal" holds exactly; where nothing is shared it holds for any kernel, and x
    and y are independent given w.

    Attributes
    ----------
    draw : callable
    targets : kernel
        Of both targets.
    independent : bool
        Whether x and y are independent given w.
    columns : int
        Of w, all numbers; but the third of three is a label.
    is_label : bool
        Whether w is a single label.
    chosen_on : bool
        Whether the law had a part in choosing the estimator, on other samples.
    """

    draw: Callable[[Array, Array, Array], tuple[Array, Array, Array]]
    targets: Any
    independent: bool = False
    columns: int = 1
    is_label: bool = False
    chosen_on: bool = True


LAWS = {
    "straight, no dependence given w": Law(
        lambda w, u, e: (w[0] + 0.5 * u, w[0] + 0.5 * e[0], e[1]), "auto", independent=True
    ),
    "curved, no dependence given w": Law(
        lambda w, u, e: (w[0] ** 2 + 0.5 * u, np.cos(2 * w[0]) + 0.5 * e[0], e[1]),
        "auto",
        independent=True,
    ),
    "curved, little noise, no dependence given w": Law(
        lambda w, u, e: (w[0] ** 2 + 0.2 * u, np.cos(2 * w[0]) + 0.2 * e[0], e[1]),
        "auto",
        independent=True,
    ),
    "three covariates, curved, no dependence given w": Law(
        lambda w, u, e: (
            w[0] + np.sin(2 * w[1]) + w[2] + 0.5 * u,
            w[0] + w[1] ** 2 / 2 + w[2] + 0.5 * e[0],
            e[1],
        ),
        "auto",
        independent=True,
        columns=3,
    ),
    "product of two covariates, no dependence given w": Law(
        lambda w, u, e: (w[0] * w[1] + 0.5 * u, w[0] * w[1] + 0.5 * e[0], e[1]),
        "auto",
        independent=True,
        columns=2,
    ),
    "ten covariates, straight, no dependence given w": Law(
        lambda w, u, e: (w.sum(axis=0) / 3 + 0.7 * u, w[:5].sum(axis=0) / 2 + 0.7 * e[0], e[1]),
        "auto",
        independent=True,
        columns=10,
    ),
    "a label, no dependence given w": Law(
        lambda w, u, e: (w[0] + 0.5 * u, w[0] ** 2 - 2 * w[0] + 0.5 * e[0], e[1]),
        "auto",
        independent=True,
        is_label=True,
        chosen_on=False,
    ),
    "steps, no dependence given w": Law(
        lambda w, u, e: (np.sign(w[0]) + 0.5 * u, (w[0] > 0.3) + 0.3 * e[0], e[1]),
        "auto",
        independent=True,
        chosen_on=False,
    ),
    "four covariates, one distance, no dependence given w": Law(
        lambda w, u, e: (
            np.linalg.norm(w, axis=0) + 0.3 * u,
            np.linalg.norm(w, axis=0) + 0.3 * e[0],
            e[1],
        ),
        "auto",
        independent=True,
        columns=4,
        chosen_on=False,
    ),
    "straight, equal dependence given w": Law(
        lambda w, u, e: (1.5 * w[0] + u, 1.5 * w[0] + u + e[0], u + e[1]), Linear()
    ),
    "curved, equal dependence given w": Law(
        lambda w, u, e: (
            1.5 * np.sin(2 * w[0]) + u,
            2 * np.sin(2 * w[0]) + u + e[0],
            u + e[1],
        ),
        Linear(),
    ),
    "three covariates, curved, equal dependence given w": Law(
        lambda w, u, e: (
            w[0] + np.sin(2 * w[1]) + w[2] + u,
            2 * w[0] + w[1] ** 2 + w[2] + u + e[0],
            u + e[1],
        ),
        Linear(),
        columns=3,
    ),
    "alternative: y = w + u², z = w + ε": Law(
        lambda w, u, e: (w[0] + u, w[0] + u**2 + 0.5 * e[0], w[0] + e[1]), "auto"
    ),
}


def covariates(rng: np.random.Generator, m: int, law: Law) -> tuple[Array, Any]:
    """Draw w, as numbers for the law and as a user would pass it."""
    w = rng.normal(size=(law.columns, m))
    if law.is_label:
        codes = rng.integers(0, 4, size=m)
        return codes[None].astype(float), np.array(["a", "b", "c", "d"])[codes]
    if law.columns != 3:
        return w, w[0] if law.columns == 1 else w.T
    ward = rng.integers(0, 3, size=m)
    w[2] = ward - 1.0
    return w, pl.DataFrame({"age": w[0], "dose": w[1], "ward": np.array(["a", "b", "c"])[ward]})


def count(law: Law, seed: int, m: int, draws: int) -> Counter[str]:
    """Count the rejections of the two-sided tests at 5%, given w and without."""
    found: Counter[str] = Counter(draws=draws)
    kernel = ("auto", law.targets, law.targets)
    for number in range(draws):
        rng = np.random.default_rng([seed, m, number])
        w, given = covariates(rng, m, law)
        x, y, z = law.draw(w, rng.normal(size=m), rng.normal(size=(2, m)))
        marginal = reldep.compare(x, y, z, kernel=kernel, alternative="two-sided")
        tested = reldep.compare(x, y, z, kernel=kernel, alternative="two-sided", given=given)
        raw = estimate_dependences(tested.influence, tested.pairs, "hsic", "jackknife")
        found["marginal"] += marginal.pvalue < LEVEL
        found["cka"] += tested.pvalue < LEVEL
        if law.independent:
            found["independence"] += reldep.dependence(x, y, given=given).pvalue < LEVEL
        found["hsic"] += raw.test(WEIGHTS).pvalue("two-sided") < LEVEL
    return found


def table(counts: dict[str, dict[str, int]]) -> str:
    """Write the rates of rejection."""
    lines = [
        "| how w acts | m | samples | `compare`, CKA | given w, CKA | given w, HSIC | "
        "`dependence` given w |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for name in LAWS:
        for key, one in sorted(counts.items(), key=lambda item: int(item[0].rpartition("@")[2])):
            if key.rpartition("@")[0] != name:
                continue
            m, draws = key.rpartition("@")[2], one["draws"]
            rates = [f"{one[column] / draws:.3f}" if column in one else "" for column in COLUMNS]
            lines.append(f"| {name} | {m} | {draws} | {' | '.join(rates)} |")
    return "\n".join(lines)


def section() -> str:
    """Write the section of the page of calibration."""
    counts = json.loads(RESULTS.read_text(encoding="utf-8"))
    return SECTION.format(table=table(counts))


def publish(counts: dict[str, dict[str, int]]) -> None:
    """Put the table into the page of the guide."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    text = f"{before}{START}\n\n{table(counts)}\n\n{END}{after}"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Simulate, or publish what was simulated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--only", default="", help="laws whose names hold these words")
    parser.add_argument("--publish", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", reldep.ReldepWarning)
    if options.publish:
        publish(json.loads(RESULTS.read_text(encoding="utf-8")))
        return
    for seed, (name, law) in enumerate(LAWS.items()):
        if options.only and options.only not in name:
            continue
        found = dict(count(law, seed, options.rows, options.draws))
        known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        known[f"{name}@{options.rows}"] = found
        RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False), encoding="utf-8")
        print(name, options.rows, found, flush=True)


if __name__ == "__main__":
    main()
