"""Several dependences estimated from the same A: values, errors, tests and intervals.

This is the one place where a question's choices (measure, variance, rows that depend on each
other) meet A. Every question asks it for the same things, so that two questions about the same
numbers give the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError
from reldep.stats.covariance import (
    INDEPENDENT_ROWS,
    RowDependence,
    is_negligible,
)
from reldep.stats.measures import FOLLOWS_BANDWIDTHS, SECOND_ORDER, computed, measure_gradient
from reldep.stats.second_order import agreeing_with, second_order_covariance
from reldep.stats.testing import Interval, Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair


@dataclass(frozen=True, eq=False)
class Dependences:
    """Estimates of several dependences with all that tests and intervals need.

    Attributes
    ----------
    pairs : tuple of Pair
    measure, variance : str
    values : ndarray, shape (p,)
    psi : ndarray, shape (p, m)
        The influence of every observation on every value; rows sum to 0.
    plug_in : ndarray, shape (p, p)
        The covariance of the values to first order.
    second : ndarray, shape (p, p), or None
        The covariance of the second Hoeffding component, for variances that take it off.
    rows : RowDependence
        With the lag that was chosen, where that was left open.
    """

    pairs: tuple[Pair, ...]
    measure: str
    variance: str
    values: FloatArray
    psi: FloatArray
    plug_in: FloatArray
    second: FloatArray | None
    rows: RowDependence

    @property
    def n_observations(self) -> int:
        """How many observations there are."""
        return int(self.psi.shape[1])

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the values, positive semi-definite."""
        if self.second is None:
            return self.plug_in
        return second_order_covariance(self.plug_in, self.second)

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every value."""
        return np.sqrt(np.diag(self.covariance))

    def covariance_with(self, weights: FloatArray, variance: float) -> FloatArray:
        """Give the covariance in which a contrast has exactly this variance."""
        return agreeing_with(self.covariance, weights, variance)

    def test(self, weights: FloatArray) -> Test:
        """Test whether a weighted sum of the dependences is 0."""
        plug_in = float(weights @ self.plug_in @ weights)
        scale = float(weights**2 @ np.diag(self.plug_in))
        if scale == 0 or is_negligible(plug_in, scale):
            raise InputError(*_zero_variance(self.pairs))
        second = 0.0 if self.second is None else float(weights @ self.second @ weights)
        return Test(float(weights @ self.values), float(corrected_variance(plug_in, second)))

    def difference_variances(self) -> FloatArray:
        """Give the variance of every difference of two dependences; exactly 0 for ties.

        A tie has the same influence on both, as identical targets or copies on another scale
        do. The rule is that of :meth:`test`, so that a ranking of two targets and their
        comparison agree.
        """
        plug_in, scale = differences_of(self.plug_in)
        variances = plug_in
        if self.second is not None:
            variances = corrected_variance(plug_in, differences_of(self.second)[0])
        return np.where(is_negligible(plug_in, scale), 0.0, variances)

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Give the interval of one dependence."""
        variance = float(self.covariance[i, i])
        return Test(float(self.values[i]), variance).interval(confidence_level)


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
    gradient, values = measure_gradient(influence, pairs, measure)
    psi = influence.psi
    if variance in FOLLOWS_BANDWIDTHS:
        psi = psi + computed(influence.bandwidth_psi, variance)
    psi = gradient @ psi
    second = None
    if variance in SECOND_ORDER:
        second = gradient @ computed(influence.second_component, variance) @ gradient.T
    chosen = rows.settled(psi)
    plug_in = chosen.covariance(psi)
    return Dependences(tuple(pairs), measure, variance, values, psi, plug_in, second, chosen)


def corrected_variance(plug_in: FloatArray | float, second: FloatArray | float) -> FloatArray:
    """Take the second component off, which a plug-in variance counts twice.

    ``max(V - V2, V2)``. Where few observations make V2 negative there is nothing to subtract.
    """
    part = np.maximum(second, 0.0)
    return np.asarray(np.maximum(plug_in - part, part))


def differences_of(covariance_matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the variance of every difference, and the scale on which it may be rounding only."""
    own = np.diag(covariance_matrix)
    scale = own[:, None] + own[None, :]
    return np.asarray(scale - 2.0 * covariance_matrix), scale


def _zero_variance(pairs: Sequence[Pair]) -> tuple[str, str]:
    listed = ", ".join(f"{x} ~ {y}" for x, y in pairs)
    return (
        f"the estimated variance of the contrast of {listed} is 0: the dependences are the same "
        "for every observation, as when two variables are identical or copies of each other.",
        "There is nothing to test; compare different variables.",
    )
