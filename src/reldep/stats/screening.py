"""Screens: is there any dependence, is the variance of first order, does one row rule?"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.stats import student
from reldep.stats.independence import independence_pvalues_of
from reldep.stats.measures import NORMALISED, check_energy
from reldep.stats.second_order import second_component

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair
    from reldep.stats.dependences import Dependences

# Beyond so many variables the HSICs of all their pairs would cost more than the answer.
FEW_VARIABLES = 8

# Beyond so many observations what is of second order has vanished, and the standard error tells
# a dependence from none without any further HSIC.
FEW_OBSERVATIONS = 5_000


def pairs_to_screen(pairs: Sequence[Pair], n: int) -> tuple[Pair, ...]:
    """List the pairs whose HSIC the screens need: self-pairs, and all pairs of few variables.

    None for many observations: there the screens must not cost more than the answer.
    """
    if n > FEW_OBSERVATIONS:
        return ()
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if len(names) > FEW_VARIABLES:
        return tuple((name, name) for name in names)
    return tuple(combinations_with_replacement(names, 2))


def independence_pvalues(influence: Influence, pairs: Sequence[Pair], n: int) -> dict[Pair, float]:
    """Screen every pair for independence by its unbiased correlation.

    ``p = P(χ² > n·C + 1)``, see :func:`~reldep.stats.independence.independence_test`. Where the
    self-pairs are not known, the estimate over its standard error is compared with the normal
    law; under independence that standard error is too large, so few pairs pass by mistake.
    Self-pairs are left out.
    """
    found: dict[Pair, float] = {}
    known: list[Pair] = []
    correlations = []
    for x, y in pairs:
        if x == y:
            continue
        energy = _energy(influence, (x, y))
        if energy is None:
            found[x, y] = _normal_screen(influence, (x, y))
            continue
        known.append((x, y))
        correlations.append(influence.hsic((x, y)) / np.sqrt(energy) if energy > 0 else 0.0)
    screened = independence_pvalues_of(np.array(correlations, dtype=np.float64), n)
    found |= dict(zip(known, screened.tolist(), strict=True))
    return {pair: found[pair] for pair in pairs if pair in found}


def unbiased_correlation(influence: Influence, pair: Pair) -> float:
    """Give ``H_xy / √(H_xx H_yy)``, from HSICs alone."""
    x, y = pair
    energies = []
    for name in pair:
        energies.append(influence.hsic((name, name)))
        check_energy(name, energies[-1])
    return influence.hsic((x, y)) / float(np.sqrt(energies[0] * energies[1]))


def second_order_share(
    influence: Influence,
    pairs: Sequence[Pair],
    weights: FloatArray,
    measure: str,
    variance: float,
) -> float | None:
    """Give the share of the second Hoeffding component in a contrast's plug-in variance.

    Near 0 where the normal limit rules; about 1/2 under independence, since the plug-in variance
    counts that component twice. None where the HSICs it needs are not known.
    """
    energies = [_energy(influence, pair) for pair in pairs]
    if any(x == y for x, y in pairs) or any(energy is None for energy in energies):
        return None
    scaled = weights
    if measure in NORMALISED:
        scaled = weights / np.sqrt(np.array(energies, dtype=np.float64))
    try:
        component = second_component(influence.hsic, pairs, influence.n_observations)
    except KeyError:
        return None
    return float(scaled @ component @ scaled) / variance


def _normal_screen(influence: Influence, pair: Pair) -> float:
    row = influence.row(pair)
    standard_error = np.linalg.norm(influence.psi[row]) / influence.n_observations
    return float(scipy.special.ndtr(-influence.estimates[row] / standard_error))


def _energy(influence: Influence, pair: Pair) -> float | None:
    """Give ``H_xx H_yy``, the square of the largest HSIC the pair could have."""
    try:
        return influence.hsic((pair[0], pair[0])) * influence.hsic((pair[1], pair[1]))
    except KeyError:
        return None


def relation_pvalues(
    influence: Influence, dependences: Dependences, n: int | None = None
) -> tuple[float | None, ...]:
    """Return the p-value of independence of every pair; None for a variable with itself.

    Parameters
    ----------
    influence : Influence
    dependences : Dependences
    n : int, optional
        The number of rows behind each pair, where it is not that of all.
    """
    if dependences.rows.any:
        # Rows that depend on each other make the chi-square law of the screen too narrow.
        ratios = dependences.values / dependences.standard_errors
        df = dependences.n_units() - 1.0
        return tuple(student.pvalue(float(ratio), df, "greater") for ratio in ratios)
    found = independence_pvalues(influence, dependences.pairs, n or influence.n_observations)
    return tuple(found.get(pair) for pair in dependences.pairs)
