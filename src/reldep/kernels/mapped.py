"""Kernels that first turn each observation into a row of numbers.

Counts of words, averaged pixels, points on a circle, scaled columns, an embedding by a function of
the user: each is a map to rows, which a kernel for numbers then compares. The fitted kernel is that
of the rows, so every engine treats it like numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reldep.arguments import check_choice, check_count
from reldep.data.variables import FloatArray, Items, Labels, Numeric, Sparse, SparseArray, Variable
from reldep.exceptions import InputError, InputTypeError, NoVariationError
from reldep.kernels.base import FittedKernel, Kernel, KernelSpec, check_same, stacked, wrong_type
from reldep.kernels.custom import called, observations_of


class MappedKernel(Kernel):
    """A kernel on rows that are computed from the observations.

    Attributes
    ----------
    kernel : str, Kernel or callable
        The kernel on the rows.
    is_injective : bool
        Whether different observations always have different rows.
    """

    kernel: KernelSpec = "linear"
    is_injective: ClassVar[bool] = False

    @abstractmethod
    def rows(self, variable: Variable) -> Numeric | Sparse:
        """Return the observations as rows of numbers."""

    @property
    def title(self) -> str:
        """The map as it was written, without its kernel and what is left at its default."""
        given = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)  # type: ignore[arg-type]
            if one.name != "kernel" and getattr(self, one.name) != one.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def title_for(self, variable: Variable) -> str:  # noqa: ARG002
        """Return the title, with what the data decided."""
        return self.title

    def kernel_of(self, rows: Variable) -> Kernel:
        """Return the kernel on the rows."""
        from reldep.kernels.choosing import as_kernel

        return as_kernel(self.kernel, rows)

    @property
    def is_characteristic(self) -> bool:  # type: ignore[override]
        from reldep.kernels.choosing import is_characteristic

        return self.is_injective and is_characteristic(self.kernel)

    def fitted(self, variable: Variable) -> FittedKernel:
        rows = self.rows(variable)
        if rows.missing().any():
            raise InputError(
                f"kernel {self.title} turned {variable.name} into NaN or infinite values: "
                f"{rows.describe_missing()}. Fill in or leave out these observations."
            )
        if rows.is_constant():
            raise NoVariationError(
                f"to kernel {self.title} all {len(rows)} observations of {variable.name} look the "
                "same (the HSIC is 0 by construction); choose another kernel or parameters."
            )
        fitted, title = self.kernel_of(rows).fit(rows), self.title_for(variable)
        return replace(fitted, title=f"{title}: {fitted.title}" if fitted.title else title)

    def frozen(self, variable: Variable) -> Kernel:
        # It looks again at these rows for every block of others: as many as a usual block has.
        few = variable.take(np.arange(min(len(variable), 2_000)))
        rows = self.rows(few)
        return FrozenMap(self, few, self.kernel_of(rows).frozen(rows))

    def between(self, first: Variable, second: Variable) -> FloatArray:
        rows = self.rows_between(first, second)
        kernel = self.kernel_of(rows[0])
        kernel.check_accepts(rows[0])
        return kernel.between(*rows)

    def rows_between(self, first: Variable, second: Variable) -> tuple[Variable, Variable]:
        """Return the rows of two samples; parameters are estimated from the first."""
        if first is second:
            rows = self.rows(first)
            return rows, rows
        both = self.rows(stacked(first, second))
        places = np.arange(len(both))
        return both.take(places[: len(first)]), both.take(places[len(first) :])


@dataclass(frozen=True)
class FrozenMap(MappedKernel):
    """A map of observations to rows with the parameters of one variable, for other observations.

    Attributes
    ----------
    map : MappedKernel
    like : Variable
        The observations that decide its parameters, such as weights of words.
    """

    map: MappedKernel
    like: Variable = field(repr=False)
    kernel: KernelSpec

    def rows(self, variable: Variable) -> Numeric | Sparse:
        return self.map.rows_between(self.like, variable)[1]  # type: ignore[return-value]

    @property
    def title(self) -> str:
        return self.map.title

    def check_accepts(self, variable: Variable) -> None:
        self.map.check_accepts(variable)


@dataclass(frozen=True)
class Embedding(MappedKernel):
    """A kernel on vectors that a function of yours computes from the observations.

    For instance a neural network for pictures, sentences or molecules. The function is called
    once per batch when the kernel is fitted, never on pairs. Whether the kernel is characteristic
    depends on the function, so `is_characteristic` is False.

    Parameters
    ----------
    function : callable
        Takes a batch of observations and returns an array with one row for each.
    batch_size : int, default 64
        The number of observations that the function receives at a time.
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

    accepts = (Items, Labels, Numeric, Sparse)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise wrong_type("function", self.function, "pass a function of a batch.")
        check_count("batch_size", self.batch_size, at_least=1)

    @property
    def title(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Embedding({name})"

    def rows(self, variable: Variable) -> Numeric:
        observations = observations_of(variable)
        batches: list[FloatArray] = []
        for start in range(0, len(variable), self.batch_size):
            stop = min(start + self.batch_size, len(variable))
            vectors = called("embedding", self.function, observations[start:stop])
            if vectors.ndim not in (1, 2) or len(vectors) != stop - start or vectors.size == 0:
                raise InputError(
                    f"the embedding returned shape {vectors.shape} for a batch of {stop - start} "
                    "observations; it must return one row for each."
                )
            batches.append(vectors.reshape(stop - start, -1))
        check_same("the vectors of the embedding", (batch.shape[1] for batch in batches))
        return Numeric(variable.name, np.concatenate(batches))


def count_matrix(
    rows: npt.NDArray[np.integer[Any]], columns: npt.NDArray[np.integer[Any]], n_rows: int
) -> SparseArray:
    """Return how often each (row, column) occurs, as a sparse matrix of `n_rows` rows."""
    from scipy.sparse import coo_array

    n_columns = int(columns.max(initial=-1)) + 1
    entries = (np.ones(len(rows)), (rows, columns))
    return coo_array(entries, shape=(n_rows, n_columns)).tocsr()


def unit_rows(rows: SparseArray) -> SparseArray:
    """Return rows scaled to length 1; a row of zeros stays as it is."""
    from scipy.sparse import csr_array

    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(of_entry, weights=rows.data**2, minlength=rows.shape[0]))
    # Only rows with an entry are looked up, and those have a positive length.
    return csr_array((rows.data / lengths[of_entry], rows.indices, rows.indptr), shape=rows.shape)


def tables_of(variable: Variable, row: str) -> list[FloatArray]:
    """Return each observation as a table of numbers, all with the same number of columns.

    Parameters
    ----------
    variable : Numeric or Items
        A row of numbers, or a list of numbers, is a table of one column.
    row : str
        What a row of a table is, for messages: "time" or "vector".
    """
    items = variable.values if isinstance(variable, Numeric) else variable.items  # type: ignore[attr-defined]
    tables = [
        _table(item, f"observation {i} of {variable.name}", row) for i, item in enumerate(items)
    ]
    check_same(f"the numbers per {row} of {variable.name}", (one.shape[1] for one in tables))
    return tables


def _table(item: Any, place: str, row: str) -> FloatArray:
    # A series or frame of pandas, polars or another library; its index is ignored.
    item = item.to_numpy() if hasattr(item, "to_numpy") else item
    way_out = f"pass a sequence of numbers, or a table with one row per {row}."
    if not isinstance(item, (list, tuple, np.ndarray)):
        raise wrong_type(place, item, way_out)
    try:
        values = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"{place} has values that are not numbers; {way_out}") from error
    if values.ndim not in (1, 2) or values.size == 0:
        raise InputError(f"{place} has shape {values.shape}; {way_out}")
    if not np.isfinite(values).all():
        raise InputError(f"{place} has NaN or infinite values; fill them in or leave them out.")
    return values.reshape(len(values), -1)


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

    accepts = (Items,)

    def __post_init__(self) -> None:
        if self.max_side is not None:
            check_count("max_side", self.max_side, at_least=1)
        check_choice("layout", self.layout, ("auto", "NHWC", "NCHW"))

    @property
    def is_injective(self) -> bool:  # type: ignore[override]
        return self.max_side is None

    def title_for(self, variable: Variable) -> str:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 3:
            return self.title
        return f"{self.title}, {self._layout_of(pictures.shape, variable.name)}"

    def rows(self, variable: Variable) -> Numeric:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 4 and self._layout_of(pictures.shape, variable.name) == "NCHW":
            pictures = np.moveaxis(pictures, 1, 3)
        return Numeric(variable.name, self.reduce(pictures).reshape(len(pictures), -1))

    def _layout_of(self, shape: tuple[int, ...], name: str) -> str:
        """Return the layout of pictures of this shape."""
        if self.layout != "auto":
            return self.layout
        # Grey, colour, colour with transparency.
        first, last = shape[1] in (1, 3, 4), shape[3] in (1, 3, 4)
        if first == last:
            raise InputError(
                f"the pictures of {name} have shape {shape[1:]}, with {'two' if first else 'no'} "
                'sides that may be channels; pass Images(layout="NHWC"), or "NCHW" for channels '
                "first."
            )
        return "NCHW" if first else "NHWC"

    def reduce(self, pictures: npt.NDArray[Any]) -> FloatArray:
        """Return pictures with blocks of pixels averaged until no side exceeds `max_side`."""
        longest = max(pictures.shape[1:3])
        block = 1 if self.max_side is None else -(-longest // self.max_side)
        if block == 1:
            return pictures.astype(np.float64)
        return _block_means(pictures, block)


def _block_means(pictures: npt.NDArray[Any], block: int) -> FloatArray:
    """Return means of squares of `block` pixels, smaller at the lower and right edge."""
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
    """Return all pictures as one array."""
    items = variable.items
    if not isinstance(items, np.ndarray):
        pictures = [np.asarray(item) for item in items]
        check_same(f"the shapes of {variable.name}", (picture.shape for picture in pictures))
        items = np.stack(pictures)
    if items.ndim not in (3, 4) or items.dtype.kind not in "biuf" or 0 in items.shape:
        raise InputError(
            f"{variable.name} has shape {items.shape} and type {items.dtype}; kernel Images takes "
            "numbers of shape (n, height, width), with channels last or second."
        )
    return items
