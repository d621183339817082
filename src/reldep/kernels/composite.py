"""Sums and products of kernels: of all of a variable, column by column, or at several scales."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from reldep.data.checks import check_choice, check_names_known, check_positive, check_varies
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.profiles import Profile, ScaledProfile
from reldep.kernels.program import PLUS, TIMES, joined
from reldep.kernels.radial import Distance, FittedRadial, Gaussian
from reldep.kernels.scales.bandwidth import BandwidthKernel
from reldep.kernels.scales.median import ScaleRule

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import Bandwidth, Rows
    from reldep.kernels.choosing import KernelSpec
    from reldep.kernels.program import Factor
    from reldep.kernels.scales.bandwidth import BandwidthProbe


@dataclass(frozen=True, eq=False)
class _FittedComposite(FittedKernel):
    factors: tuple[FittedKernel, ...]

    symbol: ClassVar[str]
    how: ClassVar[int]

    @staticmethod
    @abstractmethod
    def combine(first: FloatArray, second: FloatArray) -> FloatArray:
        """Combine two blocks, writing into the first."""

    @abstractmethod
    def slope_through(self, position: int, slope: FittedKernel) -> FittedKernel:
        """Differentiate the whole in a bandwidth of one factor, whose own slope is given."""

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        return tuple(
            replace(probe, slope=self.slope_through(position, probe.slope))
            for position, factor in enumerate(self.factors)
            for probe in factor.bandwidth_probes()
        )

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        return tuple(
            replace(width, slope=self.slope_through(position, width.slope))
            for position, factor in enumerate(self.factors)
            for width in factor.bandwidths()
        )

    def program(self) -> list[Factor] | None:
        programs = (factor.program() for factor in self.factors)
        return reduce(lambda first, second: joined(first, second, self.how), programs)

    def __len__(self) -> int:
        return len(self.factors[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return reduce(self.combine, (factor(rows, cols) for factor in self.factors))

    def scaled(self, factor: float) -> FittedKernel:
        scaled = tuple(part.scaled(factor) for part in self.factors)
        unchanged = all(a is b for a, b in zip(scaled, self.factors, strict=True))
        return self if unchanged else type(self)(scaled)

    @property
    def nanoseconds(self) -> float | None:
        parts = [factor.nanoseconds for factor in self.factors]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    def take(self, rows: IntArray) -> FittedKernel:
        return type(self)(tuple(factor.take(rows) for factor in self.factors))

    @property
    def label(self) -> str:
        return f" {self.symbol} ".join(factor.label for factor in self.factors)

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return tuple(caution for factor in self.factors for caution in factor.cautions)


@dataclass(frozen=True, eq=False)
class FittedSum(_FittedComposite):
    """The sum of fitted kernels."""

    symbol: ClassVar[str] = "+"
    how: ClassVar[int] = PLUS

    @staticmethod
    def combine(first: FloatArray, second: FloatArray) -> FloatArray:
        return np.add(first, second, out=first)

    def slope_through(self, position: int, slope: FittedKernel) -> FittedKernel:  # noqa: ARG002
        return slope

    @property
    def whole(self) -> FittedSum:
        return FittedSum(tuple(factor.whole for factor in self.factors))


@dataclass(frozen=True, eq=False)
class FittedProduct(_FittedComposite):
    """The product of fitted kernels."""

    symbol: ClassVar[str] = "*"
    how: ClassVar[int] = TIMES

    @staticmethod
    def combine(first: FloatArray, second: FloatArray) -> FloatArray:
        return np.multiply(first, second, out=first)

    def slope_through(self, position: int, slope: FittedKernel) -> FittedKernel:
        others = (factor for i, factor in enumerate(self.factors) if i != position)
        return FittedProduct((slope, *others))

    @property
    def in_unit_interval(self) -> bool:
        return all(factor.in_unit_interval for factor in self.factors)


def combined(
    kind: type[FittedSum | FittedProduct], parts: Sequence[FittedKernel]
) -> FittedSum | FittedProduct:
    """Combine fitted kernels; in a product their effects of row and column count."""
    if kind is FittedProduct:
        parts = [part.whole for part in parts]
    return kind(tuple(parts))


@dataclass(frozen=True)
class _Composite(Kernel):
    """Several kernels on one variable.

    On a mixed variable each kernel sees the columns it is made for: Gaussian the numbers,
    Delta the labels. On any other variable each kernel sees all of it.
    """

    kernels: tuple[Kernel, ...]

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse, Labels, Mixed, Items)
    fitted: ClassVar[type[FittedSum | FittedProduct]]

    def __post_init__(self) -> None:
        if len(self.kernels) < 2 or not all(isinstance(k, Kernel) for k in self.kernels):
            raise InputTypeError(f"{type(self).__name__} needs at least two kernels.")

    def take(self, rows: IntArray) -> Kernel:
        return type(self)(tuple(kernel.take(rows) for kernel in self.kernels))

    def frozen(self, fitted: FittedKernel) -> Kernel:
        if not isinstance(fitted, _FittedComposite):
            return self
        pairs = zip(self.kernels, fitted.factors, strict=True)
        return type(self)(tuple(kernel.frozen(part) for kernel, part in pairs))

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        parts = [_part_for(kernel, variable) for kernel in self.kernels]
        if isinstance(variable, Mixed):
            _check_all_used(variable, parts)
        pairs = zip(self.kernels, parts, strict=True)
        return combined(self.fitted, [kernel.fit(part, rng=rng) for kernel, part in pairs])

    def between(self, first: Variable, second: Variable) -> FloatArray:
        blocks = (
            kernel.between(_part_for(kernel, first), _part_for(kernel, second))
            for kernel in self.kernels
        )
        return reduce(self.fitted.combine, blocks)


class Sum(_Composite):
    """The sum of kernels: dependence through any of the columns, added up."""

    fitted = FittedSum

    @property
    def is_characteristic(self) -> bool:
        # k(x, x') + l(y, y') embeds the two marginals only, never their joint law; on one
        # and the same variable a single characteristic summand would do.
        return False


class Product(_Composite):
    """The product of kernels: observations are similar if they are so in all columns."""

    fitted = FittedProduct

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(isinstance(kernel, Distance) for kernel in self.kernels):
            # Where the other factor is 0, the product would be larger than between equals.
            raise InputError(
                "Distance is minus a distance, of which a product is no kernel; multiply by "
                "Laplace() or Gaussian(), or add Distance() with +."
            )

    @property
    def is_characteristic(self) -> bool:
        return all(kernel.is_characteristic for kernel in self.kernels)


def _part_for(kernel: Kernel, variable: Variable) -> Variable:
    if not isinstance(variable, Mixed):
        return variable
    numbers, labels = variable.numbers(), variable.labels()
    if isinstance(kernel, _Composite) or kernel.accepts[0] is Mixed:
        return variable
    if labels is not None and Labels in kernel.accepts and not _prefers_numbers(kernel):
        return labels
    if numbers is not None and Numeric in kernel.accepts:
        return numbers
    raise InputTypeError(
        f"{variable.name} has no columns that kernel {type(kernel).__name__} is made for."
    )


def _prefers_numbers(kernel: Kernel) -> bool:
    """Kernels that read labels only as a courtesy take the numbers of a mixed variable."""
    return kernel.accepts[0] is Numeric


def _check_all_used(variable: Mixed, parts: list[Variable]) -> None:
    if any(part is variable for part in parts):
        return
    kinds = {type(part) for part in parts}
    for kind, word in ((Numeric, "numeric"), (Labels, "label")):
        if any(isinstance(part, kind) for part in variable.parts) and kind not in kinds:
            raise InputError(
                f"no kernel of the combination is made for the {word} columns of "
                f"{variable.name}; add one, for instance Gaussian() * Delta()."
            )


COMBINATIONS: dict[str, type[FittedSum | FittedProduct]] = {
    "product": FittedProduct,
    "sum": FittedSum,
}
OTHERS = ("raise", "drop")


@dataclass(frozen=True)
class Columns(Kernel):
    """A kernel of its own for every column of a frame.

    Parameters
    ----------
    kernels : mapping of str (or tuple of str) to kernel
        By column name; a tuple of names gives several numeric columns to one kernel. A kernel is
        whatever ``kernel=`` takes: a name, a kernel object or a function.
    combine : {"product", "sum"}, default "product"
        "product": rows are alike if they are so in all columns; characteristic if every kernel
        is. "sum": the dependencies through single columns, added up; relations that only
        several columns together show are not seen.
    others : {"raise", "drop"}, default "raise"
        What to do about columns that are not named.

    Examples
    --------
    >>> from reldep.kernels import Columns, Delta, Gaussian
    >>> Columns({"age": Gaussian(), "sex": Delta()}).is_characteristic
    True
    """

    kernels: Mapping[str | tuple[str, ...], KernelSpec]
    combine: Literal["product", "sum"] = "product"
    others: Literal["raise", "drop"] = "raise"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Mixed, Numeric)

    def __post_init__(self) -> None:
        kernels: Any = self.kernels
        if not isinstance(kernels, Mapping) or not kernels:
            raise InputTypeError(
                'kernels must name at least one column, as in {"age": Gaussian(), "sex": Delta()}.'
            )
        check_choice("combine", self.combine, COMBINATIONS)
        check_choice("others", self.others, OTHERS)

    @property
    def is_characteristic(self) -> bool:
        from reldep.kernels.choosing import is_characteristic

        alone = self.combine == "product" or len(self.kernels) == 1
        return alone and all(map(is_characteristic, self.kernels.values()))

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        from reldep.kernels.choosing import as_kernel

        fitted = []
        for spec, part in zip(self.kernels.values(), self._parts(variable), strict=True):
            check_varies(part)
            fitted.append(as_kernel(spec, part).fit(part, rng=rng))
        return fitted[0] if len(fitted) == 1 else combined(COMBINATIONS[self.combine], fitted)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        from reldep.kernels.choosing import as_kernel

        parts = zip(self.kernels.values(), self._parts(first), self._parts(second), strict=True)
        blocks = (as_kernel(spec, own).between(own, other) for spec, own, other in parts)
        return reduce(COMBINATIONS[self.combine].combine, blocks)

    def take(self, rows: IntArray) -> Kernel:
        taken = {
            key: spec.take(rows) if isinstance(spec, Kernel) else spec
            for key, spec in self.kernels.items()
        }
        return replace(self, kernels=taken)

    def _parts(self, variable: Variable) -> list[Variable]:
        """Give every kernel its columns."""
        self.check_accepts(variable)
        columns = _columns_of(variable)  # type: ignore[arg-type]
        groups = [key if isinstance(key, tuple) else (key,) for key in self.kernels]
        self._check_names(groups, columns, variable.name)
        return [_joined([columns[name] for name in group]) for group in groups]

    def _check_names(
        self, groups: list[tuple[str, ...]], columns: Mapping[str, Variable], name: str
    ) -> None:
        used = [column for group in groups for column in group]
        check_names_known(f"Columns for {name}", used, columns, "column")
        left = [column for column in columns if column not in used]
        if left and self.others == "raise":
            raise InputError(
                f"Columns has no kernel for {', '.join(map(repr, left))} of {name}; name one, or "
                'pass others="drop" to leave these columns out.'
            )


def _columns_of(variable: Mixed | Numeric) -> dict[str, Numeric | Labels]:
    """Take a variable apart into its columns by name."""
    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns: dict[str, Numeric | Labels] = {}
    for part in parts:
        if isinstance(part, Labels):
            columns[part.name] = part
        else:
            if not part.columns:
                raise InputTypeError(
                    f"{variable.name} has no column names; kernel Columns takes a data frame."
                )
            # A nested column of a frame has become several columns of its name.
            names = np.array(part.columns, dtype=object)
            for name in dict.fromkeys(part.columns):
                values = part.values[:, names == name]
                columns[name] = Numeric(name, values, (name,) * values.shape[1])
    return columns


def _joined(columns: list[Numeric | Labels]) -> Variable:
    """Put columns that share a kernel side by side."""
    if len(columns) == 1:
        return columns[0]
    numeric = [column for column in columns if isinstance(column, Numeric)]
    if len(numeric) < len(columns):
        mixed = next(column.name for column in columns if isinstance(column, Labels))
        raise InputTypeError(
            f"column {mixed!r} holds labels and cannot share a kernel with other columns; give it "
            "an entry of its own."
        )
    names = tuple(column.name for column in numeric)
    return Numeric(", ".join(names), np.hstack([column.values for column in numeric]), names)


OCTAVES = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class MultiscaleSlope(Profile):
    """Σ d²/(f² σ³) · exp(-d² / (2 f² σ²)) over factors f: the slope of the sum in σ."""

    bandwidth: float
    factors: tuple[float, ...]
    in_unit_interval: ClassVar[bool] = False

    def __call__(self, squared: FloatArray) -> FloatArray:
        squared /= self.bandwidth**2
        total = np.zeros_like(squared)
        for factor in self.factors:
            total += np.exp(squared * (-0.5 / factor**2)) / factor**2
        squared *= total
        squared /= self.bandwidth
        return squared

    def in_units(self, unit: float) -> Profile:
        if unit == 1:
            return self
        return ScaledProfile(replace(self, bandwidth=self.bandwidth / unit), 1.0 / unit)


@dataclass(frozen=True, eq=False)
class FittedGaussians(FittedSum):
    """A sum of Gaussians on the same points, whose bandwidths are multiples of one."""

    base: FittedRadial
    ratios: tuple[float, ...]

    @classmethod
    def of(cls, base: FittedRadial, ratios: tuple[float, ...]) -> FittedGaussians:
        """Scale one fitted Gaussian; all share its distances."""
        return cls(tuple(base.scaled(ratio) for ratio in ratios), base, ratios)

    @property
    def width(self) -> float:
        """The bandwidth that the factors multiply."""
        return float(self.base.describe()["bandwidth"])

    @property
    def label(self) -> str:
        listed = ", ".join(f"{ratio:g}" for ratio in self.ratios)
        return f"Gaussians(bandwidth={self.width:.6g} × {listed})"

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        return self.base.notes

    def scaled(self, factor: float) -> FittedGaussians:
        return self.of(self.base.scaled(factor), self.ratios)

    def take(self, rows: IntArray) -> FittedGaussians:
        return self.of(self.base.take(rows), self.ratios)

    def describe(self) -> dict[str, Any]:
        own = {"kernel": self.label, "bandwidth": self.width, "factors": self.ratios}
        return {**own, "rule": self.base.rule}

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Return one for each scale; they move together, so that their slopes add up."""
        return tuple(
            replace(width, value=part.profile.bandwidth, slope=part.slope())  # type: ignore[attr-defined]
            for width in self.base.bandwidths()
            for part in self.factors
        )

    def bandwidth_probes(self) -> tuple[BandwidthProbe, ...]:
        slope = MultiscaleSlope(self.width, self.ratios)
        fitted = FittedRadial(self.base.points, slope, f"slope of {self.label}")
        return tuple(replace(probe, slope=fitted) for probe in self.base.bandwidth_probes())


@dataclass(frozen=True)
class Gaussians(BandwidthKernel):
    """Gaussian kernels at several scales, added up: ``Σ exp(-|x - y|² / (2 (fσ)²))``.

    One Gaussian at the median distance hardly sees what is finer than half the data's width; one
    at a quarter of it hardly sees trends. The sum sees both, at a small price where one scale
    would do. It is characteristic.

    Parameters
    ----------
    bandwidth : float, "median", "mean" or "mid-median", default "median"
        σ, as for :class:`Gaussian`.
    factor : float, default 1
        Multiplies the bandwidth.
    factors : tuple of float, default (0.25, 0.5, 1, 2, 4)
        The scales, in bandwidths.

    Examples
    --------
    >>> from reldep.kernels import Gaussian, Gaussians
    >>> x, y = [0.0, 1.0], [2.0]
    >>> Gaussians(1.0, factors=(1.0, 2.0))(x, y).round(3)
    array([[0.742],
           [1.489]])
    """

    factors: tuple[float, ...] = OCTAVES

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)
    rules: ClassVar[tuple[str, ...]] = get_args(ScaleRule)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.factors
        if not isinstance(given, tuple) or not given:
            raise InputError(f"`factors={self.factors!r}`; pass a tuple of positive numbers.")
        for factor in self.factors:
            check_positive("factors", factor)

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedGaussians:
        self.check_accepts(variable)
        base = Gaussian(self.bandwidth, self.factor).fit(variable, rng=rng)
        return FittedGaussians.of(base, self.factors)
