"""Plain columns under one kernel, fitted all at once for compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Numeric
from reldep.kernels.radial import Distance, Gaussian, Laplace, RadialKernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, Variable
    from reldep.kernels.base import FittedKernel, Kernel

# Columns whose values lie beyond these are measured in a unit of their own, one at a time.
ORDINARY = (1e-60, 1e60)


@dataclass(frozen=True, eq=False)
class FittedColumns:
    """Columns with all that compiled code needs of their kernel.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        One column a row, less its median.
    form : int
        The function of the distance, as :mod:`reldep.engine.batch_loops` numbers them.
    coefficients, slopes : ndarray, shape (n,)
        Its parameter, and the factor of its derivative in the bandwidth.
    influence : ndarray, shape (n, m), or None
        Of every observation on the bandwidth; None where the data do not choose it.
    """

    values: FloatArray
    form: int
    coefficients: FloatArray
    slopes: FloatArray
    influence: FloatArray | None


def group_columns(
    kernels: Sequence[Kernel], variables: Sequence[Variable]
) -> tuple[dict[Kernel, list[int]], list[int]]:
    """Tell the plain columns, by their kernel, from variables that must be done one by one."""
    groups: dict[Kernel, list[int]] = {}
    alone = []
    for i, (kernel, variable) in enumerate(zip(kernels, variables, strict=True)):
        if _is_plain(kernel, variable):
            groups.setdefault(kernel, []).append(i)
        else:
            alone.append(i)
    return groups, alone


def _is_plain(kernel: Kernel, variable: Variable) -> bool:
    known = type(kernel) in (Gaussian, Laplace) or kernel == Distance()
    if not known or not isinstance(variable, Numeric) or variable.values.shape[1] != 1:
        return False
    size = float(np.abs(variable.values).max())
    return ORDINARY[0] < size < ORDINARY[1]


def fit_columns(kernel: Kernel, variables: Sequence[Variable]) -> FittedColumns:
    """Fit one kernel to each of some plain columns."""
    from reldep.engine.batch_loops import DISTANCE, PLAIN, SQUARE

    table = np.array([v.values[:, 0] for v in variables if isinstance(v, Numeric)])
    n, m = table.shape
    values = table - np.partition(table, (m - 1) // 2, axis=1)[:, [(m - 1) // 2]]
    if not isinstance(kernel, RadialKernel):
        return FittedColumns(values, DISTANCE, -np.ones(n), np.zeros(n), None)
    if kernel.bandwidth == "mean":
        scales, influence = _mean_distances(values)
        widths, moves = kernel.factor * scales, kernel.factor * influence
    elif isinstance(kernel.bandwidth, str):
        widths, moves = _one_by_one(kernel, variables)
    else:
        widths, moves = np.full(n, kernel.factor * float(kernel.bandwidth)), None
    is_square = isinstance(kernel, Gaussian)
    coefficients = -0.5 / (widths**2 * log(2)) if is_square else -1.0 / (widths * log(2))
    slopes = widths ** (-3.0 if is_square else -2.0)
    return FittedColumns(
        values,
        SQUARE if is_square else PLAIN,
        coefficients,
        np.zeros(n) if moves is None else slopes,
        moves,
    )


def _mean_distances(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the mean distance of every column, and the influence of observations on it.

    The influence is ``2 (mean_j d_ij - mean d)``, from sums of sorted values.
    """
    m = values.shape[1]
    order = np.argsort(values, axis=1)
    rising = np.take_along_axis(values, order, axis=1)
    before = np.arange(m)
    up_to = np.cumsum(rising, axis=1)
    below = rising * before - (up_to - rising)
    above = up_to[:, -1:] - up_to - rising * (m - 1 - before)
    means = np.empty_like(values)
    np.put_along_axis(means, order, (below + above) / (m - 1), axis=1)
    scales = rising @ (2.0 * before - (m - 1)) / (m * (m - 1) / 2)
    return scales, 2.0 * (means - means.mean(axis=1, keepdims=True))


def _one_by_one(
    kernel: RadialKernel, variables: Sequence[Variable]
) -> tuple[FloatArray, FloatArray]:
    """Fit by a rule that has no formula for many columns, such as the median."""
    widths, moves = np.empty(len(variables)), np.zeros((len(variables), len(variables[0])))
    for i, variable in enumerate(variables):
        fitted = kernel.fit(variable)
        widths[i] = float(fitted.describe()["bandwidth"])
        for probe in fitted.bandwidth_probes():
            moves[i] = probe.influence(row_means(whole(probe.side)))
    return widths, moves


def whole(kernel: FittedKernel) -> FloatArray:
    """Evaluate a kernel on all observations."""
    everything = slice(0, len(kernel))
    return np.array(kernel(everything, everything), dtype=np.float64)


def row_means(matrix: FloatArray) -> FloatArray:
    """Give the mean of each row over the other observations."""
    return np.asarray((matrix.sum(axis=1) - np.diagonal(matrix)) / (len(matrix) - 1))
