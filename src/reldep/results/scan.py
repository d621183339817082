"""The answers of scans: many sources against two targets, or one source against many targets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep import plotting
from reldep.data.checks import check_level
from reldep.description import Columns, Picture, Table, Value
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.stats.intervals import Intervals
from reldep.words import MEASURE_NAMES, counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import BoolArray, FloatArray
    from reldep.description import Description
    from reldep.engine.centred import Pair
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
    log10_pvalue : ndarray, shape (S,)
        Decimal logarithms, which cannot underflow.
    fdr : ndarray, shape (S,)
        The false-discovery rate at which each would be claimed (Benjamini and Hochberg).
    adjusted_pvalues : ndarray, shape (S,)
        Adjusted for the number of variables, so that the chance of any false claim is kept.
    adjust : str
    skipped : tuple of (str, str)
        Variables that were left out, and why.
    notes : tuple of (str, str)
        Variables that are copies of what they are compared with.
    variables : tuple of str
        Those that were tested, in the order given.
    """

    # What the variables are called, one and many.
    _role: ClassVar[tuple[str, str]]

    log10_pvalue: FloatArray
    fdr: FloatArray = field(repr=False)
    adjusted_pvalues: FloatArray = field(repr=False)
    adjust: str = field(repr=False)
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...] = field(repr=False)
    variables: tuple[str, ...] = field(repr=False)

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """The estimate of every variable."""

    @property
    def pvalue(self) -> FloatArray:
        """The p-value of every variable by itself."""
        return np.asarray(10.0**self.log10_pvalue)

    def is_discovery(self, fdr: float = 0.05) -> BoolArray:
        """Return which variables are claimed if a share `fdr` of false claims is accepted."""
        return np.asarray(self.fdr <= check_level("fdr", fdr))

    def _screened(
        self,
        alpha: float,
        asked: str,
        said: str,
        table: tuple[Columns, str, str],
        *,
        picture: tuple[str, str],
        numbers: Sequence[Value],
        note: str,
    ) -> Description:
        """Return the description of a scan.

        Parameters
        ----------
        alpha, asked, said, numbers, note
            See :meth:`Answer._described`.
        table : tuple
            Columns, caption and the heading of the estimates.
        picture : pair of str
            The axis of the estimates, and the caption.
        """
        (columns, caption, heading), (axis, text) = table, picture
        claimed, n = self.is_discovery(alpha), len(self.variables)
        draw = partial(
            plotting.volcano,
            self.estimates,
            self.log10_pvalue,
            self.variables,
            significant=claimed,
            top=LABELLED,
            xlabel=axis,
        )
        title = f"{counted(n, self._role[0])}: estimates against evidence."
        marked = f"Marked: false-discovery rate of at most {percent(alpha)}."
        n_shown = int((self.adjusted_pvalues <= alpha).sum())
        rate = f"At a false-discovery rate of {percent(alpha)}"
        skipped = [{"name": name, "reason": reason} for name, reason in self.skipped]
        return self._described(
            alpha,
            asked,
            [said],
            Table.of(
                columns,
                caption,
                {"estimate": heading},
                order=self._strongest(),
                shown="The {n:,} of {all:,} with the strongest evidence.",
            ),
            numbers=[
                Value("", self._role[1].capitalize(), f"{n:,}"),
                Value("n_discoveries", rate, int(claimed.sum())),
                Value("", f"At a {percent(alpha)} chance of any false claim", n_shown),
                Value("skipped", "Skipped", skipped, lambda rows: f"{len(rows):,}"),
                *numbers,
            ],
            pictures=[Picture(draw, title, f"{text} {marked}")],
            notes=[note],
            facts=[Value("adjust", "Adjustment of p-values", self.adjust)],
        )

    def _strongest(self) -> list[int]:
        """Return the variables by their evidence, the strongest first."""
        return [int(i) for i in np.argsort(self.log10_pvalue, kind="stable")]

    def _evidence(self) -> Columns:
        return {
            "pvalue": self.pvalue.tolist(),
            "fdr": self.fdr.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
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

    _shown = ("first", "second")
    _role = ("source", "sources")

    first: str
    second: str
    alternative: str
    tests: ScannedSources = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The difference of the two dependences, for every source."""
        return self.tests.estimate

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources in the order given, without those that were skipped."""
        return self.variables

    def _columns(self, alpha: float) -> Columns:  # noqa: ARG002
        """Return one row per source, in the order given."""
        return {
            "source": list(self.sources),
            "n": self.tests.n.tolist(),
            "estimate_first": self.tests.values[:, 0].tolist(),
            "estimate_second": self.tests.values[:, 1].tolist(),
            "estimate": self.tests.estimate.tolist(),
            "standard_error": self.tests.standard_error.tolist(),
            "statistic": self.tests.statistic.tolist(),
            **self._evidence(),
        }

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        first, second, measure = self.first, self.second, MEASURE_NAMES[self.measure]
        between = {"greater": f"{first} than to {second}", "less": f"{second} than to {first}"}
        asked = between.get(self.alternative, f"{first}, and which to {second}")
        claimed, n = self.is_discovery(alpha), len(self.sources)
        more = int((claimed & (self.estimates > 0)).sum())
        counts = (more, int(claimed.sum()) - more)
        clearest = [self.sources[i] for i in self._strongest() if claimed[i]]
        caption = (
            f"{measure} with {first} and with {second}, and the first minus the second, for every "
            "source; p-values by themselves, as false-discovery rates, and adjusted for all "
            "sources."
        )
        return self._screened(
            alpha,
            f"Which of {counted(n, 'source')} are more closely related to {asked}",
            sentences.scan_of_sources(
                (first, second), counts, n, clearest, self.alternative, self._setting(alpha)
            ),
            (self._columns(alpha), caption, "difference"),
            picture=(
                f"{measure} with {first} − with {second}",
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

    _shown = ("source",)
    _role = ("target", "targets")

    source: str
    tests: ScannedTargets = field(repr=False)
    maxima: FloatArray = field(repr=False)
    confidence_level: float = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The dependence of the source and every target."""
        return self.tests.values

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets in the order given, without those that were skipped."""
        return self.variables

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
        """Return one row per target, in the order given; intervals hold for all at once.

        So do the ranges of ranks, also for targets picked after looking: as many are stronger as
        have their interval wholly above.
        """
        low, high = self.confidence_interval(1 - alpha)
        own = (self.estimates, self.tests.standard_error, (low, high), self.is_discovery(alpha))
        n = len(low)
        above = n - np.searchsorted(np.sort(low), high, side="right")
        below = np.searchsorted(np.sort(high), low, side="left")
        return {
            "target": list(self.targets),
            "n": self.tests.n.tolist(),
            **self._estimate_columns(self._pairs(), *own),
            "rank_low": (1 + above).tolist(),
            "rank_high": (n - below).tolist(),
            **self._evidence(),
        }

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, measure = self._columns(alpha), MEASURE_NAMES[self.measure]
        shown, n = self.is_discovery(alpha), len(self.targets)
        # A larger estimate that is not shown to differ from 0 is not the strongest relation.
        i = int(
            np.argmax(np.where(shown, self.estimates, -np.inf) if shown.any() else self.estimates)
        )
        top = sentences.Relation(
            self.targets[i],
            columns["estimate"][i],
            limits=(columns["low"][i], columns["high"][i]),
            strength=self._strength(self._pairs(), columns, [i]),
        )
        said = sentences.how_many_are_related(
            counted(n, "target"),
            int(shown.sum()),
            f"related to {self.source}",
            top,
            "false-discovery rate",
            self._setting(alpha),
        )
        caption = (
            f"{measure} of {self.source} with every target, {percent(1 - alpha)} intervals and "
            "ranges of ranks that hold for all at once, and p-values of independence."
        )
        return self._screened(
            alpha,
            f"Which of {counted(n, 'target')} are related to {self.source}",
            said,
            (columns, caption, measure),
            picture=(
                f"{measure} with {self.source}",
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
