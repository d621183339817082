"""Every kind of mess on the page in the documentation does what the page says."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "messy_files.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="tools/ is only in the repository")


def load():
    if not SCRIPT.is_file():
        return None
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        return importlib.import_module("messy_files")
    finally:
        sys.path.remove(str(SCRIPT.parent))


MESSY = load()


@pytest.mark.parametrize("case", MESSY.CASES if MESSY else [], ids=lambda case: case.name)
def test_a_messy_file_is_understood_cautioned_or_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    happened = MESSY.run(case)
    assert (happened.error is not None) == (case.outcome == "refused"), happened
    assert bool(happened.said) == (case.outcome in ("said", "cautioned")), happened
    assert case.words in (happened.error or " ".join(happened.said))
    if case.outcome != "refused" and case.values is not None:
        for name in happened.values:
            assert happened.values[name] == pytest.approx(case.values[name]), name


def test_there_are_more_than_thirty_kinds():
    made = [(case.name, tuple(case.options)) for case in MESSY.CASES]
    assert len(made) > 30


def test_the_page_in_the_documentation_is_the_one_that_the_cases_make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert MESSY.PAGE.read_text(encoding="utf-8") == MESSY.page()
