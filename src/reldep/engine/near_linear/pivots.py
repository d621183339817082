"""Low-rank features of smooth kernels: pivoted Cholesky factorisation, as a stream over all rows.

A Gaussian kernel on few columns, or any kernel on few distinct rows, is numerically of low rank:
``K = ΦΦ' + R`` with few columns in Φ and a remainder ``R ⪰ 0`` whose diagonal d can be made as
small as wanted. The pivots are found in three steps:

1. greedily on a pilot of some thousand rows, those at the ends of every column among them;
2. in a pass over all rows, which finds what the pilot missed (``d > tail``); greedily among those;
3. the pivots' own matrix is factored again in greedy order, and those that became superfluous are
   dropped: in any other order the rounding of late pivots would swell.

More pivots only lower d, so rows that were well represented stay so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.near_linear.feature_rows import CentredRows, FeatureMap
from reldep.engine.sweeps.recipe import Between
from reldep.engine.threads import over_runs
from reldep.kernels.composite import FittedProduct, FittedSum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# Rows among which the first pivots are chosen: at random, and at either end of every column.
PILOT_ROWS = 2_000
PILOT_ENDS = 60

# A row joins the pivots if its residual is this many times the tolerance.
TAIL = 100.0

# Rows that the pilot missed are looked at so many at a time.
MISSED_AT_A_TIME = 4_000

# Rows on which the rank is probed. A kernel that takes this share of the fewer rows is not smooth.
PROBED_ROWS = (500, 2_000)
NOT_SMOOTH = 0.8


class RankTooHighError(Exception):
    """More pivots would be needed than are allowed."""


def is_positive(kernel: FittedKernel) -> bool:
    """Whether a kernel is known to be positive semi-definite and to be bounded."""
    if isinstance(kernel, (FittedProduct, FittedSum)):
        return all(map(is_positive, kernel.factors))
    return kernel.in_unit_interval and kernel.formula is not None


@dataclass(frozen=True, eq=False)
class Pivots:
    """The pivots of a kernel and the factor of their own matrix, ``K(P, P) = LL'``.

    Attributes
    ----------
    between : Between
        Evaluates the kernel.
    points : ndarray, shape (n_columns, rank)
        The coordinates of the pivots.
    inverse : ndarray, shape (rank, rank)
        ``L⁻¹``. In greedy order it is as accurate as a solution with L, and quicker.
    diagonal : float
        The value of the kernel between equal rows.
    tolerance : float
    """

    between: Between
    points: FloatArray
    inverse: FloatArray
    diagonal: float
    tolerance: float

    @property
    def rank(self) -> int:
        """The number of pivots."""
        return int(self.points.shape[1])

    def features(self, rows: FloatArray) -> FloatArray:
        """Give ``L⁻¹ K(P, rows)`` for some coordinates: a column for each of them."""
        return np.asarray(self.inverse @ self.between.values(rows, self.points))

    def residuals(self, features: FloatArray) -> FloatArray:
        """Give what is left of the diagonal."""
        left: FloatArray = self.diagonal - np.einsum("ji,ji->i", features, features)
        return left

    def extended(self, rows: FloatArray, cap: int) -> Pivots:
        """Add pivots from some rows until none of these has a residual above the tail."""
        features = self.features(rows)
        limit = TAIL * self.tolerance
        chosen = greedy_pivots(self.between, rows, features, self.diagonal, limit, cap + 1)
        points = np.concatenate([self.points, rows[:, chosen]], axis=1)
        return factored(self.between, points, self.diagonal, self.tolerance, cap)


def greedy_pivots(
    between: Between,
    rows: FloatArray,
    features: FloatArray,
    diagonal: float,
    limit: float,
    cap: int,
) -> list[int]:
    """Choose the row with the largest residual, again and again, until all are below a limit.

    Parameters
    ----------
    between : Between
    rows : ndarray, shape (n_columns, n)
        Coordinates.
    features : ndarray, shape (r, n)
        Their features by the pivots so far.
    diagonal : float
    limit : float
    cap : int
        At most so many pivots in all.
    """
    r, n = features.shape
    table = np.empty((min(cap, r + n), n))
    table[:r] = features
    residuals = diagonal - np.einsum("ji,ji->i", table[:r], table[:r])
    chosen: list[int] = []
    while r < len(table):
        p = int(np.argmax(residuals))
        if residuals[p] <= limit:
            break
        column = between.values(rows, rows[:, p : p + 1])[0]
        column -= table[:r, p] @ table[:r]
        column /= np.sqrt(residuals[p])
        table[r] = column
        residuals -= column * column
        residuals[p] = 0.0
        chosen.append(p)
        r += 1
    return chosen


def factored(
    between: Between, points: FloatArray, diagonal: float, tolerance: float, cap: int
) -> Pivots:
    """Factor the pivots' own matrix in greedy order and drop those that are superfluous."""
    from scipy.linalg.lapack import dpstrf, dtrtri

    if points.shape[1] > cap:
        raise RankTooHighError
    matrix = np.asfortranarray(between.values(points, points))
    factor, order, rank, _ = dpstrf(matrix, lower=1, tol=tolerance / 4.0, overwrite_a=1)
    inverse, _ = dtrtri(np.asfortranarray(np.tril(factor[:rank, :rank])), lower=1, overwrite_c=1)
    kept = np.ascontiguousarray(points[:, order[:rank] - 1])
    return Pivots(between, kept, np.ascontiguousarray(inverse), diagonal, tolerance)


def pilot_pivots(
    kernel: FittedKernel, between: Between, tolerance: float, cap: int, seed: int
) -> Pivots:
    """Choose pivots on some thousand rows."""
    rows = between.points(_pilot_rows(between.recipe.columns, seed))
    diagonal = float(kernel(slice(0, 1), slice(0, 1))[0, 0])
    tolerance *= diagonal
    nothing = np.empty((0, rows.shape[1]))
    # A kernel that takes half of the pilot would take half of all rows.
    most = min(cap + 1, max(1, rows.shape[1] // 2))
    chosen = greedy_pivots(between, rows, nothing, diagonal, tolerance, most)
    if len(chosen) == most:
        raise RankTooHighError
    return factored(between, np.ascontiguousarray(rows[:, chosen]), diagonal, tolerance, cap)


def _pilot_rows(columns: FloatArray, seed: int) -> IntArray:
    """Draw rows at random, and add those at the ends of every column."""
    n = columns.shape[1]
    if n <= PILOT_ROWS:
        return np.arange(n)
    drawn = [np.random.default_rng(seed).choice(n, PILOT_ROWS, replace=False)]
    for column in columns:
        order = np.argpartition(column, [PILOT_ENDS, n - PILOT_ENDS])
        drawn += [order[:PILOT_ENDS], order[n - PILOT_ENDS :]]
    return np.unique(np.concatenate(drawn))


def probed_rank(kernel: FittedKernel, tolerance: float, seed: int, most: int) -> float | None:
    """Estimate the rank from two samples; None where it is beyond use.

    Ranks grow like a power of log m for light tails and like a power of m for heavy ones; the
    power is the safer guess.

    Parameters
    ----------
    kernel : FittedKernel
    tolerance : float
    seed : int
    most : int
        A higher rank would be of no use; the search ends there.
    """
    between = Between.of(kernel)
    if between is None or not is_positive(kernel):
        return None
    n = len(kernel)
    large = min(PROBED_ROWS[1], n)
    small = min(PROBED_ROWS[0], large // 4)
    drawn = np.random.default_rng(seed).choice(n, large, replace=False)
    diagonal = float(kernel(slice(0, 1), slice(0, 1))[0, 0])
    ranks = []
    for size in (small, large):
        rows = between.points(drawn[:size])
        cap = max(1, min(most + 1, int((NOT_SMOOTH if size == small else 0.5) * size)))
        nothing = np.empty((0, size))
        chosen = greedy_pivots(between, rows, nothing, diagonal, tolerance * diagonal, cap)
        if len(chosen) == cap:
            return None
        ranks.append(max(1, len(chosen)))
    power = np.log(ranks[1] / ranks[0]) / np.log(large / small)
    return float(ranks[1] * (n / large) ** max(0.0, power))


@dataclass(frozen=True, eq=False)
class LowRankMap(FeatureMap):
    """The features of a kernel by its pivots.

    Attributes
    ----------
    pivots : Pivots
    kept : ndarray, shape (rank, n), or None
        The features of all rows, minus the centre, where there is room for them.
    """

    pivots: Pivots
    kept: FloatArray | None = None

    @property
    def is_exact(self) -> bool:
        return False

    def rows(self, chosen: slice | IntArray) -> FloatArray:
        if self.kept is not None:
            return self.kept[:, chosen].T + self.centre
        return self.pivots.features(self.pivots.between.points(chosen)).T

    def centred(self, chosen: slice) -> CentredRows:
        if self.kept is not None:
            return CentredRows(self.kept[:, chosen].T)
        features = self.pivots.features(self.pivots.between.points(chosen))
        features -= self.centre[:, None]
        return CentredRows(features.T)

    @cached_property
    def centre(self) -> FloatArray:
        pivots, pilot = self.pivots, self.pivots.between.points(self._pilot)
        # The mean of the features: those of the mean of the values.
        return np.asarray(pivots.inverse @ pivots.between.values(pilot, pivots.points).mean(axis=1))

    def exact_kernel(self, chosen: IntArray) -> FittedKernel:
        taken = self.kernel.take(chosen)
        if taken is None:
            raise NotImplementedError
        return taken

    def looked_through(self, room: float) -> tuple[LowRankMap, IntArray]:
        """Find the rows that the pivots do not represent, and hold the features on the way.

        Parameters
        ----------
        room : float
            Bytes that the features may take; where they would take more, they are not held.
        """
        n, pivots = len(self.kernel), self.pivots
        kept = np.empty((pivots.rank, n)) if 8 * n * pivots.rank <= room else None
        centre = self.centre[:, None]

        def look(places: Iterable[slice]) -> list[int]:
            missed: list[int] = []
            for place in places:
                features = pivots.features(pivots.between.points(place))
                above = pivots.residuals(features) > TAIL * pivots.tolerance
                missed += (place.start + np.flatnonzero(above)).tolist()
                if kept is not None:
                    np.subtract(features, centre, out=kept[:, place])
            return missed

        missed = np.array(over_runs(look, n, pivots.rank), dtype=np.int64)
        return replace(self, kept=kept), missed


def low_rank_map(
    kernel: FittedKernel, tolerance: float, cap: int, seed: int, room: float = 0.0
) -> LowRankMap | None:
    """Find pivots for all rows of a kernel; None for one that cannot be treated so.

    Parameters
    ----------
    kernel : FittedKernel
    tolerance : float
    cap : int
        At most so many pivots.
    seed : int
    room : float, default 0.0
        Bytes that may be taken to hold the features of all rows.

    Raises
    ------
    RankTooHighError
        If there would be more than `cap` pivots.
    """
    between = Between.of(kernel)
    if between is None or not is_positive(kernel):
        return None
    pivots = pilot_pivots(kernel, between, tolerance, cap, seed)
    found, missed = LowRankMap(kernel, pivots).looked_through(room)
    if not len(missed):
        return found
    while len(missed):
        now, later = missed[:MISSED_AT_A_TIME], missed[MISSED_AT_A_TIME:]
        pivots = pivots.extended(between.points(now), cap)
        left = pivots.residuals(pivots.features(between.points(later)))
        missed = later[left > TAIL * pivots.tolerance]
    found = LowRankMap(kernel, pivots)
    # More pivots only lower what is left of rows that were well represented.
    return found.looked_through(room)[0] if room else found
