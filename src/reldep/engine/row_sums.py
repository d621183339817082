"""Compiled sums over rows of kernel values that are in cache, and over the columns they cross.

Importing this module imports numba. Four rows are summed together, so that the sums of the columns
are loaded and stored once for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.compiled import compiled, compiled_sum

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# Rows that are summed together; the loops below name each of them.
ROWS = 4


@compiled_sum
def add_rows(values: FloatArray, n: int, across: FloatArray, down: FloatArray) -> None:
    """Sum the rows of each kernel, and add them to the sums of the columns."""
    for v in range(values.shape[1]):
        t0 = t1 = t2 = t3 = 0.0
        for j in range(n):
            a, b = np.float64(values[0, v, j]), np.float64(values[1, v, j])
            c, d = np.float64(values[2, v, j]), np.float64(values[3, v, j])
            t0 += a
            t1 += b
            t2 += c
            t3 += d
            down[v, j] += (a + b) + (c + d)
        across[v, 0], across[v, 1], across[v, 2], across[v, 3] = t0, t1, t2, t3


@compiled_sum
def add_products(
    values: FloatArray, pairs: IntArray, n: int, across: FloatArray, down: FloatArray
) -> None:
    """Sum the products of the rows of two kernels, and add them to the sums of the columns."""
    for p in range(len(pairs)):
        x, y, w = pairs[p, 0], pairs[p, 1], values.shape[1] + p
        t0 = t1 = t2 = t3 = 0.0
        for j in range(n):
            a = np.float64(values[0, x, j]) * np.float64(values[0, y, j])
            b = np.float64(values[1, x, j]) * np.float64(values[1, y, j])
            c = np.float64(values[2, x, j]) * np.float64(values[2, y, j])
            d = np.float64(values[3, x, j]) * np.float64(values[3, y, j])
            t0 += a
            t1 += b
            t2 += c
            t3 += d
            down[w, j] += (a + b) + (c + d)
        across[w, 0], across[w, 1], across[w, 2], across[w, 3] = t0, t1, t2, t3


@compiled_sum
def multiply_rows(
    values: FloatArray,
    multiplied: IntArray,
    own: FloatArray,
    others: FloatArray,
    n: int,
    across: FloatArray,
    down: FloatArray,
) -> None:
    """Multiply rows of kernels by vectors, and add the rows times own entries to the columns."""
    for w in range(len(multiplied)):
        v, u = multiplied[w, 0], multiplied[w, 1]
        w0, w1, w2, w3 = own[u, 0], own[u, 1], own[u, 2], own[u, 3]
        t0 = t1 = t2 = t3 = 0.0
        for j in range(n):
            a, b = np.float64(values[0, v, j]), np.float64(values[1, v, j])
            c, d = np.float64(values[2, v, j]), np.float64(values[3, v, j])
            other = others[u, j]
            t0 += a * other
            t1 += b * other
            t2 += c * other
            t3 += d * other
            down[w, j] += (a * w0 + b * w1) + (c * w2 + d * w3)
        across[w, 0], across[w, 1], across[w, 2], across[w, 3] = t0, t1, t2, t3


@compiled
def add_run(values: FloatArray, left: int, n: int, table: FloatArray) -> None:
    """Add to n columns of a table, from `left` on."""
    for row in range(len(table)):
        for j in range(n):
            table[row, left + j] += values[row, j]


@compiled
def add_across(values: FloatArray, start: int, n: int, table: FloatArray) -> None:
    """Add the sums of n rows to a table, from `start` on."""
    for w in range(len(table)):
        for r in range(n):
            table[w, start + r] += values[w, r]
