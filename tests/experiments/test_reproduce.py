"""Asking for an experiment: names, sizes, folders, data and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from reldep import experiments
from reldep.cli.demonstrations import reproduce as reproduce_command
from reldep.experiments import names, reproduce, stimuli
from reldep.experiments.request import RunRequest


@pytest.fixture
def command():
    app = typer.Typer()
    app.command()(reproduce_command)
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


def test_the_experiments_have_names_and_a_line_each():
    assert names() == ("synthetic", "languages", "tumour", "stimuli")
    assert all(experiments.EXPERIMENTS[name] for name in names())


@pytest.mark.parametrize(
    ("name", "near"), [("tumor", "tumour"), ("Synthetic", "synthetic"), ("language", "languages")]
)
def test_a_misspelt_name_gets_the_nearest_one(tmp_path, name, near):
    with pytest.raises(ValueError, match=rf"name='{name}' is no exp.*did you mean '{near}'"):
        reproduce(name, out=tmp_path)


def test_a_name_like_no_other_gets_the_list(tmp_path):
    with pytest.raises(ValueError, match="'xyz' is no experiment; pass one of 'synthetic', 'lang"):
        reproduce("xyz", out=tmp_path)
    with pytest.raises(TypeError, match="name is of type int; pass one of 'synthetic'"):
        reproduce(3, out=tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "huge"}, "size='huge' is not known; pass 'quick' or 'full'"),
        ({"seed": -1}, "seed=-1; pass a whole number, at least 0"),
        ({"seed": 1.5}, "seed=1.5; pass a whole number"),
        ({"seed": True}, "seed=True; pass a whole number"),
    ],
)
def test_wrong_options_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        reproduce("tumour", out=tmp_path, **options)


def test_data_are_refused_where_none_are_used(tmp_path):
    with pytest.raises(ValueError, match="'stimuli' makes its own data; leave data out"):
        reproduce("stimuli", out=tmp_path, data=tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"), [("languages", "Europarl"), ("tumour", "ge_cgh_locIGR.rda")]
)
def test_data_that_are_not_there_are_named_with_what_is_expected(tmp_path, name, expected):
    out = tmp_path / "out"
    with pytest.raises(FileNotFoundError, match=rf"absent' is not there.*{expected}"):
        reproduce(name, out=out, data=tmp_path / "absent")
    assert not out.exists()


def test_wrong_data_say_what_was_expected(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no text of any language\. Expected is one file"):
        reproduce("languages", out=tmp_path, data=tmp_path / "empty")
    (tmp_path / "wrong.rda").write_bytes(b"not R")
    with pytest.raises(ValueError, match="gliomaData"):
        reproduce("tumour", out=tmp_path, data=tmp_path / "wrong.rda")


@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_in_place_of_the_folder_is_refused(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is, or lies below, a file; pass a folder"):
        reproduce("tumour", out=tmp_path / "file" / below)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(PermissionError, match="no permission to write there; pass another"):
        reproduce("tumour", out=tmp_path)


@pytest.fixture
def few(monkeypatch):
    """Make an experiment of few and small samples."""
    cells = [
        replace(cell, settings={**cell.settings, "n": 40}, repetitions=2)
        for cell in stimuli.cells(RunRequest("quick", 0, Path()))
    ]
    monkeypatch.setattr(stimuli, "cells", lambda request: cells)
    return cells


def test_a_stopped_experiment_continues_to_the_same_bytes(few, tmp_path, monkeypatch):
    reproduce("stimuli", out=tmp_path / "whole", progress=False)
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    total, done = 2 * len(few), 7
    measure, left = stimuli.measure, [done]

    def stop_when_none_are_left(cell, rng):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return measure(cell, rng)

    monkeypatch.setattr(stimuli, "measure", stop_when_none_are_left)
    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        reproduce("stimuli", out=out, progress=False)
    assert [path.name for path in out.iterdir()] == [".stimuli-quick-seed0.partial.jsonl"]
    left[0] = total - done
    reproduce("stimuli", out=out, progress=False)
    assert left == [0]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole


@pytest.mark.usefixtures("few")
def test_the_command_lists_what_it_wrote(command, tmp_path):
    result = command("stimuli", "--quick", "--seed", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert sorted(map(Path, result.output.split())) == sorted(tmp_path.iterdir())
    assert "--quick --seed 1" in (tmp_path / "stimuli.md").read_text()


def test_the_command_passes_size_and_data_on(command, tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        experiments, "reproduce", lambda name, **o: asked.update(o, name=name) or []
    )
    command("languages", "--full", "--out", tmp_path, "--data", tmp_path)
    assert asked == {
        "name": "languages",
        "size": "full",
        "seed": 0,
        "out": tmp_path,
        "data": tmp_path,
    }


def test_the_command_passes_on_what_is_wrong(command, tmp_path):
    result = command("tumor", "--out", tmp_path)
    assert isinstance(result.exception, ValueError)
    assert "did you mean 'tumour'" in str(result.exception)


def test_the_command_says_that_a_stopped_run_can_go_on(command, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "reproduce", stop)
    result = command("stimuli", "--out", tmp_path)
    # As a shell says of a program that Ctrl-C stopped.
    assert result.exit_code == 130
    assert "The same command continues from here" in result.output


def test_asking_for_names_loads_no_experiment():
    code = (
        "import sys, reldep.experiments\n"
        "print(*(name in sys.modules for name in ('matplotlib', 'scipy.stats')))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False", "False"]
