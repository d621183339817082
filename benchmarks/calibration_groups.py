"""Levels between independent groups and of scans, by the public functions themselves.

    python benchmarks/calibration_groups.py            # run what is missing
    python benchmarks/calibration_groups.py --quick    # few draws, for a trial

Counts go to ``benchmarks/results/calibration_groups.csv``; the section of ``docs/calibration.md``
is written from them by ``benchmarks/calibration.py --page``. Set ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from counting import Rates, Tally
from scipy.stats import norm

import reldep

if TYPE_CHECKING:
    from collections.abc import Callable

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
LEVEL = 0.05
SIZES = (40, 160)
GROUP_DRAWS = 2_000
SCAN_DRAWS = 200
N_SOURCES = 200
SIMULATIONS = 1_000


@dataclass(frozen=True)
class GroupLaw:
    """How y arises from x in each of two groups, and whether Pearson's r may be compared too."""

    draw: Callable[[Generator, Array, int], Array]
    is_null: bool
    is_linear: bool = False


def _noisy(*noises: float) -> Callable[[Generator, Array, int], Array]:
    return lambda rng, x, g: x + noises[g] * rng.normal(size=len(x))


def _curved(*noises: float) -> Callable[[Generator, Array, int], Array]:
    return lambda rng, x, g: x**2 + noises[g] * rng.normal(size=len(x))


GROUP_LAWS = {
    "y = x + ε in both": GroupLaw(_noisy(1.0, 1.0), True, True),
    "y = x + 2ε in both": GroupLaw(_noisy(2.0, 2.0), True, True),
    "y = x² + ε in both": GroupLaw(_curved(1.0, 1.0), True),
    "y = ε in both": GroupLaw(lambda rng, x, _: rng.normal(size=len(x)), True, True),
    "y = x + 0.7ε and x + 1.5ε": GroupLaw(_noisy(0.7, 1.5), False, True),
    "y = x² + 0.5ε and x² + 2ε": GroupLaw(_curved(0.5, 2.0), False),
}


def fisher(samples: list[tuple[Array, Array]]) -> float:
    """Give the z of two independent Pearson correlations, as cocor.indep.groups does."""
    scores = [np.arctanh(np.corrcoef(x, y)[0, 1]) for x, y in samples]
    error = np.sqrt(sum(1.0 / (len(x) - 3.0) for x, _ in samples))
    return float((scores[0] - scores[1]) / error)


def groups_cell(law: GroupLaw, number: int, draws: int) -> dict[tuple[str, str, str], float]:
    """Count rejections in each tail by the default kernel, by the linear one and by Fisher's z."""
    counts: Counter[tuple[str, str, str]] = Counter()
    by = np.repeat([0, 1], SIZES)
    for at in range(draws):
        rng = np.random.default_rng([31, number, at])
        samples = []
        for g, m in enumerate(SIZES):
            x = rng.normal(size=m)
            samples.append((x, law.draw(rng, x, g)))
        x, y = (np.concatenate(side) for side in zip(*samples, strict=True))
        kernels = {"default": "auto"} | ({"linear kernel": "linear"} if law.is_linear else {})
        for method, kernel in kernels.items():
            found = reldep.groups(x, y, by, kernel=kernel, n_simulations=400)
            first, second = found.to_frame()["estimate"]
            side = "upper" if first > second else "lower"
            counts["cka", method, side] += found.pvalue < LEVEL
        if law.is_linear:
            z = fisher(samples)
            side = "upper" if z > 0 else "lower"
            counts["r", "Fisher's z", side] += 2 * norm.sf(abs(z)) < LEVEL
    return dict(counts)


def equal(rng: Generator, m: int) -> tuple[Array, Array, Array]:
    """Draw sources in blocks of 20 that depend equally on both targets."""
    common = rng.normal(size=m)
    first, second = common + rng.normal(size=(2, m))
    blocks = common[:, None] + rng.normal(size=(m, N_SOURCES // 20))
    sources = np.repeat(blocks, 20, axis=1) + 0.5 * rng.normal(size=(m, N_SOURCES))
    return sources, first, second


def unrelated(rng: Generator, m: int) -> tuple[Array, Array, Array]:
    """Draw independent sources that depend on neither target."""
    first, second = rng.normal(size=(2, m))
    return rng.normal(size=(m, N_SOURCES)), first, second


def counts_of(rng: Generator, m: int) -> tuple[Array, Array, Array]:
    """Draw counts with many zeros, a third of which depend equally on two labels."""
    labels = rng.integers(0, 2, size=(2, m)).astype(float)
    rates = np.exp(rng.normal(0.0, 1.0, size=N_SOURCES) - 0.5)
    effect = np.where(np.arange(N_SOURCES) % 3 == 0, 0.7, 0.0)
    depth = np.exp(0.3 * rng.normal(size=m))
    sources = rng.poisson(depth[:, None] * rates * np.exp(labels.sum(axis=0)[:, None] * effect))
    return np.log1p(sources), labels[0], labels[1]


SCAN_LAWS = {
    "equally on both, in blocks": equal,
    "on neither": unrelated,
    "counts with many zeros, labels as targets": counts_of,
}
ROWS = (50, 100)


def scan_cell(
    draw: Callable[[Generator, int], tuple[Array, Array, Array]], m: int, number: int, draws: int
) -> dict[tuple[str, str, str], float]:
    """Count samples in which a scan makes any false claim."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for at in range(draws):
        rng = np.random.default_rng([32, number, m, at])
        found = reldep.scan(*draw(rng, m), adjust="holm", n_simulations=SIMULATIONS, rng=at)
        for alternative in ("two-sided", "greater"):
            for adjust in ("single-step", "holm"):
                # As scan() does, without testing every source again.
                adjusted = found.tests.adjusted_pvalues(
                    alternative, adjust, SIMULATIONS, np.random.default_rng(at)
                )
                counts["cka", adjust, alternative] += bool((adjusted <= LEVEL).any())
        counts["cka", "pvalue", "share below .05"] += float((found.pvalue < LEVEL).mean())
    return dict(counts)


SECTION = """\
## Groups beside Fisher's z, and scans

Level at 5% of `reldep.groups` itself with 40 rows in the first group and 160 in the second, in both
tails ({group_draws:,} samples; "upper": stronger in the first). Beside it Fisher's z for two
independent Pearson correlations, which cocor gives, where the dependence is straight and normal. A
rate of .05 is known to ±.01.

{groups}

The chance of any false claim at 5% in a scan of {sources} sources none of which depends more on one
target than on the other, adjusted by the joint law of all sources ("single-step", the default,
{simulations:,} draws of it) and by Holm's procedure; {scan_draws:,} samples, so that a rate of .05
is known to ±.03. Written by `benchmarks/calibration_groups.py`.

{scans}
"""


def section() -> str:
    """Write the section of the page of calibration."""
    from calibration_tables import markdown, shown

    rows = Tally("calibration_groups").rows()
    rates = Rates(rows)
    draws = {(row["law"], row["m"]): row["draws"] for row in rows}
    m = sum(SIZES)
    methods = (("cka", "default"), ("cka", "linear kernel"), ("r", "Fisher's z"))
    groups = []
    for name, law in GROUP_LAWS.items():
        if (name, m) not in draws:
            continue
        cells = []
        for measure, method in methods:
            sides = [rates(name, m, measure, method, side) for side in ("upper", "lower")]
            absent = method != "default" and not law.is_linear
            total = None if absent else sum(side or 0.0 for side in sides)
            cells += [shown(total), *(["–", "–"] if absent else [shown(s or 0.0) for s in sides])]
        groups.append([f"{name}{'' if law.is_null else ' (power)'}", *cells])
    heads = [head for _, method in methods for head in (method, "upper", "lower")]
    scans = [
        [name, str(size)]
        + [
            shown(rates(name, size, "cka", adjust, side))
            for adjust in ("single-step", "holm")
            for side in ("two-sided", "greater")
        ]
        for name in SCAN_LAWS
        for size in ROWS
        if (name, size) in draws
    ]
    scan_heads = [
        f"{adjust}, {side}"
        for adjust in ("joint law", "Holm")
        for side in ("two-sided", "one-sided")
    ]
    return SECTION.format(
        groups=markdown(["law", *heads], groups),
        scans=markdown(["sources depend", "rows", *scan_heads], scans),
        sources=N_SOURCES,
        simulations=SIMULATIONS,
        group_draws=GROUP_DRAWS,
        scan_draws=next((n for (name, _), n in draws.items() if name in SCAN_LAWS), SCAN_DRAWS),
    )


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    warnings.simplefilter("ignore", reldep.ReldepWarning)
    tally = Tally("calibration_groups")
    done = tally.done()
    for number, (name, law) in enumerate(GROUP_LAWS.items()):
        if (name, sum(SIZES)) not in done:
            draws = 20 if quick else GROUP_DRAWS
            found = groups_cell(law, number, draws)
            tally.add(name, sum(SIZES), {key: (n, draws) for key, n in found.items()})
    for number, (name, draw) in enumerate(SCAN_LAWS.items()):
        for m in ROWS:
            if (name, m) not in done:
                draws = 10 if quick else SCAN_DRAWS
                found = scan_cell(draw, m, number, draws)
                tally.add(name, m, {key: (n, draws) for key, n in found.items()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
