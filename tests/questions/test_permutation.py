"""The permutation test of independence: by brute force, streamed, seeded, and its level."""

from __future__ import annotations

import numpy as np
import pytest

import reldep


def pair(m=40, seed=0, noise=1.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, x + noise * rng.normal(size=m)


def asked(x, y, **options):
    return reldep.dependence(x, y, test="permutation", **options)


def test_the_p_value_counts_shuffles_at_least_as_dependent():
    x, y = pair()
    rng = np.random.default_rng(0)
    observed = reldep.hsic(x, y)
    shuffled = [reldep.hsic(x, y[rng.permutation(40)]) for _ in range(99)]
    expected = (1 + sum(value >= observed for value in shuffled)) / 100
    result = asked(x, y, n_permutations=99)
    assert result.pvalue == pytest.approx(expected)
    assert (result.facts["test"], result.facts["n_permutations"]) == ("permutation", 99)
    plain = reldep.dependence(x, y)
    assert (result.estimate, result.statistic) == (plain.estimate, plain.statistic)
    assert (plain.facts["test"], plain.facts["n_permutations"]) == ("chi-square", None)


def test_the_seed_decides():
    x, y = pair(30, seed=3, noise=4)
    first, again, other = (asked(x, y, rng=seed, n_permutations=499).pvalue for seed in (1, 1, 3))
    assert first == again != other


def test_the_level_is_kept_under_independence():
    rng = np.random.default_rng(7)
    rejected = [
        asked(*rng.normal(size=(2, 25)), n_permutations=99, rng=i).pvalue <= 0.05
        for i in range(200)
    ]
    assert np.mean(rejected) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_shuffles_that_change_nothing_count_as_ties():
    labels = np.array(list("aaabbbbb"))
    with pytest.warns(reldep.exceptions.FewUnitsWarning):
        result = asked(labels, labels, n_permutations=500)
    # Of 8!/(3! 5!) = 56 ways to place the labels, 1 is as dependent as the data.
    assert result.pvalue == pytest.approx(1 / 56, abs=0.018)
    assert result.pvalue > 2 / 501
