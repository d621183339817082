"""Recipes: what the compiled sweeps compute, as tables of numbers.

A kernel is a product or a sum of factors; a factor is a function (such as a power) of a source; a
source is the squared distance between points of few columns, which the compiled code computes
itself, or a block that is *given* to it for each tile: distances from a matrix product, or the
values of any kernel it does not know. Kernels on the same points share a source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.kernels.categorical import FittedDelta
from reldep.kernels.composite import FittedProduct, FittedSum
from reldep.kernels.points import FEW_COLUMNS, Points
from reldep.kernels.radial import (
    FittedRadial,
    GaussianProfile,
    GaussianSlope,
    LaplaceProfile,
    LaplaceSlope,
    PowerProfile,
    Profile,
    SideProfile,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel

# The functions of a source s with parameters c and a: cs, c√s, 2^(cs), 2^(c√s), [s = 0]; and
# what follows bandwidths: as 2^(cs), a√s 2^(c√s), and -1/2 for s > c or else 1/2, but a for
# s = 0. NEAR stands for 2^(cs) where no s is so large that the power vanishes.
LINEAR, ROOT, POWER, POWER_ROOT, NEAR, EQUAL, SLOPE, SLOPE_ROOT, SIDE = range(9)

# Powers of two whose exponent is above these are normal numbers, with something to spare.
NORMAL_FROM = {"f8": -1000.0, "f4": -120.0}

# How factors are combined.
PRODUCT, SUM = range(2)


def known_profile(profile: Profile) -> tuple[int, float, float] | None:
    """Give the number and the parameters of a function that compiled code knows."""
    match profile:
        case GaussianProfile(bandwidth=width):
            return POWER, -0.5 / (width**2 * log(2)), 0.0
        case LaplaceProfile(bandwidth=width):
            return POWER_ROOT, -1.0 / (width * log(2)), 0.0
        case PowerProfile(exponent=1):
            return ROOT, -1.0, 0.0
        case PowerProfile(exponent=2):
            return LINEAR, -1.0, 0.0
        case GaussianSlope(bandwidth=width):
            return SLOPE, -0.5 / (width**2 * log(2)), width**-3
        case LaplaceSlope(bandwidth=width):
            return SLOPE_ROOT, -1.0 / (width * log(2)), width**-2
        case SideProfile(median=median, skips_ties=skips):
            return SIDE, median**2, 0.0 if skips else 0.5
    return None


@dataclass(frozen=True, eq=False)
class Recipe:
    """Tables for :mod:`reldep.engine.fills`, and what must be given to it.

    Attributes
    ----------
    columns : ndarray, shape (n_columns, n)
        All points of few columns, one coordinate a row.
    sources : ndarray, shape (n_sources, 3)
        First and last column, and -1; or the number of a given block in third place.
    factors : ndarray, shape (n_factors, 2)
        Function and source.
    parameters : ndarray, shape (n_factors, 2)
        Of the functions.
    combinations : ndarray, shape (n_kernels, 3)
        First and last factor, and how they are combined.
    given : tuple of Points or FittedKernel
        What fills the given blocks.
    """

    columns: FloatArray
    sources: IntArray
    factors: IntArray
    parameters: FloatArray
    combinations: IntArray
    given: tuple[Points | FittedKernel, ...]

    @classmethod
    def of(cls, kernels: Sequence[FittedKernel], precision: str = "double") -> Recipe:
        """Write the recipe of some kernels."""
        draft = _Draft("f4" if precision == "single" else "f8")
        for kernel in kernels:
            draft.add(kernel)
        return draft.finished(len(kernels[0]))

    @property
    def tables(self) -> tuple[Any, ...]:
        """The tables in the order in which compiled code takes them, after the given blocks."""
        return self.sources, self.factors, self.parameters, self.combinations


@dataclass
class _Draft:
    """A recipe in the making."""

    dtype: str
    columns: list[FloatArray] = field(default_factory=list)
    sources: list[tuple[int, int, int]] = field(default_factory=list)
    factors: list[tuple[int, int]] = field(default_factory=list)
    parameters: list[tuple[float, float]] = field(default_factory=list)
    combinations: list[tuple[int, int, int]] = field(default_factory=list)
    given: list[Points | FittedKernel] = field(default_factory=list)
    number_of: dict[int, int] = field(default_factory=dict)

    def add(self, kernel: FittedKernel) -> None:
        """Add a kernel, as a combination of one or more factors."""
        start = len(self.factors)
        parts: tuple[FittedKernel, ...] = (kernel,)
        if isinstance(kernel, (FittedProduct, FittedSum)):
            parts = kernel.factors
        for part in parts:
            (function, c, a), source = self._factor(part)
            self.factors.append((function, source))
            self.parameters.append((c, a))
        operation = SUM if isinstance(kernel, FittedSum) else PRODUCT
        self.combinations.append((start, len(self.factors), operation))

    def _factor(self, part: FittedKernel) -> tuple[tuple[int, float, float], int]:
        if isinstance(part, FittedDelta):
            return (EQUAL, 0.0, 0.0), self._computed(part.labels, part.codes[None, :])
        if isinstance(part, FittedRadial):
            known = known_profile(part.profile)
            if known is not None:
                function, c, a = known
                if function == POWER and self._stays_normal(part.points, c):
                    function = NEAR
                return (function, c, a), self._distance(part.points)
        return (LINEAR, 1.0, 0.0), self._given(part)

    def _stays_normal(self, points: Points, c: float) -> bool:
        """Whether 2^(cs) is a normal number for every distance that there can be."""
        return bool(4.0 * c * points.squared_norms.max() > NORMAL_FROM[self.dtype])

    def _distance(self, points: Points) -> int:
        rows = points.rows
        if isinstance(rows, np.ndarray) and points.n_columns <= FEW_COLUMNS:
            return self._computed(points, rows.T)
        return self._given(points)

    def _computed(self, owner: object, columns: Any) -> int:
        if id(owner) not in self.number_of:
            self.number_of[id(owner)] = len(self.sources)
            first = len(self.columns)
            self.columns.extend(columns)
            self.sources.append((first, len(self.columns), -1))
        return self.number_of[id(owner)]

    def _given(self, filler: Points | FittedKernel) -> int:
        if id(filler) not in self.number_of:
            self.number_of[id(filler)] = len(self.sources)
            self.sources.append((0, 0, len(self.given)))
            self.given.append(filler)
        return self.number_of[id(filler)]

    def finished(self, n: int) -> Recipe:
        """Turn the lists into arrays."""
        columns = np.array(self.columns, self.dtype).reshape(-1, n)
        return Recipe(
            columns,
            np.array(self.sources, dtype=np.int64),
            np.array(self.factors, dtype=np.int64),
            np.array(self.parameters, self.dtype),
            np.array(self.combinations, dtype=np.int64),
            tuple(self.given),
        )
