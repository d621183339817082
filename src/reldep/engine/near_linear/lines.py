"""Kernels along a line, crossed with each other and with features.

A Laplace or distance kernel of one column needs no features: its sums follow recursions along the
sorted values (:mod:`~reldep.engine.near_linear.line_loops`). Between two such kernels the sums of
products take O(m log m), between one and a kernel with r features O(m r). All of it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.near_linear.feature_passes import FeaturePasses
from reldep.engine.terms import Terms, Wanted
from reldep.engine.threads import RUN_BYTES
from reldep.kernels.profiles import LaplaceProfile, PowerProfile
from reldep.kernels.radial import FittedRadial
from reldep.kernels.sizes import FAR
from reldep.system import numba_is_there, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.near_linear.feature_passes import FinishedRows
    from reldep.engine.near_linear.feature_rows import FeatureMap
    from reldep.engine.terms import Pair
    from reldep.engine.threads import OnProgress
    from reldep.kernels.base import FittedKernel

# The kinds of recursion; line_loops has the same numbers, but loads numba.
DECAY, LENGTH = range(2)


@dataclass(frozen=True, eq=False)
class Line:
    """A kernel of one column, sorted.

    Attributes
    ----------
    kind : int
        DECAY for ``exp(-t/scale)``, LENGTH for ``-t``.
    scale : float
    values : ndarray, shape (m,)
    order : ndarray of int, shape (m,)
        Sorts the values.
    """

    kind: int
    scale: float
    values: FloatArray
    order: IntArray

    @classmethod
    def of(cls, kernel: FittedKernel) -> Line | None:
        """Read a kernel; None for one that is no Laplace or distance kernel of one column."""
        kind = kind_of(kernel)
        if kind is None or not isinstance(kernel, FittedRadial):
            return None
        values = np.ascontiguousarray(np.asarray(kernel.points.rows)[:, 0])
        scale = 1.0
        if kind == DECAY and isinstance(kernel.profile, LaplaceProfile):
            scale = kernel.profile.bandwidth / kernel.points.unit
        return cls(kind, scale, values, kernel.points.order)

    def __len__(self) -> int:
        return len(self.values)

    def taken(self, order: IntArray) -> Line:
        """Put the observations in another order; what was summed moves along."""
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        moved = Line(self.kind, self.scale, self.values[order], places[self.order])
        # Cached: neither the sums of rows nor their mean change by it.
        moved.__dict__["raw_sums"] = self.raw_sums[order]
        return moved

    @property
    def sign(self) -> float:
        """What the sums of the recursion are multiplied by."""
        return 1.0 if self.kind == DECAY else -1.0

    @property
    def spread(self) -> float:
        """A bound of the largest minus the smallest value."""
        return 1.0 if self.kind == DECAY else float(np.ptp(self.values))

    @cached_property
    def steps(self) -> FloatArray:
        """What lies between each value and the one before it in order."""
        from reldep.engine.near_linear.line_loops import steps_along

        steps = np.empty(len(self))
        steps_along(self.kind, self.scale, self.values[self.order], steps)
        return steps

    @cached_property
    def raw_sums(self) -> FloatArray:
        """The sum of each row over the others."""
        return self.raw_times(np.ones(len(self)))

    @cached_property
    def shift(self) -> float:
        """The mean over all pairs, which is taken off every value."""
        return float(self.raw_sums.mean() / (len(self) - 1))

    @cached_property
    def row_sums(self) -> FloatArray:
        """The sum of each row over the others, shifted."""
        return self.raw_sums - self.shift * (len(self) - 1)

    @cached_property
    def size(self) -> float:
        """The size of the values before the shift."""
        return float(np.sqrt(np.mean((self.raw_sums / (len(self) - 1)) ** 2)))

    def raw_times(self, vector: FloatArray) -> FloatArray:
        """Multiply the matrix without its diagonal by a vector."""
        from reldep.engine.near_linear.line_loops import add_along

        out = np.zeros(len(self))
        add_along(self.kind, self.steps, self.order, np.ascontiguousarray(vector), out)
        out *= self.sign
        return out

    def times(self, vector: FloatArray) -> FloatArray:
        """Multiply the shifted matrix without its diagonal by a vector."""
        product: FloatArray = self.raw_times(vector) - self.shift * (vector.sum() - vector)
        return product

    def products(self, other: Line) -> FloatArray:
        """Give ``(K~ ∘ L~) 1`` with another line."""
        if other is self:
            return self._squares
        if self.kind == LENGTH and other.kind == DECAY:
            return other.products(self)
        from reldep.engine.near_linear.line_loops import products_along

        q = np.zeros(len(self))
        own = self.kind, self.scale, self.values, self.order
        products_along(*own, other.kind, other.scale, other.values, other.order, q)
        q *= self.sign * other.sign
        q -= other.shift * self.raw_sums + self.shift * other.raw_sums
        q += self.shift * other.shift * (len(self) - 1)
        return q

    @property
    def _squares(self) -> FloatArray:
        """The sum of the squares of each row: a line of half the scale, or second moments."""
        if self.kind == DECAY:
            half = Line(DECAY, self.scale / 2.0, self.values, self.order)
            q = half.raw_sums.copy()
        else:
            centred = self.values - self.values.mean()
            squares = centred * centred
            q = len(self) * squares + squares.sum() - 2.0 * centred * centred.sum()
        q -= 2.0 * self.shift * self.raw_sums - self.shift**2 * (len(self) - 1)
        return q

    def products_with(self, features: FeatureMap) -> FloatArray:
        """Give ``(K~ ∘ ΦΦ') 1`` without the diagonal, with centred features."""
        from reldep.engine.near_linear.line_loops import dots_forward

        n, total = len(self), features.centred_total
        width = len(total)
        ordered, along_total, norms = np.zeros(n), np.empty(n), np.empty(n)
        length = max(1, int(RUN_BYTES / (8 * width)))
        backward = np.zeros(n)
        for order, steps, out in (
            (self.order, self.steps, ordered),
            (self.order[::-1], np.append(0.0, self.steps[:0:-1]), backward),
        ):
            near, far = np.zeros(width), np.zeros(width)
            for start in range(0, n, length):
                run = slice(start, start + length)
                rows = features.centred_densely(order[run])
                dots_forward(self.kind, steps[run], rows, near, far, out[run])
                if out is ordered:
                    along_total[run] = rows @ total
                    norms[run] = np.einsum("ij,ij->i", rows, rows)
        ordered += backward[::-1]
        ordered *= self.sign
        ordered -= self.shift * (along_total - norms)
        q = np.empty(n)
        q[self.order] = ordered
        return q


def kind_of(kernel: FittedKernel) -> int | None:
    """Tell how a kernel is summed along a line; None if it is not."""
    if not isinstance(kernel, FittedRadial) or not numba_is_there():
        return None
    points = kernel.points
    if points.few_columns is None or points.n_columns != 1:
        return None
    if isinstance(kernel.profile, LaplaceProfile):
        return DECAY
    if isinstance(kernel.profile, PowerProfile) and kernel.profile.exponent == 1:
        # A far value drowns the others in the sums of its rounding; seen from the centre, in tiles,
        # it does not.
        farthest = np.sqrt(points.squared_norms.max())
        is_far = points.unit != 1 or farthest > FAR * points.typical_norm
        return None if is_far else LENGTH
    return None


@dataclass(frozen=True, eq=False)
class LinePasses:
    """Lines and features, what is wanted of them, and all that gives it.

    Attributes
    ----------
    lines : mapping of str to Line
    maps : mapping of str to FeatureMap
    wanted : Wanted
    on_progress : callable
    """

    lines: Mapping[str, Line]
    maps: Mapping[str, FeatureMap]
    wanted: Wanted
    on_progress: OnProgress

    def finished(self) -> tuple[Terms, FinishedRows | None]:
        """Give what is wanted, and what the passes over features found on the way."""
        if not self.lines:
            return self._feature_passes({}).finished()
        on_all_cores(lambda line: line.row_sums, self.lines.values())
        terms, rows = None, None
        if self.maps:
            terms, rows = self._feature_passes(self._vectors()).finished()
        return self._joined(terms, rows), rows

    def _feature_passes(self, vectors: Mapping[Pair, FloatArray]) -> FeaturePasses:
        def among_features(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
            return tuple((x, y) for x, y in pairs if x in self.maps and y in self.maps)

        wanted = Wanted(
            among_features(self.wanted.pairs),
            among_features(self.wanted.means),
            tuple(self.maps),
        )
        return FeaturePasses(self.maps, wanted, self.on_progress, vectors)

    def _vectors(self) -> dict[Pair, FloatArray]:
        """List what the kernels with features are multiplied by: the row sums of lines."""
        return {
            (x, y): self.lines[y].row_sums
            for x, y in self.wanted.multiplied()
            if x in self.maps and y in self.lines
        }

    def _joined(self, terms: Terms | None, rows: FinishedRows | None) -> Terms:
        """Make all sums that a line takes part in, on all cores, and put them beside the rest."""
        row_sums = {name: line.row_sums for name, line in self.lines.items()}
        products: dict[Pair, FloatArray] = {}
        crossed: dict[Pair, FloatArray] = {}
        if terms is not None and rows is not None:
            row_sums |= terms.row_sums
            products |= terms.products
            crossed |= rows.crossed
        todo: list[Callable[[], None]] = []
        for x, y in self.wanted.product_pairs():
            if x in self.lines or y in self.lines:
                todo.append(partial(self._put_products, (x, y), products))
        for x, y in self.wanted.crossed_pairs():
            if x in self.lines or y in self.lines:
                todo.append(partial(self._put_crossed, (x, y), row_sums, crossed))
        on_all_cores(lambda one: one(), todo)
        shifts: dict[str, float | FloatArray] = {n: line.shift for n, line in self.lines.items()}
        sizes = {name: line.size for name, line in self.lines.items()}
        if terms is not None:
            shifts |= terms.shifts
            sizes |= terms.sizes
        n = len(next(iter(self.lines.values())))
        spreads = {} if terms is None else terms.spreads
        return Terms(n, row_sums, products, crossed, shifts, sizes, spreads=spreads)

    def _put_products(self, pair: Pair, into: dict[Pair, FloatArray]) -> None:
        x, y = pair
        if x in self.lines and y in self.lines:
            into[pair] = self.lines[x].products(self.lines[y])
            return
        line, features = (x, y) if x in self.lines else (y, x)
        into[pair] = self.lines[line].products_with(self.maps[features])

    def _put_crossed(
        self, pair: Pair, row_sums: Mapping[str, FloatArray], into: dict[Pair, FloatArray]
    ) -> None:
        """Add what lines give to what kernels with features gave."""
        x, y = pair
        if x == y:
            into[pair] = 2.0 * self.lines[x].times(row_sums[x])
            return
        parts = [
            self.lines[one].times(row_sums[other])
            for one, other in ((x, y), (y, x))
            if one in self.lines
        ]
        into[pair] = into[pair] + parts[0] if pair in into else parts[0] + parts[1]
