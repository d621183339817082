"""The limit: evaluate the upper triangles of Gaussian kernels once, on all cores, and no more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from reldep.engine.sweeps.fills import NEAR, evaluate
from reldep.kernels.compiled import WIDTH, compiled, copy_run, squared_distances_along
from reldep.system import available_cores


@compiled
def fill_rows(columns, c, start, step):
    """Evaluate the rows start, start + step, … above the diagonal, with the engine's own fill."""
    others = np.empty((len(columns), WIDTH))
    squared = np.empty((1, WIDTH))
    values = np.empty((1, 1, WIDTH))
    m = columns.shape[1]
    kept = 0.0
    for left in range(0, m, WIDTH):
        n = min(WIDTH, m - left)
        copy_run(columns, left, n, others)
        for i in range(start, min(m, left + n), step):
            squared_distances_along(columns, i, others, 0, len(columns), n, squared, 0)
            evaluate(NEAR, c, 0.0, 0.0, squared, 0, n, values, 0, 0)
            # Without a use of the values the compiler would leave them out.
            kept += values[0, 0, 0]
    return kept


def fill_triangles(blocks, bandwidths):
    """Evaluate one triangle for every block of rows."""
    threads = available_cores()
    with ThreadPoolExecutor(threads) as pool:
        for rows, bandwidth in zip(blocks, bandwidths, strict=True):
            columns = np.ascontiguousarray(rows.T)
            c = -0.5 / (bandwidth**2 * np.log(2.0))
            list(pool.map(lambda t, x=columns, k=c: fill_rows(x, k, t, threads), range(threads)))
