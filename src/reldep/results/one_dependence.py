"""The answer about one dependence: how strong, how sure, is there any?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.checks import MINIMUM_OBSERVATIONS, check_count, check_level
from reldep.results import sentences
from reldep.results.tested import Result
from reldep.stats.independence import (
    IndependenceTest,
    independence_power,
    independence_sample_size,
)
from reldep.words import MEASURE_NAMES, in_prose, interval_text, number, percent, pvalue_number

if TYPE_CHECKING:
    from reldep.stats.intervals import Interval


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Result):
    """The answer of :func:`reldep.dependence`.

    `statistic` and `pvalue` belong to the test of independence; the interval is that of the
    estimate and is meant for dependent variables.

    Attributes
    ----------
    x, y : str
        The names of the variables.
    independence : IndependenceTest
        Its statistic, p-value and how they were found.
    """

    x: str
    y: str
    independence: IndependenceTest

    @property
    def statistic(self) -> float:
        """The statistic of the test of independence."""
        return self.independence.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of independence."""
        return self.independence.pvalue

    @property
    def log10_pvalue(self) -> float:
        """The decimal logarithm of the p-value."""
        return self.independence.log10_pvalue

    @property
    def test(self) -> str:
        """How the p-value was found."""
        return self.independence.test

    @property
    def n_permutations(self) -> int | None:
        """How often the rows were shuffled for it."""
        return self.independence.n_permutations

    def as_correlation(self) -> float:
        """Return the dependence as the correlation of two normal variables that have it.

        It lies between 0 and 1; no sign is implied. See :meth:`Result.as_correlation`.
        """
        return self._correlations(self.pairs, [self.estimate])[0]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Give the interval of the dependence.

        Parameters
        ----------
        confidence_level : float, default 0.95

        Returns
        -------
        low, high : float
            A named tuple.
        """
        level = check_level("confidence_level", confidence_level)
        return self.dependences.interval(0, level)

    def power(self, n: int, *, alpha: float = 0.05) -> float:
        """Give the probability that the chi-square test of independence rejects at level `alpha`.

        With `n` new observations, if the correlation and its variance are as estimated here.
        """
        check_level("alpha", alpha)
        check_count("n", n, at_least=MINIMUM_OBSERVATIONS)
        return independence_power(*self._correlation(), n, alpha)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05, careful: bool = False) -> int:
        """Find how many observations give the test of independence this `power`.

        With `careful` the plan starts from the lower 80% limit of the correlation.
        """
        check_level("power", power)
        check_level("alpha", alpha)
        correlation, deviation = self._correlation()
        if careful:
            # Φ⁻¹(0.8) standard errors below the estimate.
            correlation -= 0.8416 * deviation / math.sqrt(self.n_observations)
        return independence_sample_size(correlation, deviation, power, alpha)

    def _correlation(self) -> tuple[float, float]:
        """Give the unbiased correlation and the deviation due to one observation."""
        found = self.dependences
        scale = float(found.scale[0])
        spread = self.n_observations * float(found.covariance[0, 0])
        return float(found.values[0]) / scale, math.sqrt(spread) / scale

    def question(self) -> str:
        """Return what was asked."""
        return self._asked(f"Are {self.x} and {self.y} related")

    def sentence(self, alpha: float = 0.05) -> str:
        """Return whether the two variables are related."""
        said = sentences.dependence(
            f"{self.x} and {self.y}",
            self.estimate,
            self.confidence_interval(1 - alpha),
            self.pvalue,
            alpha,
            MEASURE_NAMES[self.measure],
            self._given(),
            self.provenance.scope,
            self._strength(self.pairs, [self.estimate]),
        )
        return self._with_facts(said)

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give the one dependence as a row."""
        low, high = self.confidence_interval(1 - alpha)
        return {
            "dependence": [f"{self.x} ~ {self.y}"],
            self.measure: [self.estimate],
            **self._correlation_column(self.pairs, [self.estimate], [self.pvalue < alpha]),
            "standard_error": [self.standard_error],
            "low": [low],
            "high": [high],
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }

    def headings(self) -> dict[str, str]:
        """Give a heading for every column."""
        return super().headings() | {
            "statistic": self.statistic_name(),
            "pvalue": "p-value of independence",
        }

    def statistic_name(self) -> str:
        """Name the statistic of independence."""
        return self.independence.statistic_name

    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give estimate, interval, statistic and the p-value of independence."""
        low, high = self.confidence_interval(1 - alpha)
        return {
            f"Estimate ({MEASURE_NAMES[self.measure]})": number(self.estimate),
            f"{percent(1 - alpha)} interval": interval_text(low, high),
            self.statistic_name().capitalize(): in_prose(f"{self.statistic:.2f}"),
            "p-value of independence": pvalue_number(self.pvalue),
        }

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the fields of a tested estimate, with the kind of test."""
        return super().values(alpha) | {"test": self.test, "n_permutations": self.n_permutations}

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, with the test of independence."""
        chosen = super().settings() | {"Test of independence": self.independence.in_words()}
        del chosen["Alternative"]
        return chosen
