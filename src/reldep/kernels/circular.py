"""Kernels for what comes round again: times of day, seasons, directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reldep.data.checks import check_choice, check_positive
from reldep.data.variables import Numeric, Variable
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.radial import Bandwidth, Gaussian

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray

UNITS = ("degrees", "radians", "vectors")


def on_circle(values: FloatArray, period: float) -> FloatArray:
    """Give the point (cos, sin) at which every value stands; each column becomes two."""
    # Whole periods are taken off first: large values would lose digits in sine and cosine.
    angles = np.mod(values, period) * (2 * np.pi / period)
    return np.hstack([np.cos(angles), np.sin(angles)])


class _OnCircle(MappedKernel):
    """What both kernels share: the Gaussian between points on circles or spheres."""

    bandwidth: Bandwidth
    factor: float

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric,)

    @property
    def is_characteristic(self) -> bool:
        return True

    @property
    def kernel_of_rows(self) -> Gaussian:
        return Gaussian(self.bandwidth, self.factor)


@dataclass(frozen=True)
class Periodic(_OnCircle):
    """The kernel ``exp(-2 sin²(π (x - y) / period) / σ²)`` for what repeats after a period.

    Hour of the day (24), day of the week (7), position in a turn. It is the Gaussian kernel
    between points on the circle, hence positive definite, and characteristic for positions
    within the period; values a whole period apart are the same to it. Several columns are
    multiplied.

    Parameters
    ----------
    period : float
        After how much a value comes round again, in the unit of the data.
    bandwidth : float or "median", default "median"
        σ, a distance between points on the circle of radius 1, at most 2.
    factor : float, default 1
        Multiplies the bandwidth.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Periodic
    >>> from reldep.data.objects import read_variable
    >>> hours = read_variable([23.0, 1.0, 12.0], "hour")
    >>> Periodic(24, bandwidth=1).fit(hours).matrix().round(2)
    array([[1.  , 0.87, 0.14],
           [0.87, 1.  , 0.14],
           [0.14, 0.14, 1.  ]])
    """

    period: float
    bandwidth: Bandwidth = "median"
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_positive("period", self.period)
        _ = self.kernel_of_rows  # has the checks of the other arguments

    @property
    def title(self) -> str:
        return f"Periodic({self.period:g})"

    def rows(self, variable: Variable) -> Numeric:
        values: FloatArray = variable.values  # type: ignore[attr-defined]
        return Numeric(variable.name, on_circle(values, self.period))


@dataclass(frozen=True)
class Angles(_OnCircle):
    """The kernel ``exp(κ (cos(x - y) - 1))`` for directions, with ``κ = 1 / σ²``.

    It has the shape of the von Mises density and is the Gaussian kernel between points on the
    circle (for `unit` "vectors", on the sphere): positive definite and characteristic. Several
    columns of angles are multiplied.

    Parameters
    ----------
    unit : {"degrees", "radians", "vectors"}
        What the numbers are. With "vectors" each row is one direction in two or more
        dimensions; its length is not looked at.
    bandwidth : float or "median", default "median"
        σ, a distance between points on the circle of radius 1, at most 2.
    factor : float, default 1
        Multiplies the bandwidth.

    Examples
    --------
    >>> from reldep.kernels import Angles
    >>> from reldep.data.objects import read_variable
    >>> Angles("degrees", bandwidth=1).fit(read_variable([0, 180, 360], "wind")).matrix().round(2)
    array([[1.  , 0.14, 1.  ],
           [0.14, 1.  , 0.14],
           [1.  , 0.14, 1.  ]])
    """

    unit: Literal["degrees", "radians", "vectors"]
    bandwidth: Bandwidth = "median"
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, UNITS)
        _ = self.kernel_of_rows  # has the checks of the other arguments

    @property
    def title(self) -> str:
        return f"Angles({self.unit})"

    def rows(self, variable: Variable) -> Numeric:
        values: FloatArray = variable.values  # type: ignore[attr-defined]
        if self.unit == "vectors":
            return Numeric(variable.name, _directions(values, variable.name))
        full_turn = 360.0 if self.unit == "degrees" else 2 * np.pi
        return Numeric(variable.name, on_circle(values, full_turn))


def _directions(vectors: FloatArray, name: str) -> FloatArray:
    if vectors.shape[1] < 2:
        raise ValueError(
            f'{name} has one column; unit="vectors" takes directions in two or more dimensions. '
            'For angles pass unit="degrees" or "radians".'
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        row = int(np.argmin(lengths))
        raise ValueError(f"row {row} of {name} is the zero vector, which has no direction.")
    directions: FloatArray = vectors / lengths[:, None]
    return directions
