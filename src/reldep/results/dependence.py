"""The answer about one dependence: how strong, how sure, is there any?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_level
from reldep.results.base import Result, check_planned
from reldep.words import MEASURE_NAMES, interval_text, number, percent, pvalue_text
from reldep.stats.covariance import covariance
from reldep.stats.independence import independence_power, independence_sample_size
from reldep.stats.measures import estimate as measured

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Result):
    """The answer of :func:`reldep.dependence`.

    `statistic` and `pvalue` belong to the test of independence; the interval is the normal one
    around the estimate and is meant for dependent variables.

    Attributes
    ----------
    x, y : str
        The names of the variables.
    test : {"chi-square", "permutation"}
        How the p-value was found.
    n_permutations : int or None
        How often the rows were shuffled for it.
    """

    x: str
    y: str
    test: str
    n_permutations: int | None = None

    def _weights(self) -> FloatArray:
        return np.ones(1)

    def power(self, n: int, *, alpha: float = 0.05) -> float:
        """Give the probability that the chi-square test of independence rejects at level `alpha`.

        With `n` new observations, if the correlation and its variance are as estimated here.
        """
        check_level("alpha", alpha)
        check_planned(n)
        return independence_power(*self._correlation(), n, alpha)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05) -> int:
        """Find how many observations give the test of independence this `power`."""
        check_level("power", power)
        check_level("alpha", alpha)
        return independence_sample_size(*self._correlation(), power, alpha)

    def _correlation(self) -> tuple[float, float]:
        """Give the unbiased correlation and the deviation due to one observation."""
        measure = "cka" if self.measure == "hsic" else self.measure
        found = measured(self.influence, self.pairs, measure, self.variance)
        spread = covariance(found.psi, clusters=self.provenance.clusters, max_lag=self.max_lag)
        return float(found.values[0]), math.sqrt(self.n_observations * float(spread[0, 0]))

    def question(self) -> str:
        """Ask whether the two variables depend on each other."""
        return f"Do {self.x} and {self.y} depend on each other?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the two variables depend on each other."""
        low, high = self.confidence_interval(1 - alpha)
        evidence = (
            f"{MEASURE_NAMES[self.measure]} {number(self.estimate)}, {percent(1 - alpha)} interval "
            f"{interval_text(low, high)}; test of independence: {pvalue_text(self.pvalue)}"
        )
        if self.pvalue < alpha:
            return f"{self.x} and {self.y} depend on each other ({evidence})."
        return (
            f"No evidence at the {percent(alpha)} level that {self.x} and {self.y} depend on each "
            f"other ({evidence})."
        )

    def table(self) -> dict[str, list[Any]]:
        """Give the one dependence as a row."""
        low, high = self.confidence_interval()
        return {
            "dependence": [f"{self.x} ~ {self.y}"],
            self.measure: [self.estimate],
            "std_error": [self.standard_error],
            "low_95": [low],
            "high_95": [high],
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimate with its interval and return the Axes."""
        from reldep.plotting import forest

        return forest(self, ax=ax)
