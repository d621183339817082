"""One difference at several bandwidths: bands that hold at once, and one answer over all of them.

The same rows are seen through kernels of different width. The tests are strongly correlated, so
that joint draws cost much less than a correction for their number would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats import student
from reldep.stats.pairwise import Tests
from reldep.stats.simultaneous import JointDraws, critical_value, tail_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.stats.pairwise import Test


@dataclass(frozen=True, eq=False)
class AcrossScales:
    """Tests of one difference at several scales.

    Attributes
    ----------
    tests : Tests
        At each scale by itself.
    draws : JointDraws
        Of their errors.
    """

    tests: Tests
    draws: JointDraws

    @classmethod
    def of(
        cls,
        tests: Sequence[Test],
        deviations: FloatArray,
        n_draws: int,
        rng: np.random.Generator,
    ) -> AcrossScales:
        """Put the tests together.

        Parameters
        ----------
        tests : sequence of Test
        deviations : ndarray, shape (S, n)
            The leave-one-out deviations of the difference at each scale.
        n_draws : int
        rng : numpy.random.Generator
        """
        # The kurtosis is in the degrees of freedom already.
        parts = np.array([[one.estimate, one.null, one.here, one.df, 3.0] for one in tests]).T
        return cls(Tests(*parts), JointDraws.of(deviations, n_draws, rng))

    def bands(self, confidence_level: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals of the difference at all scales that hold at once."""
        return self.tests.intervals(critical_value(self.draws.value_maxima(), confidence_level))

    def bars(self, alpha: float, alternative: str) -> FloatArray:
        """Return the size beyond which a statistic counts at each scale, adjusted for all."""
        maxima = self.draws.value_maxima(signed=alternative != "two-sided")
        return student.quantile_at(critical_value(maxima, 1.0 - alpha), self.tests.df)

    def at_some_scale(self, alternative: str) -> float:
        """Return the p-value of "there is no difference at any scale", adjusted for all."""
        scores, is_two_sided = self.tests.score, alternative == "two-sided"
        scores = np.abs(scores) if is_two_sided else -scores if alternative == "less" else scores
        maxima = self.draws.value_maxima(signed=not is_two_sided)
        beyond = len(maxima) - np.searchsorted(maxima, scores.max(), side="left")
        simulated = float(tail_probability(np.asarray(beyond), len(maxima)))
        # Draws cannot tell how small a p-value is; Bonferroni's bound holds for any joint law.
        return min(simulated, len(scores) * float(self._pvalues(alternative).min()))

    def at_every_scale(self, alternative: str) -> float:
        """Return the p-value of "at some scale there is no difference": the largest of all.

        For "two-sided" the differences must have one sign at all scales too.
        """
        if alternative != "two-sided":
            return float(self._pvalues(alternative).max())
        one_sided = min(self.at_every_scale("greater"), self.at_every_scale("less"))
        return min(1.0, 2.0 * one_sided)

    def _pvalues(self, alternative: str) -> FloatArray:
        return np.exp(self.tests.log_pvalues(alternative))
