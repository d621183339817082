"""Measure by simulation how far p-values, intervals, sets and plans can be trusted.

    export OMP_NUM_THREADS=1
    python benchmarks/calibration.py                       # run what is missing, write the page
    python benchmarks/calibration.py --only series         # one table
    python benchmarks/calibration.py --again "rows/8% diseased"  # cells that begin so, again
    python benchmarks/calibration.py --smoke               # two samples of every cell, not kept
    python benchmarks/calibration.py --levels              # some levels next to the published ones

All but many small samples is asked through the public names, as users do. Counts of each cell go to
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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import batched
import numpy as np
from calibration_cautions import caution_cells
from calibration_given import given_cells
from calibration_many import dependent_cells, many_cells, plan_cells, scale_cells
from kernel_study import kernel_cells
from kernels_compared import survival_cells
from laws import ALIKE, UNLIKE, WORLDS, from_world, population, tune
from scipy.special import ndtri, stdtr
from tables import Cell, Generator, store, stored

import reldep
from reldep.stats.pairwise import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

# Laws and frames on whose first 100 samples of 50 rows the bootstrap is run, 10 ms each.
BOOTSTRAPPED = {"linear", "counts", "two clumps", "iris", "wine", "mice", *UNLIKE}


def tails(events: Counter[str], answer: Any, truth: float = 0.0) -> None:
    """Count in which tail the interval of a difference misses the truth, two- and one-sided."""
    for name, level in (("one-sided ", 0.90), ("", 0.95)):
        low, high = answer.confidence_interval(level)
        events[f"{name}upper"] += low > truth
        events[f"{name}lower"] += high < truth


def bootstrap(sample: tuple[Any, ...], rng: Generator, n: int = 199) -> tuple[float, float]:
    """Return the percentile interval of the difference of CKAs, rows resampled in pairs."""
    kernels = [_kernel(values) for values in sample]
    m, found = len(sample[0]), np.empty(n)
    for b in range(n):
        rows = np.ix_(*[rng.integers(m, size=m)] * 2)
        x, y, z = (_centred(K[rows]) for K in kernels)
        own = np.vdot(x, x)
        found[b] = sum(
            s * np.vdot(x, K) / np.sqrt(own * np.vdot(K, K)) for s, K in ((1, y), (-1, z))
        )
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _kernel(values: Any) -> Any:
    if values.dtype.kind not in "fiub":
        return (values[:, None] == values).astype(float)
    points = values.reshape(len(values), -1).astype(float)
    D = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    return np.exp(-D * (1 - 1 / len(D)) / D.mean())


def _centred(K: Any) -> Any:
    """Centre a kernel so that mean products over different rows are unbiased HSICs."""
    m = len(K)
    np.fill_diagonal(K, 0.0)
    sums = K.sum(axis=1)
    K = K - (sums[:, None] + sums) / (m - 2) + sums.sum() / ((m - 1) * (m - 2))
    np.fill_diagonal(K, 0.0)
    return K


def rows_cells() -> Iterator[Cell]:
    """Yield independent rows: unlike and alike targets, and real frames."""
    unlike = {20: 1000, 50: 1000, 100: 1000, 300: 500, 1000: 400}
    alike = {20: 500, 50: 500, 100: 500, 300: 400, 1000: 200}
    for name, law in {**ALIKE, **UNLIKE}.items():
        for m, n in (alike if name in ALIKE else unlike).items():

            def draw(rng: Generator, law=law, name=name, m=m) -> Any:
                return law.draw(rng, m, tune(name) if name in UNLIKE else 1.0)

            yield Stacked("rows", name, str(m), n, draw)
    for name in WORLDS:
        for m, n in {20: 500, 50: 500, 100: 500, 300: 400}.items():
            draw = partial(from_world, name, m=m)
            yield Stacked("worlds", name, str(m), n, draw, population(name))


@dataclass(frozen=True)
class Stacked(Cell):
    """A cell of many small samples, which are tested in stacks.

    The numbers are those of `reldep.compare` and `reldep.paper_test` sample by sample
    (tests/stats/test_batched.py), in a tenth of the time. `draw` returns a sample.
    """

    truth: tuple[float, float] = (0.0, 0.0)

    def run(self, samples: int | None = None) -> Counter[str]:
        """Count over all samples."""
        total = samples or self.samples
        events: Counter[str] = Counter()
        size = max(1, 2**16 // int(self.size) ** 2)
        for start in range(0, total, size):
            seeds = range(start, min(start + size, total))
            drawn = [self.draw(self.rng(at)) for at in seeds]
            events.update(stack_events(drawn, self.truth))
            for at, sample in zip(seeds, drawn, strict=True):
                if at < 100 and self.size == "50" and self.law in BOOTSTRAPPED:
                    low, high = bootstrap(sample, self.rng(at, 1))
                    events["bootstrap samples"] += 1
                    events["bootstrap"] += not low <= self.truth[0] - self.truth[1] <= high
        events["samples"] = total
        return events


def stack_events(drawn: list[Any], truth: tuple[float, float]) -> Counter[str]:
    """Count what the default, the published test and Williams's t say of a stack of samples."""
    values = [np.stack([sample[i] for sample in drawn]) for i in range(3)]
    events: Counter[str] = Counter()
    found = batched.influence(dict(zip("xyz", map(_stack, values), strict=True)))
    fine = found.usable()
    events["no error"] = int((~fine).sum())
    if fine.any():
        count = int(fine.sum())
        estimates = found.keep(fine).estimates([("x", "y"), ("x", "z")], "cka")
        tests = differences(estimates, 2 * np.arange(count), 2 * np.arange(count) + 1)
        gap = truth[0] - truth[1]
        for name, level in (("one-sided ", 0.90), ("", 0.95)):
            low, high = tests.intervals(float(ndtri(0.5 + level / 2)))
            events[f"{name}upper"] = int((low > gap).sum())
            events[f"{name}lower"] = int((high < gap).sum())
        low, high = estimates.intervals(0.95)
        events["one missed"] = int(((truth[0] < low[::2]) | (truth[0] > high[::2])).sum())
        J = estimates.deviations
        skewness = (J**3).mean(axis=1) / J.std(axis=1) ** 3
        apart = np.abs(skewness[::2] - skewness[1::2]) > 1.5
        events["unlike"] = int((apart & (tests.pvalue >= 0.025)).sum())
    if any(truth):
        return events
    varied = [len(np.unique(one)) > 2 or one.dtype.kind == "U" for s in drawn for one in s]
    kept = np.array(varied).reshape(-1, 3).all(axis=1)
    z = _published_z([one[kept] for one in values]) if kept.any() else np.zeros(0)
    events["published"] = int((np.abs(z) > 1.96).sum())
    if all(one.ndim == 2 and one.dtype.kind in "fi" for one in values):
        r = correlations(*(one.astype(float) for one in values))
        with np.errstate(all="ignore"):
            events["Williams"] = int((williams(*r, values[0].shape[1])[1] < 0.05).sum())
    return events


def _stack(values: Any) -> batched.Stack:
    if values.dtype.kind not in "fiub":
        codes = np.unique(values, return_inverse=True)[1].reshape(values.shape)
        return batched.delta(codes[:, :, None].astype(float))
    points = values.reshape(*values.shape[:2], -1).astype(float)
    return batched.laplace(batched.mean_scale)(points)


def _published_z(values: list[Any]) -> Any:
    """Return the statistic of the published test: raw HSIC, Gaussian kernel at the median."""
    stacks = []
    for one in values:
        if one.dtype.kind not in "fiub":
            stacks.append(_stack(one))
            continue
        points = one.reshape(*one.shape[:2], -1).astype(float)
        stacks.append(batched.gaussian(batched.median_scale)(points))
    A = batched.influence(dict(zip("xyz", stacks, strict=True)), [("x", "y"), ("x", "z")]).means
    H = A.mean(axis=2)
    psi = 4.0 * (A - H[:, :, None])
    error = np.sqrt(((psi[:, 0] - psi[:, 1]) ** 2).sum(axis=1)) / A.shape[2]
    return (H[:, 0] - H[:, 1]) / error


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


def correlations(x, y, z):
    """Return the three correlations of samples of shape (B, m)."""
    scaled = [(v - v.mean(axis=1, keepdims=True)) for v in (x, y, z)]
    scaled = [v / np.sqrt((v**2).sum(axis=1, keepdims=True)) for v in scaled]
    return tuple((scaled[a] * scaled[b]).sum(axis=1) for a, b in ((0, 1), (0, 2), (1, 2)))


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


# Cells of every kind of rows that are counted again in every build.
CHECKED = (
    *("rows/linear/50", "rows/two clumps/100", "rows/6% rare rows/50", "worlds/mice/50"),
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
