"""The bandwidth of kernels that have a distance of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reldep.exceptions import BandwidthWarning, ReldepWarning
from reldep.kernels.base import Kernel
from reldep.kernels.radial import Bandwidth, Laplace

if TYPE_CHECKING:
    from reldep._variables import Variable

Median = Callable[[], tuple[float, bool]]


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

    def choose(self, variable: Variable, median: Median) -> ChosenBandwidth:
        """Take the bandwidth given, or ask for the median distance and whether it has ties."""
        notes: tuple[ReldepWarning, ...] = ()
        if isinstance(self.bandwidth, str):
            scale, has_ties = median()
            rule = "median"
            if has_ties:
                rule = "median of the non-zero distances"
                notes = (
                    BandwidthWarning(
                        f"more than half of the distances between observations of {variable.name} "
                        f"are 0 (ties), so the median of the non-zero distances, {scale:.4g}, is "
                        "the bandwidth."
                    ),
                )
        else:
            scale, rule = float(self.bandwidth), "given"
        chosen = ChosenBandwidth(scale, rule, notes)
        return chosen if self.factor == 1 else chosen.scaled(self.factor)
