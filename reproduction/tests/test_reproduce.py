"""Asking for an experiment: names, sizes, folders, data and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import RunRequest, reproduce, stimuli
from reproduction.__main__ import main


def test_data_are_refused_where_none_are_used(tmp_path):
    with pytest.raises(ValueError, match="'stimuli' makes its own data; leave `data` out"):
        reproduce("stimuli", out=tmp_path, data=tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"), [("languages", "Europarl"), ("tumour", "ge_cgh_locIGR.rda")]
)
def test_data_that_do_not_exist_are_named_with_what_is_expected(tmp_path, name, expected):
    out = tmp_path / "out"
    with pytest.raises(FileNotFoundError, match=rf"absent'\) does not exist; pass .*{expected}"):
        reproduce(name, out=out, data=tmp_path / "absent")
    assert not out.exists()


def test_wrong_data_say_what_was_expected(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no text of any language\. Expected is one file"):
        reproduce("languages", out=tmp_path, data=tmp_path / "empty")
    (tmp_path / "wrong.rda").write_bytes(b"not R")
    with pytest.raises(ValueError, match="gliomaData"):
        reproduce("tumour", out=tmp_path, data=tmp_path / "wrong.rda")


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "tumour.md").mkdir()
    with pytest.raises(OSError, match="it is a directory; name a file in it"):
        reproduce("tumour", out=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        reproduce("tumour", out=tmp_path / "file" / "below")


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
    for words, said in ((["tumor"], "invalid choice: 'tumor'"), (["tumour", "--data", "a"], "rda")):
        with pytest.raises(SystemExit, match="2"):
            main([*words, "--out", str(tmp_path)])
        assert said in capsys.readouterr().err


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
