"""Functions of the squared distance, and what compiled code and bandwidths need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.kernels.base import LINEAR, POWER, POWER_ROOT, ROOT, SIDE, SLOPE, SLOPE_ROOT

if TYPE_CHECKING:
    from typing import Self

    from reldep.data.variables import FloatArray


@dataclass(frozen=True)
class Profile(ABC):
    """A function of the squared distance."""

    in_unit_interval: ClassVar[bool] = True

    @property
    def is_bounded(self) -> bool:
        """Whether its values stay near 0 however far points are from each other."""
        return True

    @abstractmethod
    def __call__(self, squared: FloatArray) -> FloatArray:
        """Evaluate in place, element by element, and return the same array."""

    @property
    def compiled_form(self) -> tuple[int, float, float] | None:
        """The number of the function in compiled code and its parameters; None if it has none."""
        return None

    def means_on_line(self, values: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Give the mean over the others of each of some numbers, in O(m log m); None if it cannot.

        Parameters
        ----------
        values : ndarray, shape (m,)
            In rising order.
        """
        return None

    def in_units(self, unit: float) -> Profile:  # noqa: ARG002
        """Give the profile for distances that are measured in multiples of `unit`."""
        return self


@dataclass(frozen=True)
class BandwidthProfile(Profile):
    """A function of the squared distance with a bandwidth σ."""

    bandwidth: float

    @abstractmethod
    def slope(self) -> Profile:
        """Give the derivative in the bandwidth."""

    def in_units(self, unit: float) -> Self:
        return self if unit == 1 else replace(self, bandwidth=self.bandwidth / unit)


@dataclass(frozen=True)
class GaussianProfile(BandwidthProfile):
    """exp(-d² / (2σ²))."""

    def __call__(self, squared: FloatArray) -> FloatArray:
        squared *= -0.5 / self.bandwidth**2
        return np.exp(squared, out=squared)

    @property
    def compiled_form(self) -> tuple[int, float, float]:
        return POWER, -0.5 / (self.bandwidth**2 * log(2)), 0.0

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
        return _vanishing_product(squared, decay)

    @property
    def compiled_form(self) -> tuple[int, float, float]:
        return SLOPE, -0.5 / (self.bandwidth**2 * log(2)), self.bandwidth**-3

    def in_units(self, unit: float) -> Profile:
        return self if unit == 1 else ScaledProfile(GaussianSlope(self.bandwidth / unit), 1 / unit)


@dataclass(frozen=True)
class LaplaceProfile(BandwidthProfile):
    """exp(-d / σ)."""

    def __call__(self, squared: FloatArray) -> FloatArray:
        np.sqrt(squared, out=squared)
        squared *= -1.0 / self.bandwidth
        return np.exp(squared, out=squared)

    @property
    def compiled_form(self) -> tuple[int, float, float]:
        return POWER_ROOT, -1.0 / (self.bandwidth * log(2)), 0.0

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
        return _vanishing_product(squared, decay)

    @property
    def compiled_form(self) -> tuple[int, float, float]:
        return SLOPE_ROOT, -1.0 / (self.bandwidth * log(2)), self.bandwidth**-2

    def in_units(self, unit: float) -> Profile:
        return self if unit == 1 else ScaledProfile(LaplaceSlope(self.bandwidth / unit), 1 / unit)


def _vanishing_product(growing: FloatArray, decay: FloatArray) -> FloatArray:
    """Multiply in place; where the decay is 0 so is the product, also at infinity."""
    if np.isinf(growing.max(initial=0.0)):
        growing[decay == 0] = 0.0
    return np.multiply(growing, decay, out=growing)


@dataclass(frozen=True)
class ScaledProfile(Profile):
    """A profile times a constant."""

    profile: Profile
    factor: float
    in_unit_interval: ClassVar[bool] = False

    @property
    def is_bounded(self) -> bool:
        return self.profile.is_bounded

    def __call__(self, squared: FloatArray) -> FloatArray:
        return np.multiply(self.profile(squared), self.factor, out=squared)


@dataclass(frozen=True)
class PowerProfile(Profile):
    """-d^exponent."""

    exponent: float
    in_unit_interval: ClassVar[bool] = False

    @property
    def is_bounded(self) -> bool:
        return False

    def __call__(self, squared: FloatArray) -> FloatArray:
        np.power(squared, 0.5 * self.exponent, out=squared)
        return np.negative(squared, out=squared)

    def means_on_line(self, values: FloatArray) -> FloatArray | None:
        if self.exponent != 1:
            return None
        n = len(values)
        before = np.arange(n)
        up_to = np.cumsum(values)
        below = values * before - (up_to - values)
        above = up_to[-1] - up_to - values * (n - 1 - before)
        means: FloatArray = -(below + above) / (n - 1)
        return means

    @property
    def compiled_form(self) -> tuple[int, float, float] | None:
        if self.exponent == 1:
            return ROOT, -1.0, 0.0
        return (LINEAR, -1.0, 0.0) if self.exponent == 2 else None

    def in_units(self, unit: float) -> Profile:
        return self if unit == 1 else ScaledProfile(self, float(np.power(unit, self.exponent)))


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

    def means_on_line(self, values: FloatArray) -> FloatArray:
        n = len(values)
        within = n_within(values, self.median)
        ties = n_within(values, 0.0) if self.skips_ties else 0.0
        means: FloatArray = (within - 0.5 * ties - 0.5 * (n - 1)) / (n - 1)
        return means

    @property
    def compiled_form(self) -> tuple[int, float, float]:
        return SIDE, self.median**2, 0.0 if self.skips_ties else 0.5

    def in_units(self, unit: float) -> Profile:
        return self if unit == 1 else replace(self, median=self.median / unit)


@dataclass(frozen=True)
class StepProfile(Profile):
    """The weighted mid-distribution of two neighbouring distances that the median lies between.

    ``(1-w) [d < low] + w [d < high]``, and half of each step where the distance is equal.
    """

    low: float
    high: float
    weight: float
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        distances = np.sqrt(squared)
        squared[...] = 0.0
        for step, share in ((self.low, 1.0 - self.weight), (self.high, self.weight)):
            tied = np.abs(distances - step) <= TIED * self.high
            squared += share * np.where(tied, 0.5, distances < step)
        return squared

    def means_on_line(self, values: FloatArray) -> FloatArray:
        means = np.zeros(len(values))
        for step, share in ((self.low, 1.0 - self.weight), (self.high, self.weight)):
            margin = TIED * self.high
            below, up_to = n_within(values, step - margin), n_within(values, step + margin)
            means += share * 0.5 * (below + up_to)
        return means / (len(values) - 1)

    def in_units(self, unit: float) -> Profile:
        return self if unit == 1 else replace(self, low=self.low / unit, high=self.high / unit)


def n_within(values: FloatArray, limit: float) -> FloatArray:
    """Count for each of some numbers, in rising order, the others that are at most so far away."""
    if limit < 0:
        return np.zeros(len(values))
    last = np.searchsorted(values, values + limit, side="right")
    first = np.searchsorted(values, values - limit, side="left")
    counts: FloatArray = (last - first - 1).astype(np.float64)
    return counts


# Distances that differ by less than this share are the same: they were rounded differently.
TIED = 1e-9
