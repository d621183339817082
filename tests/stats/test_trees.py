"""Trees by average linkage, and the support of their groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from reldep.stats.trees import average_linkage, groups_of, joint_draws, support


def brute_force_groups(similarities):
    """Average linkage by its definition: join the two groups whose members are nearest."""
    groups = [frozenset([i]) for i in range(len(similarities))]
    joined, heights = [], []
    while len(groups) > 1:
        apart = {
            (a, b): np.mean([1.0 - similarities[i, j] for i in a for j in b])
            for a, b in combinations(groups, 2)
        }
        a, b = min(apart, key=apart.get)
        heights.append(apart[a, b])
        groups = [group for group in groups if group not in (a, b)] + [a | b]
        joined.append(a | b)
    return joined, heights


def random_similarities(p, seed):
    half = np.triu(np.random.default_rng(seed).uniform(size=(p, p)), 1)
    return half + half.T + np.eye(p)


@pytest.mark.parametrize("seed", range(5))
def test_groups_and_heights_are_those_of_the_definition(seed):
    similarities = random_similarities(7, seed)
    linkage = average_linkage(similarities)
    groups, heights = brute_force_groups(similarities)
    assert list(groups_of(linkage)) == groups
    assert linkage[:, 2] == pytest.approx(heights)
    assert linkage[:, 3].tolist() == [len(group) for group in groups]


def test_support_counts_the_draws_whose_tree_has_the_group():
    linkage = average_linkage(random_similarities(5, seed=1))
    draws = np.random.default_rng(2).uniform(size=(60, 10))
    trees = []
    for cells in draws:
        square = np.zeros((5, 5))
        square[np.triu_indices(5, 1)] = cells
        trees.append(brute_force_groups(square + square.T)[0])
    expected = [np.mean([group in tree for tree in trees]) for group in groups_of(linkage)]
    assert 0 < expected[0] < 1
    assert support(linkage, [draws]) == pytest.approx(expected)
    assert support(linkage, [draws[:7], draws[7:]]) == pytest.approx(expected)


def test_draws_have_the_joint_normal_law():
    rng = np.random.default_rng(0)
    psi = rng.normal(size=(3, 50)) + np.array([[1.0], [0.0], [0.0]]) * rng.normal(size=50)
    psi -= psi.mean(axis=1, keepdims=True)
    cells = np.array([0.2, 0.5, 0.9])
    n = 20_000
    blocks = list(joint_draws(cells, psi, n, np.random.default_rng(1)))
    draws = np.concatenate(blocks)
    assert draws.shape == (n, 3)
    covariance = psi @ psi.T / 50**2
    errors = np.sqrt(np.diag(covariance))
    # Four standard errors of a mean, and of a covariance of normal variables.
    assert np.all(np.abs(draws.mean(axis=0) - cells) < 4 * errors / np.sqrt(n))
    spread = np.sqrt((np.outer(errors, errors) ** 2 + covariance**2) / n)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 4 * spread)
