"""Two crossed clusterings, subjects and stimuli: V = V_1 + V_2 - V_12."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.estimates import positive_part
from reldep.stats.units import ROUNDING

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.stats.estimates import Estimates


def crossed(first: Estimates, second: Estimates, cells: Estimates) -> Estimates:
    """Join estimates by either clustering and by their cells, where rows share either.

    The covariance is ``V_1 + V_2 - V_12`` with V_12 of the cells that have both in common; a single
    variance is not below V_1 or V_2. Student's t has the fewer clusters less 1 degrees of
    freedom (Cameron, Gelbach and Miller, 2011).

    Returns
    -------
    Estimates
        Whose deviations are a root of that covariance, for joint draws.
    """
    one, two, both = (
        (side.n - 1) / side.n * side.deviations @ side.deviations.T
        for side in (first, second, cells)
    )
    root = root_of(positive_part(one + two - both))
    n = max(root.shape[1] + 1, 2)
    units = replace(
        first.units,
        is_small=False,
        constant=0.0,
        most_df=min(first.units.most_df, second.units.most_df),
    )
    # Zeros fill up the columns, and (n-1)/n J J' is the covariance.
    deviations = np.zeros((len(root), n))
    deviations[:, : root.shape[1]] = np.sqrt(n / (n - 1.0)) * root
    sides = (first, second, cells)
    fragile = tuple({variable for side in sides for variable in side.fragile})
    return replace(first, deviations=deviations, units=units, sides=sides, fragile=fragile)


def cells_of(first: IntArray, second: IntArray) -> IntArray:
    """Return the number of the cell of every row in two crossed clusterings."""
    together = np.column_stack([first, second])
    return np.asarray(np.unique(together, axis=0, return_inverse=True)[1]).reshape(-1)


def root_of(covariance: FloatArray) -> FloatArray:
    """Return D with ``D D'`` the covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ROUNDING * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
