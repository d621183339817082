"""Sums and products of kernels, of a whole variable or by column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reldep.arguments import check_choice, check_names_known
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse, Variable, check_varies
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import Bandwidth, FittedKernel, Kernel, KernelSpec, Rows
from reldep.kernels.distances import PLUS, TIMES, Factor, joined
from reldep.kernels.explicit import FittedDot
from reldep.kernels.radial import FittedDistance

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# How kernels are combined, by the symbol of it; the result is written into the first block.
OPERATIONS = {"+": np.add, "*": np.multiply}
COMBINATIONS = {"product": "*", "sum": "+"}


@dataclass(frozen=True, eq=False)
class FittedComposite(FittedKernel):
    """The sum or the product of fitted kernels.

    Attributes
    ----------
    symbol : {"+", "*"}
    factors : tuple of FittedKernel
    """

    symbol: str
    factors: tuple[FittedKernel, ...]

    @classmethod
    def of(cls, symbol: str, parts: Sequence[FittedKernel]) -> FittedComposite:
        """Return the sum or the product of kernels; factors have their row effects."""
        return cls(symbol, tuple(map(_whole, parts) if symbol == "*" else parts))

    def bandwidths(self) -> tuple[Bandwidth, ...]:
        return tuple(
            replace(width, slope=self._slope_through(position, width.slope))
            for position, factor in enumerate(self.factors)
            for width in factor.bandwidths()
        )

    def _slope_through(self, position: int, slope: FittedKernel) -> FittedKernel:
        """Return the derivative in a bandwidth of one factor, whose own slope is given."""
        if self.symbol == "+":
            return slope
        others = self.factors[:position] + self.factors[position + 1 :]
        return FittedComposite("*", (slope, *others))

    def program(self) -> Sequence[Factor] | None:
        programs = (factor.program() for factor in self.factors)
        how = PLUS if self.symbol == "+" else TIMES
        return reduce(lambda first, second: joined(first, second, how), programs)

    def __len__(self) -> int:
        return len(self.factors[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return reduced(self.symbol, (factor(rows, cols) for factor in self.factors))

    def scaled(self, factor: float) -> FittedKernel:
        scaled = tuple(part.scaled(factor) for part in self.factors)
        unchanged = all(a is b for a, b in zip(scaled, self.factors, strict=True))
        return self if unchanged else replace(self, factors=scaled)

    def own_label(self) -> str:
        return f" {self.symbol} ".join(factor.label for factor in self.factors)


def reduced(symbol: str, blocks: Iterable[FloatArray]) -> FloatArray:
    """Return the sum or the product of blocks, written into the first."""
    operation = OPERATIONS[symbol]
    return reduce(lambda first, second: operation(first, second, out=first), blocks)


def _whole(part: FittedKernel) -> FittedKernel:
    """Return a factor with its effects of row and column, which count in a product."""
    if isinstance(part, FittedDistance):
        # Where the other factor is 0, the product would be larger than between equals.
        raise InputError("a product with Distance() is not a kernel; multiply by Laplace().")
    if isinstance(part, FittedComposite) and part.symbol == "+":
        return replace(part, factors=tuple(map(_whole, part.factors)))
    return part.whole() if isinstance(part, FittedDot) else part


class Combination(Kernel):
    """Several kernels, each on the whole variable or on its own columns."""

    @property
    @abstractmethod
    def symbol(self) -> str:
        """How the kernels are combined: "+" or "*"."""

    @abstractmethod
    def parts(self, variable: Variable) -> list[tuple[Kernel, Variable]]:
        """Return every kernel with what it sees of the variable."""

    def fitted(self, variable: Variable) -> FittedKernel:
        fitted = [kernel.fit(part) for kernel, part in self.parts(variable)]
        return fitted[0] if len(fitted) == 1 else FittedComposite.of(self.symbol, fitted)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        pairs = zip(self.parts(first), self.parts(second), strict=True)
        blocks = []
        for (kernel, own), (_, other) in pairs:
            kernel.check_accepts(own)
            blocks.append(kernel.between(own, other))
        return reduced(self.symbol, blocks)


@dataclass(frozen=True)
class _Composite(Combination):
    """Several kernels on one variable.

    On a mixed variable each kernel sees the columns it is made for: Gaussian the numbers,
    Delta the labels. On any other variable each kernel sees all of it.
    """

    kernels: tuple[Kernel, ...]

    accepts = (Numeric, Sparse, Labels, Mixed, Items)

    def __post_init__(self) -> None:
        if len(self.kernels) < 2 or not all(isinstance(k, Kernel) for k in self.kernels):
            raise InputTypeError(f"{type(self).__name__} needs at least two kernels.")

    def take(self, rows: IntArray) -> Kernel:
        return type(self)(tuple(kernel.take(rows) for kernel in self.kernels))

    def frozen(self, variable: Variable) -> Kernel:
        return type(self)(tuple(kernel.frozen(part) for kernel, part in self.parts(variable)))

    def parts(self, variable: Variable) -> list[tuple[Kernel, Variable]]:
        found = [(kernel, _part_for(kernel, variable)) for kernel in self.kernels]
        if isinstance(variable, Mixed):
            _check_all_used(variable, [part for _, part in found])
        return found


class Sum(_Composite):
    """The sum of kernels: dependence through any of the columns, added up."""

    # It is not characteristic: k(x, x') + l(y, y') embeds the two marginals only, never their joint
    # law; on one and the same variable a single characteristic summand would do.
    symbol = "+"


class Product(_Composite):
    """The product of kernels: observations are similar if they are similar in all columns."""

    symbol = "*"

    @property
    def is_characteristic(self) -> bool:  # type: ignore[override]
        return all(kernel.is_characteristic for kernel in self.kernels)


def _part_for(kernel: Kernel, variable: Variable) -> Variable:
    if not isinstance(variable, Mixed):
        return variable
    numbers, labels = variable.numbers(), variable.labels()
    if isinstance(kernel, _Composite) or kernel.accepts[0] is Mixed:
        return variable
    # Kernels of numbers may accept labels as well.
    if labels is not None and Labels in kernel.accepts and kernel.accepts[0] is not Numeric:
        return labels
    if numbers is not None and Numeric in kernel.accepts:
        return numbers
    raise InputTypeError(f"{variable.name} has no columns for kernel {type(kernel).__name__}.")


def _check_all_used(variable: Mixed, parts: list[Variable]) -> None:
    if any(part is variable for part in parts):
        return
    kinds = {type(part) for part in parts}
    for kind, word in ((Numeric, "numeric"), (Labels, "label")):
        if any(isinstance(part, kind) for part in variable.parts) and kind not in kinds:
            raise InputError(
                f"no kernel is made for the {word} columns of {variable.name}; add one, as in "
                "Gaussian() * Delta()."
            )


@dataclass(frozen=True)
class Columns(Combination):
    """A kernel of its own for every column of a frame.

    Parameters
    ----------
    kernels : mapping of str (or tuple of str) to kernel
        By column name; a tuple of names gives several numeric columns to one kernel. A kernel is
        whatever ``kernel=`` takes: a name, a kernel object or a function.
    combine : {"product", "sum"}, default "product"
        "product": rows are similar if they are similar in all columns; characteristic if every
        kernel is. "sum": the dependences through single columns, added up; relations that show
        only in several columns together are not seen.
    others : {"raise", "drop"}, default "raise"
        What to do with columns that are not named.

    Examples
    --------
    >>> from reldep.kernels import Columns, Delta, Gaussian
    >>> Columns({"age": Gaussian(), "sex": Delta()}).is_characteristic
    True
    """

    kernels: Mapping[str | tuple[str, ...], KernelSpec]
    combine: Literal["product", "sum"] = "product"
    others: Literal["raise", "drop"] = "raise"

    accepts = (Mixed, Numeric)

    def __post_init__(self) -> None:
        kernels: Any = self.kernels
        if not isinstance(kernels, Mapping) or not kernels:
            raise InputTypeError(
                'kernels must name at least one column, as in {"age": Gaussian(), "sex": Delta()}.'
            )
        check_choice("combine", self.combine, COMBINATIONS)
        check_choice("others", self.others, ("raise", "drop"))

    @property
    def is_characteristic(self) -> bool:  # type: ignore[override]
        from reldep.kernels.choosing import is_characteristic

        alone = self.combine == "product" or len(self.kernels) == 1
        return alone and all(map(is_characteristic, self.kernels.values()))

    @property
    def symbol(self) -> str:
        return COMBINATIONS[self.combine]

    def fitted(self, variable: Variable) -> FittedKernel:
        for _, part in self.parts(variable):
            check_varies(part)
        return super().fitted(variable)

    def frozen(self, variable: Variable) -> Kernel:
        fixed = [kernel.frozen(part) for kernel, part in self.parts(variable)]
        return replace(self, kernels=dict(zip(self.kernels, fixed, strict=True)))

    def take(self, rows: IntArray) -> Kernel:
        taken = {
            key: spec.take(rows) if isinstance(spec, Kernel) else spec
            for key, spec in self.kernels.items()
        }
        return replace(self, kernels=taken)

    def parts(self, variable: Variable) -> list[tuple[Kernel, Variable]]:
        from reldep.kernels.choosing import as_kernel

        columns = _columns_of(variable)  # type: ignore[arg-type]
        groups = [key if isinstance(key, tuple) else (key,) for key in self.kernels]
        self._check_names(groups, columns, variable.name)
        parts = [_joined([columns[name] for name in group]) for group in groups]
        specs = zip(self.kernels.values(), parts, strict=True)
        return [(as_kernel(spec, part), part) for spec, part in specs]

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
    """Return the columns of a variable by name."""
    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns: dict[str, Numeric | Labels] = {}
    for part in parts:
        if isinstance(part, Labels):
            columns[part.name] = part
        else:
            if not part.columns:
                raise InputTypeError(f"{variable.name} has no column names; pass a data frame.")
            # A nested column of a frame has become several columns of its name.
            names = np.array(part.columns, dtype=object)
            for name in dict.fromkeys(part.columns):
                values = part.values[:, names == name]
                columns[name] = Numeric(name, values, (name,) * values.shape[1])
    return columns


def _joined(columns: list[Numeric | Labels]) -> Variable:
    """Return columns that share a kernel side by side."""
    if len(columns) == 1:
        return columns[0]
    numeric = [column for column in columns if isinstance(column, Numeric)]
    if len(numeric) < len(columns):
        mixed = next(column.name for column in columns if isinstance(column, Labels))
        raise InputTypeError(f"column {mixed!r} contains labels; give it a kernel of its own.")
    names = tuple(column.name for column in numeric)
    return Numeric(", ".join(names), np.hstack([column.values for column in numeric]), names)
