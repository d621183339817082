"""Kernels of the user: a matrix already computed, a function of blocks, one of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import translated
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import FittedKernel, Kernel, check_amounts
from reldep.system import import_extra
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows

BlockFunction = Callable[[Any, Any], Any]

# Share of the largest value (or eigenvalue) that counts as rounding: half of the digits.
ROUNDING = 1e-8

# The names in ``sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS`` without "linear", "polynomial"
# and "rbf", which stand for kernels of this package ("rbf" with a bandwidth from the data).
PAIRWISE_NAMES = ("additive_chi2", "chi2", "cosine", "laplacian", "poly", "sigmoid")

NEEDS_POSITIVE = ("additive_chi2", "chi2")

# Kernels of scikit-learn that are known to be characteristic.
CHARACTERISTIC = ("RBF", "Matern", "RationalQuadratic", "laplacian")


@dataclass(frozen=True, eq=False)
class FittedPrecomputed(FittedKernel):
    """A kernel matrix in memory."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return np.array(self.values[rows][:, cols])

    @property
    def label(self) -> str:
        return "Precomputed"

    @property
    def in_unit_interval(self) -> bool:
        return bool(self.values.min() >= 0 and self.values.max() <= 1)


class Precomputed(Kernel):
    """A kernel matrix, or minus a distance matrix, that is already computed.

    Pass it in place of the data, ``compare(Precomputed(K), Y, Z)``, or as the kernel of a
    variable, whose values are then ignored.

    Parameters
    ----------
    matrix : array_like, shape (m, m)
        Symmetric and finite. The diagonal never matters, but shows whether the matrix contains
        distances: positive numbers with zeros on the diagonal are rejected.
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels, Mixed, Items)

    def __init__(self, matrix: Any) -> None:
        values = np.asarray(matrix)
        if values.dtype.kind not in "biuf":
            raise InputTypeError(f"matrix has dtype {values.dtype}; pass real numbers.")
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise InputError(f"matrix has shape {values.shape}; pass one row and column each.")
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            n_bad = int((~np.isfinite(values)).sum())
            raise InputError(f"matrix has {n_bad} values that are NaN or infinite; fill them in.")
        check_symmetric("matrix", values)
        _refuse_distance(values)
        values.flags.writeable = False
        self.matrix = values

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        return f"Precomputed({len(self)}×{len(self)})"

    def take(self, rows: IntArray) -> Precomputed:
        self._check_length(max(int(rows.max(initial=-1)) + 1, len(self)))
        return Precomputed(self.matrix[np.ix_(rows, rows)])

    def fit(self, variable: Variable) -> FittedPrecomputed:
        self._check_length(len(variable), f" for {variable.name}")
        off_diagonal = self.matrix[~np.eye(len(self), dtype=bool)]
        if (off_diagonal == off_diagonal[0]).all():
            raise InputError(
                f"the matrix of {variable.name} is constant off its diagonal; leave it out."
            )
        return FittedPrecomputed(self.matrix)

    def _check_length(self, n: int, of: str = "") -> None:
        if n != len(self):
            raise InputError(
                f"the precomputed matrix{of} has {counted(len(self), 'row')} for "
                f"{counted(n, 'observation')}; pass one row and one column for each."
            )

    def between(self, first: Variable, second: Variable) -> FloatArray:
        if first is not second:
            raise InputError("a precomputed kernel has no values of other observations than X.")
        self._check_length(len(first))
        return self.matrix.copy()


def _refuse_distance(values: FloatArray) -> None:
    """Raise if the matrix looks like distances: 0 on the diagonal, nowhere below 0."""
    if values.any() and not np.diagonal(values).any() and values.min() >= 0:
        raise InputError(
            "matrix has zeros on its diagonal and nothing below 0, like a matrix of distances; "
            "for distances D pass Precomputed(-D), for a kernel fill in the diagonal."
        )


def called(name: str, function: Callable[..., Any], *arguments: Any) -> FloatArray:
    """Return what a function of the user returns, as a new array of numbers.

    Whatever goes wrong in the function, or with what it returns, is an InputError.
    """
    with translated(f"the {name} failed"):
        values = np.asarray(function(*arguments))
        if values.dtype.kind in "biuf":
            values = np.array(values, dtype=np.float64)
    if values.dtype.kind != "f":
        raise InputError(f"the {name} returned values of type {values.dtype}; return real numbers.")
    return values


def check_symmetric(name: str, values: FloatArray) -> None:
    """Raise for a matrix that differs from its transpose by more than rounding."""
    gap = float(np.abs(values - values.T).max(initial=0.0))
    if gap > ROUNDING * float(np.abs(values).max(initial=0.0)):
        raise InputError(
            f"{name} is not symmetric (|K - K'| is up to {gap:.3g}); if that is rounding, pass "
            "(K + K.T) / 2."
        )


@dataclass(frozen=True, eq=False)
class FittedFunction(FittedKernel):
    """A function of the user, applied to blocks of observations."""

    function: BlockFunction
    rows_of: Any
    name: str
    label_text: str = ""

    def __len__(self) -> int:
        return int(self.rows_of.shape[0]) if hasattr(self.rows_of, "shape") else len(self.rows_of)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        name, places = f"kernel function for {self.name}", np.arange(len(self))
        block = called(name, self.function, self._some(rows), self._some(cols))
        first, second = places[rows], places[cols]
        if block.shape != (len(first), len(second)):
            raise InputError(
                f"the {name} returned shape {block.shape} for {len(first)} and {len(second)} rows; "
                "f(A, B) must return one row per row of A and one column per row of B."
            )
        if not np.isfinite(block).all():
            raise InputError(f"the {name} returned NaN or infinite values; return finite numbers.")
        if np.array_equal(first, second):
            check_symmetric(f"the matrix of the {name}", block)
        return block

    def _some(self, rows: Rows) -> Any:
        """Return the observations of some rows in the form of all."""
        if isinstance(self.rows_of, list) and not isinstance(rows, slice):
            return [self.rows_of[row] for row in rows]
        return self.rows_of[rows]

    @property
    def label(self) -> str:
        return self.label_text or getattr(self.function, "__name__", type(self.function).__name__)


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function ``f(A, B)`` that returns the block of kernel values between rows A and B.

    Numbers arrive as two-dimensional arrays (or sparse matrices), labels as arrays of their
    values, other objects as lists.
    """

    function: BlockFunction

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels, Items)

    def fit(self, variable: Variable) -> FittedFunction:
        self.check_accepts(variable)
        return FittedFunction(self.function, observations_of(variable), variable.name)


def observations_of(variable: Variable) -> Any:
    """Return the observations as functions of the user receive them: sliceable by rows."""
    if isinstance(variable, Labels):
        return np.array(variable.values())
    if isinstance(variable, Items):
        return variable.items
    return variable.values  # type: ignore[attr-defined]


def is_scikit_kernel(spec: Any) -> bool:
    """Return True for an object of ``sklearn.gaussian_process.kernels``, without importing it."""
    return any(
        base.__module__ == "sklearn.gaussian_process.kernels" and base.__name__ == "Kernel"
        for base in type(spec).__mro__
    )


@dataclass(frozen=True)
class ScikitKernel(Kernel):
    """A kernel of scikit-learn, as ``kernel=RBF(2.0)`` or ``kernel="chi2"``.

    Its parameters are those of scikit-learn; nothing is fitted to the data. A name stands for a
    function of ``sklearn.metrics.pairwise`` with its defaults (``gamma`` is 1 over the number of
    columns). "sigmoid" is not positive semi-definite.

    Parameters
    ----------
    source : str or sklearn.gaussian_process.kernels.Kernel
    """

    source: Any

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)

    @property
    def is_characteristic(self) -> bool:
        """Whether it is known to be characteristic."""
        return _is_characteristic(self.source)

    def fit(self, variable: Variable) -> FittedFunction:
        self.check_accepts(variable)
        rows = observations_of(variable)
        if isinstance(variable, Numeric):
            # Some compiled kernels of scikit-learn reject read-only arrays.
            rows = rows.copy()
        if not isinstance(self.source, str):
            return FittedFunction(self.source, rows, variable.name, str(self.source))
        if self.source in NEEDS_POSITIVE:
            check_amounts(variable.name, rows, repr(self.source))
        pairwise = import_extra(
            "sklearn.metrics.pairwise", extra="features", purpose=f"kernel {self.source!r}"
        )
        function = partial(pairwise.pairwise_kernels, metric=self.source)
        return FittedFunction(function, rows, variable.name, self.source)


def _is_characteristic(source: Any) -> bool:
    if isinstance(source, str):
        return source in CHARACTERISTIC
    kind = type(source).__name__
    if kind == "Product":
        factors = [k for k in (source.k1, source.k2) if type(k).__name__ != "ConstantKernel"]
        return bool(factors) and all(map(_is_characteristic, factors))
    if kind == "Sum":
        return _is_characteristic(source.k1) or _is_characteristic(source.k2)
    return kind in CHARACTERISTIC
