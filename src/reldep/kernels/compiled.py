"""Compiled inner loops: squared distances along a row, and a vectorised exponential.

Importing this module imports numba; only code that is about to use a loop does so. The loops
are written so that LLVM turns them into SIMD instructions: contiguous slices, no branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep._variables import FloatArray, IntArray

# Neighbouring observations that are worked on together, so that the rows of a few kernels and
# the sums of the columns stay in the first-level cache.
WIDTH = 256

Loop = TypeVar("Loop", bound="Callable[..., Any]")


def compiled(loop: Loop) -> Loop:
    """Compile on first call, keep the machine code on disk, and let other threads run."""
    return cast("Loop", njit(nogil=True, cache=True)(loop))


def compiled_sum(loop: Loop) -> Loop:
    """As `compiled`, for a loop that sums: the order of its additions may be changed."""
    return cast("Loop", njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})(loop))


@compiled
def copy_run(table: FloatArray, left: int, n: int, out: FloatArray) -> None:
    """Copy n columns of a table, from `left` on."""
    for row in range(len(table)):
        for j in range(n):
            out[row, j] = table[row, left + j]


@compiled
def squared_distances_along(
    point: FloatArray,
    others: FloatArray,
    first: int,
    last: int,
    n: int,
    out: FloatArray,
    s: int,
) -> None:
    """Write the squared distances of a point from n others into row s of `out`.

    `others` has a row for each column, of which first to last count. Each sum runs in the
    order of the columns and without fused operations, so that the result is that of
    :func:`scipy.spatial.distance.cdist` to the last bit.
    """
    rest = first + 1
    a = point[first]
    if (last - first) % 2:
        for j in range(n):
            out[s, j] = (a - others[first, j]) * (a - others[first, j])
    else:
        b = point[rest]
        for j in range(n):
            square = (a - others[first, j]) * (a - others[first, j])
            out[s, j] = square + (b - others[rest, j]) * (b - others[rest, j])
        rest += 1
    for t in range(rest, last, 2):
        a, b = point[t], point[t + 1]
        for j in range(n):
            so_far = out[s, j] + (a - others[t, j]) * (a - others[t, j])
            out[s, j] = so_far + (b - others[t + 1, j]) * (b - others[t + 1, j])


def _same_bits(target: Any, source: Any) -> Any:
    """Make a function that reads the bits of one type as another."""

    def typed(typing_context: Any, value: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return target(source), generate

    return intrinsic(typed)


_bits_of_double = _same_bits(types.int64, types.float64)
_double_of_bits = _same_bits(types.float64, types.int64)
_bits_of_single = _same_bits(types.int32, types.float32)
_single_of_bits = _same_bits(types.float32, types.int32)

# exp(x) = 2^n exp(r) with n = round(x / log 2) and r = x - n log 2. Adding and subtracting
# ROUND rounds to a whole number, and leaves n plus the exponent's bias in the lowest bits of
# the sum, ready to be shifted into an exponent. log 2 is split in two so that n times the
# first part is exact (Cody and Waite 1980). Reordering ("fast math") would undo all of this;
# only fused multiply-adds are allowed.
ROUND = 1.5 * 2.0**52 + 1023.0
PER_LOG_2 = 1.4426950408889634
LOG_2_HIGH = 6.93147180369123816490e-01
LOG_2_LOW = 1.90821492927058770002e-10
# Below, the result would not be a normal number, and 0 is taken for it.
LOWEST = -708.39

ROUND_SINGLE = np.float32(1.5 * 2.0**23 + 127.0)
PER_LOG_2_SINGLE = np.float32(1.4426950408889634)
LOG_2_HIGH_SINGLE = np.float32(0.693359375)
LOG_2_LOW_SINGLE = np.float32(-2.12194440e-4)
LOWEST_SINGLE = np.float32(-87.33)

# The polynomials of degree 10 and 6 with the smallest relative error (2.1e-16, 1.9e-9) to exp
# on |r| <= log(2) / 2, found by the Remez exchange in 60 digits.
DOUBLE = (
    1.0,
    1.0000000000000064,
    0.49999999999997286,
    0.16666666666557742,
    0.04166666666842599,
    0.008333333384665919,
    0.0013888888499143963,
    0.00019841171384030748,
    2.480191768147789e-05,
    2.7639768347679753e-06,
    2.7488446056441756e-07,
)
SINGLE = tuple(
    np.float32(coefficient)
    for coefficient in (
        1.0000000005541692,
        1.0000000363233097,
        0.49999992079793015,
        0.1666642016929155,
        0.04166822557231564,
        0.008374815860676692,
        0.0013836846032979765,
    )
)


def exponential(x: float, shift: float) -> float:
    """Give exp(x) - shift, vectorised where compiled code calls it in a loop."""
    return float(np.exp(x) - shift)


def _exponential_double(x: float, shift: float) -> float:  # pragma: no cover (machine code)
    biased = x * PER_LOG_2 + ROUND
    n = biased - ROUND
    r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW
    square = r * r
    low = (DOUBLE[3] * r + DOUBLE[2]) * square + (DOUBLE[1] * r + DOUBLE[0])
    middle = (DOUBLE[7] * r + DOUBLE[6]) * square + (DOUBLE[5] * r + DOUBLE[4])
    high = DOUBLE[10] * square + (DOUBLE[9] * r + DOUBLE[8])
    fourth = square * square
    mantissa = (high * fourth + middle) * fourth + low
    value = mantissa * _double_of_bits(_bits_of_double(biased) << 52) - shift
    return value if x > LOWEST else -shift


def _exponential_single(x: float, shift: float) -> float:  # pragma: no cover (machine code)
    biased = x * PER_LOG_2_SINGLE + ROUND_SINGLE
    n = biased - ROUND_SINGLE
    r = (x - n * LOG_2_HIGH_SINGLE) - n * LOG_2_LOW_SINGLE
    square = r * r
    low = (SINGLE[3] * r + SINGLE[2]) * square + (SINGLE[1] * r + SINGLE[0])
    high = SINGLE[6] * square + (SINGLE[5] * r + SINGLE[4])
    mantissa = high * (square * square) + low
    value = mantissa * _single_of_bits(_bits_of_single(biased) << np.int32(23)) - shift
    return value if x > LOWEST_SINGLE else -shift


def _by_precision(x: Any, shift: Any) -> Any:  # noqa: ARG001
    return _exponential_single if x == types.float32 else _exponential_double


overload(exponential, jit_options={"fastmath": {"contract"}}, strict=False)(_by_precision)


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

    `counts` takes how many lie below low, not above low, below high and not above high;
    `collected` takes values strictly between, as long as there is room. Their number is
    returned.
    """
    n = columns.shape[1]
    others = np.empty((len(columns), WIDTH))
    squares = np.empty((1, WIDTH))
    n_collected = 0
    for left in range(0, n, WIDTH):
        width = min(WIDTH, n - left)
        copy_run(columns, left, width, others)
        for i in range(start, left + width - 1, step):
            squared_distances_along(columns[:, i], others, 0, len(columns), width, squares, 0)
            # No comparison with NaN holds: what is not above the diagonal counts nowhere.
            for j in range(i + 1 - left):
                squares[0, j] = np.nan
            n_inside = _count_along(squares, width, low, high, counts)
            if n_inside and n_collected + width <= len(collected):
                for j in range(width):
                    collected[n_collected] = squares[0, j]
                    n_collected += (low < squares[0, j]) & (squares[0, j] < high)
    return n_collected


@compiled
def _count_along(squares: FloatArray, width: int, low: float, high: float, counts: IntArray) -> int:
    below, up_to_low, below_high, up_to_high = 0, 0, 0, 0
    for j in range(width):
        below += squares[0, j] < low
        up_to_low += squares[0, j] <= low
        below_high += squares[0, j] < high
        up_to_high += squares[0, j] <= high
    counts[0] += below
    counts[1] += up_to_low
    counts[2] += below_high
    counts[3] += up_to_high
    return below_high - up_to_low
