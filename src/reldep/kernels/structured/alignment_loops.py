"""Compiled loops of the global alignment kernel; importing this module imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from reldep.kernels.structured.series import STEPS_BETWEEN_SCALES
from reldep.system import compile_loop

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Return a loop compiled on first call; the machine code is cached where that is possible."""
    return cast("Loop", compile_loop(loop, nogil=True))


@compiled
def fill_log_alignments(
    points: FloatArray,
    turned: FloatArray,
    starts: IntArray,
    first: IntArray,
    second: IntArray,
    symmetric: bool,
    c: float,
    out: FloatArray,
) -> None:
    """Fill the block between two selections of series."""
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    sums = np.zeros((3, longest + 2))
    weights = np.empty(longest + 2)
    for i in range(out.shape[0]):
        x, x_end = starts[first[i]], starts[first[i] + 1]
        for j in range(i if symmetric else 0, out.shape[1]):
            y, y_end = starts[second[j]], starts[second[j] + 1]
            out[i, j] = log_alignment(points, x, x_end, turned, y, y_end, c, sums, weights)
            if symmetric:
                out[j, i] = out[i, j]


@compiled
def log_alignment(
    points: FloatArray,
    x: int,
    x_end: int,
    turned: FloatArray,
    y: int,
    y_end: int,
    c: float,
    sums: FloatArray,
    weights: FloatArray,
) -> float:
    """Return the logarithm of the sum over all alignments of two series.

    Cell (i, k - i) of anti-diagonal k stands at place i + 1 of its buffer; places next to
    existing cells are 0.
    """
    n, m = x_end - x, y_end - y
    sums[:, : n + 2] = 0.0
    before, last, new = sums[0], sums[1], sums[2]
    before[0] = 1.0
    log_scale = 0.0
    for k in range(n + m - 1):
        low, high = max(0, k - m + 1), min(n, k + 1)
        local_weights(points, x + low, turned, y_end - 1 - k + low, high - low, c, weights)
        add_up(before, last, weights, low, high - low, new)
        before[0] = 0.0
        # A later anti-diagonal looks one place beyond either end.
        new[low] = 0.0
        new[high + 1] = 0.0
        before, last, new = last, new, before
        if k % STEPS_BETWEEN_SCALES == STEPS_BETWEEN_SCALES - 1:
            size = max(np.max(last[: n + 1]), np.max(before[: n + 1]))
            if size > 0.0:
                for i in range(n + 2):
                    last[i] /= size
                    before[i] /= size
                log_scale += np.log(size)
    return log_scale + np.log(last[n]) if last[n] > 0.0 else -np.inf


@compiled
def add_up(
    before: FloatArray, last: FloatArray, weights: FloatArray, low: int, width: int, new: FloatArray
) -> None:
    """Add up the three cells that lead to each cell of an anti-diagonal."""
    for p in range(width):
        new[low + p + 1] = weights[p] * (last[low + p] + last[low + p + 1] + before[low + p])


@compiled
def local_weights(
    points: FloatArray, x: int, turned: FloatArray, y: int, width: int, c: float, out: FloatArray
) -> None:
    """Write κ / (2 - κ) with κ = exp(c |x - y|²) for points that stand opposite each other."""
    for p in range(width):
        out[p] = (points[0, x + p] - turned[0, y + p]) * (points[0, x + p] - turned[0, y + p])
    for row in range(1, len(points)):
        for p in range(width):
            gap = points[row, x + p] - turned[row, y + p]
            out[p] += gap * gap
    for p in range(width):
        near = np.exp(c * out[p])
        out[p] = near / (2.0 - near)
