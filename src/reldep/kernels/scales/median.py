"""The scale that the data themselves propose: the median or the mean of their distances.

Both are exact up to `EXACT_UP_TO` observations, and on one column always. Beyond that, rows of
several columns are put in random order and each is compared with the next few hundred: every
observation then takes part equally often, so the scale moves with each observation as the exact
one does, and what the choice of pairs adds to its noise is known (:attr:`Scale.n_partners`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from reldep.exceptions import InputError
from reldep.kernels.profiles import PowerProfile, Profile, SideProfile, StepProfile
from reldep.kernels.scales.order_statistics import DistanceStream
from reldep.system import worth_compiling

if TYPE_CHECKING:
    from typing import Self

    from reldep.data.variables import FloatArray
    from reldep.kernels.points import Points

WHOLE_UP_TO = 2_000
EXACT_UP_TO = 20_000

# Beyond, so many distances are taken in all, and at least so many for each observation: those
# between few columns are quick.
DISTANCES_TAKEN = 20_000_000
LEAST_PARTNERS, LEAST_PARTNERS_OF_MANY_COLUMNS = 100, 20

# The middle of more than twice so many distances is sought between two quantiles of a sample.
MIDDLE_SAMPLE = 5_000

ScaleRule = Literal["median", "mean", "mid-median"]


@dataclass(frozen=True)
class Scale:
    """A scale of the pairwise distances and how it was found.

    Attributes
    ----------
    value : float
    has_ties : bool
        Whether the plain rule gave 0 and distances of 0 were left out.
    n_partners : int or None
        With how many others each observation was compared, twice over; None if with all.
    """

    value: float
    has_ties: bool = False
    n_partners: int | None = None

    word: ClassVar[str]

    @property
    def rule(self) -> str:
        """Say in words which distances the scale is of."""
        text = f"{self.word} of the non-zero distances" if self.has_ties else self.word
        if self.n_partners is None:
            return text
        distances = "" if self.has_ties else " distance"
        return f"{text}{distances} of each row from {2 * self.n_partners:,} others at random"

    def side(self) -> Profile:
        """Give the function of the distance whose row means tell the influence on the scale."""
        raise NotImplementedError

    def in_units(self, unit: float) -> Self:
        """Turn a scale of distances in multiples of `unit` into a plain number."""
        return self if unit == 1 else replace(self, value=self.value * unit)


@dataclass(frozen=True)
class MedianDistance(Scale):
    """The median of the distances or, where more than half of them are 0, of the others."""

    word: ClassVar[str] = "median"

    def side(self) -> Profile:
        return SideProfile(self.value, self.has_ties)


@dataclass(frozen=True)
class MeanDistance(Scale):
    """The mean of the distances; `deviation` is their spread where not all were taken."""

    deviation: float = 0.0

    word: ClassVar[str] = "mean"

    def in_units(self, unit: float) -> Self:
        return replace(self, value=self.value * unit, deviation=self.deviation * unit)

    def side(self) -> Profile:
        return PowerProfile(1.0)


@dataclass(frozen=True)
class MidMedian(Scale):
    """The median of the mid-distribution: between two neighbouring values of the distance.

    Attributes
    ----------
    low, high : float
        The neighbours.
    slope : float
        By how much the mid-distribution grows from one to the other, a unit of distance.
    """

    low: float = 0.0
    high: float = 0.0
    slope: float = 0.0

    word: ClassVar[str] = "mid-distribution median"

    def side(self) -> Profile:
        return StepProfile(self.low, self.high, (self.value - self.low) / (self.high - self.low))

    def in_units(self, unit: float) -> Self:
        return replace(
            self,
            value=self.value * unit,
            low=self.low * unit,
            high=self.high * unit,
            slope=self.slope / unit,
        )


def distance_scale(
    points: Points, rule: ScaleRule = "median", rng: np.random.Generator | None = None
) -> Scale:
    """Find a scale of the distances between different observations.

    Parameters
    ----------
    points : Points
    rule : {"median", "mean", "mid-median"}
    rng : numpy.random.Generator, optional
        Puts more than `EXACT_UP_TO` observations in random order; by default with seed 0.
    """
    if rule == "mid-median":
        found = _mid_median(points)
        if found is not None:
            return found.in_units(points.unit)
    return mean_distance(points, rng) if rule == "mean" else median_distance(points, rng)


def median_distance(points: Points, rng: np.random.Generator | None = None) -> MedianDistance:
    """Find the median of the distances between different observations."""
    return _median(points, rng).in_units(points.unit)


def _median(points: Points, rng: np.random.Generator | None) -> MedianDistance:
    n = len(points)
    if n <= WHOLE_UP_TO:
        return _median_of_all(points.squared_pairs())
    if points.few_columns is not None and points.n_columns == 1 and worth_compiling(n):
        return _median_of_column(points)
    if n <= EXACT_UP_TO:
        return _median_of_stream(DistanceStream(points))
    shuffled, n_partners = _in_random_order(points, rng)
    found = _median_of_stream(DistanceStream(shuffled, n_partners=n_partners))
    return replace(found, n_partners=n_partners)


def mean_distance(points: Points, rng: np.random.Generator | None = None) -> MeanDistance:
    """Find the mean of the distances between different observations."""
    n = len(points)
    if points.few_columns is not None and points.n_columns == 1:
        found = MeanDistance(_mean_of_column(np.asarray(points.rows)[points.order, 0]))
    elif n <= WHOLE_UP_TO or (n <= EXACT_UP_TO and points.has_quick_means):
        found = MeanDistance(float(points.mean_distances.mean()))
    elif n <= EXACT_UP_TO:
        total, _ = DistanceStream(points).sums()
        found = MeanDistance(total / (n * (n - 1) / 2))
    else:
        shuffled, n_partners = _in_random_order(points, rng)
        total, squares = DistanceStream(shuffled, n_partners=n_partners).sums()
        mean = total / (n * n_partners)
        deviation = float(np.sqrt(max(0.0, squares / (n * n_partners) - mean**2)))
        found = MeanDistance(mean, n_partners=n_partners, deviation=deviation)
    _check_any(found.value > 0, "mean")
    return found.in_units(points.unit)


def pairwise_distances(points: Points) -> FloatArray:
    """Give the m(m-1)/2 distances between different observations."""
    squared = points.squared_pairs()
    return np.sqrt(squared, out=squared)


def _in_random_order(points: Points, rng: np.random.Generator | None) -> tuple[Points, int]:
    """Shuffle the points, and say with how many of those that follow each is compared."""
    rng = np.random.default_rng(0) if rng is None else rng
    few = points.few_columns is not None
    least = LEAST_PARTNERS if few else LEAST_PARTNERS_OF_MANY_COLUMNS
    taken = DISTANCES_TAKEN if few else DISTANCES_TAKEN // 10
    n_partners = max(least, taken // len(points))
    return points.take(rng.permutation(len(points))), min(n_partners, (len(points) - 1) // 2)


def _median_of_all(squared: FloatArray) -> MedianDistance:
    median = _root_of_middle(squared)
    if median > 0:
        return MedianDistance(median)
    positive = squared[squared > 0]
    _check_any(len(positive) > 0, "median")
    return MedianDistance(_root_of_middle(positive), has_ties=True)


def _root_of_middle(squared: FloatArray) -> float:
    """Give the median of the roots: of the middle one, or the average of those of the middle two.

    A sample brackets the middle, so that of many values few are put in order.
    """
    n = len(squared)
    ranks = np.array([(n - 1) // 2, n // 2])
    step = n // MIDDLE_SAMPLE
    if step > 1:
        sample = np.sort(squared[::step])
        low, high = sample[int(0.45 * len(sample))], sample[int(0.55 * len(sample))]
        inside = squared[(low <= squared) & (squared <= high)]
        places = ranks - np.count_nonzero(squared < low)
        if places[0] >= 0 and places[1] < len(inside):
            squared, ranks = inside, places
    return float(np.sqrt(np.partition(squared, ranks)[ranks]).mean())


def _median_of_stream(stream: DistanceStream) -> MedianDistance:
    median = _middle(stream, 0)
    if median > 0:
        return MedianDistance(median)
    n_zeros = stream.count_zeros()
    _check_any(stream.n_distances > n_zeros, "median")
    return MedianDistance(_middle(stream, n_zeros), has_ties=True)


def _check_any(is_positive: bool, rule: str) -> None:
    if not is_positive:
        raise InputError(
            f"all distances that the {rule} bandwidth is taken of are 0; rescale the values if "
            "they are tiny, pass a bandwidth as in Gaussian(bandwidth=1.0), or `kernel='delta'`."
        )


def _middle(stream: DistanceStream, n_left_out: int) -> float:
    """Average the middle two, or take the middle one, of all but the smallest so many."""
    n = stream.n_distances - n_left_out
    ranks = n_left_out + (n - 1) // 2, n_left_out + n // 2
    low, high = (np.sqrt(stream.squared_distance_at(rank)) for rank in ranks)
    return float((low + high) / 2)


def _median_of_column(points: Points) -> MedianDistance:
    """Find the exact median on one column, in O(m log m): sort, count by two pointers, bisect."""
    from reldep.kernels.compiled import count_up_to, next_distance

    values = np.asarray(points.rows)[points.order, 0]
    n = len(values) * (len(values) - 1) // 2
    n_zeros = int(count_up_to(values, 0.0))
    has_ties = n // 2 < n_zeros
    _check_any(n_zeros < n, "median")
    left_out = n_zeros if has_ties else 0
    ranks = left_out + (n - left_out - 1) // 2, left_out + (n - left_out) // 2
    low = _distance_at(values, ranks[0], count_up_to)
    is_same = int(count_up_to(values, low)) > ranks[1]
    high = low if is_same else float(next_distance(values, low))
    return MedianDistance((low + high) / 2, has_ties)


def _distance_at(values: FloatArray, rank: int, count: Any) -> float:
    """Find the distance of a rank, counted from 0, by bisection over the bits of a double."""
    low, high = -1, int(np.float64(values[-1] - values[0]).view(np.int64))
    while high - low > 1:
        middle = (low + high) // 2
        if count(values, float(np.int64(middle).view(np.float64))) > rank:
            high = middle
        else:
            low = middle
    return float(np.int64(high).view(np.float64))


def _mean_of_column(values: FloatArray) -> float:
    """Average the distances of sorted values: the i-th of m values counts 2i - m + 1 times."""
    n = len(values)
    times = 2.0 * np.arange(n) - (n - 1)
    with np.errstate(over="ignore"):  # a bandwidth beyond all numbers is refused in words
        return float(values @ times / (n * (n - 1) / 2))


def _mid_median(points: Points) -> MidMedian | None:
    """Interpolate the mid-distribution of the distances at 1/2; None where there are few ties.

    With distinct distances ``v_1 < v_2 < …`` of shares p_k the mid-distribution is
    ``π_k = p_1 + … + p_(k-1) + p_k / 2`` (Ma, Genton and Parzen 2011).
    """
    if points.is_sparse or points.n_columns > WHOLE_UP_TO:
        return None
    _, first, counts = np.unique(points.rows, axis=0, return_index=True, return_counts=True)
    if not 1 < len(first) <= WHOLE_UP_TO or len(first) > len(points) / 2:
        return None
    distances = pairwise_distances(points.take(first))
    times = np.outer(counts, counts)[np.triu_indices(len(counts), k=1)].astype(float)
    n_zeros = float((counts * (counts - 1.0) / 2.0).sum())
    values, shares = _merged(np.append(0.0, distances), np.append(n_zeros, times))
    middles = np.cumsum(shares) - 0.5 * shares
    k = int(np.searchsorted(middles, 0.5, side="right")) - 1
    if not 0 <= k < len(values) - 1:
        return None
    slope = float((middles[k + 1] - middles[k]) / (values[k + 1] - values[k]))
    value = float(values[k] + (0.5 - middles[k]) / slope)
    if not value > 0:
        return None
    return MidMedian(value, low=float(values[k]), high=float(values[k + 1]), slope=slope)


def _merged(distances: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the distinct distances in rising order, and the share of each."""
    order = np.argsort(distances)
    distances, times = distances[order], times[order]
    starts = np.append(True, np.diff(distances) > 1e-9 * distances[-1])
    group = np.cumsum(starts) - 1
    return distances[starts], np.bincount(group, weights=times) / times.sum()
