"""The kernel for places on the Earth: great-circle distances between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.checks import check_varies
from reldep.data.variables import Numeric, Variable
from reldep.kernels.median import median_distance
from reldep.kernels.points import Points
from reldep.kernels.radial import BandwidthProfile, FittedRadial, Profile
from reldep.kernels.scaling import BandwidthKernel

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.bandwidth import BandwidthProbe

# Mean radius R1 of the Earth (IUGG), in kilometres.
EARTH_RADIUS = 6371.0088


@dataclass(frozen=True)
class GreatCircleProfile(BandwidthProfile):
    """exp(-g / σ), g the great-circle distance of points a chord apart on the unit sphere."""

    def __call__(self, squared: FloatArray) -> FloatArray:
        arcs = great_circle(np.sqrt(squared, out=squared))
        arcs *= -1.0 / self.bandwidth
        return np.exp(arcs, out=arcs)

    def slope(self) -> GreatCircleSlope:
        return GreatCircleSlope(self.bandwidth)


@dataclass(frozen=True)
class GreatCircleSlope(Profile):
    """g/σ² · exp(-g / σ)."""

    bandwidth: float
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        arcs = great_circle(np.sqrt(squared, out=squared))
        arcs *= -1.0 / self.bandwidth
        decay = np.exp(arcs)
        arcs *= -1.0 / self.bandwidth
        return np.multiply(arcs, decay, out=arcs)


class FittedHaversine(FittedRadial):
    """Points on the unit sphere; the median that decides the bandwidth is one of chords."""

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        if self.median is None:
            return ()
        # The bandwidth is a multiple of the arc, which grows with its chord c by R / √(1 - c²/4).
        growth = EARTH_RADIUS / np.sqrt(1.0 - 0.25 * self.median**2)
        per_chord = growth * self.median / _arc(self.median)
        return tuple(
            replace(probe, factor=probe.factor * per_chord) for probe in super().bandwidth_probes()
        )


def great_circle(chords: FloatArray) -> FloatArray:
    """Turn chords of the unit sphere, in place, into kilometres along the Earth's surface."""
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

    Takes two columns, latitude and longitude in degrees. This exponential form is positive
    definite on the sphere and characteristic; the Gaussian form ``exp(-g² / (2σ²))`` is not
    even positive semi-definite there (Gneiting 2013), which is why it is not offered.

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
    >>> from reldep.kernels import Haversine
    >>> from reldep.data.objects import read_variable
    >>> places = read_variable([[48.8566, 2.3522], [51.5074, -0.1278]], "places")
    >>> -1000 * np.log(Haversine(bandwidth=1000).fit(places).matrix()[0, 1]).round(3)
    np.float64(344.0)
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric,)

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedHaversine:
        self.check_accepts(variable)
        check_varies(variable)
        points = Points.of(Numeric(variable.name, _on_sphere(variable)))  # type: ignore[arg-type]
        # Arcs grow with chords, so the median arc belongs to the median chord.
        chord = median_distance(points, rng) if self.needs_median else None
        arc = None if chord is None else replace(chord, value=_arc(chord.value))
        chosen = self.choose(variable, arc)
        return FittedHaversine(
            points,
            GreatCircleProfile(chosen.width),
            f"Haversine(bandwidth={chosen.width:.6g} km)",
            chosen.rule,
            chosen.notes,
            median=None if chord is None else chord.value,
            skips_ties=chord is not None and chord.has_ties,
        )


def _on_sphere(places: Numeric) -> FloatArray:
    if places.values.shape[1] != 2:
        raise ValueError(
            f"{places.name} has {places.values.shape[1]} columns; kernel Haversine takes two, "
            "latitude and longitude in degrees."
        )
    largest = np.abs(places.values).max(axis=0)
    if largest[0] > 90 or largest[1] > 360:
        raise ValueError(
            f"{places.name} has latitudes up to {largest[0]:g} and longitudes up to "
            f"{largest[1]:g} in size; pass degrees, latitude first (at most 90), then longitude."
        )
    latitude, longitude = np.deg2rad(places.values.T)
    across = np.cos(latitude)
    return np.column_stack(
        [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    )
