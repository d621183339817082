"""Files of SPSS, Stata, SAS and R."""

from __future__ import annotations

import pandas as pd
import pytest

import reldep

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {"age": [21.0, 35.0, None, 62.0], "sex": [1.0, 2.0, 2.0, 1.0], "name": ["a", "b", "c", "d"]}
)
LABELS = {"sex": {1: "female", 2: "male"}}


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "por"])
def test_values_with_labels_become_labels(tmp_path, ending):
    path = tmp_path / f"survey.{ending}"
    if ending == "dta":
        pyreadstat.write_dta(FRAME, str(path), variable_value_labels=LABELS)
    elif ending == "por":
        pyreadstat.write_por(FRAME.rename(columns=str.upper), str(path))
    else:
        pyreadstat.write_sav(
            FRAME, str(path), variable_value_labels=LABELS, compress=ending == "zsav"
        )
    table = reldep.read(path)
    names = [name.upper() if ending == "por" else name for name in FRAME]
    assert list(table.columns) == names
    assert table.read(names[:1]).to_series().to_list() == [21, 35, None, 62]
    if ending != "por":
        assert table.read(["sex"])["sex"].to_list() == ["female", "male", "male", "female"]
        assert "the labels of its values were read" in str(table.notes_about(["sex"])[0])


def test_missing_values_that_the_survey_defines_are_missing(tmp_path):
    path = tmp_path / "survey.sav"
    frame = pd.DataFrame({"age": [21.0, 999.0, 40.0]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"age": [999]})
    assert reldep.read(path).read(["age"])["age"].to_list() == [21, None, 40]


def test_numbers_only_some_of_which_have_a_label_stay_numbers(tmp_path):
    path = tmp_path / "survey.sav"
    labels = {"age": {21: "just adult"}}
    pyreadstat.write_sav(FRAME[["age"]], str(path), variable_value_labels=labels)
    table = reldep.read(path)
    assert table.columns["age"] == "number"
    (said,) = table.notes_about(["age"])
    assert "(21 is 'just adult'); if one means missing, pass `na`" in said


def test_a_data_frame_of_r_is_a_table(tmp_path):
    rdata = pytest.importorskip("rdata")
    frame = pd.DataFrame({"x": [1.5, 2.5], "n": [1, 2]})
    rdata.write_rds(tmp_path / "frame.rds", frame)
    assert reldep.read(tmp_path / "frame.rds").read(["x", "n"]).rows() == [(1.5, 1), (2.5, 2)]
    rdata.write_rds(tmp_path / "list.rds", [1.0, 2.0])
    with pytest.raises(ValueError, match=r"list.rds holds 0 data frames"):
        reldep.read(tmp_path / "list.rds")
