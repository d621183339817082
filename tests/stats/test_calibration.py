"""The calibration: its laws are what they are said to be, and its page is made from its counts."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import reldep

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

calibration = pytest.importorskip("calibration")
simulation = pytest.importorskip("simulation")

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


@pytest.mark.parametrize(
    ("room", "table"),
    [
        ("rows", "rows"),
        *(("dependent", table) for table in ("series", "clusters")),
        *(("many", table) for table in ("groups", "matrix", "scan")),
        *((table, table) for table in ("cautions", "given", "survival", "kernel")),
        *(("given", table) for table in ("given rules", "given shapes")),
    ],
)
def test_a_small_cell_of_every_kind_counts_what_happens(room, table):
    cell = next(cell for cell in calibration.TABLES[room]() if cell.table == table)
    found = cell.run(2)
    assert found["samples"] == 2
    assert all(0 <= count <= 2 for what, count in found.items() if what != "events")
    assert cell.run(2) == found


@pytest.mark.parametrize("name", ["mice", "iris"])
def test_dependences_of_a_real_frame_are_those_of_rows_drawn_from_it(name):
    pytest.importorskip("sklearn")
    drawn = []
    for seed in range(30):
        x, y, z = simulation.from_world(name, np.random.default_rng(seed), 200)
        drawn.append([reldep.cka(x, y), reldep.cka(x, z)])
    error = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    assert np.mean(drawn, axis=0) == pytest.approx(
        simulation.population(name), abs=4 * error.max() + 0.01
    )


@pytest.mark.parametrize("name", sorted(json.loads(simulation.TIES.read_text(encoding="utf-8"))))
def test_unlike_targets_are_tied(name):
    rows = 1_500 if "columns" in name else 6_000
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng([9, seed])
        x, y, z = simulation.UNLIKE[name].draw(rng, rows, simulation.tune(name))
        gaps.append(reldep.cka(x, y) - reldep.cka(x, z))
    error = max(np.std(gaps, ddof=1), 0.01) / 2
    assert abs(np.mean(gaps)) < 4 * error


def test_the_pages_are_made_from_the_counts():
    page = pytest.importorskip("calibration_page")
    for name, text in page.pages(page.Rates()).items():
        assert text == (ROOT / "docs" / name).read_text(encoding="utf-8"), name


def test_williams_t_of_a_published_example():
    """Silver, Hittner and May (2006), Applied Psychological Measurement 30, 152-153."""
    t, p = calibration.williams(0.3, 0.4, 0.5, 100)
    assert t == pytest.approx(-1.0767, abs=5e-5)
    assert p == pytest.approx(0.2843, abs=5e-5)
