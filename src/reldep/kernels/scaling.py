"""The bandwidth of kernels that have a distance of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reldep.exceptions import BandwidthWarning, ReldepWarning
from reldep.kernels.base import Kernel
from reldep.kernels.radial import Bandwidth, Laplace

if TYPE_CHECKING:
    from reldep.data.variables import Variable
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.median import MedianDistance


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
    """What kernels with a distance of their own share: the choice of the bandwidth."""

    bandwidth: Bandwidth = "median"
    factor: float = 1.0

    def __post_init__(self) -> None:
        Laplace(self.bandwidth, self.factor)  # has the checks of both arguments

    def frozen(self, fitted: FittedKernel) -> Kernel:
        width = float(fitted.describe()["bandwidth"])
        return replace(self, bandwidth=width, factor=1.0)

    @property
    def needs_median(self) -> bool:
        """Whether the data decide the bandwidth."""
        return isinstance(self.bandwidth, str)

    def choose(self, variable: Variable, median: MedianDistance | None) -> ChosenBandwidth:
        """Take the median distance or, where it is not needed, the bandwidth given."""
        notes: tuple[ReldepWarning, ...] = ()
        if median is None:
            chosen = ChosenBandwidth(float(self.bandwidth), "given")
        else:
            if median.has_ties:
                notes = (
                    BandwidthWarning(
                        f"more than half of the distances between observations of {variable.name} "
                        f"are 0 (ties), so the median of the non-zero distances, "
                        f"{median.value:.4g}, is the bandwidth."
                    ),
                )
            chosen = ChosenBandwidth(median.value, median.rule, notes)
        return chosen if self.factor == 1 else chosen.scaled(self.factor)
