"""The answer about groups: is a dependence stronger in one group than in another?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_level
from reldep.data.frames import make_frame
from reldep.results.answer import Answer
from reldep.results.description import Picture, Section
from reldep.stats import student
from reldep.stats.testing import Interval
from reldep.words import MEASURE_NAMES, interval_text, number, percent, pvalue_text

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair
    from reldep.stats.between_groups import GroupDifferences, WelchTest
    from reldep.stats.dependences import Dependences

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
    dependences : tuple of Dependences
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

    x: str
    y: str
    by: str
    groups: tuple[str, ...]
    dependences: tuple[Dependences, ...]
    differences_found: GroupDifferences
    overall: WelchTest
    alternative: str
    test: str
    permuted_pvalue: float | None
    n_permutations: int | None

    @property
    def estimates(self) -> FloatArray:
        """The dependence in every group."""
        return np.array([float(one.values[0]) for one in self.dependences])

    @property
    def sizes(self) -> IntArray:
        """How many observations every group has."""
        return np.array([one.n_observations for one in self.dependences])

    @property
    def estimate(self) -> float:
        """For two groups the difference, first minus second; else the spread of the groups."""
        if len(self.groups) == 2:
            return float(self.differences_found.estimate[0])
        return float(self.estimates.std(ddof=1))

    @property
    def statistic(self) -> float:
        """For two groups the signed root of the deviance from equality; else Welch's F."""
        if len(self.groups) > 2:
            return self.overall.statistic
        return float(self.differences_found.statistic[0])

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that all groups have the same dependence."""
        if self.permuted_pvalue is not None:
            return self.permuted_pvalue
        if len(self.groups) > 2:
            return self.overall.pvalue
        return student.pvalue(self.statistic, float(self.differences_found.df[0]), self.alternative)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Give the interval of the difference of two groups.

        For more groups see :meth:`differences`, whose intervals hold for all of them at once.
        """
        level = check_level("confidence_level", confidence_level)
        low, high = self._limits(level)
        return Interval(float(low[0]), float(high[0]))

    def _limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        low, high = self.differences_found.intervals(level, simultaneous=len(self.groups) > 2)
        if self.measure == "hsic":
            return low, high
        # Two numbers from 0 to 1 differ by 1 at the most.
        return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)

    def differences(self, confidence_level: float = 0.95) -> Any:
        """Give a data frame with one row for every two groups.

        Intervals and adjusted p-values hold for all differences at once.
        """
        level = check_level("confidence_level", confidence_level)
        return make_frame(self._differences(level), self.provenance.library)

    def _differences(self, level: float) -> dict[str, list[Any]]:
        found = self.differences_found
        low, high = self._limits(level)
        return {
            "first": [self.groups[i] for i in found.first],
            "second": [self.groups[i] for i in found.second],
            "difference": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "statistic": found.statistic.tolist(),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": found.adjusted.tolist(),
        }

    def as_correlation(self) -> dict[str, float]:
        """Return the dependence in every group as the correlation of two normal variables.

        Between 0 and 1, by group; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self._pairs(), self.estimates.tolist())
        return dict(zip(self.groups, found, strict=True))

    def _pairs(self) -> list[Pair]:
        """Return the same pair of variables for every group."""
        return [(self.x, self.y)] * len(self.groups)

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give one row per group, each with its own interval."""
        limits = [one.interval(0, 1 - alpha) for one in self.dependences]
        low, high = ([limit[side] for limit in limits] for side in (0, 1))
        return {
            "group": list(self.groups),
            "n": self.sizes.tolist(),
            self.measure: self.estimates.tolist(),
            **self._correlation_column(self._pairs(), self.estimates.tolist(), low),
            "standard_error": [float(one.standard_errors[0]) for one in self.dependences],
            "low": low,
            "high": high,
        }

    def question(self) -> str:
        """Ask whether the dependence differs between the groups."""
        return (
            f"Does the dependence of {self.x} and {self.y} differ between the "
            f"{len(self.groups)} groups of {self.by}?"
        )

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the dependence differs between the groups."""
        if len(self.groups) == 2:
            return self._about_two(alpha)
        sizes = ", ".join(
            f"{name} {number(value, 3)}"
            for name, value in zip(self.groups, self.estimates, strict=True)
        )
        evidence = f"{MEASURE_NAMES[self.measure]}: {sizes}; {pvalue_text(self.pvalue)}"
        claim = f"the dependence of {self.x} and {self.y} differs between groups of {self.by}"
        if self.pvalue < alpha:
            return f"{claim[0].upper()}{claim[1:]} ({evidence})."
        return f"Undecided at the {percent(alpha)} level whether {claim} ({evidence})."

    def _about_two(self, alpha: float) -> str:
        first, second = self.groups
        low, high = self.confidence_interval(1 - alpha)
        evidence = (
            f"{MEASURE_NAMES[self.measure]} {number(self.estimates[0], 3)} against "
            f"{number(self.estimates[1], 3)}; difference {number(self.estimate)}, "
            f"{percent(1 - alpha)} interval {interval_text(low, high)}, {pvalue_text(self.pvalue)}"
        )
        if self.pvalue < alpha:
            stronger, weaker = (first, second) if self.estimate > 0 else (second, first)
            return (
                f"{self.x} and {self.y} depend significantly more on each other in {stronger} than "
                f"in {weaker} ({evidence})."
            )
        word = {"greater": "more", "less": "less"}.get(self.alternative, "differently")
        if self._points_the_other_way(alpha):
            other = {"more": "less", "less": "more"}[word]
            return (
                f"No, it points the other way: {self.x} and {self.y} do not depend {word} on each "
                f"other in {first}, they depend {other} than in {second} ({evidence}). For a "
                "p-value of this direction ask the two-sided question."
            )
        return (
            f"Undecided at the {percent(alpha)} level whether {self.x} and {self.y} depend {word} "
            f"on each other in {first} than in {second} ({evidence})."
        )

    def _points_the_other_way(self, alpha: float) -> bool:
        """Tell whether a one-sided question has the opposite answer."""
        opposite = {"greater": "less", "less": "greater"}.get(self.alternative)
        if opposite is None:
            return False
        df = float(self.differences_found.df[0])
        return student.pvalue(self.statistic, df, opposite) < alpha

    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give the number of groups and the p-value."""
        numbers = {"Groups": f"{len(self.groups)}", "Measure": MEASURE_NAMES[self.measure]}
        if len(self.groups) == 2:
            low, high = self.confidence_interval(1 - alpha)
            numbers["Difference"] = number(self.estimate)
            numbers[f"{percent(1 - alpha)} interval"] = interval_text(low, high)
        about = self.alternative if len(self.groups) == 2 else "all groups equal"
        numbers[f"p-value ({about})"] = pvalue_text(self.pvalue).removeprefix("p = ")
        return numbers

    def headings(self) -> dict[str, str]:
        """Give a heading for every column; differences are compared with Student's law."""
        return super().headings() | {"statistic": "t"}

    def table_caption(self, alpha: float = 0.05) -> str:
        """Say what the table shows."""
        return f"Every group with its own {percent(1 - alpha)} interval."

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, with the test."""
        words = TESTS_IN_WORDS[self.test]
        if self.n_permutations is not None:
            words += f", {self.n_permutations:,} of them"
        return {"Test": words, "Alternative": self.alternative, **super().settings()}

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the overall test and every difference."""
        columns = self._differences(1 - alpha)
        return {
            "by": self.by,
            "groups": self.groups,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "alternative": self.alternative,
            "test": self.test,
            "confidence_level": 1 - alpha,
            "differences": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
        }

    def sections(self) -> tuple[Section, ...]:
        """Show all differences between two groups."""
        at_once = " that hold for all differences at once" if len(self.groups) > 2 else ""
        return (
            Section(
                "Differences between groups",
                "differences",
                self,
                table=self._differences(0.95),
                caption=f"All differences with 95% intervals{at_once}.",
            ),
        )

    def pictures(self) -> tuple[Picture, ...]:
        """Draw every group with its interval."""
        return (
            Picture(
                "forest",
                f"The dependence of {self.x} and {self.y} in each of {len(self.groups)} groups "
                "with its 95% interval.",
                "The dependence in every group with its own 95% interval. Intervals that overlap "
                "may still differ significantly: the table of differences tells.",
            ),
        )

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        return [
            f"Test: {self.settings()['Test']}; alternative: {self.alternative}. The kernels are "
            "fitted once, on all groups together.",
            *super().footnotes(),
        ]

    def __repr__(self) -> str:
        return (
            f"GroupComparison(groups={len(self.groups)}, estimates={self.estimates!r}, "
            f"pvalue={self.pvalue:.6g}, n_observations={self.n_observations})"
        )
