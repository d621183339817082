"""Kernels that first turn each observation into a row of numbers.

Counting words, averaging pixels, putting angles on the circle: each of these is a map to
rows, after which a kernel for numbers does the rest. The fitted kernel is that of the rows,
so every engine treats it as it treats numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.dot import FittedDot
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    import numpy as np

    from reldep.data.variables import IntArray, Numeric, Sparse, Variable


class MappedKernel(Kernel):
    """A kernel on rows made from the observations; subclasses say which rows."""

    @abstractmethod
    def rows(self, variable: Variable) -> Numeric | Sparse:
        """Turn the observations into rows of numbers."""

    @property
    @abstractmethod
    def kernel_of_rows(self) -> Any:
        """Which kernel the rows are compared with: a name, a kernel or a function."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name the map with its parameters."""

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:
        from reldep.kernels.resolve import as_kernel

        self.check_accepts(variable)
        rows = self.rows(variable)
        if rows.missing().any():
            raise ValueError(
                f"kernel {self.title} made NaN or infinite values of {variable.name}: "
                f"{rows.describe_missing()}. Fill in or leave out these observations."
            )
        if rows.is_constant():
            raise ValueError(
                f"to kernel {self.title} all {len(rows)} observations of {variable.name} look the "
                "same, so nothing can depend on them (the HSIC is 0 by construction). Choose "
                "another kernel or other parameters."
            )
        fitted = as_kernel(self.kernel_of_rows, rows).fit(rows, rng=rng)
        return _titled(fitted, self.title)

    def frozen(self, fitted: FittedKernel) -> Kernel:
        # Making the rows is the costly part: texts are not read again for every permutation.
        return _Ready(fitted) if isinstance(fitted, (FittedDot, FittedRadial)) else self


@dataclass(frozen=True)
class _Ready(Kernel):
    """A kernel whose rows are made already and follow every selection of observations."""

    fitted: FittedDot | FittedRadial

    def take(self, rows: IntArray) -> Kernel:
        if isinstance(self.fitted, FittedDot):
            return _Ready(replace(self.fitted, rows=self.fitted.rows[rows]))
        return _Ready(replace(self.fitted, points=self.fitted.points.take(rows)))

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedKernel:  # noqa: ARG002
        return self.fitted


def _titled(fitted: FittedKernel, title: str) -> FittedKernel:
    """Put the name of the map in front of the label."""
    if isinstance(fitted, (FittedDot, FittedRadial)):
        return replace(fitted, label_text=f"{title}: {fitted.label}")
    return fitted
