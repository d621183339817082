"""Passes over pieces of a table: pivots, sums of features, and what becomes of every row.

The same algorithm as on one machine (:mod:`~reldep.engine.near_linear.lowrank`), cut where sums
can be added:

1. rows of every piece that the pilot's pivots do not represent join the pivots;
2. the sums of features and their products, ``Φ'1``, ``Φ'Ψ`` and ``Φ'λ``, from which every HSIC
   follows without looking at a row again;
3. the conditional means of the rows of a piece, which are handed on and forgotten.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reldep.engine.near_linear.certificate import SummedRoots, root_residuals
from reldep.engine.near_linear.feature_passes import Factors, FeatureSums
from reldep.engine.near_linear.feature_rows import CentredRows, product_of_run
from reldep.engine.near_linear.pivots import MISSED_AT_A_TIME, TAIL, factored, greedy_pivots
from reldep.engine.threads import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.near_linear.pivots import Pivots
    from reldep.engine.terms import Pair
    from reldep.files.partitions import Block


class RowFeatures(ABC):
    """Features of a variable that any row can be turned into."""

    centre: FloatArray

    @property
    @abstractmethod
    def entries(self) -> float:
        """How many numbers the features of a row are."""

    @abstractmethod
    def centred(self, values: Any) -> CentredRows:
        """Make the features of some rows, minus their centre."""


@dataclass(frozen=True, eq=False)
class LabelFeatures(RowFeatures):
    """One indicator for every label; the centre is their share in all rows."""

    centre: FloatArray

    @property
    def entries(self) -> float:
        return 1.0

    def centred(self, values: IntArray) -> CentredRows:
        from scipy.sparse import csr_array

        n = len(values)
        parts = (np.ones(n), values, np.arange(n + 1))
        return CentredRows(csr_array(parts, shape=(n, len(self.centre))), self.centre)


@dataclass(frozen=True, eq=False)
class LinearFeatures(RowFeatures):
    """The numbers themselves, minus their means."""

    centre: FloatArray

    @property
    def entries(self) -> float:
        return float(len(self.centre))

    def centred(self, values: FloatArray) -> CentredRows:
        return CentredRows(values - self.centre)


@dataclass(frozen=True, eq=False)
class PivotFeatures(RowFeatures):
    """The features of a kernel by its pivots.

    Attributes
    ----------
    pivots : Pivots
    origin : ndarray, shape (d,)
        Taken off all coordinates.
    unit : float
        What coordinates are multiples of.
    centre : ndarray
    """

    pivots: Pivots
    origin: FloatArray
    unit: float
    centre: FloatArray

    @property
    def entries(self) -> float:
        return float(self.pivots.rank)

    def points(self, values: FloatArray) -> FloatArray:
        """Give coordinates, one a row."""
        moved = values - self.origin
        return np.ascontiguousarray((moved if self.unit == 1 else moved / self.unit).T)

    def centred(self, values: FloatArray) -> CentredRows:
        features = self.pivots.features(self.points(values))
        features -= self.centre[:, None]
        return CentredRows(features.T)

    def with_pivots(self, pivots: Pivots, sample: FloatArray) -> PivotFeatures:
        """Take other pivots, and the mean over a sample as the centre."""
        features = pivots.features(self.points(sample))
        return replace(self, pivots=pivots, centre=np.asarray(features.mean(axis=1)))


def cut(block: Block, features: Mapping[str, RowFeatures]) -> Iterator[slice]:
    """Cut a block into runs whose features fit the cache of a processor."""
    return runs(len(block), 8.0 * max(1.0, sum(one.entries for one in features.values())))


@dataclass(frozen=True, eq=False)
class NeededPoints:
    """Points that the pivots of each variable lack."""

    values: dict[str, FloatArray]

    def __add__(self, other: NeededPoints) -> NeededPoints:
        return NeededPoints(
            {
                name: np.concatenate([points, other.values[name]], axis=1)
                for name, points in self.values.items()
            }
        )


@dataclass(frozen=True, eq=False)
class PivotPass:
    """The pass that finds rows which the pivots so far do not represent."""

    features: Mapping[str, PivotFeatures]
    cap: int

    def __call__(self, block: Block) -> NeededPoints:
        """Choose greedily among the rows of a block."""
        found = {}
        for name, one in self.features.items():
            pivots = one.pivots
            added = [pivots.points[:, :0]]
            for run in runs(len(block), 8.0 * pivots.rank):
                points = one.points(block.values[name][run])
                new = self._lacking(pivots, points)
                if new.shape[1]:
                    added.append(new)
                    known = np.concatenate([pivots.points, new], axis=1)
                    pivots = factored(
                        pivots.between, known, pivots.diagonal, pivots.tolerance, self.cap
                    )
            found[name] = np.concatenate(added, axis=1)
        return NeededPoints(found)

    def _lacking(self, pivots: Pivots, points: FloatArray) -> FloatArray:
        features = pivots.features(points)
        limit = TAIL * pivots.tolerance
        above = np.flatnonzero(pivots.residuals(features) > limit)[:MISSED_AT_A_TIME]
        if not len(above):
            return points[:, :0]
        rows = np.ascontiguousarray(points[:, above])
        chosen = greedy_pivots(
            pivots.between, rows, features[:, above], pivots.diagonal, limit, self.cap + 1
        )
        return rows[:, chosen]

    def extended(self, needed: NeededPoints, samples: Mapping[str, FloatArray]) -> dict[str, Any]:
        """Take what all pieces lack into the pivots."""
        found: dict[str, Any] = {}
        for name, one in self.features.items():
            pivots, points = one.pivots, needed.values[name]
            for start in range(0, points.shape[1], MISSED_AT_A_TIME):
                some = np.ascontiguousarray(points[:, start : start + MISSED_AT_A_TIME])
                pivots = pivots.extended(some, self.cap)
            found[name] = one.with_pivots(pivots, samples[name])
        return found


@dataclass(frozen=True, eq=False)
class SumPass:
    """The pass that adds up features, and products of features of pairs."""

    features: Mapping[str, RowFeatures]
    pairs: tuple[Pair, ...]

    def __call__(self, block: Block) -> FeatureSums:
        """Add up over a block."""
        empty = slice(0, 0)
        places = list(cut(block, self.features)) or [empty]
        return reduce(FeatureSums.__add__, (self._run(block, place) for place in places))

    def _run(self, block: Block, place: slice) -> FeatureSums:
        rows = {name: one.centred(block.values[name][place]) for name, one in self.features.items()}
        norms = {name: part.squared_norms() for name, part in rows.items()}
        ones = np.ones(place.stop - place.start)
        ordered = dict.fromkeys(both for x, y in self.pairs for both in ((x, y), (y, x)))
        return FeatureSums(
            {name: part.transposed_times(ones) for name, part in rows.items()},
            {(x, y): product_of_run(rows[x], rows[y]) for x, y in self.pairs},
            {(x, y): rows[x].transposed_times(norms[y]) for x, y in ordered},
            {name: float(values.sum()) for name, values in norms.items()},
            {(x, y): float(norms[x] @ norms[y]) for x, y in self.pairs},
        )


@dataclass(frozen=True)
class PairTotals:
    """Sums over all rows of a pair: of k, of l, of their product, and of q; and the HSIC."""

    first: float
    second: float
    product: float
    joint: float
    hsic: float


def pair_totals(sums: FeatureSums, factors: Factors, n: int) -> dict[Pair, PairTotals]:
    """Finish what is known of every pair without looking at a row.

    With T = Φ'1 and C = Φ'Ψ::

        Σk  = |T_x|² - Σκ
        k'l = T_x'C T_y - T_x'Φ'λ - T_y'Ψ'κ + κ'λ
        Σq  = |C|² - κ'λ
    """
    found = {}
    for (x, y), cross in factors.cross.items():
        tx, ty = sums.total[x], sums.total[y]
        k, l = (float(t @ t) - sums.norms[v] for t, v in ((tx, x), (ty, y)))  # noqa: E741
        both = sums.norm_products[x, y]
        product = float(tx @ cross.times(ty)) + both
        product -= float(tx @ sums.weighted[x, y] + ty @ sums.weighted[y, x])
        joint = cross.squared_norm() - both
        total = joint + k * l / ((n - 1.0) * (n - 2.0)) - 2.0 * product / (n - 2.0)
        found[x, y] = PairTotals(k, l, product, joint, total / (n * (n - 3.0)))
    return found


class Mover(Protocol):
    """Tells how rows move a bandwidth."""

    def __call__(self, block: Block, name: str) -> FloatArray:
        """Give the influence of the rows of a block on the bandwidth of a variable."""


class Observer(Protocol):
    """Whoever makes sums of the conditional means of rows."""

    def sums(
        self, means: FloatArray, moved: FloatArray | None, number: int, places: IntArray
    ) -> Any:
        """Add up over some rows."""


@dataclass(frozen=True, eq=False)
class RowSums:
    """What the last pass adds up."""

    observed: Any
    roots: SummedRoots

    def __add__(self, other: RowSums) -> RowSums:
        if self.observed is None or other.observed is None:
            kept = other.observed if self.observed is None else self.observed
            return RowSums(kept, self.roots + other.roots)
        return RowSums(self.observed + other.observed, self.roots + other.roots)


@dataclass(frozen=True, eq=False)
class RowPass:
    """The pass that makes conditional means and hands them on.

    Attributes
    ----------
    features : mapping of str to RowFeatures
    factors : Factors
    totals : mapping of Pair to PairTotals
    pairs : tuple of Pair
        Whose conditional means are wanted, in this order; canonical.
    n : int
        Rows in all.
    movers : mapping of str to Mover
        By variable whose bandwidth is followed.
    slopes : mapping of str to ndarray, shape (p,)
        What a unit of each bandwidth adds to the HSIC of every pair.
    observer : Observer
    """

    features: Mapping[str, RowFeatures]
    factors: Factors
    totals: Mapping[Pair, PairTotals]
    pairs: tuple[Pair, ...]
    n: int
    movers: Mapping[str, Mover]
    slopes: Mapping[str, FloatArray]
    observer: Observer

    def __call__(self, block: Block) -> RowSums:
        """Add up over a block."""
        moved = None
        if self.movers:
            moved = np.zeros((len(self.pairs), len(block)))
            for name, mover in self.movers.items():
                moved += np.outer(self.slopes[name], mover(block, name))
        total = RowSums(None, SummedRoots.none(self._low_rank()))
        for place in cut(block, self.features):
            means, roots = self._means(block, place)
            some = None if moved is None else moved[:, place]
            observed = self.observer.sums(means, some, block.number, block.places[place])
            total = total + RowSums(observed, roots)
        return total

    def _low_rank(self) -> list[str]:
        return [name for name, one in self.features.items() if isinstance(one, PivotFeatures)]

    def _means(self, block: Block, place: slice) -> tuple[FloatArray, SummedRoots]:
        """Give the conditional means of a run, and what the features leave out of its rows."""
        rows, norms, sums, roots = {}, {}, {}, {}
        largest, worst = {}, 0.0
        for name, one in self.features.items():
            rows[name] = one.centred(block.values[name][place])
            norms[name] = rows[name].squared_norms()
            sums[name] = rows[name].times(self.factors.total[name]) - norms[name]
            largest[name] = float(norms[name].max(initial=0.0))
            if isinstance(one, PivotFeatures):
                along = rows[name].times(one.centre)
                left = one.pivots.diagonal - norms[name] - 2.0 * along - one.centre @ one.centre
                worst = max(worst, float(-left.min(initial=0.0)) / one.pivots.tolerance)
                roots[name] = root_residuals(left, one.pivots.rank, one.pivots.diagonal)
        means = np.empty((len(self.pairs), place.stop - place.start))
        for row, (x, y) in zip(means, self.pairs, strict=True):
            cross, onto = self.factors.cross[x, y], self.factors.onto
            q = cross.between(rows[x], rows[y]) - norms[x] * norms[y]
            k, l = sums[x], sums[y]  # noqa: E741
            crossed = rows[x].times(onto[x, y]) - norms[x] * l
            crossed += rows[y].times(onto[y, x]) - norms[y] * k
            row[:] = _conditional(self.totals[x, y], self.n, k, l, q, crossed)
        return means, SummedRoots.of(roots, largest, worst, means.shape[1])


def _conditional(
    totals: PairTotals,
    m: int,
    k: FloatArray,
    l: FloatArray,  # noqa: E741
    q: FloatArray,
    crossed: FloatArray,
) -> FloatArray:
    """Finish conditional means, as :func:`~reldep.engine.terms.conditional_means` does."""
    h = (m - 2.0) ** 2 * q - float(m) * k * l + (m - 2.0) * (totals.joint - crossed)
    h += totals.second * k + totals.first * l - totals.product
    return np.asarray(h / (2.0 * (m - 1.0) * (m - 2.0) * (m - 3.0)))


def all_factors(
    sums: FeatureSums, n: int, features: Mapping[str, RowFeatures]
) -> tuple[Factors, dict[Pair, PairTotals]]:
    """Finish the sums over all rows."""
    factors = Factors.of(sums, n, {name: one.centre for name, one in features.items()})
    return factors, pair_totals(sums, factors, n)


def canonical_pairs(names: Sequence[str]) -> tuple[Pair, ...]:
    """List all pairs of some variables, with themselves too."""
    rising = sorted(names)
    return tuple((x, y) for i, x in enumerate(rising) for y in rising[i:])
