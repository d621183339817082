"""Kernels on circles and spheres: times of day, seasons, directions, places on the Earth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from reldep.arguments import check_choice, check_positive
from reldep.data.variables import FloatArray, Numeric, Variable, check_varies
from reldep.exceptions import InputError
from reldep.kernels.base import Bandwidth, FittedValues, Rows
from reldep.kernels.distances import Points
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.radial import Gaussian
from reldep.kernels.scale import BandwidthKernel, FittedBandwidth, FittedSide, scale_of, score_of

if TYPE_CHECKING:
    from reldep.kernels.scale import Scale, ScaleRule

# Mean radius R1 of the Earth (IUGG), in kilometres.
EARTH_RADIUS = 6371.0088


def on_circle(values: FloatArray, period: float) -> FloatArray:
    """Return the point (cos, sin) of every value; each column becomes two."""
    # Whole periods are subtracted first: large values would lose digits in sine and cosine.
    angles = np.mod(values, period) * (2 * np.pi / period)
    return np.hstack([np.cos(angles), np.sin(angles)])


class _OnCircle(MappedKernel):
    """What both kernels share: the Gaussian between points on circles or spheres."""

    bandwidth: float | ScaleRule
    factor: float

    accepts = (Numeric,)

    is_characteristic = True

    @property
    def kernel(self) -> Gaussian:  # type: ignore[override]
        return Gaussian(self.bandwidth, self.factor)


@dataclass(frozen=True)
class Periodic(_OnCircle):
    """The kernel ``exp(-2 sin²(π (x - y) / period) / σ²)`` for values that repeat after a period.

    Hour of the day (24), day of the week (7), position in a turn. It is the Gaussian kernel
    between points on the circle, hence positive definite, and characteristic for positions
    within the period; values a whole period apart are the same to it. Several columns are
    multiplied.

    Parameters
    ----------
    period : float
        The length of a period, in the unit of the data.
    bandwidth : float or "median", default "median"
        σ, a distance between points on the circle of radius 1, at most 2.
    factor : float, default 1
        Multiplies the bandwidth.

    Examples
    --------
    >>> from reldep.kernels import Periodic
    >>> Periodic(24, bandwidth=1)([23.0, 1.0, 12.0]).round(2)
    array([[1.  , 0.87, 0.14],
           [0.87, 1.  , 0.14],
           [0.14, 0.14, 1.  ]])
    """

    period: float
    bandwidth: float | ScaleRule = "median"
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_positive("period", self.period)
        _ = self.kernel  # has the checks of the other arguments

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
        dimensions; its length is ignored.
    bandwidth : float or "median", default "median"
        σ, a distance between points on the circle of radius 1, at most 2.
    factor : float, default 1
        Multiplies the bandwidth.

    Examples
    --------
    >>> from reldep.kernels import Angles
    >>> Angles("degrees", bandwidth=1)([0, 180, 360]).round(2)
    array([[1.  , 0.14, 1.  ],
           [0.14, 1.  , 0.14],
           [1.  , 0.14, 1.  ]])
    """

    unit: Literal["degrees", "radians", "vectors"]
    bandwidth: float | ScaleRule = "median"
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, ("degrees", "radians", "vectors"))
        _ = self.kernel  # has the checks of the other arguments

    def rows(self, variable: Variable) -> Numeric:
        values: FloatArray = variable.values  # type: ignore[attr-defined]
        if self.unit == "vectors":
            return Numeric(variable.name, _directions(values, variable.name))
        full_turn = 360.0 if self.unit == "degrees" else 2 * np.pi
        return Numeric(variable.name, on_circle(values, full_turn))


def _directions(vectors: FloatArray, name: str) -> FloatArray:
    if vectors.shape[1] < 2:
        raise InputError(f'{name} has one column; for angles pass unit="degrees" or "radians".')
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        row = int(np.argmin(lengths))
        raise InputError(f"row {row} of {name} is the zero vector, which has no direction.")
    directions: FloatArray = vectors / lengths[:, None]
    return directions


@dataclass(frozen=True, eq=False)
class FittedHaversine(FittedBandwidth):
    """``exp(-g / σ)`` of the great-circle distance between points on the unit sphere.

    Attributes
    ----------
    points : Points
    chord : Scale or None
        The median distance of the points, if it chose the bandwidth.
    """

    points: Points
    chord: Scale | None = None

    def __len__(self) -> int:
        return len(self.points)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        block = self.arcs(rows, cols)
        block *= -1.0 / self.chosen.width
        return np.exp(block, out=block)

    def arcs(self, rows: Rows, cols: Rows) -> FloatArray:
        """Return a block of great-circle distances in kilometres."""
        chords = np.sqrt(self.points.squared_distances(rows, cols))
        chords *= self.points.unit
        return great_circle(chords)

    def own_label(self) -> str:
        return f"Haversine(bandwidth={self.chosen.width:.6g} km)"

    def slope(self, rows: Rows, cols: Rows) -> FloatArray:
        """Return a block of ``g/σ · exp(-g / σ)``."""
        ratio = self.arcs(rows, cols) / self.chosen.width
        return np.asarray(ratio * np.exp(-ratio))

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        score = None if self.chord is None else score_of(self.chord, self.points)
        if not isinstance(score, FittedSide):
            return ()
        # The arc of a chord c grows with it by R / √(1 - c²/4).
        chord = self.chord.value  # type: ignore[union-attr]
        growth = EARTH_RADIUS / np.sqrt(1.0 - 0.25 * chord**2) * chord / _arc(chord)
        score = replace(score, weight=float(growth * score.weight))
        slope = FittedValues(len(self), self.slope)
        return (Bandwidth(self.chosen.width, self.chosen.words, slope, score),)


def great_circle(chords: FloatArray) -> FloatArray:
    """Convert chords of the unit sphere, in place, to kilometres along the Earth's surface."""
    chords *= 0.5
    np.minimum(chords, 1.0, out=chords)
    np.arcsin(chords, out=chords)
    chords *= 2.0 * EARTH_RADIUS
    return chords


def _arc(chord: float) -> float:
    return float(great_circle(np.array([chord]))[0])


@dataclass(frozen=True)
class Haversine(BandwidthKernel):
    """The kernel ``exp(-g / σ)`` of the great-circle distance g, for places on the Earth.

    Takes two columns, latitude and longitude in degrees. Columns of a frame that are named the
    other way round are rejected.

    This exponential form is positive definite on the sphere and characteristic. The Gaussian form
    ``exp(-g² / (2σ²))`` is not offered, because it is not even positive semi-definite there
    (Gneiting 2013).

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        σ in kilometres, or the median distance between different observations.
    factor : float, default 1
        Multiplies the bandwidth.

    References
    ----------
    Gneiting (2013), Strictly and non-strictly positive definite functions on spheres,
    Bernoulli 19.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Haversine
    >>> paris, london = [[48.8566, 2.3522]], [[51.5074, -0.1278]]
    >>> (-1000 * np.log(Haversine(bandwidth=1000)(paris, london))).round(1)
    array([[343.6]])
    """

    accepts = (Numeric,)

    is_characteristic = True

    def fitted(self, variable: Variable) -> FittedHaversine:
        if self.needs_scale:
            check_varies(variable)
        points = Points.of(Numeric(variable.name, _on_sphere(variable)))  # type: ignore[arg-type]
        # Arcs grow with chords, so that the median arc belongs to the median chord.
        chord = scale_of(points, "median") if self.needs_scale else None
        arc = None if chord is None else replace(chord, value=_arc(chord.value))
        return FittedHaversine(self.choose(arc), points, chord)


def _on_sphere(places: Numeric) -> FloatArray:
    if places.values.shape[1] != 2:
        n_columns = places.values.shape[1]
        raise InputError(f"{places.name} has {n_columns} columns; pass latitude and longitude.")
    first, second = [name.strip().lower() for name in places.columns] or ("", "")
    if first.startswith(("lon", "lng")) or second.startswith("lat"):
        raise InputError(f"{places.name} has longitude first; pass latitude, then longitude.")
    largest = np.abs(places.values).max(axis=0)
    if largest[0] > 90 or largest[1] > 360:
        raise InputError(
            f"{places.name} has latitudes up to {largest[0]:g} and longitudes up to {largest[1]:g} "
            "in size; pass degrees, latitude first (at most 90), then longitude."
        )
    latitude, longitude = np.deg2rad(places.values.T)
    across = np.cos(latitude)
    return np.column_stack(
        [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    )
