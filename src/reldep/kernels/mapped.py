"""Kernels that first turn each observation into a row of numbers.

Averaged pixels, scaled columns, log-ratios, alleles, places in an order, an embedding by a function
of the user: each is a map to rows, which a kernel for numbers then compares. The fitted kernel is
that of the rows, so every engine treats it like numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reldep.arguments import check_choice, check_count, check_positive
from reldep.data.variables import FloatArray, Items, Labels, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError, NoVariationError
from reldep.kernels.base import (
    Bandwidth,
    FittedKernel,
    FittedValues,
    Kernel,
    check_amounts,
    check_same,
    stacked,
    wrong_type,
)
from reldep.kernels.custom import called, observations_of
from reldep.kernels.distances import FIRST, ROOT, TIMES, Factor, Points
from reldep.kernels.radial import FittedFactors, FittedRadial
from reldep.words import composed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.kernels.base import Rows
    from reldep.kernels.choosing import KernelSpec


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
) -> csr_array:
    """Return how often each (row, column) occurs, as a sparse matrix of `n_rows` rows."""
    from scipy.sparse import coo_array

    n_columns = int(columns.max(initial=-1)) + 1
    entries = (np.ones(len(rows)), (rows, columns))
    return coo_array(entries, shape=(n_rows, n_columns)).tocsr()


def unit_rows(rows: csr_array) -> csr_array:
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


@dataclass(frozen=True)
class Standardized(MappedKernel):
    """A kernel on columns that are first brought to standard deviation 1.

    A kernel with one bandwidth adds up the squared differences of all columns, so a column in
    small units (grams) outweighs one in large units (tonnes), although units are arbitrary.
    Standardising gives all columns the same weight. It is not the default, because columns in one
    unit (pixels, expression of genes) often differ in spread for a reason.

    The deviations are estimated, and inference that follows bandwidths follows them too, for up
    to 12 columns; of more, each one moves the kernel little.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the standardised columns.

    Examples
    --------
    >>> from reldep.kernels import Gaussian, Standardized
    >>> Standardized(Gaussian(1.0))([[0.0, 0.0], [1.0, 1000.0]]).round(3)
    array([[1.   , 0.018],
           [0.018, 1.   ]])
    """

    kernel: KernelSpec = "gaussian"

    accepts = (Numeric,)
    is_injective = True

    @property
    def title(self) -> str:
        return "Standardized"

    def fitted(self, variable: Variable) -> FittedKernel:
        fitted = super().fitted(variable)
        if not isinstance(fitted, FittedRadial) or len(fitted.ratios) > 1:
            return fitted
        parts = {one.name: getattr(fitted, one.name) for one in fields(fitted)}
        return FittedStandardized(**parts)

    def rows(self, variable: Variable) -> Numeric:
        return self.rows_between(variable, variable)[0]

    def rows_between(self, first: Variable, second: Variable) -> tuple[Numeric, Numeric]:
        values, others = first.values, second.values  # type: ignore[attr-defined]
        scaled, others_scaled = standardised(values, others)
        return Numeric(first.name, scaled), Numeric(second.name, others_scaled)


def standardised(values: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns with mean 0 and standard deviation 1, and other rows in the same units.

    A column without variation becomes 0. Columns are first divided by a power of two near their
    largest value, whose squares are numbers.
    """
    exponents = np.frexp(np.abs(values).max(axis=0))[1]
    inside, outside = (np.ldexp(table, -exponents) for table in (values, others))
    centre, deviation = inside.mean(axis=0), inside.std(axis=0)
    deviation[(values == values[0]).all(axis=0)] = np.inf
    return (inside - centre) / deviation, (outside - centre) / deviation


class FittedStandardized(FittedRadial):
    """A radial kernel on standardised columns, whose deviations move with every observation.

    With z_c the standardised difference in column c, d² their sum of squares and σ the bandwidth,
    the kernel changes with the logarithm of the deviation s_c by::

        ∂K/∂log s_c = ∂K/∂log σ (z_c²/d² - w_c)

    where w_c is the share of column c in the scale that σ is a multiple of (0 for a bandwidth
    that was given): the w_c add up to 1, because deviations that grow alike change nothing.
    """

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Return the bandwidth and, for up to 12 columns, their deviations."""
        own = super().bandwidths()
        if not 2 <= self.points.n_columns <= 12:
            return own  # of more, each moves the kernel little
        return (*own, *map(self._deviation, range(self.points.n_columns), self._shares_of_scale()))

    def _deviation(self, column: int, share: float) -> Bandwidth:
        values = np.asarray(self.points.rows)[:, [column]]
        points = Points(values, self.points.unit)
        # The mean over the others of (z_i - z_j)² is z_i² + 1, and the influence on log s is half
        # of z_i² - 1: a quarter of the square, as every leverage is doubled.
        half = 0.5 * points.unit
        root = Factor(FIRST, ROOT, values, half)
        score = FittedFactors(points, (root, root._replace(how=TIMES)))

        def slope(rows: Rows, cols: Rows) -> FloatArray:
            squares = self.points.squared_distances(rows, cols)
            ratio = points.squared_distances(rows, cols)
            np.divide(ratio, squares, out=ratio, where=squares > 0)
            ratio -= share
            ratio *= self.slope()(rows, cols)
            return ratio

        return Bandwidth(1.0, "standard deviation", FittedValues(len(self), slope), score)

    def _shares_of_scale(self, most_rows: int = 400) -> FloatArray:
        """Return an estimate of each column's share in the scale, from the pairs of some rows."""
        scale = self.chosen
        if scale.rule == "given":
            return np.zeros(self.points.n_columns)
        n = len(self.points)
        rows = np.unique(np.linspace(0, n - 1, min(n, most_rows)).astype(np.int64))
        values = self.points.unit * np.asarray(self.points.rows)[rows]
        first, second = np.triu_indices(len(rows), k=1)
        squares = np.square(values[first] - values[second])
        distances = np.sqrt(squares.sum(axis=1))
        squares, distances = squares[distances > 0], distances[distances > 0]
        weights = 1.0 / distances
        if scale.rule == "median":
            # The median moves with the distances that are near it.
            weights *= np.exp(-0.5 * np.square((distances / scale.value - 1.0) / 0.1))
        shares = weights @ squares
        return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Composition(MappedKernel):
    """A kernel for parts of a whole: shares of time, of a budget, of species, of fatty acids.

    Parts of the same total cannot vary independently: more of one means less of the others, and a
    plain kernel reports this as dependence. Only ratios carry information. The centred log-ratio,
    ``log x_j - mean_j log x_j``, turns rows into points whose distances are those of the ratios;
    the total of a row, and so its unit, drops out.

    It is characteristic for compositions without zeros if `kernel` is.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the log-ratios.
    zero : float, optional
        The share of its row that a part of 0 stands for, for instance half of the detection limit.
        Without it zeros are rejected: they have no logarithm.

    References
    ----------
    Aitchison (1982), The statistical analysis of compositional data, JRSS B 44.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Composition
    >>> shares = np.array([[0.2, 0.3, 0.5], [20, 30, 50], [0.1, 0.3, 0.6]])
    >>> Composition("linear")(shares).round(3)
    array([[0.422, 0.422, 0.814],
           [0.422, 0.422, 0.814],
           [0.814, 0.814, 1.633]])
    """

    kernel: KernelSpec = "gaussian"
    zero: float | None = None

    accepts = (Numeric,)

    def __post_init__(self) -> None:
        if self.zero is not None:
            check_positive("zero", self.zero)

    @property
    def is_injective(self) -> bool:  # type: ignore[override]
        return self.zero is None

    def rows(self, variable: Variable) -> Numeric:
        values: FloatArray = variable.values  # type: ignore[attr-defined]
        if values.shape[1] < 2:
            raise InputError(f"{variable.name} has one column; a composition has two or more.")
        check_amounts(variable.name, values, "Composition")
        totals = values.sum(axis=1, keepdims=True)
        empty = values == 0
        if empty.any() and self.zero is None:
            raise InputError(
                f"{variable.name} has {int(empty.sum())} zeros, which have no logarithm; pass the "
                "share that a zero stands for as Composition(zero=...), or add up rare parts."
            )
        shares = np.where(empty, self.zero or 1.0, values / np.where(totals > 0, totals, 1.0))
        logs = np.log(shares)
        return Numeric(variable.name, logs - logs.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Genotypes(MappedKernel):
    """Identity by state: the share of alleles that two individuals have in common.

    Takes genotypes as counts of one allele, 0, 1 or 2, one column per locus. Two individuals share
    ``1 - |a - b| / 2`` at a locus, and the kernel is the mean over loci. It is the dot product of
    explicit features, so positive semi-definite and fast for many individuals; it ignores
    interactions of loci, so it is not characteristic.

    Parameters
    ----------
    weights : sequence of float, optional
        The weight of each locus, for instance larger for rare alleles; equal by default.

    References
    ----------
    Wu et al. (2010), Powerful SNP-set analysis for case-control genome-wide association studies,
    American Journal of Human Genetics 86.

    Examples
    --------
    >>> from reldep.kernels import Genotypes
    >>> Genotypes()([[0, 2], [1, 2], [2, 0]])
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """

    weights: Sequence[float] | None = None

    accepts = (Numeric,)

    @property
    def title(self) -> str:
        return "Genotypes()" if self.weights is None else "Genotypes(weighted)"

    def rows(self, variable: Variable) -> Numeric:
        counts: FloatArray = variable.values  # type: ignore[attr-defined]
        odd = ~np.isin(counts, (0.0, 1.0, 2.0))
        if odd.any():
            raise InputError(f"{variable.name} has {counts[odd][0]:g}; Genotypes takes 0, 1, 2.")
        shares = np.sqrt(self._shares(counts.shape[1], variable.name) / 2.0)
        # |a - b| counts the steps between two genotypes; each step is one mark from either side.
        marks = [(counts >= step) * shares for step in (1, 2)]
        marks += [(counts < step) * shares for step in (1, 2)]
        return Numeric(variable.name, np.hstack(marks))

    def _shares(self, n_loci: int, name: str) -> FloatArray:
        if self.weights is None:
            return np.full(n_loci, 1.0 / n_loci)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (n_loci,) or not (weights >= 0).all() or weights.sum() == 0:
            raise InputError(
                f"weights has shape {weights.shape}; pass one of at least 0 per column of {name}."
            )
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Ordered(MappedKernel):
    """A kernel for categories that have an order: grades, stages, answers from "no" to "yes".

    Categories become their place in the order, 0, 1, 2, …, so that neighbours are more similar than
    extremes. It is the default for ordered categories of pandas. With :class:`Delta` all different
    categories are equally different.

    Parameters
    ----------
    order : sequence, optional
        The categories from lowest to highest; needed unless the data have an order.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the places.

    Examples
    --------
    >>> from reldep.kernels import Ordered
    >>> Ordered(["low", "middle", "high"], kernel="linear")(["high", "low", "middle"])
    array([[4., 0., 2.],
           [0., 0., 0.],
           [2., 0., 1.]])
    """

    order: Sequence[Any] | None = None
    kernel: KernelSpec = "gaussian"

    accepts = (Labels,)
    is_injective = True

    @property
    def title(self) -> str:
        return "Ordered()"

    def title_for(self, variable: Variable) -> str:
        places = self._places(variable)  # type: ignore[arg-type]
        return f"Ordered({' < '.join(map(str, places))})" if len(places) <= 6 else self.title

    def rows(self, variable: Variable) -> Numeric:
        places = self._places(variable)  # type: ignore[arg-type]
        values = variable.values()  # type: ignore[attr-defined]
        unknown = [value for value in dict.fromkeys(values) if value not in places]
        if unknown:
            raise InputError(f"{variable.name} has {unknown[0]!r}, not in the order {[*places]}.")
        return Numeric(variable.name, np.array([[places[value]] for value in values], dtype=float))

    def _places(self, labels: Labels) -> dict[Any, int]:
        order = labels.order if self.order is None else self.order
        if order is None:
            raise InputTypeError(f"{labels.name} has no order; pass Ordered([lowest, ...]).")
        return {composed(category): place for place, category in enumerate(order)}
