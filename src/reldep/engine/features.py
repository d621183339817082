"""The feature engine: exact in O(m·p·q) where kernels are products of explicit features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reldep.data.checks import check_choice
from reldep.engine.approximation import approximation_notes
from reldep.engine.feature_maps import approximate_map, exact_map
from reldep.engine.feature_passes import FeaturePasses
from reldep.engine.progress import progress_bar
from reldep.engine.terms import Terms, Wanted
from reldep.engine.tiled import Tiled

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from reldep.engine.feature_maps import FeatureMap
    from reldep.engine.progress import OnProgress
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
    on_progress : callable, optional
        Called with the number of steps done and their total, in place of the progress bar.

    Examples
    --------
    >>> from reldep.engine import Features
    >>> Features(approximate="fourier", n_components=200).name
    'features'
    """

    approximate: Literal["fourier", "nystroem"] | None = None
    n_components: int = 500
    rng: int = 0
    on_progress: OnProgress | None = field(default=None, compare=False)

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
            notes = self._notes(chosen, explicit)
            with progress_bar("features", self.on_progress) as on_progress:
                parts.append(FeaturePasses(chosen, explicit, on_progress).terms(notes))
        if implicit.names():
            parts.append(Tiled(on_progress=self.on_progress).terms(kernels, implicit))
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

    def _notes(self, maps: Mapping[str, FeatureMap], wanted: Wanted) -> tuple[ReldepWarning, ...]:
        """Say how far the approximation is from the truth, if there is one."""
        if self.approximate is None:
            return ()
        method = f"{APPROXIMATIONS[self.approximate]} ({self.n_components} components)"
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
