"""Kernels of the user: a matrix, a function of blocks, one of scikit-learn; and their check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.arguments import check_count
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError, translated
from reldep.kernels.base import ALL_ROWS, FittedKernel, Kernel, as_variable, check_amounts
from reldep.system import import_extra
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Bandwidth, Rows

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
    """A kernel matrix in memory, with bandwidths that move."""

    values: FloatArray
    moving: tuple[Bandwidth, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return np.array(self.values[rows][:, cols])

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        return self.moving


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

    accepts = (Numeric, Sparse, Labels, Mixed, Items)

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

    def fitted(self, variable: Variable) -> FittedPrecomputed:
        self._check_length(len(variable), f" for {variable.name}")
        off_diagonal = self.matrix[~np.eye(len(self), dtype=bool)]
        if (off_diagonal == off_diagonal[0]).all():
            raise InputError(f"{variable.name} is constant off its diagonal; leave it out.")
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

    def own_label(self) -> str:
        return self.label_text or getattr(self.function, "__name__", type(self.function).__name__)


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function ``f(A, B)`` that returns the block of kernel values between rows A and B.

    Numbers arrive as two-dimensional arrays (or sparse matrices), labels as arrays of their
    values, other objects as lists.
    """

    function: BlockFunction

    accepts = (Numeric, Sparse, Labels, Items)

    def fitted(self, variable: Variable) -> FittedFunction:
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

    accepts = (Numeric, Sparse)

    @property
    def is_characteristic(self) -> bool:  # type: ignore[override]
        return _is_characteristic(self.source)

    def fitted(self, variable: Variable) -> FittedFunction:
        rows = observations_of(variable)
        if isinstance(variable, Numeric):
            # Some compiled kernels of scikit-learn reject read-only arrays.
            rows = rows.copy()
        if not isinstance(self.source, str):
            return FittedFunction(self.source, rows, variable.name, str(self.source))
        if self.source in NEEDS_POSITIVE:
            check_amounts(variable.name, rows, repr(self.source))
        functions = import_extra(
            "sklearn.metrics.pairwise", extra="features", purpose=f"kernel {self.source!r}"
        )
        function = partial(functions.pairwise_kernels, metric=self.source)
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


@dataclass(frozen=True)
class KernelReport:
    """The result of :func:`check_kernel`.

    Attributes
    ----------
    label : str
        The fitted kernel.
    n_observations : int
        The number of observations that were checked.
    n_not_finite : int
        The number of kernel values that are NaN or infinite.
    asymmetry : float
        The largest ``|K - K'|``, as a share of the largest value.
    smallest_eigenvalue : float
        The smallest eigenvalue of the centred matrix, as a share of the largest in size;
        about 0 or more for a positive semi-definite kernel.
    block_error : float
        The largest difference between blocks evaluated alone and the whole matrix, as a share of
        the largest value.
    failures : tuple of str
        What is wrong, in words; empty if every check passed.
    """

    label: str
    n_observations: int
    n_not_finite: int
    asymmetry: float
    smallest_eigenvalue: float
    block_error: float
    failures: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return not self.failures


def check_kernel(
    kernel: Any,
    data: Any,
    *,
    n_sample: int = 200,
    raise_on_failure: bool = True,
    rng: np.random.Generator | int | None = None,
) -> KernelReport:
    """Check that a kernel is finite, symmetric, positive semi-definite and block-consistent.

    Positive semi-definite after centring, which is all that HSIC needs: minus a distance passes
    if the distance is of negative type.

    Parameters
    ----------
    kernel : str, Kernel or callable
        Whatever ``kernel=`` takes.
    data : array_like, frame or sequence
        Observations like those the kernel is made for.
    n_sample : int, default 200
        The largest number of observations that are checked; more are sampled.
    raise_on_failure : bool, default True
        Raise ValueError if a check fails; otherwise only report it.
    rng : int, Generator or None, default None
        Seed of the sample; None always gives the same one.

    Returns
    -------
    KernelReport

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import check_kernel
    >>> def dot_product(A, B):
    ...     return A @ B.T
    >>> check_kernel(dot_product, np.arange(10.0)).ok
    True
    >>> check_kernel(lambda A, B: -(A @ B.T), np.arange(10.0))
    Traceback (most recent call last):
    ...
    reldep.exceptions.InputError: kernel <lambda> fails on data: ... positive semi-definite: ...
    """
    from reldep.kernels.choosing import as_kernel

    check_count("n_sample", n_sample, at_least=4)
    variable = as_variable(data, "data")
    asked = as_kernel(kernel, variable)
    if len(variable) > n_sample:
        generator = np.random.default_rng(0 if rng is None else rng)
        rows = np.sort(generator.choice(len(variable), n_sample, replace=False))
        variable, asked = variable.take(rows), asked.take(rows)
    report = _examine(asked.fit(variable))
    if report.failures and raise_on_failure:
        faults = "; ".join(report.failures)
        raise InputError(f"kernel {report.label} fails on {variable.name}: {faults}.")
    return report


def _examine(fitted: FittedKernel) -> KernelReport:
    # In another order, because functions that are not symmetric raise between the same rows.
    backwards = np.arange(len(fitted))[::-1]
    matrix = fitted(ALL_ROWS, backwards)[:, ::-1].copy()
    report = partial(KernelReport, fitted.label, len(fitted))
    n_not_finite = int((~np.isfinite(matrix)).sum())
    if n_not_finite:
        fault = f"{n_not_finite} of its values are NaN or infinite"
        return report(n_not_finite, np.nan, np.nan, np.nan, (fault,))
    size = float(np.abs(matrix).max()) or 1.0
    asymmetry = float(np.abs(matrix - matrix.T).max()) / size
    smallest = _smallest_eigenvalue(matrix)
    block_error = _block_error(fitted, matrix) / size
    faults = {
        f"it is not symmetric: |K - K'| is up to {asymmetry:.3g} of its size": asymmetry,
        "it is not positive semi-definite: the smallest eigenvalue after centring is "
        f"{smallest:.3g} times the largest": -smallest,
        f"blocks evaluated alone differ from the whole matrix by {block_error:.3g} of its size: a "
        "value may depend on its two observations only, and the array returned must be a new one": (
            block_error
        ),
    }
    failures = tuple(fault for fault, by in faults.items() if by > ROUNDING)
    return report(0, asymmetry, smallest, block_error, failures)


def _smallest_eigenvalue(matrix: FloatArray) -> float:
    """Return the smallest eigenvalue after centring, relative to the largest in size."""
    centred = matrix - matrix.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    eigenvalues = np.linalg.eigvalsh(0.5 * (centred + centred.T))
    return float(eigenvalues[0] / (np.abs(eigenvalues).max() or 1.0))


def _block_error(fitted: FittedKernel, matrix: FloatArray) -> float:
    """Return the largest difference of uneven blocks, each evaluated twice, from the matrix."""
    n = len(fitted)
    cuts = [0, n // 3, n // 3 + 1, n]
    runs = [slice(start, stop) for start, stop in pairwise(cuts)]
    worst = 0.0
    for rows in runs:
        for cols in runs:
            expected = matrix[rows, cols]
            first = fitted(rows, cols)
            worst = max(worst, float(np.abs(first - expected).max()))
            # Engines write into blocks; that must not change the kernel.
            first.fill(0.0)
            worst = max(worst, float(np.abs(fitted(rows, cols) - expected).max()))
    return worst
