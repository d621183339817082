"""The dense engine: whole matrices, for samples that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.terms import Pair, Terms, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True)
class Dense:
    """Hold every kernel matrix; each is evaluated once however many pairs use it."""

    name: ClassVar[str] = "dense"

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        matrices: dict[str, FloatArray] = {}
        row_sums: dict[str, FloatArray] = {}
        shifts: dict[str, float] = {}
        multiplied = {name for pair in wanted.product_pairs() for name in pair}
        for name in wanted.names():
            matrix, shifts[name] = without_diagonal(kernels[name].matrix())
            row_sums[name] = matrix.sum(axis=1)
            if name in multiplied:
                matrices[name] = matrix
        products = {
            (x, y): np.einsum("ij,ij->i", matrices[x], matrices[y])
            for x, y in wanted.product_pairs()
        }
        n = len(next(iter(row_sums.values())))
        return Terms(n, row_sums, products, _crossed(matrices, row_sums, wanted), shifts)


def without_diagonal(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Set the diagonal to 0 and move the other entries to zero mean.

    The shift changes no result; without it sums of order m³ cancel down to m³·HSIC.
    """
    m = len(matrix)
    np.fill_diagonal(matrix, 0.0)
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
