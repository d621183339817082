"""Compiled loops of the global alignment kernel; importing this module imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from reldep.system import compile_loop

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

Loop = TypeVar("Loop", bound=Callable[..., Any])

# Anti-diagonals between two checks of the scale; each multiplies sums by at most 3, so that 16 of
# them cannot overflow.
STEPS_BETWEEN_SCALES = 16


def compiled(loop: Loop) -> Loop:
    """Return a loop compiled on first call; the machine code is cached where that is possible."""
    return cast("Loop", compile_loop(loop, nogil=True))


@compiled
def fill_log_alignments(
    points: FloatArray,
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
    for i in range(out.shape[0]):
        x = points[:, starts[first[i]] : starts[first[i] + 1]]
        for j in range(i if symmetric else 0, out.shape[1]):
            y = points[:, starts[second[j]] : starts[second[j] + 1]]
            out[i, j] = log_alignment(x, y, c, sums)
            if symmetric:
                out[j, i] = out[i, j]


@compiled
def log_alignment(x: FloatArray, y: FloatArray, c: float, sums: FloatArray) -> float:
    """Return the logarithm of the sum over all alignments of two series.

    Cell (i, k - i) of anti-diagonal k stands at place i + 1 of its buffer and is κ / (2 - κ) times
    the sum of the three cells that lead to it, with κ = exp(c |x_i - y_(k-i)|²); places next to
    existing cells are 0.
    """
    n, m = x.shape[1], y.shape[1]
    sums[:, : n + 2] = 0.0
    before, last, new = sums[0], sums[1], sums[2]
    before[0] = 1.0
    log_scale = 0.0
    for k in range(n + m - 1):
        low, high = max(0, k - m + 1), min(n, k + 1)
        for i in range(low, high):
            squared = 0.0
            for row in range(len(x)):
                gap = x[row, i] - y[row, k - i]
                squared += gap * gap
            near = np.exp(c * squared)
            new[i + 1] = near / (2.0 - near) * (last[i] + last[i + 1] + before[i])
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
