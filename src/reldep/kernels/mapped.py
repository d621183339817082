"""Kernels that first turn each observation into a row of numbers.

Counting words, averaging pixels, putting angles on the circle, scaling columns, a function of
the user's: each of these is a map to rows, after which a kernel for numbers does the rest. The
fitted kernel is that of the rows, so every engine treats it as it treats numbers. :class:`Images`
stands here because it is no more than that.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reldep.data.checks import check_choice, check_count
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
    from reldep.kernels.choosing import KernelSpec


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
        from reldep.kernels.choosing import as_kernel

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
        from reldep.kernels.choosing import as_kernel

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


LAYOUTS = ("auto", "NHWC", "NCHW")

# Grey, colour, colour with transparency.
CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class Images(MappedKernel):
    """A kernel between pictures of one size, by their averaged pixels.

    Pictures larger than `max_side` are divided into equal square blocks, as few pixels wide as
    brings both sides down to `max_side`; each block becomes its mean, channel by channel.
    Averaging keeps shapes, drops noise and makes the distance a little less sensitive to small
    shifts: of 400 digits of 40 × 40 pixels, shifted at random by up to 2 pixels, the CKA with the
    digit falls from .54 to .34 on all pixels and to .39 on 10 × 10 blocks; by up to 4 pixels, to
    .15 and .16. Where what matters is finer or moves about, use :class:`Embedding` with a network.

    With ``max_side=None`` every pixel counts, and the kernel is characteristic if `kernel` is;
    with a reduction it is not, since details within a block are lost.

    Parameters
    ----------
    max_side : int or None, default 32
        The longest side after the reduction, in pixels. None keeps all pixels.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the pixels.
    layout : {"auto", "NHWC", "NCHW"}, default "auto"
        Whether the channels come last or before height and width. "auto" looks for the side of
        length 1, 3 or 4, says in the label which layout it found, and refuses pictures that
        could be either.

    Notes
    -----
    The data are an array of shape (n, height, width), (n, height, width, channels) or (n,
    channels, height, width), or a list of n such pictures; integers or floats.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Images
    >>> Images(max_side=2).reduce(np.arange(16.0).reshape(1, 4, 4))
    array([[[ 2.5,  4.5],
            [10.5, 12.5]]])
    """

    max_side: int | None = 32
    kernel: KernelSpec = "gaussian"
    layout: Literal["auto", "NHWC", "NCHW"] = "auto"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items,)

    def __post_init__(self) -> None:
        if self.max_side is not None:
            check_count("max_side", self.max_side, at_least=1)
        check_choice("layout", self.layout, LAYOUTS)

    @property
    def is_characteristic(self) -> bool:
        from reldep.kernels.choosing import is_characteristic

        return self.max_side is None and is_characteristic(self.kernel)

    @property
    def title(self) -> str:
        return f"Images(max_side={self.max_side})"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def title_for(self, variable: Variable) -> str:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 3:
            return self.title
        return f"{self.title[:-1]}, {self._layout_of(pictures.shape, variable.name)})"

    def rows(self, variable: Variable) -> Numeric:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 4 and self._layout_of(pictures.shape, variable.name) == "NCHW":
            pictures = np.moveaxis(pictures, 1, 3)
        return Numeric(variable.name, self.reduce(pictures).reshape(len(pictures), -1))

    def _layout_of(self, shape: tuple[int, ...], name: str) -> str:
        """Tell where the channels are."""
        if self.layout != "auto":
            return self.layout
        first, last = shape[1] in CHANNELS, shape[3] in CHANNELS
        if first == last:
            fault = "could have their channels first or last" if first else "have no side of"
            raise InputError(
                f"the pictures of {name} have the shape {shape[1:]}, which {fault}"
                f"{'' if first else ' 1, 3 or 4 for the channels'}",
                'pass Images(layout="NHWC") if the channels come last, layout="NCHW" if first.',
            )
        return "NCHW" if first else "NHWC"

    def reduce(self, pictures: npt.NDArray[Any]) -> FloatArray:
        """Average blocks of pixels until no side is longer than `max_side`."""
        longest = max(pictures.shape[1:3])
        block = 1 if self.max_side is None else -(-longest // self.max_side)
        if block == 1:
            return pictures.astype(np.float64)
        return _block_means(pictures, block)


def _block_means(pictures: npt.NDArray[Any], block: int) -> FloatArray:
    """Average squares of `block` pixels; those at the lower and right edge may be smaller."""
    n, height, width, *channels = pictures.shape
    rows, columns = -(-height // block), -(-width // block)
    sums = np.zeros((n, rows, columns, *channels))
    sizes = np.zeros((rows, columns, *[1] * len(channels)))
    for i in range(block):
        for j in range(block):
            pixels = pictures[:, i::block, j::block]
            corner = (slice(pixels.shape[1]), slice(pixels.shape[2]))
            sums[:, *corner] += pixels
            sizes[corner] += 1.0
    means: FloatArray = sums / sizes
    return means


def _as_one_array(variable: Items) -> npt.NDArray[Any]:
    """Give all pictures as one array."""
    items = variable.items
    if not isinstance(items, np.ndarray):
        pictures = [np.asarray(item) for item in items]
        shapes = {picture.shape for picture in pictures}
        if len(shapes) > 1:
            first, second = sorted(shapes)[:2]
            raise InputError(
                f"the pictures of {variable.name} have different shapes, such as {first} and "
                f"{second}",
                "resize them to one shape first.",
            )
        items = np.stack(pictures)
    if items.ndim not in (3, 4) or items.dtype.kind not in "biuf" or 0 in items.shape:
        raise InputError(
            f"{variable.name} is an array of shape {items.shape} and type {items.dtype}",
            "kernel Images takes numbers of shape (n, height, width), (n, height, width, channels) "
            "or (n, channels, height, width).",
        )
    return items
