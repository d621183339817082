"""Repetitions: their seeds, their file on disk, and going on after a stop."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from reproduction import repetitions, stimuli
from reproduction.repetitions import Cell, records_of, run_cells
from reproduction.request import RunRequest

CELLS = [Cell("a", {"mean": 0.0}, 5), Cell("b", {"mean": 10.0}, 3)]


def draw(cell, rng):
    return {"value": float(rng.normal(cell.settings["mean"]))}


def request(folder, **changed):
    return RunRequest(**{"size": "quick", "seed": 0, "out": folder, "progress": False} | changed)


def values(checkpoint, cells=CELLS):
    return [
        list(columns["value"])
        for part in ("a", "b")
        for _, columns in records_of(checkpoint, cells, part)
    ]


def file_in(folder):
    return folder / ".numbers-quick-seed0.partial.jsonl"


class StopAfter:
    """A measure that is interrupted, as by Ctrl-C, after some repetitions."""

    def __init__(self, count, measure=draw):
        self.left = count
        self.measure = measure

    def __call__(self, cell, rng):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self.measure(cell, rng)


def test_seeds_belong_to_places_so_every_repetition_differs(tmp_path):
    found = values(run_cells("numbers", CELLS, draw, request(tmp_path)))
    assert len({*found[0], *(v - 10 for v in found[1])}) == 8
    expected = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(1, 2))).normal(10.0)
    assert found[1][2] == expected


def test_another_seed_gives_other_numbers(tmp_path):
    first = values(run_cells("numbers", CELLS, draw, request(tmp_path)))
    second = values(run_cells("numbers", CELLS, draw, request(tmp_path, seed=1)))
    assert not set(first[0]) & set(second[0])


def test_a_stopped_run_goes_on_and_repeats_nothing(tmp_path):
    whole = values(run_cells("numbers", CELLS, draw, request(tmp_path / "..", seed=0)))
    with pytest.raises(KeyboardInterrupt):
        run_cells("numbers", CELLS, StopAfter(6), request(tmp_path))
    rest = StopAfter(2)
    assert values(run_cells("numbers", CELLS, rest, request(tmp_path))) == whole
    assert rest.left == 0


@pytest.mark.parametrize(
    "damage",
    [b'{"cell": 1, "repe', b"\xff\xfe\n", b"12\n", b'{"cell": 1}\n', b'{"cell": 0}'],
    ids=["cut", "bytes", "number", "incomplete", "no-newline"],
)
def test_a_damaged_last_line_is_cut_off(tmp_path, damage):
    with pytest.raises(KeyboardInterrupt):
        run_cells("numbers", CELLS, StopAfter(4), request(tmp_path))
    file = file_in(tmp_path)
    sound = file.read_bytes()
    file.write_bytes(sound + damage)
    rest = StopAfter(4)
    found = values(run_cells("numbers", CELLS, rest, request(tmp_path)))
    assert rest.left == 0
    assert found == values(run_cells("other", CELLS, draw, request(tmp_path)))
    lines = file.read_bytes().splitlines()
    assert file.read_bytes().startswith(sound)
    assert len(lines) == 1 + 8
    assert all(json.loads(line) for line in lines)


def test_a_whole_last_line_without_its_end_is_drawn_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_cells("numbers", CELLS, StopAfter(4), request(tmp_path))
    file = file_in(tmp_path)
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    run_cells("numbers", CELLS, draw, request(tmp_path))
    assert len(file.read_bytes().splitlines()) == 1 + 8


def test_a_file_of_other_settings_is_started_afresh(tmp_path):
    run_cells("numbers", [Cell("a", {"mean": 5.0}, 9)], draw, request(tmp_path))
    all_anew = StopAfter(8)
    run_cells("numbers", CELLS, all_anew, request(tmp_path))
    assert all_anew.left == 0
    assert len(file_in(tmp_path).read_bytes().splitlines()) == 1 + 8


def test_two_processes_give_the_same_records_as_one(tmp_path):
    cells = [Cell("a", {"n": 400, "autocorrelation": 0.5, "visual_weight": 1.0}, 3)]
    quick = run_cells("streams", cells, stimuli.measure, request(tmp_path))
    full = run_cells("streams", cells, stimuli.measure, request(tmp_path, size="full"))
    assert full.records == quick.records


def test_the_progress_bar_is_for_terminals_only(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for progress, shown in ((True, True), (False, False)):
        terminal = Terminal()
        monkeypatch.setattr(repetitions.sys, "stderr", terminal)
        run_cells("numbers", CELLS, draw, request(tmp_path, progress=progress))
        file_in(tmp_path).unlink()
        assert ("numbers" in terminal.getvalue()) is shown


def test_removing_the_file_twice_does_no_harm(tmp_path):
    checkpoint = run_cells("numbers", CELLS, draw, request(tmp_path))
    checkpoint.remove()
    checkpoint.remove()
    assert not list(Path(tmp_path).iterdir())
