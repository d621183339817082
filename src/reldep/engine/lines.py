"""Laplace and distance kernels on one column: q in O(m log m), without kernel values.

Sums of such kernels with any weights run along the sorted values. Sums of products of two of them
come from a merge sort: the rows of each half of one column, in the order of the other. The row
effects are taken off afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Places, Products
from reldep.engine.features import FeatureTable, Table, multiplied
from reldep.kernels.base import FittedKernel
from reldep.kernels.distances import FIRST, LAPLACE, ROOT


@dataclass(frozen=True, eq=False)
class Line(Table):
    """A kernel of the distance on one column: ``factor · 2^(c t)``, or ``factor · t`` for c = 0."""

    x: FloatArray
    c: float
    factor: float

    @classmethod
    def of(cls, kernel: FittedKernel) -> Line | None:
        """Return the line of a kernel, or None if it is not one."""
        program = kernel.program()
        if program is None or len(program) != 1:
            return None
        (only,) = program
        if only.points.shape[1] != 1 or only.how != FIRST:
            return None
        x = np.ascontiguousarray(only.points[:, 0], dtype=np.float64)
        if only.function == LAPLACE:
            return cls(x, only.scale, 1.0)
        return cls(x, 0.0, only.scale) if only.function == ROOT else None

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def order(self) -> IntArray:
        """The rows sorted by their values."""
        return np.argsort(self.x, kind="stable")

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of kernel values times weights over the other rows."""
        from reldep.engine.loops import along

        return np.asarray(self.factor * along(self.x, self.order, self.c, weights))

    @property
    def size(self) -> float:
        """About the size of the values."""
        return float(np.abs(self.row_sums).mean() / (len(self.x) - 1))

    def products(self, other: Table) -> FloatArray:
        """Return q with another line, or with features: one sum along the line for each."""
        from reldep.engine.loops import line_products

        whole = np.zeros(len(self))
        if isinstance(other, Line):
            whole += line_products(self.x, self.order, self.c, other.x, other.c)
            whole *= self.factor * other.factor
        elif isinstance(other, FeatureTable):
            for column in other.columns():
                whole += column * self.sums(column)
        m, f, h = len(self), self.effects, other.effects
        q = whole - h * self.row_sums - f * other.row_sums - self.sums(h) - other.sums(f)
        return np.asarray(q + (m - 4) * f * h + f * h.sum() + h * f.sum() + f @ h)


@dataclass(frozen=True)
class Lines:
    """Sum along sorted values; exact, for kernels of one column and kernels with features."""

    name: ClassVar[str] = "lines"

    def products(
        self, kernels: Sequence[FittedKernel], pairs: Places, totals: Places = ()
    ) -> Products:
        """Return q of pairs and Σq of further pairs."""
        tables = [Line.of(kernel) or FeatureTable.of(kernel) for kernel in kernels]
        return multiplied(tables, pairs, totals)
