"""Measure by simulation how far p-values, intervals, sets and plans can be trusted.

    export OMP_NUM_THREADS=1
    python benchmarks/calibration.py                       # run what is missing, write the pages
    python benchmarks/calibration.py --only series         # one table
    python benchmarks/calibration.py --again "rows/8% diseased"  # cells that begin so, again
    python benchmarks/calibration.py --page                # only write the pages
    python benchmarks/calibration.py --smoke               # two samples of every cell, not kept
    python benchmarks/calibration.py --levels              # some levels next to the published ones

Every question is asked through the public names, as users do. Counts of each cell go to
``benchmarks/results/calibration.csv``, so that a run that was stopped goes on where it was; seeds
are fixed by the name of the cell. The pages are ``docs/calibration.md`` and the tables of
``docs/guide/given.md``, ``cautions.md`` (limits of unlike targets) and ``kernels.md`` (survival).
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from cautions import caution_cells
from default_kernel import kernel_cells
from given import given_cells
from scipy.special import ndtr, ndtri, stdtr
from scipy.stats import rankdata
from simulation import (
    ALIKE,
    CLUSTERS,
    SERIES,
    UNLIKE,
    WORLDS,
    Cell,
    Draw,
    Generator,
    from_world,
    population,
    store,
    stored,
    tune,
)

import reldep
from kernels import survival_cells
from reldep.exceptions import InputError
from reldep.kernels import Delta, Laplace, Precomputed
from reldep.stats.pairwise import contrast

# Laws and frames on whose first 100 samples of 50 rows the bootstrap is run, half a second each.
BOOTSTRAPPED = {"linear", "counts", "two clumps", "iris", "wine", "mice", *UNLIKE}
DIFFERENCE = np.array([1.0, -1.0])


def tails(events: Counter[str], answer: Any, truth: float = 0.0) -> None:
    """Count in which tail the interval of a difference misses the truth, two- and one-sided."""
    for name, level in (("one-sided ", 0.90), ("", 0.95)):
        low, high = answer.confidence_interval(level)
        events[f"{name}upper"] += low > truth
        events[f"{name}lower"] += high < truth


def bootstrap(sample: tuple[Any, ...], rng: Generator, n: int = 199) -> Any:
    """Return the percentile interval of the difference of CKAs, rows resampled in pairs."""
    kernels = [Laplace("mean") if one.dtype.kind in "fiub" else Delta() for one in sample]
    matrices = [kernel(values) for kernel, values in zip(kernels, sample, strict=True)]
    m, found = len(sample[0]), []
    for _ in range(n):
        rows = np.ix_(*[rng.integers(m, size=m)] * 2)
        x, y, z = (Precomputed(matrix[rows]) for matrix in matrices)
        found.append(reldep.cka(x, y) - reldep.cka(x, z))
    return np.quantile(found, [0.025, 0.975])


def rows_cells() -> Iterator[Cell]:
    """Yield independent rows: unlike and alike targets, and real frames."""
    unlike = {20: 1000, 50: 1000, 100: 1000, 300: 500, 1000: 400}
    alike = {20: 500, 50: 500, 100: 500, 300: 400, 1000: 200}
    for name, law in {**ALIKE, **UNLIKE}.items():
        for m, n in (alike if name in ALIKE else unlike).items():

            def draw(rng: Generator, law=law, name=name, m=m) -> Any:
                return law.draw(rng, m, tune(name) if name in UNLIKE else 1.0)

            yield Rows("rows", name, str(m), n, draw)
    for name in WORLDS:
        for m, n in {20: 500, 50: 500, 100: 500, 300: 400}.items():
            draw = partial(from_world, name, m=m)
            yield Rows("worlds", name, str(m), n, draw, population(name))


@dataclass(frozen=True)
class Rows(Cell):
    """Independent rows: the default, the published test, Williams's t and the bootstrap."""

    truth: tuple[float, float] = (0.0, 0.0)

    def sample(self, at: int) -> Counter[str]:
        """Count what the tests say of one sample."""
        x, y, z = sample = self.draw(self.rng(at))
        gap, events = self.truth[0] - self.truth[1], Counter[str]()
        try:
            answer = reldep.compare(x, y, z)
        except InputError:
            return Counter({"no error": 1})
        tails(events, answer, gap)
        pair = answer.dependences
        low, high = pair.intervals(0.95)
        events["one missed"] += not low[0] <= self.truth[0] <= high[0]
        J = pair.deviations
        skewness = (J**3).mean(axis=1) / J.std(axis=1) ** 3
        events["unlike"] += abs(skewness[0] - skewness[1]) > 1.5 and answer.pvalue >= 0.025
        if at < 100 and self.size == "50" and self.law in BOOTSTRAPPED:
            low, high = bootstrap(sample, self.rng(at, 1))
            events["bootstrap samples"] += 1
            events["bootstrap"] += not low <= gap <= high
        if any(self.truth):
            return events
        if all(len(np.unique(one)) > 2 or one.dtype.kind == "U" for one in sample):
            z_published = reldep.paper_test(*sample).statistic
            events["published"] += abs(z_published) > 1.96
        if all(one.ndim == 1 and one.dtype.kind in "fi" for one in sample):
            r = np.corrcoef(sample)
            events["Williams"] += williams(r[0, 1], r[0, 2], r[1, 2], len(x))[1] < 0.05
        return events


def large_cells() -> Iterator[Cell]:
    """Yield both sides of every size at which another engine takes over, and blocks.

    Alike targets only: a tuned tie is off by a third of a standard error at these sizes.
    """
    engines = {
        "2,999": (2_999, {}, 100),
        "3,001": (3_001, {}, 300),
        "6,000, tiled": (6_000, {"engine": "tiled"}, 100),
        "6,000, blocks": (6_000, {"engine": "blocks"}, 300),
        "20,000": (20_000, {}, 60),
        "20,000, blocks": (20_000, {"engine": "blocks"}, 300),
    }
    for law_name in ("linear", "spiral", "ten columns", "t₂ tails", "counts", "rare label"):
        law = ALIKE[law_name]
        for size, (m, options, n) in engines.items():

            def one(rng: Generator, law=law, m=m, options=options) -> Counter[str]:
                events: Counter[str] = Counter()
                answer = reldep.compare(*law.draw(rng, m), **options)
                tails(events, answer)
                events[f"by {answer.provenance.engine.split()[0]}"] += 1
                return events

            yield Cell("large", law_name, size, n, one)


def williams(r12, r13, r23, n):
    """Return Williams's t (1959) and its two-sided p-value with n - 3 degrees of freedom.

    As in Steiger (1980, equation 7), with ``|R|`` the determinant of the correlation matrix.
    """
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / below)
    return t, 2 * stdtr(n - 3, -np.abs(t))


def dependent_cells() -> Iterator[Cell]:
    """Yield series and clusters: equality, and independence."""
    for name, draw in SERIES.items():
        for m, n in {80: 400, 200: 200, 600: 200}.items():

            def one(rng: Generator, draw=draw, m=m) -> Counter[str]:
                events: Counter[str] = Counter()
                answer = reldep.compare(*draw(rng, m), max_lag="auto")
                events["rejected"] += answer.pvalue < 0.05
                found = answer.dependences
                blocks = replace(found.units, most_df=found.rows.n_blocks - 1.0)
                before = contrast(replace(found, units=blocks), DIFFERENCE)
                events["blocks alone"] += before.pvalue() < 0.05
                said = [str(caution) for caution in answer.warnings]
                events["slow"] += any("so slowly" in text for text in said)
                events["season"] += any("season of" in text for text in said)
                return events

            yield Cell("series", name, str(m), n, one)
    for name, draw in CLUSTERS.items():
        for size, n in {"10 × 5": 200, "20 × 5": 200, "20 of 1 to 45": 200}.items():

            def one(rng: Generator, draw=draw, size=size) -> Counter[str]:
                codes = _codes(rng, size)
                x, y, z = draw(rng, codes)
                answer = reldep.compare(x, y, z, clusters=codes)
                apart = reldep.dependence(x, y - x, clusters=codes) if len(codes) < 150 else None
                return Counter(
                    {
                        "rejected": answer.pvalue < 0.05,
                        "rows": reldep.compare(x, y, z).pvalue < 0.05,
                        "dependent": apart is not None and apart.pvalue < 0.05,
                    }
                )

            yield Cell("clusters", name, size, n, one)


def _codes(rng: Generator, size: str) -> Any:
    if "of" in size:
        sizes = np.round(np.exp(rng.uniform(0, np.log(45), size=20))).astype(int)
        return np.repeat(np.arange(20), sizes)
    count, each = map(int, size.split(" × "))
    return np.repeat(np.arange(count), each)


def many_cells() -> Iterator[Cell]:
    """Yield rankings, matrices, scans and groups: false claims and what sets and intervals miss."""
    truths = {noise: _truth(noise) for noise in (0.5, 1.0, 2.0)}
    for p, m, n in ((5, 50, 1000), (20, 50, 400), (20, 100, 400), (30, 200, 150)):
        for name in ("tied", "three groups"):
            noises = np.ones(p) if name == "tied" else np.repeat([0.5, 1, 2], -(-p // 3))[:p]

            def one(rng: Generator, noises=noises, m=m) -> Counter[str]:
                x = rng.normal(size=m)
                data = {f"t{i}": x + s * rng.normal(size=m) for i, s in enumerate(noises)}
                answer = reldep.rank(x, data, n_simulations=2_000, rng=rng)
                return _ranking_events(answer, noises, truths)

            yield Cell("rank", f"{name}, {p} targets", str(m), n, one)
    for kind in ("normal", "many zeros"):
        for m, n in ((50, 500), (200, 300)):
            yield Cell("matrix", f"8 variables, {kind}", str(m), n, _matrix(kind, m))
    for kind in ("y = x + ε", "y = x² + ε", "many zeros", "independent"):
        for sizes, n in (((20, 20), 200), ((20, 80), 200), ((40, 160), 200)):
            yield Cell("groups", kind, " and ".join(map(str, sizes)), n, _groups(kind, sizes))
    for m, n in ((50, 60), (100, 60)):

        def scan(rng: Generator, m=m) -> Counter[str]:
            hidden = rng.normal(size=(m, 10))
            sources = {f"s{i}": hidden[:, i % 10] + rng.normal(size=m) for i in range(100)}
            y, z = (hidden.sum(axis=1) + 2 * rng.normal(size=m) for _ in range(2))
            found = reldep.scan(sources, y, z, n_simulations=1_000, rng=rng).to_frame()
            return Counter(
                {
                    "false claim": bool((found["adjusted_pvalue"] < 0.05).any()),
                    "discovery": bool((found["fdr"] < 0.05).any()),
                }
            )

        yield Cell("scan", "100 sources, equally related to both", str(m), n, scan)


def scale_cells() -> Iterator[Cell]:
    """Yield the comparison over all bandwidths."""
    for name in ("linear", "circle", "t₂ tails", "two clumps"):

        def one(rng: Generator, name=name) -> Counter[str]:
            answer = reldep.sensitivity(*ALIKE[name].draw(rng, 50), rng=rng)
            table = answer.to_frame()
            low, high = (table[name].to_numpy() for name in ("band_low", "band_high"))
            return Counter(
                {
                    "band missed": bool(((low > 0) | (high < 0)).any()),
                    "some": answer.some_pvalue < 0.05,
                    "every": answer.every_pvalue < 0.05,
                    "smallest": bool(table["pvalue"].min() < 0.05),
                }
            )

        yield Cell("scales", name, "50", 100, one)


def _truth(noise: float) -> float:
    """Return the CKA of x and x + noise ε, averaged over six samples."""
    rngs = [np.random.default_rng([2, seed]) for seed in range(6)]
    pairs = [(rng.normal(size=20_000), rng.normal(size=20_000)) for rng in rngs]
    return float(np.mean([reldep.cka(x, x + noise * e) for x, e in pairs]))


def _ranking_events(answer: Any, noises: Any, truths: dict[float, float]) -> Counter[str]:
    table, found = answer.pairwise(), answer.to_frame()
    place = {f"t{i}": i for i in range(len(noises))}
    first = np.array([place[name] for name in table["first"]])
    second = np.array([place[name] for name in table["second"]])
    equal = noises[first] == noises[second]
    true = np.array([truths[float(noise)] for noise in noises])
    claims = table["adjusted_pvalue"].to_numpy() < 0.05
    gap = true[first] - true[second]
    off = (gap < table["low"].to_numpy()) | (gap > table["high"].to_numpy())
    own = true[[place[name] for name in found["target"]]]
    missed = (own < found["low"].to_numpy()) | (own > found["high"].to_numpy())
    ranks = rankdata(noises + 1e-9 * np.arange(len(noises)))[[place[t] for t in found["target"]]]
    outside = (ranks < found["rank_low"].to_numpy()) | (ranks > found["rank_high"].to_numpy())
    events = Counter(
        {
            "false claim": bool(claims[equal].any()),
            "difference missed": bool(off.any()),
            "dependence missed": bool(missed.any()),
            "rank missed": bool(outside.any()),
            "best lost": "t0" not in answer.best,
        }
    )
    if not equal.all():
        events["found"] = float(claims[~equal].mean())
    return events


def _matrix(kind: str, m: int) -> Draw:
    """Make a matrix of eight variables with one factor; the truth is that of large samples."""

    def data(rng: Generator, m: int) -> dict[str, Any]:
        factor = rng.normal(size=m)
        values = {f"v{i}": 0.3 * i * factor + rng.normal(size=m) for i in range(8)}
        return (
            values if kind == "normal" else {k: np.maximum(v - 0.8, 0) for k, v in values.items()}
        )

    large = [reldep.matrix(data(np.random.default_rng([3, s]), 4_000)).estimates for s in range(3)]
    unrelated = np.arange(28) < 7  # v0 does not have the factor
    truth = np.where(unrelated, 0.0, np.mean(large, axis=0))

    def one(rng: Generator) -> Counter[str]:
        answer = reldep.matrix(data(rng, m), n_simulations=2_000, rng=rng)
        low, high = answer.confidence_interval()
        alone_low, alone_high = answer.dependences.intervals(0.95)
        return Counter(
            {
                "some missed": bool(((truth < low) | (truth > high)).any()),
                "each missed": float(((truth < alone_low) | (truth > alone_high)).mean()),
                "false claim": bool((answer.adjusted_pvalues[unrelated] < 0.05).any()),
            }
        )

    return one


def _groups(kind: str, sizes: tuple[int, ...]) -> Draw:
    m, by = sum(sizes), np.repeat([f"g{i}" for i in range(len(sizes))], sizes)

    def one(rng: Generator) -> Counter[str]:
        x, e = rng.normal(size=(2, m))
        if kind == "many zeros":
            x = np.maximum(x - 0.8, 0)
            y = np.maximum(x + 0.5 * e - 0.5, 0)
        else:
            y = {"y = x + ε": x + e, "y = x² + ε": x**2 + e, "independent": e}[kind]
        answer = reldep.groups(x, y, by)
        return Counter({"rejected": answer.pvalue < 0.05})

    return one


def plan_cells() -> Iterator[Cell]:
    """Yield pilots of 80 rows: the power that their plans have in truth, and how many have none."""
    laws = {
        "noise 0.7 and 1.1": (0.7, 1.1),
        "noise 0.8 and 1.2": (0.8, 1.2),
        "noise 0.5 and 0.6": (0.5, 0.6),
    }
    for name, noises in laws.items():

        def pair(rng: Generator, m: int, noises=noises) -> Any:
            x = rng.normal(size=m)
            return reldep.compare(x, *(x + noise * rng.normal(size=m) for noise in noises))

        for m, n in ((30, 1000), (60, 1000), (120, 1000), (240, 600), (480, 300)):
            yield Cell(
                "power", name, str(m), n, lambda r, m=m, p=pair: Counter(hit=p(r, m).pvalue < 0.05)
            )
        yield Cell("plans", name, "80", 500, _pilot(name, pair))


def _pilot(name: str, pair: Any) -> Draw:
    def one(rng: Generator) -> Counter[str]:
        answer, events = pair(rng, 80), Counter[str]()
        events["pilot hit"] += answer.pvalue < 0.05
        for kind, careful in (("plain", False), ("careful", True)):
            try:
                power = true_power(name, answer.sample_size(careful=careful))
            except InputError:
                continue
            events[f"{kind} plans"] += 1
            events[f"{kind} power"] += power
            events[f"{kind} kept"] += power >= 0.8
            if answer.pvalue < 0.05:
                events[f"{kind} power after"] += power
        return events

    return one


def true_power(name: str, n: int) -> float:
    """Return the power at n from the cells of power: probits are straight in √n."""
    counts = {key: events for key, events in stored().items() if key.startswith(f"power/{name}/")}
    sizes = np.array([int(key.rsplit("/", 1)[1]) for key in counts])
    share = np.array([events["hit"] / events["samples"] for events in counts.values()])
    inner = (share > 0.02) & (share < 0.995)
    slope, start = np.polyfit(np.sqrt(sizes[inner]), ndtri(share[inner]), 1)
    return float(ndtr(start + slope * math.sqrt(n)))


TABLES = {
    "rows": rows_cells,
    "dependent": dependent_cells,
    "many": many_cells,
    "scales": scale_cells,
    "plans": plan_cells,
    "large": large_cells,
    "cautions": caution_cells,
    "given": given_cells,
    "survival": survival_cells,
    "kernel": kernel_cells,
}


# Cells of every kind of rows that are counted again in every build; none has the slow bootstrap.
CHECKED = (
    *("rows/linear/20", "rows/two clumps/100", "rows/6% rare rows/20", "worlds/mice/20"),
    *("series/AR(0.8) */80", "clusters/ICC 0.5/20 × 5"),
)


def wrong_levels() -> list[str]:
    """Return the checked cells whose level is not the published one.

    Seeds are fixed, so that the samples are the same: counts that differ by more than one binomial
    standard error come from the program.
    """
    published, wrong = stored(), []
    for cell in (*rows_cells(), *dependent_cells()):
        if cell.name not in CHECKED:
            continue
        n = published[cell.name]["samples"]
        counts = cell.run(int(n)), published[cell.name]
        events = ("rejected",) if "rejected" in counts[1] else ("upper", "lower")
        now, before = (sum(found[event] for event in events) for found in counts)
        print(f"{cell.name}: {now / n:.3f}, published {before / n:.3f}", flush=True)
        if abs(now - before) > math.sqrt(before * (1 - before / n)):
            wrong.append(cell.name)
    return wrong


def main() -> None:
    """Run what is missing, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=TABLES, help="run one table")
    parser.add_argument("--again", default=None, help="forget cells whose names begin so")
    parser.add_argument("--page", action="store_true", help="only write the pages")
    parser.add_argument("--smoke", action="store_true", help="two samples of every cell")
    parser.add_argument("--levels", action="store_true", help="check some levels, not kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.levels:
        wrong = wrong_levels()
        sys.exit(f"not the published level: {', '.join(wrong)}" if wrong else 0)
    if options.again is not None:
        store({n: own for n, own in stored().items() if not n.startswith(options.again)})
    for table, cells in TABLES.items():
        if options.page or options.only not in (None, table):
            continue
        for cell in cells():
            if options.smoke:
                print(cell.name, dict(cell.run(2)))
            elif stored().get(cell.name, Counter())["samples"] < cell.samples:
                found = cell.run()
                store({**stored(), cell.name: found})
                print(cell.name, flush=True)
    if not options.smoke:
        import calibration_page

        calibration_page.write()


if __name__ == "__main__":
    main()
