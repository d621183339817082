"""Compiled sums along a line: Laplace and distance kernels of one column, in O(m log m).

Importing this module imports numba. ``exp(-t/s)`` and ``t`` are sums of few products of a function
of either end, so that sums over all points to one side follow a recursion of positive numbers:
nothing overflows, nothing cancels, and ties need no care.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reldep.kernels.compiled import compiled, power_of_two_or_zero

if TYPE_CHECKING:
    import numpy.typing as npt

    from reldep.data.variables import FloatArray, IntArray

    Places: TypeAlias = npt.NDArray[np.int32]

# exp(-t/s), and t; the kernel of a distance is minus this.
DECAY, LENGTH = range(2)

# Runs of so few points are compared directly; those of so many stay in the cache.
BASE = 16
CACHED = 4_096

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
    in the order of y, and take along what has been summed; depth first, so that the parts of a run
    are worked on while it is in the cache.
    """
    n = len(x)
    place = np.empty(n, np.int32)
    for t in range(n):
        place[by_x[t]] = t
    sorted_x = x[by_x]
    places, ordered, sums = place[by_y], y[by_y], np.zeros(n)
    next_places, next_ordered, next_sums = np.empty(n, np.int32), np.empty(n), np.empty(n)
    width = BASE
    while width < n:
        width *= 2
    is_right, far, step = np.empty(width), np.empty(width), np.empty(width + 1)
    # Runs that wait: where they start, how long they are, and how often they were halved.
    waiting = np.empty((64, 3), np.int64)
    waiting[0], n_waiting = (0, width, 0), 1
    while n_waiting:
        n_waiting -= 1
        low, width, depth = waiting[n_waiting]
        if width <= CACHED:
            if depth % 2:
                _finish_run(
                    kind_x, scale_x, sorted_x, kind_y, scale_y, low, min(low + width, n), width,
                    next_places, next_ordered, next_sums, places, ordered, sums,
                    is_right, far, step, by_x, q,
                )  # fmt: skip
            else:
                _finish_run(
                    kind_x, scale_x, sorted_x, kind_y, scale_y, low, min(low + width, n), width,
                    places, ordered, sums, next_places, next_ordered, next_sums,
                    is_right, far, step, by_x, q,
                )  # fmt: skip
            continue
        if depth % 2:
            _halve_runs(
                kind_x, scale_x, sorted_x, kind_y, scale_y, low, min(low + width, n), width,
                next_places, next_ordered, next_sums, places, ordered, sums, is_right, far, step,
            )  # fmt: skip
        else:
            _halve_runs(
                kind_x, scale_x, sorted_x, kind_y, scale_y, low, min(low + width, n), width,
                places, ordered, sums, next_places, next_ordered, next_sums, is_right, far, step,
            )  # fmt: skip
        half = width // 2
        if low + half < n:
            waiting[n_waiting] = low + half, half, depth + 1
            n_waiting += 1
        waiting[n_waiting] = low, half, depth + 1
        n_waiting += 1


@compiled
def _finish_run(
    kind_x: int,
    scale_x: float,
    sorted_x: FloatArray,
    kind_y: int,
    scale_y: float,
    start: int,
    stop: int,
    width: int,
    places: Places,
    ordered: FloatArray,
    sums: FloatArray,
    next_places: Places,
    next_ordered: FloatArray,
    next_sums: FloatArray,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
    by_x: IntArray,
    q: FloatArray,
) -> None:
    """Work on a run that stays in the cache, down to its smallest parts."""
    while width > BASE:
        _halve_runs(
            kind_x, scale_x, sorted_x, kind_y, scale_y, start, stop, width,
            places, ordered, sums, next_places, next_ordered, next_sums, is_right, far, step,
        )  # fmt: skip
        places, next_places = next_places, places
        ordered, next_ordered = next_ordered, ordered
        sums, next_sums = next_sums, sums
        width //= 2
    near_x, across, along = np.empty(BASE), np.empty(BASE**2), np.empty(BASE**2)
    for low in range(start, stop, BASE):
        _compare_directly(
            kind_x, scale_x, sorted_x, kind_y, scale_y, places, ordered, low,
            min(low + BASE, stop), near_x, across, along, sums,
        )  # fmt: skip
    for t in range(start, stop):
        q[by_x[places[t]]] += sums[t]


@compiled
def _halve_runs(
    kind_x: int,
    scale_x: float,
    sorted_x: FloatArray,
    kind_y: int,
    scale_y: float,
    start: int,
    stop: int,
    width: int,
    places: Places,
    ordered: FloatArray,
    sums: FloatArray,
    next_places: Places,
    next_ordered: FloatArray,
    next_sums: FloatArray,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
) -> None:
    """Sum across the cuts of all runs of a width, and move the points to their halves."""
    for low in range(start, stop, width):
        middle, high = low + width // 2, min(low + width, stop)
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


@compiled
def _look_across(
    kind_x: int,
    scale_x: float,
    sorted_x: FloatArray,
    kind_y: int,
    scale_y: float,
    places: Places,
    ordered: FloatArray,
    low: int,
    middle: int,
    high: int,
    is_right: FloatArray,
    far: FloatArray,
    step: FloatArray,
) -> None:
    """Write on which side of the cut each point lies, how far, and what lies before it along y.

    From the first entry on, which stays in the cache from run to run.
    """
    cut, c_x, c_y = sorted_x[middle], -LOG2_E / scale_x, -LOG2_E / scale_y
    n = high - low
    for u in range(n):
        is_right[u] = 1.0 if places[low + u] >= middle else 0.0
        far[u] = abs(sorted_x[places[low + u]] - cut)
    step[0] = 0.0
    for u in range(1, n):
        step[u] = ordered[low + u] - ordered[low + u - 1]
    # In loops of their own, so that they are vectorised.
    if kind_x == DECAY:
        for u in range(n):
            far[u] = power_of_two_or_zero(c_x, far[u], 0.0)
    if kind_y == DECAY:
        for u in range(n):
            step[u] = power_of_two_or_zero(c_y, step[u], 0.0)
    step[n] = 0.0


@compiled
def _part(
    low: int,
    middle: int,
    high: int,
    places: Places,
    ordered: FloatArray,
    sums: FloatArray,
    next_places: Places,
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
    n = high - low
    for u in range(n):
        d = n - 1 - u
        left *= step[u]
        right *= step[u]
        left_down *= step[d + 1]
        right_down *= step[d + 1]
        sums[low + u] += far[u] * (is_right[u] * left + (1.0 - is_right[u]) * right)
        sums[low + d] += far[d] * (is_right[d] * left_down + (1.0 - is_right[d]) * right_down)
        left += (1.0 - is_right[u]) * far[u]
        right += is_right[u] * far[u]
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
    n = high - low
    for u in range(n):
        d = n - 1 - u
        lp_along += lp * step[u]
        lw_along += lw * step[u]
        rp_along += rp * step[u]
        rw_along += rw * step[u]
        lpd_along += lpd * step[d + 1]
        lwd_along += lwd * step[d + 1]
        rpd_along += rpd * step[d + 1]
        rwd_along += rwd * step[d + 1]
        from_left, from_right = far[u] * lp_along + lw_along, far[u] * rp_along + rw_along
        sums[low + u] += is_right[u] * from_left + (1.0 - is_right[u]) * from_right
        from_left, from_right = far[d] * lpd_along + lwd_along, far[d] * rpd_along + rwd_along
        sums[low + d] += is_right[d] * from_left + (1.0 - is_right[d]) * from_right
        p, w = (far[u], 0.0) if decays else (1.0, far[u])
        lp += (1.0 - is_right[u]) * p
        lw += (1.0 - is_right[u]) * w
        rp += is_right[u] * p
        rw += is_right[u] * w
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
    places: Places,
    ordered: FloatArray,
    low: int,
    high: int,
    near_x: FloatArray,
    across: FloatArray,
    along: FloatArray,
    sums: FloatArray,
) -> None:
    """Add the products of all pairs of a few points, each pair once."""
    n, k = high - low, 0
    for a in range(n):
        near_x[a] = sorted_x[places[low + a]]
    for a in range(n):
        for b in range(a + 1, n):
            across[k] = abs(near_x[a] - near_x[b])
            along[k] = ordered[low + b] - ordered[low + a]
            k += 1
    # One long loop for all powers, so that it is vectorised.
    _multiply_pairs(kind_x, scale_x, kind_y, scale_y, k, across, along)
    k = 0
    for a in range(n):
        for b in range(a + 1, n):
            sums[low + a] += across[k]
            sums[low + b] += across[k]
            k += 1


@compiled
def _multiply_pairs(
    kind_x: int,
    scale_x: float,
    kind_y: int,
    scale_y: float,
    n: int,
    across: FloatArray,
    along: FloatArray,
) -> None:
    """Write the products of the kernels at n pairs of distances in place of the first."""
    c_x, c_y = -LOG2_E / scale_x, -LOG2_E / scale_y
    if kind_y == DECAY:
        for k in range(n):
            across[k] = power_of_two_or_zero(1.0, c_x * across[k] + c_y * along[k], 0.0)
        return
    if kind_x == DECAY:
        for k in range(n):
            across[k] = power_of_two_or_zero(c_x, across[k], 0.0)
    for k in range(n):
        across[k] *= along[k]
