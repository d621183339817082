"""Kernels that are functions of the Euclidean distance: Gaussian, Laplace and Distance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.variables import Labels, Numeric, Sparse, Variable
from reldep.kernels.bandwidth import BandwidthProbe, density_at
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.median import median_distance
from reldep.kernels.points import Points
from reldep.kernels.scaling import BandwidthKernel

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.exceptions import ReldepWarning


@dataclass(frozen=True)
class Profile(ABC):
    """A function of the squared distance."""

    in_unit_interval: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, squared: FloatArray) -> FloatArray:
        """Evaluate in place, element by element, and return the same array."""


@dataclass(frozen=True)
class BandwidthProfile(Profile):
    """A function of the squared distance with a bandwidth σ."""

    bandwidth: float

    @abstractmethod
    def slope(self) -> Profile:
        """Give the derivative in the bandwidth."""


@dataclass(frozen=True)
class GaussianProfile(BandwidthProfile):
    """exp(-d² / (2σ²))."""

    def __call__(self, squared: FloatArray) -> FloatArray:
        squared *= -0.5 / self.bandwidth**2
        return np.exp(squared, out=squared)

    def slope(self) -> GaussianSlope:
        return GaussianSlope(self.bandwidth)


@dataclass(frozen=True)
class GaussianSlope(Profile):
    """d²/σ³ · exp(-d² / (2σ²))."""

    bandwidth: float
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        squared *= -0.5 / self.bandwidth**2
        decay = np.exp(squared)
        squared *= -2.0 / self.bandwidth
        return np.multiply(squared, decay, out=squared)


@dataclass(frozen=True)
class LaplaceProfile(BandwidthProfile):
    """exp(-d / σ)."""

    def __call__(self, squared: FloatArray) -> FloatArray:
        np.sqrt(squared, out=squared)
        squared *= -1.0 / self.bandwidth
        return np.exp(squared, out=squared)

    def slope(self) -> LaplaceSlope:
        return LaplaceSlope(self.bandwidth)


@dataclass(frozen=True)
class LaplaceSlope(Profile):
    """d/σ² · exp(-d / σ)."""

    bandwidth: float
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        np.sqrt(squared, out=squared)
        squared *= -1.0 / self.bandwidth
        decay = np.exp(squared)
        squared *= -1.0 / self.bandwidth
        return np.multiply(squared, decay, out=squared)


@dataclass(frozen=True)
class PowerProfile(Profile):
    """-d^exponent."""

    exponent: float
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        np.power(squared, 0.5 * self.exponent, out=squared)
        return np.negative(squared, out=squared)


@dataclass(frozen=True)
class SideProfile(Profile):
    """+1/2 for distances up to the median, -1/2 beyond it; 0 for ties where they are left out."""

    median: float
    skips_ties: bool = False
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        tied = squared == 0
        squared[...] = np.where(squared > self.median**2, -0.5, 0.5)
        if self.skips_ties:
            squared[tied] = 0.0
        return squared


@dataclass(frozen=True, eq=False)
class FittedRadial(FittedKernel):
    """A profile applied to the distances between points.

    Attributes
    ----------
    points : Points
    profile : Profile
    label_text : str
    rule : str
        How the bandwidth was chosen, in words.
    notes : tuple of ReldepWarning
        Cautions about the fit.
    median : float or None
        The median of the distances where it decided the bandwidth.
    skips_ties : bool
        Whether distances of 0 were left out of the median.
    """

    points: Points
    profile: Profile
    label_text: str
    rule: str = "given"
    notes: tuple[ReldepWarning, ...] = ()
    median: float | None = None
    skips_ties: bool = False

    def __len__(self) -> int:
        return len(self.points)

    def __call__(self, rows: slice, cols: slice) -> FloatArray:
        return self.profile(self.points.squared_distances(rows, cols))

    @property
    def label(self) -> str:
        return self.label_text

    @property
    def in_unit_interval(self) -> bool:
        return self.profile.in_unit_interval

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.notes

    def scaled(self, factor: float) -> FittedRadial:
        if not isinstance(self.profile, BandwidthProfile):
            return self
        width = factor * self.profile.bandwidth
        return replace(
            self,
            profile=replace(self.profile, bandwidth=width),
            label_text=f"{self.label_text.rpartition('(')[0]}(bandwidth={width:.6g})",
            rule=f"{factor:g} × {self.rule}",
        )

    def describe(self) -> dict[str, Any]:
        parameters = {f.name: getattr(self.profile, f.name) for f in fields(self.profile)}
        return {"kernel": self.label, **parameters, "rule": self.rule}

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        if self.median is None or not isinstance(self.profile, BandwidthProfile):
            return ()
        density = density_at(self.points, self.median)
        if not np.isfinite(density):
            return ()
        slope, side = self.profile.slope(), SideProfile(self.median, self.skips_ties)
        return (
            BandwidthProbe(
                slope=FittedRadial(self.points, slope, f"slope of {self.label}"),
                side=FittedRadial(self.points, side, f"side of the median of {self.label}"),
                density=density,
                factor=self.profile.bandwidth / self.median,
            ),
        )


@dataclass(frozen=True)
class RadialKernel(BandwidthKernel):
    """What Gaussian and Laplace share: a profile of the distance in units of the bandwidth."""

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)
    profile: ClassVar[type[BandwidthProfile]]

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedRadial:
        self.check_accepts(variable)
        points = Points.of(variable)  # type: ignore[arg-type]
        found = median_distance(points, rng) if self.needs_median else None
        chosen = self.choose(variable, found)
        return FittedRadial(
            points,
            self.profile(chosen.width),
            f"{type(self).__name__}(bandwidth={chosen.width:.6g})",
            chosen.rule,
            chosen.notes,
            median=None if found is None else found.value,
            skips_ties=found is not None and found.has_ties,
        )


class Gaussian(RadialKernel):
    """The Gaussian kernel ``exp(-|x - y|² / (2σ²))``.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        σ, or the exact median of the distances between different observations. Where more
        than half of the distances are 0 (many ties), the median of the others is taken and
        a :class:`~reldep.exceptions.BandwidthWarning` says so.
    factor : float, default 1
        Multiplies the bandwidth, as in ``Gaussian(factor=0.5)`` for half the median.

    Examples
    --------
    >>> from reldep.kernels import Gaussian
    >>> Gaussian(bandwidth=2.0).is_characteristic
    True
    """

    profile = GaussianProfile


class Laplace(RadialKernel):
    """The Laplace kernel ``exp(-|x - y| / σ)``, with the Euclidean distance.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        As for :class:`Gaussian`.
    factor : float, default 1
        Multiplies the bandwidth.
    """

    profile = LaplaceProfile


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

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels)

    def __post_init__(self) -> None:
        if not 0 < self.exponent <= 2:
            raise ValueError(f"exponent={self.exponent!r}; pass a number in (0, 2].")

    @property
    def is_characteristic(self) -> bool:
        return self.exponent < 2

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:  # noqa: ARG002
        self.check_accepts(variable)
        if isinstance(variable, Labels):
            # -[a ≠ b] is [a = b] minus a constant, and constants change nothing.
            from reldep.kernels.categorical import Delta

            return Delta().fit(variable)
        text = f"Distance(exponent={self.exponent:g})"
        return FittedRadial(Points.of(variable), PowerProfile(self.exponent), text)  # type: ignore[arg-type]

    def between(self, first: Variable, second: Variable) -> FloatArray:
        if not isinstance(first, Labels):
            return super().between(first, second)
        from reldep.kernels.categorical import Delta

        return Delta().between(first, second) - 1.0
