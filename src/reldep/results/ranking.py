"""The answer about many targets: which dependence is the strongest, and in what order?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from reldep import plotting
from reldep.data.variables import FloatArray, IntArray
from reldep.description import Columns, Picture, Value, as_rows, unseen
from reldep.results import sentences
from reldep.results.strength import AtOnce
from reldep.stats.simultaneous import Pairwise, Ranks, critical_value, holm
from reldep.words import either, listed


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(AtOnce):
    """The answer of :func:`reldep.rank`: to which targets is the source most closely related?

    Arrays follow the order in which the targets were given; the tables start with the
    strongest.

    Attributes
    ----------
    source : str
    targets : tuple of str
    comparisons : Pairwise
        All pairwise differences with their standard errors, statistics and p-values.
    standing : Ranks
        Ranks, their confidence limits, and the p-value of being the best.
    """

    _shown = ("source", "best")
    _references = ("ranking",)

    source: str
    targets: tuple[str, ...]
    comparisons: Pairwise = field(repr=False)
    standing: Ranks = field(repr=False)

    @property
    def ranks(self) -> IntArray:
        """The rank of every target; 1 is the strongest, ties share the smaller number."""
        return self.standing.ranks

    @property
    def best(self) -> tuple[str, ...]:
        """The targets that may be the strongest, the strongest estimate first."""
        return self._best(self._alpha(None))

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.targets

    @cached_property
    def _order(self) -> list[int]:
        return [*map(int, np.lexsort((-self.estimates, self.ranks)))]

    def pairwise(self, confidence_level: float | None = None) -> Any:
        """Return a data frame with one row per pair of targets, in the order given.

        ``estimate`` is the difference, ``first`` minus ``second``. The limits ``low`` and ``high``
        and ``adjusted_pvalue`` hold for all pairs at once. Targets that are copies of each other
        have a difference and a standard error of 0 and p-values of 1.
        """
        return self._frame(self._pairwise(self._level(confidence_level)))

    def _best(self, alpha: float) -> tuple[str, ...]:
        pvalues = self.standing.best_pvalues
        return tuple(self.targets[i] for i in self._order if pvalues[i] > alpha)

    def _columns(self, alpha: float) -> Columns:
        """Return one row per target, the strongest first."""
        found, adjusted = self.dependences, self._adjusted_relations
        low, high = self.confidence_interval(1 - alpha)
        shown = np.where(np.isnan(adjusted), low > 0, adjusted < alpha)
        rank_low, rank_high = self.standing.ranges(1 - alpha)
        columns = {
            "target": self.targets,
            **self._estimate_columns(found.values, found.standard_errors, (low, high), shown),
            "rank": self.ranks.tolist(),
            "rank_low": rank_low.tolist(),
            "rank_high": rank_high.tolist(),
            "may_be_best": (self.standing.best_pvalues > alpha).tolist(),
        }
        return {name: [column[i] for i in self._order] for name, column in columns.items()}

    def _pairwise(self, level: float) -> Columns:
        found = self.comparisons
        limits = found.intervals(critical_value(self.standing.maxima, level))
        return self._differences_of(self.targets, found, limits, self.adjusted_pvalues)

    @cached_property
    def _adjusted_relations(self) -> FloatArray:
        """P-values of independence, allowing for their number; NaN where not known."""
        adjusted = np.array([np.nan if p is None else p for p in self._relation_pvalues])
        known = np.isfinite(adjusted)
        adjusted[known] = holm(adjusted[known])
        return adjusted

    def _asked(self) -> str:
        n, closely = len(self.targets), "more" if len(self.targets) == 2 else "most"
        return f"To which of {n:,} targets is {self.source} {closely} closely related"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        best, level = self._best(at.alpha), 1 - at.alpha
        top = self._relation(at, 0, at.columns["target"][0])
        pvalues = [float(self._adjusted_relations[i]) for i in self._order]
        found = zip(at.columns["target"], at.columns["estimate"], pvalues, strict=True)
        relations = [sentences.Relation(*one) for one in found]
        said = [
            self._claim(best, top, at),
            sentences.not_shown(relations, at.alpha, f" to {self.source}"),
        ]
        numbers = [
            Value("best", f"May be the strongest ({at.level})", best, listed),
            Value("", "Targets", f"{len(self.targets):,}"),
            *unseen(source=self.source, confidence_level=level),
            *unseen(pairwise=as_rows(self._pairwise(level))),
        ]
        return said, numbers

    def _claim(self, best: Sequence[str], top: sentences.Relation, at: sentences.Setting) -> str:
        """Return to which targets the source may be most closely related."""
        n, sure = len(self.targets), f"{at.given} ({at.level} confidence)"
        start, closely = f"of {n:,} targets, {self.source}", "more" if n == 2 else "most"
        if len(best) == 1:
            claim = f"{start} is {closely} closely related to {best[0]}{sure}"
            return at.say(f"{claim}: {at.measure} {at.at_once(top)}")
        claim = f"{start} may be most closely related to {either(best)}{sure}"
        if len(best) == n:
            which = f"to which of {n:,} targets {self.source} is {closely} closely related{sure}"
            claim = f"it is undecided {which}"
        return at.say(f"{claim}; {at.largest(top)}")

    def _caption(self, at: sentences.Setting) -> str:
        return (
            f"Estimates with standard errors and {at.level} intervals that hold for all targets at "
            "once, as do the ranges of ranks. A target that is not among the possibly best has a "
            "range that starts at 2 or above: comparing each target with the best is a sharper "
            "test than comparing all pairs."
        )

    def _notes(self) -> list[str]:
        note = (
            "Intervals, ranks (but for exact ties) and the set of the best hold for all targets at "
            f"once; {len(self.maxima):,} draws."
        )
        return [note, *self._unlike(self.targets)]

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        # More rows would be too small to read.
        drawn = {name: column[:60] for name, column in at.columns.items()}
        targets = partial(
            plotting.ranking,
            drawn["target"],
            drawn["estimate"],
            drawn["low"],
            drawn["high"],
            list(zip(drawn["rank_low"], drawn["rank_high"], strict=True)),
            drawn["may_be_best"],
            xlabel=f"{at.measure} with {self.source}, simultaneous {at.level} intervals",
            hidden=len(self.targets) - len(drawn["target"]),
        )
        pairs = partial(
            plotting.pairwise,
            at.columns["target"],
            *self._by_strength(),
            alpha=at.alpha,
            measure=self.measure,
        )
        return [
            Picture(
                targets,
                f"Dependence of {self.source} and each target with its interval, the strongest on "
                f"top; possibly the strongest: {listed(self._best(at.alpha))}.",
                f"Targets from the strongest to the weakest. Intervals and the ranks at the right "
                f"({at.level}) hold for all targets at once; diamonds may be the strongest.",
            ),
            *self._ruler(at),
            Picture(
                pairs,
                f"Matrix of the differences between all {len(self.targets)} targets.",
                "Which targets differ: each cell compares the stronger target, its row, with the "
                "weaker, its column. Coloured cells differ significantly, all pairs considered at "
                "once.",
            ),
        ]

    def _by_strength(self) -> tuple[FloatArray, FloatArray]:
        """Return differences, row minus column, and adjusted p-values, the strongest first."""
        found, n = self.comparisons, len(self.targets)
        place = np.argsort(self._order)
        rows, columns = place[found.first], place[found.second]
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        difference, adjusted = np.zeros((n, n)), np.ones((n, n))
        difference[low, high] = np.where(rows < columns, 1.0, -1.0) * found.estimate
        adjusted[low, high] = self.adjusted_pvalues
        return difference, adjusted
