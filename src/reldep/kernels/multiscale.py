"""Gaussian kernels at several scales, added up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from reldep.data.checks import check_positive
from reldep.data.variables import Numeric, Sparse, Variable
from reldep.exceptions import InputError
from reldep.kernels.composite import FittedSum
from reldep.kernels.profiles import Profile, ScaledProfile
from reldep.kernels.radial import FittedRadial, Gaussian
from reldep.kernels.scales.bandwidth import BandwidthKernel
from reldep.kernels.scales.median import ScaleRule

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.scales.bandwidth import BandwidthProbe

OCTAVES = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class MultiscaleSlope(Profile):
    """Σ d²/(f² σ³) · exp(-d² / (2 f² σ²)) over factors f: the slope of the sum in σ."""

    bandwidth: float
    factors: tuple[float, ...]
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        squared /= self.bandwidth**2
        total = np.zeros_like(squared)
        for factor in self.factors:
            total += np.exp(squared * (-0.5 / factor**2)) / factor**2
        squared *= total
        squared /= self.bandwidth
        return squared

    def in_units(self, unit: float) -> Profile:
        if unit == 1:
            return self
        return ScaledProfile(replace(self, bandwidth=self.bandwidth / unit), 1.0 / unit)


@dataclass(frozen=True, eq=False)
class FittedGaussians(FittedSum):
    """A sum of Gaussians on the same points, whose bandwidths are multiples of one."""

    base: FittedRadial
    ratios: tuple[float, ...]

    @classmethod
    def of(cls, base: FittedRadial, ratios: tuple[float, ...]) -> FittedGaussians:
        """Scale one fitted Gaussian; all share its distances."""
        return cls(tuple(base.scaled(ratio) for ratio in ratios), base, ratios)

    @property
    def width(self) -> float:
        """The bandwidth that the factors multiply."""
        return float(self.base.describe()["bandwidth"])

    @property
    def label(self) -> str:
        listed = ", ".join(f"{ratio:g}" for ratio in self.ratios)
        return f"Gaussians(bandwidth={self.width:.6g} × {listed})"

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.base.notes

    def scaled(self, factor: float) -> FittedGaussians:
        return self.of(self.base.scaled(factor), self.ratios)

    def take(self, rows: IntArray) -> FittedGaussians:
        return self.of(self.base.take(rows), self.ratios)

    def describe(self) -> dict[str, Any]:
        own = {"kernel": self.label, "bandwidth": self.width, "factors": self.ratios}
        return {**own, "rule": self.base.rule}

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        slope = MultiscaleSlope(self.width, self.ratios)
        fitted = FittedRadial(self.base.points, slope, f"slope of {self.label}")
        return tuple(replace(probe, slope=fitted) for probe in self.base.bandwidth_probes())


@dataclass(frozen=True)
class Gaussians(BandwidthKernel):
    """Gaussian kernels at several scales, added up: ``Σ exp(-|x - y|² / (2 (fσ)²))``.

    One Gaussian at the median distance hardly sees what is finer than half the data's width; one
    at a quarter of it hardly sees trends. The sum sees both, at a small price where one scale
    would do. It is characteristic.

    Parameters
    ----------
    bandwidth : float, "median", "mean" or "mid-median", default "median"
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

    factors: tuple[float, ...] = OCTAVES

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)
    rules: ClassVar[tuple[str, ...]] = get_args(ScaleRule)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.factors
        if not isinstance(given, tuple) or not given:
            raise InputError(f"factors={self.factors!r}", "pass a tuple of positive numbers.")
        for factor in self.factors:
            check_positive("factors", factor)

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedGaussians:
        self.check_accepts(variable)
        base = Gaussian(self.bandwidth, self.factor).fit(variable, rng=rng)
        return FittedGaussians.of(base, self.factors)
