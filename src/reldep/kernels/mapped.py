"""Kernels that first turn each observation into a row of numbers.

Counting words, averaging pixels, putting angles on the circle, scaling columns, a function of
the user's: each of these is a map to rows, after which a kernel for numbers does the
rest. The fitted kernel is that of the rows, so every engine treats it as it treats numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from reldep.data.checks import check_count
from reldep.data.variables import Items, Labels, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import FittedKernel, Kernel, stacked
from reldep.kernels.dot import FittedDot
from reldep.kernels.given import observations_of
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.resolve import KernelSpec


class MappedKernel(Kernel):
    """A kernel on rows made from the observations; subclasses say which rows."""

    @abstractmethod
    def rows(self, variable: Variable) -> Numeric | Sparse:
        """Turn the observations into rows of numbers."""

    @property
    @abstractmethod
    def kernel_of_rows(self) -> Any:
        """Which kernel the rows are compared with: a name, a kernel or a function."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name the map with its parameters."""

    def title_for(self, variable: Variable) -> str:  # noqa: ARG002
        """Name the map, with what it found out about these data."""
        return self.title

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        from reldep.kernels.resolve import as_kernel

        self.check_accepts(variable)
        rows = self.rows(variable)
        if rows.missing().any():
            raise InputError(
                f"kernel {self.title} made NaN or infinite values of {variable.name}: "
                f"{rows.describe_missing()}. Fill in or leave out these observations."
            )
        if rows.is_constant():
            raise InputError(
                f"to kernel {self.title} all {len(rows)} observations of {variable.name} look the "
                "same, so nothing can depend on them (the HSIC is 0 by construction). Choose "
                "another kernel or other parameters."
            )
        fitted = as_kernel(self.kernel_of_rows, rows).fit(rows, rng=rng)
        return _titled(fitted, self.title_for(variable))

    def between(self, first: Variable, second: Variable) -> FloatArray:
        from reldep.kernels.resolve import as_kernel

        self.check_accepts(first)
        rows = self.rows_between(first, second)
        return as_kernel(self.kernel_of_rows, rows[0]).between(*rows)

    def rows_between(self, first: Variable, second: Variable) -> tuple[Variable, Variable]:
        """Make the rows of two samples; the first decides what the data decide."""
        if first is second:
            rows = self.rows(first)
            return rows, rows
        both = self.rows(stacked(first, second))
        places = np.arange(len(both))
        return both.take(places[: len(first)]), both.take(places[len(first) :])

    def frozen(self, fitted: FittedKernel) -> Kernel:
        # Making the rows is the costly part: texts are not read again for every permutation.
        return _Ready(fitted) if isinstance(fitted, (FittedDot, FittedRadial)) else self


@dataclass(frozen=True)
class _Ready(Kernel):
    """A kernel whose rows are made already and follow every selection of observations."""

    fitted: FittedDot | FittedRadial

    def take(self, rows: IntArray) -> Kernel:
        if isinstance(self.fitted, FittedDot):
            return _Ready(replace(self.fitted, rows=self.fitted.rows[rows]))
        return _Ready(replace(self.fitted, points=self.fitted.points.take(rows)))

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:  # noqa: ARG002
        return self.fitted


def _titled(fitted: FittedKernel, title: str) -> FittedKernel:
    """Put the name of the map in front of the label."""
    if isinstance(fitted, (FittedDot, FittedRadial)):
        return replace(fitted, label_text=f"{title}: {fitted.label}")
    return fitted


@dataclass(frozen=True)
class Embedding(MappedKernel):
    """A kernel on vectors that a function of yours makes of the observations.

    For instance a neural network for pictures, sentences or molecules. The function is called
    once on every batch when the kernel is fitted, never on pairs.

    Whether it is characteristic depends on the function, so it does not claim to be.

    Parameters
    ----------
    function : callable
        Takes a batch of observations and returns an array with one row for each.
    batch_size : int, default 64
        How many observations the function gets at a time.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the vectors.

    Examples
    --------
    >>> from reldep.kernels import Embedding
    >>> def vowels(words):
    ...     return [[word.count("a"), word.count("o")] for word in words]
    >>> Embedding(vowels, kernel="linear")(["banana", "cocoa", "avocado", "plum"])
    array([[9., 3., 6., 0.],
           [3., 5., 6., 0.],
           [6., 6., 8., 0.],
           [0., 0., 0., 0.]])
    """

    function: Callable[[Any], Any]
    batch_size: int = 64
    kernel: KernelSpec = "gaussian"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items, Labels, Numeric, Sparse)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputTypeError(
                f"function is of type {type(self.function).__name__}; pass a function that turns "
                "a batch of observations into an array with one row for each."
            )
        check_count("batch_size", self.batch_size, at_least=1)

    @property
    def title(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Embedding({name})"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def rows(self, variable: Variable) -> Numeric:
        observations = observations_of(variable)
        batches: list[FloatArray] = []
        for start in range(0, len(variable), self.batch_size):
            stop = min(start + self.batch_size, len(variable))
            vectors = np.asarray(self.function(observations[start:stop]), dtype=np.float64)
            self._check_batch(vectors, stop - start, batches)
            batches.append(vectors.reshape(stop - start, -1))
        return Numeric(variable.name, np.concatenate(batches))

    def _check_batch(self, vectors: FloatArray, n_expected: int, earlier: list[FloatArray]) -> None:
        if vectors.ndim not in (1, 2) or len(vectors) != n_expected or vectors.size == 0:
            raise InputError(
                f"the embedding returned shape {vectors.shape} for a batch of {n_expected} "
                "observations; it must return one row for each."
            )
        width = vectors.size // n_expected
        if earlier and width != earlier[0].shape[1]:
            raise InputError(
                f"the embedding returned vectors of length {width} after vectors of length "
                f"{earlier[0].shape[1]}; all must have the same length."
            )


def count_matrix(
    rows: npt.NDArray[np.integer[Any]], columns: npt.NDArray[np.integer[Any]], n_rows: int
) -> csr_array:
    """Count the occurrences of each (row, column); there are `n_rows` rows."""
    from scipy.sparse import coo_array

    n_columns = int(columns.max(initial=-1)) + 1
    entries = (np.ones(len(rows)), (rows, columns))
    return coo_array(entries, shape=(n_rows, n_columns)).tocsr()


def unit_rows(rows: csr_array) -> csr_array:
    """Scale each row to length 1; a row of zeros stays as it is."""
    from scipy.sparse import csr_array

    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(of_entry, weights=rows.data**2, minlength=rows.shape[0]))
    # Only rows that hold an entry are looked up, and those have a positive length.
    return csr_array((rows.data / lengths[of_entry], rows.indices, rows.indptr), shape=rows.shape)
