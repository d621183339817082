"""What a kernel is: a description, and its fit to a variable.

A :class:`Kernel` is independent of data. ``kernel.fit(variable)`` estimates what depends on the
data (bandwidth, codes, norms) and returns a :class:`FittedKernel`, which computes any block of the
kernel matrix: ``fitted(rows, cols)``. Engines see fitted kernels only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.composite import Product, Sum
    from reldep.kernels.program import Factor

    Rows = slice | IntArray

ALL_ROWS = slice(None)


KINDS_IN_WORDS: dict[type[Variable], str] = {
    Numeric: "numbers",
    Sparse: "sparse rows of numbers",
    Labels: "labels (strings, booleans or categories)",
    Mixed: "columns of numbers and labels",
    Items: "other objects",
}


class Kernel(ABC):
    """A kernel before it has seen data.

    Subclasses are frozen dataclasses of their parameters. `accepts` lists the kinds of variable
    the kernel can be fitted to.
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = ()

    @abstractmethod
    def fit(self, variable: Variable) -> FittedKernel:
        """Return the kernel of these observations, with everything that the data decide.

        The result depends on nothing but the variable.
        """

    def preparation(self, variable: Variable) -> str | None:  # noqa: ARG002
        """Return what texts are counted by; None for a kernel of other data."""
        return None

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Return the kernel values between the observations of X and those of Y.

        What the data decide, such as a median bandwidth, is estimated from X.

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

    def frozen(self, variable: Variable) -> Kernel:  # noqa: ARG002
        """Return the kernel with everything fixed that this variable decides, for other rows."""
        return self

    def between(self, first: Variable, second: Variable) -> FloatArray:
        """Return the block between two samples; parameters are estimated from the first."""
        both = self.frozen(first).fit(stacked(first, second))
        return both(slice(0, len(first)), slice(len(first), len(both)))

    @property
    def is_characteristic(self) -> bool:
        """Whether HSIC with this kernel is 0 only under independence.

        The other variable's kernel must be characteristic too. False also stands for "not
        known to be".
        """
        return False

    def take(self, rows: IntArray) -> Kernel:  # noqa: ARG002
        """Return the kernel for a selection of observations; only kernels with rows change."""
        return self

    def check_accepts(self, variable: Variable) -> None:
        """Raise if the kernel is not made for this kind of variable."""
        if not isinstance(variable, self.accepts):
            wanted = ", ".join(KINDS_IN_WORDS[kind] for kind in self.accepts)
            found = KINDS_IN_WORDS[type(variable)]
            if isinstance(variable, Items):
                found = variable.in_words()
            raise InputTypeError(
                f"kernel {type(self).__name__} cannot be used for {variable.name}, which contains "
                f"{found}; it takes {wanted}. Choose another kernel, or `kernel='auto'`."
            )

    def __add__(self, other: object) -> Sum:
        from reldep.kernels.composite import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Product:
        from reldep.kernels.composite import Product

        return Product((self, other)) if isinstance(other, Kernel) else NotImplemented


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
        """The kernel with its fitted parameters, in a few words."""

    @property
    def in_unit_interval(self) -> bool:
        """Whether all values lie in [0, 1], as the finite-sample bound requires."""
        return False

    def take(self, rows: IntArray) -> FittedKernel:
        """Return the kernel of some observations, in the order given, with the fit of all."""
        return FittedSelection(self, np.arange(len(self))[rows])

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | csr_array | None:  # noqa: ARG002
        """Return Φ with K = ΦΦ' if it is finite and explicit, else None.

        Parameters
        ----------
        rows : slice or array of int, default all
            The observations whose rows of Φ are computed.
        """
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

    def scaled(self, factor: float) -> FittedKernel:  # noqa: ARG002
        """Return the kernel with `factor` times its bandwidth; itself if it has none."""
        return self

    def in_own_unit(self) -> FittedKernel:
        """Return the kernel times a constant that makes its values ordinary numbers, or itself.

        A normalised measure does not see the constant.
        """
        return self

    def describe(self) -> dict[str, Any]:
        """Return the fitted parameters, for tables and machine-readable output."""
        return {"kernel": self.label}


@dataclass(frozen=True, eq=False)
class FittedSelection(FittedKernel):
    """Some observations of a fitted kernel, with the fit of all: its bandwidths do not move.

    Attributes
    ----------
    kernel : FittedKernel
    places : ndarray of int
        The observations, by their place in `kernel`.
    """

    kernel: FittedKernel
    places: IntArray

    def __len__(self) -> int:
        return len(self.places)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.kernel(self.places[rows], self.places[cols])

    @property
    def label(self) -> str:
        return self.kernel.label

    @property
    def in_unit_interval(self) -> bool:
        return self.kernel.in_unit_interval

    def take(self, rows: IntArray) -> FittedKernel:
        return FittedSelection(self.kernel, self.places[rows])

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | csr_array | None:
        return self.kernel.features(self.places[rows])

    def program(self) -> list[Factor] | None:
        factors = self.kernel.program()
        if factors is None:
            return None
        # Factors that shared their points share the selected ones.
        points = {id(factor.points): factor.points[self.places] for factor in factors}
        return [replace(factor, points=points[id(factor.points)]) for factor in factors]

    def scaled(self, factor: float) -> FittedKernel:
        return FittedSelection(self.kernel.scaled(factor), self.places)

    def in_own_unit(self) -> FittedKernel:
        kernel = self.kernel.in_own_unit()
        return self if kernel is self.kernel else FittedSelection(kernel, self.places)

    def describe(self) -> dict[str, Any]:
        return self.kernel.describe()


@dataclass(frozen=True, eq=False)
class FittedValues(FittedKernel):
    """Values that a function computes from two selections of n observations."""

    n: int
    function: Callable[[Rows, Rows], FloatArray]
    label_text: str

    def __len__(self) -> int:
        return self.n

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.function(rows, cols)

    @property
    def label(self) -> str:
        return self.label_text


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


def check_items(variable: Variable, kinds: tuple[type, ...], kernel: str, wanted: str) -> None:
    """Raise for an object that the kernel is not made for, with its row."""
    for row, item in enumerate(variable.items):  # type: ignore[attr-defined]
        if not isinstance(item, kinds):
            raise InputTypeError(
                f"observation {row} of {variable.name} is of type {type(item).__name__}; kernel "
                f"{kernel} takes {wanted}, one per observation."
            )


def check_amounts(name: str, values: FloatArray | csr_array, kernel: str) -> None:
    """Raise for negative values, for a kernel of counts or amounts."""
    smallest = float(values.min())
    if smallest < 0:
        raise InputError(f"{name} has the value {smallest:.4g}; kernel {kernel} takes 0 or more.")


def stacked(first: Variable, second: Variable) -> Variable:
    """Return the observations of the second variable below those of the first."""
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
        f"X contains {kinds[0]} and Y {kinds[1]}; pass two samples of the same kind of data."
    )


def _check_columns(first: int, second: int) -> None:
    if first != second:
        raise InputError(
            f"X has {first} columns and Y has {second}; pass the same columns in both."
        )
