"""The answer about the kernel: does the comparison depend on the bandwidth?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_level
from reldep.results.base import Answer
from reldep.words import MEASURE_NAMES
from reldep.stats import normal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray

# A sign counts as shown where it is significant one-sided at 5 %.
SHOWN = normal.critical_value(0.05, "greater")


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Answer):
    """The answer of :func:`reldep.sensitivity`: the comparison over a grid of bandwidths.

    Attributes
    ----------
    source, first, second : str
    factors : ndarray, shape (g,)
        By what the bandwidth of every variable is multiplied, rising.
    estimates, standard_errors, statistics, pvalues : ndarray, shape (g,)
        The comparison at each factor; `estimates` are differences first minus second.
    alternative : {"greater", "less", "two-sided"}
    bandwidths : mapping of str to float
        The bandwidth of every variable at factor 1.
    """

    source: str
    first: str
    second: str
    factors: FloatArray
    estimates: FloatArray
    standard_errors: FloatArray
    statistics: FloatArray
    pvalues: FloatArray
    alternative: str
    bandwidths: Mapping[str, float]

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

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Give the interval of the difference at each factor, each on its own.

        Returns
        -------
        low, high : ndarray, shape (g,)
        """
        level = check_level("confidence_level", confidence_level)
        margin = normal.critical_value(1.0 - level, "two-sided") * self.standard_errors
        return self.estimates - margin, self.estimates + margin

    def table(self) -> dict[str, list[Any]]:
        """Give one row per factor."""
        low, high = self.confidence_interval()
        columns = {
            "factor": self.factors,
            "difference": self.estimates,
            "std_error": self.standard_errors,
            "low_95": low,
            "high_95": high,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
        }
        return {key: column.tolist() for key, column in columns.items()}

    def question(self) -> str:
        """Ask whether the bandwidth decides the comparison."""
        return (
            f"Does it depend on the bandwidth whether {self.source} depends more on {self.first} "
            f"than on {self.second}?"
        )

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the answer depends on the bandwidth."""
        grid = f"{self.factors[0]:.3g} to {self.factors[-1]:.3g} times the bandwidths"
        z = f"z from {self.statistics.min():.2f} to {self.statistics.max():.2f}"
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

    def plot(self, ax: Any = None) -> Any:
        """Draw z over the factors and return the Axes."""
        from reldep import plotting

        return plotting.sensitivity(self, ax=ax)

    def __repr__(self) -> str:
        return (
            f"Sensitivity(factors={len(self.factors)}, statistic from "
            f"{self.statistics.min():.6g} to {self.statistics.max():.6g}, "
            f"sign_flips={self.sign_flips})"
        )
