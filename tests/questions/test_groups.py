"""Groups: numbers, labels and their order, what cannot be compared and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr

import reldep
from reldep.exceptions import InputError

HALF = np.repeat(["a", "b"], 40)
FEW = {"n_simulations": 400}


@pytest.fixture
def xy(rng):
    x = rng.normal(size=80)
    return x, x + np.where(HALF == "a", 0.3, 2.0) * rng.normal(size=80)


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_every_group_has_the_dependence_of_its_own_rows(xy, measure):
    x, y = xy
    # Kernels that do not look at the data are those of all rows.
    kernel = "distance" if measure == "dcor" else reldep.kernels.Gaussian(1.0)
    answer = reldep.groups(x, y, HALF, measure=measure, kernel=kernel, **FEW)
    for row in answer.to_frame().iter_rows(named=True):
        mine = row["group"] == HALF
        alone = reldep.dependence(x[mine], y[mine], measure=measure, kernel=kernel)
        assert row["n"] == 40
        assert row["estimate"] == pytest.approx(alone.estimate, abs=1e-12)
        assert row["standard_error"] == pytest.approx(alone.standard_error, rel=1e-10)
        assert (row["low"], row["high"]) == pytest.approx(alone.confidence_interval(), rel=1e-9)


def test_one_kernel_is_fitted_on_all_rows(xy):
    x, y = xy
    answer = reldep.groups(x, y, HALF, **FEW)
    alone = reldep.dependence(x, y)
    assert answer.provenance.kernels == alone.provenance.kernels


def test_the_three_alternatives_are_those_of_one_statistic(xy):
    found = {
        alternative: reldep.groups(*xy, HALF, alternative=alternative, **FEW)
        for alternative in ("greater", "less", "two-sided")
    }
    greater, less, both = (found[name].pvalue for name in ("greater", "less", "two-sided"))
    assert greater < 0.01
    assert greater + less == pytest.approx(1.0)
    assert both == pytest.approx(2 * greater)
    assert (
        found["greater"].sentence().startswith("x and y are more closely related in a than in b: ")
    )
    other_way = "x and y are not shown to be more closely related in b than in a; the estimate is"
    assert found["less"].sentence().startswith(other_way)


def test_linear_dependences_are_ordered_as_by_fishers_z():
    ours, theirs = [], []
    for seed in range(25):
        rng = np.random.default_rng([seed, 11])
        sizes = (40, 120)
        samples = [rng.normal(size=(2, n)) for n in sizes]
        for sample, share in zip(samples, rng.uniform(0.2, 0.8, size=2), strict=True):
            sample[1] = share * sample[0] + np.sqrt(1 - share**2) * sample[1]
        z = [np.arctanh(abs(np.corrcoef(sample)[0, 1])) for sample in samples]
        theirs.append(norm.sf((z[0] - z[1]) / np.sqrt(1 / 37 + 1 / 117)))
        by = np.repeat(["small", "the rest"], sizes)
        x, y = np.hstack(samples)
        answer = reldep.groups(x, y, by, kernel="linear", alternative="greater", **FEW)
        ours.append(answer.pvalue)
    assert spearmanr(ours, theirs).statistic > 0.95


def test_more_groups_have_one_overall_test_and_all_differences(rng):
    x = rng.normal(size=120)
    by = np.repeat(["n", "s", "w"], 40)
    y = x + np.where(by == "w", 3.0, 0.3) * rng.normal(size=120)
    answer = reldep.groups(x, y, by, **FEW)
    assert answer.pvalue < 0.001
    table = answer.differences()
    assert list(zip(table["first"], table["second"], strict=True)) == [
        ("n", "s"),
        ("n", "w"),
        ("s", "w"),
    ]
    assert [p < 0.05 for p in table["adjusted_pvalue"]] == [False, True, True]
    assert (table["adjusted_pvalue"] >= table["pvalue"]).all()


def test_permuted_labels_find_the_difference_too(xy):
    answer = reldep.groups(*xy, HALF, test="permutation", n_permutations=99, rng=0, **FEW)
    assert answer.pvalue == pytest.approx(0.01)


def test_labels_are_matched_by_index(xy):
    x, y = (pd.Series(values, index=[f"p{i}" for i in range(80)]) for values in xy)
    turned = pd.Series(HALF, index=x.index)[::-1]
    expected = reldep.groups(*xy, HALF, **FEW)
    answer = reldep.groups(x, y, turned, **FEW)
    assert answer.pvalue == expected.pvalue
    with pytest.raises(InputError, match="do not have the same rows"):
        reldep.groups(x, y, pd.Series(HALF, index=[f"q{i}" for i in range(80)]))


def test_groups_stand_in_the_order_of_their_labels(xy):
    numbered = np.where(HALF == "a", 10.0, 9.0)
    assert reldep.groups(*xy, numbered, **FEW).groups == ("9", "10")
    dose = pd.Categorical(np.where(HALF == "a", "low", "high"), ["low", "high"], ordered=True)
    assert reldep.groups(*xy, pd.Series(dose), **FEW).groups == ("low", "high")
    days = pd.Series(np.where(HALF == "a", "2024-02-01", "2023-05-01"))
    assert reldep.groups(*xy, pd.to_datetime(days), **FEW).groups == ("2023-05-01", "2024-02-01")
