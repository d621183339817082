"""Many variables, one after another, beside a few fixed ones: what a scan needs of an engine.

A centred kernel matrix has zeros on its diagonal and rows that sum to 0. Of two such matrices the
row sums of products are all that A needs, so that a variable is filled, centred, multiplied with
the fixed ones and with itself, and forgotten. Plain columns under a Gaussian, Laplace or distance
kernel go through compiled code; everything else one variable at a time.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.data.variables import Numeric
from reldep.engine.blocks import levelling_effects
from reldep.engine.influence import compute_influence
from reldep.engine.terms import check_held, is_held
from reldep.exceptions import InputError
from reldep.kernels.radial import Distance, Gaussian, Laplace, RadialKernel
from reldep.kernels.sizes import has_far, middle
from reldep.system import available_cores, numba_is_there, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from reldep.data.variables import BoolArray, FloatArray, Variable
    from reldep.kernels.base import FittedKernel, Kernel


# Columns whose values lie beyond these are measured in a unit of their own, one at a time.
ORDINARY = (1e-15, 1e15)


@dataclass(frozen=True, eq=False)
class FittedColumns:
    """Columns with all that compiled code needs of their kernel.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        One column a row, less its median.
    form : int
        The function of the distance, as :mod:`reldep.engine.many.batch_loops` numbers them.
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
    if not ORDINARY[0] < size < ORDINARY[1]:
        return False
    return kernel != Distance() or not has_far(variable.values - middle(variable.values))


def fit_columns(kernel: Kernel, variables: Sequence[Variable]) -> FittedColumns:
    """Fit one kernel to each of some plain columns."""
    from reldep.engine.many.batch_loops import DISTANCE, PLAIN, SQUARE

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


# A centred matrix that is 0 by construction, as of a column with a single 1, is left with
# rounding; an HSIC is made of its squares.
ZERO = 1e-26

# Up to so many observations the fixed matrices, and one more for every core, are held whole.
DENSE_UP_TO = 3_000

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
    packed : ndarray, shape (n, m (m - 1) / 2), or None
        The centred matrices above the diagonal, if asked for.
    """

    means: FloatArray
    moves: FloatArray
    sizes: FloatArray
    packed: FloatArray | None = None

    @property
    def is_held(self) -> BoolArray:
        """Whether the powers of a variable's conditional means are still numbers."""
        return is_held(self.means[:, :-1]).all(axis=1) & is_held(self.means[:, -1], own=True)

    def take(self, chosen: BoolArray) -> Batch:
        """Keep some of the variables."""
        packed = None if self.packed is None else self.packed[chosen]
        return Batch(self.means[chosen], self.moves[chosen], self.sizes[chosen], packed)


class Move(NamedTuple):
    """How a bandwidth of a kernel moves, and the slope of the kernel in it."""

    influence: FloatArray
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
        moves = [
            Move(probe.influence(row_means(whole(probe.side))), centred(whole(probe.slope)))
            for probe in kernel.bandwidth_probes()
        ]
        values = whole(kernel.conditioned())
        size = float(np.sqrt(np.mean(values**2)))
        return cls(centred(values), size, tuple(moves))


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
        self._further = np.array(slopes).reshape(-1, self.n, self.n)
        self.hsics = np.einsum("aij,bij->ab", self._fixed, self._fixed) / (self.n * (self.n - 3))
        own = [self._finished(matrix) for matrix in self._matrices]
        self.own_means = np.array([means[-1] for means, _ in own])
        self.own_moves = np.array([moves[-1] for _, moves in own])

    def batch(
        self,
        kernels: Sequence[Kernel],
        variables: Sequence[Variable],
        *,
        rng: np.random.Generator | None = None,
        packs: bool = False,
    ) -> Batch:
        """Compute A for some variables.

        Parameters
        ----------
        kernels : sequence of Kernel
            One for each variable, to be fitted.
        variables : sequence of Variable
        rng : numpy.random.Generator, optional
            For fits with random steps.
        packs : bool, default False
            Whether the centred matrices are wanted too.
        """
        n, m, f = len(variables), self.n, len(self._fixed)
        made = Batch(
            np.empty((n, f + 1, m)),
            np.empty((n, f + 1, m)),
            np.empty(n),
            np.empty((n, m * (m - 1) // 2)) if packs else None,
        )
        alone = list(range(n))
        if n >= COMPILED_FROM and numba_is_there():
            groups, alone = group_columns(kernels, variables)
            for kernel, members in groups.items():
                columns = fit_columns(kernel, [variables[i] for i in members])
                self._compile(columns, np.array(members), made)
        upper = np.triu_indices(m, k=1)
        for i in alone:
            fitted = kernels[i].fit(variables[i], rng=rng)
            matrix = CentredMatrix.of(fitted.proportional() if self._own_units else fitted)
            made.means[i], made.moves[i] = self._finished(matrix)
            made.sizes[i] = matrix.size
            if made.packed is not None:
                made.packed[i] = matrix.values[upper]
        made.means[made.means[:, -1].mean(axis=1) <= ZERO * made.sizes**2] = 0.0
        return made

    def _finished(self, matrix: CentredMatrix) -> tuple[FloatArray, FloatArray]:
        """Multiply one matrix by the fixed ones and by itself."""
        partners = [*self._fixed, matrix.values]
        products = np.array([np.einsum("ij,ij->i", matrix.values, other) for other in partners])
        slopes = [[np.vdot(move.slope, other) for other in partners] for move in matrix.moves]
        totals = np.array([np.vdot(slope, matrix.values) for slope in self._further])
        moves = self._fixed_moves(totals[None])[0]
        for move, slope in zip(matrix.moves, slopes, strict=True):
            moves += self._own_moves(np.array([slope]), move.influence[None])[0]
        return conditional_means(products), moves

    def _compile(self, columns: FittedColumns, members: Any, made: Batch) -> None:
        """Send plain columns through compiled code, on all cores."""
        n, m, f, e = len(members), self.n, len(self._fixed), len(self._further)
        products, totals, sizes = np.empty((n, f + 1, m)), np.empty((n, e + f + 1)), np.empty(n)
        # Without a copy where all variables go this way, for these matrices are large.
        packed = np.empty((0, 0))
        if made.packed is not None:
            packed = made.packed if n == len(made.packed) else np.empty((n, m * (m - 1) // 2))

        def work(run: slice) -> None:
            from reldep.engine.many.batch_loops import multiply_columns

            multiply_columns(
                columns.values[run],
                columns.form,
                columns.coefficients[run],
                columns.slopes[run],
                self._fixed,
                self._further,
                products[run],
                totals[run],
                sizes[run],
                packed[run],
            )

        n_threads = available_cores()
        step = max(1, min(64, n // n_threads))
        runs = [slice(start, start + step) for start in range(0, n, step)]
        on_all_cores(work, runs)
        made.means[members], made.sizes[members] = conditional_means(products), sizes
        moves = self._fixed_moves(totals[:, :e])
        if columns.influence is not None:
            moves += self._own_moves(totals[:, e:], columns.influence)
        made.moves[members] = moves
        if made.packed is not None and packed is not made.packed:
            made.packed[members] = packed

    def _fixed_moves(self, totals: FloatArray) -> FloatArray:
        """Turn sums with the slopes of the fixed kernels into what their bandwidths add."""
        moves = np.zeros((len(totals), len(self._fixed) + 1, self.n))
        number = 0
        for j, matrix in enumerate(self._matrices):
            for move in matrix.moves:
                moves[:, j] += np.multiply.outer(self._hsic(totals[:, number]), move.influence)
                number += 1
        return moves

    def _own_moves(self, totals: FloatArray, influence: FloatArray) -> FloatArray:
        """Turn sums with the slopes of the variables into what their own bandwidths add."""
        slopes = self._hsic(totals)
        # With itself a variable has the bandwidth in both of its kernels.
        slopes[:, -1] *= 2.0
        return np.asarray(slopes[:, :, None] * influence[:, None, :])

    def _hsic(self, totals: FloatArray) -> FloatArray:
        return np.asarray(totals / (self.n * (self.n - 3.0)))


@dataclass(frozen=True, eq=False)
class EngineBatches:
    """The same for more observations than whole matrices can be held of, or by another engine.

    Attributes
    ----------
    fixed : sequence of FittedKernel
    engine : str or Engine
    own_units : bool
        As for `Batches`.
    names : sequence of str
        Of the fixed variables.
    """

    fixed: Sequence[FittedKernel]
    engine: Any = "auto"
    own_units: bool = False
    names: Sequence[str] = ("first", "second")
    own_means: FloatArray = field(init=False)
    own_moves: FloatArray = field(init=False)
    hsics: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        fixed = self._named
        pairs = [(name, name) for name in fixed]
        places = [(a, b) for a in range(len(fixed)) for b in range(a)]
        beside = [(pairs[a][0], pairs[b][0]) for a, b in places]
        found = compute_influence(fixed, pairs, self.engine, bandwidths=True, means=beside)
        hsics = np.diag(found.estimates)
        for (a, b), pair in zip(places, beside, strict=True):
            hsics[a, b] = hsics[b, a] = found.hsic(pair)
        object.__setattr__(self, "own_means", found.values)
        object.__setattr__(self, "own_moves", found.bandwidth_psi)
        object.__setattr__(self, "hsics", hsics)

    @property
    def _named(self) -> dict[str, FittedKernel]:
        return dict(zip(self.names, self.fixed, strict=False))

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(self.fixed[0])

    def batch(
        self,
        kernels: Sequence[Kernel],
        variables: Sequence[Variable],
        *,
        rng: np.random.Generator | None = None,
    ) -> Batch:
        """Compute A for some variables, one after another; NaN for one that has none."""
        n, width = len(variables), len(self.fixed) + 1
        means, moves = np.full((2, n, width, self.n), np.nan)
        # A name that no fixed variable has.
        own = "".join(self.names) + "'"
        pairs = [*((own, name) for name in self._named), (own, own)]
        for i, (kernel, variable) in enumerate(zip(kernels, variables, strict=True)):
            fitted = kernel.fit(variable, rng=rng)
            fitted = fitted.proportional() if self.own_units else fitted
            with suppress(InputError):  # values that cannot be added up: skipped in a scan
                found = compute_influence(
                    {**self._named, own: fitted}, pairs, self.engine, bandwidths=True
                )
                means[i], moves[i] = found.values, found.bandwidth_psi
        # What is 0 by construction is exactly 0 there, so that no size is needed to tell.
        return Batch(means, moves, np.zeros(n))


def make_batches(
    fixed: Mapping[str, FittedKernel], engine: Any = "auto", *, own_units: bool = False
) -> Batches | EngineBatches:
    """Hold whole matrices of the fixed variables where that is possible and allowed."""
    names, kernels = tuple(fixed), tuple(fixed.values())
    by_name = isinstance(engine, str) and engine in ("auto", "dense")
    if by_name and (engine == "dense" or len(kernels[0]) <= DENSE_UP_TO):
        found: Batches | EngineBatches = Batches(kernels, own_units=own_units)
    else:
        found = EngineBatches(kernels, engine, own_units, names)
    check_held([(name, name) for name in names], found.own_means, fixed)
    return found


def conditional_means(products: FloatArray) -> FloatArray:
    """Finish A from row sums q of products of centred matrices, along the last axis.

    With rows that sum to 0 the formula of :func:`reldep.engine.terms.conditional_means` is
    ``a = ((m-2) q + Σq) / (2 (m-1)(m-3))``.
    """
    m = products.shape[-1]
    total = products.sum(axis=-1, keepdims=True)
    return np.asarray(((m - 2) * products + total) / (2.0 * (m - 1) * (m - 3)))


def centred(matrix: FloatArray) -> FloatArray:
    """Set the diagonal to 0 and take effects off, so that every row sums to 0."""
    np.fill_diagonal(matrix, 0.0)
    effects = levelling_effects(matrix.sum(axis=1))
    matrix -= effects[:, None]
    matrix -= effects[None, :]
    np.fill_diagonal(matrix, 0.0)
    return matrix
