"""From A to dependences: where a question's choices of measure, variance and rows meet A."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.covariance import INDEPENDENT_ROWS, ROUNDING, RowDependence
from reldep.stats.dependences import Dependences, Halves, Jackknifed, PlugIn
from reldep.stats.jackknife import jackknife
from reldep.stats.measures import (
    FOLLOWS_BANDWIDTHS,
    SECOND_ORDER,
    applied,
    computed,
    measure_gradient,
    not_computed,
)
from reldep.stats.second_order import second_component

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair


def estimate_dependences(
    influence: Influence,
    pairs: Sequence[Pair],
    measure: str,
    variance: str = "fixed-kernel",
    rows: RowDependence = INDEPENDENT_ROWS,
) -> Dependences:
    """Estimate the measure for every pair, from the conditional means alone.

    Parameters
    ----------
    influence : Influence
    pairs : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    variance : str
        `influence` must have been computed for it.
    rows : RowDependence
        Where the lag is "auto" it is chosen for all these dependences together.
    """
    if variance == "jackknife" and not rows.any:
        return _jackknifed(influence, pairs, measure)
    gradient, values = measure_gradient(influence, pairs, measure)
    psi = applied(gradient, _psi(influence, variance))
    second = None
    if variance in SECOND_ORDER:
        second = gradient @ _component(influence, variance) @ gradient.T
    return PlugIn(tuple(pairs), measure, variance, values, psi, rows.settled(psi), second)


def influence_of(
    influence: Influence, pairs: Sequence[Pair], measure: str, variance: str = "jackknife"
) -> FloatArray:
    """Give the influence of every row on the measure of every pair, to first order."""
    gradient, _ = measure_gradient(influence, pairs, measure)
    return applied(gradient, _psi(influence, variance))


def _psi(influence: Influence, variance: str) -> FloatArray:
    psi = influence.psi
    # What is left of equal conditional means after their mean is taken off is rounding.
    size = np.abs(influence.values).max(axis=1, initial=0.0)
    psi = np.where((np.abs(psi).max(axis=1, initial=0.0) > ROUNDING * size)[:, None], psi, 0.0)
    return (
        psi + computed(influence.bandwidth_psi, variance) if variance in FOLLOWS_BANDWIDTHS else psi
    )


def _component(influence: Influence, variance: str) -> FloatArray:
    try:
        return second_component(influence.hsic, influence.pairs, influence.n_observations)
    except KeyError as error:
        raise not_computed(variance) from error


def _jackknifed(influence: Influence, pairs: Sequence[Pair], measure: str) -> Jackknifed:
    left_out = jackknife(
        influence.values,
        influence.pairs,
        pairs,
        measure,
        bandwidth_psi=computed(influence.bandwidth_psi, "jackknife"),
        further=influence.means,
        order=influence.order,
    )
    return Jackknifed.of(tuple(pairs), left_out)


def join_halves(
    parts: Sequence[Dependences], rows: Sequence[IntArray], dependence: RowDependence
) -> Dependences:
    """Put two dependences side by side that come from disjoint sets of rows.

    An observation has influence on the dependence of its own half only, so that the covariance
    of the two comes out as 0.

    Parameters
    ----------
    parts : sequence of two Dependences
        Each with one pair.
    rows : sequence of two ndarrays of int
        The rows of each.
    dependence : RowDependence
        Of all rows.
    """
    n = sum(map(len, rows))
    psi = np.zeros((len(parts), n))
    for row, part, chosen in zip(psi, parts, rows, strict=True):
        # Such that Σ psi² / n² stays the variance.
        row[chosen] = part.psi[0] * (n / len(chosen))
    pairs = tuple(pair for part in parts for pair in part.pairs)
    values = np.concatenate([part.values for part in parts])
    measure, variance = parts[0].measure, parts[0].variance
    first, second = parts
    # Rows of one cluster may be in both halves, which are then not independent of each other.
    apart = not dependence.any
    if apart and isinstance(first, Jackknifed) and isinstance(second, Jackknifed):
        return Halves(pairs, measure, variance, values, psi, INDEPENDENT_ROWS, (first, second))
    own = [
        part.second[0, 0] for part in parts if isinstance(part, PlugIn) and part.second is not None
    ]
    component = np.diag(np.array(own)) if own else None
    return PlugIn(pairs, measure, variance, values, psi, dependence.settled(psi), component)
