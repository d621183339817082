"""No file is read differently without being named: what is read from 150 small files is frozen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import reading_cases

GOLDEN = json.loads(Path(__file__).with_name("golden_reading.json").read_text(encoding="utf-8"))
CASES = reading_cases.cases() if reading_cases.TOOLS.is_dir() else {}


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_before(name, tmp_path):
    assert reading_cases.in_one_line(tmp_path, *CASES[name]) == GOLDEN[name]


def test_every_file_is_frozen():
    assert set(GOLDEN) == set(CASES) or not CASES
