"""Scans that are stopped: what is done is kept, and the whole is what it would have been."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.kernels import Precomputed
from reldep.questions import checkpoints, scan_work
from reldep.stats.scan import ScannedSources, ScannedTargets

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


def data(m=40, n=35, seed=0):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, m))
    sources = rng.normal(size=(m, n))
    sources[:, :4] += first[:, None]
    sources[:, 30] = 1.0
    return sources, first, second


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(scan_work, "LARGEST_CHUNK", 8)


def stop_at(monkeypatch, number, kind=ScannedSources, error=KeyboardInterrupt):
    """Let the run end when it comes to a chunk."""
    of, calls = kind.of, []

    def stopping(*arguments):
        calls.append(1)
        if len(calls) == number:
            raise error
        return of(*arguments)

    monkeypatch.setattr(kind, "of", stopping)


@pytest.fixture
def stopped(monkeypatch, tmp_path):
    """Give the path of a run that was stopped in its third chunk."""
    path = tmp_path / "table.parquet"
    with monkeypatch.context() as patch:
        stop_at(patch, 3)
        partial = reldep.scan(*data(), output=path)
    assert len(partial.sources) == 16
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("number", [2, 4])
def test_a_continued_run_gives_the_very_table_of_an_uninterrupted_one(
    monkeypatch, tmp_path, ending, number
):
    whole, path = tmp_path / f"whole.{ending}", tmp_path / f"table.{ending}"
    expected = reldep.scan(*data(), alternative="two-sided", output=whole)
    with monkeypatch.context() as patch:
        stop_at(patch, number)
        reldep.scan(*data(), alternative="two-sided", output=path)
    assert not path.exists()
    continued = reldep.scan(*data(), alternative="two-sided", output=path, resume=True)
    assert path.read_bytes() == whole.read_bytes()
    assert continued.to_frame().equals(expected.to_frame())
    assert continued.skipped == expected.skipped
    assert continued.provenance.kernels == expected.provenance.kernels
    assert [entry.name for entry in tmp_path.iterdir() if "unfinished" in entry.name] == []


def test_the_file_holds_the_table_of_the_answer(tmp_path):
    path = tmp_path / "table.parquet"
    result = reldep.scan(*data(), output=path)
    assert pl.read_parquet(path).equals(result.to_frame())


def test_targets_of_one_source_are_continued_too(monkeypatch, tmp_path):
    targets, source, _ = data()
    path = tmp_path / "table.csv"
    expected = reldep.scan(source, targets)
    with monkeypatch.context() as patch:
        stop_at(patch, 3, ScannedTargets)
        reldep.scan(source, targets, output=path)
    continued = reldep.scan(source, targets, output=path, resume=True)
    assert continued.to_frame().equals(expected.to_frame())
    np.testing.assert_array_equal(continued.maxima, expected.maxima)


def test_what_was_done_is_not_done_again(monkeypatch, stopped):
    of, sizes = ScannedSources.of, []

    def counting(jackknife, *rest):
        sizes.append(len(jackknife.values) // 2)
        return of(jackknife, *rest)

    monkeypatch.setattr(ScannedSources, "of", counting)
    result = reldep.scan(*data(), output=stopped, resume=True)
    # Three sources are checked, and 34 less the 16 that are there are tested.
    assert sum(sizes) == 3 + 18
    assert len(result.sources) == 34


def test_the_caution_of_an_interrupted_run_says_how_to_continue(monkeypatch, tmp_path):
    stop_at(monkeypatch, 3)
    answer = reldep.scan(*data(), output=tmp_path / "table.csv")
    assert re.search(r"interrupted after 16 of 35 .*resume=True", answer.provenance.notes[-1])


def test_a_run_that_failed_leaves_no_table_and_can_be_continued(monkeypatch, tmp_path):
    path = tmp_path / "table.csv"
    with monkeypatch.context() as patch:
        stop_at(patch, 3, error=MemoryError)
        with pytest.raises(MemoryError):
            reldep.scan(*data(), output=path)
    assert not path.exists()
    assert len(reldep.scan(*data(), output=path, resume=True).sources) == 34


def test_a_table_that_is_there_stays_until_the_new_one_is_whole(monkeypatch, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old\n1\n")
    with monkeypatch.context() as patch:
        stop_at(patch, 3)
        reldep.scan(*data(), output=path)
    assert path.read_text() == "old\n1\n"
    reldep.scan(*data(), output=path, resume=True)
    assert path.read_text().startswith("source,estimate")


def test_an_unfinished_run_is_not_overwritten(stopped):
    with pytest.raises(ValueError, match=r"holds 2 chunks of a run that was not finished.*resume"):
        reldep.scan(*data(), output=stopped)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"measure": "hsic"}, "`measure='cka'` and not `measure='hsic'`"),
        ({"alternative": "less"}, "`alternative='two-sided'` and not"),
        ({"rng": 3}, "another random seed"),
        ({"kernel": "linear"}, "other data or kernels"),
        ({"n_simulations": 5000}, "`n_simulations=10000` and not"),
        ({"names": ["a", "b"]}, "other data"),
    ],
)
def test_a_run_with_other_options_is_refused(stopped, options, reason):
    with pytest.raises(ValueError, match=reason):
        reldep.scan(*data(), output=stopped, resume=True, **options)


def test_a_run_with_other_data_is_refused(stopped):
    sources, first, second = data()
    changed = sources.copy()
    changed[3, 34] += 1e-9
    for arguments in (
        (changed, first, second),
        (sources, second, first),
        (sources[:, :34], *data()[1:]),
    ):
        with pytest.raises(ValueError, match="begun with other data"):
            reldep.scan(*arguments, output=stopped, resume=True)


def test_a_kernel_function_that_was_changed_is_noticed(monkeypatch, tmp_path):
    path = tmp_path / "table.csv"

    def ask(power, **options):
        def kernel(a, b):
            return np.abs(a - b.T) ** power * -1.0

        return reldep.scan(*data(), kernel=kernel, output=path, **options)

    with monkeypatch.context() as patch:
        stop_at(patch, 3)
        ask(1.0)
    with pytest.raises(ValueError, match="is not what this run computes"):
        ask(1.5, resume=True)
    assert len(ask(1.0, resume=True).sources) == 34


def test_a_matrix_that_was_changed_is_noticed(monkeypatch, tmp_path):
    sources, first, second = data()
    gram = np.exp(-np.abs(first[:, None] - first))
    path = tmp_path / "table.csv"
    with monkeypatch.context() as patch:
        stop_at(patch, 3)
        reldep.scan(sources, Precomputed(gram), second, output=path)
    with pytest.raises(ValueError, match="is not what this run computes"):
        reldep.scan(sources, Precomputed(gram**2), second, output=path, resume=True)


def test_a_damaged_chunk_is_computed_again(stopped):
    chunk = stopped.with_name("table.parquet.unfinished") / "000001.npz"
    damaged = bytearray(chunk.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    chunk.write_bytes(bytes(damaged))
    assert (
        reldep.scan(*data(), output=stopped, resume=True)
        .to_frame()
        .equals(reldep.scan(*data()).to_frame())
    )


def test_a_chunk_of_another_run_is_refused_or_computed_again(stopped):
    folder = stopped.with_name("table.parquet.unfinished")
    (folder / "000001.npz").replace(folder / "000000.npz")
    with pytest.raises(ValueError, match="is not what this run computes"):
        reldep.scan(*data(), output=stopped, resume=True)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}'])
def test_a_damaged_manifest_is_refused(stopped, text):
    manifest = stopped.with_name("table.parquet.unfinished") / checkpoints.MANIFEST
    manifest.write_text(text)
    with pytest.raises(ValueError, match="damaged or of another version"):
        reldep.scan(*data(), output=stopped, resume=True)


def test_a_run_of_another_version_is_refused(stopped):
    manifest = stopped.with_name("table.parquet.unfinished") / checkpoints.MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": "0.0"}))
    with pytest.raises(ValueError, match=r"begun by reldep 0\.0"):
        reldep.scan(*data(), output=stopped, resume=True)


def test_two_runs_do_not_write_one_file(stopped):
    running = checkpoints.ScanCheckpoint(stopped, resume=True)
    manifest = running.folder / checkpoints.MANIFEST
    known = json.loads(manifest.read_text())
    with running:
        running.begin({k: v for k, v in known.items() if k not in ("format", "version")})
        with pytest.raises(ValueError, match="another run is writing"):
            reldep.scan(*data(), output=stopped, resume=True)
    assert len(reldep.scan(*data(), output=stopped, resume=True).sources) == 34


def test_resuming_needs_a_file_and_a_file_an_ending(tmp_path):
    with pytest.raises(ValueError, match=r"`resume` continues a run from its file.*output"):
        reldep.scan(*data(), resume=True)
    with pytest.raises(ValueError, match=r"ends in \.csv or \.parquet"):
        reldep.scan(*data(), output=tmp_path / "table.xlsx")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        reldep.scan(*data(), output=tmp_path / "no" / "table.csv")


def test_resuming_what_was_never_begun_begins(tmp_path):
    path = tmp_path / "table.csv"
    assert len(reldep.scan(*data(), output=path, resume=True).sources) == 34
    assert path.exists()
