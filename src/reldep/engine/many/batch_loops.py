"""Compiled loops for many columns, each with a kernel matrix of its own, beside a few fixed ones.

Importing this module imports numba. A matrix is filled, centred, multiplied and forgotten within
the cache of one core, so that thousands of columns need no memory to speak of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.kernels.compiled import compiled, compiled_sum, power_of_two_or_zero

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reldep.data.variables import FloatArray


# Functions of the distance d: 2^(c d²), 2^(c d) and c d.
SQUARE, PLAIN, DISTANCE = range(3)


@compiled
def _fill_row(x: FloatArray, i: int, form: int, c: float, out: FloatArray) -> None:
    """Write the kernel values of observation i with all others."""
    a = x[i]
    if form == SQUARE:
        for j in range(len(x)):
            out[j] = power_of_two_or_zero(c, (a - x[j]) * (a - x[j]), 0.0)
    elif form == PLAIN:
        for j in range(len(x)):
            out[j] = power_of_two_or_zero(c, abs(a - x[j]), 0.0)
    else:
        for j in range(len(x)):
            out[j] = c * abs(a - x[j])


@compiled
def _slope_row(
    x: FloatArray, i: int, form: int, factor: float, values: FloatArray, out: FloatArray
) -> None:
    """Write the derivative in the bandwidth: a power of the distance times the value."""
    a = x[i]
    if form == SQUARE:
        for j in range(len(x)):
            out[j] = factor * ((a - x[j]) * (a - x[j])) * values[j]
    else:
        for j in range(len(x)):
            out[j] = factor * abs(a - x[j]) * values[j]


@compiled_sum
def _total(row: FloatArray) -> float:
    total = 0.0
    for j in range(len(row)):
        total += row[j]
    return total


@compiled_sum
def _product(row: FloatArray, other: FloatArray) -> float:
    total = 0.0
    for j in range(len(row)):
        total += row[j] * other[j]
    return total


@compiled
def _subtract_effects(row: FloatArray, own: float, effects: FloatArray) -> None:
    for j in range(len(row)):
        row[j] -= own + effects[j]


@compiled
def _fill_and_centre(
    x: FloatArray, form: int, c: float, matrix: FloatArray, effects: FloatArray
) -> float:
    """Fill a matrix without its diagonal and find the effects that make its rows sum to 0.

    The size of its values is returned, which all have the same sign.
    """
    m = len(x)
    for i in range(m):
        _fill_row(x, i, form, c, matrix[i])
        matrix[i, i] = 0.0
        effects[i] = _total(matrix[i])
    half = _total(effects) / (2.0 * (m - 1))
    for i in range(m):
        effects[i] = (effects[i] - half) / (m - 2)
    return abs(2.0 * half / m)


@compiled
def _multiply_rows(
    x: FloatArray,
    form: int,
    factor: float,
    matrix: FloatArray,
    effects: FloatArray,
    fixed: FloatArray,
    further: FloatArray,
    products: FloatArray,
    totals: FloatArray,
) -> None:
    """Centre the matrix of one column row by row, while it is in the cache, and multiply."""
    m, f, e = len(x), len(fixed), len(further)
    slope = np.empty(m)
    for i in range(m):
        row = matrix[i]
        if factor != 0:
            _slope_row(x, i, form, factor, row, slope)
        _subtract_effects(row, effects[i], effects)
        row[i] = 0.0
        for t in range(f):
            products[t, i] = _product(row, fixed[t, i])
        products[f, i] = _product(row, row)
        for t in range(e):
            totals[t] += _product(row, further[t, i])
        if factor != 0:
            for t in range(f):
                totals[e + t] += _product(slope, fixed[t, i])
            totals[e + f] += _product(slope, row)


@compiled
def _pack(matrix: FloatArray, out: FloatArray) -> None:
    """Copy what is above the diagonal, row by row."""
    place = 0
    for i in range(len(matrix)):
        for j in range(i + 1, len(matrix)):
            out[place] = matrix[i, j]
            place += 1


@compiled
def multiply_columns(
    columns: FloatArray,
    form: int,
    coefficients: FloatArray,
    slopes: FloatArray,
    fixed: FloatArray,
    further: FloatArray,
    products: FloatArray,
    totals: FloatArray,
    sizes: FloatArray,
    packed: FloatArray,
) -> None:
    """Multiply the centred kernel matrix of every column by fixed centred matrices and by itself.

    Parameters
    ----------
    columns : ndarray, shape (n, m)
        One variable a row.
    form : int
        The function of the distance.
    coefficients, slopes : ndarray, shape (n,)
        c of that function, and the factor of its derivative in the bandwidth; 0 for none.
    fixed : ndarray, shape (f, m, m)
        Centred matrices with which row sums of products are wanted.
    further : ndarray, shape (e, m, m)
        Centred matrices with which only the sums of products are wanted.
    products : ndarray, shape (n, f + 1, m)
        Takes the row sums of products, those with itself last.
    totals : ndarray, shape (n, e + f + 1)
        Takes the sums with `further`, then those of the derivative with `fixed` and with itself.
    sizes : ndarray, shape (n,)
        Takes the size of the kernel values.
    packed : ndarray, shape (n or 0, m (m - 1) / 2)
        Takes the centred matrices above the diagonal, if it has room.
    """
    n, m = columns.shape
    matrix, effects = np.empty((m, m)), np.empty(m)
    for s in range(n):
        sizes[s] = _fill_and_centre(columns[s], form, coefficients[s], matrix, effects)
        totals[s] = 0.0
        _multiply_rows(
            columns[s],
            form,
            slopes[s],
            matrix,
            effects,
            fixed,
            further,
            products[s],
            totals[s],
        )
        if len(packed):
            _pack(matrix, packed[s])


@compiled
def raise_leads(
    drawn: NDArray[Any], inverse: NDArray[Any], start: int, stop: int, largest: NDArray[Any]
) -> None:
    """Raise `largest` to ``max_b |Z_b - Z_a| inverse_ab`` for every a, in some of the columns.

    Parameters
    ----------
    drawn, largest : ndarray, shape (p, c)
        Z, one draw a column, and what is raised, at first 0.
    inverse : ndarray, shape (p, p)
    start, stop : int
        The columns to be worked on.
    """
    p = len(drawn)
    # Four values at a time: each of the others is read and raised once for all of them.
    for a in range(0, p - 3, 4):
        x0, x1 = drawn[a, start:stop], drawn[a + 1, start:stop]
        x2, x3 = drawn[a + 2, start:stop], drawn[a + 3, start:stop]
        top0, top1 = largest[a, start:stop], largest[a + 1, start:stop]
        top2, top3 = largest[a + 2, start:stop], largest[a + 3, start:stop]
        for b in range(a + 4, p):
            y, top = drawn[b, start:stop], largest[b, start:stop]
            s0, s1, s2, s3 = inverse[b, a], inverse[b, a + 1], inverse[b, a + 2], inverse[b, a + 3]
            for c in range(stop - start):
                d0, d1 = abs(y[c] - x0[c]) * s0, abs(y[c] - x1[c]) * s1
                d2, d3 = abs(y[c] - x2[c]) * s2, abs(y[c] - x3[c]) * s3
                top0[c] = d0 if d0 > top0[c] else top0[c]
                top1[c] = d1 if d1 > top1[c] else top1[c]
                top2[c] = d2 if d2 > top2[c] else top2[c]
                top3[c] = d3 if d3 > top3[c] else top3[c]
                one = d0 if d0 > d1 else d1
                two = d2 if d2 > d3 else d3
                one = one if one > two else two
                top[c] = one if one > top[c] else top[c]
    for a in range(p):
        for b in range(a + 1, min(a - a % 4 + 4, p)):
            for c in range(start, stop):
                lead = abs(drawn[b, c] - drawn[a, c]) * inverse[b, a]
                largest[a, c] = max(largest[a, c], lead)
                largest[b, c] = max(largest[b, c], lead)
