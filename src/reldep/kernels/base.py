"""What a kernel is: a description, and its fit to a variable.

A :class:`Kernel` is independent of data. ``kernel.fit(data)`` estimates what depends on the data
(bandwidth, codes, norms) and returns a :class:`FittedKernel`, which computes any block of the
kernel matrix: ``fitted(rows, cols)``. Engines see fitted kernels only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from reldep.data.objects import read_variable
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError, translated

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray, SparseArray
    from reldep.kernels.composite import Product, Sum
    from reldep.kernels.distances import Factor

ALL_ROWS = slice(None)

# Which observations: a slice, or their numbers.
Rows: TypeAlias = "slice | IntArray"

# What stands for a kernel: a name, a kernel object or a function of two blocks of rows.
KernelSpec: TypeAlias = "str | Kernel | Callable[[Any, Any], Any]"


KINDS_IN_WORDS: dict[type[Variable], str] = {
    Numeric: "numbers",
    Sparse: "sparse rows of numbers",
    Labels: "labels (strings, booleans or categories)",
    Mixed: "columns of numbers and labels",
    Items: "other objects",
}


def _translate(cls: type, name: str, is_right: Callable[..., bool], right: str) -> None:
    """Make InputErrors of what a method of a class outside this package raises or returns."""
    method = vars(cls).get(name)
    if method is None or cls.__module__.partition(".")[0] == "reldep":
        return

    @wraps(method)
    def checked(self: Any, *given: Any) -> Any:
        with translated(f"kernel {cls.__name__} failed"):
            found = method(self, *given)
        if not is_right(self, found, *given):
            raise InputError(f"{cls.__name__}.{name} must return {right}.")
        return found

    setattr(cls, name, checked)


def _is_block(fitted: FittedKernel, block: Any, rows: Rows, cols: Rows) -> bool:
    places = np.arange(len(fitted))
    return getattr(block, "shape", None) == (len(places[rows]), len(places[cols]))


class Kernel(ABC):
    """A kernel before it has seen data.

    Subclasses are frozen dataclasses of their parameters.

    Attributes
    ----------
    accepts : tuple of types
        The kinds of variable that the kernel can be fitted to; empty for any.
    is_characteristic : bool
        Whether HSIC with this kernel is 0 only under independence; the other variable's kernel must
        be characteristic too. False also stands for "not known to be".
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = ()
    is_characteristic: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Raise in words what the `fitted` of a class outside this package raises."""
        super().__init_subclass__(**options)
        _translate(
            cls, "fitted", lambda _, found, __: isinstance(found, FittedKernel), "a FittedKernel"
        )

    def fit(self, data: Any) -> FittedKernel:
        """Return the kernel of these observations, with everything that the data decide.

        Parameters
        ----------
        data : array_like, series, frame or sequence
            One observation per row. The result depends on nothing else.

        Examples
        --------
        >>> from reldep.kernels import Laplace
        >>> Laplace("mean").fit([0.0, 1.0, 3.0]).label
        'Laplace(bandwidth=2)'
        """
        variable = as_variable(data, "X")
        self.check_accepts(variable)
        return self.fitted(variable)

    @abstractmethod
    def fitted(self, variable: Variable) -> FittedKernel:
        """Return the kernel of a variable of a kind that it accepts."""

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
        first = as_variable(X, "X")
        self.check_accepts(first)
        return self.between(first, first if Y is None else as_variable(Y, "Y"))

    def frozen(self, variable: Variable) -> Kernel:  # noqa: ARG002
        """Return the kernel with everything fixed that this variable decides, for other rows."""
        return self

    def between(self, first: Variable, second: Variable) -> FloatArray:
        """Return the block between two samples; parameters are estimated from the first."""
        both = self.frozen(first).fitted(stacked(first, second))
        return both(slice(0, len(first)), slice(len(first), len(both)))

    def take(self, rows: IntArray) -> Kernel:  # noqa: ARG002
        """Return the kernel for a selection of observations; only kernels with rows change."""
        return self

    def check_accepts(self, variable: Variable) -> None:
        """Raise if the kernel is not made for this kind of variable."""
        if self.accepts and not isinstance(variable, self.accepts):
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
    """A kernel with its data: a symmetric m×m matrix that is produced block by block.

    Attributes
    ----------
    title : str
        The map that made the rows, in front of the label.
    """

    title: str = field(default="", kw_only=True)

    def __init_subclass__(cls, **options: Any) -> None:
        """Raise in words what a class outside this package raises in a block."""
        super().__init_subclass__(**options)
        _translate(cls, "__call__", _is_block, "an array of shape (rows, cols)")

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
    def label(self) -> str:
        """The kernel with its fitted parameters, in a few words."""
        return f"{self.title}: {self.own_label()}" if self.title else self.own_label()

    def own_label(self) -> str:
        """Return the label without the title."""
        return type(self).__name__.removeprefix("Fitted")

    def describe(self) -> dict[str, Any]:
        """Return the fitted parameters, for tables and machine-readable output."""
        return {"kernel": self.label, **self.parameters()}

    def parameters(self) -> dict[str, Any]:
        """Return what is described besides the label."""
        return {}

    def take(self, rows: IntArray) -> FittedKernel:
        """Return the kernel of some observations, in the order given, with the fit of all."""
        return FittedSelection(self, np.arange(len(self))[rows])

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | SparseArray | None:  # noqa: ARG002
        """Return Φ with K = ΦΦ' if it is finite and explicit, else None.

        Parameters
        ----------
        rows : slice or array of int, default all
            The observations whose rows of Φ are computed.
        """
        return None

    def program(self) -> Sequence[Factor] | None:
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

    def own_label(self) -> str:
        return self.kernel.label

    def parameters(self) -> dict[str, Any]:
        return self.kernel.parameters()

    def take(self, rows: IntArray) -> FittedKernel:
        return replace(self, places=self.places[rows])

    def features(self, rows: Rows = ALL_ROWS) -> FloatArray | SparseArray | None:
        return self.kernel.features(self.places[rows])

    def program(self) -> Sequence[Factor] | None:
        factors = self.kernel.program()
        if factors is None:
            return None
        # Factors that shared their points share the selected ones.
        points = {id(factor.points): factor.points[self.places] for factor in factors}
        return [factor._replace(points=points[id(factor.points)]) for factor in factors]

    def scaled(self, factor: float) -> FittedKernel:
        return replace(self, kernel=self.kernel.scaled(factor))

    def in_own_unit(self) -> FittedKernel:
        kernel = self.kernel.in_own_unit()
        return self if kernel is self.kernel else replace(self, kernel=kernel)


@dataclass(frozen=True, eq=False)
class FittedValues(FittedKernel):
    """Values that a function computes from two selections of n observations."""

    n: int
    function: Callable[[Rows, Rows], FloatArray]

    def __len__(self) -> int:
        return self.n

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.function(rows, cols)


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


def wrong_type(place: str, value: object, way_out: str) -> InputTypeError:
    """Return the error for a value of a type that is not taken."""
    return InputTypeError(f"{place} is of type {type(value).__name__}; {way_out}")


def check_same(what: str, found: Iterable[Any]) -> None:
    """Raise if tables, vectors or pictures that are compared differ in width or shape."""
    sizes = sorted(set(found))
    if len(sizes) > 1:
        raise InputError(f"{what} differ, from {sizes[0]} to {sizes[-1]}; make them the same.")


def check_items(variable: Variable, kinds: tuple[type, ...], kernel: str, wanted: str) -> None:
    """Raise for an object that the kernel is not made for, with its row."""
    for row, item in enumerate(variable.items):  # type: ignore[attr-defined]
        if not isinstance(item, kinds):
            way_out = f"kernel {kernel} takes {wanted}, one per observation."
            raise wrong_type(f"observation {row} of {variable.name}", item, way_out)


def check_amounts(name: str, values: FloatArray | SparseArray, kernel: str) -> None:
    """Raise for negative values, for a kernel of counts or amounts."""
    smallest = float(values.min())
    if smallest < 0:
        raise InputError(f"{name} has the value {smallest:.4g}; kernel {kernel} takes 0 or more.")


def as_variable(data: Any, name: str) -> Variable:
    """Return what a user passed as observations without gaps; a variable as it is."""
    if isinstance(data, Variable):
        return data
    variable = read_variable(data, name)
    if variable.missing().any():
        raise InputError(f"{name} has {variable.describe_missing()}; fill in or leave out.")
    return variable


def stacked(first: Variable, second: Any) -> Variable:
    """Return the observations of the second variable below those of the first."""
    kinds = [KINDS_IN_WORDS[type(variable)] for variable in (first, second)]
    if kinds[0] != kinds[1]:
        raise InputTypeError(f"X contains {kinds[0]} and Y {kinds[1]}; pass the same kind of data.")
    if isinstance(first, Items):
        return Items(first.name, [*first.items, *second.items])
    if isinstance(first, Labels):
        categories = tuple(dict.fromkeys([*first.categories, *second.categories]))
        number = {category: i for i, category in enumerate(categories)}
        codes = [number[value] for value in [*first.values(), *second.values()]]
        return Labels(first.name, np.array(codes, dtype=np.int64), categories, order=first.order)
    if isinstance(first, Mixed):
        _check_columns(len(first.parts), len(second.parts))
        pairs = zip(first.parts, second.parts, strict=True)
        return Mixed(first.name, tuple(stacked(a, b) for a, b in pairs))  # type: ignore[misc]
    values: Any = first.values  # type: ignore[attr-defined]
    _check_columns(values.shape[1], second.values.shape[1])
    if isinstance(first, Numeric):
        return replace(first, values=np.concatenate([values, second.values]))
    from scipy.sparse import vstack

    return Sparse(first.name, vstack([values, second.values], format="csr"))


def _check_columns(first: int, second: int) -> None:
    if first != second:
        raise InputError(f"X has {first} columns and Y {second}; pass the same columns in both.")
