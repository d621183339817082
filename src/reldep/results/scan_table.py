"""The answers of scans: many sources against two targets, or one source against many targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_count, check_level
from reldep.data.frames import make_frame
from reldep.results.screen import Screen
from reldep.stats.testing import Intervals
from reldep.words import MEASURE_NAMES, interval_text, listed, number, percent

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Pair
    from reldep.stats.scanning import SourceTests, TargetTests

CLAIMS = {
    "greater": "{depend} more on {first} than on {second}",
    "less": "{depend} less on {first} than on {second}",
    "two-sided": "{do} not depend equally on {first} and {second}",
}
ADJUSTMENTS_IN_WORDS = {
    "single-step": "the largest statistic of all under their joint law",
    "holm": "Holm's procedure",
}


@dataclass(frozen=True, eq=False, repr=False)
class Scan(Screen):
    """The answer of :func:`reldep.scan` for many sources and two targets.

    Attributes
    ----------
    first, second : str
    alternative : {"greater", "less", "two-sided"}
    tests : SourceTests
        The test of every source by itself.
    """

    role = "sources"
    first: str
    second: str
    alternative: str
    tests: SourceTests

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources in the order given, without those that were skipped."""
        return self.variables

    @property
    def estimates(self) -> FloatArray:
        """The difference of the two dependences, for every source."""
        return self.tests.estimate

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:  # noqa: ARG002
        """Give one row per source, in the order given."""
        return {
            "source": list(self.sources),
            "estimate": self.tests.estimate.tolist(),
            "standard_error": self.tests.standard_error.tolist(),
            "statistic": self.tests.statistic.tolist(),
            "pvalue": self.pvalues.tolist(),
            "fdr": self.fdr.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def dependences(self) -> Any:
        """Give a data frame of both dependences of every source."""
        columns = {
            "source": list(self.sources),
            self.first: self.tests.values[:, 0].tolist(),
            self.second: self.tests.values[:, 1].tolist(),
            "n_observations": self.tests.n.tolist(),
        }
        return make_frame(columns, self.provenance.library)

    def question(self) -> str:
        """Ask which sources depend more on one target than on the other."""
        claim = CLAIMS[self.alternative].format(
            first=self.first, second=self.second, depend="depend", do="do"
        )
        return f"Which of {len(self.sources):,} sources {claim}?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Say how many sources the claim holds for, and for which most clearly."""
        claimed = self.is_discovery(alpha)
        top = [self.sources[i] for i in self._strongest() if claimed[i]]
        one = len(top) == 1
        claim = CLAIMS[self.alternative].format(
            first=self.first,
            second=self.second,
            depend="depends" if one else "depend",
            do="does" if one else "do",
        )
        named = f" The clearest: {listed(top, 5)}." if top else ""
        sides = ""
        if self.alternative == "two-sided" and top:
            more = int((claimed & (self.estimates > 0)).sum())
            sides = f": {more:,} more on {self.first}, {len(top) - more:,} more on {self.second}"
        return (
            f"{len(top):,} of {len(self.sources):,} sources {claim} at a false-discovery rate of "
            f"{percent(alpha)}{sides}; {int(self.is_shown(alpha).sum()):,} if "
            f"any false claim is to have a chance of at most {percent(alpha)}.{named}"
        )

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        return [
            "Every p-value is that of reldep.compare for the source alone. Adjusted p-values use "
            f"degrees of freedom pooled over all sources and {ADJUSTMENTS_IN_WORDS[self.adjust]}.",
            *super().footnotes(),
        ]

    def table_caption(self, alpha: float = 0.05) -> str:  # noqa: ARG002
        """Say what the table shows."""
        return (
            f"{MEASURE_NAMES[self.measure]} with {self.first} minus that with {self.second}, for "
            "every source; p-values by themselves, as false-discovery rates, and adjusted for "
            "all sources."
        )

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the names of the targets and what was left out."""
        own = {"first": self.first, "second": self.second, "alternative": self.alternative}
        return own | super().values(alpha)

    def _axis(self) -> str:
        return f"{MEASURE_NAMES[self.measure]} with {self.first} − with {self.second}"

    def _described(self) -> tuple[str, str]:
        return (
            f"Volcano plot of {len(self.sources):,} sources: differences against evidence.",
            f"To the right sources that depend more on {self.first}, to the left those that "
            f"depend more on {self.second}; the higher, the stronger the evidence.",
        )

    def __repr__(self) -> str:
        return (
            f"Scan({len(self.sources)} sources, {self.first!r} against {self.second!r}, "
            f"n_observations={self.n_observations})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class TargetScan(Screen):
    """The answer of :func:`reldep.scan` for one source and many targets.

    Attributes
    ----------
    source : str
    tests : TargetTests
    maxima : ndarray
        Simulated largest errors of all targets, sorted.
    confidence_level : float
        Of the intervals, which hold for all targets at once.
    """

    role = "targets"
    source: str
    tests: TargetTests
    maxima: FloatArray
    confidence_level: float

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets in the order given, without those that were skipped."""
        return self.variables

    @property
    def estimates(self) -> FloatArray:
        """The dependence of the source on every target."""
        return self.tests.values

    def confidence_interval(self, confidence_level: float | None = None) -> Intervals:
        """Give intervals that cover the dependences on all targets at once."""
        level = self.confidence_level
        if confidence_level is not None:
            level = check_level("confidence_level", confidence_level)
        return Intervals(*self.tests.intervals(self.maxima, level))

    def as_correlation(self) -> dict[str, float]:
        """Return every dependence as the correlation of two normal variables that have it.

        Between 0 and 1, by target; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self._pairs(), self.estimates.tolist())
        return dict(zip(self.targets, found, strict=True))

    def _pairs(self) -> list[Pair]:
        return [(self.source, target) for target in self.targets]

    def table(self, alpha: float | None = None) -> dict[str, list[Any]]:
        """Give one row per target, in the order given; intervals hold for all at once."""
        low, high = self.confidence_interval(None if alpha is None else 1 - alpha)
        return {
            "target": list(self.targets),
            "estimate": self.estimates.tolist(),
            **self._correlation_column(self._pairs(), self.estimates.tolist(), low.tolist()),
            "standard_error": self.tests.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "pvalue": self.pvalues.tolist(),
            "fdr": self.fdr.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def best(self, k: int = 10) -> Any:
        """Give a data frame of the k targets with the strongest estimates.

        They were chosen on the same data, so that an interval for each by itself would be too
        optimistic. Intervals and ranges of ranks here hold for all targets at once, and so for
        any that are picked: as many are stronger as have their interval wholly above.
        """
        check_count("k", k, at_least=1)
        low, high = self.confidence_interval()
        chosen = np.argsort(-self.estimates, kind="stable")[:k]
        return make_frame(
            {
                "target": [self.targets[i] for i in chosen],
                "estimate": self.estimates[chosen].tolist(),
                "low": low[chosen].tolist(),
                "high": high[chosen].tolist(),
                "rank_low": [1 + int((low > high[i]).sum()) for i in chosen],
                "rank_high": [len(low) - int((high < low[i]).sum()) for i in chosen],
                "fdr": self.fdr[chosen].tolist(),
            },
            self.provenance.library,
        )

    def question(self) -> str:
        """Ask on which targets the source depends."""
        return f"On which of {len(self.targets):,} targets does {self.source} depend?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Say on how many targets the source depends, and on which most."""
        top = int(np.argmax(self.estimates))
        low, high = self.confidence_interval(1 - alpha)
        return (
            f"{self.source} depends on {int(self.is_discovery(alpha).sum()):,} of "
            f"{len(self.targets):,} targets at a false-discovery rate of {percent(alpha)}. The "
            f"strongest estimate is that of {self.targets[top]}: {MEASURE_NAMES[self.measure]} "
            f"{number(float(self.estimates[top]))}, {percent(1 - alpha)} interval "
            f"{interval_text(float(low[top]), float(high[top]))}, which allows for the choice "
            f"among all {len(self.targets):,}."
        )

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        return [
            "P-values are of independence. Intervals hold for all targets at once, and so for "
            f"those picked after looking; {len(self.maxima):,} draws.",
            *super().footnotes(),
        ]

    def table_caption(self, alpha: float = 0.05) -> str:
        """Say what the table shows."""
        return (
            f"{MEASURE_NAMES[self.measure]} of {self.source} with every target, "
            f"{percent(1 - alpha)} intervals that hold for all at once, and p-values of "
            "independence."
        )

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the name of the source and what was left out."""
        return {"source": self.source, "confidence_level": 1 - alpha} | super().values(alpha)

    def _axis(self) -> str:
        return f"{MEASURE_NAMES[self.measure]} with {self.source}"

    def _described(self) -> tuple[str, str]:
        return (
            f"{len(self.targets):,} targets: dependence against evidence.",
            "The further to the right, the stronger the dependence; the higher, the stronger the "
            "evidence that there is any.",
        )

    def __repr__(self) -> str:
        return (
            f"TargetScan({self.source!r}, {len(self.targets)} targets, "
            f"n_observations={self.n_observations})"
        )
