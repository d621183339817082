"""From A to a tested contrast: the step that compare and contrast share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep._validation import ALTERNATIVES, VARIANCES, check_choice
from reldep.stats import normal
from reldep.stats.contrasts import standard_error_of
from reldep.stats.covariance import covariance
from reldep.stats.measures import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep._variables import FloatArray, IntArray
    from reldep.engine import Influence, Pair


@dataclass(frozen=True)
class Inference:
    """How a contrast is tested."""

    measure: str
    alternative: str
    variance: str
    max_lag: Any

    def __post_init__(self) -> None:
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("variance", self.variance, VARIANCES)

    def check_lag(self, n: int) -> None:
        """Refuse a lag that is no whole number below the number of observations."""
        lag = self.max_lag
        if lag is None:
            return
        if isinstance(lag, bool) or not isinstance(lag, (int, np.integer)) or not 0 <= lag < n:
            raise ValueError(
                f"max_lag={lag!r} for {n} observations; pass a whole number from 0 to {n - 1}."
            )

    def joint(
        self, influence: Influence, pairs: Sequence[Pair], clusters: IntArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Estimate the dependences of the pairs and their covariance."""
        self.check_lag(influence.n_observations)
        estimates = estimate(influence, pairs, self.measure)
        return estimates.values, covariance(estimates.psi, clusters=clusters, max_lag=self.max_lag)

    def test(
        self,
        influence: Influence,
        pairs: Sequence[Pair],
        weights: FloatArray,
        clusters: IntArray | None,
    ) -> dict[str, Any]:
        """Estimate the contrast and test it; gives the fields of a result by name."""
        values, spread = self.joint(influence, pairs, clusters)
        difference = float(weights @ values)
        standard_error = standard_error_of(weights, spread)
        if standard_error is None:
            raise ValueError(_zero_variance_in_words(pairs))
        statistic = difference / standard_error
        return {
            "estimate": difference,
            "estimates": values,
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
        }


def _zero_variance_in_words(pairs: Sequence[Pair]) -> str:
    listed = ", ".join(f"{x} ~ {y}" for x, y in pairs)
    return (
        f"the estimated variance of the contrast of {listed} is 0: the dependences are the same "
        "for every observation, as when two variables are identical or copies of each other. "
        "There is nothing to test; compare different variables."
    )
