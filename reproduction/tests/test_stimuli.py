"""The experiment on stimuli over time, quick."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from written import assert_picture, read_table

import reldep
from reldep.datasets import make_two_stimuli
from reproduction import RunRequest, stimuli

pytestmark = [
    pytest.mark.filterwarnings("ignore::reldep.ReldepWarning"),
]


QUICK = stimuli.cells(RunRequest("quick", 0, Path()))


@pytest.fixture(scope="module")
def folder(quick):
    return quick("stimuli")


def test_a_full_run_has_more_samples():
    assert {(c.repetitions, c.settings["n"]) for c in QUICK} == {(12, 400)}
    full = stimuli.cells(RunRequest("full", 0, Path()))
    assert {(c.repetitions, c.settings["n"]) for c in full} == {(400, 400)}
    assert [c.part for c in full] == [c.part for c in QUICK] == ["size"] * 5 + ["power"] * 5


def column(rows, name):
    return [float(row[name]) for row in rows]


def test_max_lag_brings_false_alarms_down(folder):
    rows = read_table(folder / "stimuli_size.csv")
    assert column(rows, "autocorrelation") == [0.0, 0.3, 0.6, 0.8, 0.9]
    for name in stimuli.LAGS:
        if name != "independent rows":
            # With the two slowest streams, where independence is farthest from the truth.
            assert sum(column(rows, name)[-2:]) < sum(column(rows, "independent rows")[-2:])


def test_power_grows_with_the_visual_weight(folder):
    rows = read_table(folder / "stimuli_power.csv")
    assert column(rows, "visual_weight") == [1.0, 1.25, 1.5, 2.0, 3.0]
    for name in stimuli.LAGS:
        power = column(rows, name)
        assert power[-1] >= 0.8 > power[1]


def test_pvalues_are_those_of_compare():
    cell = stimuli.Cell("size", {"n": 400, "autocorrelation": 0.8, "visual_weight": 1.5}, 1)
    record = stimuli.measure(cell, np.random.default_rng(1))
    streams = make_two_stimuli(400, 1.5, autocorrelation=0.8, rng=np.random.default_rng(1))
    blocks = (streams.response, streams.visual, streams.audio)
    for name, lag in stimuli.LAGS.items():
        expected = reldep.compare(*blocks, alternative="two-sided", max_lag=lag).pvalue
        assert record[name] == pytest.approx(expected)


def test_the_figure_and_the_page_are_written(folder):
    assert_picture(folder, "stimuli", "independent rows", "max_lag = 5", "visual weight")
    page = (folder / "stimuli.md").read_text(encoding="utf-8")
    assert (
        "`python -m reproduction stimuli --quick --seed 0`: 12 samples of 400 time points" in page
    )
    row = read_table(folder / "stimuli_size.csv")[3]
    assert f"| 0.8 | {float(row['independent rows']):.3f} |" in page
