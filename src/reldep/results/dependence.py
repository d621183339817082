"""The answer about one dependence: how strong, how sure, is there any?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reldep.arguments import check_level
from reldep.description import Columns, Picture, Value, unseen
from reldep.results import sentences
from reldep.results.strength import correlations_text
from reldep.results.tested import Result
from reldep.stats.correlation import as_correlation
from reldep.stats.independence import IndependenceTest, independence_power, independence_sample_size
from reldep.stats.student import check_planned

if TYPE_CHECKING:
    from reldep.stats.estimates import Interval


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
        Its statistic, p-value and how they were computed.
    """

    x: str
    y: str
    independence: IndependenceTest = field(repr=False)

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

    def as_correlation(self) -> float:
        """Return the dependence as the correlation of two normal variables that have it.

        It lies between 0 and 1; no sign is implied. See :meth:`Comparison.as_correlation`.
        """
        return self._correlations([self.estimate])[0]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of the dependence: low and high, a named tuple."""
        return self.dependences.interval(0, check_level("confidence_level", confidence_level))

    def _power(self, n: int, alpha: float) -> float:
        return independence_power(*self._correlation(), n, alpha)

    def _sample_size(self, power: float, alpha: float, *, careful: bool) -> int:
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

    def _influential(self, k: int) -> Columns:
        # The p-value of independence does not follow from influence values.
        columns = super()._influential(k)
        columns.pop("pvalue_without")
        return columns

    def _columns(self, alpha: float) -> Columns:
        low, high = self.confidence_interval(1 - alpha)
        own = ([self.estimate], [self.standard_error], ([low], [high]), [self.pvalue < alpha])
        return {
            "relation": [f"{self.x} ~ {self.y}"],
            **self._estimate_columns(*own),
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }

    def _asked(self) -> str:
        return f"Are {self.x} and {self.y} related"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        found = self._relation(at, 0, f"{self.x} and {self.y}", self.pvalue)
        numbers = self._numbers(self._finding(at), "of independence")
        if found.strength:
            both = as_correlation([found.value, *found.limits], self._scales[0].kernel).tolist()
            numbers.append(Value("as_correlation", "As a correlation", both, correlations_text))
        return [sentences.dependence(found, at)], numbers

    def _caption(self, at: sentences.Setting) -> str:
        return f"The estimate with its standard error and {at.level} interval."

    def _pictures(self, at: sentences.Setting) -> tuple[Picture, ...]:
        # The ruler shows all that the forest does; HSIC has none.
        return self._ruler(at) or (self._every_dependence(at),)

    def _own_facts(self) -> list[Value]:
        test = self.independence
        return [
            Value("test", "Test of independence", test.test, lambda _: test.in_words()),
            *unseen(n_permutations=test.n_permutations),
        ]

    def _name(self) -> str:
        return "Estimate"

    def _law(self) -> str:
        return self.independence.statistic_name
