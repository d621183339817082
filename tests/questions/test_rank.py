"""Ranking targets: agreement with compare, coverage of the truth, names, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep
from reldep.kernels import Gaussian, Laplace
from reldep.stats.simultaneous import largest_leads

VARIANCES = ("jackknife", "fixed-kernel")
SLOPES = (0.9, 0.8, 0.5, 0.2, 0.0)


def normal_hsic(slope):
    """HSIC of x and slope·x + noise, all standard normal, with Gaussian kernels of width 1.

    (x - x', y - y') is normal, so every expectation is a determinant to the power -1/2.
    """
    spread = np.array([[1.0, slope], [slope, slope**2 + 1.0]])
    crossed = 2 * spread - (spread - np.diag(np.diag(spread)))
    joint, mixed = (np.linalg.det(np.eye(2) + s) ** -0.5 for s in (2 * spread, crossed))
    return joint - 2 * mixed + np.prod(1 + 2 * np.diag(spread)) ** -0.5


TRUTH = np.array([normal_hsic(slope) for slope in SLOPES])


def made(m=80, seed=0, noise=(0.4, 1.0, 2.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, {f"t{i}": x + s * rng.normal(size=m) for i, s in enumerate(noise)}


@pytest.fixture(scope="module")
def draws():
    """Rankings of five targets with known dependence, from strong to none."""
    rankings = []
    for seed in range(50_000, 50_300):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=150)
        targets = {f"t{i}": b * x + rng.normal(size=150) for i, b in enumerate(SLOPES)}
        rankings.append(
            reldep.rank(
                x,
                targets,
                measure="hsic",
                variance="fixed-kernel",
                kernel=Gaussian(1.0),
                n_simulations=1000,
                rng=seed,
            )
        )
    return rankings


def test_the_estimates_have_no_bias(draws):
    values = np.array([ranking.estimates for ranking in draws])
    error = values.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(values.mean(axis=0) - TRUTH) < 4 * error).all()


def at_least(share, n):
    """The smallest frequency that n draws with this probability plausibly give (3 deviations)."""
    return share - 3 * np.sqrt(share * (1 - share) / n)


def intervals_cover(ranking):
    low, high = ranking.confidence_interval()
    return ((low <= TRUTH) & (high >= TRUTH)).all()


def intervals_of_differences_cover(ranking):
    table, found = ranking.pairwise(), ranking.comparisons
    true = TRUTH[found.first] - TRUTH[found.second]
    return ((table["low"].to_numpy() <= true) & (true <= table["high"].to_numpy())).all()


def the_best_is_among_the_best(ranking):
    return "t0" in ranking.best


def ranks_cover(ranking):
    low, high = ranking.standing.ranges(0.95)
    return ((low <= np.arange(1, 6)) & (np.arange(1, 6) <= high)).all()


@pytest.mark.parametrize(
    "holds",
    [intervals_cover, intervals_of_differences_cover, the_best_is_among_the_best, ranks_cover],
)
def test_what_is_said_of_all_targets_holds_at_once_as_often_as_claimed(draws, holds):
    assert np.mean([holds(ranking) for ranking in draws]) >= at_least(0.95, len(draws))
    # A set of the best would be useless if it contained everything.
    assert np.mean([len(ranking.best) for ranking in draws]) < 3


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_many_targets_are_ranked_as_few_are(measure):
    """Products of all pairs at once give what pairs one at a time give."""
    source, targets = made(30, noise=np.linspace(0.3, 3.0, 26))
    few = {name: targets[name] for name in ("t0", "t1", "t2")}
    many, few = (reldep.rank(source, some, measure=measure).dependences for some in (targets, few))
    for name in ("values", "standard_errors"):
        np.testing.assert_allclose(getattr(many, name)[:3], getattr(few, name), 1e-9, 1e-13)


@pytest.mark.parametrize("p", [120, 121, 123])
def test_compiled_leads_are_those_of_plain_loops(p):
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(p, 19)).astype(np.float32)
    inverse = rng.uniform(size=(p, p)).astype(np.float32)
    inverse += inverse.T
    np.fill_diagonal(inverse, 0.0)
    gaps = np.abs(drawn[:, None] - drawn[None]) * inverse[:, :, None]
    np.testing.assert_allclose(largest_leads(drawn, inverse), gaps.max(axis=1), rtol=1e-6)


@pytest.mark.parametrize("measure", ["hsic", "cka"])
def test_many_targets_share_what_is_known_about_variances_towards_caution(measure):
    x, targets = made(50, seed=4, noise=(0.6, 0.8, 2.0, 4.0))
    for row in reldep.rank(x, targets, measure=measure).pairwise().iter_rows(named=True):
        pair = targets[row["first"]], targets[row["second"]]
        compared = reldep.compare(x, *pair, measure=measure)
        assert row["estimate"] == pytest.approx(compared.estimate, rel=1e-9)
        assert row["standard_error"] >= compared.standard_error * (1 - 1e-9)
        assert row["adjusted_pvalue"] >= row["pvalue"] >= compared.pvalue * (1 - 1e-8)


def test_the_table_starts_with_the_strongest_and_keeps_names():
    x, targets = made()
    names = dict(zip(("weak", "strong", "middle"), ("t2", "t0", "t1"), strict=True))
    ranking = reldep.rank(x, {name: targets[key] for name, key in names.items()})
    table = ranking.to_frame()
    assert table["target"].to_list() == ["strong", "middle", "weak"]
    assert table["rank"].to_list() == [1, 2, 3]
    assert ranking.best == ("strong",)
    assert ranking.pairwise()["first"].to_list() == ["weak", "weak", "strong"]
    assert ranking.targets == ("weak", "strong", "middle")
    assert ranking.sentence().startswith("Of 3 targets, source is most closely related to strong")
    assert repr(ranking).startswith("Ranking(source='source', best=('strong',)")


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_column_of_a_frame_is_a_target(build):
    x, targets = made()
    ranking = reldep.rank(pd.Series(x, name="dose"), build(targets))
    assert ranking.source == "dose"
    assert ranking.targets == ("t0", "t1", "t2")
    np.testing.assert_array_equal(ranking.estimates, reldep.rank(x, targets).estimates)
    assert isinstance(ranking.to_frame(), pd.DataFrame)


def test_kernels_are_given_for_source_and_targets_or_by_name():
    x, targets = made()
    pair = reldep.rank(x, targets, kernel=(Gaussian(2.0), Laplace(3.0)))
    kernels = {name: k["kernel"] for name, k in pair.provenance.kernels.items()}
    assert kernels["source"] == "Gaussian(bandwidth=2)"
    assert set(kernels.values()) == {"Gaussian(bandwidth=2)", "Laplace(bandwidth=3)"}
    named = reldep.rank(
        x, targets, kernel={"source": Gaussian(2.0), "targets": Laplace(3.0), "t1": "linear"}
    )
    kernels = {name: k["kernel"] for name, k in named.provenance.kernels.items()}
    assert list(kernels.values()) == [
        *("Gaussian(bandwidth=2)", "Laplace(bandwidth=3)", "Linear()", "Laplace(bandwidth=3)")
    ]


def test_copies_of_a_target_are_ties_never_nan():
    x, targets = made()
    ranking = reldep.rank(x, {**targets, "copy": targets["t0"], "scaled": 3 * targets["t0"]})
    table = ranking.pairwise().filter(
        pl.col("first").is_in(["t0", "copy"]) & pl.col("second").is_in(["copy", "scaled"])
    )
    assert table["adjusted_pvalue"].to_list() == [1.0, 1.0, 1.0]
    assert table["estimate"].to_list() == [0.0, 0.0, 0.0]
    assert table["low"].to_list() == table["high"].to_list() == [0.0, 0.0, 0.0]
    assert set(ranking.best) == {"t0", "copy", "scaled"}
    assert ranking.ranks.tolist() == [1, 4, 5, 1, 1]
    assert ranking.sentence().startswith(
        "Of 5 targets, source may be most closely related to t0, copy or scaled"
    )


def test_levels_may_be_asked_for_afterwards():
    x, targets = made()
    ranking = reldep.rank(x, targets, confidence_level=0.9)
    widths = [np.subtract(*ranking.confidence_interval(level)[::-1]) for level in (0.9, 0.99)]
    assert (widths[0] < widths[1]).all()
    np.testing.assert_array_equal(np.subtract(*ranking.confidence_interval()[::-1]), widths[0])
    assert "90%" in ranking.summary()
    fields = json.loads(ranking.to_json())
    assert (fields["alpha"], fields["confidence_level"]) == (0.1, 0.9)
    wide = ranking.pairwise(0.99)
    assert (wide["low"] < ranking.pairwise()["low"]).all()
