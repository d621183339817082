from __future__ import annotations

import pytest


def test_path_gets_the_same_document_as_the_string(comparison, tmp_path):
    path = tmp_path / "report.html"
    assert comparison.to_html(path) is None
    assert path.read_text(encoding="utf-8") == comparison.to_html()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_file_of_somebody_else_is_kept_unless_asked(comparison, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="was not made by reldep"):
        comparison.to_html(path)
    assert path.read_text() == "mine"
    comparison.to_html(path, overwrite=True)
    comparison.to_html(path)  # ours by now


def test_names_with_half_a_character_can_be_written(variables, tmp_path):
    import reldep

    path = tmp_path / "report.html"
    reldep.compare(*variables, names=["a\ud800", "b", "c"]).to_html(path)
    assert "a?" in path.read_text(encoding="utf-8")
