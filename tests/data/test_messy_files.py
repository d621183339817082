"""Every kind of mess on the page in the documentation does what the page says."""

from __future__ import annotations

import pytest
import reading_cases

MESSY = reading_cases.messy_files()
pytestmark = pytest.mark.skipif(MESSY is None, reason="tools/ is only in the repository")


@pytest.mark.parametrize("case", reading_cases.messy(), ids=lambda case: case.name)
def test_a_messy_file_is_understood_cautioned_or_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    happened = MESSY.run(case)
    assert (happened.error is not None) == (case.outcome == "refused"), happened
    assert bool(happened.said) == (case.outcome in ("said", "cautioned")), happened
    if case.outcome != "refused" and case.values is not None:
        for name in happened.values:
            assert happened.values[name] == pytest.approx(case.values[name]), name


def test_the_page_in_the_documentation_is_the_one_that_the_cases_make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert MESSY.PAGE.read_text(encoding="utf-8") == MESSY.page()
