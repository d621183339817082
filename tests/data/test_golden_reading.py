"""No file is read differently without being named: what is read from 250 tables is frozen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import reading_cases

GOLDEN = json.loads(Path(__file__).with_name("golden_reading.json").read_text(encoding="utf-8"))
CASES = reading_cases.cases() if reading_cases.TOOLS.is_dir() else {}
OBJECTS = reading_cases.objects()


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_before(name, tmp_path):
    assert reading_cases.in_one_line(tmp_path, *CASES[name]) == GOLDEN[name]


@pytest.mark.parametrize("kind", reading_cases.FORMATS)
@pytest.mark.parametrize("how", reading_cases.HOW, ids=str)
def test_a_file_with_types_is_read_as_before(kind, how, tmp_path):
    path = reading_cases.write_format(tmp_path, kind)
    found = reading_cases.read_in_one_line(path, tmp_path, dict(how))
    assert found == GOLDEN[f"{kind} {dict(how)}"]


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_read_as_before(name):
    assert reading_cases.object_in_one_line(OBJECTS[name]) == GOLDEN[f"object: {name}"]


def test_every_file_is_frozen():
    typed = {f"{kind} {dict(how)}" for kind in reading_cases.FORMATS for how in reading_cases.HOW}
    assert set(GOLDEN) == {*CASES, *typed, *(f"object: {name}" for name in OBJECTS)} or not CASES
