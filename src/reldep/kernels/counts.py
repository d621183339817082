"""Sparse matrices of counts: how often each observation shows each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def count_matrix(
    rows: npt.NDArray[np.integer[Any]], columns: npt.NDArray[np.integer[Any]], n_rows: int
) -> csr_array:
    """Count the occurrences of each (row, column); there are `n_rows` rows."""
    from scipy.sparse import coo_array

    n_columns = int(columns.max(initial=-1)) + 1
    entries = (np.ones(len(rows)), (rows, columns))
    return coo_array(entries, shape=(n_rows, n_columns)).tocsr()


def unit_rows(rows: csr_array) -> csr_array:
    """Scale each row to length 1; a row of zeros stays as it is."""
    from scipy.sparse import csr_array

    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(of_entry, weights=rows.data**2, minlength=rows.shape[0]))
    # Only rows that hold an entry are looked up, and those have a positive length.
    return csr_array((rows.data / lengths[of_entry], rows.indices, rows.indptr), shape=rows.shape)
