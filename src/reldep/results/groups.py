"""The answer about groups: is a dependence stronger in one group than in another?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.data.checks import check_level
from reldep.description import Columns, Picture, Section, Table, Value, as_rows
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.tested import interval_value, two_decimals
from reldep.stats import student
from reldep.stats.intervals import Interval
from reldep.words import MEASURE_NAMES, percent, pvalue_number

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.description import Description
    from reldep.engine.centred import Pair
    from reldep.stats.estimates import Estimates
    from reldep.stats.groups import GroupDifferences, WelchTest

TESTS_IN_WORDS = {
    "score": "quasi-likelihood with score variances and Welch's F",
    "permutation": "permutation of labels",
}


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Answer):
    """The answer of :func:`reldep.groups`: one dependence in several independent groups.

    Attributes
    ----------
    x, y, by : str
        The names of the variables and of the groups.
    groups : tuple of str
    dependences : tuple of Estimates
        One for every group, from its own rows.
    differences_found : GroupDifferences
        All differences between two groups.
    overall : WelchTest
        The test that all groups have the same dependence.
    alternative : {"two-sided", "greater", "less"}
        For two groups: what the first is compared with the second for.
    test : {"score", "permutation"}
    permuted_pvalue : float or None
        The p-value of the permutation test, if that was asked for.
    n_permutations : int or None
    """

    _shown = ("groups", "estimates", "pvalue")

    x: str
    y: str
    by: str
    groups: tuple[str, ...]
    dependences: tuple[Estimates, ...] = field(repr=False)
    differences_found: GroupDifferences = field(repr=False)
    overall: WelchTest = field(repr=False)
    alternative: str
    test: str = field(repr=False)
    permuted_pvalue: float | None = field(repr=False)
    n_permutations: int | None = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The dependence in every group."""
        return np.array([float(one.values[0]) for one in self.dependences])

    @property
    def estimate(self) -> float:
        """For two groups the difference, first minus second; else the spread of the groups."""
        if self._are_two():
            return float(self.differences_found.estimate[0])
        return float(self.estimates.std(ddof=1))

    @property
    def statistic(self) -> float:
        """For two groups the signed root of the deviance from equality; else Welch's F."""
        if self._are_two():
            return float(self.differences_found.statistic[0])
        return self.overall.statistic

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that all groups have the same dependence."""
        if self.permuted_pvalue is not None:
            return self.permuted_pvalue
        if self._are_two():
            df = float(self.differences_found.df[0])
            return student.pvalue(self.statistic, df, self.alternative)
        return self.overall.pvalue

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of the difference of two groups, which agrees with the test.

        A one-sided alternative has a one-sided bound. For more groups see :meth:`differences`,
        whose intervals hold for all of them at once.
        """
        level = check_level("confidence_level", confidence_level)
        if not self._are_two() or self.alternative == "two-sided":
            low, high = self._limits(level)
            return Interval(float(low[0]), float(high[0]))
        low, high = self._limits(abs(2.0 * level - 1.0))
        lower = (self.alternative == "greater") == (level >= 0.5)
        bound = float((low if lower else high)[0])
        most = math.inf if self.measure == "hsic" else 1.0
        return Interval(bound, most) if self.alternative == "greater" else Interval(-most, bound)

    def differences(self, confidence_level: float = 0.95) -> Any:
        """Return a data frame with one row for every two groups.

        Intervals and adjusted p-values hold for all differences at once.
        """
        level = check_level("confidence_level", confidence_level)
        return self._frame(self._differences(level))

    def as_correlation(self) -> dict[str, float]:
        """Return the dependence in every group as the correlation of two normal variables.

        Between 0 and 1, by group; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self._pairs(), self.estimates.tolist())
        return dict(zip(self.groups, found, strict=True))

    def _are_two(self) -> bool:
        return len(self.groups) == 2

    def _limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        low, high = self.differences_found.intervals(level, simultaneous=not self._are_two())
        if self.measure == "hsic":
            return low, high
        # Two numbers from 0 to 1 differ by 1 at the most.
        return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)

    def _differences(self, level: float) -> Columns:
        found = self.differences_found
        low, high = self._limits(level)
        return {
            "first": [self.groups[i] for i in found.first],
            "second": [self.groups[i] for i in found.second],
            "estimate": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "statistic": found.statistic.tolist(),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": found.adjusted.tolist(),
        }

    def _pairs(self) -> list[Pair]:
        """Return the same pair of variables for every group."""
        return [(self.x, self.y)] * len(self.groups)

    def _columns(self, alpha: float) -> Columns:
        """Return one row per group, each with its own interval."""
        low, high = zip(*(one.interval(0, 1 - alpha) for one in self.dependences), strict=True)
        errors = [one.standard_errors[0] for one in self.dependences]
        shown = [limit > 0 for limit in low]
        return {
            "group": list(self.groups),
            "n": [one.n_observations for one in self.dependences],
            **self._estimate_columns(self._pairs(), self.estimates, errors, (low, high), shown),
        }

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, differences = self._columns(alpha), self._differences(1 - alpha)
        level, test = percent(1 - alpha), TESTS_IN_WORDS[self.test]
        if self.n_permutations is not None:
            test += f", {self.n_permutations:,} of them"
        limits, own, about = (-math.inf, math.inf), [], "all groups equal"
        if self._are_two():
            limits, about = self.confidence_interval(1 - alpha), self.alternative
            heading = f"{' − '.join(self._names())} ({MEASURE_NAMES[self.measure]})"
            interval = interval_value(limits, 1 - alpha, self.alternative)
            own = [Value("estimate", heading, self.estimate), interval]
        at_once = "" if self._are_two() else " that hold for all differences at once"
        caption = f"All differences with {level} intervals{at_once}."
        headings = {"estimate": "difference"}
        finding = sentences.Finding(
            self.estimate,
            limits,
            self._law(),
            self.statistic,
            self.pvalue,
            alpha,
            self.alternative,
        )
        return self._described(
            alpha,
            self._asked(),
            [self._said(finding, columns)],
            self._table(columns, f"Every group with its own {level} interval."),
            numbers=[
                Value("groups", "Groups", self.groups, lambda groups: f"{len(groups)}"),
                *own,
                Value("statistic", self._law(), self.statistic, two_decimals),
                Value("pvalue", f"p-value ({about})", self.pvalue, pvalue_number),
                Value("by", "", self.by),
                Value("confidence_level", "", 1 - alpha),
                Value("differences", "", as_rows(differences)),
            ],
            pictures=(self._forest(columns, level), *self._ruler(self._pairs(), columns)),
            sections=[
                Section(
                    "Differences between groups",
                    "differences",
                    table=Table.of(differences, caption, headings),
                )
            ],
            notes=["The kernels are fitted once, on all groups together."],
            facts=[
                Value("test", "Test", self.test, lambda _: test),
                Value("alternative", "Alternative", self.alternative),
            ],
        )

    def _asked(self) -> str:
        wording = sentences.of_groups(f"{self.x} and {self.y}")
        if self._are_two():
            names = self._names()
            by = f" ({self.by})" if names == [*self.groups] and self.by != "group" else ""
            return wording.question(names, self.alternative) + by
        groups = sentences.several(len(self.groups), self.by)
        return f"Are {wording.subject} more closely related in some of {groups}"

    def _names(self) -> list[str]:
        """Return the groups as sentences name them: numbers say nothing by themselves."""
        are_words = any(map(str.isalpha, "".join(self.groups)))
        return [group if are_words else f"{self.by} {group}" for group in self.groups]

    def _said(self, finding: sentences.Finding, columns: Columns) -> str:
        """Return whether the two variables are more closely related in one group."""
        variables, setting = f"{self.x} and {self.y}", self._setting(finding.alpha)
        sizes = zip(self._names(), columns["estimate"], strict=True)
        groups = [sentences.Relation(*one) for one in sizes]
        if not self._are_two():
            return sentences.several_groups(variables, self.by, groups, finding, setting)
        order = np.argsort(-self.estimates).tolist()
        strength = self._strength(self._pairs(), columns, order)
        wording = sentences.of_groups(variables, self._given())
        return sentences.comparison(wording, groups, finding, setting, strength)

    def _law(self) -> str:
        """Return the statistic as before its value: "t(41)" or "F(2, 31.4)"."""
        if self._are_two():
            return f"t({float(self.differences_found.df[0]):.0f})"
        return f"F({self.overall.df_between:.0f}, {self.overall.df_within:.1f})"

    def _forest(self, columns: Columns, level: str) -> Picture:
        """Return every group with its interval."""
        draw = partial(
            plotting.forest,
            self._names(),
            *(columns[name] for name in ("estimate", "low", "high")),
            xlabel=f"{MEASURE_NAMES[self.measure]} with {level} intervals",
        )
        return Picture(
            draw,
            f"The dependence of {self.x} and {self.y} in each of {len(self.groups)} groups with "
            f"its {level} interval.",
            f"The dependence in every group with its own {level} interval. Intervals that overlap "
            "may still differ significantly: see the table of differences.",
        )
