"""Kernels as tables for compiled loops: points side by side, and functions of their distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.program import Factor


class Program(NamedTuple):
    """Kernels of the same rows, for compiled loops.

    Attributes
    ----------
    left, right : ndarray, shapes (m, width) and (width, m)
        ``-2x, |x|², 1`` and ``x, 1, |x|²`` of every set of points, side by side: the product of a
        row and a column is a squared distance.
    sources : ndarray of int, shape (n_sources, 2)
        First and last column of each set of points.
    factors : ndarray of int, shape (n_factors, 4)
        Kernel, source, function and how it joins the factors before.
    scales : ndarray, shape (n_factors,)
    n_kernels : int
    """

    left: FloatArray
    right: FloatArray
    sources: IntArray
    factors: IntArray
    scales: FloatArray
    n_kernels: int


def make_program(
    kernels: Sequence[Sequence[Factor]], rows: slice | IntArray = slice(None)
) -> Program:
    """Return the tables of some kernels on some rows; factors of the same array share distances."""
    left, right = [], []
    sources: list[tuple[int, int]] = []
    factors, scales = [], []
    known: dict[int, int] = {}
    at = 0
    for k, kernel in enumerate(kernels):
        for factor in kernel:
            if id(factor.points) not in known:
                x = np.asarray(factor.points[rows], dtype=np.float64)
                with np.errstate(over="ignore"):
                    norms, ones = np.einsum("ij,ij->i", x, x), np.ones(len(x))
                known[id(factor.points)] = len(sources)
                left.append(np.column_stack([-2.0 * x, norms, ones]))
                right.append(np.vstack([x.T, ones, norms]))
                sources.append((at, at + x.shape[1]))
                at += x.shape[1] + 2
            factors.append((k, known[id(factor.points)], factor.function, factor.how))
            scales.append(factor.scale)
    return Program(
        np.ascontiguousarray(np.hstack(left)),
        np.ascontiguousarray(np.vstack(right)),
        np.array(sources, dtype=np.int64),
        np.array(factors, dtype=np.int64),
        np.array(scales, dtype=np.float64),
        len(kernels),
    )
