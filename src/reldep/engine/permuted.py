"""The HSIC of a pair after one of its variables has been shuffled, many times over."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.dense import shifted
from reldep.engine.planner import select_engine
from reldep.engine.terms import Terms, Wanted, hsic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# Two matrices of this size take 256 MB; beyond it the kernels are evaluated anew.
IN_MEMORY = 4096

# Rows of the shuffled matrix that are gathered at a time.
ROWS = 128

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
        Used where the matrices would be too large, at one sweep a permutation: memory is then
        what that engine needs for a few kernels.
    """
    if len(first) <= IN_MEMORY:
        return _in_memory(first, second, orders)
    return _with_engine(first, shuffle, orders, engine)


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
