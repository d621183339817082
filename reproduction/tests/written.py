"""Reading what an experiment wrote."""

from __future__ import annotations

import csv


def read_table(path):
    """Read a CSV file as rows of text by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def assert_picture(folder, name, *words):
    """Check that a figure was drawn, and that its SVG has these words as text."""
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / f"{name}.png").stat().st_size > 10_000
    text = (folder / f"{name}.svg").read_text(encoding="utf-8")
    for word in words:
        assert f">{word}<" in text, word
