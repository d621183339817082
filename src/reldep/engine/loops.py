"""Compiled loops: kernel values and their products in tiles, sums along a line, and a scan.

All loops are in this file, because machine code kept on disk is found by the date of the file of
its function only. Importing this module imports numba; only code that is about to use a loop does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  numba multiplies matrices with it

from reldep.data.variables import FloatArray, IntArray
from reldep.kernels.distances import CANCELLED, FIRST, GAUSSIAN, LAPLACE, ROOT, TIMES, Program
from reldep.system import compile_loop

Loop = TypeVar("Loop", bound="Callable[..., Any]")

# A tile of a few kernels stays in the second-level cache, a row of it in the first.
HEIGHT, WIDTH = 64, 256

# From this many columns on one matrix product is faster than differences (measured).
BY_PRODUCT = 6

# 2^x = 2^n 2^r: adding ROUND leaves n in the lowest bits, from where it is added to the exponent of
# 2^r, a minimax polynomial with a relative error of 2e-16.
ROUND = 1.5 * 2.0**52
TWO = (
    1.0,
    0.6931471805599497,
    0.24022650695908768,
    0.05550410866445883,
    0.00961812910803459,
    0.0013333558228561476,
    0.00015403529961135952,
    1.5252658116561084e-05,
    1.3215662831846807e-06,
    1.0208537904612846e-07,
    7.037279530547556e-09,
)


def compiled(loop: Loop, more: tuple[str, ...] = ()) -> Loop:
    """Compile on first call, keep the machine code on disk, and let other threads run."""
    made = compile_loop(loop, nogil=True, error_model="numpy", fastmath={"contract", *more})
    return cast("Loop", made)


def summing(loop: Loop) -> Loop:
    """Compile a loop whose additions may be reordered."""
    return compiled(loop, ("reassoc",))


@compiled
def exp2(x: float) -> float:
    """Return 2^x for x ≤ 0, vectorised by the compiler; 2^-1021 for anything smaller."""
    x = max(x, -1021.0)
    rounded = x + ROUND
    r = x - (rounded - ROUND)
    s = r * r
    odd = (((TWO[9] * s + TWO[7]) * s + TWO[5]) * s + TWO[3]) * s + TWO[1]
    even = ((((TWO[10] * s + TWO[8]) * s + TWO[6]) * s + TWO[4]) * s + TWO[2]) * s + TWO[0]
    bits = np.float64(odd * r + even).view(np.int64)
    return np.int64(bits + (np.float64(rounded).view(np.int64) << 52)).view(np.float64)


# ------------------------------------------------------------------------------------------- tiles


@compiled
def squared_distances(
    left: FloatArray,
    i0: int,
    height: int,
    others: FloatArray,
    first: int,
    last: int,
    n: int,
    out: FloatArray,
) -> None:
    """Fill out[r, j] with |x_i - x_j|²: by one matrix product, or by differences for few columns.

    Products that cancelled, or that are not numbers, are computed again from differences.
    """
    if last - first < BY_PRODUCT:
        for r in range(height):
            for c in range(first, last):
                x = -0.5 * left[i0 + r, c]
                for j in range(n):
                    before = out[r, j] if c > first else 0.0
                    out[r, j] = before + (x - others[c, j]) ** 2
        return
    product = left[i0 : i0 + height, first : last + 2].copy() @ others[first : last + 2, :n].copy()
    for r in range(height):
        norm, n_cancelled = left[i0 + r, last], 0
        for j in range(n):
            out[r, j] = product[r, j]
            n_cancelled += not product[r, j] >= CANCELLED * (norm + others[last + 1, j])
        for j in range(n if n_cancelled else 0):
            if not product[r, j] >= CANCELLED * (norm + others[last + 1, j]):
                out[r, j] = 0.0
                for c in range(first, last):
                    out[r, j] += (-0.5 * left[i0 + r, c] - others[c, j]) ** 2


@compiled
def join(how: int, before: float, value: float) -> float:
    """Return what a factor makes of the value before it."""
    return value if how == FIRST else before * value if how == TIMES else before + value


@compiled
def apply(
    function: int,
    how: int,
    c: float,
    s: FloatArray,
    own: float,
    others: FloatArray,
    out: FloatArray,
) -> None:
    """Join a function of the squared distances of a row to its values, less f_i + f_j."""
    if function == GAUSSIAN:
        for j in range(len(out)):
            out[j] = join(how, out[j], exp2(c * s[j])) - (own + others[j])
    elif function == LAPLACE:
        for j in range(len(out)):
            out[j] = join(how, out[j], exp2(c * np.sqrt(s[j]))) - (own + others[j])
    elif function == ROOT:
        for j in range(len(out)):
            out[j] = join(how, out[j], c * np.sqrt(s[j])) - (own + others[j])
    else:
        for j in range(len(out)):
            out[j] = join(how, out[j], 1.0 if s[j] == 0 else c) - (own + others[j])


@summing
def add_products(
    values: FloatArray, pairs: IntArray, r: int, across: FloatArray, down: FloatArray
) -> None:
    """Sum products of two kernels along a row and columns; the last row of values is 1."""
    for p in range(len(pairs)):
        first, second, below, total = values[pairs[p, 0]], values[pairs[p, 1]], down[p], 0.0
        for j in range(len(below)):
            product = first[j] * second[j]
            total += product
            below[j] += product
        across[p, r] = total


@compiled
def add_columns(table: FloatArray, n: int, place: int, out: FloatArray) -> None:
    """Add n columns of a table to those of `out` from `place` on."""
    for row in range(len(out)):
        for j in range(n):
            out[row, place + j] += table[row, j]


@compiled
def strip(program: Program, pairs: IntArray, effects: FloatArray, j0: int, out: FloatArray) -> None:
    """Add the sums of the entries above the diagonal in WIDTH columns, and of their mirror images.

    The first sweep sums kernels (pairs with -1, effects 0), the second products of centred kernels.
    Values are computed twice: to keep those of a block saves a fifth of the time and takes 60 MB
    per thread.
    """
    n = min(WIDTH, len(program.left) - j0)
    others, other_effects = program.right[:, j0 : j0 + n].copy(), effects[:, j0 : j0 + n].copy()
    squares = np.empty((len(program.sources), HEIGHT, n))
    values, nothing = np.ones((program.n_kernels + 1, n)), np.zeros(n)
    across, down = np.empty((len(out), HEIGHT)), np.zeros((len(out), n))
    for i0 in range(0, j0 + n, HEIGHT):
        height = min(HEIGHT, j0 + n - i0)
        for source in range(len(squares)):
            first, last = program.sources[source]
            squared_distances(program.left, i0, height, others, first, last, n, squares[source])
        for r in range(height):
            for f in range(len(program.factors)):
                k, source, function, how = program.factors[f]
                is_last = f + 1 == len(program.factors) or program.factors[f + 1, 0] != k
                own, less = (effects[k, i0 + r], other_effects[k]) if is_last else (0.0, nothing)
                apply(function, how, program.scales[f], squares[source, r], own, less, values[k])
            if i0 + r >= j0:
                values[:-1, : i0 + r + 1 - j0] = 0.0
            add_products(values, pairs, r, across, down)
        add_columns(across, height, i0, out)
    add_columns(down, n, j0, out)


# ------------------------------------------------------------------------------------------- lines


@compiled
def along(x: FloatArray, order: IntArray, c: float, weights: FloatArray) -> FloatArray:
    """Return Σ_j≠i f(|x_i - x_j|) w_j with f(t) = 2^(c t), or t for c = 0.

    Recursions run up and down the sorted values.
    """
    n, out = len(x), np.zeros(len(x))
    for down in range(2):
        total = weight = 0.0
        for u in range(1, n):
            i, before = (order[n - 1 - u], order[n - u]) if down else (order[u], order[u - 1])
            gap = abs(x[i] - x[before])
            weight = weights[before] if c else weight + weights[before]
            total = (total + weight) * exp2(c * gap) if c else total + weight * gap
            out[i] += total
    return out


@compiled
def across_cut(
    n: int,
    side: FloatArray,
    far: FloatArray,
    step: FloatArray,
    c: float,
    g: float,
    sums: FloatArray,
    start: int,
) -> None:
    """Add to each point of a run, in the order of y, the sum over the half of x it is not in.

    f(|x_i - x_j|) is far_i P_j + Q_j. Sums of P and Q along y are carried for both halves, up and
    then down; w are the weights so far, for lengths.
    """
    for down in range(2):
        ap = aq = bp = bq = wap = waq = wbp = wbq = 0.0
        for u in range(n):
            t = n - 1 - u if down else u
            s, right = step[t + down], side[t]
            p, q = far[t] if c else 1.0, 0.0 if c else far[t]
            if g:
                ap, aq, bp, bq = ap * s, aq * s, bp * s, bq * s
            else:
                ap, aq, bp, bq = ap + wap * s, aq + waq * s, bp + wbp * s, bq + wbq * s
            sums[start + t] += right * (far[t] * ap + aq) + (1 - right) * (far[t] * bp + bq)
            left = 1 - right
            if g:
                ap, aq, bp, bq = ap + left * p, aq + left * q, bp + right * p, bq + right * q
            else:
                wap, waq = wap + left * p, waq + left * q
                wbp, wbq = wbp + right * p, wbq + right * q


@compiled
def line_products(x: FloatArray, by_x: IntArray, c: float, y: FloatArray, g: float) -> FloatArray:
    """Return Σ_j≠i f(|x_i - x_j|) g(|y_i - y_j|).

    Runs of x are merged into the order of y, and sums are taken across each cut.
    """
    n, width = len(x), 1
    xs, ys, at, sums = x[by_x], y[by_x], np.arange(n), np.zeros(n)
    ys_2, at_2, sums_2 = np.empty(n), np.empty(n, np.int64), np.empty(n)
    side, far, step = np.empty(n), np.empty(n), np.zeros(n + 1)
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j, size = low, middle, high - low
            for t in range(low, high):
                right = i == middle or (j < high and ys[j] < ys[i])
                u = j if right else i
                ys_2[t], at_2[t], sums_2[t], side[t - low] = ys[u], at[u], sums[u], right
                i, j = i + (not right), j + right
            if middle == high:
                continue
            for u in range(size):
                far[u] = abs(xs[at_2[low + u]] - xs[middle])
                step[u] = ys_2[low + u] - ys_2[low + max(u - 1, 0)]
            for u in range(size if c else 0):
                far[u] = exp2(c * far[u])
            for u in range(size if g else 0):
                step[u] = exp2(g * step[u])
            step[size] = 0.0
            across_cut(size, side, far, step, c, g, sums_2, low)
        ys, ys_2, at, at_2, sums, sums_2 = ys_2, ys, at_2, at, sums_2, sums
        width *= 2
    out = np.empty(n)
    for t in range(n):
        out[by_x[at[t]]] = sums[t]
    return out


# -------------------------------------------------------------------------------------------- scan


@summing
def dot(first: FloatArray, second: FloatArray) -> float:
    """Return the sum of products."""
    total = 0.0
    for j in range(len(first)):
        total += first[j] * second[j]
    return total


@compiled
def fill_row(x: FloatArray, i: int, function: int, c: float, out: FloatArray) -> None:
    """Fill the kernel values of observation i with all others; 0 with itself."""
    for j in range(len(x)):
        out[j] = abs(x[i] - x[j])
    if function == LAPLACE:
        for j in range(len(x)):
            out[j] = exp2(c * out[j])
    elif function == GAUSSIAN:
        for j in range(len(x)):
            out[j] = exp2(c * out[j] * out[j])
    else:
        for j in range(len(x)):
            out[j] = -out[j]
    out[i] = 0.0


@compiled
def fill_slope(
    x: FloatArray, i: int, function: int, width: float, row: FloatArray, out: FloatArray
) -> None:
    """Fill ∂K/∂log σ of observation i with all others, from a row of K."""
    for j in range(len(x)):
        away = abs(x[i] - x[j]) / width
        out[j] = (away * away if function == GAUSSIAN else away) * row[j]


@compiled
def scan_columns(
    columns: FloatArray,
    function: int,
    widths: FloatArray,
    fixed: FloatArray,
    slopes: FloatArray,
    is_followed: bool,
    q: FloatArray,
    moved: FloatArray,
    sizes: FloatArray,
) -> None:
    """Multiply the centred matrix of every column by fixed centred matrices and by itself.

    q (columns, fixed + 1, m) takes row sums of products. moved takes the sums that follow
    bandwidths: the slopes of the fixed kernels with the column, then, if the column's own is
    followed, its slope with the fixed ones and with itself. sizes takes root mean squares of
    kernel values.
    """
    m, f, e = columns.shape[1], len(fixed), len(slopes)
    K, slope, effects = np.empty((m, m)), np.empty(m), np.empty(m)
    for s in range(len(columns)):
        x, c = columns[s], -1 / (widths[s] * math.log(2))
        c = 0.5 * c / widths[s] if function == GAUSSIAN else c
        moved[s] = 0.0
        squares = 0.0
        for i in range(m):
            fill_row(x, i, function, c, K[i])
            squares += dot(K[i], K[i])
            effects[i] = K[i].sum() / (m - 2)
        sizes[s] = np.sqrt(squares / (m * (m - 1)))
        half = effects.sum() / (2 * (m - 1))
        for i in range(m):
            if is_followed:
                fill_slope(x, i, function, widths[s], K[i], slope)
            for j in range(m):
                K[i, j] -= effects[i] + effects[j] - 2 * half
            K[i, i] = 0.0
            for t in range(f):
                q[s, t, i] = dot(K[i], fixed[t, i])
            q[s, f, i] = dot(K[i], K[i])
            for t in range(e):
                moved[s, t] += dot(K[i], slopes[t, i])
            if is_followed:
                for t in range(f):
                    moved[s, e + t] += dot(slope, fixed[t, i])
                moved[s, e + f] += dot(slope, K[i])


# ------------------------------------------------------------------------------------ joint draws


@compiled
def raise_leads(drawn: Any, inverse: Any, start: int, stop: int, largest: Any) -> None:
    """Raise largest[a] to max_b |Z_b - Z_a| inverse_ab, in the draws from start to stop."""
    for a in range(len(drawn)):
        for b in range(a + 1, len(drawn)):
            factor = inverse[b, a]
            for c in range(start, stop):
                lead = abs(drawn[b, c] - drawn[a, c]) * factor
                largest[a, c] = max(largest[a, c], lead)
                largest[b, c] = max(largest[b, c], lead)
