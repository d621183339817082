"""The choice of a bandwidth, and how a chosen one moves with every observation.

A scale of the distances (their median, their mean) makes a kernel a function of the sample. A
:class:`BandwidthProbe` holds what an engine needs to follow that: the slope of the kernel in its
bandwidth, and a kernel whose row means tell how each observation moves the scale.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_positive
from reldep.exceptions import BandwidthWarning, InputError, InputTypeError, ReldepWarning
from reldep.kernels.base import FittedKernel, Kernel, stacked
from reldep.kernels.scales.median import MeanDistance, MidMedian, ScaleRule, pairwise_distances

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, Variable
    from reldep.kernels.points import Points
    from reldep.kernels.scales.median import Scale


# The density of the distances is one number: so many evenly spaced rows, 125,000 distances,
# give it to a few per cent.
DENSITY_ROWS = 500

# Where this share of the distances, ties apart, is equal to the median, the median stays where
# it is when an observation is added: integers with few levels, categories coded as numbers.
ATOM_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class BandwidthProbe:
    """A data-driven bandwidth σ = factor × scale and what depends on it.

    Attributes
    ----------
    slope : FittedKernel
        ∂K/∂σ.
    side : FittedKernel
        For the median +1/2 for distances up to it and -1/2 beyond it: the mean of row i is
        ``F_i - 1/2``, with F_i the share of observations within the median of observation i. For
        the mean, minus the distance.
    density : float
        The density of the pairwise distances at the median; 1 for the mean.
    factor : float
        The bandwidth as a multiple of the scale.
    pair_variance : float
        What the choice of pairs adds to the variance of the mean of `side` over pairs, times the
        number of observations; 0 if all pairs were taken.
    """

    slope: FittedKernel
    side: FittedKernel
    density: float
    factor: float = 1.0
    pair_variance: float = 0.0

    def influence(self, side_means: FloatArray) -> FloatArray:
        """Give the influence of every observation on the bandwidth.

        The median solves ``mean_i F_i(σ) = 1/2`` over pairs, so an observation moves it by
        ``-2 (F_i - 1/2) / f``; the 2 counts both members of a pair. It moves the mean by
        ``2 (mean_j d_ij - mean d)``. Noise from the choice of pairs has no observation of its own:
        all values grow by what it adds to the variance.

        Parameters
        ----------
        side_means : ndarray, shape (m,)
            The mean of each row of `side`.
        """
        centred = side_means - side_means.mean()
        variance = 4.0 * float(centred @ centred) / len(centred)
        if self.pair_variance > 0 and variance > 0:
            centred *= np.sqrt(1.0 + self.pair_variance / variance)
        return np.asarray(-2.0 * self.factor / self.density * centred)


def density_of(scale: Scale, points: Points) -> float:
    """Give the density that the influence on a scale is divided by; inf where it cannot move."""
    if isinstance(scale, MeanDistance):
        return 1.0
    if isinstance(scale, MidMedian):
        return scale.slope
    return density_at(points, scale.value / points.unit) / points.unit


def pair_variance(scale: Scale) -> float:
    """Give the variance that taking only some pairs adds, see :class:`BandwidthProbe`."""
    if scale.n_partners is None:
        return 0.0
    of_one = scale.deviation**2 if isinstance(scale, MeanDistance) else 0.25
    return of_one / scale.n_partners


def density_at(points: Points, median: float) -> float:
    """Estimate the density of the pairwise distances at their median.

    A Gaussian kernel density estimate on at most :data:`DENSITY_ROWS` evenly spaced rows. Its
    width is Silverman's, ``0.9 min(s, IQR/1.34) N^(-1/5)`` with N the number of pairs of all
    rows, which goes to 0 at a rate for which the density of a function of pairs is estimated
    at the speed of a mean (Frees, 1994). Distances of 0 (ties) are left out of the width.

    Returns
    -------
    float
        ``inf`` where the median sits on an atom and does not move.
    """
    n = len(points)
    rows = np.unique(np.linspace(0, n - 1, min(n, DENSITY_ROWS)).astype(np.int64))
    distances = pairwise_distances(points.take(rows))
    away = np.abs(distances - median)
    positive = distances[distances > 0]
    atom = np.count_nonzero(away <= 1e-9 * median)
    if (
        not len(positive)
        or positive.min() == positive.max()
        or atom > max(1.0, ATOM_SHARE * len(positive))
    ):
        return float("inf")
    width = 0.9 * _spread(positive) * (n * (n - 1) / 2) ** -0.2
    bumps = np.exp(-0.5 * (away[away < 6.0 * width] / width) ** 2)
    return float(bumps.sum() / (len(distances) * width * np.sqrt(2.0 * np.pi)))


def _spread(values: FloatArray) -> float:
    """Give the deviation, or that of a normal law with the same middle half if smaller."""
    low, high = np.percentile(values, [25, 75])
    middle = float(high - low) / 1.34
    deviation = float(values.std())
    # Not min: a value far beyond all others leaves no number for the deviation.
    return float(np.fmin(deviation, middle)) if middle > 0 else deviation


Bandwidth = float | ScaleRule


@dataclass(frozen=True)
class ChosenBandwidth:
    """A bandwidth, the rule it follows and what a reader should know about it."""

    width: float
    rule: str
    notes: tuple[ReldepWarning, ...] = ()

    def scaled(self, factor: float) -> ChosenBandwidth:
        """Give `factor` times this bandwidth."""
        return replace(self, width=factor * self.width, rule=f"{factor:g} × {self.rule}")


@dataclass(frozen=True)
class BandwidthKernel(Kernel):
    """What kernels with a bandwidth share: its checks and its choice."""

    bandwidth: Bandwidth = "median"
    factor: float = 1.0

    rules: ClassVar[tuple[str, ...]] = ("median",)

    def __post_init__(self) -> None:
        given = self.bandwidth
        way_out = (
            "pass a positive number or " + " or ".join(f'"{rule}"' for rule in self.rules) + "."
        )
        if isinstance(given, str):
            if given not in self.rules:
                raise InputError(f"`bandwidth={given!r}` is not known; {way_out}")
        elif isinstance(given, bool) or not isinstance(given, (int, float, np.number)):
            raise InputTypeError(f"bandwidth is of type {type(given).__name__}; {way_out}")
        elif not 0 < given <= sys.float_info.max:
            raise InputError(f"`bandwidth={given!r}`; {way_out}")
        check_positive("factor", self.factor)

    def scaled(self, factor: float) -> Kernel:
        """Give the same kernel with `factor` times the bandwidth."""
        return replace(self, factor=self.factor * factor)

    def frozen(self, fitted: FittedKernel) -> Kernel:
        width = fitted.describe().get("bandwidth")
        return self if width is None else replace(self, bandwidth=float(width), factor=1.0)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        if self.needs_median:
            return super().between(first, second)
        both = self.fit(stacked(first, second))
        return both(slice(0, len(first)), slice(len(first), len(both)))

    @property
    def needs_median(self) -> bool:
        """Whether the data decide the bandwidth."""
        return isinstance(self.bandwidth, str)

    def choose(self, variable: Variable, scale: Scale | None) -> ChosenBandwidth:
        """Take the scale of the distances or, where it is not needed, the bandwidth given."""
        if scale is None:
            chosen = ChosenBandwidth(float(self.bandwidth), "given")
        else:
            notes = (_ties_in_words(variable, scale.value),) if scale.has_ties else ()
            chosen = ChosenBandwidth(scale.value, scale.rule, notes)
        return chosen if self.factor == 1 else chosen.scaled(self.factor)


def _ties_in_words(variable: Variable, bandwidth: float) -> BandwidthWarning:
    return BandwidthWarning(
        f"more than half of the distances between observations of {variable.name} are 0 (ties), so "
        f"the median of the non-zero distances, {bandwidth:.4g}, is the bandwidth. Pass "
        "`kernel='delta'` if the values are really categories."
    )


@dataclass(frozen=True, eq=False)
class FittedScaled(FittedKernel):
    """What fitted kernels of a distance of their own share: they decay from 1 to 0."""

    chosen: ChosenBandwidth

    @property
    def label(self) -> str:
        name = type(self).__name__.removeprefix("Fitted")
        return f"{name}(bandwidth={self.chosen.width:.6g})"

    @property
    def in_unit_interval(self) -> bool:
        return True

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.chosen.notes

    def scaled(self, factor: float) -> FittedKernel:
        return replace(self, chosen=self.chosen.scaled(factor))

    def describe(self) -> dict[str, Any]:
        return {"kernel": self.label, "bandwidth": self.chosen.width, "rule": self.chosen.rule}
