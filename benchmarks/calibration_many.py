"""Cells of series, clusters, rankings, matrices, groups, scans, bandwidths and plans."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from laws import ALIKE, CLUSTERS, SERIES
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata
from tables import Cell, Draw, Generator, stored

import reldep
from reldep.exceptions import InputError
from reldep.stats.pairwise import contrast

if TYPE_CHECKING:
    from collections.abc import Iterator

DIFFERENCE = np.array([1.0, -1.0])


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
