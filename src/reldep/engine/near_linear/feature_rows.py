"""Rows of features: where they come from, their centre, and the products between two sets of them.

Every map, of a kernel that has features or of an approximation of one, makes the rows of any run
of observations on demand, so that an m×p matrix of features never has to be held. Taking a centre
off Φ adds ``f(x) + f(x')`` to the kernel, which changes no HSIC but keeps the digits that raw
sums lose. Dense rows hold the difference; sparse rows only remember the centre, so that they stay
sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.engine.threads import runs
from reldep.kernels.dot import FittedDot
from reldep.kernels.profiles import GaussianProfile
from reldep.kernels.radial import FittedRadial
from reldep.system import import_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray

    AnyFloats: TypeAlias = npt.NDArray[np.floating[Any]]
    Rows: TypeAlias = Any  # AnyFloats | csr_array; scipy's sparse arrays carry no types
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points

# About this many observations tell how full sparse rows are and where the centre of an
# approximate map lies: any centre gives the right answer, a near one keeps the digits.
PILOT_ROWS = 2_000

# Nanoseconds on one core for making a feature, and for an entry of more columns than observations
# that are brought into their row space.
FEATURE_VALUE = 10.0
TURNING_STEP = 0.2


def row_dots(first: AnyFloats, second: AnyFloats) -> FloatArray:
    """Multiply two matrices row by row: one dot product for each row."""
    return np.asarray(np.einsum("ij,ij->i", first, second), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class CentredRows:
    """Some rows of Φ minus a centre.

    Attributes
    ----------
    values : ndarray or csr_array
        Dense rows with the centre taken off, or sparse rows as they are.
    centre : ndarray or None
        What is still to be taken off sparse rows; None for dense ones.
    """

    values: Rows
    centre: FloatArray | None = None

    def times(self, right: FloatArray) -> AnyFloats:
        """Multiply by a vector or a matrix from the right."""
        if self.centre is None:
            right = right.astype(self.values.dtype, copy=False)
            if right.ndim == 2 and self.values.strides[0] == self.values.itemsize:
                # The same order of entries lets the next step run along them.
                return np.asarray((right.T @ self.values.T).T)
            return np.asarray(self.values @ right)
        return np.asarray(self.values @ right - self.centre @ right)

    def transposed_times(self, weights: FloatArray) -> FloatArray:
        """Add up the rows, each with its weight."""
        if self.centre is None:
            # Weights of another type would make a copy of all rows.
            same_type = weights.astype(self.values.dtype, copy=False)
            return np.asarray(self.values.T @ same_type, dtype=np.float64)
        return np.asarray(self.values.T @ weights - self.centre * weights.sum())

    def squared_norms(self) -> FloatArray:
        """Give the squared length of each row: the diagonal of the kernel matrix."""
        if self.centre is None:
            return row_dots(self.values, self.values)
        squares = np.asarray(self.values.multiply(self.values).sum(axis=1)).ravel()
        result: FloatArray = squares - 2.0 * (self.values @ self.centre)
        return result + self.centre @ self.centre


def product_of_run(first: CentredRows, second: CentredRows) -> FloatArray | csr_array:
    """Multiply ``Φ'Ψ`` over a run of observations; the products of all runs are added up.

    With a dense side the product is centred and dense. Between two sparse sides it is sparse
    and the centres are left to :class:`SparseCross`: taking them off would fill it.
    """
    if first.centre is None:
        return _product_with_dense(first, second)
    if second.centre is None:
        return _product_with_dense(second, first).T
    return (first.values.T @ second.values).tocsr()


def _product_with_dense(first: CentredRows, second: CentredRows) -> FloatArray:
    """Multiply ``Φ'Ψ`` for dense Φ, whatever Ψ is."""
    product = np.asarray((second.values.T @ first.values).T, dtype=np.float64)
    if second.centre is not None:
        product -= np.outer(first.values.sum(axis=0), second.centre)
    return product


class Cross(ABC):
    """``C = Φ'Ψ`` of two sets of centred rows, summed over all observations."""

    @abstractmethod
    def times(self, right: FloatArray) -> FloatArray:
        """Multiply by a vector from the right, ``C v``."""

    @abstractmethod
    def transposed_times(self, left: FloatArray) -> FloatArray:
        """Multiply by a vector from the left, ``C'v``."""

    def squared_norm(self) -> float:
        """Add up the squares of all entries."""
        raise NotImplementedError

    @abstractmethod
    def between(self, first: CentredRows, second: CentredRows) -> FloatArray:
        """Give ``φ_i' C ψ_i`` for every row i of a run."""


@dataclass(frozen=True, eq=False)
class DenseCross(Cross):
    """The product held as a dense matrix: at least one side is dense."""

    values: FloatArray

    def times(self, right: FloatArray) -> FloatArray:
        return np.asarray(self.values @ right)

    def transposed_times(self, left: FloatArray) -> FloatArray:
        return np.asarray(self.values.T @ left)

    def squared_norm(self) -> float:
        return float(np.einsum("ij,ij->", self.values, self.values))

    def between(self, first: CentredRows, second: CentredRows) -> FloatArray:
        if second.centre is None:
            return row_dots(first.times(self.values), second.values)
        return row_dots(second.times(self.values.T), first.values)


@dataclass(frozen=True, eq=False)
class SparseCross(Cross):
    """The product of two sparse sides; for two sets of labels, their table of counts.

    With c, d the exact means of the rows, the centred product is ``Φ'Ψ - m c d'``; the second
    part would fill the matrix and is applied without being formed.
    """

    raw: csr_array
    n: int
    first_centre: FloatArray
    second_centre: FloatArray

    def times(self, right: FloatArray) -> FloatArray:
        mean_part = self.n * (self.second_centre @ right)
        return np.asarray(self.raw @ right - self.first_centre * mean_part)

    def transposed_times(self, left: FloatArray) -> FloatArray:
        mean_part = self.n * (self.first_centre @ left)
        return np.asarray(self.raw.T @ left - self.second_centre * mean_part)

    def squared_norm(self) -> float:
        c, d = self.first_centre, self.second_centre
        raw_times_d, _ = self._raw_times_centres
        raw = float(self.raw.data @ self.raw.data)
        return raw - 2.0 * self.n * float(c @ raw_times_d) + self.n**2 * float((c @ c) * (d @ d))

    def between(self, first: CentredRows, second: CentredRows) -> FloatArray:
        c, d = self.first_centre, self.second_centre
        raw_times_d, c_times_raw = self._raw_times_centres
        along_c = first.values @ c - c @ c
        along_d = second.values @ d - d @ d
        result = self._between_raw(first.values, second.values)
        result -= first.values @ raw_times_d + second.values @ c_times_raw - c @ raw_times_d
        result -= self.n * along_c * along_d
        return result

    def _between_raw(self, first: csr_array, second: csr_array) -> FloatArray:
        """Give ``x_i' Φ'Ψ y_i`` by looking up only the entries that the rows touch."""
        row, left, right = entry_pairs(first, second)
        asked = first.indices[left].astype(np.int64) * self.raw.shape[1] + second.indices[right]
        weights = first.data[left] * second.data[right]
        weights *= self.raw.data[np.searchsorted(self._places, asked)]
        sums = np.bincount(row, weights=weights, minlength=first.shape[0])
        return np.asarray(sums, dtype=np.float64)

    @cached_property
    def _places(self) -> IntArray:
        """Number the stored entries by where they stand in the full matrix, in rising order."""
        row = np.repeat(np.arange(self.raw.shape[0]), np.diff(self.raw.indptr))
        return np.asarray(row * self.raw.shape[1] + self.raw.indices)

    @cached_property
    def _raw_times_centres(self) -> tuple[FloatArray, FloatArray]:
        return self.raw @ self.second_centre, self.raw.T @ self.first_centre


def product_of_all(
    total: FloatArray | csr_array, n: int, first_centre: FloatArray, second_centre: FloatArray
) -> Cross:
    """Finish the sum of :func:`product_of_run` over all n observations."""
    if isinstance(total, np.ndarray):
        return DenseCross(total)
    total.sum_duplicates()
    return SparseCross(total, n, first_centre, second_centre)


def entry_pairs(first: csr_array, second: csr_array) -> tuple[IntArray, IntArray, IntArray]:
    """List, row by row, every stored entry of one matrix with every one of the other.

    Returns
    -------
    row, left, right : ndarray of int
        The row of each pair and where its two entries stand in ``first.data`` and
        ``second.data``.
    """
    first_counts, second_counts = np.diff(first.indptr), np.diff(second.indptr)
    row_of_left = np.repeat(np.arange(first.shape[0]), first_counts)
    partners = second_counts[row_of_left]
    left = np.repeat(np.arange(len(row_of_left)), partners)
    row = row_of_left[left]
    # Number the partners of each left entry 0, 1, …, then move them to where the row starts.
    run_starts = np.cumsum(partners) - partners
    right = np.arange(len(left)) - run_starts[left] + second.indptr[row]
    return row, left, right


@dataclass(frozen=True, eq=False)
class FeatureMap(ABC):
    """Rows of Φ with K = ΦΦ', or nearly so, for one fitted kernel."""

    kernel: FittedKernel

    @abstractmethod
    def rows(self, chosen: slice | IntArray) -> Rows:
        """Make the rows of some observations."""

    @cached_property
    @abstractmethod
    def centre(self) -> FloatArray:
        """What is taken off every row."""

    @abstractmethod
    def exact_kernel(self, chosen: IntArray) -> FittedKernel:
        """Give the kernel itself, without approximation, on some observations."""

    @cached_property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return not isinstance(self.rows(slice(0, 1)), np.ndarray)

    @property
    def is_exact(self) -> bool:
        """Whether ΦΦ' is the kernel matrix itself."""
        return True

    @cached_property
    def width(self) -> int:
        """The number of features."""
        return int(self.rows(slice(0, 1)).shape[1])

    @cached_property
    def entries_per_row(self) -> float:
        """How many numbers a row holds, on average."""
        if not self.is_sparse:
            return float(self.width)
        pilot = self.rows(self._pilot)
        return max(1.0, float(pilot.nnz / pilot.shape[0]))

    @property
    def _pilot(self) -> slice:
        """Some observations, evenly spread, for the data may be sorted."""
        return slice(0, None, max(1, len(self.kernel) // PILOT_ROWS))

    def centred_densely(self, chosen: IntArray) -> FloatArray:
        """Make some rows minus the centre, as a dense matrix."""
        rows = self.rows(chosen)
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return np.ascontiguousarray(dense - self.centre)

    @cached_property
    def centred_total(self) -> FloatArray:
        """The sum of all rows minus the centre."""
        total = np.zeros(self.width)
        for run in runs(len(self.kernel), 8.0 * self.entries_per_row):
            total += np.asarray(self.rows(run).sum(axis=0)).ravel()
        return np.asarray(total - len(self.kernel) * self.centre)

    def centred(self, chosen: slice) -> CentredRows:
        """Make the rows of a run, minus the centre."""
        rows = self.rows(chosen)
        if isinstance(rows, np.ndarray):
            return CentredRows(rows - self.centre.astype(rows.dtype, copy=False))
        return CentredRows(rows, self.centre)

    def features_kernel(self, chosen: IntArray) -> FittedKernel:
        """Give ΦΦ' as a kernel, on some observations."""
        rows = self.rows(chosen)
        return FittedDot(rows.astype(np.float64), self.kernel.label)


@dataclass(frozen=True, eq=False)
class ExactMap(FeatureMap):
    """The features that the kernel itself gives."""

    def rows(self, chosen: slice | IntArray) -> Rows:
        return self.kernel.features(chosen)

    @cached_property
    def centre(self) -> FloatArray:
        total = np.zeros(self.width)
        for run in runs(len(self.kernel), 8.0 * self.entries_per_row):
            total += np.asarray(self.rows(run).sum(axis=0)).ravel()
        return total / len(self.kernel)

    def exact_kernel(self, chosen: IntArray) -> FittedKernel:
        return self.features_kernel(chosen)


@dataclass(frozen=True, eq=False)
class TurnedMap(ExactMap):
    """Dense features with more columns than observations, turned into their row space.

    With ``Φ' = QR`` the columns of R are the observations in at most m coordinates, and
    ``ΦΦ' = R'R``.
    """

    coordinates: FloatArray

    def rows(self, chosen: slice | IntArray) -> FloatArray:
        return self.coordinates[chosen]


@dataclass(frozen=True, eq=False)
class ApproximateMap(FeatureMap):
    """Features of a scikit-learn transformer, fitted to the points of a Gaussian kernel."""

    kernel: FittedRadial
    points: Points
    transformer: Any

    @property
    def is_exact(self) -> bool:
        return False

    def rows(self, chosen: slice | IntArray) -> AnyFloats:
        made: AnyFloats = self.transformer.transform(self.points.rows[chosen])
        return made

    @cached_property
    def centre(self) -> FloatArray:
        return np.asarray(self.rows(self._pilot).mean(axis=0), dtype=np.float64)

    def exact_kernel(self, chosen: IntArray) -> FittedKernel:
        return replace(self.kernel, points=self.kernel.points.take(chosen))


def exact_map(kernel: FittedKernel) -> FeatureMap | None:
    """Give the map of a kernel that has explicit features, else None."""
    width = kernel.n_features
    if width is None:
        return None
    if width > len(kernel):
        features = kernel.features()
        if isinstance(features, np.ndarray):
            return TurnedMap(kernel, np.asarray(np.linalg.qr(features.T, mode="r")).T)
    return ExactMap(kernel)


def gaussian_bandwidth(kernel: FittedKernel) -> float | None:
    """Give the bandwidth of a Gaussian kernel, None for any other."""
    if isinstance(kernel, FittedRadial) and isinstance(kernel.profile, GaussianProfile):
        return kernel.profile.bandwidth / kernel.points.unit
    return None


def approximate_map(
    kernel: FittedKernel, method: str, n_components: int, seed: int
) -> FeatureMap | None:
    """Approximate a Gaussian kernel by scikit-learn's features; None for any other kernel.

    scikit-learn's Laplacian kernel is built on the sum of absolute differences, ours on the
    Euclidean distance, so that Laplace kernels are left to exact engines.
    """
    width = gaussian_bandwidth(kernel)
    if width is None or not isinstance(kernel, FittedRadial):
        return None
    approximation = import_extra(
        "sklearn.kernel_approximation", extra="features", purpose=f'approximate="{method}"'
    )
    gamma = 0.5 / width**2
    if method == "fourier":
        # Single precision: its 1e-7 is far below the error of the random features, and the
        # cosines and products take a third of the time.
        points = replace(kernel.points, rows=kernel.points.rows.astype(np.float32))
        transformer = approximation.RBFSampler(
            gamma=gamma, n_components=n_components, random_state=seed
        )
    else:
        # Double precision: the inverse square root of the landmarks' kernel magnifies rounding.
        points = kernel.points
        transformer = approximation.Nystroem(
            kernel="rbf",
            gamma=gamma,
            n_components=min(n_components, len(kernel)),
            random_state=seed,
        )
    return ApproximateMap(kernel, points, transformer.fit(points.rows))


@dataclass(frozen=True)
class RowShape:
    """A row of features, as a planner sees it.

    Attributes
    ----------
    width : int
    entries : float
        How many numbers are stored.
    is_sparse : bool
    nanoseconds : float
        For making a row.
    """

    width: int
    entries: float
    is_sparse: bool = False
    nanoseconds: float = 0.0


def row_shape(kernel: FittedKernel, n_random: int | None = None) -> RowShape | None:
    """Tell what features a kernel would get, or None where it would get none.

    Parameters
    ----------
    kernel : FittedKernel
    n_random : int, optional
        How many features a Gaussian kernel is given.
    """
    if kernel.n_features is not None:
        features = ExactMap(kernel)
        cost = FEATURE_VALUE * features.entries_per_row
        if features.is_sparse:
            return RowShape(features.width, features.entries_per_row, True, cost)
        if features.width <= len(kernel):
            return RowShape(features.width, features.width, False, cost)
        return RowShape(
            len(kernel), len(kernel), False, TURNING_STEP * len(kernel) * features.width
        )
    if n_random is not None and gaussian_bandwidth(kernel) is not None:
        return RowShape(n_random, n_random, False, FEATURE_VALUE * n_random)
    return None
