"""Any data a person has: what each kind becomes."""

from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import reldep
from reldep.data.objects import read_variable
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse

M = 30
RNG = np.random.default_rng(0)
AGE = RNG.normal(50, 10, M)
SEX = np.array(["f", "m"])[RNG.integers(0, 2, M)]


class Tensor:
    def __array__(self, dtype=None, copy=None):
        return AGE


# What lists and arrays of every kind are read as is in data/golden_reading.json.
KINDS = [
    (AGE.astype(np.longdouble), Numeric),
    ([Decimal(1), Fraction(1, 2), np.longdouble(1), np.float32(2), 3] * (M // 5), Numeric),
    ([None] + [[1.0, 2.0]] * (M - 1), Numeric),
    (pd.Series(AGE.round(), dtype="Int64"), Numeric),
    (pd.Index(AGE), Numeric),
    (pa.array(AGE), Numeric),
    (pa.chunked_array([AGE]), Numeric),
    (pa.table({"a": AGE, "b": AGE**2}), Numeric),
    (nw.from_native(pl.DataFrame({"a": AGE})), Numeric),
    (Tensor(), Numeric),
    (SEX.astype("S"), Labels),
    (pd.Series(SEX, dtype="category"), Labels),
    (pa.array(SEX), Labels),
    (pd.DataFrame({"sex": SEX}), Labels),
    (np.array([AGE, SEX], dtype=object).T, Mixed),
    (np.column_stack([SEX, SEX[::-1]]), Mixed),
    (sp.coo_matrix(np.eye(M)), Sparse),
    (sp.csc_array(np.eye(M, dtype=bool)), Sparse),
    ([{1, 2}] * M, Items),
    ([np.zeros((2, 2))] * M, Items),
    ([(np.arange(3), np.ones((2, 2), int))] * M, Items),
]


@pytest.mark.parametrize(("data", "kind"), KINDS)
def test_each_kind_of_data_is_recognised(data, kind):
    variable = read_variable(data, "v")
    assert type(variable) is kind
    assert (variable.name, len(variable)) == ("v", M)


IMAGES = np.zeros((4, 2, 2))
IMAGES[1, 0, 0] = np.nan


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (pd.DataFrame({"a": [1.0, None, 3], "b": [1, 2, None]}).convert_dtypes(), [1, 2]),
        (pa.table({"a": [1, None, 3, 4], "b": [1.0, 2.0, 3.0, 4.0]}), [1]),
        ([None, {1}, {2}, {3}], [0]),
        (IMAGES, [1]),
    ],
)
def test_nullable_and_missing_marks_are_seen_as_missing(data, rows):
    assert np.flatnonzero(read_variable(data, "v").missing()).tolist() == rows


def test_names_of_series_survive_into_the_result():
    frame = pd.DataFrame({"dose": AGE, "growth": AGE + RNG.normal(size=M), "sex": SEX})
    result = reldep.compare(frame["dose"], frame["growth"], frame["sex"])
    assert result.dependences.pairs == (("dose", "growth"), ("dose", "sex"))
    assert "dose ~ growth" in result.to_frame()["relation"].tolist()
    same = [frame[name].rename("value") for name in ("dose", "growth", "growth")]
    same[2] = same[2] ** 2
    assert reldep.compare(*same).dependences.pairs == (("source", "first"), ("source", "second"))


@pytest.mark.parametrize(
    ("make", "library"),
    [
        (pd.DataFrame, "pandas"),
        (pl.DataFrame, "polars"),
        (pa.table, "pyarrow"),
        (lambda columns: columns["a"], "polars"),
    ],
)
def test_tables_come_back_in_the_library_the_data_came_from(make, library):
    frame = make({"a": AGE})
    result = reldep.compare(frame, AGE**2, RNG.normal(size=M) + AGE)
    assert type(result.to_frame()).__module__.split(".")[0] == library


def test_mixed_frames_get_the_product_of_laplace_and_agreement():
    frame = pl.DataFrame({"age": AGE, "sex": SEX, "smoker": SEX[::-1]})
    y = RNG.normal(size=M) + AGE
    # The bandwidth of a matrix made by hand does not move, so the kernel is held fixed in both.
    fixed = {"variance": "fixed-kernel"}
    other = RNG.normal(size=M) + AGE
    automatic = reldep.compare(frame, other, y, **fixed)
    apart = np.abs(AGE[:, None] - AGE[None])
    mean = apart[np.triu_indices(M, 1)].mean()
    sex, smoker = SEX[:, None] == SEX, SEX[::-1, None] == SEX[::-1]
    agreement = 0.5 + 0.25 * (0.5 * sex + 0.5 * smoker) + 0.25 * (sex & smoker)
    by_hand = reldep.kernels.Precomputed(np.exp(-apart / mean) * agreement)
    assert automatic.statistic == pytest.approx(
        reldep.compare(by_hand, other, y, **fixed).statistic
    )


def test_sparse_and_dense_rows_give_the_same_answer():
    dense = (RNG.random((M, 40)) < 0.1) * RNG.random((M, 40))
    for kernel in ("gaussian", "laplace", "linear", "polynomial", "distance"):
        found = [reldep.hsic(x, AGE, kernel=kernel) for x in (dense, sp.csr_array(dense))]
        assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_sparse_data_is_never_densified(monkeypatch):
    data = sp.random_array((M, 5000), density=0.002, rng=1, format="csr")
    original = sp.csr_array.toarray

    def only_blocks(self, *args, **kwargs):
        assert self.shape[1] <= M, "a data matrix was densified"
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", only_blocks)
    assert np.isfinite(reldep.hsic(data, AGE))
