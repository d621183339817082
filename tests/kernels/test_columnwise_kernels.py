"""Compositions, genotypes, ordered categories and bags: values by hand and every refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import gmean

import reldep
import reldep.kernels as rk
from reldep.data.objects import read_variable
from reldep.kernels.choosing import as_kernel

RNG = np.random.default_rng(8)
SHARES = RNG.dirichlet(np.ones(4), 20)
ALLELES = RNG.integers(0, 3, (15, 7))
SIZES = RNG.integers(1, 9, 12)
CELLS = [RNG.normal(i % 3, 1.0, (size, 2)) for i, size in enumerate(SIZES)]


def test_a_composition_is_compared_by_its_log_ratios():
    ratios = np.log(SHARES / gmean(SHARES, axis=1)[:, None])
    np.testing.assert_allclose(rk.Composition("linear")(SHARES), ratios @ ratios.T, atol=1e-10)
    np.testing.assert_allclose(rk.Composition()(SHARES), rk.Gaussian()(ratios), rtol=1e-9)


def test_a_zero_stands_for_the_share_that_is_given():
    shares = SHARES.copy()
    shares[2] = [0.0, 0.2, 0.3, 0.5]
    filled = shares.copy()
    filled[2, 0] = 0.01
    np.testing.assert_allclose(
        rk.Composition("linear", 0.01)(shares), rk.Composition("linear")(filled)
    )
    assert rk.Composition().is_characteristic
    assert not rk.Composition(zero=0.01).is_characteristic


def test_genotypes_share_alleles_by_state():
    apart = np.abs(ALLELES[:, None, :] - ALLELES[None]) / 2
    np.testing.assert_allclose(rk.Genotypes()(ALLELES), 1 - apart.mean(axis=2), atol=1e-12)
    weights = np.arange(1.0, 8.0)
    expected = 1 - np.average(apart, axis=2, weights=weights)
    np.testing.assert_allclose(rk.Genotypes(weights)(ALLELES), expected, atol=1e-12)
    assert rk.check_kernel(rk.Genotypes(), ALLELES).ok


def test_ordered_categories_are_compared_by_their_places():
    grades = ["low", "high", "middle", "low", "high"]
    places = np.array([0.0, 2.0, 1.0, 0.0, 2.0])
    order = ("low", "middle", "high")
    np.testing.assert_allclose(rk.Ordered(order)(grades), rk.Gaussian()(places))
    np.testing.assert_allclose(rk.Ordered(order, rk.Linear())(grades), np.outer(places, places))
    label = rk.Ordered(order).fit(grades).label
    assert label.startswith("Ordered(low < middle < high): Gaussian(bandwidth=")


def test_the_order_makes_a_monotone_dependence_stronger():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    stage = pd.cut(x + rng.normal(size=300), 5, labels=list("VWXYZ")).astype(str)
    ordered = reldep.cka(stage, x, kernel=(rk.Ordered(list("VWXYZ")), "gaussian"))
    assert ordered > 1.3 * reldep.cka(stage, x, kernel=("delta", "gaussian"))


def test_an_ordered_categorical_brings_its_order_along():
    rng = np.random.default_rng(1)
    grades = pd.Categorical.from_codes(
        rng.integers(0, 3, 40), ["low", "middle", "high"], ordered=True
    )
    fitted = as_kernel("auto", read_variable(pd.Series(grades), "v")).fit(pd.Series(grades))
    assert fitted.label.startswith("Ordered(low < middle < high): Gaussian")
    plain = pd.Series(grades).cat.as_unordered()
    assert as_kernel("auto", read_variable(plain, "v")) == rk.Delta()
    enum = pl.Series(list(map(str, grades)), dtype=pl.Enum(["low", "middle", "high"]))
    assert as_kernel("auto", read_variable(enum, "v")) == rk.Delta()
    y = grades.codes + 0.3 * rng.normal(size=40)
    order = rk.Ordered(["low", "middle", "high"])
    asked = reldep.cka(list(map(str, grades)), y, kernel=(order, "gaussian"))
    assert reldep.cka(pd.Series(grades), y, kernel=("auto", "gaussian")) == pytest.approx(asked)


def mean_values(bags, width):
    kernel = [
        [np.exp(-0.5 * cdist(a, b, "sqeuclidean") / width**2).mean() for b in bags] for a in bags
    ]
    return np.array(kernel)


def test_bags_are_compared_by_the_means_of_their_features():
    expected = mean_values(CELLS, 1.5)
    np.testing.assert_allclose(rk.Bags(1.5, "linear")(CELLS), expected, atol=1e-8)
    squared = np.add.outer(np.diag(expected), np.diag(expected)) - 2 * expected
    values = rk.Bags(1.5, rk.Gaussian(0.7))(CELLS)
    np.testing.assert_allclose(values, np.exp(-squared / (2 * 0.7**2)), atol=1e-7)
    assert rk.check_kernel(rk.Bags(), CELLS).ok


def test_the_bandwidth_of_bags_is_the_median_distance_between_vectors():
    vectors = np.concatenate(CELLS)
    width = np.median(cdist(vectors, vectors)[np.triu_indices(len(vectors), 1)])
    np.testing.assert_allclose(
        rk.Bags(kernel="linear")(CELLS), mean_values(CELLS, width), atol=1e-8
    )
    between = rk.Bags(kernel="linear")(CELLS, CELLS[:3])
    np.testing.assert_allclose(between, mean_values(CELLS, width)[:, :3], atol=1e-8)


def test_a_bag_of_numbers_and_frames_of_vectors_are_bags():
    numbers = [bag[:, 0] for bag in CELLS]
    tables = [pd.DataFrame(bag[:, :1]) for bag in CELLS]
    np.testing.assert_allclose(rk.Bags(1.0)(numbers), rk.Bags(1.0)(tables))


def test_bags_show_a_dependence_on_the_spread():
    rng = np.random.default_rng(1)
    spread = rng.uniform(0.5, 2.0, 60)
    cells = [rng.normal(0, s, (30, 1)) for s in spread]
    result = reldep.dependence(cells, spread, kernel=(rk.Bags(), "gaussian"), measure="cka")
    assert result.estimate > 0.4
    means = [cell.mean() for cell in cells]
    assert reldep.cka(means, spread) < 0.2
