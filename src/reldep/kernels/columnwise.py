"""Kernels for tables whose columns need a scale of their own: units, shares, alleles, grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.arguments import check_positive
from reldep.data.variables import FloatArray, Labels, Numeric, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import Bandwidth, FittedKernel, FittedValues, check_amounts
from reldep.kernels.distances import FIRST, ROOT, TIMES, Factor, Points
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.radial import FittedRadial
from reldep.kernels.scale import FittedFactors
from reldep.words import composed

if TYPE_CHECKING:
    from reldep.kernels.base import KernelSpec, Rows


@dataclass(frozen=True)
class Standardized(MappedKernel):
    """A kernel on columns that are first brought to standard deviation 1.

    A kernel with one bandwidth adds up the squared differences of all columns, so a column in
    small units (grams) outweighs one in large units (tonnes), although units are arbitrary.
    Standardising gives all columns the same weight. It is not the default, because columns in one
    unit (pixels, expression of genes) often differ in spread for a reason.

    The deviations are estimated, and inference that follows bandwidths follows them too, for up
    to 12 columns; of more, each one moves the kernel little.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the standardised columns.

    Examples
    --------
    >>> from reldep.kernels import Gaussian, Standardized
    >>> Standardized(Gaussian(1.0))([[0.0, 0.0], [1.0, 1000.0]]).round(3)
    array([[1.   , 0.018],
           [0.018, 1.   ]])
    """

    kernel: KernelSpec = "gaussian"

    accepts = (Numeric,)
    is_injective = True

    @property
    def title(self) -> str:
        return "Standardized"

    def fitted(self, variable: Variable) -> FittedKernel:
        fitted = super().fitted(variable)
        if not isinstance(fitted, FittedRadial) or len(fitted.ratios) > 1:
            return fitted
        parts = {one.name: getattr(fitted, one.name) for one in fields(fitted)}
        return FittedStandardized(**parts)

    def rows(self, variable: Variable) -> Numeric:
        return self.rows_between(variable, variable)[0]

    def rows_between(self, first: Variable, second: Variable) -> tuple[Numeric, Numeric]:
        values, others = first.values, second.values  # type: ignore[attr-defined]
        scaled, others_scaled = standardised(values, others)
        return Numeric(first.name, scaled), Numeric(second.name, others_scaled)


def standardised(values: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns with mean 0 and standard deviation 1, and other rows in the same units.

    A column without variation becomes 0. Columns are first divided by a power of two near their
    largest value, whose squares are numbers.
    """
    exponents = np.frexp(np.abs(values).max(axis=0))[1]
    inside, outside = (np.ldexp(table, -exponents) for table in (values, others))
    centre, deviation = inside.mean(axis=0), inside.std(axis=0)
    deviation[(values == values[0]).all(axis=0)] = np.inf
    return (inside - centre) / deviation, (outside - centre) / deviation


class FittedStandardized(FittedRadial):
    """A radial kernel on standardised columns, whose deviations move with every observation.

    With z_c the standardised difference in column c, d² their sum of squares and σ the bandwidth,
    the kernel changes with the logarithm of the deviation s_c by::

        ∂K/∂log s_c = ∂K/∂log σ (z_c²/d² - w_c)

    where w_c is the share of column c in the scale that σ is a multiple of (0 for a bandwidth
    that was given): the w_c add up to 1, because deviations that grow alike change nothing.
    """

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Return the bandwidth and, for up to 12 columns, their deviations."""
        own = super().bandwidths()
        if not 2 <= self.points.n_columns <= 12:
            return own  # of more, each moves the kernel little
        return (*own, *map(self._deviation, range(self.points.n_columns), self._shares_of_scale()))

    def _deviation(self, column: int, share: float) -> Bandwidth:
        values = np.asarray(self.points.rows)[:, [column]]
        points = Points(values, self.points.unit)
        # The mean over the others of (z_i - z_j)² is z_i² + 1, and the influence on log s is half
        # of z_i² - 1: a quarter of the square, as every leverage is doubled.
        half = 0.5 * points.unit
        root = Factor(FIRST, ROOT, values, half)
        score = FittedFactors(points, (root, root._replace(how=TIMES)))

        def slope(rows: Rows, cols: Rows) -> FloatArray:
            squares = self.points.squared_distances(rows, cols)
            ratio = points.squared_distances(rows, cols)
            np.divide(ratio, squares, out=ratio, where=squares > 0)
            ratio -= share
            ratio *= self.slope()(rows, cols)
            return ratio

        return Bandwidth(1.0, "standard deviation", FittedValues(len(self), slope), score)

    def _shares_of_scale(self, most_rows: int = 400) -> FloatArray:
        """Return an estimate of each column's share in the scale, from the pairs of some rows."""
        scale = self.chosen
        if scale.rule == "given":
            return np.zeros(self.points.n_columns)
        n = len(self.points)
        rows = np.unique(np.linspace(0, n - 1, min(n, most_rows)).astype(np.int64))
        values = self.points.unit * np.asarray(self.points.rows)[rows]
        first, second = np.triu_indices(len(rows), k=1)
        squares = np.square(values[first] - values[second])
        distances = np.sqrt(squares.sum(axis=1))
        squares, distances = squares[distances > 0], distances[distances > 0]
        weights = 1.0 / distances
        if scale.rule == "median":
            # The median moves with the distances that are near it.
            weights *= np.exp(-0.5 * np.square((distances / scale.value - 1.0) / 0.1))
        shares = weights @ squares
        return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Composition(MappedKernel):
    """A kernel for parts of a whole: shares of time, of a budget, of species, of fatty acids.

    Parts of the same total cannot vary independently: more of one means less of the others, and a
    plain kernel reports this as dependence. Only ratios carry information. The centred log-ratio,
    ``log x_j - mean_j log x_j``, turns rows into points whose distances are those of the ratios;
    the total of a row, and so its unit, drops out.

    It is characteristic for compositions without zeros if `kernel` is.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the log-ratios.
    zero : float, optional
        The share of its row that a part of 0 stands for, for instance half of the detection limit.
        Without it zeros are rejected: they have no logarithm.

    References
    ----------
    Aitchison (1982), The statistical analysis of compositional data, JRSS B 44.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Composition
    >>> shares = np.array([[0.2, 0.3, 0.5], [20, 30, 50], [0.1, 0.3, 0.6]])
    >>> Composition("linear")(shares).round(3)
    array([[0.422, 0.422, 0.814],
           [0.422, 0.422, 0.814],
           [0.814, 0.814, 1.633]])
    """

    kernel: KernelSpec = "gaussian"
    zero: float | None = None

    accepts = (Numeric,)

    def __post_init__(self) -> None:
        if self.zero is not None:
            check_positive("zero", self.zero)

    @property
    def is_injective(self) -> bool:  # type: ignore[override]
        return self.zero is None

    def rows(self, variable: Variable) -> Numeric:
        values: FloatArray = variable.values  # type: ignore[attr-defined]
        if values.shape[1] < 2:
            raise InputError(f"{variable.name} has one column; a composition has two or more.")
        check_amounts(variable.name, values, "Composition")
        totals = values.sum(axis=1, keepdims=True)
        empty = values == 0
        if empty.any() and self.zero is None:
            raise InputError(
                f"{variable.name} has {int(empty.sum())} zeros, which have no logarithm; pass the "
                "share that a zero stands for as Composition(zero=...), or add up rare parts."
            )
        shares = np.where(empty, self.zero or 1.0, values / np.where(totals > 0, totals, 1.0))
        logs = np.log(shares)
        return Numeric(variable.name, logs - logs.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Genotypes(MappedKernel):
    """Identity by state: the share of alleles that two individuals have in common.

    Takes genotypes as counts of one allele, 0, 1 or 2, one column per locus. Two individuals share
    ``1 - |a - b| / 2`` at a locus, and the kernel is the mean over loci. It is the dot product of
    explicit features, so positive semi-definite and fast for many individuals; it ignores
    interactions of loci, so it is not characteristic.

    Parameters
    ----------
    weights : sequence of float, optional
        The weight of each locus, for instance larger for rare alleles; equal by default.

    References
    ----------
    Wu et al. (2010), Powerful SNP-set analysis for case-control genome-wide association studies,
    American Journal of Human Genetics 86.

    Examples
    --------
    >>> from reldep.kernels import Genotypes
    >>> Genotypes()([[0, 2], [1, 2], [2, 0]])
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """

    weights: Sequence[float] | None = None

    accepts = (Numeric,)

    @property
    def title(self) -> str:
        return "Genotypes()" if self.weights is None else "Genotypes(weighted)"

    def rows(self, variable: Variable) -> Numeric:
        counts: FloatArray = variable.values  # type: ignore[attr-defined]
        odd = ~np.isin(counts, (0.0, 1.0, 2.0))
        if odd.any():
            raise InputError(f"{variable.name} has {counts[odd][0]:g}; Genotypes takes 0, 1, 2.")
        shares = np.sqrt(self._shares(counts.shape[1], variable.name) / 2.0)
        # |a - b| counts the steps between two genotypes; each step is one mark from either side.
        marks = [(counts >= step) * shares for step in (1, 2)]
        marks += [(counts < step) * shares for step in (1, 2)]
        return Numeric(variable.name, np.hstack(marks))

    def _shares(self, n_loci: int, name: str) -> FloatArray:
        if self.weights is None:
            return np.full(n_loci, 1.0 / n_loci)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (n_loci,) or not (weights >= 0).all() or weights.sum() == 0:
            raise InputError(
                f"weights has shape {weights.shape}; pass one of at least 0 per column of {name}."
            )
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Ordered(MappedKernel):
    """A kernel for categories that have an order: grades, stages, answers from "no" to "yes".

    Categories become their place in the order, 0, 1, 2, …, so that neighbours are more similar than
    extremes. It is the default for ordered categories of pandas. With :class:`Delta` all different
    categories are equally different.

    Parameters
    ----------
    order : sequence, optional
        The categories from lowest to highest; needed unless the data have an order.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the places.

    Examples
    --------
    >>> from reldep.kernels import Ordered
    >>> Ordered(["low", "middle", "high"], kernel="linear")(["high", "low", "middle"])
    array([[4., 0., 2.],
           [0., 0., 0.],
           [2., 0., 1.]])
    """

    order: Sequence[Any] | None = None
    kernel: KernelSpec = "gaussian"

    accepts = (Labels,)
    is_injective = True

    @property
    def title(self) -> str:
        return "Ordered()"

    def title_for(self, variable: Variable) -> str:
        places = self._places(variable)  # type: ignore[arg-type]
        return f"Ordered({' < '.join(map(str, places))})" if len(places) <= 6 else self.title

    def rows(self, variable: Variable) -> Numeric:
        places = self._places(variable)  # type: ignore[arg-type]
        values = variable.values()  # type: ignore[attr-defined]
        unknown = [value for value in dict.fromkeys(values) if value not in places]
        if unknown:
            raise InputError(f"{variable.name} has {unknown[0]!r}, not in the order {[*places]}.")
        return Numeric(variable.name, np.array([[places[value]] for value in values], dtype=float))

    def _places(self, labels: Labels) -> dict[Any, int]:
        order = labels.order if self.order is None else self.order
        if order is None:
            raise InputTypeError(f"{labels.name} has no order; pass Ordered([lowest, ...]).")
        return {composed(category): place for place, category in enumerate(order)}
