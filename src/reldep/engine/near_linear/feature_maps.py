"""Where rows of features come from: a kernel that has them, or an approximation of one.

Every map makes the rows of any run of observations on demand, so that an m×p matrix of features
never has to be held.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.near_linear.feature_rows import CentredRows
from reldep.engine.threads import runs
from reldep.kernels.dot import FittedDot
from reldep.kernels.machine import import_extra
from reldep.kernels.profiles import GaussianProfile
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.near_linear.feature_rows import AnyFloats, Rows
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points

# About this many observations tell how full sparse rows are and where the centre of an
# approximate map lies: any centre gives the right answer, a near one keeps the digits.
PILOT_ROWS = 2_000

# Nanoseconds on one core for making a feature, and for an entry of more columns than observations
# that are brought into their row space.
FEATURE_VALUE = 10.0
TURNING_STEP = 0.2


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
