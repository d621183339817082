"""The feature engine: exact in O(m·p·q) where kernels are products of explicit features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reldep.data.checks import check_choice
from reldep.engine.dense import Dense
from reldep.engine.near_linear.certificate import Certificate
from reldep.engine.near_linear.feature_passes import FeaturePasses, passes_cost
from reldep.engine.near_linear.feature_rows import approximate_map, exact_map, row_shape
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Cost, Terms, Wanted, hsic
from reldep.engine.threads import progress_bar
from reldep.exceptions import ApproximationWarning, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from reldep.engine.near_linear.feature_rows import FeatureMap
    from reldep.engine.terms import Pair
    from reldep.engine.threads import OnProgress
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel

APPROXIMATIONS = {"fourier": "random Fourier features", "nystroem": "the Nyström method"}

# The errors of an approximation are estimated on at most this many observations, and at most so
# many pairs are written out in the warning; it holds the errors of all.
CHECKED_ROWS = 2_000
LISTED_PAIRS = 5


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
                raise InputTypeError(f"`{argument}={value!r}`; pass a whole number.")
            if value < least:
                raise InputError(f"`{argument}={value!r}`; pass a whole number, at least {least}.")

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
        return parts[0] if len(parts) == 1 else joined(*parts)

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
        """Estimate the job; what has no features is left to the tiled engine."""
        n_random = None if self.approximate is None else self.n_components
        shapes = {name: row_shape(kernels[name], n_random) for name in wanted.names()}
        rows = {name: shape for name, shape in shapes.items() if shape is not None}
        explicit, implicit = split_wanted(wanted, rows)
        costs = []
        if implicit.names():
            costs.append(Tiled().cost(kernels, implicit))
        if explicit.names():
            costs.append(passes_cost(len(kernels[explicit.names()[0]]), rows, explicit))
        return Cost(sum(cost.memory for cost in costs), sum(cost.seconds for cost in costs))

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


def joined(first: Terms, second: Terms) -> Terms:
    """Put the terms of different variables side by side."""
    return Terms(
        first.n,
        {**first.row_sums, **second.row_sums},
        {**first.products, **second.products},
        {**first.crossed, **second.crossed},
        {**first.shifts, **second.shifts},
        {**first.sizes, **second.sizes},
        (*first.notes, *second.notes),
        first.engine,
        _joined_certificates(first.certificate, second.certificate),
        {**first.spreads, **second.spreads},
    )


def _joined_certificates(
    first: Certificate | None, second: Certificate | None
) -> Certificate | None:
    """Put together what bounds different variables."""
    if first is None or second is None:
        return first or second
    return Certificate(
        {**first.roots, **second.roots},
        {**first.ranks, **second.ranks},
        {**first.spreads, **second.spreads},
    )


def relative_errors(
    maps: Mapping[str, FeatureMap], pairs: Sequence[Pair], seed: int
) -> tuple[dict[Pair, float], int]:
    """Compare the HSIC of features and of kernels on a seeded subsample.

    Features change the kernel, not the sample, so that their error does not shrink with more
    observations and a subsample shows it.

    Returns
    -------
    errors : dict of Pair to float
        By pair, ``|approximate - exact| / |exact|``.
    n_checked : int
        How many observations were used.
    """
    n = len(next(iter(maps.values())).kernel)
    size = min(n, CHECKED_ROWS)
    chosen = np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))
    wanted = Wanted(pairs=(), means=tuple(pairs))
    names = wanted.names()
    approximate = Dense().terms({x: maps[x].features_kernel(chosen) for x in names}, wanted)
    exact = Dense().terms({x: maps[x].exact_kernel(chosen) for x in names}, wanted)
    smallest = np.finfo(np.float64).tiny
    errors = {
        pair: abs(hsic(approximate, pair) - hsic(exact, pair))
        / max(abs(hsic(exact, pair)), smallest)
        for pair in pairs
    }
    return errors, size


def approximation_notes(
    maps: Mapping[str, FeatureMap], pairs: Sequence[Pair], method: str, seed: int
) -> tuple[ApproximationWarning, ...]:
    """Say in words how large the error of each pair is estimated to be."""
    concerned = [(x, y) for x, y in pairs if not (maps[x].is_exact and maps[y].is_exact)]
    if not concerned:
        return ()
    errors, n_checked = relative_errors(maps, concerned, seed)
    worst = sorted(errors.items(), key=lambda item: -item[1])
    listed = ", ".join(f"({x}, {y}) {error:.2g}" for (x, y), error in worst[:LISTED_PAIRS])
    more = f" and {len(worst) - LISTED_PAIRS} smaller ones" if len(worst) > LISTED_PAIRS else ""
    message = (
        f"Gaussian kernels were approximated by {method}. Estimated relative error of each HSIC, "
        f"from {n_checked} observations: {listed}{more}. It does not shrink with more "
        "observations; a difference of that size may be the approximation's. Raise n_components, "
        'or use engine="tiled", which is exact.'
    )
    return (ApproximationWarning(message, errors),)
