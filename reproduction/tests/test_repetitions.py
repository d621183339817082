"""Repetitions: their seeds, their processes and their progress bar."""

from __future__ import annotations

import io

import numpy as np

from reproduction import RunRequest, repetitions, stimuli
from reproduction.repetitions import Cell, run_cells

CELLS = [Cell("a", {"mean": 0.0}, 5), Cell("b", {"mean": 10.0}, 3)]


def draw(cell, rng):
    return {"value": float(rng.normal(cell.settings["mean"]))}


def request(folder, **changed):
    return RunRequest(**{"size": "quick", "seed": 0, "out": folder} | changed)


def values(found):
    return [list(columns["value"]) for part in "ab" for _, columns in found[part]]


def test_seeds_belong_to_places_so_every_repetition_differs(tmp_path):
    found = values(run_cells("numbers", CELLS, draw, request(tmp_path)))
    assert len({*found[0], *(v - 10 for v in found[1])}) == 8
    expected = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(1, 2))).normal(10.0)
    assert found[1][2] == expected


def test_two_processes_give_the_same_records_as_one(tmp_path):
    cells = [Cell("a", {"n": 400, "autocorrelation": 0.5, "visual_weight": 1.0}, 3)]
    ((_, one),) = run_cells("streams", cells, stimuli.measure, request(tmp_path))["a"]
    ((_, two),) = run_cells("streams", cells, stimuli.measure, request(tmp_path, size="full"))["a"]
    np.testing.assert_equal(one, two)


def test_the_progress_bar_is_for_terminals_only(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for file, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(repetitions.sys, "stderr", file)
        run_cells("numbers", CELLS, draw, request(tmp_path))
        assert ("numbers" in file.getvalue()) is shown
