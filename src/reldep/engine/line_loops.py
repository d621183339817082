"""Compiled sums along a line: Laplace and distance kernels of one column, in O(m log m).

Importing this module imports numba. ``exp(-t/s)`` and ``t`` are sums of few products of a function
of either end, so that sums over all points to one side follow a recursion of positive numbers:
nothing overflows, nothing cancels, and ties need no care.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from reldep.data.variables import FloatArray, IntArray

# exp(-t/s), and t; the kernel of a distance is minus this.
DECAY, LENGTH = range(2)

# Runs of so few points are compared directly.
BASE = 32


@compiled
def steps_along(kind: int, scale: float, ordered: FloatArray, steps: FloatArray) -> None:
    """Write what lies between each point and the one before it: a decay, or a gap."""
    steps[0] = 0.0
    for t in range(1, len(ordered)):
        gap = ordered[t] - ordered[t - 1]
        steps[t] = np.exp(-gap / scale) if kind == DECAY else gap


@compiled
def add_along(
    kind: int, steps: FloatArray, order: IntArray, weights: FloatArray, out: FloatArray
) -> None:
    """Add ``Σ_{j≠i} f(|x_i - x_j|) w_j`` to each entry i; `order` sorts the points."""
    n = len(order)
    near = far = 0.0
    for t in range(1, n):
        near += weights[order[t - 1]]
        if kind == DECAY:
            near *= steps[t]
            out[order[t]] += near
        else:
            far += near * steps[t]
            out[order[t]] += far
    near = far = 0.0
    for t in range(n - 2, -1, -1):
        near += weights[order[t + 1]]
        if kind == DECAY:
            near *= steps[t + 1]
            out[order[t]] += near
        else:
            far += near * steps[t + 1]
            out[order[t]] += far


@compiled
def dots_forward(
    kind: int,
    steps: FloatArray,
    features: FloatArray,
    near: FloatArray,
    far: FloatArray,
    out: FloatArray,
) -> None:
    """Add ``φ_i' Σ_{j<i} f(x_i - x_j) φ_j`` along a run of points in order.

    `near` and `far` carry the sums from run to run: those over all points before the run, as seen
    from the last of them.
    """
    n, width = features.shape
    for t in range(n):
        step, total = steps[t], 0.0
        row = features[t]
        if kind == DECAY:
            for c in range(width):
                near[c] *= step
                total += near[c] * row[c]
                near[c] += row[c]
        else:
            for c in range(width):
                far[c] += near[c] * step
                total += far[c] * row[c]
                near[c] += row[c]
        out[t] += total


@compiled
def _profile(kind: int, scale: float, gap: float) -> float:
    return np.exp(-gap / scale) if kind == DECAY else gap


@compiled
def products_along(
    kind_x: int,
    scale_x: float,
    x: FloatArray,
    kind_y: int,
    scale_y: float,
    y: FloatArray,
    order: IntArray,
    q: FloatArray,
) -> None:
    """Add ``Σ_{j≠i} f(|x_i - x_j|) g(|y_i - y_j|)`` to each q_i, by divide and conquer.

    `order` sorts x. Two halves of a run of x are cut at a point c: across the cut,
    ``|x_i - x_j| = |x_i - c| + |c - x_j|``, so that the sum over the other half is one along y.
    """
    n = len(x)
    by_y, merged = order.copy(), np.empty(n, np.int64)
    is_right, far, step = np.empty(n, np.bool_), np.empty(n), np.empty(n)
    for low in range(0, n, BASE):
        _compare_directly(kind_x, scale_x, x, kind_y, scale_y, y, order, low, min(low + BASE, n), q)
        _sort_by(y, by_y, low, min(low + BASE, n))
    width = BASE
    while width < n:
        for low in range(0, n - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, n)
            cut = x[order[middle]]
            a, b = low, middle
            for t in range(low, high):
                if b >= high or (a < middle and y[by_y[a]] <= y[by_y[b]]):
                    merged[t], is_right[t] = by_y[a], False
                    a += 1
                else:
                    merged[t], is_right[t] = by_y[b], True
                    b += 1
                far[t] = _profile(kind_x, scale_x, abs(x[merged[t]] - cut))
                if t > low:
                    step[t] = _profile(kind_y, scale_y, y[merged[t]] - y[merged[t - 1]])
            _add_across(kind_x, kind_y, low, high, merged, is_right, far, step, q)
            for t in range(low, high):
                by_y[t] = merged[t]
        width *= 2


@compiled
def _compare_directly(
    kind_x: int,
    scale_x: float,
    x: FloatArray,
    kind_y: int,
    scale_y: float,
    y: FloatArray,
    order: IntArray,
    low: int,
    high: int,
    q: FloatArray,
) -> None:
    for a in range(low, high):
        i = order[a]
        for b in range(a + 1, high):
            j = order[b]
            value = _profile(kind_x, scale_x, abs(x[i] - x[j]))
            value *= _profile(kind_y, scale_y, abs(y[i] - y[j]))
            q[i] += value
            q[j] += value


@compiled
def _sort_by(y: FloatArray, order: IntArray, low: int, high: int) -> None:
    for a in range(low + 1, high):
        i = order[a]
        b = a - 1
        while b >= low and y[order[b]] > y[i]:
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = i


@compiled
def _add_across(
    kind_x: int,
    kind_y: int,
    low: int,
    high: int,
    merged: IntArray,
    is_right: npt.NDArray[np.bool_],
    far: FloatArray,
    step: FloatArray,
    q: FloatArray,
) -> None:
    """Add to each point of a run the sum over the half that it does not belong to.

    The sums along y are carried for both halves (first index), with weight |x - c| or its decay
    and with weight 1 (second index), near and far (third).
    """
    sums = np.zeros((2, 2, 2))
    last = 0 if kind_y == DECAY else 1
    for direction in range(2):
        sums[:] = 0.0
        for u in range(high - low):
            t = low + u if direction == 0 else high - 1 - u
            if u:
                e = step[t] if direction == 0 else step[t + 1]
                for half in range(2):
                    for weight in range(2):
                        if kind_y == DECAY:
                            sums[half, weight, 0] *= e
                        else:
                            sums[half, weight, 1] += sums[half, weight, 0] * e
            own = 1 if is_right[t] else 0
            weighted, plain = sums[1 - own, 0, last], sums[1 - own, 1, last]
            q[merged[t]] += far[t] * weighted if kind_x == DECAY else far[t] * plain + weighted
            sums[own, 0, 0] += far[t]
            sums[own, 1, 0] += 1.0
