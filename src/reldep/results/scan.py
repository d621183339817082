"""The answers of scans: many sources against two targets, or one source against many targets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from reldep import plotting
from reldep.arguments import check_level
from reldep.data.variables import BoolArray, FloatArray
from reldep.description import Columns, Picture, Value, unseen
from reldep.engine.centred import Pair
from reldep.results import sentences
from reldep.results.answer import Answer, columns_of
from reldep.results.strength import OfDependences, strongest_shown
from reldep.stats.intervals import Intervals
from reldep.stats.scan import ScannedSources, ScannedTargets
from reldep.words import counted, listed, percent

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

    # What a variable is called.
    _role: ClassVar[str]

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

    def _cut(self) -> dict[str, Any]:
        order = np.argsort(self.log10_pvalue, kind="stable").tolist()
        return {"order": order, "shown": "The {n:,} of {all:,} with the strongest evidence."}

    def _numbers(self, at: sentences.Setting) -> list[Value]:
        n_shown = int((self.adjusted_pvalues <= at.alpha).sum())
        rate = f"At a false-discovery rate of {percent(at.alpha)}"
        skipped = [{"name": name, "reason": reason} for name, reason in self.skipped]
        return [
            Value("", f"{self._role.capitalize()}s", f"{len(self.variables):,}"),
            Value("n_discoveries", rate, int(self.is_discovery(at.alpha).sum())),
            Value("", f"At a {percent(at.alpha)} chance of any false claim", n_shown),
            Value("skipped", "Skipped", skipped, lambda rows: f"{len(rows):,}"),
        ]

    def _volcano(self, at: sentences.Setting, axis: str, caption: str) -> list[Picture]:
        """Return estimates against evidence, with the name of their axis."""
        draw = partial(
            plotting.volcano,
            self.estimates,
            self.log10_pvalue,
            self.variables,
            significant=self.is_discovery(at.alpha),
            xlabel=f"{at.measure} with {axis}",
        )
        title = f"{counted(len(self.variables), self._role)}: estimates against evidence."
        marked = f"Marked: false-discovery rate of at most {percent(at.alpha)}."
        return [Picture(draw, title, f"{caption} {marked}")]

    def _own_facts(self) -> list[Value]:
        return [Value("adjust", "Adjustment of p-values", self.adjust)]

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
    _role = "source"
    _estimates_are = "difference"

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
            **columns_of(self.tests),
            **self._evidence(),
        }

    def _asked(self) -> str:
        first, second, n = self.first, self.second, counted(len(self.sources), "source")
        between = {"greater": f"{first} than to {second}", "less": f"{second} than to {first}"}
        asked = between.get(self.alternative, f"{first}, and which to {second}")
        return f"Which of {n} are more closely related to {asked}"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        own = unseen(first=self.first, second=self.second, alternative=self.alternative)
        return [self._claim(at)], [*self._numbers(at), *own]

    def _claim(self, at: sentences.Setting) -> str:
        """Return how many sources are more closely related to each of the two targets."""
        claimed, two_sided = self.is_discovery(at.alpha), self.alternative == "two-sided"
        n, m = (int((claimed & (sign * self.estimates > 0)).sum()) for sign in (1, -1))
        first, second = self.first, self.second
        if self.alternative == "less" or (two_sided and m and not n):
            first, n, second, m = second, m, first, n
        other = f"than to {second}"
        if two_sided:
            other = f"and {m:,} to {second}" if m else f"{'and none' if n else 'or'} to {second}"
        rate = f"(false-discovery rate {percent(at.alpha)})"
        clause = f"{sentences.are(n)} more closely related to {first} {other}{at.given} {rate}"
        clearest = [i for i in np.argsort(self.log10_pvalue, kind="stable") if claimed[i]]
        names = listed([self.sources[i] for i in clearest], 5)
        also = f"The clearest: {names}." if clearest else ""
        return at.say(f"of {counted(len(claimed), 'source')}, {clause}", also)

    def _caption(self, at: sentences.Setting) -> str:
        return (
            f"{at.measure} with {self.first} and with {self.second}, and the first minus the "
            "second, for every source; p-values by themselves, as false-discovery rates, and "
            "adjusted for all sources."
        )

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        return self._volcano(
            at,
            f"{self.first} − with {self.second}",
            f"On the right are sources more closely related to {self.first}, on the left those "
            f"more closely related to {self.second}; the higher, the stronger the evidence.",
        )

    def _notes(self) -> list[str]:
        return [
            "Every p-value is that of reldep.compare for the source alone. Adjusted p-values use "
            "degrees of freedom pooled over all sources and "
            f"{ADJUSTMENTS_IN_WORDS[self.adjust]}."
        ]


@dataclass(frozen=True, eq=False, repr=False)
class TargetScan(Screen, OfDependences):
    """The answer of :func:`reldep.scan` for one source and many targets.

    Attributes
    ----------
    source : str
    tests : ScannedTargets
    kernels : tuple of mapping
        The fitted kernel of every target.
    maxima : ndarray
        Simulated largest errors of all targets, sorted.
    confidence_level : float
        Of the intervals, which hold for all targets at once.
    """

    _shown = ("source",)
    _role = "target"

    source: str
    tests: ScannedTargets = field(repr=False)
    kernels: tuple[Mapping[str, Any], ...] = field(repr=False)
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

    @cached_property
    def _pairs(self) -> list[Pair]:
        return [(self.source, target) for target in self.targets]

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.targets

    @property
    def _kernels(self) -> Mapping[str, Mapping[str, Any]]:
        own = dict(zip(self.targets, self.kernels, strict=True))
        return {**self.provenance.kernels, **own}

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
            **self._estimate_columns(*own),
            "rank_low": (1 + above).tolist(),
            "rank_high": (n - below).tolist(),
            **self._evidence(),
        }

    def _asked(self) -> str:
        return f"Which of {counted(len(self.targets), 'target')} are related to {self.source}"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        shown = self.is_discovery(at.alpha)
        i = strongest_shown(self.estimates, shown)
        said = sentences.how_many_are_related(
            counted(len(shown), "target"),
            int(shown.sum()),
            f"related to {self.source}",
            self._relation(at, i, self.targets[i]),
            "false-discovery rate",
            at,
        )
        own = unseen(source=self.source, confidence_level=1 - at.alpha)
        return [said], [*self._numbers(at), *own]

    def _caption(self, at: sentences.Setting) -> str:
        return (
            f"{at.measure} of {self.source} with every target, {at.level} intervals and ranges of "
            "ranks that hold for all at once, and p-values of independence."
        )

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        return self._volcano(
            at,
            self.source,
            "The further to the right, the stronger the dependence; the higher, the stronger the "
            "evidence that there is any.",
        )

    def _notes(self) -> list[str]:
        return [
            "P-values are of independence. Intervals hold for all targets at once, and so for "
            f"those picked after looking; {len(self.maxima):,} draws."
        ]
