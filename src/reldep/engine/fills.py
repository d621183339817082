"""Compiled sweeps: kernel values are made in cache, row by row, and summed at once.

Importing this module imports numba. A row of a tile never leaves the cache: its squared
distances become values of every kernel, and these are added to the sums of the row and of the
columns before the next row is begun. What to compute comes as tables of numbers, see
:class:`reldep.engine.recipe.Recipe`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.recipe import PRODUCT
from reldep.kernels.base import (
    EQUAL,
    LINEAR,
    NEAR,
    POWER,
    POWER_ROOT,
    ROOT,
    SLOPE,
    SLOPE_ROOT,
)
from reldep.kernels.compiled import (
    WIDTH,
    compiled,
    compiled_sum,
    copy_run,
    power_of_two,
    power_of_two_or_zero,
    squared_distances_along,
)

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# Columns that are worked on together in a tile on the diagonal; elsewhere it is WIDTH.
NARROW = 128


@compiled
def evaluate(
    function: int,
    c: float,
    a: float,
    shift: float,
    sources: FloatArray,
    s: int,
    n: int,
    out: FloatArray,
    v: int,
) -> None:
    """Write into row v a function of row s, by the number of the function, minus the shift."""
    if function == NEAR:
        for j in range(n):
            out[v, j] = power_of_two(c, sources[s, j], shift)
    elif function == POWER:
        for j in range(n):
            out[v, j] = power_of_two_or_zero(c, sources[s, j], shift)
    elif function == ROOT:
        for j in range(n):
            out[v, j] = c * np.sqrt(sources[s, j]) - shift
    elif function == LINEAR:
        for j in range(n):
            out[v, j] = c * sources[s, j] - shift
    else:
        evaluate_rarer(function, c, a, shift, sources, s, n, out, v)


@compiled
def evaluate_rarer(
    function: int,
    c: float,
    a: float,
    shift: float,
    sources: FloatArray,
    s: int,
    n: int,
    out: FloatArray,
    v: int,
) -> None:
    """Evaluate the other functions."""
    zero = c - c
    if function == POWER_ROOT:
        for j in range(n):
            out[v, j] = power_of_two_or_zero(c, np.sqrt(sources[s, j]), shift)
    elif function == EQUAL:
        # Codes of categories stand for points: equal ones have distance 0.
        for j in range(n):
            out[v, j] = (a if sources[s, j] == 0 else c) - shift
    elif function == SLOPE:
        for j in range(n):
            out[v, j] = a * sources[s, j] * power_of_two_or_zero(c, sources[s, j], zero) - shift
    elif function == SLOPE_ROOT:
        for j in range(n):
            root = np.sqrt(sources[s, j])
            out[v, j] = a * root * power_of_two_or_zero(c, root, zero) - shift
    else:
        for j in range(n):
            side = -0.5 if sources[s, j] > c else 0.5
            out[v, j] = (a if sources[s, j] == 0 else side) - shift


@compiled
def combine(
    operation: int, shift: float, factor: FloatArray, f: int, n: int, out: FloatArray, v: int
) -> None:
    """Multiply or add a further factor to what has been evaluated, and subtract the shift."""
    if operation == PRODUCT:
        for j in range(n):
            out[v, j] = out[v, j] * factor[f, j] - shift
    else:
        for j in range(n):
            out[v, j] = out[v, j] + factor[f, j] - shift


@compiled
def evaluate_kernels(
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    shifts: FloatArray,
    n: int,
    sources: FloatArray,
    values: FloatArray,
) -> None:
    """Turn the rows of the sources into rows of kernel values; the last source is scratch."""
    zero = shifts[0] - shifts[0]
    scratch = len(sources) - 1
    for v in range(len(combinations)):
        first, last, operation = combinations[v]
        for f in range(first, last):
            function, s = factors[f]
            c, a = parameters[f]
            shift = shifts[v] if f == last - 1 else zero
            if f == first:
                evaluate(function, c, a, shift, sources, s, n, values, v)
            else:
                evaluate(function, c, a, zero, sources, s, n, sources, scratch)
                combine(operation, shift, sources, scratch, n, values, v)


@compiled
def subtract_effects(
    effect_of: IntArray,
    effects: FloatArray,
    i: int,
    others: FloatArray,
    n: int,
    values: FloatArray,
) -> None:
    """Take ``f_i + f_j`` off the row of each kernel that has effects, the larger first."""
    for v in range(len(values)):
        e = effect_of[v]
        if e < 0:
            continue
        own = effects[e, i]
        size = abs(own)
        for j in range(n):
            other = others[e, j]
            is_larger = size > abs(other)
            values[v, j] -= own if is_larger else other
            values[v, j] -= other if is_larger else own


@compiled_sum
def add_rows(values: FloatArray, n: int, across: FloatArray, down: FloatArray) -> None:
    """Sum the row of each kernel, and add it to the sums of the columns."""
    for v in range(len(values)):
        total = 0.0
        for j in range(n):
            value = np.float64(values[v, j])
            total += value
            down[v, j] += value
        across[v] += total


@compiled_sum
def add_products(
    values: FloatArray, pairs: IntArray, n: int, across: FloatArray, down: FloatArray
) -> None:
    """Sum the products of the rows of two kernels, and add them to the sums of the columns."""
    for p in range(len(pairs)):
        x, y, w = pairs[p, 0], pairs[p, 1], len(values) + p
        total = 0.0
        for j in range(n):
            value = np.float64(values[x, j]) * np.float64(values[y, j])
            total += value
            down[w, j] += value
        across[w] += total


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
        weight, total = own[u], 0.0
        for j in range(n):
            value = np.float64(values[v, j])
            total += value * others[u, j]
            down[w, j] += value * weight
        across[w] += total


# Loops in place of slices: array expressions take seconds to compile.


@compiled
def add_run(values: FloatArray, left: int, n: int, table: FloatArray) -> None:
    """Add to n columns of a table, from `left` on."""
    for row in range(len(table)):
        for j in range(n):
            table[row, left + j] += values[row, j]


@compiled
def copy_given(
    given: FloatArray, g: int, i: int, left: int, n: int, out: FloatArray, s: int
) -> None:
    """Copy a piece of a row of a given block into row s."""
    row = given[g, i]
    for j in range(n):
        out[s, j] = row[left + j]


@compiled
def clear_start(values: FloatArray, n: int) -> None:
    """Set the first n values of each kernel to 0: those on and below the diagonal."""
    for v in range(len(values)):
        for j in range(n):
            values[v, j] = 0.0


@compiled
def sweep(
    columns: FloatArray,
    given: FloatArray,
    source_table: IntArray,
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    shifts: FloatArray,
    effect_of: IntArray,
    effects: FloatArray,
    pairs: IntArray,
    multiplied: IntArray,
    vectors: FloatArray,
    tiles: IntArray,
    sums: FloatArray,
) -> None:
    """Add the sums of a sweep over the entries above the diagonal, and their mirror images.

    With nothing to be multiplied it is the first sweep: row sums, then sums of products. Else it
    is the second: kernels times vectors. `given` belongs to a tile, so a recipe with given
    blocks takes one tile at a time.
    """
    sources = np.empty((len(source_table) + 1, WIDTH), columns.dtype)
    values = np.empty((len(combinations), WIDTH), columns.dtype)
    others = np.empty((len(columns), WIDTH), columns.dtype)
    other_effects = np.empty((len(effects), WIDTH), columns.dtype)
    weights = np.empty((len(vectors), WIDTH))
    down = np.empty((len(sums), WIDTH))
    across = np.empty(len(sums))
    for t in range(len(tiles)):
        top, bottom, left_end, right_end = tiles[t]
        # Rows are evaluated from `left` on, also below the diagonal; narrow runs waste less there.
        width = NARROW if top == left_end else WIDTH
        for left in range(left_end, right_end, width):
            n = min(width, right_end - left)
            copy_run(columns, left, n, others)
            copy_run(effects, left, n, other_effects)
            copy_run(vectors, left, n, weights)
            down[:] = 0.0
            for i in range(top, min(bottom, left + n - 1)):
                point = columns[:, i]
                for s in range(len(source_table)):
                    first, last, g = source_table[s]
                    if g < 0:
                        squared_distances_along(point, others, first, last, n, sources, s)
                    else:
                        copy_given(given, g, i - top, left - left_end, n, sources, s)
                evaluate_kernels(factors, parameters, combinations, shifts, n, sources, values)
                if len(effects):
                    subtract_effects(effect_of, effects, i, other_effects, n, values)
                clear_start(values, min(n, i + 1 - left))
                across[:] = 0.0
                if len(multiplied):
                    multiply_rows(values, multiplied, vectors[:, i], weights, n, across, down)
                else:
                    add_rows(values, n, across, down)
                    add_products(values, pairs, n, across, down)
                for w in range(len(sums)):
                    sums[w, i] += across[w]
            add_run(down, left, n, sums)


@compiled
def fill_between(
    rows: FloatArray,
    others: FloatArray,
    source_table: IntArray,
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    out: FloatArray,
) -> None:
    """Write the values of one kernel between some others, one a row of `out`, and some rows.

    `rows` and `others` hold one coordinate a row; no source may be given. The rows are many and
    the others few, so that the inner loops run along the rows.
    """
    sources = np.empty((len(source_table) + 1, WIDTH))
    values = np.empty((1, WIDTH))
    near = np.empty((len(rows), WIDTH))
    no_shift = np.zeros(1)
    for left in range(0, rows.shape[1], WIDTH):
        n = min(WIDTH, rows.shape[1] - left)
        copy_run(rows, left, n, near)
        for i in range(others.shape[1]):
            for s in range(len(source_table)):
                first, last, _ = source_table[s]
                squared_distances_along(others[:, i], near, first, last, n, sources, s)
            evaluate_kernels(factors, parameters, combinations, no_shift, n, sources, values)
            for j in range(n):
                out[i, left + j] = values[0, j]


@compiled
def mean_between(
    rows: FloatArray,
    others: FloatArray,
    source_table: IntArray,
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    out: FloatArray,
) -> None:
    """Write the mean value of one kernel between each of some rows and all others."""
    sources = np.empty((len(source_table) + 1, WIDTH))
    values = np.empty((1, WIDTH))
    near = np.empty((len(rows), WIDTH))
    no_shift = np.zeros(1)
    n_others = others.shape[1]
    for left in range(0, rows.shape[1], WIDTH):
        n = min(WIDTH, rows.shape[1] - left)
        copy_run(rows, left, n, near)
        for j in range(n):
            out[left + j] = 0.0
        for i in range(n_others):
            for s in range(len(source_table)):
                first, last, _ = source_table[s]
                squared_distances_along(others[:, i], near, first, last, n, sources, s)
            evaluate_kernels(factors, parameters, combinations, no_shift, n, sources, values)
            for j in range(n):
                out[left + j] += values[0, j]
        for j in range(n):
            out[left + j] /= n_others
