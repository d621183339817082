"""The synthetic experiment, quick."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from written import assert_picture, read_table

import reldep
from reldep.datasets import make_spirals
from reproduction import RunRequest, paper, synthetic
from reproduction.repetitions import Cell
from reproduction.synthetic import draws


@pytest.fixture(scope="module")
def folder(quick):
    return quick("synthetic")


@pytest.fixture(scope="module")
def power(folder):
    rows = read_table(folder / "synthetic_power.csv")
    return {(row["test"], float(row["gamma3"])): float(row["power"]) for row in rows}


def test_the_joint_test_beats_the_split_and_keeps_its_level(power):
    assert power["joint", 0.3] <= 0.1
    for gamma3 in (0.6, 1.1, 1.7):
        assert power["joint", gamma3] > power["split", gamma3]
        assert power["joint, CKA", gamma3] >= power["joint", gamma3]
        assert power["joint, jackknife", gamma3] >= power["joint", gamma3]


def test_power_of_the_quick_run_is_pinned(power):
    assert [power["joint", g] for g in (0.3, 0.6, 1.1, 1.7)] == [0.05, 0.35, 1.0, 1.0]
    assert [power["split", g] for g in (0.3, 0.6, 1.1, 1.7)] == [0.0, 0.0, 0.05, 0.7]
    assert [power["joint, CKA", g] for g in (0.3, 0.6, 1.1, 1.7)] == [0.0, 0.5, 1.0, 1.0]


def test_bands_are_those_of_wilson(folder):
    row = next(r for r in read_table(folder / "synthetic_power.csv") if r["power"] == "0.35")
    p, n, z = 0.35, 20, norm.isf(0.025)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert float(row["low_95"]) == pytest.approx(centre - half, rel=1e-8)
    assert float(row["high_95"]) == pytest.approx(centre + half, rel=1e-8)


def test_pvalues_are_those_of_the_papers_test_on_the_same_draws(folder):
    row = read_table(folder / "synthetic_pvalues.csv")[0]
    assert (row["gamma3"], row["m"], row["test"], row["draws"]) == ("0.7", "100", "joint", "12")
    results = []
    for repetition in range(12):
        # These draws come after the four settings of the power curve.
        rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(4, repetition)))
        spirals = make_spirals(100, gamma3=0.7, rng=rng)
        with warnings.catch_warnings(action="ignore"):
            results.append(reldep.paper_test(*spirals.values()))
    pvalues = [result.pvalue for result in results]
    quartiles = np.quantile(pvalues, [0.25, 0.5, 0.75])
    columns = ("p_lower_quartile", "p_median", "p_upper_quartile")
    assert [float(row[column]) for column in columns] == pytest.approx(quartiles, rel=1e-8)
    spread = np.std([result.estimate for result in results], ddof=1)
    expected = np.sqrt(np.mean([result.standard_error**2 for result in results])) / spread
    assert float(row["error_ratio"]) == pytest.approx(expected, rel=1e-6)


def test_the_papers_numbers_stand_beside_ours_at_its_sizes():
    columns = {f"{m}_{v}": np.ones(3) for m in ("joint", "split", "default") for v in ("p", "z")}
    spread = {"xy": [1.0, 2.0, 3.0], "xz": [0.0] * 3, "var_xy": [4.0] * 3}
    spread |= {"cov": [0.0] * 3, "var_xz": [0.0] * 3}
    columns |= {f"{m}_{k}": np.array(v) for m in ("joint", "split") for k, v in spread.items()}
    rows = synthetic.pvalue_rows([(Cell("draws", {"m": 500, "gamma3": 1.7}, 3), columns)])
    assert [row["paper_p"] for row in rows] == [1e-9, 0.982, ""]
    assert [row["error_ratio"] for row in rows] == [2.0, 2.0, ""]
    tried = {name: np.arange(3.0) for name in draws.CANDIDATES}
    (row,) = synthetic.candidate_rows([(Cell("candidates", {"m": 500, "gamma3": 0.7}, 3), tried)])
    assert row["paper"] == pytest.approx(norm.isf(0.0189))
    assert row["wide"] == 1.0


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_the_default_is_that_of_the_program():
    cell = Cell("power", {"m": 60, "gamma3": 0.6}, 1)
    record = draws.measure(cell, np.random.default_rng(3))
    assert tuple(record) == ("joint", "split", "joint, CKA", "joint, jackknife", "default")
    blocks = tuple(make_spirals(60, gamma3=0.6, rng=np.random.default_rng(3)).values())
    assert record["default"] == reldep.compare(*blocks, alternative="greater").pvalue
    aware = {"measure": "hsic", "kernel": "gaussian", "alternative": "greater"}
    expected = reldep.compare(*blocks, **aware).pvalue
    assert record["joint, jackknife"] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_candidates_differ_in_what_they_say():
    cell = Cell("candidates", {"m": 60, "gamma3": 1.7}, 1)
    record = draws.measure(cell, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    seed = int(rng.integers(2**63))
    root = np.sqrt([0.3, 0.3, 1.7])
    noisy = make_spirals(60, *root, rng=seed)
    spirals = make_spirals(60, gamma3=1.7, rng=seed)
    blocks = (spirals.source, spirals.first, spirals.second)
    joint = reldep.paper_test(*blocks)
    assert record["described"] == joint.statistic
    variance = reldep.paper_test(*noisy.values())
    assert record["variance"] == pytest.approx(variance.statistic)
    wide = reldep.paper_test(*blocks, kernel=reldep.kernels.Gaussian(factor=2**0.5))
    assert record["wide"] == pytest.approx(wide.statistic)
    apart = joint.estimate / np.sqrt(joint.covariance[0, 0] + joint.covariance[1, 1])
    assert record["uncorrelated"] == pytest.approx(apart)


def test_a_full_run_has_the_papers_sizes(tmp_path):
    cells = draws.cells(RunRequest("full", 0, tmp_path))
    drawn = [c.settings for c in cells if c.part == "draws"]
    assert [(s["gamma3"], s["m"]) for s in drawn] == list(paper.SYNTHETIC)
    power = [c for c in cells if c.part == "power"]
    assert {c.settings["m"] for c in power} == {500}
    assert min(c.repetitions for c in power) >= 200
    assert [c.settings["gamma3"] for c in power][:: len(power) - 1] == [0.3, 1.7]


def test_figures_are_drawn(folder):
    assert_picture(folder, "synthetic_scatter", "source, γ1 = 0.3", "second, γ3 = 0.6")
    assert_picture(folder, "synthetic_power", *draws.TESTS, "rejected, m = 100")
    assert_picture(folder, "synthetic_draws", "joint", "split", "γ3 = 1.7, m = 300")


def test_the_page_has_our_numbers_and_the_command(folder):
    page = (folder / "synthetic.md").read_text(encoding="utf-8")
    assert "`python -m reproduction synthetic --quick --seed 0`" in page
    assert "| 0.6 | 0.35 | 0.00 | 0.50 |" in page
    for text in draws.CANDIDATES.values():
        assert text in page
    for name in ("scatter", "power", "draws"):
        assert f"(synthetic_{name}.png)" in page
    assert not list(folder.glob(".*"))
