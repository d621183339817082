"""Names, nested columns and indexes of data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep
from reldep.data.dataset import read_dataset
from reldep.data.objects import read_variable
from reldep.kernels import Columns

M = 40
RNG = np.random.default_rng(5)
X = RNG.normal(size=M)
EMB = RNG.normal(size=(M, 3))
B = X + 0.3 * RNG.normal(size=M)
Z = RNG.normal(size=M)

NESTED = {
    "polars list": lambda: pl.DataFrame({"emb": EMB.tolist(), "b": B}),
    "polars array": lambda: pl.DataFrame({"emb": pl.Series(EMB), "b": B}),
    "pandas lists": lambda: pd.DataFrame({"emb": EMB.tolist(), "b": B}),
    "pandas arrays": lambda: pd.DataFrame({"emb": list(EMB), "b": B}),
    "pyarrow list": lambda: pa.table({"emb": EMB.tolist(), "b": B}),
}


@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED)
def test_a_nested_column_does_not_shift_the_names_of_later_ones(make):
    frame = make()
    variable = read_variable(frame, "v")
    assert variable.columns == ("emb", "emb", "emb", "b")
    np.testing.assert_array_equal(variable.values, np.column_stack([EMB, B]))
    only_b = Columns({"b": "gaussian"}, others="drop")
    expected = reldep.compare(X, B, Z, measure="hsic", kernel="gaussian").estimate
    found = reldep.compare(X, frame, Z, measure="hsic", kernel=("gaussian", only_b, "gaussian"))
    assert found.estimate == pytest.approx(expected)
    kernels = [Columns({n: "gaussian"}, others="drop") for n in ("emb", "b")]
    kernels.append(Columns({"emb": "gaussian", "b": "gaussian"}))
    *parts, both = (kernel.fit(variable)(slice(None), slice(None)) for kernel in kernels)
    np.testing.assert_allclose(both, parts[0] * parts[1])


LABELS = [0, 1.5, ("a", "b"), "x y", "", "*", "a=b", "ü", True, pd.Timestamp("2024-01-01")]


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_every_kind_of_column_name_is_read_beside_a_label_column(label):
    frame = pd.DataFrame({"sex": ["f", "m"] * (M // 2)})
    frame[label] = B
    variable = read_variable(frame, "v")
    assert [part.name for part in variable.parts] == ["v", "sex"]
    name = "a_b" if label == ("a", "b") else str(label)
    assert variable.numbers().columns == (name,)
    answer = reldep.compare(X, frame, Z)
    assert np.isfinite(answer.estimate)
    mixed = Columns({name: "gaussian", "sex": "delta"}).fit(variable)
    assert mixed(slice(None), slice(None)).shape == (M, M)


def test_levels_of_names_are_joined_and_a_frame_of_one_column_has_its_name():
    columns = pd.MultiIndex.from_tuples([("blood", "HDL"), ("blood", "LDL")])
    frame = pd.DataFrame(np.ones((4, 2)), columns=columns)
    assert read_variable(frame, "v").columns == ("blood_HDL", "blood_LDL")
    levels = pd.DataFrame({("blood", "HDL"): B})
    for data, name in (
        (levels[("blood", "HDL")], "blood_HDL"),
        (pd.DataFrame({"bmi": B}), "bmi"),
        (pl.DataFrame({"bmi": B}), "bmi"),
        (pa.table({"bmi": B}), "bmi"),
        (pl.DataFrame({"bmi": B, "age": X}), "x"),
        (pd.Series(B, name=7), "7"),
        (B, "x"),
    ):
        assert reldep.dependence(data, Z).dependences.pairs[0][0] == name


LETTERS = [f"p{i}" for i in range(M)]
SERIES = pd.Series(X, index=LETTERS, name="x")


def test_series_in_another_order_are_matched_by_their_index():
    shuffled = pd.Series(B, index=LETTERS).sample(frac=1, random_state=1)
    dataset = read_dataset({"x": SERIES, "b": shuffled})
    np.testing.assert_array_equal(dataset.variables["b"].values.ravel(), B)
    assert dataset.unmatched is None
    assert dataset.rows.name(3) == "row p3"
    straight = read_dataset({"x": SERIES, "b": pd.Series(B, index=LETTERS)})
    assert straight.unmatched is None
    answers = [
        reldep.compare(SERIES, b, Z).estimate
        for b in (pd.Series(B, index=LETTERS), pd.Series(B, index=LETTERS).to_numpy())
    ]
    assert answers[0] == answers[1]


def test_clusters_are_matched_too():
    clusters = pd.Series(np.arange(M) // 4, index=LETTERS).iloc[::-1]
    dataset = read_dataset({"x": SERIES, "z": Z}, clusters=clusters.iloc[::-1])
    np.testing.assert_array_equal(dataset.clusters, np.arange(M) // 4)
    named = read_dataset({"x": X, "z": Z}, clusters=clusters)
    assert named.rows.name(0) == "row 0"
    with pytest.raises(ValueError, match="has no index to match them by"):
        read_dataset({"x": SERIES, "z": Z}, clusters=clusters)


def test_rows_that_cannot_be_matched_are_refused():
    other = pd.Series(B, index=[*LETTERS[:-1], "q"])
    with pytest.raises(ValueError, match=r"do not have the same rows: 'q' is in .* 'b' only"):
        read_dataset({"x": SERIES, "b": other})
    twice = pd.Series(B, index=[*LETTERS[:-1], "p0"])
    with pytest.raises(ValueError, match="labels come twice"):
        read_dataset({"x": SERIES, "b": twice})
    counted = read_dataset({"x": SERIES, "b": pd.Series(B)})
    np.testing.assert_array_equal(counted.variables["b"].values.ravel(), B)


def test_a_slice_and_a_count_that_share_labels_are_not_zipped():
    # 5 to 79 against 0 to 74: the same number of rows, other patients.
    with pytest.raises(ValueError, match="do not have the same rows"):
        read_dataset({"x": pd.Series(X)[5:], "b": pd.Series(B)[:-5], "z": pd.Series(Z)[5:]})


def test_rows_of_a_missing_value_are_named_by_the_index():
    holed = SERIES.where(SERIES.index != "p7")
    with pytest.raises(ValueError, match="1 NaN in row p7"):
        read_dataset({"x": holed, "z": Z})
    dropped = read_dataset({"x": holed, "z": Z}, missing="drop")
    assert "p7" not in dropped.rows.values()
    assert dropped.rows.positions.tolist() == [
        i for i in range(len(SERIES)) if SERIES.index[i] != "p7"
    ]
