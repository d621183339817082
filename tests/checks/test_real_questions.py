"""On real data the median answer has at most one caution, and the documented table is true."""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

import pytest

pytest.importorskip("statsmodels")
pytest.importorskip("sklearn")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


def test_the_median_answer_about_real_data_has_at_most_one_caution():
    module = pytest.importorskip("cautions", reason="needs a clone of the repository")
    written = module.table()
    counts = [
        0 if "–" in cautions else 1 + cautions.count(",")
        for cautions in re.findall(r"(?m)^\|.*\| ([^|]*) \|$", written)[2:]
    ]
    assert len(counts) == 30
    assert statistics.median(counts) <= 1
    assert written in module.PAGE.read_text(encoding="utf-8")
