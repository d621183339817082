"""The dense engine: whole matrices, for samples that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.blocks import fill_blocks, nanoseconds_of, off_row_means, subtract_effects
from reldep.engine.terms import Cost, Pair, Terms, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel

# Temporary matrices beside those that are kept.
TEMPORARY_MATRICES = 3

# Nanoseconds for adding an entry, or a product of two, to a sum.
SUM_VALUE = 0.8


@dataclass(frozen=True)
class Dense:
    """Hold every kernel matrix; each is evaluated once however many pairs use it.

    Kernels on the same points share their distances.
    """

    name: ClassVar[str] = "dense"

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        names = wanted.names()
        n = len(kernels[names[0]])
        matrices: dict[str, FloatArray] = {}
        row_sums: dict[str, FloatArray] = {}
        shifts: dict[str, float | FloatArray] = {}
        sizes: dict[str, float] = {}
        multiplied = {name for pair in wanted.product_pairs() for name in pair}
        everything = slice(0, n)
        for i, filled in fill_blocks([kernels[name] for name in names], everything, everything):
            name = names[i]
            sizes[name] = size_of(filled)
            bounded = kernels[name].in_unit_interval
            matrix, shifts[name] = shifted(filled, has_effects=not bounded)
            row_sums[name] = matrix.sum(axis=1)
            if name in multiplied:
                matrices[name] = matrix
        products = {
            (x, y): np.einsum("ij,ij->i", matrices[x], matrices[y])
            for x, y in wanted.product_pairs()
        }
        crossed = _crossed(matrices, row_sums, wanted)
        return Terms(n, row_sums, products, crossed, shifts, sizes)

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
        """Estimate the job: every matrix is held, filled once, on one core."""
        names = wanted.names()
        n = len(kernels[names[0]])
        value = sum(nanoseconds_of(kernels[name]) for name in names)
        value += SUM_VALUE * wanted.n_sums()
        return Cost(8 * (len(names) + TEMPORARY_MATRICES) * n**2, value * n**2 * 1e-9)


def size_of(matrix: FloatArray) -> float:
    """Give the root of the mean square off the diagonal."""
    n = len(matrix)
    diagonal = np.diagonal(matrix)
    squares = np.einsum("ij,ij->", matrix, matrix) - diagonal @ diagonal
    return float(np.sqrt(max(0.0, squares) / (n * (n - 1))))


def shifted(
    matrix: FloatArray, *, has_effects: bool = False
) -> tuple[FloatArray, float | FloatArray]:
    """Set the diagonal to 0 and move the other entries towards 0, in place.

    Neither changes a result; without it sums of order m³ cancel down to m³·HSIC. A kernel without
    bounds loses the effect of each row, so that all rows sum to 0; one in [0, 1] its mean.

    Returns
    -------
    matrix : ndarray
    shift : float or ndarray
        What was taken off the mean of each row over the others.
    """
    m = len(matrix)
    np.fill_diagonal(matrix, 0.0)
    if has_effects:
        sums = matrix.sum(axis=1)
        # Solves Σ_j≠i (K_ij - f_i - f_j) = 0 for all i.
        effects = (sums - sums.sum() / (2.0 * (m - 1))) / (m - 2)
        subtract_effects(matrix, effects, effects)
        shift: float | FloatArray = off_row_means(effects)
    else:
        shift = float(matrix.sum() / (m * (m - 1)))
        matrix -= shift
    np.fill_diagonal(matrix, 0.0)
    return matrix, shift


def _crossed(
    matrices: Mapping[str, FloatArray], row_sums: Mapping[str, FloatArray], wanted: Wanted
) -> dict[Pair, tuple[FloatArray, FloatArray]]:
    """Multiply each matrix once by the row sums of all its partners."""
    pairs = wanted.crossed_pairs()
    partners: dict[str, list[str]] = {name: [] for name in matrices}
    for x, y in pairs:
        partners[x].append(y)
        partners[y].append(x)
    multiplied: dict[Pair, FloatArray] = {}
    for name, others in partners.items():
        distinct = list(dict.fromkeys(others))
        if distinct:
            columns = matrices[name] @ np.column_stack([row_sums[other] for other in distinct])
            multiplied |= {(name, other): columns[:, i] for i, other in enumerate(distinct)}
    return {(x, y): (multiplied[x, y], multiplied[y, x]) for x, y in pairs}
