"""Rows that depend on each other: levels of differences and of independence.

Clusters and series are tested with tuples from four different clusters (blocks of a series) and
by leaving out a cluster; beside it stands the test that takes the rows for independent, and the
older one that adds up influence values. All with CKA and the default kernel.
"""

from __future__ import annotations

from collections import Counter

import batched
import numpy as np
from batched import Array
from calibration_rows import KERNELS, PAIRS, scored, z_statistics
from counting import Tally
from scipy.signal import lfilter

from reldep.engine.clusters import ClusteredKernel, Clustering
from reldep.stats.estimates import estimates
from reldep.stats.independence import circular_test, cluster_independence, independence_test
from reldep.stats.series import stretches
from reldep.stats.units import Units, numbers_of, square

Generator = np.random.Generator
LEVEL = 0.05
PERMUTATIONS = 199
DRAWS = 1_000


def shared_and_own(rng: Generator, codes: Array, icc: float) -> Array:
    """Draw normal values of which clusters share a part of the variance."""
    shared = rng.normal(size=codes.max() + 1)[codes]
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=len(codes))


def in_clusters(rng: Generator, codes: Array, law: str) -> tuple[Array, Array, Array]:
    """Draw a source and two targets with equal dependence on it."""
    if law == "mixed":  # same marginal law, but the noise of y is shared and that of z is not
        x, e, f = (shared_and_own(rng, codes, icc) for icc in (0.8, 0.9, 0.0))
        return x, x + e, x + f
    x, e, f = (shared_and_own(rng, codes, 0.5) for _ in range(3))
    if law == "skewed":
        x, e, f = np.exp(x), np.exp(e), np.exp(f)
    noise = 2.0 if law == "weak" else 1.0
    return x, x + noise * e, x + noise * f


def series(rng: Generator, m: int, memory: float, law: str) -> tuple[Array, Array, Array]:
    """Draw autoregressive series of variance 1."""

    def one(rho: float) -> Array:
        steps = rng.normal(size=m + 200) * np.sqrt(1 - rho**2)
        return lfilter([1.0], [1.0, -rho], steps)[200:]

    x, e, f = one(memory), one(memory), one(0.0 if law == "mixed" else memory)
    return x, x + e, x + f


def clustered_kernels(
    sample: tuple[Array, ...], clustering: Clustering
) -> tuple[dict[str, ClusteredKernel], dict[str, batched.Stack]]:
    kernels, stacks = {}, {}
    for name, values in zip("xyz", sample, strict=False):
        stack = KERNELS["default"](values[None, :, None])
        stacks[name] = stack
        kernels[name] = ClusteredKernel.of(
            stack.kernel[0],
            clustering,
            slope=stack.slope[0],
            shift=clustering.shift(stack.moves[0]),
        )
    return kernels, stacks


def count_differences(
    sample: tuple[Array, ...], codes: Array, by_rows: bool, events: Counter[str]
) -> None:
    """Count rejections of equality by three methods."""
    clustering = Clustering.of(codes, by_rows=by_rows)
    kernels, stacks = clustered_kernels(sample, clustering)
    found = batched.influence(stacks)
    if not found.usable()[0]:
        return
    events["draws"] += 1
    events["rows taken as independent"] += abs(scored(found, "cka")[0][0]) < LEVEL / 2
    events["sums of influence values, z"] += abs(_summed_z(found, codes)) > 1.96
    names, difference = found.names, np.array([1.0, -1.0])
    places = numbers_of(found.pairs, names)
    hsics = square(len(names), places, found.means[0].mean(axis=1))
    summed = Units.summed(found.means[0], found.bandwidth[0], codes, names, places, hsics)
    exact = Units.clusters(kernels, PAIRS, clustering)
    for method, units in (("first order", summed), ("different clusters", exact)):
        test = estimates(units, "cka", PAIRS).estimate(difference)
        events[method] += test.pvalue() < LEVEL


def _summed_z(found: batched.Samples, codes: Array) -> float:
    """Give the older statistic: the plug-in variance of influence values summed by cluster."""
    z, _, _ = z_statistics(found, "cka", aware=True)
    at = {pair: i for i, pair in enumerate(found.pairs)}
    H = found.means.mean(axis=2)[0]
    psi = 4.0 * (found.means[0] - H[:, None]) + found.bandwidth[0]
    rows = []
    for pair in PAIRS:
        own = [at[name, name] for name in pair]
        scale = np.sqrt(H[own[0]] * H[own[1]])
        value = H[at[pair]] / scale
        rows.append(psi[at[pair]] / scale - sum(value / (2 * H[i]) * psi[i] for i in own))
    row = rows[0] - rows[1]
    alone = np.sqrt((row**2).sum())
    return float(z[0] * alone / np.sqrt((np.bincount(codes, weights=row) ** 2).sum()))


def sizes_of(kind: str, rng: Generator) -> Array:
    """Give the cluster of every row: "20x5", or sizes from 1 to 45."""
    if kind.startswith("1 to 45"):
        count = int(kind.split("G = ")[1])
        sizes = np.round(np.exp(rng.uniform(0, np.log(45), size=count))).astype(int)
        return np.repeat(np.arange(count), sizes)
    count, size = map(int, kind.split("x"))
    return np.repeat(np.arange(count), size)


DIFFERENCES = [
    *[
        ("clusters", f"{law}, {kind}")
        for law, kind in (
            ("linear", "10x5"),
            ("linear", "20x5"),
            ("weak", "20x5"),
            ("skewed", "20x5"),
            ("mixed", "10x5"),
            ("mixed", "20x5"),
            ("mixed", "1 to 45, G = 20"),
        )
    ],
    *[
        ("series", f"{law}, AR({memory}), {m}")
        for law, memory, m in (
            ("linear", 0.5, 100),
            ("linear", 0.8, 100),
            ("linear", 0.9, 100),
            ("mixed", 0.9, 100),
            ("linear", 0.8, 400),
            ("mixed", 0.9, 400),
        )
    ],
]
INDEPENDENCE = [
    "ICC 0.8, 20x5",
    "ICC 0.5, 20x5",
    "ICC 0.8, 6x10",
    "ICC 0.8, 1 to 45, G = 20",
    "AR(0.5), 100",
    "AR(0.8), 100",
    "AR(0.9), 100",
    "AR(0.9), 400",
]


def difference_cell(kind: str, name: str, draws: int) -> Counter[str]:
    """Run a cell of clusters or series."""
    events: Counter[str] = Counter()
    for at in range(draws):
        rng = np.random.default_rng([4, sum(map(ord, name)), at])
        law, rest = name.split(", ", 1)
        if kind == "clusters":
            codes = sizes_of(rest, rng)
            sample = in_clusters(rng, codes, law)
        else:
            memory, m = float(rest.split("(")[1].split(")")[0]), int(rest.split(", ")[1])
            sample = series(rng, m, memory, law)
            codes = stretches(m)
        count_differences(sample, codes, kind == "series", events)
    return events


def independence_cell(name: str, draws: int) -> Counter[str]:
    """Run a cell in which the two variables are independent of each other."""
    events: Counter[str] = Counter()
    for at in range(draws):
        rng = np.random.default_rng([5, sum(map(ord, name)), at])
        events["draws"] += 1
        if name.startswith("ICC"):
            icc, kind = float(name[4:7]), name.split(", ", 1)[1]
            codes = sizes_of(kind, rng)
            x, y = (shared_and_own(rng, codes, icc) for _ in range(2))
        else:
            m = int(name.split(", ")[1])
            memory = float(name.split("(")[1].split(")")[0])
            x, y, _ = series(rng, m, memory, "linear")
            y = y - x
            codes = stretches(m)
        clustering = Clustering.of(codes)
        kernels, stacks = clustered_kernels((x, y), clustering)
        H = batched.influence(stacks).means.mean(axis=2)[0]
        cka = H[1] / np.sqrt(H[0] * H[2])
        events["rows taken as independent"] += independence_test(cka, len(x)).pvalue < LEVEL
        if name.startswith("ICC"):
            test = cluster_independence(kernels["x"], kernels["y"], clustering, PERMUTATIONS, rng)
        else:
            test = circular_test(stacks["x"].kernel[0], stacks["y"].kernel[0])
        events["new"] += test.pvalue <= LEVEL
    return events


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    tally = Tally("calibration_dependent")
    done = tally.done()
    draws = 20 if quick else DRAWS

    def add(name: str, kind: str, events: Counter[str]) -> None:
        total = events.pop("draws")
        tally.add(name, 0, {("cka", kind, what): (n, total) for what, n in events.items()})

    for kind, name in DIFFERENCES:
        if (f"{kind}: {name}", 0) not in done:
            add(f"{kind}: {name}", kind, difference_cell(kind, name, draws))
    for name in INDEPENDENCE:
        if (f"independence: {name}", 0) not in done:
            add(f"independence: {name}", "independence", independence_cell(name, draws))


if __name__ == "__main__":
    main()
