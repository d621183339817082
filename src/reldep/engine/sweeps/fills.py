"""Compiled sweeps: kernel values are made in cache, row by row, and summed at once.

Importing this module imports numba. A row of a tile never leaves the cache: its squared
distances become values of every kernel, and these are added to the sums of the row and of the
columns before the next row is begun. What to compute comes as tables of numbers, see
:class:`reldep.engine.sweeps.recipe.Recipe`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.sweeps.recipe import PRODUCT
from reldep.engine.sweeps.row_sums import (
    ROWS,
    add_across,
    add_products,
    add_rows,
    add_run,
    cross_rows,
)
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
    r: int,
    v: int,
) -> None:
    """Write into row r of kernel v a function of row s, by its number, minus the shift."""
    if function == NEAR:
        for j in range(n):
            out[r, v, j] = power_of_two(c, sources[s, j], shift)
    elif function == POWER:
        for j in range(n):
            out[r, v, j] = power_of_two_or_zero(c, sources[s, j], shift)
    elif function == ROOT:
        for j in range(n):
            out[r, v, j] = c * np.sqrt(sources[s, j]) - shift
    elif function == LINEAR:
        for j in range(n):
            out[r, v, j] = c * sources[s, j] - shift
    else:
        evaluate_rarer(function, c, a, shift, sources, s, n, out, r, v)


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
    r: int,
    v: int,
) -> None:
    """Evaluate the other functions."""
    zero = c - c
    if function == POWER_ROOT:
        for j in range(n):
            out[r, v, j] = power_of_two_or_zero(c, np.sqrt(sources[s, j]), shift)
    elif function == EQUAL:
        # Codes of categories stand for points: equal ones have distance 0.
        for j in range(n):
            out[r, v, j] = (a if sources[s, j] == 0 else c) - shift
    elif function == SLOPE:
        for j in range(n):
            out[r, v, j] = a * sources[s, j] * power_of_two_or_zero(c, sources[s, j], zero) - shift
    elif function == SLOPE_ROOT:
        for j in range(n):
            root = np.sqrt(sources[s, j])
            out[r, v, j] = a * root * power_of_two_or_zero(c, root, zero) - shift
    else:
        for j in range(n):
            side = -0.5 if sources[s, j] > c else 0.5
            out[r, v, j] = (a if sources[s, j] == 0 else side) - shift


@compiled
def combine(
    operation: int, shift: float, factors: FloatArray, n: int, out: FloatArray, r: int, v: int
) -> None:
    """Multiply or add a further factor to what has been evaluated, and subtract the shift."""
    if operation == PRODUCT:
        for j in range(n):
            out[r, v, j] = out[r, v, j] * factors[r, 0, j] - shift
    else:
        for j in range(n):
            out[r, v, j] = out[r, v, j] + factors[r, 0, j] - shift


@compiled
def evaluate_kernels(
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    shifts: FloatArray,
    n: int,
    sources: FloatArray,
    scratch: FloatArray,
    values: FloatArray,
    r: int,
) -> None:
    """Turn the rows of the sources into rows r of kernel values."""
    # Entries one by one: a slice of a table would be counted by all threads.
    zero = shifts[0] - shifts[0]
    for v in range(len(combinations)):
        first, last, operation = combinations[v, 0], combinations[v, 1], combinations[v, 2]
        for f in range(first, last):
            function, s = factors[f, 0], factors[f, 1]
            c, a = parameters[f, 0], parameters[f, 1]
            shift = shifts[v] if f == last - 1 else zero
            if f == first:
                evaluate(function, c, a, shift, sources, s, n, values, r, v)
            else:
                evaluate(function, c, a, zero, sources, s, n, scratch, r, 0)
                combine(operation, shift, scratch, n, values, r, v)


@compiled
def subtract_effects(
    effect_of: IntArray,
    bounded: IntArray,
    effects: FloatArray,
    i: int,
    others: FloatArray,
    n: int,
    values: FloatArray,
    r: int,
) -> None:
    """Take ``f_i + f_j`` off row r of each kernel that has effects.

    The larger first where values have no bound, which loses no digit.
    """
    for v in range(values.shape[1]):
        e = effect_of[v]
        if e < 0:
            continue
        own = effects[e, i]
        size = abs(own)
        if bounded[v]:
            for j in range(n):
                values[r, v, j] -= own + others[e, j]
            continue
        for j in range(n):
            other = others[e, j]
            is_larger = size > abs(other)
            values[r, v, j] -= own if is_larger else other
            values[r, v, j] -= other if is_larger else own


@compiled
def copy_given(
    given: FloatArray, g: int, i: int, left: int, n: int, out: FloatArray, s: int
) -> None:
    """Copy a piece of a row of a given block into row s."""
    for j in range(n):
        out[s, j] = given[g, i, left + j]


@compiled
def clear_start(values: FloatArray, r: int, n: int) -> None:
    """Set the first n values in row r of each kernel to 0: those on and below the diagonal."""
    for v in range(values.shape[1]):
        for j in range(n):
            values[r, v, j] = 0.0


@compiled
def fill_row(
    columns: FloatArray,
    i: int,
    others: FloatArray,
    given: FloatArray,
    row: int,
    left: int,
    n: int,
    source_table: IntArray,
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    shifts: FloatArray,
    sources: FloatArray,
    scratch: FloatArray,
    values: FloatArray,
    r: int,
) -> None:
    """Write into row r the values of all kernels between observation i and n others.

    `row` and `left` say where the values begin in given blocks.
    """
    for s in range(len(source_table)):
        first, last, g = source_table[s, 0], source_table[s, 1], source_table[s, 2]
        if g < 0:
            squared_distances_along(columns, i, others, first, last, n, sources, s)
        else:
            copy_given(given, g, row, left, n, sources, s)
    evaluate_kernels(factors, parameters, combinations, shifts, n, sources, scratch, values, r)


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
    bounded: IntArray,
    effects: FloatArray,
    pairs: IntArray,
    vectors: FloatArray,
    tiles: IntArray,
    sums: FloatArray,
) -> None:
    """Add the sums of a sweep over the entries above the diagonal, and their mirror images.

    Without vectors it is the first sweep: row sums, then sums of products. Else it is the second:
    either kernel of a pair times the vector of the other. `given` belongs to a tile, so a recipe
    with given blocks takes one tile at a time.
    """
    sources = np.empty((len(source_table), WIDTH), columns.dtype)
    scratch = np.empty((ROWS, 1, WIDTH), columns.dtype)
    values = np.empty((ROWS, len(combinations), WIDTH), columns.dtype)
    others = np.empty((len(columns), WIDTH), columns.dtype)
    own = np.zeros((len(vectors), ROWS), columns.dtype)
    other_effects = np.empty((len(effects), WIDTH), columns.dtype)
    weights = np.empty((len(vectors), WIDTH), columns.dtype)
    down = np.empty((len(sums), WIDTH))
    across = np.zeros((len(sums), ROWS))
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
            end = min(bottom, left + n - 1)
            for start in range(top, end, ROWS):
                for r in range(ROWS):
                    i = start + r
                    if i >= end:
                        clear_start(values, r, n)
                        continue
                    fill_row(
                        columns,
                        i,
                        others,
                        given,
                        i - top,
                        left - left_end,
                        n,
                        source_table,
                        factors,
                        parameters,
                        combinations,
                        shifts,
                        sources,
                        scratch,
                        values,
                        r,
                    )
                    if len(effects):
                        subtract_effects(
                            effect_of, bounded, effects, i, other_effects, n, values, r
                        )
                    clear_start(values, r, min(n, i + 1 - left))
                    for u in range(len(vectors)):
                        own[u, r] = vectors[u, i]
                if len(vectors):
                    cross_rows(values, pairs, own, weights, n, across, down)
                else:
                    add_rows(values, n, across, down)
                    add_products(values, pairs, n, across, down)
                add_across(across, start, min(ROWS, end - start), sums)
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
    sources = np.empty((len(source_table), WIDTH))
    scratch, values = np.empty((1, 1, WIDTH)), np.empty((1, 1, WIDTH))
    near = np.empty((len(rows), WIDTH))
    no_shift = np.zeros(1)
    for left in range(0, rows.shape[1], WIDTH):
        n = min(WIDTH, rows.shape[1] - left)
        copy_run(rows, left, n, near)
        for i in range(others.shape[1]):
            for s in range(len(source_table)):
                first, last = source_table[s, 0], source_table[s, 1]
                squared_distances_along(others, i, near, first, last, n, sources, s)
            evaluate_kernels(
                factors, parameters, combinations, no_shift, n, sources, scratch, values, 0
            )
            for j in range(n):
                out[i, left + j] = values[0, 0, j]


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
    sources = np.empty((len(source_table), WIDTH))
    scratch, values = np.empty((1, 1, WIDTH)), np.empty((1, 1, WIDTH))
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
                first, last = source_table[s, 0], source_table[s, 1]
                squared_distances_along(others, i, near, first, last, n, sources, s)
            evaluate_kernels(
                factors, parameters, combinations, no_shift, n, sources, scratch, values, 0
            )
            for j in range(n):
                out[left + j] += values[0, 0, j]
        for j in range(n):
            out[left + j] /= n_others


@compiled_sum
def _add_paired_products(
    values: FloatArray, products: IntArray, n: int, totals: FloatArray
) -> None:
    """Add up products of the first row of two kernels, and both rows."""
    for p in range(len(products)):
        v, w = products[p, 0], products[p, 1]
        both = first = second = 0.0
        for j in range(n):
            both += values[0, v, j] * values[0, w, j]
            first += values[0, v, j]
            second += values[0, w, j]
        totals[p, 0] += both
        totals[p, 1] += first
        totals[p, 2] += second


@compiled
def add_paired(
    columns: FloatArray,
    source_table: IntArray,
    factors: IntArray,
    parameters: FloatArray,
    combinations: IntArray,
    effect_of: IntArray,
    effects: FloatArray,
    products: IntArray,
    start: int,
    stop: int,
    n_partners: int,
    totals: FloatArray,
) -> None:
    """Add up products of kernels between each of some rows and the rows that follow it.

    No source may be given.

    Parameters
    ----------
    effect_of : ndarray of int, shape (n_kernels,)
        The row of `effects` that is taken off a kernel, ``f_i + f_j``; -1 for none.
    products : ndarray of int, shape (n_products, 2)
        Pairs of kernels.
    totals : ndarray, shape (n_products, 3)
        Takes the sums of the products, of the first kernel and of the second.
    """
    sources = np.empty((len(source_table), WIDTH))
    scratch, values = np.empty((1, 1, WIDTH)), np.empty((1, len(combinations), WIDTH))
    no_shifts = np.zeros(len(combinations))
    for left in range(start, stop, WIDTH):
        n = min(WIDTH, stop - left)
        for t in range(1, n_partners + 1):
            for s in range(len(source_table)):
                first, last = source_table[s, 0], source_table[s, 1]
                for j in range(n):
                    sources[s, j] = 0.0
                for c in range(first, last):
                    for j in range(n):
                        gap = columns[c, left + j] - columns[c, left + t + j]
                        sources[s, j] += gap * gap
            evaluate_kernels(
                factors, parameters, combinations, no_shifts, n, sources, scratch, values, 0
            )
            for v in range(len(combinations)):
                e = effect_of[v]
                if e >= 0:
                    for j in range(n):
                        values[0, v, j] -= effects[e, left + j] + effects[e, left + t + j]
            _add_paired_products(values, products, n, totals)
