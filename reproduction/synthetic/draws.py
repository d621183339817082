"""Draws of the synthetic experiment: what is drawn, how often, and what is kept of it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import pdist

import reldep
from reldep.datasets import Dataset, make_spirals
from reldep.kernels import Gaussian
from reproduction import RunRequest
from reproduction.repetitions import Cell, Record

GAMMAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7)
TWO_GAMMAS = (0.7, 1.7)

# The tests of the power curves: the paper's two, two steps beyond it with the same normal law,
# and what this program does unless told otherwise. All are one-sided, as the paper's.
TESTS = ("joint", "split", "joint, CKA", "joint, jackknife", "default")
_BEYOND: dict[str, dict[str, Any]] = {
    "joint, CKA": {"measure": "cka", "variance": "fixed-kernel", "alternative": "greater"},
    "joint, jackknife": {"measure": "hsic", "variance": "jackknife", "alternative": "greater"},
}
METHODS: tuple[Literal["joint", "split"], ...] = ("joint", "split")

# Ways in which the paper's figures may have been made differently from its text.
CANDIDATES = {
    "described": "as the paper describes it",
    "variance": "γ is the variance of the noise, not its standard deviation",
    "narrow": "bandwidth median/√2, kernel exp(-d²/median²)",
    "wide": "bandwidth √2·median, kernel exp(-d²/(4·median²))",
    "double": "bandwidth 2·median",
    "squared": "bandwidth = median of the squared distances",
    "uncorrelated": "covariance of the two HSICs left out of the joint test",
}
_FACTORS = {"narrow": 0.5**0.5, "wide": 2.0**0.5, "double": 2.0}


def cells(request: RunRequest) -> list[Cell]:
    """List what is drawn in a quick or a full run."""
    full = request.is_full
    power_size, power_repetitions = (500, 300) if full else (100, 20)
    gammas = GAMMAS if full else GAMMAS[::3]
    sizes = (500, 1000, 3000) if full else (100, 200, 300)
    draws, tries = (100, 10) if full else (12, 4)
    power = [Cell("power", {"m": power_size, "gamma3": g}, power_repetitions) for g in gammas]
    pairs = [{"m": m, "gamma3": g} for g in TWO_GAMMAS for m in sizes]
    return [
        *power,
        *(Cell("draws", pair, draws) for pair in pairs),
        *(Cell("candidates", pair, tries) for pair in pairs),
    ]


def measure(cell: Cell, rng: np.random.Generator) -> Record:
    """Draw one sample and keep the numbers of the cell's part."""
    m, gamma3 = int(cell.settings["m"]), cell.settings["gamma3"]
    parts = {"power": _pvalues, "draws": _two_hsics}
    if cell.part in parts:
        return parts[cell.part](make_spirals(m, gamma3=gamma3, rng=rng))
    return _candidates(m, gamma3, rng)


def _pvalues(spirals: Dataset) -> Record:
    """Return the p-value of each test on the same sample."""
    pairs = [("source", "first"), ("source", "second"), *((name, name) for name in spirals)]
    influence = reldep.influence(dict(spirals), pairs, kernel="gaussian")
    weights = dict(zip(pairs, (1.0, -1.0), strict=False))
    blocks = tuple(spirals.values())
    return {
        **{method: reldep.paper_test(*blocks, method=method).pvalue for method in METHODS},
        **{
            name: reldep.contrast(influence, weights, **options).pvalue
            for name, options in _BEYOND.items()
        },
        "default": reldep.compare(*blocks, alternative="greater").pvalue,
    }


def _two_hsics(spirals: Dataset) -> Record:
    """Return both HSICs with their covariance in the paper's tests, and z and p of three tests."""
    blocks = tuple(spirals.values())
    results: dict[str, Any] = {
        method: reldep.paper_test(*blocks, method=method) for method in METHODS
    }
    record: Record = {}
    for method, result in results.items():
        numbers = (*result.estimates, *result.covariance[np.triu_indices(2)])
        names = ("xy", "xz", "var_xy", "cov", "var_xz")
        record |= {f"{method}_{name}": float(v) for name, v in zip(names, numbers, strict=True)}
    results["default"] = reldep.compare(*blocks, alternative="greater")
    for test, result in results.items():
        record |= {f"{test}_z": result.statistic, f"{test}_p": result.pvalue}
    return record


def _candidates(m: int, gamma3: float, rng: np.random.Generator) -> Record:
    """Return z of the paper's joint test on one sample under each way of making it."""
    seed = int(rng.integers(2**63))
    blocks = tuple(make_spirals(m, gamma3=gamma3, rng=seed).values())
    # The same random numbers with other noise: the candidates differ in nothing else.
    gammas = {f"gamma{i}": g**0.5 for i, g in enumerate((0.3, 0.3, gamma3), start=1)}
    noisy = tuple(make_spirals(m, **gammas, rng=seed).values())
    squared = tuple(Gaussian(_median_squared_distance(block)) for block in blocks)
    described = reldep.paper_test(*blocks)
    return {
        "described": described.statistic,
        "variance": reldep.paper_test(*noisy).statistic,
        **{
            name: reldep.paper_test(*blocks, kernel=Gaussian(factor=factor)).statistic
            for name, factor in _FACTORS.items()
        },
        "squared": reldep.paper_test(*blocks, kernel=squared).statistic,
        "uncorrelated": described.estimate / float(np.sqrt(np.trace(described.covariance))),
    }


def _median_squared_distance(block: np.ndarray) -> float:
    return float(np.median(pdist(block, "sqeuclidean")))
