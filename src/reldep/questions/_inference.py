"""From A to a tested contrast: the step that compare and contrast share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import ALTERNATIVES, VARIANCES, check_choice
from reldep.stats import normal
from reldep.stats.contrasts import standard_error_of
from reldep.stats.covariance import automatic_lag, covariance
from reldep.stats.measures import SECOND_ORDER, Estimates, estimate
from reldep.stats.second_order import (
    agreeing_with,
    second_order_covariance,
    second_order_variance,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine import Influence, Pair
    from reldep.questions.study import Study


@dataclass(frozen=True, eq=False)
class Inference:
    """How a contrast is tested."""

    measure: str
    alternative: str
    variance: str
    max_lag: Any
    clusters: Any = None

    def __post_init__(self) -> None:
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("variance", self.variance, VARIANCES)
        if self.clusters is not None and self.max_lag is not None:
            raise ValueError(
                "clusters and max_lag are both given; rows depend on each other within clusters "
                "or over time. Leave one of them out."
            )
        given = "clusters" if self.clusters is not None else "max_lag"
        if self.variance in SECOND_ORDER and getattr(self, given) is not None:
            raise ValueError(
                f"variance={self.variance!r} takes the rows to be independent and cannot be "
                f'combined with {given}; use "fixed-kernel" or "bandwidth-aware".'
            )

    def check_lag(self, n: int) -> None:
        """Refuse a lag that is no whole number below the number of observations."""
        lag = self.max_lag
        if lag is None or (isinstance(lag, str) and lag == "auto"):
            return
        if isinstance(lag, bool) or not isinstance(lag, (int, np.integer)) or not 0 <= lag < n:
            raise ValueError(
                f"max_lag={lag!r} for {n} observations; pass a whole number from 0 to {n - 1}, or "
                '"auto".'
            )

    def influence(self, study: Study, pairs: Sequence[Pair]) -> Influence:
        """Compute A with all that the variance needs, once the options are known to fit."""
        self.check_lag(len(study.dataset))
        return study.influence(pairs, self.variance)

    def joint(
        self, influence: Influence, pairs: Sequence[Pair], clusters: IntArray | None
    ) -> dict[str, Any]:
        """Estimate the dependences of the pairs and their covariance, by the names of fields."""
        self.check_lag(influence.n_observations)
        estimates = estimate(influence, pairs, self.measure, self.variance)
        lag = self._lag(estimates.psi)
        spread = covariance(estimates.psi, clusters=clusters, max_lag=lag)
        if estimates.second_component is not None:
            spread = second_order_covariance(spread, estimates.second_component)
        return {
            "estimates": estimates.values,
            "covariance": spread,
            "max_lag": lag,
            "n_clusters": _count(clusters),
        }

    def test(
        self,
        influence: Influence,
        pairs: Sequence[Pair],
        weights: FloatArray,
        clusters: IntArray | None,
    ) -> dict[str, Any]:
        """Estimate the contrast and test it; gives the fields of a result by name."""
        self.check_lag(influence.n_observations)
        estimates = estimate(influence, pairs, self.measure, self.variance)
        lag = self._lag((weights @ estimates.psi)[None, :])
        plug_in = covariance(estimates.psi, clusters=clusters, max_lag=lag)
        standard_error = standard_error_of(weights, plug_in)
        if standard_error is None:
            raise ValueError(_zero_variance_in_words(pairs))
        spread, standard_error = _corrected(plug_in, standard_error, weights, estimates)
        difference = float(weights @ estimates.values)
        statistic = difference / standard_error
        return {
            "estimate": difference,
            "estimates": estimates.values,
            "covariance": spread,
            "standard_error": standard_error,
            "statistic": statistic,
            "pvalue": normal.pvalue(statistic, self.alternative),
            "alternative": self.alternative,
            "n_observations": influence.n_observations,
            "pairs": tuple(pairs),
            "measure": self.measure,
            "variance": self.variance,
            "influence": influence,
            "weights": weights,
            "max_lag": lag,
            "n_clusters": _count(clusters),
        }

    def _lag(self, psi: FloatArray) -> int | None:
        """Give the lag asked for, or choose it for what has these influence values."""
        if self.max_lag is None:
            return None
        return automatic_lag(psi) if self.max_lag == "auto" else int(self.max_lag)


def _count(clusters: IntArray | None) -> int | None:
    return None if clusters is None else len(np.unique(clusters))


def _corrected(
    plug_in: FloatArray, standard_error: float, weights: FloatArray, estimates: Estimates
) -> tuple[FloatArray, float]:
    """Correct covariance and standard error for the second component, if that is asked for."""
    second = estimates.second_component
    if second is None:
        return plug_in, standard_error
    variance = second_order_variance(weights, plug_in, second)
    spread = agreeing_with(second_order_covariance(plug_in, second), weights, variance)
    return spread, float(np.sqrt(variance))


def _zero_variance_in_words(pairs: Sequence[Pair]) -> str:
    listed = ", ".join(f"{x} ~ {y}" for x, y in pairs)
    return (
        f"the estimated variance of the contrast of {listed} is 0: the dependences are the same "
        "for every observation, as when two variables are identical or copies of each other. "
        "There is nothing to test; compare different variables."
    )
