"""Files for the tests of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import spreadsheets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@pytest.fixture
def write_xlsx() -> Callable[[Path, Sequence[Sequence[object]]], None]:
    return spreadsheets.write_xlsx


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file of this name and content; return its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
