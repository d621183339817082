"""The kernel for places on the Earth: great-circle distances between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep._validation import check_varies
from reldep._variables import Numeric, Variable
from reldep.kernels.median import median_distance
from reldep.kernels.points import Points
from reldep.kernels.radial import FittedRadial, Profile
from reldep.kernels.scaling import BandwidthKernel

if TYPE_CHECKING:
    from reldep._variables import FloatArray

# Mean radius R1 of the Earth (IUGG), in kilometres.
EARTH_RADIUS = 6371.0088


@dataclass(frozen=True)
class GreatCircleProfile(Profile):
    """exp(-g / σ), g the great-circle distance of points a chord c apart on the unit sphere."""

    bandwidth: float

    def __call__(self, squared: FloatArray) -> FloatArray:
        arcs = great_circle(np.sqrt(squared, out=squared))
        arcs *= -1.0 / self.bandwidth
        return np.exp(arcs, out=arcs)


def great_circle(chords: FloatArray) -> FloatArray:
    """Turn chords of the unit sphere into kilometres along the Earth's surface."""
    arcs: FloatArray = np.arcsin(np.minimum(0.5 * chords, 1.0))
    arcs *= 2.0 * EARTH_RADIUS
    return arcs


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
    >>> from reldep._reading import read_variable
    >>> places = read_variable([[48.8566, 2.3522], [51.5074, -0.1278]], "places")
    >>> -1000 * np.log(Haversine(bandwidth=1000).fit(places).matrix()[0, 1]).round(3)
    np.float64(344.0)
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric,)

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedRadial:  # noqa: ARG002
        self.check_accepts(variable)
        check_varies(variable)
        points = Points.of(Numeric(variable.name, _on_sphere(variable)))  # type: ignore[arg-type]

        def median() -> tuple[float, bool]:
            # Arcs grow with chords, so the median chord is that of the median arc.
            chord = median_distance(points)
            return float(great_circle(np.array(chord.value))), chord.has_ties

        chosen = self.choose(variable, median)
        text = f"Haversine(bandwidth={chosen.width:.6g} km)"
        profile = GreatCircleProfile(chosen.width)
        return FittedRadial(points, profile, text, chosen.rule, chosen.notes)


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
