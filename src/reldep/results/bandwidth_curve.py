"""The answer about the kernel: does the comparison depend on the bandwidth?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.results.answer import Answer
from reldep.results.description import Picture, Section
from reldep.stats import testing
from reldep.stats.testing import Intervals
from reldep.words import MEASURE_NAMES, interval_text, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.results.comparison import Comparison

# A sign counts as shown where it is significant one-sided at 5 %.
SHOWN = testing.critical_value(0.05, "greater")


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Answer):
    """The answer of :func:`reldep.sensitivity`: the comparison over a grid of bandwidths.

    Attributes
    ----------
    factors : ndarray, shape (g,)
        By what the bandwidth of every variable is multiplied, rising.
    comparisons : tuple of Comparison
        The comparison at each factor.
    bandwidths : mapping of str to float
        The bandwidth of every variable at factor 1.
    """

    factors: FloatArray
    comparisons: tuple[Comparison, ...]
    bandwidths: Mapping[str, float]

    @property
    def central(self) -> Comparison:
        """The comparison at the bandwidths as they were chosen, or nearest to them."""
        return self.comparisons[int(np.argmin(np.abs(np.log(self.factors))))]

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.comparisons[0].source

    @property
    def first(self) -> str:
        """The name of the first target."""
        return self.comparisons[0].first

    @property
    def second(self) -> str:
        """The name of the second target."""
        return self.comparisons[0].second

    @property
    def alternative(self) -> str:
        """The alternative of every comparison."""
        return self.comparisons[0].alternative

    @property
    def estimates(self) -> FloatArray:
        """The difference, first minus second, at each factor."""
        return np.array([comparison.estimate for comparison in self.comparisons])

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of the difference at each factor."""
        return np.array([comparison.standard_error for comparison in self.comparisons])

    @property
    def statistics(self) -> FloatArray:
        """The test statistic at each factor."""
        return np.array([comparison.statistic for comparison in self.comparisons])

    @property
    def pvalues(self) -> FloatArray:
        """The p-value at each factor, on its own."""
        return np.array([comparison.pvalue for comparison in self.comparisons])

    @property
    def sign_changes(self) -> tuple[tuple[float, float], ...]:
        """The neighbouring factors between which the estimate changes its sign."""
        signs = np.sign(self.estimates)
        return tuple(
            (float(self.factors[i]), float(self.factors[i + 1]))
            for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)
        )

    @property
    def sign_flips(self) -> bool:
        """Whether both signs are shown beyond chance (one-sided 5 %) somewhere in the grid."""
        return bool(self.statistics.max() > SHOWN and self.statistics.min() < -SHOWN)

    def confidence_interval(self, confidence_level: float = 0.95) -> Intervals:
        """Give the interval of the difference at each factor, each on its own.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        limits = [one.confidence_interval(confidence_level) for one in self.comparisons]
        return Intervals(*np.array(limits).T)

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give one row per factor."""
        low, high = self.confidence_interval(1 - alpha)
        columns = {
            "factor": self.factors,
            "difference": self.estimates,
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
        }
        return {key: column.tolist() for key, column in columns.items()}

    def headings(self) -> dict[str, str]:
        """Give a heading for every column."""
        return super().headings() | {"statistic": self._law()}

    def _law(self) -> str:
        """Name the statistic: z or t."""
        return self.comparisons[0].headings()["statistic"]

    def table_caption(self, alpha: float = 0.05) -> str:  # noqa: ARG002
        """Say what the table shows."""
        return "The comparison at every multiple of the bandwidths."

    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:  # noqa: ARG002
        """Give the range of the statistic."""
        low, high = float(self.statistics.min()), float(self.statistics.max())
        return {
            f"{self._law()} over all bandwidths": interval_text(low, high),
            "Measure": MEASURE_NAMES[self.measure],
        }

    def question(self) -> str:
        """Ask whether the bandwidth decides the comparison."""
        return (
            f"Does it depend on the bandwidth whether {self.source} depends more on {self.first} "
            f"than on {self.second}?"
        )

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the answer depends on the bandwidth."""
        grid = f"{self.factors[0]:.3g} to {self.factors[-1]:.3g} times the bandwidths"
        z = f"{self._law()} from {self.statistics.min():.2f} to {self.statistics.max():.2f}"
        subject = (
            f"{self.source}'s {MEASURE_NAMES[self.measure]} with {self.first} minus that with "
            f"{self.second}"
        )
        if self.sign_flips:
            return (
                f"The answer depends on the bandwidth: over {grid} {subject} changes its sign "
                f"beyond chance ({z})."
            )
        if self.sign_changes:
            return (
                f"Over {grid} {subject} changes its sign, but not beyond chance on both sides "
                f"({z})."
            )
        shown = int((self.pvalues < alpha).sum())
        return (
            f"Over {grid} {subject} keeps its sign ({z}); p < {alpha:g} at {shown} of "
            f"{len(self.factors)} bandwidths."
        )

    def pictures(self) -> tuple[Picture, ...]:
        """Draw the statistic over the factors."""
        low, high = (number(float(z)) for z in (self.statistics.min(), self.statistics.max()))
        return (
            Picture(
                "sensitivity",
                f"Curve of {self._law()} over multiples of the bandwidths: from {low} to {high}.",
                f"{self._law()} over multiples of the bandwidths used; in the grey band the "
                "difference is not beyond chance. The bandwidth sets the scale at which dependence "
                "is looked for, so a change of sign means that the question has different answers "
                "at different scales.",
            ),
        )

    def as_section(self, alpha: float = 0.05) -> Section:
        """Give the part of a report that shows this beside another answer."""
        return Section(
            "Does the answer depend on the bandwidth?",
            "bandwidths",
            self,
            paragraphs=(self.sentence(alpha),),
            table=self.table(alpha),
            caption=self.table_caption(alpha),
            pictures=self.pictures(),
        )

    def __repr__(self) -> str:
        return (
            f"Sensitivity(factors={len(self.factors)}, statistic from "
            f"{self.statistics.min():.6g} to {self.statistics.max():.6g}, "
            f"sign_flips={self.sign_flips})"
        )
