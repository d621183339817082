"""The classic tests beside which the calibration stands, against published examples."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import classics


def test_williams_t_of_a_published_example():
    """Silver, Hittner and May (2006), Applied Psychological Measurement 30, 152-153."""
    t, p = classics.williams(0.3, 0.4, 0.5, 100)
    assert t == pytest.approx(-1.0767, abs=5e-5)
    assert p == pytest.approx(0.2843, abs=5e-5)


def test_steigers_z_of_published_examples():
    """Case A of Steiger (1980), recomputed by cocor; and Silver, Hittner and May (2006)."""
    assert classics.steiger(0.4, 0.5, 0.1, 103)[0] == pytest.approx(-0.8887185, abs=5e-8)
    z, p = classics.steiger(0.3, 0.4, 0.5, 100)
    assert z == pytest.approx(-1.0718, abs=5e-5)
    assert p == pytest.approx(0.2838, abs=5e-5)
