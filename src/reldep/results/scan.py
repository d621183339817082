"""The answers of scans: many sources against two targets, or one source against many targets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep import plotting
from reldep.data.checks import check_count, check_level
from reldep.description import Picture, Value
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.columns import as_table
from reldep.stats.intervals import Intervals
from reldep.words import MEASURE_NAMES, counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.description import Description
    from reldep.engine.centred import Pair
    from reldep.results.columns import Columns
    from reldep.stats.scan import ScannedSources, ScannedTargets

# Dots of a picture that have names: more would overlap.
LABELLED = 10

ADJUSTMENTS_IN_WORDS = {
    "single-step": "the largest statistic of all under their joint law",
    "holm": "Holm's procedure",
}


@dataclass(frozen=True, eq=False, repr=False)
class Screen(Answer):
    """What the answers about thousands of variables share.

    Attributes
    ----------
    log10_pvalues : ndarray, shape (S,)
        Decimal logarithms, which cannot underflow.
    fdr : ndarray, shape (S,)
        The false-discovery rate at which each would be claimed (Benjamini and Hochberg).
    adjusted_pvalues : ndarray, shape (S,)
        Adjusted for the number of variables, so that the chance of any false claim is kept.
    adjust : str
    skipped : tuple of (str, str)
        Variables that were left out, and why.
    notes : tuple of (str, str)
        Variables that a reader should look at, and what is to be said of them: many equal
        values, or a copy of what they are compared with.
    variables : tuple of str
        Those that were tested, in the order given.
    """

    role: ClassVar[str]

    log10_pvalues: FloatArray
    fdr: FloatArray
    adjusted_pvalues: FloatArray
    adjust: str
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    variables: tuple[str, ...]

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """The estimate of every variable."""

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of every variable by itself."""
        return np.asarray(10.0**self.log10_pvalues)

    def is_discovery(self, fdr: float = 0.05) -> BoolArray:
        """Return which variables are claimed if a share `fdr` of false claims is accepted."""
        return np.asarray(self.fdr <= check_level("fdr", fdr))

    def is_shown(self, alpha: float = 0.05) -> BoolArray:
        """Return which variables are claimed if any false claim is to have a chance of `alpha`."""
        return np.asarray(self.adjusted_pvalues <= alpha)

    def skipped_frame(self) -> Any:
        """Return a data frame of the variables that were left out, and why."""
        names, reasons = zip(*self.skipped, strict=True) if self.skipped else ((), ())
        return self._frame({"name": list(names), "reason": list(reasons)})

    def _strongest(self) -> IntArray:
        """Return the variables by their evidence, the strongest first."""
        return np.argsort(self.log10_pvalues, kind="stable")

    def _screened(
        self,
        alpha: float,
        asked: str,
        said: str,
        columns: Columns,
        caption: str,
        *,
        picture: tuple[str, str, str],
        numbers: Sequence[Value],
        note: str,
    ) -> Description:
        """Return the description of a scan; a picture is given by its axis, title and caption."""
        axis, title, text = picture
        draw = partial(
            plotting.volcano,
            self.estimates,
            self.log10_pvalues,
            self.variables,
            significant=self.is_discovery(alpha),
            top=LABELLED,
            xlabel=axis,
        )
        marked = f"Marked: false-discovery rate of at most {percent(alpha)}."
        n_found, n_shown = (
            int(one.sum()) for one in (self.is_discovery(alpha), self.is_shown(alpha))
        )
        skipped = [{"name": name, "reason": reason} for name, reason in self.skipped]
        return self._described(
            alpha,
            asked,
            [said],
            as_table(
                columns,
                caption,
                order=self._strongest().tolist(),
                shown="The {n:,} of {all:,} with the strongest evidence.",
            ),
            numbers=[
                Value("", self.role.capitalize(), f"{len(self.variables):,}"),
                Value("n_discoveries", f"At a false-discovery rate of {percent(alpha)}", n_found),
                Value("", f"At a {percent(alpha)} chance of any false claim", n_shown),
                Value("skipped", "Skipped", skipped, lambda rows: f"{len(rows):,}"),
                *numbers,
            ],
            pictures=[Picture(draw, title, f"{text} {marked}")],
            notes=[note],
            facts=[Value("adjust", "Adjustment of p-values", self.adjust)],
        )


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

    def _columns(self, alpha: float) -> Columns:  # noqa: ARG002
        """Return one row per source, in the order given."""
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
        """Return a data frame of both dependences of every source."""
        columns = {
            "source": list(self.sources),
            self.first: self.tests.values[:, 0].tolist(),
            self.second: self.tests.values[:, 1].tolist(),
            "n_observations": self.tests.n.tolist(),
        }
        return self._frame(columns)

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        first, second, measure = self.first, self.second, MEASURE_NAMES[self.measure]
        between = {"greater": f"{first} than to {second}", "less": f"{second} than to {first}"}
        asked = between.get(self.alternative, f"{first}, and which to {second}")
        claimed = self.is_discovery(alpha)
        more, n = int((claimed & (self.estimates > 0)).sum()), len(self.sources)
        clearest = [self.sources[i] for i in self._strongest() if claimed[i]]
        counts, setting = (more, int(claimed.sum()) - more), self._setting(alpha)
        return self._screened(
            alpha,
            f"Which of {counted(n, 'source')} are more closely related to {asked}",
            sentences.scan_of_sources(
                (first, second), counts, n, clearest, self.alternative, setting
            ),
            self._columns(alpha),
            f"{measure} with {first} minus that with {second}, for every source; p-values by "
            "themselves, as false-discovery rates, and adjusted for all sources.",
            picture=(
                f"{measure} with {first} − with {second}",
                f"Volcano plot of {counted(n, 'source')}: differences against evidence.",
                f"On the right are sources more closely related to {first}, on the left those more "
                f"closely related to {second}; the higher, the stronger the evidence.",
            ),
            numbers=[
                Value("first", "", first),
                Value("second", "", second),
                Value("alternative", "", self.alternative),
            ],
            note="Every p-value is that of reldep.compare for the source alone. Adjusted p-values "
            "use degrees of freedom pooled over all sources and "
            f"{ADJUSTMENTS_IN_WORDS[self.adjust]}.",
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
        """Return intervals that cover the dependences on all targets at once."""
        return Intervals(*self.tests.intervals(self.maxima, self._level(confidence_level)))

    def as_correlation(self) -> dict[str, float]:
        """Return every dependence as the correlation of two normal variables that have it.

        Between 0 and 1, by target; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self._pairs(), self.estimates.tolist())
        return dict(zip(self.targets, found, strict=True))

    def _pairs(self) -> list[Pair]:
        return [(self.source, target) for target in self.targets]

    def _columns(self, alpha: float) -> Columns:
        """Return one row per target, in the order given; intervals hold for all at once."""
        low, high = self.confidence_interval(1 - alpha)
        values, shown = self.estimates.tolist(), self.is_discovery(alpha).tolist()
        return {
            "target": list(self.targets),
            "estimate": values,
            **self._correlation_column(self._pairs(), values, shown),
            "standard_error": self.tests.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "pvalue": self.pvalues.tolist(),
            "fdr": self.fdr.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def best(self, k: int = 10) -> Any:
        """Return a data frame of the k targets with the strongest estimates.

        They were chosen on the same data, so that an interval for each by itself would be too
        optimistic. Intervals and ranges of ranks here hold for all targets at once, and so for
        any that are picked: as many are stronger as have their interval wholly above.
        """
        check_count("k", k, at_least=1)
        low, high = self.confidence_interval()
        chosen = np.argsort(-self.estimates, kind="stable")[:k]
        return self._frame(
            {
                "target": [self.targets[i] for i in chosen],
                "estimate": self.estimates[chosen].tolist(),
                "low": low[chosen].tolist(),
                "high": high[chosen].tolist(),
                "rank_low": [1 + int((low > high[i]).sum()) for i in chosen],
                "rank_high": [len(low) - int((high < low[i]).sum()) for i in chosen],
                "fdr": self.fdr[chosen].tolist(),
            }
        )

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, measure = self._columns(alpha), MEASURE_NAMES[self.measure]
        n, n_found = len(self.targets), int(self.is_discovery(alpha).sum())
        i = int(np.argmax(self.estimates))
        limits = (columns["low"][i], columns["high"][i])
        name, size = self.targets[i], columns["estimate"][i]
        strength = self._strength_at(i, (self.source, name), columns)
        top = sentences.Relation(name, size, limits=limits, strength=strength)
        return self._screened(
            alpha,
            f"Which of {counted(n, 'target')} are related to {self.source}",
            sentences.scan_of_targets(self.source, n_found, n, top, self._setting(alpha)),
            columns,
            f"{measure} of {self.source} with every target, {percent(1 - alpha)} intervals that "
            "hold for all at once, and p-values of independence.",
            picture=(
                f"{measure} with {self.source}",
                f"{counted(n, 'target')}: dependence against evidence.",
                "The further to the right, the stronger the dependence; the higher, the stronger "
                "the evidence that there is any.",
            ),
            numbers=[
                Value("source", "", self.source),
                Value("confidence_level", "", 1 - alpha),
            ],
            note="P-values are of independence. Intervals hold for all targets at once, and so for "
            f"those picked after looking; {len(self.maxima):,} draws.",
        )

    def __repr__(self) -> str:
        return (
            f"TargetScan({self.source!r}, {len(self.targets)} targets, "
            f"n_observations={self.n_observations})"
        )
