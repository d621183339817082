"""Many variables with their kernels fitted: plain columns all at once, the others one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray, Numeric, Variable
from reldep.engine.choose import SIZES
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.distances import GAUSSIAN, LAPLACE, ROOT, evaluate
from reldep.kernels.radial import Distance, Gaussian, Laplace, RadialKernel


class Columns(NamedTuple):
    """Plain columns with what compiled code needs of their kernel.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        One column per row, less its median.
    function : int
        Of the distance, as in :mod:`reldep.kernels.distances`.
    widths : ndarray, shape (n,)
    leverage : ndarray, shape (n, m), or None
        The influence of every observation on log σ; None where that is not followed.
    """

    values: FloatArray
    function: int
    widths: FloatArray
    leverage: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Ready:
    """Variables with their kernels fitted.

    Attributes
    ----------
    n : int
    plain : list of (ndarray of int, Columns)
        Those that compiled code takes, with their places.
    alone : mapping of int to FittedKernel
        All others.
    """

    n: int
    plain: list[tuple[IntArray, Columns]]
    alone: Mapping[int, FittedKernel]

    @classmethod
    def of(
        cls,
        kernels: Sequence[Kernel],
        variables: Sequence[Variable],
        *,
        own_units: bool,
        is_followed: bool = True,
        is_one_by_one: bool = False,
    ) -> Ready:
        """Fit one kernel to each variable.

        Parameters
        ----------
        kernels : sequence of Kernel
        variables : sequence of Variable
        own_units : bool
            Whether a variable that is done alone is measured in a unit of its own, which
            normalised measures do not see.
        is_followed : bool
            Whether bandwidths that the data choose are followed.
        is_one_by_one : bool
            Whether compiled code takes no columns; it is not loaded for a few.
        """
        groups: dict[Kernel, list[int]] = {}
        is_short = len(variables) < SIZES.scan_columns and len(variables[0]) <= SIZES.dense_rows
        alone = []
        for i, (kernel, variable) in enumerate(zip(kernels, variables, strict=True)):
            known = type(kernel) in (Gaussian, Laplace) or kernel == Distance()
            if (
                is_one_by_one
                or is_short
                or not known
                or not isinstance(variable, Numeric)
                or variable.values.shape[1] != 1
            ):
                alone.append(i)
            else:
                groups.setdefault(kernel, []).append(i)
        plain = []
        for kernel, members in groups.items():
            table = np.array([variables[i].values[:, 0] for i in members])  # type: ignore[attr-defined]
            fine = _is_plain(kernel, table)
            places = np.array(members)
            alone += places[~fine].tolist()
            if fine.any():
                own = [variables[i] for i in places[fine].tolist()]
                found = fit_columns(kernel, own, table[fine], is_followed=is_followed)
                plain.append((places[fine], found))
        fits = {i: kernels[i].fit(variables[i]) for i in sorted(alone)}
        if own_units:
            fits = {i: fitted.in_own_unit() for i, fitted in fits.items()}
        return cls(len(variables), plain, fits)

    def take(self, rows: IntArray) -> Ready:
        """Return the same on some rows, with the fit of all."""
        plain = [
            (places, columns._replace(values=columns.values[:, rows], leverage=None))
            for places, columns in self.plain
        ]
        return Ready(self.n, plain, {i: fitted.take(rows) for i, fitted in self.alone.items()})


def _is_plain(kernel: Kernel, table: FloatArray) -> BoolArray:
    """Return the columns, one per row, whose plain differences keep their digits."""
    size = np.abs(table).max(axis=1)
    # Columns of other sizes are measured in a unit of their own, one at a time.
    fine = (size > 1e-15) & (size < 1e15)
    if kernel == Distance():
        for i in np.flatnonzero(fine):
            apart = np.abs(table[i] - np.median(table[i]))
            # Plain distances from a far value keep less than 12 digits.
            fine[i] = apart.max() <= 1e4 * np.median(apart[apart > 0])
    return np.asarray(fine)


def fit_columns(
    kernel: Kernel, variables: Sequence[Variable], table: FloatArray, *, is_followed: bool
) -> Columns:
    """Fit one kernel to each of some plain columns, which are the rows of `table`."""
    n, m = table.shape
    values = table - np.partition(table, (m - 1) // 2, axis=1)[:, [(m - 1) // 2]]
    if not isinstance(kernel, RadialKernel):
        return Columns(values, ROOT, np.ones(n))
    function = GAUSSIAN if isinstance(kernel, Gaussian) else LAPLACE
    if kernel.bandwidth == "mean":
        scales, leverage = _mean_distances(values)
        return Columns(values, function, kernel.factor * scales, leverage if is_followed else None)
    if isinstance(kernel.bandwidth, str):
        return Columns(values, function, *_one_by_one(kernel, variables, is_followed=is_followed))
    return Columns(values, function, np.full(n, kernel.factor * float(kernel.bandwidth)))


def _mean_distances(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean distance of every column, and the influence of rows on its logarithm.

    The influence is ``2 (mean_j d_ij / mean d - 1)``, from sums of sorted values.
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
    return scales, 2.0 * (means - means.mean(axis=1, keepdims=True)) / scales[:, None]


def _one_by_one(
    kernel: RadialKernel, variables: Sequence[Variable], *, is_followed: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Fit by a rule that has no formula for many columns, such as the median."""
    fits = [kernel.fit(variable) for variable in variables]
    widths = np.array([float(fitted.describe()["bandwidth"]) for fitted in fits])
    if not is_followed:
        return widths, None
    leverage = np.zeros((len(variables), len(variables[0])))
    for i, (fitted, variable) in enumerate(zip(fits, variables, strict=True)):
        for bandwidth in fitted.bandwidths():
            (score,) = evaluate([bandwidth.score], slice(0, len(variable)))
            leverage[i] = bandwidth.leverage(score.sum(axis=1) / (len(score) - 1))
    return widths, leverage
