"""The answer about many targets: which dependence is the strongest, and in what order?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.description import Columns, Picture, Value, as_rows
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.stats.simultaneous import critical_value, holm
from reldep.stats.units import NORMALISED
from reldep.words import MEASURE_NAMES, listed, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.description import Description
    from reldep.engine.influence import Influence
    from reldep.stats.estimates import Estimates
    from reldep.stats.intervals import Intervals
    from reldep.stats.simultaneous import Pairwise, Ranks

# Targets in the picture of a ranking: more rows would be too small to read.
MOST_DRAWN = 60


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Answer):
    """The answer of :func:`reldep.rank`: to which targets is the source most closely related?

    Arrays follow the order in which the targets were given; the tables start with the
    strongest.

    Attributes
    ----------
    source : str
    targets : tuple of str
    dependences : Estimates
        The dependence on every target, with all that inference needs.
    comparisons : Pairwise
        All pairwise differences with their standard errors, statistics and p-values.
    adjusted_pvalues : ndarray
        Their p-values, adjusted for their number.
    standing : Ranks
        Ranks, their confidence limits, and the p-value of being the best.
    target_maxima : ndarray
        Simulated largest errors of the targets, sorted; their quantiles are the simultaneous
        critical values.
    adjust : {"single-step", "step-down", "holm", "bh"}
    confidence_level : float
        Of the intervals, the set of the best and the ranks, each for all targets at once.
    influence : Influence
    relation_pvalues : tuple of float or None
        The p-value of independence of the source and every target.
    """

    _shown = ("source", "best")

    source: str
    targets: tuple[str, ...]
    dependences: Estimates = field(repr=False)
    comparisons: Pairwise = field(repr=False)
    adjusted_pvalues: FloatArray = field(repr=False)
    standing: Ranks = field(repr=False)
    target_maxima: FloatArray = field(repr=False)
    adjust: str = field(repr=False)
    confidence_level: float = field(repr=False)
    influence: Influence
    relation_pvalues: tuple[float | None, ...] = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The dependence on every target."""
        return self.dependences.values

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the estimates."""
        return self.dependences.covariance

    @property
    def ranks(self) -> IntArray:
        """The rank of every target; 1 is the strongest, ties share the smaller number."""
        return self.standing.ranks

    @property
    def best(self) -> tuple[str, ...]:
        """The targets that may be the strongest, the strongest estimate first."""
        return self._best(self._alpha(None))

    def confidence_interval(self, confidence_level: float | None = None) -> Intervals:
        """Return intervals that cover the dependences on all targets at once.

        They are not symmetric around the estimate: the intervals of weak dependences reach
        further up than down.

        Parameters
        ----------
        confidence_level : float, optional
            By default that of the ranking.

        Returns
        -------
        low, high : ndarray, shape (p,)
            A named tuple.
        """
        level = self._level(confidence_level)
        return self.dependences.simultaneous_intervals(self.target_maxima, level)

    def as_correlation(self) -> dict[str, float]:
        """Return every dependence as the correlation of two normal variables that have it.

        Between 0 and 1, by target; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self.dependences.pairs, self.estimates.tolist())
        return dict(zip(self.targets, found, strict=True))

    def pairwise(self, confidence_level: float | None = None) -> Any:
        """Return a data frame with one row per pair of targets, in the order given.

        ``estimate`` is the difference, ``first`` minus ``second``. The limits ``low`` and ``high``
        and ``adjusted_pvalue`` hold for all pairs at once. Targets that are copies of each other
        have a difference and a standard error of 0 and p-values of 1.
        """
        return self._frame(self._pairwise(self._level(confidence_level)))

    def _order(self) -> IntArray:
        """Return the targets from the strongest to the weakest."""
        return np.asarray(np.lexsort((-self.estimates, self.ranks)))

    def _best(self, alpha: float) -> tuple[str, ...]:
        pvalues = self.standing.best_pvalues
        return tuple(self.targets[i] for i in self._order() if pvalues[i] > alpha)

    def _columns(self, alpha: float) -> Columns:
        """Return one row per target, the strongest first."""
        order, found = self._order(), self.dependences
        low, high = self.confidence_interval(1 - alpha)
        adjusted = self._adjusted_relations()
        shown = np.where(np.isnan(adjusted), low > 0, adjusted < alpha)
        rank_low, rank_high = self.standing.ranges(1 - alpha)
        ranks = {
            "rank": self.ranks,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "may_be_best": self.standing.best_pvalues > alpha,
        }
        return {
            "target": [self.targets[i] for i in order],
            **self._estimate_columns(
                [found.pairs[i] for i in order],
                found.values[order],
                found.standard_errors[order],
                (low[order], high[order]),
                shown[order],
            ),
            **{name: column[order].tolist() for name, column in ranks.items()},
        }

    def _pairwise(self, level: float) -> Columns:
        found = self.comparisons
        low, high = found.intervals(critical_value(self.standing.maxima, level))
        if self.measure in NORMALISED:
            # Two numbers from 0 to 1 differ by 1 at the most.
            low, high = np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
        return {
            "first": [self.targets[i] for i in found.first],
            "second": [self.targets[i] for i in found.second],
            "estimate": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "statistic": found.statistic.tolist(),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def _adjusted_relations(self) -> FloatArray:
        """Return p-values of independence, allowing for their number; NaN where not known."""
        adjusted = np.array([np.nan if p is None else p for p in self.relation_pvalues])
        known = np.isfinite(adjusted)
        adjusted[known] = holm(adjusted[known])
        return adjusted

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, level, best = self._columns(alpha), percent(1 - alpha), self._best(alpha)
        caption = (
            f"Estimates with standard errors and {level} intervals that hold for all targets at "
            "once, as do the ranges of ranks. A target that is not among the possibly best has a "
            "range that starts at 2 or above: comparing each target with the best is a sharper "
            "test than comparing all pairs."
        )
        n, closely = len(self.targets), "more" if len(self.targets) == 2 else "most"
        note = "Intervals, ranks and the set of the best hold for all targets at once"
        return self._described(
            alpha,
            f"To which of {n:,} targets is {self.source} {closely} closely related",
            self._said(alpha, best, columns),
            self._table(columns, caption),
            numbers=[
                Value("best", f"May be the strongest ({level})", best, listed),
                Value("", "Targets", f"{n:,}"),
                Value("source", "", self.source),
                Value("confidence_level", "", 1 - alpha),
                Value("pairwise", "", as_rows(self._pairwise(1 - alpha))),
            ],
            pictures=self._pictures(columns, best, alpha),
            notes=[f"{note}; {len(self.target_maxima):,} draws.", *self._unlike(self.targets)],
            facts=[Value("adjust", "Adjustment of p-values", self.adjust)],
            references=["ranking"],
        )

    def _said(self, alpha: float, best: Sequence[str], columns: Columns) -> list[str]:
        """Return which targets may be the strongest, and which are not shown to be related."""
        order, n = self._order(), len(self.targets)
        top = sentences.Relation(
            columns["target"][0],
            columns["estimate"][0],
            limits=(columns["low"][0], columns["high"][0]),
            strength=self._strength([self.dependences.pairs[order[0]]], columns, [0]),
        )
        pvalues = self._adjusted_relations()
        relations = [
            sentences.Relation(self.targets[i], float(self.estimates[i]), float(pvalues[i]))
            for i in order
        ]
        return [
            sentences.ranking(self.source, best, n, top, self._setting(alpha)),
            sentences.not_shown(relations, alpha, f" to {self.source}"),
        ]

    def _pictures(self, columns: Columns, best: Sequence[str], alpha: float) -> tuple[Picture, ...]:
        """Return the targets with their intervals, and which of them differ."""
        level, measure = percent(1 - alpha), MEASURE_NAMES[self.measure]
        drawn = {name: column[:MOST_DRAWN] for name, column in columns.items()}
        targets = partial(
            plotting.ranking,
            drawn["target"],
            drawn["estimate"],
            drawn["low"],
            drawn["high"],
            list(zip(drawn["rank_low"], drawn["rank_high"], strict=True)),
            drawn["may_be_best"],
            xlabel=f"{measure} with {self.source}, simultaneous {level} intervals",
            hidden=max(0, len(self.targets) - MOST_DRAWN),
        )
        pairs = partial(
            plotting.pairwise,
            columns["target"],
            *self._by_strength(),
            alpha=alpha,
            measure=self.measure,
        )
        in_order = [self.dependences.pairs[i] for i in self._order()]
        return (
            Picture(
                targets,
                f"Dependence of {self.source} and each target with its interval, the strongest on "
                f"top; possibly the strongest: {listed(best)}.",
                f"Targets from the strongest to the weakest. Intervals and the ranks at the right "
                f"({level}) hold for all targets at once; diamonds may be the strongest.",
            ),
            *self._ruler(in_order, columns),
            Picture(
                pairs,
                f"Matrix of the differences between all {len(self.targets)} targets.",
                "Which targets differ: each cell compares the stronger target, its row, with the "
                "weaker, its column. Coloured cells differ significantly, all pairs considered at "
                "once.",
            ),
        )

    def _by_strength(self) -> tuple[FloatArray, FloatArray]:
        """Return differences, row minus column, and adjusted p-values, the strongest first."""
        found, n = self.comparisons, len(self.targets)
        place = np.argsort(self._order())
        rows, columns = place[found.first], place[found.second]
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        difference, adjusted = np.zeros((n, n)), np.ones((n, n))
        difference[low, high] = np.where(rows < columns, 1.0, -1.0) * found.estimate
        adjusted[low, high] = self.adjusted_pvalues
        return difference, adjusted
