"""The feature engine: exact in O(m·p·q) where kernels are products of explicit features.

With K = ΦΦ', L = ΨΨ', κ_i = |φ_i|² and λ_i = |ψ_i|² (features centred)::

    k   = Φ(Φ'1) - κ
    q_i = φ_i'(Φ'Ψ)ψ_i - κ_i λ_i
    K~l = Φ(Φ'l) - κ∘l,     Φ'l = (Φ'Ψ)(Ψ'1) - Φ'λ

so that two passes over runs of observations do: the first adds up Φ'1, Φ'Ψ and Φ'λ, the second
finishes each row. Memory is linear in m, and neither Φ nor K is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep._validation import check_choice
from reldep.engine.approximation import approximation_notes
from reldep.engine.feature_maps import approximate_map, exact_map, runs
from reldep.engine.feature_rows import product_of_all, product_of_run
from reldep.engine.terms import Pair, Terms, Wanted

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from reldep._variables import FloatArray
    from reldep.engine.feature_maps import FeatureMap
    from reldep.engine.feature_rows import Cross
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel

APPROXIMATIONS = {"fourier": "random Fourier features", "nystroem": "the Nyström method"}


@dataclass(frozen=True)
class Features:
    """Work with explicit features instead of kernel matrices.

    Linear, polynomial and delta kernels are exact this way at millions of observations. With
    `approximate`, Gaussian kernels get features by scikit-learn too; the error this makes is
    estimated and comes with the result. Variables whose kernel has no features, and those
    that share a pair with them, are computed by the tiled engine, exactly.

    Parameters
    ----------
    approximate : {"fourier", "nystroem"}, optional
        How Gaussian kernels get features: random Fourier features or the Nyström method.
        By default they get none.
    n_components : int, default 500
        How many features an approximate kernel gets.
    rng : int, default 0
        Seed of the random features or landmarks; the same seed gives the same numbers.

    Examples
    --------
    >>> from reldep.engine import Features
    >>> Features(approximate="fourier", n_components=200).name
    'features'
    """

    approximate: str | None = None
    n_components: int = 500
    rng: int = 0

    name: ClassVar[str] = "features"

    def __post_init__(self) -> None:
        if self.approximate is not None:
            check_choice("approximate", self.approximate, APPROXIMATIONS)
        for argument, least in (("n_components", 1), ("rng", 0)):
            value = getattr(self, argument)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"{argument}={value!r}; pass a whole number.")
            if value < least:
                raise ValueError(f"{argument}={value!r}; pass a whole number, at least {least}.")

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        maps = self._maps({name: kernels[name] for name in wanted.names()})
        explicit, implicit = split_wanted(wanted, maps)
        parts = []
        if explicit.names():
            chosen = {name: maps[name] for name in explicit.names()}
            parts.append(_terms_of_maps(chosen, explicit, self._note(chosen, explicit)))
        if implicit.names():
            from reldep.engine.tiled import Tiled

            parts.append(Tiled().terms(kernels, implicit))
        return parts[0] if len(parts) == 1 else _joined(*parts)

    def _maps(self, kernels: Mapping[str, FittedKernel]) -> dict[str, FeatureMap]:
        """Find the features of every kernel that has some."""
        seeds = np.random.SeedSequence(self.rng).generate_state(len(kernels)).tolist()
        maps = {}
        for (name, kernel), seed in zip(kernels.items(), seeds, strict=True):
            found = exact_map(kernel)
            if found is None and self.approximate is not None:
                found = approximate_map(kernel, self.approximate, self.n_components, seed)
            if found is not None:
                maps[name] = found
        return maps

    def _note(self, maps: Mapping[str, FeatureMap], wanted: Wanted) -> tuple[ReldepWarning, ...]:
        """Say how far the approximation is from the truth, if there is one."""
        if all(feature_map.is_exact for feature_map in maps.values()):
            return ()
        method = f"{APPROXIMATIONS[str(self.approximate)]} ({self.n_components} components)"
        return approximation_notes(maps, wanted.product_pairs(), method, self.rng)


def split_wanted(wanted: Wanted, explicit: Container[str]) -> tuple[Wanted, Wanted]:
    """Part what is wanted into what features can give and what needs kernel matrices.

    Features are centred and matrices are shifted by a constant, and the sums of a variable must
    be of one kind in all its pairs. So a variable without features takes along every variable
    that it is connected with by a chain of pairs.
    """
    implicit = {name for name in wanted.names() if name not in explicit}
    pairs = wanted.product_pairs()
    while added := {name for x, y in pairs if {x, y} & implicit for name in (x, y)} - implicit:
        implicit |= added

    def part(is_implicit: bool) -> Wanted:
        return Wanted(
            tuple(pair for pair in wanted.pairs if (pair[0] in implicit) is is_implicit),
            tuple(pair for pair in wanted.means if (pair[0] in implicit) is is_implicit),
            tuple(name for name in wanted.row_sums if (name in implicit) is is_implicit),
        )

    return part(is_implicit=False), part(is_implicit=True)


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the first pass adds up, all with centred features.

    Attributes
    ----------
    total : dict of str to ndarray
        ``Φ'1``.
    cross : dict of Pair to Cross
        ``Φ'Ψ``.
    weighted : dict of Pair to ndarray
        ``Φ'λ``, features of the first, squared norms of the second.
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


def _terms_of_maps(
    maps: Mapping[str, FeatureMap], wanted: Wanted, notes: tuple[ReldepWarning, ...]
) -> Terms:
    n = len(next(iter(maps.values())).kernel)
    bytes_per_row = _bytes_per_row(maps, wanted)
    sums = _add_up(maps, wanted, n, bytes_per_row)
    row_sums = {name: np.empty(n) for name in maps}
    shifts = {name: np.empty(n) for name in maps}
    products = {pair: np.empty(n) for pair in wanted.product_pairs()}
    onto = {pair: sums.onto(*pair) for pair in _both_ways(wanted)}
    multiplied = {pair: np.empty(n) for pair in onto}
    for run in runs(n, bytes_per_row):
        rows = {name: feature_map.centred(run) for name, feature_map in maps.items()}
        norms = {name: part.squared_norms() for name, part in rows.items()}
        for name, part in rows.items():
            row_sums[name][run] = part.times(sums.total[name]) - norms[name]
            shifts[name][run] = part.times(maps[name].centre)
        for (x, y), cross in sums.cross.items():
            products[x, y][run] = cross.between(rows[x], rows[y]) - norms[x] * norms[y]
        for (x, y), vector in onto.items():
            multiplied[x, y][run] = rows[x].times(vector) - norms[x] * row_sums[y][run]
    crossed = {(x, y): (multiplied[x, y], multiplied[y, x]) for x, y in wanted.crossed_pairs()}
    undo = {name: _row_shift(shifts[name], maps[name].centre) for name in maps}
    return Terms(n, row_sums, products, crossed, undo, notes)


def _add_up(maps: Mapping[str, FeatureMap], wanted: Wanted, n: int, bytes_per_row: float) -> _Sums:
    """Make the first pass."""
    total = {name: np.zeros(feature_map.width) for name, feature_map in maps.items()}
    weighted = {(x, y): np.zeros(maps[x].width) for x, y in _both_ways(wanted)}
    products: dict[Pair, Any] = {}
    for run in runs(n, bytes_per_row):
        rows = {name: feature_map.centred(run) for name, feature_map in maps.items()}
        norms = {name: part.squared_norms() for name, part in rows.items()}
        for name, part in rows.items():
            total[name] += part.transposed_times(np.ones(len(norms[name])))
        for x, y in weighted:
            weighted[x, y] += rows[x].transposed_times(norms[y])
        for x, y in wanted.product_pairs():
            product = product_of_run(rows[x], rows[y])
            products[x, y] = products[x, y] + product if (x, y) in products else product
    cross = {
        (x, y): product_of_all(product, n, maps[x].centre, maps[y].centre)
        for (x, y), product in products.items()
    }
    return _Sums(total, cross, weighted)


def _both_ways(wanted: Wanted) -> list[Pair]:
    both = (ordered for x, y in wanted.crossed_pairs() for ordered in ((x, y), (y, x)))
    return list(dict.fromkeys(both))


def _bytes_per_row(maps: Mapping[str, FeatureMap], wanted: Wanted) -> float:
    """Bound what a row needs: its features and, between sparse sides, the pairs of entries."""
    entries = sum(feature_map.entries_per_row for feature_map in maps.values())
    for x, y in wanted.product_pairs():
        if maps[x].is_sparse and maps[y].is_sparse:
            entries += maps[x].entries_per_row * maps[y].entries_per_row
    return 8.0 * entries


def _row_shift(along: FloatArray, centre: FloatArray) -> FloatArray:
    """Give what centring took off the mean of each row over the others.

    With centre c, ``φ_i'φ_j = (φ_i - c)'(φ_j - c) + f_i + f_j`` and
    ``f_i = (φ_i - c)'c + |c|²/2``.
    """
    f = along + centre @ centre / 2.0
    result: FloatArray = f + (f.sum() - f) / (len(f) - 1)
    return result


def _joined(first: Terms, second: Terms) -> Terms:
    """Put the terms of different variables side by side."""
    return Terms(
        first.n,
        {**first.row_sums, **second.row_sums},
        {**first.products, **second.products},
        {**first.crossed, **second.crossed},
        {**first.shifts, **second.shifts},
        (*first.notes, *second.notes),
    )
