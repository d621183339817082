"""The answer about groups: is a dependence stronger in one group than in another?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reldep.data.variables import FloatArray
from reldep.description import Columns, Picture, Section, Table, Value, as_rows, unseen
from reldep.engine.centred import Pair
from reldep.results import sentences
from reldep.results.strength import OfDependences
from reldep.stats import student
from reldep.stats.estimates import Estimates
from reldep.stats.groups import GroupDifferences, WelchTest
from reldep.stats.intervals import Interval
from reldep.words import listed, numbers, pvalue_text

TESTS_IN_WORDS = {
    "score": "quasi-likelihood with score variances and Welch's F",
    "permutation": "permutation of labels",
}


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(OfDependences):
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
        level = self._level(confidence_level)
        one_sided = self._are_two() and self.alternative != "two-sided"
        found = self._differences(abs(2.0 * level - 1.0) if one_sided else level)
        low, high = found["low"][0], found["high"][0]
        if not one_sided:
            return Interval(low, high)
        bound = low if (self.alternative == "greater") == (level >= 0.5) else high
        sided = (bound, math.inf) if self.alternative == "greater" else (-math.inf, bound)
        return Interval(*map(float, self._possible(sided)))

    def differences(self, confidence_level: float = 0.95) -> Any:
        """Return a data frame with one row for every two groups.

        Intervals and adjusted p-values hold for all differences at once.
        """
        return self._frame(self._differences(self._level(confidence_level)))

    @property
    def _pairs(self) -> list[Pair]:
        """The same pair of variables for every group."""
        return [(self.x, self.y)] * len(self.groups)

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.groups

    def _are_two(self) -> bool:
        return len(self.groups) == 2

    def _differences(self, level: float) -> Columns:
        found = self.differences_found
        limits = found.intervals(level, simultaneous=not self._are_two())
        return self._differences_of(self.groups, found, limits, found.adjusted)

    def _columns(self, alpha: float) -> Columns:
        """Return one row per group, each with its own interval."""
        low, high = zip(*(one.interval(0, 1 - alpha) for one in self.dependences), strict=True)
        errors = [one.standard_errors[0] for one in self.dependences]
        shown = [limit > 0 for limit in low]
        return {
            "group": list(self.groups),
            "n": [one.n_observations for one in self.dependences],
            **self._estimate_columns(self.estimates, errors, (low, high), shown),
        }

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        level = 1 - at.alpha
        limits = self.confidence_interval(level) if self._are_two() else (-math.inf, math.inf)
        tested = (self._law(), self.statistic, self.pvalue, at.alpha, self.alternative)
        finding = sentences.Finding(self.estimate, limits, *tested)
        sizes = zip(self._names(), at.columns["estimate"], strict=True)
        groups = [sentences.Relation(*one) for one in sizes]
        variables = f"{self.x} and {self.y}"
        if self._are_two():
            wording = sentences.of_groups(variables, at.given)
            strength = self._strength(at, np.argsort(-self.estimates).tolist())
            said = sentences.comparison(wording, groups, finding, at, strength)
            numbers = finding.values(f"{' − '.join(self._names())} ({at.measure})")
        else:
            said = self._claim(groups, finding, at)
            numbers = finding.values("", "(all groups equal)")[2:]
        how_many = Value("groups", "Groups", self.groups, lambda groups: f"{len(groups)}")
        differences = as_rows(self._differences(level))
        return [said], [how_many, *numbers, *unseen(by=self.by, differences=differences)]

    def _sections(self, at: sentences.Setting) -> list[Section]:
        at_once = "" if self._are_two() else " that hold for all differences at once"
        caption = f"All differences with {at.level} intervals{at_once}."
        columns = self._differences(1 - at.alpha)
        table = Table.of(columns, caption, {"estimate": "difference"})
        return [Section("Differences between groups", "differences", table=table)]

    def _caption(self, at: sentences.Setting) -> str:
        return f"Every group with its own {at.level} interval."

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        every = self._forest(
            at,
            self._names(),
            0,
            f"The dependence of {self.x} and {self.y} in each of {len(self.groups)} groups with "
            f"its {at.level} interval.",
            f"The dependence in every group with its own {at.level} interval. Groups "
            "whose intervals overlap may still differ significantly: see the table of differences.",
        )
        return [every, *self._ruler(at)]

    def _notes(self) -> list[str]:
        return ["The kernels are fitted once, on all groups together."]

    def _own_facts(self) -> list[Value]:
        test = TESTS_IN_WORDS[self.test]
        if self.n_permutations is not None:
            test += f", {self.n_permutations:,} of them"
        return [
            Value("test", "Test", self.test, lambda _: test),
            Value("", "Alternative", self.alternative),
        ]

    def _asked(self) -> str:
        wording = sentences.of_groups(f"{self.x} and {self.y}")
        if self._are_two():
            names = self._names()
            by = f" ({self.by})" if names == [*self.groups] and self.by != "group" else ""
            return wording.question(names, self.alternative) + by
        return f"Are {wording.subject} more closely related in some of {self._all()} than in others"

    def _names(self) -> list[str]:
        """Return the groups as sentences name them: numbers say nothing by themselves."""
        are_words = any(map(str.isalpha, "".join(self.groups)))
        return [group if are_words else f"{self.by} {group}" for group in self.groups]

    def _all(self) -> str:
        """Return the groups as a noun: "the 3 groups of site", or "the 3 groups"."""
        return f"the {len(self.groups)} groups" + (f" of {self.by}" if self.by != "group" else "")

    def _claim(
        self,
        groups: Sequence[sentences.Relation],
        finding: sentences.Finding,
        at: sentences.Setting,
    ) -> str:
        """Return whether the variables are equally related in three groups or more."""
        ordered = sorted(groups, key=lambda one: -one.value)
        sizes = numbers([one.value for one in ordered])
        found = listed([f"{size} in {one.name}" for size, one in zip(sizes, ordered, strict=True)])
        related = f"equally related in {self._all()}{at.given}"
        test = f"{finding.law} = {finding.statistic:.2f}, {pvalue_text(finding.pvalue)}"
        evidence = f"{at.measure} {found} ({test})"
        if finding.is_shown:
            return at.say(f"{self.x} and {self.y} are not {related}: {evidence}", named=True)
        return at.say(f"{sentences.UNDECIDED} {self.x} and {self.y} are {related}: {evidence}")

    def _law(self) -> str:
        """Return the statistic as before its value: "t(41)" or "F(2, 31.4)"."""
        if self._are_two():
            return f"t({float(self.differences_found.df[0]):.0f})"
        return f"F({self.overall.df_between:.0f}, {self.overall.df_within:.1f})"
