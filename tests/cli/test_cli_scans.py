"""Scans on the command line: both forms give the library's answers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.questions.asking import catalogue
from reldep.stats.scan import ScannedSources


def genes_of(mice):
    return mice.select([name for name in mice.columns if name.startswith("gene_")])


def test_many_sources_and_two_targets(ask, mice):
    said = ask("scan", "mice.csv", "--sources", "gene_*", "--first", "diet", "--second", "genotype")
    expected = reldep.scan(genes_of(mice), mice["diet"], mice["genotype"])
    assert said.status == 0
    assert said.out.splitlines()[0] == expected.sentence()


def test_one_source_and_many_targets(ask, mice):
    said = ask("scan", "mice.csv", "--source", "diet", "--targets", "gene_*")
    assert said.status == 0
    assert said.out.splitlines()[0] == reldep.scan(mice["diet"], genes_of(mice)).sentence()


def test_neither_form_is_refused_with_both_ways_out(ask):
    said = ask("scan", "mice.csv", "--source", "diet")
    assert said.status != 0
    assert "--sources, --first and --second; or --source and --targets" in said.err


def wide_file(folder):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 600))
    genes = rng.normal(size=(600, 700)) + 0.3 * first[:, None]  # three chunks
    named = {f"gene_{i}": column for i, column in enumerate(genes.T)}
    pl.DataFrame({"diet": first, "age": second, **named}).write_parquet(folder / "wide.parquet")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_is_continued(tmp_path, environment, sent):
    wide_file(tmp_path)
    words = ("scan", "wide.parquet", "--sources", "gene_*", "--first", "diet", "--second", "age")
    command = [sys.executable, "-m", "reldep", *words, "--output"]
    place = {"cwd": tmp_path, "env": environment}
    folder = tmp_path / "table.csv.unfinished"
    for _ in range(5):
        run = subprocess.Popen(
            [*command, "table.csv"], **place, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while run.poll() is None and not list(folder.glob("*.npz")):
            time.sleep(0.01)
        run.send_signal(sent)
        said, _ = run.communicate(timeout=120)
        if not (tmp_path / "table.csv").exists():
            break
        # The run was at its end before the signal came.
        (tmp_path / "table.csv").unlink()
    assert folder.exists()
    if sent == signal.SIGINT:
        assert run.returncode == 0
        assert b"resume" in said
        assert b"The table is in" not in said
    continued = [*command, "table.csv", "--resume"]
    done = subprocess.run(continued, **place, capture_output=True, check=True)
    assert b"The table is in table.csv." in done.stdout
    assert not folder.exists()
    whole = tmp_path / "whole.csv"
    reldep.scan("gene_*", "diet", "age", data=tmp_path / "wide.parquet", output=whole)
    assert (tmp_path / "table.csv").read_bytes() == whole.read_bytes()


def test_a_run_in_the_way_is_named_with_the_options_of_a_command(ask, tmp_path, monkeypatch):
    question = ("--sources", "gene_*", "--first", "diet", "--second", "genotype")
    words = ("scan", "mice.csv", *question, "--output", tmp_path / "table.csv")
    with monkeypatch.context() as patch:
        patch.setattr(ScannedSources, "adjusted_pvalues", _stop)
        assert ask(*words).status == 130
    assert "Continue it with --resume" in ask(*words).err
    refused = ask(*words, "--resume", "--measure", "hsic")
    assert "begun with --measure cka and not --measure hsic" in refused.err
    assert "The table is in" in ask(*words, "--resume").out


def _stop(*arguments):
    raise KeyboardInterrupt


def test_no_place_for_a_file_can_be_named_by_a_page():
    options = {choice.name for question in catalogue() for choice in question.options}
    assert not options & {"output", "resume"}
