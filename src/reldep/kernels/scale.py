"""The choice of a bandwidth: given, or the mean or the median of the pairwise distances.

All distances of up to 5,000 observations, and for the mean on one column always. For larger
samples the rows are put in a random order and each is compared with the next few: every
observation then takes part equally often, so that the scale moves with each observation as that of
all pairs does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from reldep.arguments import check_choice, check_positive
from reldep.data.variables import FloatArray, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel, Kernel, Rows
from reldep.kernels.distances import FIRST, ROOT, Factor, Points, fill_values

# Relative difference of squared distances that counts as rounding.
ROUNDING = 1e-9

ScaleRule = Literal["median", "mean"]


@dataclass(frozen=True)
class Scale:
    """A bandwidth and how it was chosen: by the distances between different observations, or given.

    Attributes
    ----------
    value : float
        The mean or the median distance, or the number given, in data units.
    rule : {"median", "mean", "given"}
    has_ties : bool
        Whether more than half of the distances are 0, so that the median of the others was taken.
    n_pairs : int or None
        The number of distances that were sampled; None if all were used.
    factor : float
        Multiplies the value.
    """

    value: float
    rule: ScaleRule | Literal["given"]
    has_ties: bool = False
    n_pairs: int | None = None
    factor: float = 1.0

    @property
    def width(self) -> float:
        """The bandwidth."""
        return self.factor * self.value

    @property
    def words(self) -> str:
        """The rule in words."""
        times = "" if self.factor == 1 else f"{self.factor:g} × "
        kept = " of the non-zero distances" if self.has_ties else ""
        sampled = "" if self.n_pairs is None else f" ({self.n_pairs:,} distances sampled)"
        return f"{times}{self.rule}{kept}{sampled}"

    def scaled(self, factor: float) -> Scale:
        """Return `factor` times this bandwidth."""
        return self if factor == 1 else replace(self, factor=factor * self.factor)


def scale_of(points: Points, rule: ScaleRule, all_pairs_up_to: int = 5_000) -> Scale:
    """Return a scale of the distances between different observations.

    All distances take 100 MB for the median of 5,000 observations.
    """
    squared, n_pairs, has_ties = None, None, False
    n, n_columns = points.rows.shape
    if rule == "mean" and n_columns == 1 and isinstance(points.rows, np.ndarray):
        value = _mean_of_column(points.rows[:, 0])
    elif n > all_pairs_up_to:
        squared = sampled_squares(points)
        n_pairs = len(squared)
    elif rule == "mean":
        value = float(points.mean_distances.mean())
    else:
        squared = points.squared_pairs()
    if squared is not None:
        value = float(np.sqrt(squared).mean()) if rule == "mean" else _middle_root(squared)
        has_ties = value == 0 and rule == "median"
        if has_ties:
            value = _middle_root(squared[squared > 0])
    if not value > 0:
        raise InputError(
            f"all distances that the {rule} bandwidth is taken of are 0; rescale tiny values, or "
            "pass a bandwidth as in Gaussian(bandwidth=1.0)."
        )
    return Scale(points.unit * value, rule, has_ties, n_pairs)


def sampled_median(vectors: FloatArray, sampled: int = 1_000) -> Scale:
    """Return the median distance of vectors; of many, that of some at random, to about 2 %."""
    if len(vectors) > sampled:
        vectors = np.random.default_rng(0).choice(vectors, sampled, replace=False)
    return scale_of(Points.of(Numeric("vectors", vectors)), "median")


def _middle_root(squared: FloatArray) -> float:
    """Return the median of the roots; 0 if there are none.

    A sample brackets the middle, so that of many values only a twentieth is put in order: 47.5 to
    52.5 % of 20,000 values contain it but for ten million to one.
    """
    n = len(squared)
    if n == 0:
        return 0.0
    ranks = np.array([(n - 1) // 2, n // 2])
    sample = np.sort(squared[:: max(1, n // 20_000)])
    low, high = sample[[int(0.475 * len(sample)), int(0.525 * len(sample))]]
    inside = squared[(low <= squared) & (squared <= high)]
    places = ranks - np.count_nonzero(squared < low)
    if places[0] >= 0 and places[1] < len(inside):
        squared, ranks = inside, places
    return float(np.sqrt(np.partition(squared, ranks)[ranks]).mean())


def sampled_squares(
    points: Points, n_pairs: int = 2_000_000, n_entries: int = 20_000_000
) -> FloatArray:
    """Return squared distances of each row from the next few in a random order that is fixed.

    The error of the scale of two million distances is below .05 %. Fewer are sampled if their rows
    have more entries in all, but never fewer than there are rows.
    """
    n = len(points)
    entries = points.rows.size if isinstance(points.rows, np.ndarray) else points.rows.nnz
    shifts = max(1, min(n_pairs // n, n_entries // max(1, entries)))
    # A seed of its own: the bandwidth of a variable depends on nothing but the variable.
    order = np.random.default_rng(0).permutation(n)
    rows = points.rows[np.append(order, order[:shifts])]
    if isinstance(rows, np.ndarray):
        rows = np.asfortranarray(rows)  # a few columns are subtracted three times as fast
    apart = (Points(rows[:n] - rows[i : n + i]) for i in range(1, shifts + 1))
    return np.concatenate([one.squared_norms for one in apart])


def _mean_of_column(values: FloatArray) -> float:
    """Return the mean distance of numbers: the i-th smallest of m counts 2i - m + 1 times."""
    n = len(values)
    times = 2.0 * np.arange(n) - (n - 1)
    return float(np.sort(values) @ times / (n * (n - 1) / 2))


@dataclass(frozen=True, eq=False)
class FittedFactors(FittedKernel):
    """Functions of the distances between points, joined from left to right.

    Attributes
    ----------
    points : Points
    factors : tuple of Factor
        With the rows of `points`.
    """

    points: Points
    factors: tuple[Factor, ...]

    def __len__(self) -> int:
        return int(self.points.rows.shape[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        squared = self.points.squared_distances(rows, cols)
        block = np.empty(squared.shape)
        fill_values([self.factors], squared, [block])
        return block

    def program(self) -> Sequence[Factor] | None:
        # Compiled code takes dense points only.
        return self.factors if isinstance(self.points.rows, np.ndarray) else None


@dataclass(frozen=True, eq=False)
class FittedSide(FittedKernel):
    """Half a weight for distances beyond the median, minus that for others; 0 for skipped ties."""

    points: Points
    median: float
    skips_ties: bool
    weight: float

    def __len__(self) -> int:
        return len(self.points)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        squared = self.points.squared_distances(rows, cols)
        # Distances equal to the median are not beyond it, however they were rounded.
        limit = self.median**2 * (1.0 + ROUNDING)
        sides = np.where(squared > limit, 0.5 * self.weight, -0.5 * self.weight)
        return np.where(squared == 0, 0.0, sides) if self.skips_ties else sides


def score_of(scale: Scale, points: Points) -> FittedKernel | None:
    """Return the kernel whose mean over pairs is, to first order, the logarithm of a scale.

    For the mean, distances in units of it. The median solves ``mean F(σ) = 1/2`` with F the share
    of distances up to σ, so that a pair moves log σ by ``([d > σ] - 1/2) / (σ f)`` with f the
    density of the distances at σ. Returns None for a bandwidth that was given, and where the median
    sits on an atom and does not move.
    """
    if scale.rule == "given":
        return None
    inside = scale.value / points.unit
    if scale.rule == "mean":
        return FittedFactors(points, (Factor(FIRST, ROOT, points.rows, 1.0 / inside),))
    density = inside * density_at(points, inside)
    if not np.isfinite(density):
        return None
    return FittedSide(points, inside, scale.has_ties, 1.0 / density)


def density_at(points: Points, median: float, most_rows: int = 500) -> float:
    """Return an estimate of the density of the pairwise distances at their median.

    A Gaussian kernel density estimate from evenly spaced rows, with an error of a few per cent. Its
    width is Silverman's, ``0.9 min(s, IQR/1.34) N^(-1/5)`` with N the number of pairs of all
    rows, which goes to 0 at a rate for which the density of a function of pairs is estimated
    at the speed of a mean (Frees, 1994). Distances of 0 (ties) are left out of the width.

    Returns
    -------
    float
        In units of the points; ``inf`` where the median sits on an atom and does not move.
    """
    n = len(points)
    rows = np.unique(np.linspace(0, n - 1, min(n, most_rows)).astype(np.int64))
    distances = np.sqrt(points.take(rows).squared_pairs())
    away = np.abs(distances - median)
    positive = distances[distances > 0]
    atom = np.count_nonzero(away <= ROUNDING * median)
    if not len(positive) or positive.min() == positive.max():
        return float("inf")
    # Integers with few levels, categories coded as numbers: 5 % of the distances are the median.
    if atom > max(1.0, 0.05 * len(positive)):
        return float("inf")
    width = 0.9 * _spread(positive) * (n * (n - 1) / 2) ** -0.2
    bumps = np.exp(-0.5 * (away[away < 6.0 * width] / width) ** 2)
    return float(bumps.sum() / (len(distances) * width * np.sqrt(2.0 * np.pi)))


def _spread(values: FloatArray) -> float:
    """Return the smaller of the standard deviation and that of a normal law of equal quartiles."""
    low, high = np.percentile(values, [25, 75])
    between = float(high - low) / 1.34
    deviation = float(values.std())
    # Not min: a value far beyond all others leaves no number for the deviation.
    return float(np.fmin(deviation, between)) if between > 0 else deviation


@dataclass(frozen=True)
class BandwidthKernel(Kernel):
    """What kernels with a bandwidth share: its checks and its choice."""

    bandwidth: float | ScaleRule = "median"
    factor: float = 1.0

    rules: ClassVar[tuple[str, ...]] = ("median",)

    def __post_init__(self) -> None:
        # In single precision, arithmetic with them would be so too.
        for name in ("bandwidth", "factor"):
            if isinstance(getattr(self, name), np.floating):
                object.__setattr__(self, name, float(getattr(self, name)))
        if isinstance(self.bandwidth, str):
            check_choice("bandwidth", self.bandwidth, self.rules)
        else:
            check_positive("bandwidth", self.bandwidth)
        check_positive("factor", self.factor)

    @property
    def needs_scale(self) -> bool:
        """Whether the data choose the bandwidth."""
        return isinstance(self.bandwidth, str)

    def frozen(self, variable: Variable) -> Kernel:
        if not self.needs_scale:
            return self
        width = float(self.fitted(variable).parameters()["bandwidth"])
        return replace(self, bandwidth=width, factor=1.0)

    def choose(self, scale: Scale | None) -> Scale:
        """Return the scale of the distances or, without one, the bandwidth given."""
        return (scale or Scale(float(self.bandwidth), "given")).scaled(self.factor)


@dataclass(frozen=True, eq=False)
class FittedBandwidth(FittedKernel):
    """What fitted kernels with a bandwidth share; their values decay from 1 to 0.

    Attributes
    ----------
    chosen : Scale
    """

    chosen: Scale

    def own_label(self) -> str:
        return f"{super().own_label()}(bandwidth={self.chosen.width:.6g})"

    def scaled(self, factor: float) -> FittedKernel:
        return replace(self, chosen=self.chosen.scaled(factor))

    def parameters(self) -> dict[str, Any]:
        return {"bandwidth": self.chosen.width, "rule": self.chosen.words}
