"""The answers of scans: many sources against two targets, or one source against many targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_count, check_level
from reldep.data.frames import make_frame
from reldep.results import sentences
from reldep.results.screen import Screen
from reldep.stats.intervals import Intervals
from reldep.words import MEASURE_NAMES, counted, percent

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.engine.centred import Pair
    from reldep.stats.scan import ScannedSources, ScannedTargets

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
    tests : ScannedSources
        The test of every source by itself.
    """

    role = "sources"
    first: str
    second: str
    alternative: str
    tests: ScannedSources

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
        """Return what was asked."""
        first, second = self.first, self.second
        if self.alternative == "less":
            first, second = second, first
        between = f"{first}, and which to {second}"
        if self.alternative != "two-sided":
            between = f"{first} than to {second}"
        count = counted(len(self.sources), "source")
        return self._asked(f"Which of {count} are more closely related to {between}")

    def sentence(self, alpha: float = 0.05) -> str:
        """Return how many sources are more closely related to each target."""
        claimed = self.is_discovery(alpha)
        more = int((claimed & (self.estimates > 0)).sum())
        said = sentences.scan_of_sources(
            self.first,
            self.second,
            (more, int(claimed.sum()) - more),
            len(self.sources),
            [self.sources[i] for i in self._strongest() if claimed[i]],
            alpha,
            self.alternative,
            self.provenance.scope,
        )
        return self._with_facts(said)

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

    def _shown_in_words(self) -> tuple[str, str]:
        return (
            f"Volcano plot of {len(self.sources):,} sources: differences against evidence.",
            f"On the right are sources more closely related to {self.first}, on the left those "
            f"more closely related to {self.second}; the higher, the stronger the evidence.",
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
    tests : ScannedTargets
    maxima : ndarray
        Simulated largest errors of all targets, sorted.
    confidence_level : float
        Of the intervals, which hold for all targets at once.
    """

    role = "targets"
    source: str
    tests: ScannedTargets
    maxima: FloatArray
    confidence_level: float

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets in the order given, without those that were skipped."""
        return self.variables

    @property
    def estimates(self) -> FloatArray:
        """The dependence of the source and every target."""
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
        level = self.confidence_level if alpha is None else 1 - alpha
        low, high = self.confidence_interval(level)
        shown = self.is_discovery(1 - level).tolist()
        return {
            "target": list(self.targets),
            "estimate": self.estimates.tolist(),
            **self._correlation_column(self._pairs(), self.estimates.tolist(), shown),
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
        """Return what was asked."""
        count = counted(len(self.targets), "target")
        return self._asked(f"Which of {count} are related to {self.source}")

    def sentence(self, alpha: float = 0.05) -> str:
        """Return how many targets are related to the source, and which most closely."""
        top = int(np.argmax(self.estimates))
        low, high = self.confidence_interval(1 - alpha)
        said = sentences.scan_of_targets(
            self.source,
            int(self.is_discovery(alpha).sum()),
            len(self.targets),
            sentences.Relation(self.targets[top], float(self.estimates[top])),
            (float(low[top]), float(high[top])),
            alpha,
            MEASURE_NAMES[self.measure],
            self.provenance.scope,
        )
        return self._with_facts(said)

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

    def _shown_in_words(self) -> tuple[str, str]:
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
