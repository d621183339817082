"""The HSIC of a pair after one of its variables has been shuffled, many times over."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.dense import shifted
from reldep.engine.near_linear.lowrank import LowRank
from reldep.engine.planner import select_engine
from reldep.engine.terms import Terms, Wanted, hsic
from reldep.engine.threads import single_threaded_blas
from reldep.system import available_cores, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.near_linear.feature_rows import FeatureMap
    from reldep.kernels.base import FittedKernel

# Two matrices of this size take 256 MB; beyond it the kernels are evaluated anew.
IN_MEMORY = 4096

# Rows of the shuffled matrix that are gathered at a time.
ROWS = 128

# Under permutations an HSIC is compared with others like it: fewer digits do, of fewer features.
SHUFFLED_TOLERANCE = 1e-8
MOST_FEATURES = 500

# Shuffled kernels that share one evaluation of the other kernel.
GROUP = 8


def shuffled_hsics(
    first: FittedKernel,
    second: FittedKernel,
    shuffle: Callable[[IntArray], FittedKernel],
    orders: Iterator[IntArray],
    engine: Any,
) -> FloatArray:
    """Compute the HSIC of `first` with `second` in every order of its observations.

    Parameters
    ----------
    first, second : FittedKernel
    shuffle : callable
        Gives `second` with its observations in another order.
    orders : iterator of ndarray of int
        Permutations; one at a time is held.
    engine : str or Engine
        Used where the matrices would be too large: ``"auto"`` and ``"lowrank"`` shuffle features
        or sorted lines if both kernels have them; any other makes one sweep a permutation.
    """
    if len(first) <= IN_MEMORY:
        return _in_memory(first, second, orders)
    if isinstance(engine, LowRank) or engine in ("auto", "lowrank"):
        found = _near_linear(first, second, orders)
        if found is not None:
            return found
    return _with_engine(first, shuffle, orders, engine)


def _near_linear(
    first: FittedKernel, second: FittedKernel, orders: Iterator[IntArray]
) -> FloatArray | None:
    """Shuffle features in O(m r²) or lines in O(m log m); None where there are none of a kind."""
    lines, maps = LowRank(SHUFFLED_TOLERANCE).represented({"x": first, "y": second})
    total: Callable[[IntArray], tuple[float, FloatArray, FloatArray]]
    if len(lines) == 2:
        fixed, moved = lines["x"], lines["y"]

        def total(order: IntArray) -> tuple[float, FloatArray, FloatArray]:
            there = moved.taken(order)
            return float(fixed.products(there).sum()), fixed.row_sums, there.row_sums

    elif len(maps) == 2 and max(found.width for found in maps.values()) <= MOST_FEATURES:
        features = {name: _dense_features(found) for name, found in maps.items()}
        norms = {name: np.einsum("ji,ji->i", f, f) for name, f in features.items()}
        sums = {name: f.sum(axis=1) @ f - norms[name] for name, f in features.items()}

        def total(order: IntArray) -> tuple[float, FloatArray, FloatArray]:
            cross = features["x"] @ features["y"][:, order].T
            whole = float(np.einsum("ij,ij->", cross, cross) - norms["x"] @ norms["y"][order])
            return whole, sums["x"], sums["y"][order]

    else:
        return None

    def one(order: IntArray) -> float:
        whole, k, l = total(order)  # noqa: E741
        terms = Terms(len(first), {"x": k, "y": l}, {("x", "y"): np.array([whole])}, {})
        return hsic(terms, ("x", "y"))

    values: list[float] = []
    n_threads = available_cores()
    with single_threaded_blas(n_threads):
        # A few at a time: each order is as long as the data.
        while group := list(islice(orders, 2 * n_threads)):
            values += on_all_cores(one, group)
    return np.array(values)


def _dense_features(found: FeatureMap) -> FloatArray:
    """Give all features minus the centre, one a row."""
    return np.ascontiguousarray(found.centred_densely(np.arange(len(found.kernel))).T)


def _in_memory(first: FittedKernel, second: FittedKernel, orders: Iterator[IntArray]) -> FloatArray:
    """Evaluate each kernel once and shuffle rows and columns of the second matrix."""
    fixed, moved = (
        shifted(kernel.matrix(), has_effects=not kernel.in_unit_interval)[0]
        for kernel in (first, second)
    )
    sums, moved_sums = fixed.sum(axis=1), moved.sum(axis=1)
    n = len(fixed)
    values = []
    for order in orders:
        total = 0.0
        for start in range(0, n, ROWS):
            block = moved[order[start : start + ROWS]].take(order, axis=1)
            # Not a BLAS dot: its threads would cost more than such a small block.
            total += float(np.einsum("ij,ij->", fixed[start : start + ROWS], block))
        row_sums = {"x": sums, "y": moved_sums[order]}
        terms = Terms(n, row_sums, {("x", "y"): np.array([total])}, {})
        values.append(hsic(terms, ("x", "y")))
    return np.array(values)


def _with_engine(
    first: FittedKernel,
    shuffle: Callable[[IntArray], FittedKernel],
    orders: Iterator[IntArray],
    engine: Any,
) -> FloatArray:
    """Ask the engine for the HSICs of a few shuffled kernels at a time."""
    values: list[float] = []
    while group := [shuffle(order) for order in islice(orders, GROUP)]:
        shuffled = {f"y{i}": kernel for i, kernel in enumerate(group)}
        pairs = tuple(("x", name) for name in shuffled)
        kernels, wanted = {"x": first, **shuffled}, Wanted((), means=pairs)
        terms = select_engine(engine, kernels, wanted).terms(kernels, wanted)
        values += [hsic(terms, pair) for pair in pairs]
    return np.array(values)
