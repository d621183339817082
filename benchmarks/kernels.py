"""The tables of docs/guide/kernels.md: all kernels, and choices of kernels compared.

    python benchmarks/kernels.py --publish               # all kernels; labels and units
    python benchmarks/calibration.py --only survival     # lifetimes

For each kernel: whether the centred matrix of a small sample is positive semi-definite, and the
processor time of the whole matrix at m = 2,000. (Its values are compared with independent programs
in tests/kernels.)

The question about lifetimes is always whether they depend more on x than on z. In all laws but the
last they do; in the last they depend on both equally. Counted is how often the answer of
``compare`` with its defaults is significant (5%, two-sided) and right, and how often it is
significant and wrong. The width of ``LogRank`` was chosen on other samples of the laws that are not
in ``HELD_OUT``.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import networkx as nx
import numpy as np
from simulation import DOCS, Array, Cell, Generator, markdown, publish
from sklearn.datasets import load_diabetes

import reldep
from reldep import Survival, kernels
from reldep.data.objects import read_variable
from reldep.datasets import load_nutrimouse
from reldep.kernels import Agreement, Delta, Gaussian, LogRank, Precomputed, Standardized
from reldep.kernels.survival import Hazard

PAGE = DOCS / "guide" / "kernels.md"
M, PATIENTS, ALL_ROWS = 50, 100, 2_000
HELD_OUT = {"time × e^(0.6x)", "staggered entry", "depends on z²", "x and z, opposite"}

# ----------------------------------------------------------------------------------- all kernels


def normal(*shape: int) -> Callable[[Generator, int], Array]:
    return lambda rng, m: rng.normal(size=(m, *shape))


def strings(length: int, alphabet: str = "ACGT") -> Callable[[Generator, int], list[str]]:
    return lambda rng, m: ["".join(row) for row in rng.choice(list(alphabet), (m, length))]


def documents(rng: Generator, m: int) -> list[str]:
    vocabulary = strings(6, "abcdefgh")(rng, 3000)
    sizes = rng.integers(50, 150, m)
    return [" ".join(vocabulary[i] for i in rng.zipf(1.3, n) % 3000) for n in sizes]


def graphs(_: Generator, m: int) -> list[Any]:
    found = []
    for seed in range(m):
        graph = nx.gnp_random_graph(12, 0.25, seed=seed)
        nx.set_node_attributes(graph, {n: "CNO"[(n * seed) % 3] for n in graph}, "label")
        found.append(graph)
    return found


def survivors(rng: Generator, m: int) -> Survival:
    life, left = rng.exponential(size=(2, m))
    return Survival(np.minimum(life, left), life <= left)


# A kernel, and data for it.
ALL: dict[str, tuple[Any, Callable[[Generator, int], Any]]] = {
    "Gaussian": (kernels.Gaussian(2.0), normal(5)),
    "Laplace": (kernels.Laplace(2.0), normal(5)),
    "Distance": (kernels.Distance(), normal(5)),
    "Linear": (kernels.Linear(), normal(50)),
    "Polynomial": (kernels.Polynomial(3), normal(5)),
    "Standardized": (kernels.Standardized(kernels.Gaussian(2.0)), normal(5)),
    "Delta": (kernels.Delta(), strings(1)),
    "Ordered": (kernels.Ordered("ACGT", kernels.Gaussian(1.0)), strings(1)),
    "Composition": (
        kernels.Composition(kernels.Gaussian(2.0)),
        lambda rng, m: rng.dirichlet(np.ones(6), m),
    ),
    "Genotypes": (kernels.Genotypes(), lambda rng, m: rng.integers(0, 3, (m, 200))),
    "Bags": (
        kernels.Bags(1.0, "linear"),
        lambda rng, m: [rng.normal(size=(rng.integers(3, 8), 2)) for _ in range(m)],
    ),
    "LogRank": (kernels.LogRank(), survivors),
    "Text": (kernels.Text(kernel="linear"), documents),
    "Spectrum": (kernels.Spectrum(4), strings(100)),
    "EditDistance": (kernels.EditDistance(10.0), strings(20)),
    "Jaccard": (
        kernels.Jaccard(),
        lambda rng, m: [set(rng.choice(100, rng.integers(1, 30)).tolist()) for _ in range(m)],
    ),
    "MinMax": (kernels.MinMax(), lambda rng, m: rng.poisson(1.0, (m, 50))),
    "WeisfeilerLehman": (kernels.WeisfeilerLehman(3, normalize=False), graphs),
    "Images": (kernels.Images(8, kernels.Gaussian(10.0)), normal(16, 16)),
    "TimeSeries": (
        kernels.TimeSeries(15.0),
        lambda rng, m: [rng.normal(size=rng.integers(15, 26)).cumsum() for _ in range(m)],
    ),
    "Periodic": (kernels.Periodic(24, 1.0), lambda rng, m: rng.uniform(0, 48, m)),
    "Angles": (kernels.Angles("degrees", 1.0), lambda rng, m: rng.uniform(0, 360, (m, 1))),
    "Haversine": (
        kernels.Haversine(1000.0),
        lambda rng, m: rng.uniform([-80, -180], [80, 180], (m, 2)),
    ),
}


def seconds(job: Callable[[], Any]) -> float:
    """Return the processor time of the fastest of three runs."""
    runs = []
    for _ in range(3):
        start = time.process_time()
        job()
        runs.append(time.process_time() - start)
    return min(runs)


def kernel_table(m: int) -> str:
    """Return whether each kernel is positive semi-definite, and its time."""
    rows = []
    for name, (kernel, draw) in ALL.items():
        data = draw(np.random.default_rng(0), m)
        report = kernels.check_kernel(kernel, data, n_sample=300, raise_on_failure=False)
        least = report.smallest_eigenvalue
        variable = read_variable(data, "data")
        taken = seconds(lambda k=kernel, v=variable: k.fit(v)(slice(None), slice(None)))
        definite = "yes" if least > -1e-8 else f"no ({least:.2f})"
        rows.append([f"`{name}`", definite, f"{taken:.2f}"])
    return markdown(["kernel", "positive semi-definite", "s"], rows)


# ------------------------------------------------------------------------------ labels and units


def table_of(labels):
    return [[f"level {value}" for value in row] for row in zip(*labels, strict=True)]


WAYS = {
    "numbers only": lambda K, _: K,
    "product": lambda K, labels: K * Delta()(table_of(labels)),
    "sum": lambda K, labels: K + Delta()(table_of(labels)),
    "`Agreement`": lambda K, labels: K * Agreement()(table_of(labels)),
}


def real_cases():
    """Return blocks of real data with labels of all degrees of usefulness, and a target."""
    people, mice = load_diabetes(scaled=False), load_nutrimouse()
    X, sex = people.data, people.data[:, 1]
    body = Standardized()(X[:, [0, 2, 3]])
    lipid, genes = Gaussian()(mice.lipid), Gaussian()(mice.gene)
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 3, len(mice.diet)) for _ in range(3)]
    return {
        "diabetes: age, bmi, bp + sex ~ progression": (body, [sex], people.target),
        "mice: lipids + genotype ~ diet": (lipid, [mice.genotype], mice.diet),
        "mice: lipids + diet ~ genes": (lipid, [mice.diet], mice.gene),
        "mice: lipids + diet + genotype ~ genes": (lipid, [mice.diet, mice.genotype], mice.gene),
        "mice: lipids + 3 random labels ~ genes": (lipid, noise, mice.gene),
        "mice: genes + genotype ~ diet": (genes, [mice.genotype], mice.diet),
    }


def real_table():
    """Return CKAs of the blocks with their targets, next to their standard errors above 0."""
    rows = []
    for name, (K, labels, target) in real_cases().items():
        found = [reldep.dependence(Precomputed(way(K, labels)), target) for way in WAYS.values()]
        rows.append(
            [name, *(f"{f.estimate:.2f} ({f.estimate / f.standard_error:.1f})" for f in found)]
        )
    return markdown(["data", *WAYS], rows)


MIXED = {
    "x; one useless label": (1, lambda x, a, b, e: x + e + 0 * (a + b)),
    "x; two useless labels": (2, lambda x, a, b, e: x + e + 0 * (a + b)),
    "x and a label": (1, lambda x, a, b, e: x + 1.5 * a + e + 0 * b),
    "slope changes with the label": (1, lambda x, a, b, e: x * (2 * a - 1) + 0.5 * e + 0 * b),
    "a label; useless numbers": (1, lambda x, a, b, e: 2 * a + e + 0 * (x + b)),
    "two labels that interact": (2, lambda x, a, b, e: 2.0 * (a ^ b) + 0.7 * e + 0 * x),
}


def simulated_table(draws):
    """Return how often the dependence is found."""
    rows, rng = [], np.random.default_rng(1)
    for name, (n_labels, law) in MIXED.items():
        found = dict.fromkeys(WAYS, 0)
        for _ in range(draws):
            x, e = rng.normal(size=(2, M))
            labels = rng.integers(0, 2, (2, M))
            y, K = law(x, *labels, e), Gaussian()(x)
            for way, combine in WAYS.items():
                block = Precomputed(combine(K, labels[:n_labels]))
                found[way] += reldep.dependence(block, y).pvalue < 0.05
        rows.append([name, *(f"{count / draws:.2f}" for count in found.values())])
    return markdown(["what the target depends on", *WAYS], rows)


def unit_table():
    """Compare what blocks of unlike units show, with one scale for all columns and with many."""
    people = load_diabetes(scaled=False)
    names, X = people.feature_names, people.data
    blocks = {
        "age, bmi, bp": ["age", "bmi", "bp"],
        "age, bmi × 0.001": ["age", "bmi"],
        "s1 … s6": ["s1", "s2", "s3", "s4", "s5", "s6"],
    }
    rows = []
    for name, columns in blocks.items():
        block = X[:, [names.index(column) for column in columns]].copy()
        if "0.001" in name:
            block[:, 1] *= 0.001
        cells = [
            reldep.cka(block, people.target, kernel=(kernel, "gaussian"))
            for kernel in (Gaussian(), Standardized())
        ]
        rows.append([name, *(f"{cell:.3f}" for cell in cells)])
    return markdown(["block ~ progression", "`Gaussian()`", "`Standardized()`"], rows)


# ------------------------------------------------------------------------------------ lifetimes


LIFETIMES = {
    "hazard e^(0.7x)": lambda d: d["e"] * np.exp(-0.7 * d["x"]),
    "hazard e^(x + 0.4z)": lambda d: d["e"] * np.exp(-d["x"] - 0.4 * d["z"]),
    "hazard e^(0.8x²)": lambda d: d["e"] * np.exp(-0.8 * (d["x"] ** 2 - 1)),
    "spread, not mean": lambda d: np.exp(np.where(d["x"] > 0, 1.2, 0.3) * d["g"]),
    "time × e^(0.6x)": lambda d: np.exp(0.8 * d["g"] - 0.6 * d["x"]),
    "x and z alike": lambda d: d["e"] * np.exp(-0.8 * d["x"] - 0.8 * d["z"]),
}
CENSORING = {
    "none": lambda _: np.full(PATIENTS, np.inf),
    "random, heavy": lambda d: 0.7 * d["c"],
    "end of study": lambda d: np.full(PATIENTS, np.quantile(d["life"], 0.6)),
    "depends on x": lambda d: d["c"] * np.exp(-1.5 * d["x"]),
    "depends on z": lambda d: d["c"] * np.exp(-1.5 * d["z"]),
    "staggered entry": lambda d: d["u"] * np.quantile(d["life"], 0.8),
    "depends on z²": lambda d: d["c"] * np.exp(-0.9 * (d["z"] ** 2 - 1)),
    "x and z, opposite": lambda d: d["c"] * np.exp(d["x"] - d["z"]),
}


def residuals(time, event):
    """Return events less expected events, from the Nelson-Aalen hazard at one's own time."""
    hazard = Hazard.of(time, event)
    expected = np.concatenate([[0.0], np.cumsum(hazard.jumps)])
    return event - expected[np.searchsorted(hazard.times, time, side="right")]


READINGS = {
    "time": lambda time, _: time,
    "time × event": lambda time, event: time * event,
    "residuals, Gaussian": residuals,
    "log-rank": lambda time, event: Precomputed(LogRank(1e6)(Survival(time, event))),
    "`LogRank()`": Survival,
}


def lifetimes(law: str, censoring: str, rng: Generator) -> Counter[str]:
    """Count right and wrong answers of every way to read lifetimes on one sample."""
    d = dict(zip("xzg", rng.normal(size=(3, PATIENTS)), strict=True))
    d |= dict(zip("ec", rng.exponential(size=(2, PATIENTS)), strict=True))
    d["u"] = rng.uniform(size=PATIENTS)
    d["life"] = LIFETIMES[law](d)
    left = CENSORING[censoring](d)
    time, event = np.minimum(d["life"], left), d["life"] <= left
    events = Counter({"events": int(event.sum())})
    for name, read in READINGS.items():
        answer = reldep.compare(read(time, event), d["x"], d["z"])
        if answer.pvalue < 0.05:
            events[f"{name}, {'right' if answer.statistic > 0 else 'wrong'}"] += 1
    return events


def survival_cells() -> Iterator[Cell]:
    """Yield lifetimes by how they are censored."""
    for law in LIFETIMES:
        for censoring in CENSORING:

            def draw(rng, law=law, censoring=censoring):
                return lifetimes(law, censoring, rng)

            yield Cell("survival", law, censoring, 100, draw)


def survival_table(cells: dict[str, Counter[str]]) -> str:
    """Return right / wrong of every way to read lifetimes."""
    rows = []
    for cell in survival_cells():
        own = cells[cell.name]
        n = own["samples"]
        names = [name + "*" * (name in HELD_OUT) for name in (cell.law, cell.size)]
        both = [[own[f"{way}, {side}"] / n for side in ("right", "wrong")] for way in READINGS]
        shares = [f"{right:.2f} / {wrong:.2f}" for right, wrong in both]
        rows.append([*names, f"{own['events'] / (n * PATIENTS):.0%}", *shares])
    return markdown(["lifetime", "censoring", "events", *READINGS], rows)


def main():
    """Measure kernels, labels and units, and write the tables where they belong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", action="store_true", help="write docs/guide/kernels.md")
    parser.add_argument("--quick", action="store_true", help="few samples; publishes nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    draws, m = (4, 200) if options.quick else (200, ALL_ROWS)
    mixed = (
        "CKA of a block with the target, and in brackets how many standard errors it is above 0:"
        f"\n\n{real_table()}\n\nShare of {draws} samples of {M} rows in which the "
        f"dependence is found at 5%:\n\n{simulated_table(draws)}\n\nCKA of blocks in "
        f"unlike units with the progression of diabetes:\n\n{unit_table()}"
    )
    for mark, text in (("table", kernel_table(m)), ("mixed", mixed)):
        print(text)
        if options.publish and not options.quick:
            publish(PAGE, mark, text)


if __name__ == "__main__":
    main()
