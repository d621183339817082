"""Kernels for sets, counts and bags of vectors: each observation is itself a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reldep.arguments import check_positive
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable, check_varies
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import FittedKernel, Kernel, as_variable, check_amounts, check_items
from reldep.kernels.distances import dot_products
from reldep.kernels.mapped import MappedKernel, tables_of
from reldep.kernels.radial import Gaussian
from reldep.kernels.scale import sampled_median
from reldep.system import import_extra
from reldep.words import composed

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, SparseArray
    from reldep.kernels.base import KernelSpec, Rows


@dataclass(frozen=True, eq=False)
class FittedOverlap(FittedKernel):
    """What two rows of amounts share, ``Σ min``, divided by what at least one has, ``Σ max``.

    For sets, as 0/1 rows, the product of two rows counts the elements shared.
    """

    rows: FloatArray | SparseArray
    are_sets: bool

    def __len__(self) -> int:
        return len(self._sizes)

    @cached_property
    def _sizes(self) -> FloatArray:
        return np.asarray(self.rows.sum(axis=1), dtype=np.float64).ravel()

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        first, second = self.rows[rows], self.rows[cols]
        together = self._sizes[rows][:, None] + self._sizes[cols]
        # From |x - y|₁ = Σx + Σy - 2 Σ min(x, y).
        shared = dot_products(first, second) if self.are_sets else self._apart(first, second)
        if not self.are_sets:
            shared = np.maximum(0.5 * (together - shared), 0.0)
        either = together - shared
        # Two empty observations are the same: there the share is 1.
        return np.divide(shared, either, out=np.ones_like(shared), where=either > 0)

    @staticmethod
    def _apart(first: FloatArray | SparseArray, second: FloatArray | SparseArray) -> FloatArray:
        if isinstance(first, np.ndarray):
            from scipy.spatial.distance import cdist

            return np.asarray(cdist(first, second, "cityblock"))
        pairwise = import_extra(
            "sklearn.metrics.pairwise", extra="features", purpose="MinMax on sparse rows"
        )
        return np.asarray(pairwise.manhattan_distances(first, second))

    def own_label(self) -> str:
        return "Jaccard()" if self.are_sets else "MinMax()"


class _Overlap(Kernel):
    """What both kernels share: rows of amounts, read from the data."""

    is_characteristic = True

    def fit(self, data: Any) -> FittedKernel:
        variable = as_variable(data, "X")
        fitted: Any = super().fit(variable)
        kind = Numeric if isinstance(fitted.rows, np.ndarray) else Sparse
        check_varies(kind(variable.name, fitted.rows))
        return fitted  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Jaccard(_Overlap):
    """The share of elements that two sets have in common, ``|A ∩ B| / |A ∪ B|``.

    Takes a sequence of sets (or of lists, read as sets), or rows of 0 and 1 or of booleans. Lists
    of labels that all have the same length are read as sets too. Two empty sets
    have the value 1. Positive definite on different sets (Bouchard, Jousselme & Doré 2013) and
    so characteristic for sets taken from finitely many elements.

    References
    ----------
    Bouchard, Jousselme & Doré (2013), A proof for the positive definiteness of the Jaccard
    index matrix, International Journal of Approximate Reasoning 54.

    Examples
    --------
    >>> from reldep.kernels import Jaccard
    >>> Jaccard()([{"tea", "milk"}, {"tea"}, {"rice"}])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    accepts = (Items, Numeric, Sparse, Labels, Mixed)

    def fitted(self, variable: Variable) -> FittedOverlap:
        return FittedOverlap(_membership(variable), are_sets=True)


@dataclass(frozen=True)
class MinMax(_Overlap):
    """The overlap of two rows of counts or amounts, ``Σ min(x, y) / Σ max(x, y)``.

    Takes rows of numbers that are at least 0, or a sequence of mappings from element to count
    (:class:`collections.Counter`). On rows of 0 and 1 it is :class:`Jaccard`; two rows of zeros
    have the value 1. Positive definite, and characteristic for bounded rows. Sparse rows need
    the extra ``features``.

    Columns count by their size: bring amounts in different units to one scale first.

    Examples
    --------
    >>> from reldep.kernels import MinMax
    >>> MinMax()([[2, 1], [1, 1], [0, 3]]).round(3)
    array([[1.   , 0.667, 0.2  ],
           [0.667, 1.   , 0.25 ],
           [0.2  , 0.25 , 1.   ]])
    """

    accepts = (Numeric, Sparse, Items)

    def fitted(self, variable: Variable) -> FittedOverlap:
        if isinstance(variable, Items):
            variable = Sparse(variable.name, _counted(variable))
        rows: FloatArray | SparseArray = variable.values  # type: ignore[attr-defined]
        check_amounts(variable.name, rows, "MinMax")
        return FittedOverlap(_with_short_indices(rows), are_sets=False)


def _with_short_indices(rows: FloatArray | SparseArray) -> FloatArray | SparseArray:
    """Return sparse rows with the 32-bit indices that scikit-learn's compiled distances need."""
    if isinstance(rows, np.ndarray):
        return rows
    short = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))
    return type(rows)(short, shape=rows.shape)


def _membership(variable: Variable) -> SparseArray:
    """Return the 0/1 matrix of observations by elements."""
    from scipy.sparse import csr_array

    if isinstance(variable, Items):
        check_items(variable, (Set, list, tuple), "Jaccard", "sets")
        try:
            return _matrix_of([dict.fromkeys(map(composed, item), 1.0) for item in variable.items])
        except TypeError as error:
            wanted = f"elements of {variable.name} must be strings, numbers or tuples"
            raise InputTypeError(f"{wanted}: {error}.") from error
    if isinstance(variable, (Labels, Mixed)):
        return _membership_of_columns(variable)
    rows = csr_array(variable.values)  # type: ignore[attr-defined]
    if not np.isin(rows.data, (0.0, 1.0)).all():
        raise InputError(
            f"{variable.name} has values other than 0 and 1; if each row lists the elements of a "
            "set, pass [set(row) for row in rows]; for counts use MinMax()."
        )
    return rows


def _membership_of_columns(variable: Labels | Mixed) -> SparseArray:
    """Read label columns: booleans mark elements, other labels are the elements of a row."""
    from scipy.sparse import csr_array

    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns = [part.values() for part in parts if isinstance(part, Labels)]
    if all(isinstance(value, (bool, np.bool_)) for column in columns for value in column):
        marks = [np.array(column, dtype=np.float64)[:, None] for column in columns]
        numbers = variable.numbers() if isinstance(variable, Mixed) else None
        if numbers is not None:
            marks.append(numbers.values)
        return _membership(Numeric(variable.name, np.hstack(marks)))
    if len(columns) < max(2, len(parts)):
        raise InputTypeError(
            f"{variable.name} contains single labels, or labels next to numbers; kernel Jaccard "
            "takes a list of sets. For labels pass Delta()."
        )
    return csr_array(_matrix_of([dict.fromkeys(row, 1.0) for row in zip(*columns, strict=True)]))


def _counted(variable: Items) -> SparseArray:
    check_items(variable, (Mapping,), "MinMax", "mappings from element to count")
    counts = _matrix_of(variable.items)
    if not np.isfinite(counts.data).all():
        raise InputError(f"{variable.name} has counts that are NaN or infinite; fill them in.")
    return counts


def _matrix_of(observations: Sequence[Mapping[Any, Any]] | npt.NDArray[Any]) -> SparseArray:
    """Return mappings from element to amount as sparse rows, with one column per element."""
    from scipy.sparse import csr_array

    column_of: dict[Any, int] = {}
    columns = [
        column_of.setdefault(composed(element), len(column_of))
        for amounts in observations
        for element in amounts
    ]
    values = np.array([float(v) for amounts in observations for v in amounts.values()])
    starts = np.cumsum([0, *(len(amounts) for amounts in observations)])
    shape = (len(observations), max(len(column_of), 1))
    matrix = csr_array((values, columns, starts), shape=shape)
    matrix.sum_duplicates()
    return matrix


@dataclass(frozen=True)
class Bags(MappedKernel):
    """A kernel between bags of vectors, such as the cells of a patient or the patches of a picture.

    A bag is taken as a sample from a distribution, which is represented by the mean of its
    vectors' Gaussian features (the kernel mean embedding); bags may differ in size. The
    embeddings are compared by `kernel`: the Gaussian is characteristic for distributions on a
    bounded set, "linear" is the mean kernel value between the vectors of two bags.

    All vectors are compared with each other once, so it is meant for up to about 20,000 vectors.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        The bandwidth of the Gaussian kernel between vectors, or the median distance between
        them (of 1,000 vectors at random where there are more).
    kernel : str, Kernel or callable, default "gaussian"
        The kernel between the embeddings.

    Notes
    -----
    The data are a list of tables, one row per vector; a list of numbers is a bag of numbers.

    References
    ----------
    Muandet, Fukumizu, Sriperumbudur & Schölkopf (2017), Kernel mean embedding of distributions,
    Foundations and Trends in Machine Learning 10.

    Examples
    --------
    >>> from reldep.kernels import Bags
    >>> Bags(bandwidth=1.0, kernel="linear")([[0.0], [0.0, 2.0]]).round(3)
    array([[1.   , 0.568],
           [0.568, 0.568]])
    """

    bandwidth: float | str = "median"
    kernel: KernelSpec = "gaussian"

    accepts = (Items, Numeric)

    def __post_init__(self) -> None:
        if self.bandwidth != "median":
            check_positive("bandwidth", self.bandwidth)

    def rows(self, variable: Variable) -> Numeric:
        bags = tables_of(variable, "vector")
        return Numeric(variable.name, embeddings(bags, self._width(bags)))

    def rows_between(self, first: Variable, second: Variable) -> tuple[Numeric, Numeric]:
        bags, others = tables_of(first, "vector"), tables_of(second, "vector")
        rows = embeddings([*bags, *others], self._width(bags))
        return Numeric(first.name, rows[: len(bags)]), Numeric(second.name, rows[len(bags) :])

    def _width(self, bags: list[FloatArray]) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        return sampled_median(np.concatenate(bags)).value


def embeddings(bags: list[FloatArray], bandwidth: float, negligible: float = 1e-12) -> FloatArray:
    """Return rows whose dot products are the mean kernel values between bags.

    The matrix of these means is factored by Cholesky with pivoting, which stops when pivots are
    `negligible`: below 5,000 times the precision of a float they are rounding, and few columns
    are enough for similar bags.
    """
    from scipy.linalg.lapack import dpstrf

    products = _mean_values(bags, bandwidth)
    factor, pivots, rank, _ = dpstrf(products, tol=negligible * products.max(), lower=1)
    rows = np.empty((len(bags), rank))
    rows[pivots - 1] = np.tril(factor)[:, :rank]
    return rows


def _mean_values(bags: list[FloatArray], bandwidth: float) -> FloatArray:
    """Return the mean kernel between the vectors of every two bags, one bag at a time."""
    fitted = Gaussian(bandwidth).fit(Numeric("vectors", np.concatenate(bags)))
    sizes = np.array([len(bag) for bag in bags])
    starts = np.cumsum(sizes) - sizes
    everything = slice(0, len(fitted))
    means = np.empty((len(bags), len(bags)))
    for i, start in enumerate(starts):
        block = fitted(slice(int(start), int(start + sizes[i])), everything)
        means[i] = np.add.reduceat(block.mean(axis=0), starts) / sizes
    return 0.5 * (means + means.T)
