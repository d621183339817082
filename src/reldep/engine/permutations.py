"""The HSIC of a pair after one of its variables has been permuted, many times over.

Centring commutes with a permutation, so each kernel is evaluated once.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.centred import centre, hsic_of
from reldep.engine.features import FeatureTable
from reldep.engine.lines import Line
from reldep.engine.threads import single_threaded_blas
from reldep.engine.tiled import Tiled
from reldep.system import available_cores, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# Two matrices of this many rows take 256 MB.
MOST_ROWS = 4_096

# Rows of the permuted matrix that are gathered at a time, so that they stay in the cache.
ROWS = 128

# Permuted kernels that share one evaluation of the other kernel.
GROUP = 8


def permuted_hsics(
    first: FittedKernel,
    second: FittedKernel,
    orders: Iterator[IntArray],
    most_rows: int = MOST_ROWS,
) -> FloatArray:
    """Return the HSIC of `first` with `second` in every order of its observations.

    Parameters
    ----------
    first, second : FittedKernel
    orders : iterator of ndarray of int
        Permutations; a few at a time are held.
    most_rows : int
        Whole matrices are used up to this number of rows; lines, features or tiles beyond.
    """
    n = len(first)
    if n <= most_rows:
        return _of_matrices(first, second, orders)
    lines = [line for line in (Line.of(first), Line.of(second)) if line is not None]
    if len(lines) == 2:
        fixed, moved = lines
        _ = fixed.order, fixed.effects

        def of_lines(order: IntArray) -> float:
            return hsic_of(float(fixed.products(moved.take(order)).sum()), n)

        return _on_all_cores(of_lines, orders)
    if first.features(slice(0, 1)) is not None and second.features(slice(0, 1)) is not None:
        table, other = FeatureTable.of(first), FeatureTable.of(second)

        def of_features(order: IntArray) -> float:
            permuted = FeatureTable(other.phi[order])
            return hsic_of(float(table.products(permuted).sum()), n)

        return _on_all_cores(of_features, orders)
    return _by_tiles(first, second, orders)


def _of_matrices(
    first: FittedKernel, second: FittedKernel, orders: Iterator[IntArray]
) -> FloatArray:
    everything = slice(0, len(first))
    fixed, moved = (centre(kernel(everything, everything)) for kernel in (first, second))
    n, values = len(fixed), []
    for order in orders:
        total = 0.0
        for start in range(0, n, ROWS):
            block = moved[order[start : start + ROWS]].take(order, axis=1)
            # Not a BLAS dot: its threads would cost more than such a small block.
            total += float(np.einsum("ij,ij->", fixed[start : start + ROWS], block))
        values.append(hsic_of(total, n))
    return np.array(values)


def _on_all_cores(one: Callable[[IntArray], float], orders: Iterator[IntArray]) -> FloatArray:
    values: list[float] = []
    n_threads = available_cores()
    with single_threaded_blas(n_threads):
        while group := list(islice(orders, 2 * n_threads)):
            values += on_all_cores(one, group)
    return np.array(values)


def _by_tiles(first: FittedKernel, second: FittedKernel, orders: Iterator[IntArray]) -> FloatArray:
    values: list[float] = []
    while group := [second.take(order) for order in islice(orders, GROUP)]:
        kernels = {"x": first, **{f"y{i}": kernel for i, kernel in enumerate(group)}}
        pairs = [("x", f"y{i}") for i in range(len(group))]
        found = Tiled().products(kernels, (), pairs)
        values += [hsic_of(found.total(pair), len(first)) for pair in pairs]
    return np.array(values)
