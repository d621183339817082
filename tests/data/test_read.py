"""`reldep.read`: a table for every question."""

import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")

ROWS = range(40)
MICE = {
    "id": [f"m{i}" for i in ROWS],
    "diet": [("sun", "fish")[i % 2] for i in ROWS],
    "C14": [float((7 * i) % 40) / 10 for i in ROWS],
    "C16": [float((i * i) % 29) for i in ROWS],
    "size": ["sml"[i % 3] for i in ROWS],
    "days": [float(i + 1) for i in ROWS],
    "died": [i % 2 for i in ROWS],
}


MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
    "mapping": dict,
    "arrays": lambda columns: {name: np.array(values) for name, values in columns.items()},
}


@pytest.fixture(params=["csv", "parquet", *MAKERS])
def mice(request, tmp_path):
    if request.param in MAKERS:
        return MAKERS[request.param](MICE)
    path = tmp_path / f"mice.{request.param}"
    getattr(pl.DataFrame(MICE), f"write_{request.param}")(path)
    return path


def test_a_table_has_names_kinds_rows_and_values(mice):
    table = reldep.read(mice)
    assert isinstance(table, reldep.Table)
    assert list(table.columns) == list(MICE)
    assert [str(table.columns[name]) for name in ("C14", "died")] == ["number", "integer"]
    assert len(table) == 40
    assert np.asarray(table["C14"]).tolist() == MICE["C14"]
    assert table.to_frame("C*").shape == (40, 2)
    assert [one.kernel for one in table.describe() if one.name == "C14"] == ["Laplace (mean)"]
    assert "40 rows, 7 columns" in repr(table)
    assert table.scope is None
    assert reldep.files.read.as_table(table) is table


def test_words_name_variables(mice):
    table = reldep.read(mice)
    assert list(table.take("C*")) == ["C*"]
    assert list(table.take("C*", several=True)) == ["C14", "C16"]
    assert list(table.take(["C*", "body=days,died"], several=True)) == ["C14", "C16", "body"]
    assert list(table.take({"x": "C14", "y": ["days", "died"]})) == ["x", "y"]
    assert table.variables(["C14", "days"]) == {"C14, days": ["C14", "days"]}
    with pytest.raises(ValueError, match=r"no column 'C15'.*nearest: 'C1"):
        table.take("C15")


def test_a_condition_is_part_of_the_table(mice):
    table = reldep.read(mice, where=["C14 > 0.5", "diet = 'fish' or diet = 'x'"], id="id")
    kept = [i for i in ROWS if MICE["C14"][i] > 0.5 and MICE["diet"][i] == "fish"]
    assert str(table.scope) == (
        f"the {len(kept)} of 40 rows with C14 > 0.5 and (diet = 'fish' or diet = 'x')"
    )
    assert table.rows.positions.tolist() == kept
    assert table.rows.name(0) == f"id m{kept[0]}"
    is_text = str(mice).endswith("csv")
    plain = table.restricted("C16 > 5 and diet = 'fish'")
    assert plain.scope.n_kept == len(plain) < len(table)
    by_place = reldep.read(mice, where="C14 > 0.5").rows.name(0)
    assert by_place == ("line 3" if is_text else "row 1")
    chosen = reldep.read(mice, where=[i in kept for i in ROWS])
    assert str(chosen.scope) == f"the {len(kept)} of 40 rows chosen"
    assert np.asarray(chosen["C16"]).tolist() == np.asarray(table["C16"]).tolist()


def test_the_index_of_a_frame_names_its_rows():
    frame = pd.DataFrame(MICE).set_index("id")
    assert reldep.read(frame, where="died = 1").rows.name(1) == "id m3"
    answer = reldep.compare("C14", "C16", "days", data=frame)
    assert answer.provenance.rows.values() == MICE["id"]


@pytest.mark.parametrize("kind", ["frame", "path"])
@pytest.mark.parametrize(
    ("rule", "turns"), [("hour", [0.25, 0.5]), ("weekday", [2.25 / 7, 6.5 / 7])]
)
def test_dates_can_be_places_in_a_cycle(tmp_path, kind, rule, turns):
    moments = [datetime.datetime(2024, 1, 31, 6), datetime.datetime(2024, 2, 4, 12)]
    frame = pl.DataFrame({"visit": moments, "x": [1, 2]})
    frame.write_csv(tmp_path / "v.csv", datetime_format="%Y-%m-%d %H:%M")
    data = frame if kind == "frame" else tmp_path / "v.csv"
    table = reldep.read(data, dates={"visit": rule})
    angle = 2 * np.pi * np.array(turns)
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(table["visit"].to_list(), places, atol=1e-12)
    assert "on a circle" in table.notes_about(["visit"])[0]


def test_every_question_takes_a_table(mice):
    table = reldep.read(mice, where="C14 > 0.5", na=28, categories="died", order={"size": "s<m<l"})
    frame = pl.DataFrame(MICE).filter(pl.col("C14") > 0.5)
    without = [pl.when(pl.col(name) != 28).then(name).alias(name) for name in ("C16", "days")]
    frame = frame.with_columns(without)
    answer = reldep.compare("C14", "C16", "days", data=table, missing="drop")
    plain = reldep.compare(frame["C14"], frame["C16"], frame["days"], missing="drop")
    assert answer.pvalue == pytest.approx(plain.pvalue, rel=1e-12)
    assert answer.n_observations == plain.n_observations < len(table)
    assert table.take("both=size,C14")["both"].labels().order == ("s", "m", "l")
    for name, kernel in (("died", "Delta"), ("size", "Ordered")):
        found = reldep.dependence("C14", name, data=table).provenance.kernels[name]
        assert kernel in str(found)


def test_an_answer_repeats_the_call(tmp_path):
    pl.DataFrame(MICE).write_csv(tmp_path / "mice.csv")
    table = reldep.read(tmp_path / "mice.csv", where="C14 > 0.5")
    answer = reldep.compare("C14", "C16", "days", data=table)
    call = answer.provenance.call
    assert "reldep.read(" in call
    assert eval(call, {"reldep": reldep}).pvalue == answer.pvalue  # noqa: S307
