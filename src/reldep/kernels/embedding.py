"""The kernel for anything: the user's own function turns observations into vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_count
from reldep.data.variables import Items, Labels, Numeric, Sparse, Variable
from reldep.kernels.given import observations_of
from reldep.kernels.mapped import MappedKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.data.variables import FloatArray
    from reldep.kernels.resolve import KernelSpec


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
    >>> from reldep.data.objects import read_variable
    >>> def vowels(words):
    ...     return [[word.count("a"), word.count("o")] for word in words]
    >>> words = read_variable(["banana", "cocoa", "avocado", "plum"], "words")
    >>> Embedding(vowels, kernel="linear").rows(words).values
    array([[3., 0.],
           [1., 2.],
           [2., 2.],
           [0., 0.]])
    """

    function: Callable[[Any], Any]
    batch_size: int = 64
    kernel: KernelSpec = "gaussian"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items, Labels, Numeric, Sparse)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
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
            raise ValueError(
                f"the embedding returned shape {vectors.shape} for a batch of {n_expected} "
                "observations; it must return one row for each."
            )
        width = vectors.size // n_expected
        if earlier and width != earlier[0].shape[1]:
            raise ValueError(
                f"the embedding returned vectors of length {width} after vectors of length "
                f"{earlier[0].shape[1]}; all must have the same length."
            )
