"""Scans: every row is that of a single question, and what holds for all of them at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import false_discovery_control

import reldep
from reldep.data.variables import Numeric
from reldep.engine import Blocks
from reldep.engine.scan import deal_for_scan
from reldep.kernels import Gaussian, Laplace, Precomputed


def data(m=60, n=30, seed=0):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, m))
    sources = rng.normal(size=(m, n))
    sources[:, :4] += first[:, None]
    sources[:, 4:8] -= second[:, None] ** 2
    sources[:, -1] = np.round(sources[:, -1])
    return sources, first, second


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measure": "hsic", "alternative": "greater"},
        {"measure": "dcor", "alternative": "less"},
        {"engine": "tiled"},
        *({"kernel": kernel} for kernel in ("linear", Gaussian(), ("auto", "linear", "distance"))),
    ],
    ids=str,
)
def test_every_row_is_that_of_compare(options):
    sources, first, second = data()
    frame = reldep.scan(sources, first, second, **options).to_frame()
    for i in range(0, 30, 3):
        one = reldep.compare(sources[:, i], first, second, **options)
        for name in ("estimate", "standard_error", "statistic", "pvalue"):
            np.testing.assert_allclose(frame[name][i], getattr(one, name), rtol=1e-10)


@pytest.mark.parametrize("adjust", ["single-step", "holm"])
def test_fdr_is_that_of_benjamini_and_hochberg_and_adjusted_pvalues_are_larger(adjust):
    frame = reldep.scan(*data(), adjust=adjust).to_frame()
    assert (frame["adjusted_pvalue"] >= frame["pvalue"]).all()
    np.testing.assert_allclose(frame["fdr"], false_discovery_control(frame["pvalue"].to_numpy()))


@pytest.mark.parametrize("n_columns", [5, 30])
@pytest.mark.parametrize("far", [1e9, 1e16])
def test_a_source_that_compare_refuses_is_skipped_and_the_others_go_on(rng, n_columns, far):
    """One fill value ended a scan of few columns and was a bandwidth in one of many."""
    sources, first, second = rng.normal(size=(60, n_columns)), *rng.normal(size=(2, 60))
    plain = reldep.scan(sources, first, second)
    sources[3, 0] = far
    with pytest.raises(ValueError, match="so far from the others") as refused:
        reldep.compare(sources[:, 0], first, second)
    found = reldep.scan(sources, first, second)
    assert found.skipped == (("source 0", "not usable as it is"),)
    assert str(refused.value).removeprefix("source") in " ".join(found.provenance.notes)
    np.testing.assert_allclose(found.to_frame()["pvalue"], plain.to_frame()["pvalue"][1:])
    assert reldep.scan(first, sources).skipped == (("target 0", "not usable as it is"),)


def test_constant_and_almost_constant_sources_are_skipped_and_listed():
    sources, first, second = data()
    sources[:, 3] = 7.0
    sources[:, 12] = 0.0
    sources[5, 12] = 1.0
    result = reldep.scan(sources, first, second)
    assert "1 of 30 sources was skipped (constant): source 3" in " ".join(result.provenance.notes)
    assert [name for name, _ in result.skipped] == ["source 3", "source 12"]
    assert len(result.to_frame()) == 28
    assert result.skipped[0][1] == "constant"
    one = reldep.compare(sources[:, 29], first, second)
    np.testing.assert_allclose(result.to_frame()["pvalue"][27], one.pvalue, rtol=1e-10)


def test_missing_values_are_dropped_for_each_source_by_itself():
    sources, first, second = data()
    sources[7, 2] = sources[9, 5] = sources[[1, 9], 6] = np.nan
    second = second.copy()
    second[11] = np.nan
    result = reldep.scan(sources, first, second, missing="drop")
    frame = result.to_frame()
    for i in (0, 2, 5, 6, 20):
        one = reldep.compare(sources[:, i], first, second, missing="drop")
        np.testing.assert_allclose(frame["pvalue"][i], one.pvalue, rtol=1e-10)
    assert result.to_frame()["n"][6] == 57
    assert result.n_observations == 59


def test_a_scan_that_is_interrupted_keeps_what_is_done():
    sources, first, second = data(10, 1_020)

    def stopping(a, b):
        if any((a == column[:, None]).all() for column in sources[:, 1_010:].T):
            raise KeyboardInterrupt
        return a @ b.T

    result = reldep.scan(sources, first, second, kernel={"sources": stopping})
    assert "interrupted after 1,000 of 1,020 sources" in " ".join(result.provenance.notes)
    assert len(result.sources) == 1_000


def test_chunks_do_not_change_the_answer():
    sources, first, second = data(20, 1_020)
    whole = reldep.scan(sources, first, second).to_frame()
    last = reldep.scan(sources[:, 990:], first, second).to_frame()
    for name in ("estimate", "standard_error", "statistic", "pvalue"):
        np.testing.assert_allclose(whole[name][990:], last[name], rtol=1e-9)


def test_familywise_error_under_the_complete_null():
    rng = np.random.default_rng(0)
    false, n_draws, m = 0, 60, 50
    for _ in range(n_draws):
        common = rng.normal(size=m)
        first, second = common + rng.normal(size=(2, m))
        blocks = np.repeat(common[:, None] + rng.normal(size=(m, 10)), 5, axis=1)
        sources = blocks + 0.5 * rng.normal(size=(m, 50))
        result = reldep.scan(sources, first, second, n_simulations=2000)
        false += bool((result.adjusted_pvalues <= 0.05).any())
    # Three standard errors of a share of .05 above it.
    assert false / n_draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_draws)


def test_two_kernel_matrices_are_two_targets():
    sources, first, second = data()
    matrices = [Precomputed(np.exp(-np.abs(v[:, None] - v))) for v in (first, second)]
    found = reldep.scan(sources, *matrices)
    one = reldep.compare(sources[:, 2], *matrices)
    np.testing.assert_allclose(found.to_frame()["pvalue"][2], one.pvalue, rtol=1e-10)


# One source, many targets.


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_intervals_are_those_of_a_matrix_of_one_row(measure):
    targets, source, _ = data(n=12)
    names = [f"target {i}" for i in range(12)]
    found = reldep.scan(source, targets, measure=measure)
    rectangle = reldep.matrix(
        {"source": source}, dict(zip(names, targets.T, strict=True)), measure=measure
    )
    low, high = found.tests.intervals(rectangle.maxima, 0.95)
    expected_low, expected_high = rectangle.confidence_interval()
    np.testing.assert_allclose(low, expected_low, atol=1e-12)
    np.testing.assert_allclose(high, expected_high, rtol=1e-9)
    # The draws differ, not the law: 10,000 give the critical value to about one per cent.
    quantiles = [np.quantile(maxima, 0.95) for maxima in (found.maxima, rectangle.maxima)]
    np.testing.assert_allclose(*quantiles, rtol=0.03)


def test_the_best_are_the_strongest_with_ranks_that_allow_for_the_choice():
    targets, source, _ = data(200)
    result = reldep.scan(pl.Series("x", source), pl.DataFrame(targets))
    best = result.to_frame().top_k(4, by="estimate")
    assert set(best["target"]) == {"column_0", "column_1", "column_2", "column_3"}
    assert (best["rank_low"] <= 4).all()
    assert (best["rank_high"] < 30).all()
    assert result.source == "x"
    assert "Of 30 targets, 4 are related to x" in result.sentence()
    assert result.plot().get_xlabel() == "CKA with x"


def test_identifiers_texts_and_objects_among_the_sources_are_skipped(rng):
    first, second = rng.normal(size=(2, 40))
    sources = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(40)],
            "gene": rng.normal(size=40) + first,
            "notes": [f"patient {i} came back after some weeks of treatment" for i in range(40)],
            "sets": [{i} for i in range(40)],
            "dose": [f"{i} {'g' if i % 2 else 'mg'}" for i in range(40)],
        }
    )
    result = reldep.scan(sources, first, second)
    assert result.sources == ("gene",)
    assert dict(result.skipped) == {
        "id": "every observation has a label of its own",
        "notes": "not usable as it is",
        "sets": "not usable as it is",
        "dose": "not usable as it is",
    }
    assert "For one, notes contains 40 different strings" in " ".join(result.provenance.notes)
    with pytest.raises(ValueError, match="notes contains 40 different strings"):
        reldep.scan(sources[["notes"]], first, second)


# Blocks of rows.


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_in_blocks_every_row_is_that_of_a_single_question_in_these_blocks(measure):
    sources, first, second = data(600, 25)
    sources = pd.DataFrame(sources).add_prefix("g")
    if measure != "dcor":
        sources["kind"] = np.where(first > 0.2, "a", "b")
    options = {"measure": measure, "engine": Blocks(60)}
    found = reldep.scan(sources, first, second, **options)
    targets = reldep.scan(first, sources, **options)
    assert found.provenance.engine == "blocks"
    assert "Computed in 10 random blocks of 60 rows" in found.summary()
    for i in (0, 5, len(found.sources) - 1):
        one = reldep.compare(sources.iloc[:, i], first, second, **options)
        for name in ("estimate", "standard_error", "statistic", "pvalue"):
            np.testing.assert_allclose(found.to_frame()[name][i], getattr(one, name), rtol=1e-9)
        one = reldep.dependence(first, sources.iloc[:, i], **options)
        np.testing.assert_allclose(targets.to_frame()["pvalue"][i], one.pvalue, rtol=1e-9)
        error = targets.to_frame()["standard_error"][i]
        np.testing.assert_allclose(error, one.standard_error, rtol=1e-9)


def test_in_blocks_chunks_and_missing_rows_leave_the_other_rows_where_they_are():
    sources, first, second = data(600, 12)
    sources[[5, 70], 3] = np.nan
    sources[20:, 4] = np.nan
    options = {"missing": "drop", "engine": Blocks(60), "kernel": Laplace(1.0)}
    whole = reldep.scan(sources, first, second, **options)
    assert dict(whole.skipped) == {"source 4": "too few complete observations for blocks of rows"}
    assert whole.to_frame()["n"][3] == 598
    last = reldep.scan(sources[:, 5:], first, second, **options)
    np.testing.assert_allclose(whole.estimates[4:], last.estimates, rtol=1e-9)
    plain = reldep.scan(sources, first, second, missing="drop", kernel=Laplace(1.0))
    error = whole.tests.standard_error[3]
    assert whole.estimates[3] == pytest.approx(plain.estimates[3], abs=3 * error)


def test_in_blocks_all_intervals_hold_and_independent_targets_are_rarely_claimed():
    rng, n, false, missed = np.random.default_rng(4), 40, 0, 0
    for i in range(n):
        x = rng.normal(size=500)
        targets = rng.normal(size=(500, 30))
        targets[:, :5] += 0.7 * x[:, None]
        found = reldep.scan(x, targets, engine=Blocks(50, rng=i), kernel=Laplace(1.0))
        false += (found.adjusted_pvalues[5:] < 0.05).any()
        truth = 0.1402  # by 4,000,000 rows
        low, high = found.confidence_interval()
        missed += ((low[:5] > truth) | (high[:5] < truth)).any() or (low[5:] > 0).any()
    # Three standard errors of a share of .05 above it.
    assert max(false, missed) / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


@pytest.mark.parametrize(
    ("engine", "m", "seconds", "is_dealt"),
    [
        ("auto", 13_000, 0.0, True),
        ("auto", 13_000, 1e9, False),
        ("auto", 5_000, 0.0, False),
        ("lines", 13_000, 0.0, False),
        (Blocks(), 2_000, 1e9, True),
    ],
)
def test_auto_takes_blocks_where_columns_would_take_long(engine, m, seconds, is_dealt, rng):
    fixed, column = (Laplace(1.0).fit(Numeric("x", rng.normal(size=(m, 1)))) for _ in "xy")
    blocks = deal_for_scan({"x": fixed}, engine, column, 40, m, seconds)
    assert (blocks is not None) == is_dealt
    if is_dealt:
        assert np.bincount(blocks).min() >= 40
