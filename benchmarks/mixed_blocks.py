"""Numbers beside labels, and columns in different units: ``python benchmarks/mixed_blocks.py``.

How a block with labels should be compared, on real data and by simulation, and what a scale for
each column does. With ``--publish`` the tables go into docs/guide/kernels.md.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_diabetes

import reldep
from reldep.datasets import load_nutrimouse
from reldep.exceptions import ReldepWarning
from reldep.kernels import Agreement, Delta, Gaussian, Precomputed, Standardized

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "kernels.md"
BEGIN, END = "<!-- mixed blocks: begin -->", "<!-- mixed blocks: end -->"
M = 50


def table_of(labels):
    return [[f"level {value}" for value in row] for row in zip(*labels, strict=True)]


WAYS = {
    "numbers only": lambda K, _: K,
    "product": lambda K, labels: K * Delta()(table_of(labels)),
    "sum": lambda K, labels: K + Delta()(table_of(labels)),
    "`Agreement`": lambda K, labels: K * Agreement()(table_of(labels)),
}


def real_cases():
    """Give blocks of real data with labels of all degrees of usefulness, and a target."""
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
    lines = ["| data | " + " | ".join(WAYS) + " |", "|---|" + "--:|" * len(WAYS)]
    for name, (K, labels, target) in real_cases().items():
        cells = []
        for way in WAYS.values():
            found = reldep.dependence(Precomputed(way(K, labels)), target, measure="cka")
            cells.append(f"{found.estimate:.2f} ({found.estimate / found.standard_error:.1f})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


LAWS = {
    "x; one useless label": (1, lambda x, a, b, e: x + e + 0 * (a + b)),
    "x; two useless labels": (2, lambda x, a, b, e: x + e + 0 * (a + b)),
    "x and a label": (1, lambda x, a, b, e: x + 1.5 * a + e + 0 * b),
    "slope changes with the label": (1, lambda x, a, b, e: x * (2 * a - 1) + 0.5 * e + 0 * b),
    "a label; useless numbers": (1, lambda x, a, b, e: 2 * a + e + 0 * (x + b)),
    "two labels that interact": (2, lambda x, a, b, e: 2.0 * (a ^ b) + 0.7 * e + 0 * x),
}


def simulated_table(draws):
    lines = [
        "| what the target depends on | " + " | ".join(WAYS) + " |",
        "|---|" + "--:|" * len(WAYS),
    ]
    rng = np.random.default_rng(1)
    for name, (n_labels, law) in LAWS.items():
        found = dict.fromkeys(WAYS, 0)
        for _ in range(draws):
            x, e = rng.normal(size=(2, M))
            labels = rng.integers(0, 2, (2, M))
            y, K = law(x, *labels, e), Gaussian()(x)
            for way, combine in WAYS.items():
                block = Precomputed(combine(K, labels[:n_labels]))
                found[way] += reldep.dependence(block, y, measure="cka").pvalue < 0.05
        cells = " | ".join(f"{count / draws:.2f}" for count in found.values())
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def unit_table():
    """Compare what blocks of unlike units show, with one scale for all columns and with many."""
    people = load_diabetes(scaled=False)
    names, X = people.feature_names, people.data
    blocks = {
        "age, bmi, bp": ["age", "bmi", "bp"],
        "age, bmi × 0.001": ["age", "bmi"],
        "s1 … s6": ["s1", "s2", "s3", "s4", "s5", "s6"],
    }
    lines = ["| block ~ progression | `Gaussian()` | `Standardized()` |", "|---|--:|--:|"]
    for name, columns in blocks.items():
        block = X[:, [names.index(column) for column in columns]].copy()
        if "0.001" in name:
            block[:, 1] *= 0.001
        cells = [
            reldep.cka(block, people.target, kernel=(kernel, "gaussian"))
            for kernel in (Gaussian(), Standardized())
        ]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
    return "\n".join(lines)


def main():
    """Measure, and write the tables where they belong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", action="store_true", help="write docs/guide/kernels.md")
    parser.add_argument("--draws", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ReldepWarning)
    text = (
        "CKA of a block with the target, and in brackets how many standard errors it is above 0:"
        f"\n\n{real_table()}\n\nShare of {arguments.draws} samples of {M} rows in which the "
        f"dependence is found at 5%:\n\n{simulated_table(arguments.draws)}\n\nCKA of blocks in "
        f"unlike units with the progression of diabetes:\n\n{unit_table()}"
    )
    if not arguments.publish:
        print(text)
        return
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
