"""How far approximate features are from the kernel they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.dense import Dense
from reldep.engine.terms import Wanted, hsic
from reldep.exceptions import ApproximationWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.engine.feature_maps import FeatureMap
    from reldep.engine.terms import Pair

# The errors are estimated on at most this many observations.
CHECKED_ROWS = 2_000

# At most this many pairs are written out in the warning; it holds the errors of all.
LISTED_PAIRS = 5


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
