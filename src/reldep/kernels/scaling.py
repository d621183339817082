"""The choice of a bandwidth: a number, or a scale of the distances.

Every kernel ``f(distance / bandwidth)`` shares it, whether the distance is Euclidean
(:mod:`reldep.kernels.radial`) or the kernel's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_positive
from reldep.exceptions import BandwidthWarning, InputError, InputTypeError, Option, ReldepWarning
from reldep.kernels.base import FittedKernel, Kernel, stacked
from reldep.kernels.median import ScaleRule

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, Variable
    from reldep.kernels.median import Scale

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
                raise InputError(f"bandwidth={given!r} is not known", way_out)
        elif isinstance(given, bool) or not isinstance(given, (int, float, np.number)):
            raise InputTypeError(f"bandwidth is of type {type(given).__name__}", way_out)
        elif not 0 < given < np.inf:
            raise InputError(f"bandwidth={given!r}", way_out)
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
        f"more than half of the distances between observations of {variable.name} are 0 (ties), "
        f"so the median of the non-zero distances, {bandwidth:.4g}, is the bandwidth.",
        ["Pass ", Option("kernel", "delta"), " if the values are really categories."],
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
