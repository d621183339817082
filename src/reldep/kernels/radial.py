"""Kernels that are functions of the Euclidean distance: Gaussian, Laplace and Distance."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from reldep.data.variables import Labels, Numeric, Sparse, Variable
from reldep.exceptions import BandwidthWarning, InputError
from reldep.kernels.base import Bandwidth, FittedKernel, Formula, Kernel
from reldep.kernels.points import Points
from reldep.kernels.profiles import (
    BandwidthProfile,
    GaussianProfile,
    LaplaceProfile,
    PowerProfile,
    Profile,
)
from reldep.kernels.program import (
    FIRST,
    GAUSSIAN,
    LAPLACE,
    ROOT,
    TIMES,
    Factor,
    joined_values,
)
from reldep.kernels.scales.bandwidth import (
    BandwidthKernel,
    BandwidthProbe,
    density_of,
    pair_variance,
)
from reldep.kernels.scales.median import MeanDistance, ScaleRule, distance_scale
from reldep.kernels.sizes import FittedBased, has_far

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import Rows
    from reldep.kernels.program import Term
    from reldep.kernels.scales.median import Scale

# Beyond these the squares of distances in bandwidths are no numbers any more.
EXTREME_WIDTHS = (1e-150, 1e150)

# From these ratios of the mean distance to the usual one on, a few far values rule the bandwidth,
# and the others are lost in the rounding of the kernel.
FAR, LOST = 100.0, 1e7

# Values of a large block that are turned at a time, so that they stay in the cache.
VALUES_AT_A_TIME = 32_768

# Nanoseconds for turning a squared distance into a kernel value in a block.
PROFILE_VALUE = 6.0


# A squared distance beyond all numbers is taken as this: its root times a value that has decayed
# to 0 is then 0.
FARTHEST_SQUARED = 1e300


@dataclass(frozen=True, eq=False)
class FittedTerms(FittedKernel):
    """Functions of the distances between points, joined from left to right."""

    points: Points
    terms: tuple[Term, ...]
    label_text: str

    def __len__(self) -> int:
        return len(self.points)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        squared = self.points.squared_distances(rows, cols)
        return joined_values(self.terms, np.minimum(squared, FARTHEST_SQUARED, out=squared))

    @property
    def label(self) -> str:
        return self.label_text

    def program(self) -> list[Factor] | None:
        return program_of(self.points, self.terms)


@dataclass(frozen=True, eq=False)
class FittedMultiple(FittedKernel):
    """A constant times a kernel."""

    kernel: FittedKernel
    constant: float

    def __len__(self) -> int:
        return len(self.kernel)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.constant * self.kernel(rows, cols)

    @property
    def label(self) -> str:
        return f"{self.constant:g} × {self.kernel.label}"


def program_of(points: Points, terms: tuple[Term, ...]) -> list[Factor] | None:
    """Return the factors of dense points; sparse points have none."""
    if not terms or not isinstance(points.rows, np.ndarray):
        return None
    return [Factor(how, function, points.rows, scale) for how, function, scale in terms]


@dataclass(frozen=True, eq=False)
class FittedRadial(FittedKernel):
    """A profile applied to the distances between points.

    Attributes
    ----------
    points : Points
    profile : Profile
    label_text : str
    rule : str
        How the bandwidth was chosen, in words.
    notes : tuple of ReldepWarning
        Cautions about the fit.
    scale : Scale or None
        The scale of the distances that decided the bandwidth; None if it was given.
    """

    points: Points
    profile: Profile
    label_text: str
    rule: str = "given"
    notes: tuple[ReldepWarning, ...] = ()
    scale: Scale | None = None

    def __len__(self) -> int:
        return len(self.points)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return self.of_distances(self.points.squared_distances(rows, cols))

    def of_distances(self, squared: FloatArray) -> FloatArray:
        """Turn squared distances, in the unit of the points, into kernel values, in place."""
        step = max(1, VALUES_AT_A_TIME // max(1, squared.shape[-1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(squared), step):
                self._profile_here(squared[start : start + step])
        return squared

    @cached_property
    def _profile_here(self) -> Profile:
        return self.profile.in_units(self.points.unit)

    @property
    def label(self) -> str:
        return self.label_text

    @property
    def in_unit_interval(self) -> bool:
        return self.profile.in_unit_interval

    @property
    def is_bounded(self) -> bool:
        return self.profile.is_bounded

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.notes

    @property
    def formula(self) -> Formula | None:
        form = self._profile_here.compiled_form
        if form is None or not np.isfinite(form).all():
            return None
        return Formula(*form, self.points, self.points.few_columns)

    @property
    def nanoseconds(self) -> float:
        return self.points.nanoseconds + PROFILE_VALUE

    def exact_row_means(self) -> FloatArray | None:
        """Give the mean of each row over the others; None where it takes more than a moment.

        On one column it follows from the sorted values. The mean distances of rows of more columns
        may be known from the choice of a bandwidth.
        """
        if self.points.is_sparse or self.points.n_columns != 1:
            is_distance = self._profile_here == PowerProfile(1.0)
            known = self.points.known_mean_distances if is_distance else None
            return None if known is None else -known
        values = np.asarray(self.points.rows)[:, 0]
        order = self.points.order
        ordered = self._profile_here.means_on_line(values[order])
        if ordered is None:
            return None
        means = np.empty_like(ordered)
        means[order] = ordered
        return means

    def take(self, rows: IntArray) -> FittedRadial:
        return replace(self, points=self.points.take(rows))

    def conditioned(self) -> FittedKernel:
        """Give distances as seen from the centre where some points are far from the others."""
        rows = self.points.rows
        if not isinstance(self.profile, PowerProfile) or not isinstance(rows, np.ndarray):
            return self
        if not has_far(rows):
            return self
        exponent = self.profile.exponent
        factor = float(np.power(self.points.unit, exponent))
        return FittedBased(rows, exponent, self.label_text, factor)

    def proportional(self) -> FittedRadial:
        """Give powers of distances in units of their usual size."""
        if not isinstance(self.profile, PowerProfile):
            return self
        points = self.points.of_ordinary_size()
        return self if points is self.points else replace(self, points=points)

    def scaled(self, factor: float) -> FittedRadial:
        if not isinstance(self.profile, BandwidthProfile):
            return self
        width = factor * self.profile.bandwidth
        check_width(width, self.points)
        return replace(
            self,
            profile=replace(self.profile, bandwidth=width),
            label_text=f"{self.label_text.rpartition('(')[0]}(bandwidth={width:.6g})",
            rule=f"{factor:g} × {self.rule}",
        )

    def describe(self) -> dict[str, Any]:
        parameters = {f.name: getattr(self.profile, f.name) for f in fields(self.profile)}
        facts = {"rule": self.rule, "columns": self.points.n_columns}
        # Of two values a kernel tells no more than whether they are equal, as for categories.
        binary = {"is_binary": True} if self.points.is_binary else {}
        return {"kernel": self.label, **parameters, **facts, **binary}

    def _terms(self) -> tuple[Term, ...]:
        """Return the profile as terms of a program; empty for a profile that is none."""
        unit = self.points.unit
        if isinstance(self.profile, GaussianProfile):
            width = self.profile.bandwidth / unit
            return ((FIRST, GAUSSIAN, -0.5 / (log(2) * width**2)),)
        if isinstance(self.profile, LaplaceProfile):
            return ((FIRST, LAPLACE, -unit / (log(2) * self.profile.bandwidth)),)
        if isinstance(self.profile, PowerProfile) and self.profile.exponent in (1, 2):
            root = (FIRST, ROOT, -unit)
            return (root,) if self.profile.exponent == 1 else (root, (TIMES, ROOT, unit))
        return ()

    def program(self) -> list[Factor] | None:
        is_distance = isinstance(self.profile, PowerProfile)
        if is_distance and isinstance(self.points.rows, np.ndarray) and has_far(self.points.rows):
            # What tells the distances from a far point apart would be lost in their last digits.
            return None
        return program_of(self.points, self._terms())

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        score = self.score()
        if score is None:
            return ()
        width = self.profile.bandwidth  # type: ignore[attr-defined]
        return (Bandwidth(width, self.rule, self.slope(), score),)

    def slope(self) -> FittedKernel:
        """Return the derivative of the kernel in the logarithm of its bandwidth."""
        profile, text = self.profile, f"slope of {self.label}"
        root = self.points.unit / profile.bandwidth  # type: ignore[attr-defined]
        [(_, function, scale)] = self._terms()
        roots = ((FIRST, ROOT, root),) if function == LAPLACE else _two_roots(root)
        return FittedTerms(self.points, (*roots, (TIMES, function, scale)), text)

    def score(self) -> FittedKernel | None:
        """Return the kernel whose mean is the logarithm of the scale; None if that is fixed."""
        if self.scale is None or not isinstance(self.profile, BandwidthProfile):
            return None
        text = f"score of the scale of {self.label}"
        if isinstance(self.scale, MeanDistance):
            root = self.points.unit / self.scale.value
            return FittedTerms(self.points, ((FIRST, ROOT, root),), text)
        density = density_of(self.scale, self.points)
        if not np.isfinite(density):
            return None
        side = FittedRadial(self.points, self.scale.side(), text)
        return FittedMultiple(side, -1.0 / (density * self.scale.value))

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        if self.scale is None or not isinstance(self.profile, BandwidthProfile):
            return ()
        density = density_of(self.scale, self.points)
        if not np.isfinite(density):
            return ()
        slope, side = self.profile.slope(), self.scale.side()
        return (
            BandwidthProbe(
                slope=FittedRadial(self.points, slope, f"slope of {self.label}"),
                side=FittedRadial(self.points, side, f"side of the scale of {self.label}"),
                density=density,
                factor=self.profile.bandwidth / self.scale.value,
                pair_variance=pair_variance(self.scale),
            ),
        )


def _two_roots(scale: float) -> tuple[Term, ...]:
    return (FIRST, ROOT, scale), (TIMES, ROOT, scale)


def check_width(width: float, points: Points) -> None:
    """Refuse a bandwidth with which the kernel is 0 or 1 everywhere, to the last digit."""
    least, most = EXTREME_WIDTHS
    if not least < width / points.unit < most:
        raise InputError(
            f"the bandwidth {width:g} is out of all proportion to the values, so that no kernel "
            "value can be told from 0 or 1; pass one that is nearer to the distances between "
            "observations, or leave it out."
        )


@dataclass(frozen=True)
class RadialKernel(BandwidthKernel):
    """What Gaussian and Laplace share: a profile of the distance in units of the bandwidth."""

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)
    rules: ClassVar[tuple[str, ...]] = get_args(ScaleRule)
    profile: ClassVar[type[BandwidthProfile]]

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedRadial:
        self.check_accepts(variable)
        points = Points.of(variable)  # type: ignore[arg-type]
        scale = None
        if isinstance(self.bandwidth, str):
            scale = distance_scale(points, self.bandwidth, rng)
        chosen = self.choose(variable, scale)
        notes = chosen.notes
        if isinstance(scale, MeanDistance):
            notes = (*notes, *_ruled_by_far_values(scale.value, points, variable.name))
        check_width(chosen.width, points)
        return FittedRadial(
            points,
            self.profile(chosen.width),
            f"{type(self).__name__}(bandwidth={chosen.width:.6g})",
            chosen.rule,
            notes,
            scale,
        )


def _ruled_by_far_values(mean: float, points: Points, name: str) -> tuple[BandwidthWarning, ...]:
    """Look for values so far from the others that the mean distance is the distance to them.

    Raises
    ------
    ValueError
        If no difference between the others is left in the kernel.
    """
    typical = points.typical_norm
    ratio = mean / points.unit / typical if typical > 0 else 0.0
    if points.is_sparse or ratio < FAR:
        return ()
    problem = (
        f"{name} has a value so far from the others that its bandwidth, the mean distance, is "
        f"{ratio:.3g} times the usual distance"
    )
    way_out = (
        "If it stands for a missing value, write NA instead; if it is right, pass "
        "`kernel='gaussian'`, whose bandwidth is the median distance."
    )
    if ratio > LOST:
        raise InputError(f"{problem}: the others cannot be told apart. {way_out}")
    return (BandwidthWarning(f"{problem}: little else is seen. {way_out}"),)


class Gaussian(RadialKernel):
    """The Gaussian kernel ``exp(-|x - y|² / (2σ²))``.

    Parameters
    ----------
    bandwidth : float, "median", "mean" or "mid-median", default "median"
        σ, or a scale of the distances between different observations. Where more than half of
        the distances are 0 (many ties), the median of the others is taken and a
        :class:`~reldep.exceptions.BandwidthWarning` says so. The mean needs no such care and
        moves smoothly with the data. The mid-median interpolates between the values of distances
        that occur often, as of counts and rating scales; elsewhere it is the median.
    factor : float, default 1
        Multiplies the bandwidth, as in ``Gaussian(factor=0.5)`` for half the median.

    Examples
    --------
    >>> from reldep.kernels import Gaussian
    >>> Gaussian(bandwidth=2.0).is_characteristic
    True
    """

    profile = GaussianProfile


class Laplace(RadialKernel):
    """The Laplace kernel ``exp(-|x - y| / σ)``, with the Euclidean distance.

    Parameters
    ----------
    bandwidth : float, "median", "mean" or "mid-median", default "median"
        As for :class:`Gaussian`.
    factor : float, default 1
        Multiplies the bandwidth.
    """

    profile = LaplaceProfile


@dataclass(frozen=True)
class Distance(Kernel):
    """The kernel ``-|x - y|^exponent``, with which HSIC is the distance covariance.

    Labels are compared by the discrete metric: 0 if equal, 1 if not.

    Parameters
    ----------
    exponent : float, default 1
        Between 0 and 2, both excluded for a characteristic kernel; 2 is allowed and sees
        linear relations only.
    """

    exponent: float = 1.0

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels)

    def __post_init__(self) -> None:
        if not 0 < self.exponent <= 2:
            raise InputError(f"exponent={self.exponent!r}; pass a number in (0, 2].")

    @property
    def is_characteristic(self) -> bool:
        return self.exponent < 2

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:  # noqa: ARG002
        self.check_accepts(variable)
        if isinstance(variable, Labels):
            # -[a ≠ b] is [a = b] minus a constant, and constants change nothing.
            from reldep.kernels.categorical import Delta

            return Delta().fit(variable)
        text = f"Distance(exponent={self.exponent:g})"
        return FittedRadial(Points.of(variable), PowerProfile(self.exponent), text)  # type: ignore[arg-type]

    def between(self, first: Variable, second: Variable) -> FloatArray:
        if not isinstance(first, Labels):
            return super().between(first, second)
        from reldep.kernels.categorical import Delta

        return Delta().between(first, second) - 1.0
