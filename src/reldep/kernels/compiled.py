"""Compiled inner loops: squared distances along a row, and vectorised powers of two.

Importing this module imports numba; only code that is about to use a loop does so. The loops
are written so that LLVM turns them into SIMD instructions: contiguous slices, no branches.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from zlib import crc32

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.data.variables import FloatArray, IntArray

# Neighbouring observations that are worked on together: few enough that the rows of a few
# kernels and the sums of the columns stay near, enough that the calls of loops do not show.
WIDTH = 512

# Distances that are compared together; most groups hold none that must be collected.
GROUP = 32

Loop = TypeVar("Loop", bound="Callable[..., Any]")

# Machine code that was kept on disk is found again by the name of its function and the date of
# its file; but it was made of other files too, so their contents become part of the name.
MADE_OF = (
    "kernels/compiled.py",
    "kernels/base.py",
)
SOURCES = [Path(__file__).parents[1] / name for name in MADE_OF]
EDITION = f"{crc32(b''.join(path.read_bytes() for path in SOURCES)):08x}"


def compiled(loop: Loop, fastmath: set[str] | None = None) -> Loop:
    """Compile on first call, keep the machine code on disk, and let other threads run."""
    loop.__qualname__ += f"_{EDITION}"
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath or False}
    try:
        return cast("Loop", njit(cache=True, **options)(loop))
    except RuntimeError:
        # Neither the package's directory nor the user's can be written to, as in many containers.
        return cast("Loop", njit(**options)(loop))


def compiled_sum(loop: Loop) -> Loop:
    """As `compiled`, for a loop that sums: the order of its additions may be changed."""
    return compiled(loop, {"reassoc", "contract"})


@compiled
def copy_run(table: FloatArray, left: int, n: int, out: FloatArray) -> None:
    """Copy n columns of a table, from `left` on."""
    for row in range(len(table)):
        for j in range(n):
            out[row, j] = table[row, left + j]


@compiled
def squared_distances_along(
    points: FloatArray,
    i: int,
    others: FloatArray,
    first: int,
    last: int,
    n: int,
    out: FloatArray,
    s: int,
) -> None:
    """Write the squared distances of point i from n others into row s of `out`.

    `points` and `others` have a row for each column, of which first to last count. Each sum runs
    in the order of the columns and without fused operations, so that the result is that of
    :func:`scipy.spatial.distance.cdist` to the last bit.
    """
    rest = first + 1
    a = points[first, i]
    if (last - first) % 2:
        for j in range(n):
            out[s, j] = (a - others[first, j]) * (a - others[first, j])
    else:
        b = points[rest, i]
        for j in range(n):
            square = (a - others[first, j]) * (a - others[first, j])
            out[s, j] = square + (b - others[rest, j]) * (b - others[rest, j])
        rest += 1
    for t in range(rest, last, 2):
        a, b = points[t, i], points[t + 1, i]
        for j in range(n):
            so_far = out[s, j] + (a - others[t, j]) * (a - others[t, j])
            out[s, j] = so_far + (b - others[t + 1, j]) * (b - others[t + 1, j])


def _same_bits(target: Any, source: Any) -> Any:
    """Make a function that reads the bits of one type as another."""

    # Both run in the compiler, which has nothing to do where machine code is found on disk.
    def typed(typing_context: Any, value: Any) -> Any:  # noqa: ARG001  # pragma: no cover
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return target(source), generate

    return intrinsic(typed)


_bits_of_double = _same_bits(types.int64, types.float64)
_double_of_bits = _same_bits(types.float64, types.int64)
_bits_of_single = _same_bits(types.int32, types.float32)
_single_of_bits = _same_bits(types.float32, types.int32)

# 2^x = 2^n 2^r with n = round(x) and r = x - n. Adding and subtracting ROUND rounds to a whole
# number, and leaves n plus the exponent's bias in the lowest bits of the sum, ready to be
# shifted into an exponent. Reordering ("fast math") would undo this; only fused multiply-adds
# are allowed.
ROUND = 1.5 * 2.0**52 + 1023.0
ROUND_SINGLE = np.float32(1.5 * 2.0**23 + 127.0)

# Below, the result would not be a normal number.
LOWEST = -1022.0
LOWEST_SINGLE = np.float32(-126.0)

# The polynomial of degree 10 with the smallest relative error (2.1e-16) to 2^r on |r| <= 1/2, found
# by the Remez exchange in 60 digits; and one of degree 7 for single precision (1.7e-10), each of
# whose coefficients was rounded before those after it were fitted, so that rounding leaves no bias.
DOUBLE = (
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
SINGLE = tuple(
    np.float32(coefficient)
    for coefficient in (
        1.0,
        0.6931471824645996,
        0.24022650718688965,
        0.05550405755639076,
        0.009618078358471394,
        0.0013337277341634035,
        0.0001545594714116305,
        1.447578688384965e-05,
    )
)


def power_of_two(c: float, s: float, shift: float) -> float:
    """Give 2^(c s) - shift, vectorised in compiled loops; c s must not be below `LOWEST`."""
    return float(2.0 ** (c * s) - shift)


def power_of_two_or_zero(c: float, s: float, shift: float) -> float:
    """Give 2^(c s) - shift, with 0 in place of a power that is not a normal number."""
    return power_of_two(c, s, shift) if c * s > LOWEST else -shift


def _double(c: Any, s: Any, shift: Any) -> Any:  # pragma: no cover (machine code)
    biased = c * s + ROUND
    r = c * s - (biased - ROUND)
    square = r * r
    odd, even = DOUBLE[9] * square + DOUBLE[7], DOUBLE[10] * square + DOUBLE[8]
    odd, even = odd * square + DOUBLE[5], even * square + DOUBLE[6]
    odd, even = odd * square + DOUBLE[3], even * square + DOUBLE[4]
    odd, even = odd * square + DOUBLE[1], even * square + DOUBLE[2]
    mantissa = odd * r + (even * square + DOUBLE[0])
    return mantissa * _double_of_bits(_bits_of_double(biased) << 52) - shift


def _single(c: Any, s: Any, shift: Any) -> Any:  # pragma: no cover (machine code)
    biased = c * s + ROUND_SINGLE
    r = c * s - (biased - ROUND_SINGLE)
    square = r * r
    odd, even = SINGLE[7] * square + SINGLE[5], SINGLE[6] * square + SINGLE[4]
    odd, even = odd * square + SINGLE[3], even * square + SINGLE[2]
    odd = odd * square + SINGLE[1]
    mantissa = odd * r + (even * square + SINGLE[0])
    return mantissa * _single_of_bits(_bits_of_single(biased) << np.int32(23)) - shift


def _double_or_zero(c: Any, s: Any, shift: Any) -> Any:  # pragma: no cover (machine code)
    return power_of_two(c, s, shift) if c * s > LOWEST else -shift


def _single_or_zero(c: Any, s: Any, shift: Any) -> Any:  # pragma: no cover (machine code)
    return power_of_two(c, s, shift) if c * s > LOWEST_SINGLE else -shift


def _compiled_as(function: Any, double: Any, single: Any) -> None:
    """Tell numba what a function becomes in a loop, by the type of its second argument."""

    def chosen(c: Any, s: Any, shift: Any) -> Any:  # noqa: ARG001  # pragma: no cover
        return single if s == types.float32 else double

    overload(function, jit_options={"fastmath": {"contract"}}, strict=False)(chosen)


_compiled_as(power_of_two, _double, _single)
_compiled_as(power_of_two_or_zero, _double_or_zero, _single_or_zero)


@compiled
def add_sparse_products(
    starts: IntArray,
    columns: IntArray,
    values: FloatArray,
    turned_starts: IntArray,
    turned_columns: IntArray,
    turned_values: FloatArray,
    out: FloatArray,
) -> None:
    """Add the dot products of sparse rows; the second matrix comes turned, a row per column."""
    for i in range(len(out)):
        row = out[i]
        for p in range(starts[i], starts[i + 1]):
            word, value = columns[p], values[p]
            for q in range(turned_starts[word], turned_starts[word + 1]):
                row[turned_columns[q]] += value * turned_values[q]


@compiled
def count_and_collect(
    columns: FloatArray,
    start: int,
    step: int,
    low: float,
    high: float,
    counts: IntArray,
    collected: FloatArray,
) -> int:
    """Compare squared distances with a bracket, for the rows start, start + step, ...

    `counts` takes how many lie below low, and how many not above high; `collected` takes those
    between, as long as there is room. The number of these is returned.
    """
    n = columns.shape[1]
    others = np.empty((len(columns), WIDTH))
    squares = np.empty((1, WIDTH))
    groups = squares.reshape((WIDTH // GROUP, GROUP))
    n_collected = 0
    for left in range(0, n, WIDTH):
        width = min(WIDTH, n - left)
        copy_run(columns, left, width, others)
        for i in range(start, left + width - 1, step):
            squared_distances_along(columns, i, others, 0, len(columns), width, squares, 0)
            # No comparison with NaN holds: what is not above the diagonal counts nowhere.
            for j in range(i + 1 - left):
                squares[0, j] = np.nan
            for j in range(width, WIDTH):
                squares[0, j] = np.nan
            n_collected = _compare_groups(groups, low, high, counts, collected, n_collected)
    return n_collected


@compiled
def count_and_collect_boxed(
    columns: FloatArray,
    starts: IntArray,
    lows: FloatArray,
    highs: FloatArray,
    start: int,
    step: int,
    low: float,
    high: float,
    counts: IntArray,
    collected: FloatArray,
) -> int:
    """As `count_and_collect`, for points that lie in boxes: most pairs of boxes need no distance.

    The nearest and the farthest distance between two boxes are rounded as those between points
    are, so that they are bounds of these to the last bit.

    Parameters
    ----------
    starts : ndarray of int, shape (n_boxes + 1,)
        Where the points of each box begin; there are at most WIDTH in one.
    lows, highs : ndarray, shape (n_columns, n_boxes)
        The ends of the boxes.
    """
    n_boxes, n_columns = len(starts) - 1, len(columns)
    others = np.empty((n_columns, WIDTH))
    squares = np.empty((1, WIDTH))
    groups = squares.reshape((WIDTH // GROUP, GROUP))
    n_collected = 0
    for a in range(start, n_boxes, step):
        for b in range(a, n_boxes):
            nearest = farthest = 0.0
            for c in range(n_columns):
                gap = max(lows[c, b] - highs[c, a], lows[c, a] - highs[c, b], 0.0)
                reach = max(highs[c, b] - lows[c, a], highs[c, a] - lows[c, b])
                nearest += gap * gap
                farthest += reach * reach
            if nearest > high:
                continue
            height, width, left = starts[a + 1] - starts[a], starts[b + 1] - starts[b], starts[b]
            if farthest < low:
                n_pairs = width * (width - 1) // 2 if a == b else width * height
                counts[0] += n_pairs
                counts[1] += n_pairs
                continue
            copy_run(columns, left, width, others)
            n_groups = (width + GROUP - 1) // GROUP
            for i in range(starts[a], starts[a + 1]):
                squared_distances_along(columns, i, others, 0, n_columns, width, squares, 0)
                for j in range(i + 1 - left if a == b else 0):
                    squares[0, j] = np.nan
                for j in range(width, n_groups * GROUP):
                    squares[0, j] = np.nan
                n_collected = _compare_groups(
                    groups[:n_groups], low, high, counts, collected, n_collected
                )
    return n_collected


@compiled
def count_and_collect_following(
    columns: FloatArray,
    start: int,
    step: int,
    n_partners: int,
    low: float,
    high: float,
    counts: IntArray,
    collected: FloatArray,
) -> int:
    """As `count_and_collect`, for each row and the `n_partners` rows that follow it."""
    n = columns.shape[1] - n_partners
    others = np.empty((len(columns), WIDTH))
    squares = np.empty((1, WIDTH))
    groups = squares.reshape((WIDTH // GROUP, GROUP))
    n_collected = 0
    for i in range(start, n, step):
        for left in range(i + 1, i + 1 + n_partners, WIDTH):
            width = min(WIDTH, i + 1 + n_partners - left)
            copy_run(columns, left, width, others)
            squared_distances_along(columns, i, others, 0, len(columns), width, squares, 0)
            for j in range(width, WIDTH):
                squares[0, j] = np.nan
            n_collected = _compare_groups(groups, low, high, counts, collected, n_collected)
    return n_collected


@compiled_sum
def _add_roots(squares: FloatArray, n: int, sums: FloatArray) -> None:
    total, total_squares = 0.0, 0.0
    for j in range(n):
        total += np.sqrt(squares[0, j])
        total_squares += squares[0, j]
    sums[0] += total
    sums[1] += total_squares


@compiled
def _take_roots(first: int, n: int, squares: FloatArray, r: int) -> None:
    """Take the square roots of a row, and set those before a column to 0."""
    for j in range(n):
        squares[r, j] = np.sqrt(squares[r, j])
    for j in range(min(first, n)):
        squares[r, j] = 0.0


@compiled_sum
def _add_four_rows(values: FloatArray, n: int, across: FloatArray, down: FloatArray) -> None:
    """Sum each of four rows, and add all to the sums of the columns."""
    t0 = t1 = t2 = t3 = 0.0
    for j in range(n):
        a, b = np.float64(values[0, j]), np.float64(values[1, j])
        c, d = np.float64(values[2, j]), np.float64(values[3, j])
        t0 += a
        t1 += b
        t2 += c
        t3 += d
        down[j] += (a + b) + (c + d)
    across[0], across[1], across[2], across[3] = t0, t1, t2, t3


@compiled
def add_distances(columns: FloatArray, start: int, step: int, sums: FloatArray) -> None:
    """Add the distances between pairs of rows to the sums of both ends.

    The first rows of the pairs are dealt out to threads like cards, four at a time: this one takes
    the groups start, start + step, …
    """
    n = columns.shape[1]
    others = np.empty((len(columns), WIDTH), columns.dtype)
    values = np.empty((4, WIDTH), columns.dtype)
    across, down = np.empty(4), np.empty(WIDTH)
    for left in range(0, n, WIDTH):
        width = min(WIDTH, n - left)
        copy_run(columns, left, width, others)
        down[:] = 0.0
        for i in range(4 * start, left + width - 1, 4 * step):
            for r in range(4):
                row = min(i + r, n - 1)
                squared_distances_along(columns, row, others, 0, len(columns), width, values, r)
                _take_roots(max(0, i + r + 1 - left), width, values, r)
            _add_four_rows(values, width, across, down)
            for r in range(min(4, n - i)):
                sums[i + r] += across[r]
        for j in range(width):
            sums[left + j] += down[j]


@compiled
def sum_distances(
    columns: FloatArray, n: int, start: int, step: int, n_partners: int, sums: FloatArray
) -> None:
    """Add the distances, and their squares, of rows from the `n_partners` rows that follow."""
    others = np.empty((len(columns), WIDTH))
    squares = np.empty((1, WIDTH))
    for i in range(start, n, step):
        end = i + 1 + n_partners
        for left in range(i + 1, end, WIDTH):
            width = min(WIDTH, end - left)
            copy_run(columns, left, width, others)
            squared_distances_along(columns, i, others, 0, len(columns), width, squares, 0)
            _add_roots(squares, width, sums)


@compiled
def count_up_to(values: FloatArray, limit: float) -> int:
    """Count the pairs of sorted values that are at most `limit` apart."""
    total, i = 0, 0
    for j in range(len(values)):
        while values[j] - values[i] > limit:
            i += 1
        total += j - i
    return total


@compiled
def next_distance(values: FloatArray, limit: float) -> float:
    """Find the smallest distance between sorted values that is above `limit`."""
    best, i = np.inf, 0
    for j in range(len(values)):
        while values[j] - values[i] > limit:
            i += 1
        if i and values[j] - values[i - 1] > limit:
            best = min(best, values[j] - values[i - 1])
    return best


@compiled
def _compare_groups(
    groups: FloatArray,
    low: float,
    high: float,
    counts: IntArray,
    collected: FloatArray,
    n_collected: int,
) -> int:
    # The length comes from the array: a loop of known length would be unrolled, not vectorised.
    n_groups, length = groups.shape
    for g in range(n_groups):
        below, up_to_high = 0, 0
        for j in range(length):
            below += groups[g, j] < low
            up_to_high += groups[g, j] <= high
        counts[0] += below
        counts[1] += up_to_high
        if up_to_high > below and n_collected + length <= len(collected):
            for j in range(length):
                collected[n_collected] = groups[g, j]
                n_collected += (low <= groups[g, j]) & (groups[g, j] <= high)
    return n_collected
