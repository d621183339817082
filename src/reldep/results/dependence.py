"""The answer about one dependence: how strong, how sure, is there any?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reldep.data.checks import MINIMUM_OBSERVATIONS, check_count, check_level
from reldep.description import Value
from reldep.results import sentences
from reldep.results.columns import as_table
from reldep.results.strength import correlations_text
from reldep.results.tested import Result, interval_value, two_decimals
from reldep.stats.independence import (
    IndependenceTest,
    independence_power,
    independence_sample_size,
)
from reldep.stats.power import check_planned
from reldep.words import percent, pvalue_number

if TYPE_CHECKING:
    from reldep.description import Description
    from reldep.results.columns import Columns
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
        """Return the interval of the dependence.

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
        """Return the probability that the chi-square test of independence rejects at level `alpha`.

        With `n` new observations, if the correlation and its variance are as estimated here.
        """
        check_level("alpha", alpha)
        check_count("n", n, at_least=MINIMUM_OBSERVATIONS)
        return independence_power(*self._correlation(), n, alpha)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05, careful: bool = False) -> int:
        """Return how many observations give the test of independence this `power`.

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
        """Return the unbiased correlation and the deviation due to one observation."""
        found = self.dependences
        scale = float(found.scale[0])
        check_planned(float(found.covariance[0, 0]))
        spread = self.n_observations * float(found.covariance[0, 0])
        return float(found.values[0]) / scale, math.sqrt(spread) / scale

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, names = self._columns(alpha), f"{self.x} and {self.y}"
        limits = (columns["low"][0], columns["high"][0])
        found = sentences.Relation(names, self.estimate, self.pvalue, limits)
        strength = self._strength(self.pairs, [self.estimate])
        said = sentences.dependence(names, found, self._setting(alpha), strength)
        law = self.independence.statistic_name
        headings = {"statistic": law, "pvalue": "p-value of independence"}
        caption = f"The estimate with its standard error and {percent(1 - alpha)} interval."
        return self._described(
            alpha,
            f"Are {names} related",
            [said],
            as_table(columns, caption, headings),
            numbers=[
                *self._tested_numbers(alpha, limits),
                *self._as_correlation_value(columns),
                Value("test", "", self.test),
                Value("n_permutations", "", self.n_permutations),
            ],
            # The ruler shows all that the forest does; HSIC has none.
            pictures=self._ruler(self.pairs, columns)
            or (self._forest("estimate", columns, alpha),),
            sections=self._sections(),
            facts=[Value("", "Test of independence", self.independence.in_words())],
        )

    def _as_correlation_value(self, columns: Columns) -> list[Value]:
        """Return the correlation with its limits as a key number, if a dependence is shown."""
        if columns.get("as_correlation", [None])[0] is None:
            return []
        values = [self.estimate, columns["low"][0], columns["high"][0]]
        found = tuple(self._correlations(self.pairs * 3, values))
        return [Value("as_correlation", "As a correlation", found, correlations_text)]

    def _tested_numbers(self, alpha: float, limits: tuple[float, float]) -> list[Value]:
        """Return the key numbers, with statistic and p-value those of independence."""
        law = self.independence.statistic_name.capitalize()
        own = [
            interval_value(limits, 1 - alpha, "two-sided"),
            Value("statistic", law, self.statistic, two_decimals),
            Value("pvalue", "p-value of independence", self.pvalue, pvalue_number),
        ]
        named = {one.name: one for one in own}
        return [named.get(one.name, one) for one in self._numbers("estimate", alpha, limits)]

    def _columns(self, alpha: float) -> Columns:
        low, high = self.confidence_interval(1 - alpha)
        shown = [self.pvalue < alpha]
        return {
            "dependence": [f"{self.x} ~ {self.y}"],
            self.measure: [self.estimate],
            **self._correlation_column(self.pairs, [self.estimate], shown),
            "standard_error": [self.standard_error],
            "low": [low],
            "high": [high],
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }
