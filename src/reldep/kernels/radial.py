"""Kernels that are functions of the Euclidean distance: Gaussian(s), Laplace and Distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.arguments import check_positive
from reldep.data.variables import FloatArray, Labels, Numeric, Sparse, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import Bandwidth, FittedKernel, Kernel, Rows, stacked
from reldep.kernels.distances import FIRST, GAUSSIAN, LAPLACE, PLUS, ROOT, TIMES, Factor, Points
from reldep.kernels.scale import BandwidthKernel, FittedBandwidth, FittedFactors, scale_of, score_of

if TYPE_CHECKING:
    from reldep.kernels.scale import Scale

NAMES = {GAUSSIAN: "Gaussian", LAPLACE: "Laplace"}


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
    rules: ClassVar[tuple[str, ...]] = ("median", "mean")
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
        if self.points.is_in_ordinary_unit(self.exponent):
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
