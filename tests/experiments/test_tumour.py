"""The experiment on tumours: the shipped data exactly, the paper's file by its structure."""

from __future__ import annotations

import numpy as np
import pytest
from rda_writer import DataFrame, Factor, Matrix, write_rda
from scipy.stats import norm
from written import assert_picture, read_table

from reldep.experiments import reproduce

# z of joint and split with both measures; 76 patients have the labels.
PINNED = {
    ("C1A.C1B", "hsic", "joint"): 3.3817030525,
    ("C1A.C1B", "hsic", "split"): 1.7273811247,
    ("C1A.C1B", "cka", "joint"): 5.0536831237,
    ("C1A.C1B", "cka", "split"): 2.8694694511,
    ("SCNA.cluster", "hsic", "joint"): 1.8834500633,
    ("SCNA.cluster", "hsic", "split"): 3.3187444809,
    ("SCNA.cluster", "cka", "joint"): 0.9056967111,
    ("SCNA.cluster", "cka", "split"): 2.7002677288,
}


@pytest.fixture(scope="module")
def rows(quick):
    return read_table(quick("tumour") / "tumour.csv")


def test_the_table_is_pinned(rows):
    found = {(row["label"], row["measure"], row["test"]): float(row["z"]) for row in rows}
    assert found == pytest.approx(PINNED, rel=1e-6)
    for row in rows:
        assert float(row["p"]) == pytest.approx(norm.sf(float(row["z"])), rel=1e-6)
        assert row["tumours"] == "76"


def test_both_truths_are_found_by_the_papers_test(rows):
    joint = {r["label"]: r for r in rows if (r["measure"], r["test"]) == ("hsic", "joint")}
    assert joint["C1A.C1B"]["first"] == "expression"
    assert joint["SCNA.cluster"]["first"] == "copy number"
    assert all(float(row["p"]) < 0.05 for row in joint.values())
    assert all(float(r["with_first"]) > float(r["with_second"]) for r in joint.values())


def test_the_split_test_hangs_on_how_the_patients_are_divided(rows):
    divided = {
        row["label"]: (float(row["median_p_divided"]), float(row["share_below_5_percent"]))
        for row in rows
        if (row["measure"], row["test"]) == ("hsic", "split")
    }
    assert divided["SCNA.cluster"] == pytest.approx((0.14, 0.3), abs=0.01)
    assert all(row["median_p_divided"] == "" for row in rows if row["test"] == "joint")


def test_the_figure_and_the_page_are_written(quick):
    folder = quick("tumour")
    assert_picture(folder, "tumour_ellipses", "C1A.C1B", "SCNA.cluster", "more on expression")
    page = (folder / "tumour.md").read_text(encoding="utf-8")
    assert "| C1A.C1B | expression | copy number | 76 | hsic | joint | 3.38 | 3.6e-04 |" in page
    assert "over 50 random divisions" in page
    for citation in ("Zheng et al., 2016", "Ramos et al., 2017", "p < 1e-5"):
        assert citation in page


@pytest.fixture
def glioma(tmp_path):
    """A file like the paper's: place decides expression, and imbalances hardly."""
    rng = np.random.default_rng(5)
    codes = [i % 3 + 1 for i in range(30)]
    place = np.array(codes, dtype=float)[:, None]
    expression = 2.0 * place + rng.normal(size=(30, 6))
    imbalances = 0.2 * place + rng.normal(size=(30, 4))
    blocks = {
        "GE": DataFrame({f"gene{i}": expression[:, i].tolist() for i in range(6)}),
        "CGH": Matrix(imbalances.tolist(), [f"segment{i}" for i in range(4)]),
        "y": DataFrame(
            {
                name: [float(code == i) for code in codes]
                for i, name in enumerate(("hemi", "midl", "dipg"), 1)
            }
        ),
    }
    contents = {"multiblocks": blocks, "y": Factor(codes, ["1", "2", "3"])}
    return write_rda(tmp_path / "ge_cgh_locIGR.rda", {"ge_cgh_locIGR": contents})


def test_the_papers_test_runs_on_the_papers_file(glioma, tmp_path):
    out = tmp_path / "out"
    reproduce("tumour", out=out, data=glioma, progress=False)
    rows = read_table(out / "tumour.csv")
    assert {(row["label"], row["first"], row["second"]) for row in rows} == {
        ("location", "expression", "imbalances")
    }
    by_test = {(row["measure"], row["test"]): float(row["p"]) for row in rows}
    assert by_test["hsic", "joint"] < 1e-5
    assert_picture(out, "tumour_ellipses", "location", "more on expression")
    page = (out / "tumour.md").read_text(encoding="utf-8")
    assert "--data FILE" in page
    assert "p < 1e-5 with the joint" in page
    assert "C1A.C1B" not in page
