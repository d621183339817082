"""Every kind of data as source and as target, and what is a copy of it by its values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import reldep

N = 24
WORDS = ["sun", "moon", "star", "sea", "wind", "rain", "tree", "leaf", "bird", "fish", "stone"]
FEW = {"n_simulations": 400}


def texts(rng):
    # The last word makes every text different.
    return [f"{' '.join(rng.choice(WORDS, 6))} {rng.integers(1e9)}" for _ in range(N)]


def strings(rng):
    return ["".join(rng.choice(list("ACGT"), 12)) for _ in range(N)]


def graphs(rng):
    pairs = list(itertools.combinations(range(6), 2))
    return [(range(6), [pairs[i] for i in rng.choice(15, 7, replace=False)]) for _ in range(N)]


def sets(rng):
    return [set(map(str, rng.choice(12, 4, replace=False))) for _ in range(N)]


def series(rng):
    return [rng.normal(size=8 + i % 3) for i in range(N)]


KINDS = {
    "numbers": (lambda rng: rng.normal(size=N), "auto"),
    "block": (lambda rng: rng.normal(size=(N, 3)), "auto"),
    "whole": (lambda rng: rng.permutation(N), "auto"),
    "labels": (lambda rng: rng.choice(["a", "b", "c"], N).tolist(), "auto"),
    "texts": (texts, "text"),
    "strings": (strings, "spectrum"),
    "graphs": (graphs, "weisfeiler-lehman"),
    "sets": (sets, "jaccard"),
    "series": (series, "time-series"),
    "lifetimes": (
        lambda rng: reldep.Survival(rng.exponential(size=N), rng.random(N) < 0.8),
        "auto",
    ),
    "matrix": (lambda rng: reldep.kernels.Precomputed(np.cov(rng.normal(size=(N, 40)))), "auto"),
}


def drawn(*kinds):
    made, kernels = {}, {}
    for i, kind in enumerate(kinds):
        draw, kernel = KINDS[kind]
        made[f"v{i}"] = draw(np.random.default_rng(i))
        kernels[f"v{i}"] = kernel
    return made, kernels


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, KINDS)), ids="-".join)
def test_unrelated_data_of_any_kinds_are_compared(kinds):
    source, target = kinds
    made, kernels = drawn(source, target, target)
    names = tuple(made)
    answer = reldep.compare(*made.values(), names=names, kernel=kernels)
    assert not [one for one in answer.warnings if "CopyWarning" in type(one).__name__]
    targets = {name: made[name] for name in names[1:]}
    reldep.rank(made["v0"], targets, names=names, kernel=kernels, **FEW)
    reldep.matrix(made, kernel=kernels)


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_with_the_values_of_the_source_is_refused(kind):
    made, kernels = drawn(kind, kind, kind)
    made["v1"] = made["v0"]
    if kind == "matrix":  # of which only the numbers of the rows are known
        return
    with pytest.raises(ValueError, match=r"'v1' (is|contains)"):
        reldep.compare(*made.values(), names=tuple(made), kernel=kernels)
