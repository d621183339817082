"""Values of a kernel between two samples, and a check that a function is a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_count
from reldep.data.objects import read_variable
from reldep.data.variables import Variable
from reldep.exceptions import InputError
from reldep.kernels.base import ALL_ROWS
from reldep.kernels.choosing import as_kernel
from reldep.kernels.custom import ROUNDING

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel, Kernel


def evaluate(kernel: Kernel, X: Any, Y: Any = None) -> FloatArray:
    """Return the values of a kernel between two samples, given as users have them."""
    first = _complete(X, "X")
    return kernel.between(first, first if Y is None else _complete(Y, "Y"))


def _complete(data: Any, name: str) -> Variable:
    variable = data if isinstance(data, Variable) else read_variable(data, name)
    if variable.missing().any():
        raise InputError(f"{name} has {variable.describe_missing()}; fill in or leave out.")
    return variable


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
    check_count("n_sample", n_sample, at_least=4)
    variable = data if isinstance(data, Variable) else read_variable(data, "data")
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
    n_not_finite = int((~np.isfinite(matrix)).sum())
    if n_not_finite:
        fault = f"{n_not_finite} of its values are NaN or infinite"
        missing = float("nan")
        return KernelReport(
            fitted.label, len(fitted), n_not_finite, missing, missing, missing, (fault,)
        )
    size = float(np.abs(matrix).max()) or 1.0
    asymmetry = float(np.abs(matrix - matrix.T).max()) / size
    smallest = _smallest_eigenvalue(matrix)
    block_error = _block_error(fitted, matrix) / size
    failures = []
    if asymmetry > ROUNDING:
        failures.append(f"it is not symmetric: |K - K'| is up to {asymmetry:.3g} of its size")
    if smallest < -ROUNDING:
        failures.append(
            "it is not positive semi-definite: the smallest eigenvalue after centring is "
            f"{smallest:.3g} times the largest"
        )
    if block_error > ROUNDING:
        failures.append(
            f"blocks evaluated alone differ from the whole matrix by {block_error:.3g} of its "
            "size: a value may depend on its two observations only, and the array returned must "
            "be a new one"
        )
    return KernelReport(
        fitted.label, len(fitted), 0, asymmetry, smallest, block_error, tuple(failures)
    )


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
