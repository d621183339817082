"""Independence in repeated measures: level and power for complete, constant and mixed designs.

Subjects have a part of y in common, and errors within a subject may be correlated in time. "within"
and "whole" are what reldep does not do: permuting rows within subjects, and permuting whole
subjects by the places of their rows.

    python benchmarks/repeated_measures.py [samples]
"""

from __future__ import annotations

import sys

import numpy as np

import reldep

Array = np.ndarray
DESIGNS = ("complete", "nearly complete", "constant", "mixed")
SIZES = ((8, 6), (20, 6), (40, 6))
MEMORY = (0.0, 0.8)
PERMUTATIONS = 99
EFFECT = 0.6


def sample(rng: np.random.Generator, design: str, G: int, n: int, rho: float, effect: float):
    """Draw x and y, shape (G, n): y has a part of the subject and errors correlated in time."""
    x = {
        "complete": np.tile(np.arange(n, dtype=float), (G, 1)),
        "nearly complete": np.arange(n) + 0.1 * rng.normal(size=(G, n)),
        "constant": np.repeat(rng.normal(size=(G, 1)), n, axis=1),
        "mixed": rng.normal(size=(G, 1)) + rng.normal(size=(G, n)),
    }[design]
    errors = rng.normal(size=(G, n))
    for day in range(1, n):
        errors[:, day] = rho * errors[:, day - 1] + np.sqrt(1 - rho**2) * errors[:, day]
    return x, effect * (x - x.mean()) / x.std() + rng.normal(size=(G, 1)) + errors


def permuted(rng: np.random.Generator, x: Array, y: Array, within: bool) -> float:
    """Return the p-value of the CKA of all rows when rows or whole subjects are permuted."""
    G, n = x.shape
    K, L = (np.exp(-d / d.mean()) for d in (np.abs(v.reshape(-1, 1) - v.ravel()) for v in (x, y)))
    K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    observed, count = np.vdot(K, L), 1
    for _ in range(PERMUTATIONS):
        if within:
            order = np.argsort(rng.random((G, n)), axis=1) + n * np.arange(G)[:, None]
        else:
            order = n * rng.permutation(G)[:, None] + np.arange(n)
        rows = order.ravel()
        count += np.vdot(K, L[np.ix_(rows, rows)]) >= observed * (1 - 1e-12)
    return count / (1 + PERMUTATIONS)


def rates(design: str, G: int, n: int, rho: float, effect: float, samples: int) -> list[float]:
    """Return how often independence is rejected at 5%: by reldep, within and whole."""
    rejected = np.zeros(3)
    subject = np.repeat(np.arange(G), n)
    for draw in range(samples):
        rng = np.random.default_rng([17, draw, G])
        x, y = sample(rng, design, G, n, rho, effect)
        found = reldep.dependence(
            x.ravel(), y.ravel(), clusters=subject, n_permutations=PERMUTATIONS
        )
        others = (permuted(rng, x, y, within) for within in (True, False))
        rejected += np.array([found.pvalue, *others]) <= 0.05
    return list(rejected / samples)


def main() -> None:
    """Print a table of levels and powers."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print("| design | subjects x rows | memory | level: reldep, within, whole | power |")
    print("| --- | --- | --: | --- | --- |")
    for design in DESIGNS:
        for G, n in SIZES:
            for rho in MEMORY:
                level, power = (
                    ", ".join(f"{rate:.3f}" for rate in rates(design, G, n, rho, effect, samples))
                    for effect in (0.0, EFFECT)
                )
                print(f"| {design} | {G} x {n} | {rho} | {level} | {power} |", flush=True)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
