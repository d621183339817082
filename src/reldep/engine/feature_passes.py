"""Two passes over runs of observations: from centred features to terms.

With K = ΦΦ', L = ΨΨ', κ_i = |φ_i|² and λ_i = |ψ_i|²::

    k   = Φ(Φ'1) - κ
    q_i = φ_i'(Φ'Ψ)ψ_i - κ_i λ_i
    K~l = Φ(Φ'l) - κ∘l,     Φ'l = (Φ'Ψ)(Ψ'1) - Φ'λ

so that the first pass adds up Φ'1, Φ'Ψ and Φ'λ, and the second finishes each row. Memory is
linear in m, and neither Φ nor K is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.feature_maps import runs
from reldep.engine.feature_rows import product_of_all, product_of_run
from reldep.engine.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reldep._variables import FloatArray
    from reldep.engine.feature_maps import FeatureMap
    from reldep.engine.feature_rows import CentredRows, Cross
    from reldep.engine.progress import OnProgress
    from reldep.engine.terms import Pair, Wanted
    from reldep.exceptions import ReldepWarning


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """What the first pass adds up, with centred features.

    Attributes
    ----------
    total : dict of str to ndarray
        ``Φ'1``.
    cross : dict of Pair to Cross
        ``Φ'Ψ`` by canonical pair.
    weighted : dict of Pair to ndarray
        ``Φ'λ``: features of the first, squared norms of the second.
    """

    total: dict[str, FloatArray]
    cross: dict[Pair, Cross]
    weighted: dict[Pair, FloatArray]

    def onto(self, x: str, y: str) -> FloatArray:
        """Give ``Φ'l``: the features of x added up with the row sums of y as weights."""
        if (x, y) in self.cross:
            product = self.cross[x, y].times(self.total[y])
        else:
            product = self.cross[y, x].transposed_times(self.total[y])
        return product - self.weighted[x, y]


@dataclass(frozen=True, eq=False)
class Run:
    """The features of a run of observations, and their squared norms."""

    place: slice
    rows: dict[str, CentredRows]
    norms: dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class FeaturePasses:
    """The features of all variables, what is wanted of them, and the two passes that give it."""

    maps: Mapping[str, FeatureMap]
    wanted: Wanted
    on_progress: OnProgress

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(next(iter(self.maps.values())).kernel)

    def terms(self, notes: tuple[ReldepWarning, ...] = ()) -> Terms:
        """Make both passes."""
        return self._finish_rows(self._add_up(), notes)

    def _add_up(self) -> FeatureSums:
        """Make the first pass."""
        total = {name: np.zeros(feature_map.width) for name, feature_map in self.maps.items()}
        weighted = {(x, y): np.zeros(self.maps[x].width) for x, y in self.wanted.multiplied()}
        products: dict[Pair, Any] = {}
        for run in self._runs(first_step=0):
            for name, rows in run.rows.items():
                total[name] += rows.transposed_times(np.ones(len(run.norms[name])))
            for x, y in weighted:
                weighted[x, y] += run.rows[x].transposed_times(run.norms[y])
            for x, y in self.wanted.product_pairs():
                product = product_of_run(run.rows[x], run.rows[y])
                products[x, y] = products[x, y] + product if (x, y) in products else product
        cross = {
            (x, y): product_of_all(product, self.n, self.maps[x].centre, self.maps[y].centre)
            for (x, y), product in products.items()
        }
        return FeatureSums(total, cross, weighted)

    def _finish_rows(self, sums: FeatureSums, notes: tuple[ReldepWarning, ...]) -> Terms:
        """Make the second pass."""
        row_sums = {name: np.empty(self.n) for name in self.maps}
        along = {name: np.empty(self.n) for name in self.maps}
        products = {pair: np.empty(self.n) for pair in sums.cross}
        onto = {pair: sums.onto(*pair) for pair in self.wanted.multiplied()}
        multiplied = {pair: np.empty(self.n) for pair in onto}
        for run in self._runs(first_step=len(self._places)):
            here, norms = run.place, run.norms
            for name, rows in run.rows.items():
                row_sums[name][here] = rows.times(sums.total[name]) - norms[name]
                along[name][here] = rows.times(self.maps[name].centre)
            for (x, y), cross in sums.cross.items():
                products[x, y][here] = cross.between(run.rows[x], run.rows[y])
                products[x, y][here] -= norms[x] * norms[y]
            for (x, y), vector in onto.items():
                multiplied[x, y][here] = run.rows[x].times(vector) - norms[x] * row_sums[y][here]
        shifts = {name: _row_shift(along[name], self.maps[name].centre) for name in self.maps}
        pairs = self.wanted.crossed_pairs()
        crossed = {(x, y): (multiplied[x, y], multiplied[y, x]) for x, y in pairs}
        return Terms(self.n, row_sums, products, crossed, shifts, notes)

    def _runs(self, first_step: int) -> Iterator[Run]:
        """Go through the observations once, and tell how far."""
        for i, place in enumerate(self._places):
            rows = {name: feature_map.centred(place) for name, feature_map in self.maps.items()}
            yield Run(place, rows, {name: part.squared_norms() for name, part in rows.items()})
            self.on_progress(first_step + i + 1, 2 * len(self._places))

    @cached_property
    def _places(self) -> list[slice]:
        """Cut the observations by what a row needs: its features, and pairs of sparse entries."""
        entries = sum(feature_map.entries_per_row for feature_map in self.maps.values())
        for x, y in self.wanted.product_pairs():
            first, second = self.maps[x], self.maps[y]
            if first.is_sparse and second.is_sparse:
                entries += first.entries_per_row * second.entries_per_row
        return list(runs(self.n, 8.0 * entries))


def _row_shift(along: FloatArray, centre: FloatArray) -> FloatArray:
    """Give what centring took off the mean of each row over the others.

    With centre c, ``φ_i'φ_j = (φ_i - c)'(φ_j - c) + f_i + f_j`` and
    ``f_i = (φ_i - c)'c + |c|²/2``.
    """
    f = along + centre @ centre / 2.0
    result: FloatArray = f + (f.sum() - f) / (len(f) - 1)
    return result
