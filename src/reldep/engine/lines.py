"""Laplace and distance kernels on one column: q in O(m log m), without kernel values.

Sums of such kernels with any weights run along the sorted values. Sums of products of two of them
come from a merge sort: the rows of each half of one column, in the order of the other. The row
effects are taken off afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.centred import Products, row_effects
from reldep.engine.features import FeatureTable
from reldep.kernels.program import FIRST, LAPLACE, ROOT
from reldep.system import on_all_cores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.centred import Pair
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class Line:
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

    @cached_property
    def order(self) -> IntArray:
        """The rows sorted by their values."""
        return np.argsort(self.x, kind="stable")

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of kernel values times weights over the other rows."""
        from reldep.engine.loops import along

        return np.asarray(self.factor * along(self.x, self.order, self.c, weights))

    @cached_property
    def row_sums(self) -> FloatArray:
        """The sums of rows without the diagonal."""
        return self.sums(np.ones(len(self.x)))

    @cached_property
    def effects(self) -> FloatArray:
        """What makes rows sum to 0."""
        return row_effects(self.row_sums)

    @property
    def size(self) -> float:
        """About the size of the values."""
        return float(np.abs(self.row_sums).mean() / (len(self.x) - 1))

    def take(self, rows: IntArray) -> Line:
        """Return the line of some rows, in the order given."""
        return Line(np.ascontiguousarray(self.x[rows]), self.c, self.factor)

    def products(self, other: Line) -> FloatArray:
        """Return q of two lines."""
        from reldep.engine.loops import line_products

        whole = line_products(self.x, self.order, self.c, other.x, other.c)
        return self.less_effects(
            self.factor * other.factor * whole,
            other.row_sums,
            other.effects,
            other.sums(self.effects),
        )

    def products_with_features(self, other: FeatureTable) -> FloatArray:
        """Return q of a line and a kernel with features: one sum along the line per feature."""
        whole = np.zeros(len(self.x))
        for column in other.columns():
            whole += column * self.sums(column)
        return self.less_effects(whole, other.row_sums, other.effects, other.sums(self.effects))

    def less_effects(
        self, whole: FloatArray, sums: FloatArray, effects: FloatArray, weighted: FloatArray
    ) -> FloatArray:
        """Take row effects off sums of products.

        Parameters
        ----------
        whole : ndarray, shape (m,)
            Σ_j K_ij L_ij without the diagonal.
        sums, effects : ndarray, shape (m,)
            The row sums of L and its row effects.
        weighted : ndarray, shape (m,)
            Σ_j L_ij f_j with the effects f of this line.
        """
        m, f, h = len(self.x), self.effects, effects
        q = whole - h * self.row_sums - f * sums - self.sums(h) - weighted
        return np.asarray(q + (m - 4) * f * h + f * h.sum() + h * f.sum() + f @ h)


@dataclass(frozen=True)
class Lines:
    """Sum along sorted values; exact, for kernels of one column and kernels with features."""

    name: ClassVar[str] = "lines"

    def products(
        self,
        kernels: Mapping[str, FittedKernel],
        pairs: Sequence[Pair],
        totals: Sequence[Pair] = (),
    ) -> Products:
        """Return q of pairs and Σq of further pairs; at least one member of each is a line."""
        names = dict.fromkeys(name for pair in (*pairs, *totals) for name in pair)
        lines = {name: line for name in names if (line := Line.of(kernels[name])) is not None}
        features = {name: FeatureTable.of(kernels[name]) for name in names if name not in lines}
        for line in lines.values():
            _ = line.order, line.effects

        def one(pair: Pair) -> FloatArray:
            x, y = pair if pair[0] in lines else pair[::-1]
            if y in lines:
                return lines[x].products(lines[y])
            return lines[x].products_with_features(features[y])

        found = on_all_cores(one, [*pairs, *totals])
        return Products(
            dict(zip(pairs, found, strict=False)),
            {p: float(q.sum()) for p, q in zip(totals, found[len(pairs) :], strict=True)},
            {name: (lines.get(name) or features[name]).size for name in names},
            {"lines": None},
        )
