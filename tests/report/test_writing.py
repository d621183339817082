from __future__ import annotations

import errno
from pathlib import Path

import pytest


def test_path_gets_the_same_document_as_the_string(comparison, tmp_path):
    path = tmp_path / "report.html"
    assert comparison.to_html(path) is None
    assert path.read_text(encoding="utf-8") == comparison.to_html()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_path_may_be_a_string(comparison, tmp_path):
    comparison.to_html(str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").exists()


def test_missing_folder_is_a_clear_error(comparison, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"directory .*nowhere does not exist"):
        comparison.to_html(tmp_path / "nowhere" / "report.html")


def test_full_disk_leaves_the_old_report_as_it_was(comparison, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        comparison.to_html(path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_names_with_half_a_character_can_be_written(variables, tmp_path):
    import reldep

    path = tmp_path / "report.html"
    reldep.compare(*variables, names=["a\ud800", "b", "c"]).to_html(path)
    assert "a?" in path.read_text(encoding="utf-8")
