"""Dot products of runs of rows, whichever way they are made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from reldep import system
from reldep.data.objects import read_variable
from reldep.kernels import points
from reldep.kernels.dot import dot_products
from reldep.kernels.points import Points

ROWS, COLS = slice(5, 30), slice(20, 60)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("compiled_from", [0, 10**9])
def test_sparse_products_are_those_of_the_dense_rows(compiled_from, index, monkeypatch):
    monkeypatch.setattr(system, "COMPILED_FROM", compiled_from)
    rows = sparse.random(70, 40, 0.2, rng=np.random.default_rng(0), format="csr")
    rows = sparse.csr_array(rows)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    block = dot_products(rows, ROWS, COLS)
    assert isinstance(block, np.ndarray)
    np.testing.assert_allclose(block, dot_products(rows.toarray(), ROWS, COLS), atol=1e-14)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_many_ties_in_wide_rows_are_repaired_a_few_at_a_time(is_sparse, monkeypatch):
    monkeypatch.setattr(points, "MOST_DIFFERENCES", 120)
    rows = np.repeat(np.random.default_rng(0).normal(size=(4, 30)), 10, axis=0) + 1e6
    found = Points.of(read_variable(sparse.csr_array(rows) if is_sparse else rows, "x"))
    block = found.squared_distances(slice(5, 25), slice(0, 40))
    difference = rows[5:25, None] - rows[None]
    np.testing.assert_allclose(block, (difference**2).sum(axis=2), rtol=1e-2 if is_sparse else 1e-9)
    assert (block == 0).sum() == 20 * 10
