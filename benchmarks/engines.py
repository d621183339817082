"""Blocks of rows: levels, coverage, and the price that answers name, on laws of their own.

Every law has two targets with the same dependence on the source, so that a test at 5 % should
reject in 5 % of samples. The coverage is that of the first dependence, whose true value is the mean
over all samples. The price is how much longer intervals are than with all pairs of rows: the true
one from the variance of the difference between both estimates of a sample.
Run it: python benchmarks/engines.py [--samples 600] [--publish]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from simulation import DOCS, Generator, markdown, publish

import reldep
from reldep.engine import Blocks
from reldep.kernels import Distance, Laplace

ROWS, SIZE = 2_000, 100
PRICED_ROWS, PRICED = 4_000, 200
SYLLABLES = ("da", "fo", "gu", "ja", "ko", "la", "pu", "ro", "sa", "vo")

Law = Callable[..., tuple[Any, Any, Any, dict[str, Any]]]


def steps(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw steps of a normal column with skewed noise, sorted by the first target."""
    x = rng.normal(size=m)
    y, z = (np.floor(2 * x) + rng.gamma(1.5, size=m) for _ in "yz")
    order = np.argsort(y)
    return x[order], y[order], z[order], {}


def heavy(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw five columns with heavy tails and noise that multiplies."""
    x = rng.standard_t(5, size=(m, 5))
    y, z = (x * rng.lognormal(0, 0.7, size=x.shape) for _ in "yz")
    return x, y, z, {"kernel": Laplace(2.5)}


def wide(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw fifty columns of which few matter."""
    x = rng.normal(size=(m, 50)) * np.linspace(2, 0.2, 50)
    y, z = (x + 2 * rng.normal(size=x.shape) for _ in "yz")
    return x, y, z, {"kernel": Laplace(15.0)}


def weak(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw three columns whose spread follows the source a little."""
    x = rng.uniform(-1, 1, size=(m, 3))
    y, z = ((1 + 0.5 * np.abs(x)) * rng.normal(size=x.shape) + 0.2 * x for _ in "yz")
    return x, y, z, {"kernel": Laplace(1.5)}


def independent(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw three unlike variables that know nothing of each other."""
    x, y = rng.laplace(size=(m, 2)), rng.uniform(size=(m, 4))
    return x, y, rng.exponential(size=(m, 4)), {"kernel": Laplace(1.5)}


def labels(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw labels of uneven frequency, of which half are replaced."""
    names, shares = np.array(list("abcdef")), np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
    x = rng.choice(names, m, p=shares)
    y, z = (np.where(rng.random(m) < 0.5, x, rng.choice(names, m, p=shares)) for _ in "yz")
    return x, y, z, {}


def mixed(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw two numbers and a label."""
    x, _, _, _ = labels(rng, m)
    number = rng.normal(size=m) + (x == "a")
    frame = pl.DataFrame({"u": number, "v": rng.normal(size=m), "w": x})
    y, z = (number + rng.normal(size=m) for _ in "yz")
    return frame, y, z, {}


def texts(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw texts of six words whose topic the targets share."""
    words = np.array([f"{a}{b}t" for a in ("ba", "ke", "lo", "mi", "nu", "ra") for b in SYLLABLES])
    topic = rng.integers(0, 6, m)

    def one() -> list[str]:
        on_topic = rng.random((m, 6)) < 0.4
        own = 10 * topic[:, None] + rng.integers(0, 10, (m, 6))
        other = rng.integers(0, 60, (m, 6))
        return [" ".join(row) for row in words[np.where(on_topic, own, other)]]

    return one(), one(), one(), {"kernel": reldep.kernels.Text()}


def clusters(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw 200 clusters of unequal size that share half of each variable."""
    codes = np.sort(rng.choice(200, m, p=rng.dirichlet(np.full(200, 3.0))))
    x, e, f = (rng.normal(size=(200, 2))[codes] + rng.normal(size=(m, 2)) for _ in "xyz")
    return x, x + e, x + f, {"clusters": codes, "kernel": Laplace(2.5)}


def series(rng: Generator, m: int = ROWS) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw moving averages of ten steps; the noise of one target has no memory."""

    def one() -> Any:
        return np.convolve(rng.normal(size=m + 9), np.full(10, 10**-0.5), "valid")

    x = one()
    return x, x + one(), x + rng.normal(size=m), {"max_lag": 9}


LAWS: dict[str, Law] = {
    "one column in steps, file sorted by y": steps,
    "five columns, heavy tails": heavy,
    "fifty columns": wide,
    "weak, three columns": weak,
    "independent": independent,
    "six labels": labels,
    "numbers and a label": mixed,
    "texts of six words": texts,
    "200 unequal clusters": clusters,
    "series, memory of ten steps": series,
}


def measured(law: Law, measure: Any, n_samples: int) -> tuple[str, str]:
    """Return level and coverage of one law and measure."""
    rng = np.random.default_rng(2026)
    rejected, intervals = 0, []
    for i in range(n_samples):
        x, y, z, options = law(rng)
        if measure == "dcor":
            options = {**options, "kernel": Distance()}
        found = reldep.compare(x, y, z, measure=measure, engine=Blocks(SIZE, rng=i), **options)
        rejected += found.pvalue < 0.05
        intervals.append((found.dependences.values[0], *found.dependences.interval(0, 0.95)))
    values, low, high = np.array(intervals).T
    truth = max(values.mean(), 0.0)  # intervals begin at 0
    covered = ((low <= truth) & (truth <= high)).mean()
    return f"{rejected / n_samples:.3f}", f"{covered:.3f}"


def levels(n_samples: int) -> str:
    """Return levels and coverage in Markdown, one row per law."""
    rows = []
    for name, law in LAWS.items():
        has_distances = law not in (labels, mixed, texts)
        found = [measured(law, measure, n_samples) for measure in ("cka", "hsic")]
        found.append(measured(law, "dcor", n_samples) if has_distances else ("–", "–"))
        rows.append([name, *(level for level, _ in found), *(covered for _, covered in found)])
        print(rows[-1], flush=True)
    error = (0.0475 / n_samples) ** 0.5
    header = ["law", "level: cka", "hsic", "dcor", "coverage: cka", "hsic", "dcor"]
    return (
        f"{n_samples} samples of {ROWS:,} rows in {ROWS // SIZE} blocks of {SIZE} "
        f"(binomial error {error:.3f}):\n\n{markdown(header, rows)}"
    )


def prices(n_samples: int) -> str:
    """Return the true price and the median of those named in Markdown, for CKA."""
    rows = []
    for name, law in LAWS.items():
        if law not in (steps, heavy, wide, labels):
            continue
        rng, pairs, named = np.random.default_rng(2027), [], []
        for i in range(n_samples):
            x, y, z, options = law(rng, PRICED_ROWS)
            found = reldep.compare(x, y, z, engine=Blocks(PRICED, rng=i), **options)
            whole = reldep.compare(x, y, z, engine="tiled", **options)
            pairs.append((found.estimate, whole.estimate))
            named.append(found.dependences.loss())
        blocks, all_pairs = np.array(pairs).T
        price = np.sqrt(1 + (blocks - all_pairs).var() / all_pairs.var()) - 1
        rows.append([name, f"{price:.3f}", f"{np.median(named):.3f}"])
        print(rows[-1], flush=True)
    return (
        f"{n_samples} samples of {PRICED_ROWS:,} rows in blocks of {PRICED} (relative error of the "
        f"price {(4 / n_samples) ** 0.5:.2f}):\n\n{markdown(['law', 'price', 'price named'], rows)}"
    )


def main() -> None:
    """Print the tables, and write them into the page about size if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--publish", action="store_true", help="write docs/guide/engines.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made = f"{levels(options.samples)}\n\n{prices(options.samples // 2)}"
    publish(DOCS / "guide" / "engines.md", "blocks", made) if options.publish else print(made)


if __name__ == "__main__":
    main()
