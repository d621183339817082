"""Compiled sums along a line: Laplace and distance kernels of one column, in O(m log m).

Importing this module imports numba. ``exp(-t/s)`` and ``t`` are sums of few products of a function
of either end, so that sums over all points to one side follow a recursion of positive numbers:
nothing overflows, nothing cancels, and ties need no care.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.kernels.compiled import compiled, power_of_two_or_zero

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# exp(-t/s), and t; the kernel of a distance is minus this.
DECAY, LENGTH = range(2)

# Runs of so few points are compared directly.
BASE = 16

# The logarithm of e to the base 2.
LOG2_E = 1.4426950408889634


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
def products_along(
    kind_x: int,
    scale_x: float,
    x: FloatArray,
    by_x: IntArray,
    kind_y: int,
    scale_y: float,
    y: FloatArray,
    by_y: IntArray,
    q: FloatArray,
) -> None:
    """Add ``Σ_{j≠i} f(|x_i - x_j|) g(|y_i - y_j|)`` to each q_i, by divide and conquer.

    `by_x` and `by_y` sort the values. Both are of kind DECAY, or y of kind LENGTH. Two halves of a
    run of x are cut at a point c: across the cut, ``|x_i - x_j| = |x_i - c| + |c - x_j|``, so that
    the sum over the other half is one along y. The points go from the largest runs to the smallest
    in the order of y, and take along what has been summed.
    """
    n = len(x)
    place = np.empty(n, np.int64)
    for t in range(n):
        place[by_x[t]] = t
    places, ordered, sums = place[by_y], y[by_y], np.zeros(n)
    next_places, next_ordered, next_sums = np.empty(n, np.int64), np.empty(n), np.empty(n)
    sorted_x = x[by_x]
    is_right, far, step = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    width = BASE
    while width < n:
        width *= 2
    while width > BASE:
        for low in range(0, n, width):
            middle, high = low + width // 2, min(low + width, n)
            if middle < high:
                _look_across(
                    kind_x, scale_x, sorted_x, kind_y, scale_y, places, ordered, low, middle, high,
                    is_right, far, step,
                )  # fmt: skip
                if kind_y == DECAY:
                    _add_decays(low, high, is_right, far, step, sums)
                else:
                    _add_lengths(kind_x, low, high, is_right, far, step, sums)
            _part(low, middle, high, places, ordered, sums, next_places, next_ordered, next_sums)
        places, next_places = next_places, places
        ordered, next_ordered = next_ordered, ordered
        sums, next_sums = next_sums, sums
        width //= 2
    for low in range(0, n, BASE):
        high = min(low + BASE, n)
        _compare_directly(
            kind_x, scale_x, sorted_x, kind_y, scale_y, places, ordered, low, high, far, sums
        )
    for t in range(n):
        q[by_x[places[t]]] += sums[t]


@compiled
def _look_across(
    kind_x: int,
    scale_x: float,
    sorted_x: FloatArray,
    kind_y: int,
    scale_y: float,
    places: IntArray,
    ordered: FloatArray,
    low: int,
    middle: int,
    high: int,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
) -> None:
    """Write on which side of the cut each point lies, how far, and what lies before it along y."""
    cut, c_x, c_y = sorted_x[middle], -LOG2_E / scale_x, -LOG2_E / scale_y
    for t in range(low, high):
        is_right[t] = 1.0 if places[t] >= middle else 0.0
        far[t] = abs(sorted_x[places[t]] - cut)
    step[low] = 0.0
    for t in range(low + 1, high):
        step[t] = ordered[t] - ordered[t - 1]
    # In loops of their own, so that they are vectorised.
    if kind_x == DECAY:
        for t in range(low, high):
            far[t] = power_of_two_or_zero(c_x, far[t], 0.0)
    if kind_y == DECAY:
        for t in range(low, high):
            step[t] = power_of_two_or_zero(c_y, step[t], 0.0)
    step[high] = 0.0


@compiled
def _part(
    low: int,
    middle: int,
    high: int,
    places: IntArray,
    ordered: FloatArray,
    sums: FloatArray,
    next_places: IntArray,
    next_ordered: FloatArray,
    next_sums: FloatArray,
) -> None:
    """Move the points to their half, in the order in which they are."""
    n_right = 0
    for t in range(low, high):
        goes_right = 1 if places[t] >= middle else 0
        # To the next free place on the right, or on the left.
        to = t - n_right + goes_right * (middle - t + 2 * n_right)
        next_places[to], next_ordered[to], next_sums[to] = places[t], ordered[t], sums[t]
        n_right += goes_right


@compiled
def _add_decays(
    low: int,
    high: int,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
    sums: FloatArray,
) -> None:
    """Add to each point of a run the sum over the half that it does not belong to.

    Both kernels decay. Sums along y are carried for the left and the right half, upwards from one
    end and downwards from the other at a time.
    """
    left = right = left_down = right_down = 0.0
    for u in range(high - low):
        t, d = low + u, high - 1 - u
        left *= step[t]
        right *= step[t]
        left_down *= step[d + 1]
        right_down *= step[d + 1]
        sums[t] += far[t] * (is_right[t] * left + (1.0 - is_right[t]) * right)
        sums[d] += far[d] * (is_right[d] * left_down + (1.0 - is_right[d]) * right_down)
        left += (1.0 - is_right[t]) * far[t]
        right += is_right[t] * far[t]
        left_down += (1.0 - is_right[d]) * far[d]
        right_down += is_right[d] * far[d]


@compiled
def _add_lengths(
    kind_x: int,
    low: int,
    high: int,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
    sums: FloatArray,
) -> None:
    """As `_add_decays`, for lengths along y.

    ``f(|x_i - x_j|)`` is the product of both points' `far`, or their sum: ``far_i P + W`` where P
    adds up the other half's `far` and W nothing, or P counts and W adds up. Both are carried near,
    as weights, and along y, times the distance.
    """
    decays = kind_x == DECAY
    # Of the left (l) and the right half (r), P and W, near and along; upwards, then downwards.
    lp = lw = rp = rw = lp_along = lw_along = rp_along = rw_along = 0.0
    lpd = lwd = rpd = rwd = lpd_along = lwd_along = rpd_along = rwd_along = 0.0
    for u in range(high - low):
        t, d = low + u, high - 1 - u
        lp_along += lp * step[t]
        lw_along += lw * step[t]
        rp_along += rp * step[t]
        rw_along += rw * step[t]
        lpd_along += lpd * step[d + 1]
        lwd_along += lwd * step[d + 1]
        rpd_along += rpd * step[d + 1]
        rwd_along += rwd * step[d + 1]
        from_left, from_right = far[t] * lp_along + lw_along, far[t] * rp_along + rw_along
        sums[t] += is_right[t] * from_left + (1.0 - is_right[t]) * from_right
        from_left, from_right = far[d] * lpd_along + lwd_along, far[d] * rpd_along + rwd_along
        sums[d] += is_right[d] * from_left + (1.0 - is_right[d]) * from_right
        p, w = (far[t], 0.0) if decays else (1.0, far[t])
        lp += (1.0 - is_right[t]) * p
        lw += (1.0 - is_right[t]) * w
        rp += is_right[t] * p
        rw += is_right[t] * w
        p, w = (far[d], 0.0) if decays else (1.0, far[d])
        lpd += (1.0 - is_right[d]) * p
        lwd += (1.0 - is_right[d]) * w
        rpd += is_right[d] * p
        rwd += is_right[d] * w


@compiled
def _compare_directly(
    kind_x: int,
    scale_x: float,
    sorted_x: FloatArray,
    kind_y: int,
    scale_y: float,
    places: IntArray,
    ordered: FloatArray,
    low: int,
    high: int,
    values: FloatArray,
    sums: FloatArray,
) -> None:
    """Add the products of all pairs of a few points."""
    c_x, c_y = -LOG2_E / scale_x, -LOG2_E / scale_y
    for a in range(low, high):
        x, y = sorted_x[places[a]], ordered[a]
        for b in range(low, high):
            values[b] = abs(x - sorted_x[places[b]])
        if kind_y == DECAY:
            for b in range(low, high):
                both = c_x * values[b] + c_y * abs(y - ordered[b])
                values[b] = power_of_two_or_zero(1.0, both, 0.0)
        else:
            if kind_x == DECAY:
                for b in range(low, high):
                    values[b] = power_of_two_or_zero(c_x, values[b], 0.0)
            for b in range(low, high):
                values[b] *= abs(y - ordered[b])
        values[a] = 0.0
        total = 0.0
        for b in range(low, high):
            total += values[b]
        sums[a] += total
