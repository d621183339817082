"""Asking for an experiment: names, sizes, folders, data and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import reproduction as experiments
from reproduction import names, reproduce, stimuli
from reproduction.__main__ import main
from reproduction.request import RunRequest


def test_the_experiments_have_names_and_a_line_each():
    assert names() == ("synthetic", "languages", "tumour", "stimuli")
    assert all(experiments.EXPERIMENTS[name] for name in names())


@pytest.mark.parametrize(
    ("name", "near"), [("tumor", "tumour"), ("Synthetic", "synthetic"), ("language", "languages")]
)
def test_a_misspelt_name_gets_the_nearest_one(tmp_path, name, near):
    with pytest.raises(ValueError, match=rf"name='{name}' is not an exp.*did you mean '{near}'"):
        reproduce(name, out=tmp_path)


def test_a_name_like_no_other_gets_the_list(tmp_path):
    with pytest.raises(
        ValueError, match="'xyz' is not an experiment; pass one of 'synthetic', 'lang"
    ):
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
    """Make an experiment of few and small samples, too short for lags of our choosing."""
    cells = [
        replace(cell, settings={**cell.settings, "n": 40}, repetitions=2)
        for cell in stimuli.cells(RunRequest("quick", 0, Path()))
    ]
    monkeypatch.setattr(stimuli, "cells", lambda request: cells)
    monkeypatch.setattr(stimuli, "LAGS", {"independent rows": None, "auto": "auto"})
    return cells


@pytest.mark.usefixtures("few")
def test_the_command_lists_what_it_wrote(capsys, tmp_path):
    assert main(["stimuli", "--quick", "--seed", "1", "--out", str(tmp_path)]) == 0
    assert sorted(map(Path, capsys.readouterr().out.split())) == sorted(tmp_path.iterdir())
    assert "--quick --seed 1" in (tmp_path / "stimuli.md").read_text()


def test_the_command_says_what_is_wrong(capsys, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        main(["tumor", "--out", str(tmp_path)])
    assert "did you mean 'tumour'" in capsys.readouterr().err


def test_the_command_ends_at_control_c(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(stimuli, "run", stop)
    assert main(["stimuli", "--out", str(tmp_path)]) == 130  # as a shell reports Ctrl-C


def test_asking_for_names_loads_no_experiment():
    code = (
        "import sys, reproduction\n"
        "print(*(name in sys.modules for name in ('matplotlib', 'scipy.stats')))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False", "False"]
