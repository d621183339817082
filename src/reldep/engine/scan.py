"""Many variables, one after another, beside a few fixed ones: what a scan needs of an engine.

A variable is filled, centred, multiplied with the fixed ones and with itself, and forgotten. Plain
columns with a Gaussian, Laplace or distance kernel go through compiled code; everything else is
computed one variable at a time.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep.data.variables import Numeric
from reldep.engine.centred import ZERO, centre, check_held, conditional_means, is_held
from reldep.engine.choose import SIZES, as_engine
from reldep.engine.influence import compute_influence
from reldep.engine.program import evaluate
from reldep.exceptions import InputError
from reldep.kernels.program import GAUSSIAN, LAPLACE, ROOT
from reldep.kernels.radial import Distance, Gaussian, Laplace, RadialKernel
from reldep.system import available_cores, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray, IntArray, Variable
    from reldep.kernels.base import FittedKernel, Kernel

# Columns whose values lie beyond these are measured in a unit of their own, one at a time.
ORDINARY = (1e-15, 1e15)

# A distance kernel of a column whose largest value exceeds its median size by this factor loses
# digits in plain differences.
FAR = 1e4

# Fewer variables than these are done before compiled code is loaded.
COMPILED_FROM = 20


@dataclass(frozen=True, eq=False)
class Batch:
    """A for some variables, each with every fixed one and with itself.

    Attributes
    ----------
    means : ndarray, shape (n, f + 1, m)
        Conditional means: with the fixed variables, then with itself.
    moves : ndarray, shape (n, f + 1, m)
        What bandwidths that the data chose add to the influence values.
    sizes : ndarray, shape (n,)
        The size of the values of every kernel: what is far smaller than it is rounding, and 0.
    """

    means: FloatArray
    moves: FloatArray
    sizes: FloatArray

    @property
    def is_held(self) -> BoolArray:
        """Whether the powers of a variable's conditional means are still numbers."""
        return is_held(self.means[:, :-1]).all(axis=1) & is_held(self.means[:, -1], own=True)

    def take(self, chosen: BoolArray) -> Batch:
        """Keep some of the variables."""
        return Batch(self.means[chosen], self.moves[chosen], self.sizes[chosen])


class Columns(NamedTuple):
    """Plain columns with what compiled code needs of their kernel.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        One column per row, less its median.
    function : int
        Of the distance, as in :mod:`reldep.kernels.program`.
    widths : ndarray, shape (n,)
    leverage : ndarray, shape (n, m), or None
        The influence of every observation on log σ; None where the data do not choose σ.
    """

    values: FloatArray
    function: int
    widths: FloatArray
    leverage: FloatArray | None


def group_columns(
    kernels: Sequence[Kernel], variables: Sequence[Variable]
) -> tuple[dict[Kernel, list[int]], list[int]]:
    """Return the plain columns, by their kernel, and those that must be done one by one."""
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
    if not ORDINARY[0] < size < ORDINARY[1]:
        return False
    if kernel != Distance():
        return True
    apart = np.abs(variable.values - np.median(variable.values))
    return float(apart.max()) <= FAR * float(np.median(apart[apart > 0], axis=None))


def fit_columns(kernel: Kernel, variables: Sequence[Variable]) -> Columns:
    """Fit one kernel to each of some plain columns."""
    table = np.array([v.values[:, 0] for v in variables if isinstance(v, Numeric)])
    n, m = table.shape
    values = table - np.partition(table, (m - 1) // 2, axis=1)[:, [(m - 1) // 2]]
    if not isinstance(kernel, RadialKernel):
        return Columns(values, ROOT, np.ones(n), None)
    function = GAUSSIAN if isinstance(kernel, Gaussian) else LAPLACE
    if kernel.bandwidth == "mean":
        scales, leverage = _mean_distances(values)
        return Columns(values, function, kernel.factor * scales, leverage)
    if isinstance(kernel.bandwidth, str):
        return Columns(values, function, *_one_by_one(kernel, variables))
    return Columns(values, function, np.full(n, kernel.factor * float(kernel.bandwidth)), None)


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
    kernel: RadialKernel, variables: Sequence[Variable]
) -> tuple[FloatArray, FloatArray]:
    """Fit by a rule that has no formula for many columns, such as the median."""
    widths, leverage = np.empty(len(variables)), np.zeros((len(variables), len(variables[0])))
    for i, variable in enumerate(variables):
        fitted = kernel.fit(variable)
        widths[i] = float(fitted.describe()["bandwidth"])
        for bandwidth in fitted.bandwidths():
            (score,) = evaluate([bandwidth.score], slice(0, len(variable)))
            leverage[i] = bandwidth.leverage(score.sum(axis=1) / (len(score) - 1))
    return widths, leverage


class Move(NamedTuple):
    """The influence of rows on a bandwidth, and the slope of the kernel in it."""

    leverage: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class CentredMatrix:
    """The centred matrix of one kernel, its size before, and its slopes in its bandwidths."""

    values: FloatArray
    size: float
    moves: tuple[Move, ...]

    @classmethod
    def of(cls, kernel: FittedKernel) -> CentredMatrix:
        """Evaluate a kernel on all observations."""
        widths = kernel.bandwidths()
        parts = [part for width in widths for part in (width.slope, width.score)]
        m = len(kernel)
        matrix, *rest = evaluate([kernel, *parts], slice(0, m))
        moves = [
            Move(width.leverage(score.sum(axis=1) / (m - 1)), slope)
            for width, slope, score in zip(widths, rest[0::2], rest[1::2], strict=True)
        ]
        size = float(np.sqrt(np.einsum("ij,ij->", matrix, matrix))) / m
        return cls(centre(matrix), size, tuple(moves))


class Batches:
    """Fixed variables, with which any number of others is compared.

    Parameters
    ----------
    fixed : sequence of FittedKernel
    own_units : bool, default False
        Whether every other variable is measured in a unit of its own, which normalised measures
        do not see.
    """

    def __init__(self, fixed: Sequence[FittedKernel], *, own_units: bool = False) -> None:
        self._own_units = own_units
        self._matrices = [CentredMatrix.of(kernel) for kernel in fixed]
        self._fixed = np.array([matrix.values for matrix in self._matrices])
        slopes = [move.slope for matrix in self._matrices for move in matrix.moves]
        self.n = self._fixed.shape[1]
        self._slopes = np.array(slopes).reshape(-1, self.n, self.n)
        self.hsics = np.einsum("aij,bij->ab", self._fixed, self._fixed) / (self.n * (self.n - 3))
        own = [self._finished(matrix) for matrix in self._matrices]
        self.own_means = np.array([means[-1] for means, _ in own])
        self.own_moves = np.array([moves[-1] for _, moves in own])

    def batch(
        self,
        kernels: Sequence[Kernel],
        variables: Sequence[Variable],
    ) -> Batch:
        """Compute A for some variables.

        Parameters
        ----------
        kernels : sequence of Kernel
            One for each variable, to be fitted.
        variables : sequence of Variable
        """
        n, m, f = len(variables), self.n, len(self._fixed)
        made = Batch(np.empty((n, f + 1, m)), np.empty((n, f + 1, m)), np.empty(n))
        alone = list(range(n))
        if n >= COMPILED_FROM:
            groups, alone = group_columns(kernels, variables)
            for kernel, members in groups.items():
                columns = fit_columns(kernel, [variables[i] for i in members])
                self._compile(columns, np.array(members), made)
        for i in alone:
            fitted = kernels[i].fit(variables[i])
            matrix = CentredMatrix.of(fitted.in_own_unit() if self._own_units else fitted)
            made.means[i], made.moves[i] = self._finished(matrix)
            made.sizes[i] = matrix.size
        made.means[made.means[:, -1].mean(axis=1) <= ZERO * made.sizes**2] = 0.0
        return made

    def _finished(self, matrix: CentredMatrix) -> tuple[FloatArray, FloatArray]:
        """Multiply one matrix by the fixed ones and by itself."""
        partners = [*self._fixed, matrix.values]
        products = np.array([np.einsum("ij,ij->i", matrix.values, other) for other in partners])
        totals = np.einsum("sij,ij->s", self._slopes, matrix.values)
        moves = self._fixed_moves(totals[None])[0]
        for move in matrix.moves:
            slope = np.array([[np.einsum("ij,ij->", move.slope, other) for other in partners]])
            moves += self._own_moves(slope, move.leverage[None])[0]
        return conditional_means(products), moves

    def _compile(self, columns: Columns, members: IntArray, made: Batch) -> None:
        """Send plain columns through compiled code, on all cores."""
        from reldep.engine.loops import scan_columns

        n, m, f, e = len(members), self.n, len(self._fixed), len(self._slopes)
        q, moved, sizes = np.empty((n, f + 1, m)), np.empty((n, e + f + 1)), np.empty(n)

        def work(run: slice) -> None:
            scan_columns(
                columns.values[run],
                columns.function,
                columns.widths[run],
                self._fixed,
                self._slopes,
                q[run],
                moved[run],
                sizes[run],
            )

        step = max(1, min(64, n // available_cores()))
        on_all_cores(work, [slice(start, start + step) for start in range(0, n, step)])
        made.means[members], made.sizes[members] = conditional_means(q), sizes
        moves = self._fixed_moves(moved[:, :e])
        if columns.leverage is not None:
            moves += self._own_moves(moved[:, e:], columns.leverage)
        made.moves[members] = moves

    def _fixed_moves(self, totals: FloatArray) -> FloatArray:
        """Turn sums with the slopes of the fixed kernels into what their bandwidths add."""
        moves = np.zeros((len(totals), len(self._fixed) + 1, self.n))
        number = 0
        for j, matrix in enumerate(self._matrices):
            for move in matrix.moves:
                moves[:, j] += np.multiply.outer(self._hsic(totals[:, number]), move.leverage)
                number += 1
        return moves

    def _own_moves(self, totals: FloatArray, leverage: FloatArray) -> FloatArray:
        """Turn sums with the slopes of the variables into what their own bandwidths add."""
        slopes = self._hsic(totals)
        # With itself a variable has the bandwidth in both of its kernels.
        slopes[:, -1] *= 2.0
        return np.asarray(slopes[:, :, None] * leverage[:, None, :])

    def _hsic(self, totals: FloatArray) -> FloatArray:
        return np.asarray(totals / (self.n * (self.n - 3.0)))


class EngineBatches:
    """The same for more observations than whole matrices can be held of, or by another engine.

    Parameters
    ----------
    fixed : mapping of str to FittedKernel
    engine : str or engine
    own_units : bool
        As for `Batches`.
    """

    def __init__(
        self, fixed: Mapping[str, FittedKernel], engine: Any = "auto", *, own_units: bool = False
    ) -> None:
        self._fixed, self._engine, self._own_units = dict(fixed), engine, own_units
        names = list(fixed)
        self.n = len(fixed[names[0]])
        pairs = [(name, name) for name in names]
        beside = [(a, b) for i, a in enumerate(names) for b in names[:i]]
        found = compute_influence(fixed, pairs, engine, bandwidths=True, means=beside)
        self.hsics = np.array([[found.hsic((a, b)) for b in names] for a in names])
        self.own_means, self.own_moves = found.values, found.bandwidth_psi

    def batch(
        self,
        kernels: Sequence[Kernel],
        variables: Sequence[Variable],
    ) -> Batch:
        """Compute A for some variables, one after another; NaN for one that has none."""
        means, moves = np.full((2, len(variables), len(self._fixed) + 1, self.n), np.nan)
        # A name that no fixed variable has.
        own = "".join(self._fixed) + "'"
        pairs = [*((own, name) for name in self._fixed), (own, own)]
        for i, (kernel, variable) in enumerate(zip(kernels, variables, strict=True)):
            fitted = kernel.fit(variable)
            fitted = fitted.in_own_unit() if self._own_units else fitted
            with suppress(InputError):  # values that cannot be added up: skipped in a scan
                found = compute_influence(
                    {**self._fixed, own: fitted},
                    pairs,
                    self._engine,
                    bandwidths=True,
                )
                means[i], moves[i] = found.values, found.bandwidth_psi
        # What is 0 by construction is exactly 0 there, so that no size is needed to tell.
        return Batch(means, moves, np.zeros(len(variables)))


def make_batches(
    fixed: Mapping[str, FittedKernel], engine: Any = "auto", *, own_units: bool = False
) -> Batches | EngineBatches:
    """Hold whole matrices of the fixed variables where that is possible and allowed."""
    kernels = tuple(fixed.values())
    by_name = isinstance(engine, str) and engine in ("auto", "dense")
    if not by_name and as_engine(engine).name == "blocks":
        raise InputError("`engine='blocks'` cannot be used for a scan; use `engine='auto'`.")
    if by_name and (engine == "dense" or len(kernels[0]) <= SIZES.dense_rows):
        found: Batches | EngineBatches = Batches(kernels, own_units=own_units)
    else:
        found = EngineBatches(fixed, engine, own_units=own_units)
    check_held([(name, name) for name in fixed], found.own_means)
    return found
