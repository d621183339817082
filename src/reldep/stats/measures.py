"""Measures of dependence as smooth functions of HSICs, by the delta method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair

NORMALISED = ("cka", "dcor")
FOLLOWS_BANDWIDTHS = ("bandwidth-aware", "full")
SECOND_ORDER = ("second-order", "full")


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of several dependences with the influence of every observation on each.

    Attributes
    ----------
    values : ndarray, shape (p,)
    psi : ndarray, shape (p, m)
        Rows sum to 0; ``psi psi' / m²`` is the covariance of the values.
    second_component : ndarray, shape (p, p), or None
        The covariance of the second Hoeffding component, for variances that take it into
        account.
    """

    values: FloatArray
    psi: FloatArray
    second_component: FloatArray | None = None


def pairs_needed(pairs: Sequence[Pair], measure: str) -> tuple[Pair, ...]:
    """List the pairs an engine must compute: normalised measures need the self-pairs too."""
    if measure not in NORMALISED:
        return tuple(pairs)
    selves = [(name, name) for pair in pairs for name in pair]
    return tuple(dict.fromkeys([*pairs, *selves]))


def estimate(
    influence: Influence, pairs: Sequence[Pair], measure: str, variance: str = "fixed-kernel"
) -> Estimates:
    """Estimate the measure for every pair, from the conditional means alone.

    Parameters
    ----------
    influence : Influence
    pairs : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    variance : {"fixed-kernel", "bandwidth-aware", "second-order", "full"}
        What the influence values and the second component are to account for; `influence`
        must have been computed for it.
    """
    gradient, values = _gradient(influence, pairs, measure)
    psi = influence.psi
    if variance in FOLLOWS_BANDWIDTHS:
        psi = psi + _computed(influence.bandwidth_psi, variance)
    if variance not in SECOND_ORDER:
        return Estimates(values, gradient @ psi)
    component = _computed(influence.second_component, variance)
    return Estimates(values, gradient @ psi, gradient @ component @ gradient.T)


def _gradient(
    influence: Influence, pairs: Sequence[Pair], measure: str
) -> tuple[FloatArray, FloatArray]:
    """Give the derivative of every estimate in every HSIC of A, and the estimates.

    ``C = H_xy / sqrt(H_xx H_yy)`` has the derivatives ``1/sqrt(H_xx H_yy)`` in H_xy,
    ``-C/(2 H_xx)`` in H_xx and the same in H_yy.
    """
    hsics = influence.estimates
    rows = [influence.row(pair) for pair in pairs]
    gradient = np.zeros((len(pairs), len(hsics)))
    gradient[range(len(pairs)), rows] = 1.0
    if measure not in NORMALISED:
        return gradient, hsics[rows]
    values = np.empty(len(pairs))
    for i, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        x, y = (_energy_row(influence, hsics, name) for name in pair)
        scale = np.sqrt(hsics[x] * hsics[y])
        values[i] = hsics[row] / scale
        gradient[i, row] = 1.0 / scale
        gradient[i, x] -= 0.5 * values[i] / hsics[x]
        gradient[i, y] -= 0.5 * values[i] / hsics[y]
    return gradient, values


def _energy_row(influence: Influence, hsics: FloatArray, name: str) -> int:
    """Find the self-pair of a variable and check that one can divide by its HSIC."""
    row = influence.row((name, name))
    _check_energy(name, float(hsics[row]))
    return row


def _computed(part: FloatArray | None, variance: str) -> FloatArray:
    if part is None:
        raise ValueError(
            f"the conditional means were computed without what variance={variance!r} needs; "
            f"compute them with variance={variance!r}."
        )
    return part


def _check_energy(name: str, energy: float) -> None:
    if not energy > 0:
        raise ValueError(
            f"the HSIC of {name} with itself is {energy:.3g}, so a normalised measure (cka, dcor) "
            "is not defined. There are too few observations or almost no variation in "
            f'{name}; use measure="hsic" or more data.'
        )
