"""Kernels column by column: one for each, or one for all on the same scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from reldep.data.checks import check_choice, check_names_known, check_varies
from reldep.data.variables import Labels, Mixed, Numeric, Variable
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.composite import FittedProduct, FittedSum
from reldep.kernels.mapped import MappedKernel

if TYPE_CHECKING:
    from reldep.kernels.resolve import KernelSpec

COMBINATIONS = {"product": FittedProduct, "sum": FittedSum}
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
            raise TypeError(
                'kernels must name at least one column, as in {"age": Gaussian(), "sex": Delta()}.'
            )
        check_choice("combine", self.combine, COMBINATIONS)
        check_choice("others", self.others, OTHERS)

    @property
    def is_characteristic(self) -> bool:
        from reldep.kernels.resolve import is_characteristic

        alone = self.combine == "product" or len(self.kernels) == 1
        return alone and all(map(is_characteristic, self.kernels.values()))

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        from reldep.kernels.resolve import as_kernel

        self.check_accepts(variable)
        columns = _columns_of(variable)  # type: ignore[arg-type]
        groups = [key if isinstance(key, tuple) else (key,) for key in self.kernels]
        self._check_names(groups, columns, variable.name)
        fitted = []
        for group, spec in zip(groups, self.kernels.values(), strict=True):
            part = _joined([columns[name] for name in group])
            check_varies(part)
            fitted.append(as_kernel(spec, part).fit(part, rng=rng))
        return fitted[0] if len(fitted) == 1 else COMBINATIONS[self.combine](tuple(fitted))

    def _check_names(
        self, groups: list[tuple[str, ...]], columns: Mapping[str, Variable], name: str
    ) -> None:
        used = [column for group in groups for column in group]
        check_names_known(f"Columns for {name}", used, columns, "column")
        left = [column for column in columns if column not in used]
        if left and self.others == "raise":
            raise ValueError(
                f"Columns has no kernel for {', '.join(map(repr, left))} of {name}; name one, or "
                'pass others="drop" to leave these columns out.'
            )


@dataclass(frozen=True)
class Standardized(MappedKernel):
    """A kernel on columns that are first brought to standard deviation 1.

    A kernel with one bandwidth adds up the squared differences of all columns, so a column in
    small units (grams) drowns one in large units (tonnes), although units are arbitrary.
    Standardising makes all columns count alike. It is no default, because columns in one unit
    (pixels, expression of genes) often differ in spread for a reason.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the standardised columns.

    Examples
    --------
    >>> from reldep.kernels import Delta, Standardized
    >>> mixed = Standardized("gaussian") * Delta()
    """

    kernel: KernelSpec = "gaussian"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric,)

    @property
    def is_characteristic(self) -> bool:
        from reldep.kernels.resolve import is_characteristic

        return is_characteristic(self.kernel)

    @property
    def title(self) -> str:
        return "Standardized"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def rows(self, variable: Variable) -> Numeric:
        values = variable.values  # type: ignore[attr-defined]
        centred = values - values.mean(axis=0)
        deviations = centred.std(axis=0)
        # A constant column stays constant.
        deviations[(values == values[0]).all(axis=0)] = 1.0
        return Numeric(variable.name, centred / deviations)


def _columns_of(variable: Mixed | Numeric) -> dict[str, Numeric | Labels]:
    """Take a variable apart into its columns by name."""
    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns: dict[str, Numeric | Labels] = {}
    for part in parts:
        if isinstance(part, Labels):
            columns[part.name] = part
        else:
            if not part.columns:
                raise TypeError(
                    f"{variable.name} has no column names; kernel Columns takes a data frame."
                )
            for i, name in enumerate(part.columns):
                columns[name] = Numeric(name, part.values[:, [i]], (name,))
    return columns


def _joined(columns: list[Numeric | Labels]) -> Variable:
    """Put columns that share a kernel side by side."""
    if len(columns) == 1:
        return columns[0]
    numeric = [column for column in columns if isinstance(column, Numeric)]
    if len(numeric) < len(columns):
        mixed = next(column.name for column in columns if isinstance(column, Labels))
        raise TypeError(
            f"column {mixed!r} holds labels and cannot share a kernel with other columns; give it "
            "an entry of its own."
        )
    names = tuple(column.name for column in numeric)
    return Numeric(", ".join(names), np.hstack([column.values for column in numeric]), names)
