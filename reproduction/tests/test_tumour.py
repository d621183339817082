"""The experiment on tumours: the shipped data exactly, the paper's file by its structure."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import rdata
from matplotlib.figure import Figure
from scipy.stats import chi2, norm
from written import assert_picture, read_table

import reldep
from reldep.datasets import load_acc
from reproduction import reproduce, tumour
from reproduction.paper import GLIOMA, RADIUS_95

# z of the paper's tests; 76 patients have the labels.
PINNED = {
    ("C1A.C1B", "paper, joint"): 3.3817030525,
    ("C1A.C1B", "paper, split"): 1.7273811247,
    ("SCNA.cluster", "paper, joint"): 1.8834500633,
    ("SCNA.cluster", "paper, split"): 3.3187444809,
}


@pytest.fixture(scope="module")
def rows(quick):
    return read_table(quick("tumour") / "tumour.csv")


def test_the_table_is_pinned(rows):
    papers = [row for row in rows if row["test"] != "default"]
    found = {(row["label"], row["test"]): float(row["z"]) for row in papers}
    assert found == pytest.approx(PINNED, rel=1e-6)
    for row in papers:
        assert float(row["p"]) == pytest.approx(norm.sf(float(row["z"])), rel=1e-6)
        assert row["tumours"] == "76"


def test_both_truths_are_found_by_the_papers_test(rows):
    joint = {r["label"]: r for r in rows if r["test"] == "paper, joint"}
    assert joint["C1A.C1B"]["first"] == "expression"
    assert joint["SCNA.cluster"]["first"] == "copy number"
    assert all(float(row["p"]) < 0.05 for row in joint.values())
    assert all(float(r["with_first"]) > float(r["with_second"]) for r in joint.values())


def test_the_default_is_that_of_the_program(rows):
    tumours = load_acc()
    known = tumours.clinical["C1A.C1B"].is_not_null()
    blocks = (tumours.clinical["C1A.C1B"], tumours.expression, tumours.copy_number)
    with warnings.catch_warnings(action="ignore"):
        asked = reldep.compare(*(b.filter(known) for b in blocks), alternative="greater")
    row = next(r for r in rows if (r["label"], r["test"]) == ("C1A.C1B", "default"))
    assert float(row["z"]) == pytest.approx(asked.statistic, rel=1e-6)
    assert float(row["p"]) == pytest.approx(asked.pvalue, rel=1e-6)


def test_the_printed_ellipses_are_95_percent_and_not_two_sigma_ellipses(quick):
    assert pytest.approx(np.sqrt(chi2.isf(0.05, 2))) == RADIUS_95
    joint, split = GLIOMA["joint"], GLIOMA["split"]
    # By hand, from the numbers that were read off.
    variance = 6.0014e-4**2 + 3.8366e-4**2 + 2 * 0.0705 * 6.0014e-4 * 3.8366e-4
    assert joint.statistic() == pytest.approx((3.5200e-3 - 2.374e-4) / np.sqrt(variance))
    assert norm.sf(joint.statistic()) == pytest.approx(3.95e-6, rel=0.01)
    assert norm.sf(split.statistic()) == pytest.approx(6.06e-3, rel=0.01)
    # Printed are p < 1e-5 and 0.005. As two-sigma ellipses the first is missed tenfold, and
    # the second by half a standard error instead of a fifteenth.
    assert norm.sf(joint.statistic()) < 1e-5 < 1e-4 < norm.sf(joint.statistic(2.0))
    assert norm.sf(joint.statistic(2.0)) == pytest.approx(1.3e-4, rel=0.02)
    assert norm.sf(split.statistic(2.0)) == pytest.approx(0.020, abs=0.0005)
    assert abs(split.statistic() - norm.isf(0.005)) < 0.07
    assert abs(split.statistic(2.0) - norm.isf(0.005)) > 0.5
    # An outline that is printed is the same, whatever it is called.
    for ellipse in (joint, split):
        extents = RADIUS_95 * np.sqrt(ellipse.covariance().diagonal())
        assert 2.0 * np.sqrt(ellipse.covariance(2.0).diagonal()) == pytest.approx(extents)
    rows = read_table(quick("tumour") / "tumour_printed.csv")
    assert [row["ellipses"] for row in rows] == ["95%", "two-sigma"]
    assert float(rows[0]["joint_z"]) == pytest.approx(joint.statistic())


def test_the_printed_ellipses_are_drawn_where_they_were_read_off():
    ax = Figure().subplots()
    tumour.draw_printed(ax)
    lines = {line.get_label(): np.array(line.get_data()) for line in ax.lines}
    outline = lines["joint: p < 1e-5 (printed)"]
    centre = 1000 * np.array([3.5200e-3, 2.374e-4])
    width = 1000 * RADIUS_95 * np.array([6.0014e-4, 3.8366e-4])
    assert outline.max(axis=1) == pytest.approx(centre + width, rel=1e-3)
    assert outline.min(axis=1) == pytest.approx(centre - width, rel=1e-3)


def test_the_split_test_depends_on_how_the_patients_are_divided(rows):
    divided = {
        row["label"]: (float(row["median_p_divided"]), float(row["share_below_5_percent"]))
        for row in rows
        if row["test"] == "paper, split"
    }
    assert divided["SCNA.cluster"] == pytest.approx((0.14, 0.3), abs=0.01)
    assert all(row["median_p_divided"] == "" for row in rows if row["test"] == "paper, joint")


def test_the_figure_and_the_page_are_written(quick):
    folder = quick("tumour")
    titles = ("53 gliomas, as printed", "76 tumours here, SCNA.cluster", "more on expression")
    assert_picture(folder, "tumour_ellipses", *titles)
    page = (folder / "tumour.md").read_text(encoding="utf-8")
    assert "| C1A.C1B | expression | copy number | 76 | paper, joint | 3.38 | 3.6e-04 |" in page
    assert "over 50 random divisions" in page
    assert "| taken as 95% ellipses | 4.47 | 2.51 | 4.0e-06 | 0.0061 |" in page
    for citation in ("Zheng et al., 2016", "Ramos et al., 2017", "p < 1e-5"):
        assert citation in page


@pytest.fixture
def glioma(tmp_path):
    """A file like the paper's: place decides expression, and imbalances hardly."""
    rng = np.random.default_rng(5)
    codes = np.arange(30) % 3
    place = 1.0 + codes[:, None]
    blocks = {
        "GE": pd.DataFrame(2.0 * place + rng.normal(size=(30, 6)), columns=list("abcdef")),
        "CGH": 0.2 * place + rng.normal(size=(30, 4)),
        "y": pd.DataFrame(np.eye(3)[codes], columns=["hemi", "midl", "dipg"]),
    }
    path = tmp_path / "ge_cgh_locIGR.rda"
    rdata.write_rda(path, {"ge_cgh_locIGR": {"multiblocks": blocks}})
    return path


def test_the_papers_test_runs_on_the_papers_file(glioma, tmp_path):
    out = tmp_path / "out"
    reproduce("tumour", out=out, data=glioma)
    rows = read_table(out / "tumour.csv")
    assert {(row["label"], row["first"], row["second"]) for row in rows} == {
        ("location", "expression", "copy number")
    }
    by_test = {row["test"]: float(row["p"]) for row in rows}
    assert by_test["paper, joint"] < 1e-5
    assert_picture(out, "tumour_ellipses", "30 tumours here, location", "more on expression")
    page = (out / "tumour.md").read_text(encoding="utf-8")
    assert "--data FILE" in page
    assert "p < 1e-5\nwith the joint" in page
    assert "C1A.C1B" not in page
