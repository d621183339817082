"""Dot products between runs of rows, dense or sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.machine import worth_compiling

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray


def dot_products(matrix: FloatArray | csr_array, rows: slice, cols: slice) -> FloatArray:
    """Give x_i'x_j for a block as a new, dense array."""
    if isinstance(matrix, np.ndarray):
        product: FloatArray = matrix[rows] @ matrix[cols].T
        return product
    if worth_compiling(matrix.shape[0]):
        return _sparse_products(matrix[rows], matrix[cols])
    dense: FloatArray = (matrix[rows] @ matrix[cols].T).toarray()
    return dense


def _sparse_products(first: csr_array, second: csr_array) -> FloatArray:
    """Multiply without the detour over a sparse result, which here is hardly ever sparse."""
    from reldep.kernels.compiled import add_sparse_products

    out = np.zeros((first.shape[0], second.shape[0]))
    add_sparse_products(*_parts(first), *_parts(second.T.tocsr()), out)
    return out


def _parts(table: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Take a matrix apart, with one type of index and of number: one function to compile."""
    return (
        table.indptr.astype(np.int64),
        table.indices.astype(np.int64),
        table.data.astype(np.float64),
    )
