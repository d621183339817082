"""Measures of dependence as smooth functions of HSICs, by the delta method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep._variables import FloatArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair

NORMALISED = ("cka", "dcor")


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of several dependences with the influence of every observation on each.

    Attributes
    ----------
    values : ndarray, shape (p,)
    psi : ndarray, shape (p, m)
        Rows sum to 0; ``psi psi' / m²`` is the covariance of the values.
    """

    values: FloatArray
    psi: FloatArray


def pairs_needed(pairs: Sequence[Pair], measure: str) -> tuple[Pair, ...]:
    """List the pairs an engine must compute: normalised measures need the self-pairs too."""
    if measure not in NORMALISED:
        return tuple(pairs)
    selves = [(name, name) for pair in pairs for name in pair]
    return tuple(dict.fromkeys([*pairs, *selves]))


def estimate(influence: Influence, pairs: Sequence[Pair], measure: str) -> Estimates:
    """Estimate the measure for every pair, from the conditional means alone."""
    values, psi = influence.estimates, influence.psi
    rows = [influence.row(pair) for pair in pairs]
    if measure not in NORMALISED:
        return Estimates(values[rows], psi[rows])
    energies = {
        name: influence.row((name, name)) for name in dict.fromkeys(n for p in pairs for n in p)
    }
    for name, row in energies.items():
        _check_energy(name, float(values[row]))
    normalised = [
        _normalised(values, psi, row, energies[x], energies[y])
        for row, (x, y) in zip(rows, pairs, strict=True)
    ]
    return Estimates(
        np.array([value for value, _ in normalised]), np.array([row for _, row in normalised])
    )


def _normalised(
    values: FloatArray, psi: FloatArray, xy: int, xx: int, yy: int
) -> tuple[float, FloatArray]:
    """Give ``H_xy / sqrt(H_xx H_yy)`` and its influence values.

    The gradient is ``1/sqrt(H_xx H_yy)`` in H_xy, ``-C/(2 H_xx)`` in H_xx and the same in H_yy.
    """
    scale = np.sqrt(values[xx] * values[yy])
    ratio = values[xy] / scale
    slope: FloatArray = psi[xy] / scale - 0.5 * ratio * (
        psi[xx] / values[xx] + psi[yy] / values[yy]
    )
    return float(ratio), slope


def _check_energy(name: str, energy: float) -> None:
    if not energy > 0:
        raise ValueError(
            f"the HSIC of {name} with itself is {energy:.3g}, so a normalised measure (cka, dcor) "
            "is not defined. There are too few observations or almost no variation in "
            f'{name}; use measure="hsic" or more data.'
        )
