"""On real data the median answer has at most one caution, and the documented table is true."""

from __future__ import annotations

import importlib.util
import re
import statistics
import sys
from pathlib import Path

import pytest

pytest.importorskip("statsmodels")
pytest.importorskip("sklearn")

PLACE = Path(__file__).parents[2] / "benchmarks" / "real_questions.py"


@pytest.mark.skipif(not PLACE.exists(), reason="needs a clone of the repository")
def test_the_median_answer_about_real_data_has_at_most_one_caution():
    spec = importlib.util.spec_from_file_location("real_questions", PLACE)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.table()
    counts = [
        0 if "–" in cautions else 1 + cautions.count(",")
        for cautions in re.findall(r"(?m)^\|.*\| ([^|]*) \|$", written)[1:]
    ]
    assert len(counts) == 30
    assert statistics.median(counts) <= 1
    assert written in module.PAGE.read_text(encoding="utf-8")
