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
def cross_rows(
    values: FloatArray,
    pairs: IntArray,
    own: FloatArray,
    others: FloatArray,
    n: int,
    across: FloatArray,
    down: FloatArray,
) -> None:
    """Multiply the rows of either kernel of a pair by the vector of the other, and add both.

    What the entries of these rows add to the columns comes on the way. A run of products is added
    up in the precision of the values.
    """
    zero = own[0, 0] - own[0, 0]
    for p in range(len(pairs)):
        x, y = pairs[p, 0], pairs[p, 1]
        k0, k1, k2, k3 = own[x, 0], own[x, 1], own[x, 2], own[x, 3]
        l0, l1, l2, l3 = own[y, 0], own[y, 1], own[y, 2], own[y, 3]
        t0 = t1 = t2 = t3 = zero
        if x == y:
            for j in range(n):
                k = others[x, j]
                a, b, c, d = values[0, x, j], values[1, x, j], values[2, x, j], values[3, x, j]
                t0 += a * k
                t1 += b * k
                t2 += c * k
                t3 += d * k
                down[p, j] += 2.0 * ((a * k0 + b * k1) + (c * k2 + d * k3))
            across[p, 0], across[p, 1], across[p, 2], across[p, 3] = t0, t1, t2, t3
            for r in range(ROWS):
                across[p, r] *= 2.0
            continue
        for j in range(n):
            k, l = others[x, j], others[y, j]  # noqa: E741
            a, b, c, d = values[0, x, j], values[1, x, j], values[2, x, j], values[3, x, j]
            e, f, g, h = values[0, y, j], values[1, y, j], values[2, y, j], values[3, y, j]
            t0 += a * l + e * k
            t1 += b * l + f * k
            t2 += c * l + g * k
            t3 += d * l + h * k
            down[p, j] += ((a * l0 + e * k0) + (b * l1 + f * k1)) + (
                (c * l2 + g * k2) + (d * l3 + h * k3)
            )
        across[p, 0], across[p, 1], across[p, 2], across[p, 3] = t0, t1, t2, t3


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
