"""Kernels of the Euclidean distance, and the choice of their bandwidth.

A bandwidth is given, or the mean or the median of the pairwise distances: of all those of up to
5,000 observations, and for the mean on one column always. For larger samples the rows are put in a
random order and each is compared with the next few: every observation then takes part equally
often, so that the scale moves with each observation as that of all pairs does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from reldep.arguments import check_choice, check_positive
from reldep.data.variables import FloatArray, Labels, Numeric, Sparse, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import Bandwidth, FittedKernel, Kernel, Rows, stacked
from reldep.kernels.distances import (
    FIRST,
    GAUSSIAN,
    LAPLACE,
    ORDINARY,
    PLUS,
    ROOT,
    TIMES,
    Factor,
    Points,
    fill_values,
)

# Relative difference of squared distances that counts as rounding.
ROUNDING = 1e-9

ScaleRule = Literal["median", "mean"]


NAMES = {GAUSSIAN: "Gaussian", LAPLACE: "Laplace"}


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
    shifts = min(n_pairs // n, n_entries // max(1, entries))
    # A seed of its own: the bandwidth of a variable depends on nothing but the variable.
    order = np.random.default_rng(0).permutation(n)
    return points.squared_to_next(order, max(1, shifts))


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


@dataclass(frozen=True, eq=False)
class FittedRadial(FittedFactors, FittedBandwidth):
    """A function of the distance between points in units of a bandwidth, or a sum of several.

    Attributes
    ----------
    function : int
        GAUSSIAN or LAPLACE.
    ratios : tuple of float
        The bandwidths of the summands, in units of the bandwidth.
    """

    function: int
    ratios: tuple[float, ...] = (1.0,)

    @classmethod
    def of(
        cls, chosen: Scale, points: Points, function: int, ratios: tuple[float, ...] = (1.0,)
    ) -> FittedRadial:
        """Return the kernel of these points with a bandwidth, or raise if it is out of reach."""
        if not 1e-45 < chosen.width / points.unit < 1e45:
            # Squares of distances in such bandwidths may not be numbers.
            raise InputError(
                f"with the bandwidth {chosen.width:g} every kernel value is 0 or 1; pass one "
                "nearer to the distances between observations, or leave it out."
            )
        factors: list[Factor] = []
        for ratio in ratios:
            width = ratio * chosen.width / points.unit
            scale = -1.0 / width if function == LAPLACE else -0.5 / width**2
            how = PLUS if factors else FIRST
            factors.append(Factor(how, function, points.rows, scale / log(2)))
        return cls(chosen, points, tuple(factors), function, ratios)

    def own_label(self) -> str:
        if len(self.ratios) == 1:
            return f"{NAMES[self.function]}(bandwidth={self.chosen.width:.6g})"
        listed = ", ".join(f"{ratio:g}" for ratio in self.ratios)
        return f"Gaussians(bandwidth={self.chosen.width:.6g} × {listed})"

    def parameters(self) -> dict[str, Any]:
        several = {"factors": self.ratios} if len(self.ratios) > 1 else {}
        return {**super().parameters(), **several, **_about_points(self.points)}

    def scaled(self, factor: float) -> FittedKernel:
        moved = FittedRadial.of(self.chosen.scaled(factor), self.points, self.function, self.ratios)
        return replace(self, chosen=moved.chosen, factors=moved.factors)

    def slope(self, summand: int = 0) -> FittedKernel:
        """Return d/σ · exp(-d/σ) for Laplace, d²/σ² · exp(-d²/2σ²) for Gaussian."""
        own = self.factors[summand]._replace(how=TIMES)
        inverse = self.points.unit / (self.ratios[summand] * self.chosen.width)
        root = Factor(FIRST, ROOT, own.points, inverse)
        roots = (root,) if self.function == LAPLACE else (root, root._replace(how=TIMES))
        return FittedFactors(self.points, (*roots, own))

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Return one for each summand; they move together, so that their slopes add up."""
        width, words, found = self.chosen.width, self.chosen.words, []
        score = score_of(self.chosen, self.points)
        if score is not None:
            for i, ratio in enumerate(self.ratios):
                found.append(Bandwidth(ratio * width, words, self.slope(i), score))
        return tuple(found)


def _about_points(points: Points) -> dict[str, Any]:
    # A kernel of two values depends only on whether they are equal, as for categories.
    binary = {"is_binary": True} if points.is_binary else {}
    return {"columns": points.n_columns, **binary}


@dataclass(frozen=True)
class RadialKernel(BandwidthKernel):
    """What Gaussian and Laplace share."""

    accepts = (Numeric, Sparse)
    rules: ClassVar[tuple[str, ...]] = get_args(ScaleRule)
    function: ClassVar[int]

    is_characteristic = True

    @property
    def ratios(self) -> tuple[float, ...]:
        """The bandwidths of the summands, in units of the bandwidth."""
        return (1.0,)

    def fitted(self, variable: Variable) -> FittedRadial:
        points = Points.of(variable)  # type: ignore[arg-type]
        scale = scale_of(points, self.bandwidth) if isinstance(self.bandwidth, str) else None
        if scale is not None:
            _check_scale(scale, points, variable.name)
        return FittedRadial.of(self.choose(scale), points, self.function, self.ratios)


def _check_scale(scale: Scale, points: Points, name: str) -> None:
    """Raise if one value makes the mean distance so large that the others look the same.

    Their differences are then lost in the rounding of the kernel, half of its digits.
    """
    ratio = scale.value / (points.unit * np.sqrt(points.rows.shape[1]))
    if scale.rule == "mean" and ratio > 1e7 and not points.is_sparse:
        raise InputError(
            f"{name} has a value so far from the others that its bandwidth, the mean distance, is "
            f"{ratio:.3g} times the usual distance. If it stands for a missing value, write NA; if "
            "it is right, pass `kernel='gaussian'`, whose bandwidth is the median distance."
        )


class Gaussian(RadialKernel):
    """The Gaussian kernel ``exp(-|x - y|² / (2σ²))``.

    Parameters
    ----------
    bandwidth : float, "median" or "mean", default "median"
        σ, or a scale of the distances between different observations. If more than half of
        the distances are 0 (many ties), the median of the others is used, with a
        :class:`~reldep.exceptions.BandwidthWarning`. The mean varies smoothly with the data, also
        for counts and ratings.
    factor : float, default 1
        Multiplies the bandwidth, as in ``Gaussian(factor=0.5)`` for half the median.

    Examples
    --------
    >>> from reldep.kernels import Gaussian
    >>> Gaussian(bandwidth=2.0).is_characteristic
    True
    """

    function = GAUSSIAN


class Laplace(RadialKernel):
    """The Laplace kernel ``exp(-|x - y| / σ)``, with the Euclidean distance.

    Parameters
    ----------
    bandwidth : float, "median" or "mean", default "median"
        As for :class:`Gaussian`.
    factor : float, default 1
        Multiplies the bandwidth.
    """

    function = LAPLACE


@dataclass(frozen=True)
class Gaussians(RadialKernel):
    """Gaussian kernels at several scales, added up: ``Σ exp(-|x - y|² / (2 (fσ)²))``.

    One Gaussian at the median distance misses what is finer than half the width of the data; one
    at a quarter of it misses trends. The sum sees both, at a small cost in power where one scale
    is enough. It is characteristic.

    Parameters
    ----------
    bandwidth : float, "median" or "mean", default "median"
        σ, as for :class:`Gaussian`.
    factor : float, default 1
        Multiplies the bandwidth.
    factors : tuple of float, default (0.25, 0.5, 1, 2, 4)
        The scales, in bandwidths.

    Examples
    --------
    >>> from reldep.kernels import Gaussian, Gaussians
    >>> x, y = [0.0, 1.0], [2.0]
    >>> Gaussians(1.0, factors=(1.0, 2.0))(x, y).round(3)
    array([[0.742],
           [1.489]])
    """

    factors: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)

    function = GAUSSIAN

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.factors
        if not isinstance(given, tuple) or not given:
            raise InputError(f"`factors={self.factors!r}`; pass a tuple of positive numbers.")
        for factor in self.factors:
            check_positive("factors", factor)

    @property
    def ratios(self) -> tuple[float, ...]:
        return self.factors


@dataclass(frozen=True, eq=False)
class FittedDistance(FittedKernel):
    """``-|x - y|^p``, seen from the centre where some points are far from the others.

    The distances from a point at 1e12 are all about 1e12, and their differences are lost in
    their last digits. ``|x|^p + |y|^p - |x - y|^p`` differs by a function of x and one of y, which
    no dependence sees, and stays near the size of the smaller of the two.
    """

    points: Points
    exponent: float

    def __len__(self) -> int:
        return len(self.points)

    def own_label(self) -> str:
        return f"Distance(exponent={self.exponent:g})"

    def parameters(self) -> dict[str, Any]:
        return {"exponent": self.exponent, "rule": "given", **_about_points(self.points)}

    @cached_property
    def has_far(self) -> bool:
        """Whether a point is so far from the centre that distances keep less than 12 digits."""
        if self.points.is_sparse:
            return False
        sizes = np.abs(self.points.rows).max(axis=1)
        return bool(sizes.any() and sizes.max() > 1e4 * np.median(sizes[sizes > 0]))

    def program(self) -> Sequence[Factor] | None:
        if self.has_far or self.exponent not in (1, 2):
            return None
        rows, unit = self.points.rows, self.points.unit
        if not isinstance(rows, np.ndarray):
            return None
        root = Factor(FIRST, ROOT, rows, -unit)
        return [root] if self.exponent == 1 else [root, Factor(TIMES, ROOT, rows, unit)]

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        if self.has_far:
            return self._from_centre(rows, cols)
        block = self.points.squared_distances(rows, cols)
        np.power(block, 0.5 * self.exponent, out=block)
        block *= -np.power(self.points.unit, self.exponent)
        return block

    def _from_centre(self, rows: Rows, cols: Rows) -> FloatArray:
        """Return a block of ``|x|^p + |y|^p - |x - y|^p``, from angles where lengths differ much.

        With ``r = |y| / |x| < 1`` and the cosine c between them,
        ``|x - y|² = |x|² (1 + r² - 2rc)``, so that
        ``|x|^p - |x - y|^p = -|x|^p expm1(p/2 log1p(r² - 2rc))`` without cancellation.
        """
        p = self.exponent
        lengths, directions = self._polar
        own, others = lengths[rows][:, None], lengths[None, cols]
        longer, shorter = np.maximum(own, others), np.minimum(own, others)
        ratio = np.divide(shorter, longer, out=np.zeros(longer.shape), where=longer > 0)
        turned = ratio**2 - 2.0 * ratio * (directions[rows] @ directions[cols].T)
        block: FloatArray = np.expm1(0.5 * p * np.log1p(np.maximum(turned, -0.75)))
        block *= -(longer**p)
        # The difference of lengths that are similar is computed as such.
        similar = ratio > 0.5
        if similar.any():
            apart = np.zeros(block.shape)
            for column in np.asarray(self.points.rows).T:
                np.hypot(apart, column[rows][:, None] - column[cols], out=apart)
            block[similar] = (longer**p - apart**p)[similar]
        block += shorter**p
        block *= np.power(self.points.unit, p)
        return block

    @cached_property
    def _polar(self) -> tuple[FloatArray, FloatArray]:
        """The distance of each point from the centre, and its direction."""
        rows = np.asarray(self.points.rows)
        largest = np.abs(rows).max(axis=1)
        scaled = rows / np.where(largest > 0, largest, 1.0)[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        return lengths * largest, scaled / np.where(lengths > 0, lengths, 1.0)[:, None]

    def in_own_unit(self) -> FittedDistance:
        """Return the kernel of the points in their own unit if that is far from 1."""
        if abs(self.exponent * np.log2(self.points.unit)) < ORDINARY:
            return self
        return replace(self, points=replace(self.points, unit=1.0))


@dataclass(frozen=True)
class Distance(Kernel):
    """The kernel ``-|x - y|^exponent``, with which HSIC is the distance covariance.

    Labels are compared by the discrete metric: 0 if equal, 1 if not.

    Parameters
    ----------
    exponent : float, default 1
        Between 0 and 2, both excluded for a characteristic kernel; 2 is allowed and sees
        linear relations only.
    """

    exponent: float = 1.0

    accepts = (Numeric, Sparse, Labels)

    def __post_init__(self) -> None:
        check_positive("exponent", self.exponent)
        if self.exponent > 2:
            raise InputError(f"`exponent={self.exponent!r}`; pass a number in (0, 2].")

    @property
    def is_characteristic(self) -> bool:  # type: ignore[override]
        return self.exponent < 2

    def fitted(self, variable: Variable) -> FittedKernel:
        if isinstance(variable, Labels):
            # -[a ≠ b] is [a = b] minus a constant, and constants change nothing.
            from reldep.kernels.explicit import Delta

            return Delta().fit(variable)
        return FittedDistance(Points.of(variable, keep_far=True), self.exponent)  # type: ignore[arg-type]

    def between(self, first: Variable, second: Variable) -> FloatArray:
        if isinstance(first, Labels):
            from reldep.kernels.explicit import Delta

            return Delta().between(first, second) - 1.0
        points = Points.of(stacked(first, second), keep_far=True)  # type: ignore[arg-type]
        n = len(first)
        squared = points.squared_distances(slice(0, n), slice(n, len(points)))
        # As written: seen from the centre, the values differ by what dependence does not see.
        return np.asarray(-((points.unit * np.sqrt(squared)) ** self.exponent))
