"""What a kernel is: a description that, fitted to a variable, fills blocks of values.

A :class:`Kernel` knows nothing of the data. ``kernel.fit(variable)`` freezes what the data
decide (bandwidth, codes, norms) into a :class:`FittedKernel`, which gives any block of the
kernel matrix: ``fitted(rows, cols)``. The engines see fitted kernels only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.composite import Product, Sum
    from reldep.kernels.program import Factor
    from reldep.kernels.scales.bandwidth import BandwidthProbe

    Rows = slice | IntArray

ALL_ROWS = slice(None)

KINDS_IN_WORDS: dict[type[Variable], str] = {
    Numeric: "numbers",
    Sparse: "sparse rows of numbers",
    Labels: "labels (strings, booleans or categories)",
    Mixed: "columns of numbers and labels",
    Items: "other objects",
}

# The functions of a squared distance s that compiled code knows, with parameters c and a: cs, c√s,
# 2^(cs), 2^(c√s), and a for s = 0 but c for any other; then what follows bandwidths: as 2^(cs),
# a√s 2^(c√s), and -1/2 for s > c or else 1/2, but a for s = 0. NEAR stands for 2^(cs) where no s is
# so large that the power vanishes.
LINEAR, ROOT, POWER, POWER_ROOT, NEAR, EQUAL, SLOPE, SLOPE_ROOT, SIDE = range(9)


class Kernel(ABC):
    """A kernel before it has seen data.

    Subclasses are frozen dataclasses of their parameters. `accepts` lists the kinds of variable
    the kernel can be fitted to.
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = ()

    @abstractmethod
    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        """Freeze what the data decide and return a kernel that fills blocks.

        Parameters
        ----------
        variable : Variable
            The observations.
        rng : numpy.random.Generator, optional
            Used only where a kernel draws a subsample.
        """

    def preparation(self, variable: Variable) -> str | None:  # noqa: ARG002
        """Say what texts are counted by; None for a kernel of other data."""
        return None

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Evaluate the kernel between the observations of X and those of Y.

        What the data decide, such as a median bandwidth, is decided by X.

        Parameters
        ----------
        X, Y : array_like, series, frame or sequence
            One observation per row; without Y, the kernel matrix of X.

        Returns
        -------
        ndarray of shape (rows of X, rows of Y)

        Examples
        --------
        >>> from reldep.kernels import Gaussian
        >>> Gaussian(2.0)([0.0, 2.0, 4.0], [0.0]).round(3)
        array([[1.   ],
               [0.607],
               [0.135]])
        """
        from reldep.kernels.evaluation import evaluate

        return evaluate(self, X, Y)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        """Fill the block between two samples; the first one decides what the data decide."""
        kernel = self.frozen(self.fit(first))
        both = kernel.fit(stacked(first, second))
        return both(slice(0, len(first)), slice(len(first), len(both)))

    @property
    def is_characteristic(self) -> bool:
        """Whether HSIC with this kernel is 0 only under independence.

        The other variable's kernel must be characteristic too. False also stands for "not
        known to be".
        """
        return False

    def take(self, rows: IntArray) -> Kernel:  # noqa: ARG002
        """Follow a selection of observations; only kernels that hold rows change."""
        return self

    def frozen(self, fitted: FittedKernel) -> Kernel:  # noqa: ARG002
        """Give the kernel that, fitted again, keeps the bandwidth of an earlier fit."""
        return self

    def check_accepts(self, variable: Variable) -> None:
        """Refuse a kind of variable that this kernel is not made for."""
        if not isinstance(variable, self.accepts):
            wanted = ", ".join(KINDS_IN_WORDS[kind] for kind in self.accepts)
            found = KINDS_IN_WORDS[type(variable)]
            if isinstance(variable, Items):
                found = variable.in_words()
            raise InputTypeError(
                f"kernel {type(self).__name__} cannot be used for {variable.name}, which holds "
                f"{found}; it takes {wanted}. Choose another kernel, or `kernel='auto'`."
            )

    def __add__(self, other: object) -> Sum:
        from reldep.kernels.composite import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Product:
        from reldep.kernels.composite import Product

        return Product((self, other)) if isinstance(other, Kernel) else NotImplemented


@dataclass(frozen=True, eq=False)
class Formula:
    """A kernel as compiled code evaluates it: a function of the squared distance.

    Attributes
    ----------
    function : int
        One of the numbers above.
    c, a : float
        Its parameters.
    source : object
        What the distances are between; kernels with the same source share them.
    columns : ndarray, shape (n_columns, n), or None
        The coordinates; None where ``source.squared_distances(rows, cols)`` is the better way,
        which is a matrix product for many columns.
    """

    function: int
    c: float
    a: float
    source: Any
    columns: FloatArray | IntArray | None


@dataclass(frozen=True, eq=False)
class FittedKernel(ABC):
    """A kernel with its data: a symmetric m×m matrix that is produced block by block."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the observations."""

    @abstractmethod
    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        """Return the block of kernel values between two selections of observations.

        Parameters
        ----------
        rows, cols : slice or array of int

        Returns
        -------
        ndarray, shape (selected by rows, selected by cols)
            A new array: the caller may write into it.
        """

    @property
    @abstractmethod
    def label(self) -> str:
        """Say in a few words which kernel this is, with its fitted parameters."""

    @property
    def in_unit_interval(self) -> bool:
        """Whether all values lie in [0, 1], as the finite-sample bound requires."""
        return False

    @property
    def is_bounded(self) -> bool:
        """Whether all values are of one size, so that a constant is enough to take off them."""
        return self.in_unit_interval

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        """What the reader of a result should know about the fit."""
        return ()

    def features(self, rows: slice | IntArray = ALL_ROWS) -> FloatArray | csr_array | None:  # noqa: ARG002
        """Give Φ with K = ΦΦ' where it is finite and explicit, else None.

        Parameters
        ----------
        rows : slice or array of int, default all
            The observations whose rows of Φ are made; at millions of observations an engine
            asks for a run at a time.
        """
        return None

    @property
    def n_features(self) -> int | None:
        """The number of columns of Φ, or None where there is no finite Φ."""
        one_row = self.features(slice(0, 1))
        return None if one_row is None else int(one_row.shape[1])

    @property
    def formula(self) -> Formula | None:
        """The kernel in a form that compiled code knows, or None."""
        return None

    @property
    def nanoseconds(self) -> float | None:
        """About what a value costs in a block on one core; None where a trial must tell."""
        return None

    def program(self) -> list[Factor] | None:
        """Return the kernel as functions of squared distances, or None.

        The values may differ from those of the kernel by an effect of every row, ``f(x) + f(x')``,
        which no dependence sees.
        """
        return None

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Return the bandwidths that the data chose and that move with every observation."""
        return ()

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        """Give a probe for each bandwidth that the data chose; none for a fixed kernel."""
        return ()

    def scaled(self, factor: float) -> FittedKernel:  # noqa: ARG002
        """Give the same kernel with `factor` times its bandwidth; itself if it has none."""
        return self

    def take(self, rows: IntArray) -> FittedKernel:
        """Return the kernel of some observations, in the order given, with the fit of all."""
        return FittedSelection(self, np.arange(len(self))[rows])

    def conditioned(self) -> FittedKernel:
        """Give a kernel that differs by ``f(x) + f(x')`` only and keeps more digits, or itself."""
        return self

    @property
    def whole(self) -> FittedKernel:
        """The kernel with the effects of row and column that were left out, if any.

        Dependence does not see them, but a product with another kernel does.
        """
        return self

    def proportional(self) -> FittedKernel:
        """Give a kernel that differs by a constant factor only, of an ordinary size, or itself.

        A normalised measure does not see the factor, and the powers of its values stay numbers.
        """
        return self

    def matrix(self) -> FloatArray:
        """Fill the whole kernel matrix."""
        everything = slice(0, len(self))
        return self(everything, everything)

    def describe(self) -> dict[str, Any]:
        """Give the fitted parameters for tables and machine-readable output."""
        return {"kernel": self.label}


@dataclass(frozen=True, eq=False)
class FittedSelection(FittedKernel):
    """Some observations of a fitted kernel, which keeps the fit of all.

    Attributes
    ----------
    kernel : FittedKernel
    chosen : ndarray of int
        The observations, by their place in `kernel`.
    """

    kernel: FittedKernel
    chosen: IntArray

    def __len__(self) -> int:
        return len(self.chosen)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.kernel(self.chosen[rows], self.chosen[cols])

    @property
    def label(self) -> str:
        return self.kernel.label

    @property
    def in_unit_interval(self) -> bool:
        return self.kernel.in_unit_interval

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.kernel.cautions

    def take(self, rows: IntArray) -> FittedKernel:
        return FittedSelection(self.kernel, self.chosen[rows])

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | csr_array | None:
        return self.kernel.features(self.chosen[rows])

    def program(self) -> list[Factor] | None:
        factors = self.kernel.program()
        if factors is None:
            return None
        # Factors that shared their points share the selected ones.
        points = {id(factor.points): factor.points[self.chosen] for factor in factors}
        return [replace(factor, points=points[id(factor.points)]) for factor in factors]

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        return tuple(
            replace(width, slope=width.slope.take(self.chosen), score=width.score.take(self.chosen))
            for width in self.kernel.bandwidths()
        )

    def scaled(self, factor: float) -> FittedKernel:
        return FittedSelection(self.kernel.scaled(factor), self.chosen)

    def describe(self) -> dict[str, Any]:
        return self.kernel.describe()


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """A bandwidth σ that the data chose, and what follows from that.

    Attributes
    ----------
    value : float
        σ.
    rule : str
        How it was chosen, in words.
    slope : FittedKernel
        ∂K/∂log σ.
    score : FittedKernel
        To first order, log σ is the mean of this kernel over all pairs of observations: distances
        in units of their mean for the mean rule, and for the median the side of the median on
        which a distance lies, divided by the density there.
    """

    value: float
    rule: str
    slope: FittedKernel
    score: FittedKernel

    def leverage(self, means: FloatArray) -> FloatArray:
        """Return the influence of every observation on log σ; the 2 counts both of a pair.

        Parameters
        ----------
        means : ndarray, shape (m,)
            The mean of each row of `score`, without its diagonal.
        """
        return np.asarray(2.0 * (means - means.mean()))


def stacked(first: Variable, second: Variable) -> Variable:
    """Put the observations of the second variable below those of the first."""
    values: Any
    if isinstance(first, Numeric) and isinstance(second, Numeric):
        _check_columns(first.values.shape[1], second.values.shape[1])
        values = np.concatenate([first.values, second.values])
        return Numeric(first.name, values, first.columns)
    if isinstance(first, Sparse) and isinstance(second, Sparse):
        from scipy.sparse import vstack

        _check_columns(first.values.shape[1], second.values.shape[1])
        return Sparse(first.name, vstack([first.values, second.values], format="csr"))
    if isinstance(first, Labels) and isinstance(second, Labels):
        categories = tuple(dict.fromkeys([*first.categories, *second.categories]))
        number = {category: i for i, category in enumerate(categories)}
        codes = [number[value] for value in [*first.values(), *second.values()]]
        return Labels(first.name, np.array(codes, dtype=np.int64), categories, order=first.order)
    if isinstance(first, Mixed) and isinstance(second, Mixed):
        _check_columns(len(first.parts), len(second.parts))
        pairs = zip(first.parts, second.parts, strict=True)
        return Mixed(first.name, tuple(stacked(a, b) for a, b in pairs))  # type: ignore[misc]
    if isinstance(first, Items) and isinstance(second, Items):
        return Items(first.name, [*first.items, *second.items])
    kinds = [KINDS_IN_WORDS[type(variable)] for variable in (first, second)]
    raise InputTypeError(
        f"X holds {kinds[0]} and Y {kinds[1]}; pass two samples of the same kind of data."
    )


def _check_columns(first: int, second: int) -> None:
    if first != second:
        raise InputError(
            f"X has {first} columns and Y has {second}; pass the same columns in both."
        )
