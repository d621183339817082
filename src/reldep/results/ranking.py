"""The answer about many targets: which dependence is the strongest, and in what order?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.description import Picture, Value
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.columns import as_rows, as_table
from reldep.stats.simultaneous import critical_value, holm
from reldep.stats.units import NORMALISED
from reldep.words import MEASURE_NAMES, listed, percent

if TYPE_CHECKING:
    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.description import Description
    from reldep.engine.centred import Pair
    from reldep.engine.influence import Influence
    from reldep.results.columns import Columns
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

    source: str
    targets: tuple[str, ...]
    dependences: Estimates
    comparisons: Pairwise
    adjusted_pvalues: FloatArray
    standing: Ranks
    target_maxima: FloatArray
    adjust: str
    confidence_level: float
    influence: Influence
    relation_pvalues: tuple[float | None, ...]

    @property
    def estimates(self) -> FloatArray:
        """The dependence on every target."""
        return self.dependences.values

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the estimates."""
        return self.dependences.covariance

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every estimate."""
        return self.dependences.standard_errors

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of the source with every target."""
        return self.dependences.pairs

    @property
    def ranks(self) -> IntArray:
        """The rank of every target; 1 is the strongest, ties share the smaller number."""
        return self.standing.ranks

    @property
    def may_be_best(self) -> BoolArray:
        """Which targets cannot be excluded from being the strongest."""
        return np.asarray(self.standing.best_pvalues > 1.0 - self.confidence_level)

    @property
    def best(self) -> tuple[str, ...]:
        """The targets that may be the strongest, the strongest estimate first."""
        return tuple(self.targets[i] for i in self._strongest_first() if self.may_be_best[i])

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
        found = self._correlations(self.pairs, self.estimates.tolist())
        return dict(zip(self.targets, found, strict=True))

    def _columns(self, alpha: float) -> Columns:
        """Return one row per target, the strongest first."""
        order = self._strongest_first()
        low, high = self.confidence_interval(1 - alpha)
        adjusted = self._adjusted_relations()
        shown = np.where(np.isnan(adjusted), low > 0, adjusted < alpha).tolist()
        rank_low, rank_high = self.standing.ranges(self.confidence_level)
        columns: dict[str, Any] = {
            "estimate": self.estimates,
            **self._correlation_column(self.pairs, self.estimates.tolist(), shown),
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
            "rank": self.ranks,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "may_be_best": self.may_be_best,
        }
        names = {"target": [self.targets[i] for i in order]}
        return names | {key: np.asarray(column)[order].tolist() for key, column in columns.items()}

    def pairwise(self, confidence_level: float | None = None) -> Any:
        """Return a data frame with one row per pair of targets, in the order given.

        The columns are ``first``, ``second``, ``difference`` (first minus second),
        ``standard_error``, ``statistic``, ``pvalue``, ``adjusted_pvalue`` and the limits ``low``
        and ``high`` of intervals that cover all differences at once. Targets that are copies of
        each other have a difference and a standard error of 0 and p-values of 1.
        """
        return self._frame(self._pairwise(confidence_level))

    def _pairwise(self, confidence_level: float | None) -> Columns:
        found = self.comparisons
        maxima = self.standing.maxima
        low, high = found.intervals(critical_value(maxima, self._level(confidence_level)))
        if self.measure in NORMALISED:
            # Two numbers from 0 to 1 differ by 1 at the most.
            low, high = np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
        return {
            "first": [self.targets[i] for i in found.first],
            "second": [self.targets[i] for i in found.second],
            "difference": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "statistic": found.statistic.tolist(),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, pairwise = self._columns(alpha), self._pairwise(self.confidence_level)
        own = percent(self.confidence_level)
        caption = (
            f"Estimates with standard errors and {percent(1 - alpha)} intervals that hold for all "
            f"targets at once. The ranges of ranks hold together too, at {own}. A target that is "
            "not among the possibly best has a range that starts at 2 or above: comparing each "
            "target with the best is a sharper test than comparing all pairs."
        )
        note = "Intervals, ranks and the set of the best hold for all targets at once"
        return self._described(
            alpha,
            f"To which of {len(self.targets):,} targets is {self.source} most closely related",
            self._said(alpha, columns),
            as_table(columns, caption),
            numbers=[
                Value("best", f"May be the strongest ({own})", self.best, listed),
                Value("", "Targets", f"{len(self.targets):,}"),
                Value("source", "", self.source),
                Value("confidence_level", "", self.confidence_level),
                Value("pairwise", "", as_rows(pairwise)),
            ],
            pictures=self._pictures(columns, alpha),
            notes=[f"{note}; {len(self.target_maxima)} draws.", *self._unlike(self.targets)],
            facts=[Value("adjust", "Adjustment of p-values", self.adjust)],
            references=["ranking"],
        )

    def _said(self, alpha: float, columns: Columns) -> list[str]:
        """Return which targets may be the strongest, and how many are not shown to be related."""
        order, pvalues = self._strongest_first(), self.standing.best_pvalues
        best = [self.targets[i] for i in order if pvalues[i] > alpha]
        limits = (columns["low"][0], columns["high"][0])
        strength = self._strength_at(0, self.pairs[order[0]], columns)
        name, size = columns["target"][0], columns["estimate"][0]
        top = sentences.Relation(name, size, limits=limits, strength=strength)
        n = len(self.targets)
        said = sentences.ranking(self.source, best, n, top, self._setting(alpha))
        doubtful = int((self._adjusted_relations() >= alpha).sum())
        if not doubtful:
            return [said]
        count = f"{doubtful:,} of them {'is' if doubtful == 1 else 'are'} not"
        if doubtful == n:
            count = "None of them is"
        return [said, f"{count} shown to be related to {self.source}."]

    def _adjusted_relations(self) -> FloatArray:
        """Return p-values of independence, allowing for their number; NaN where not known."""
        adjusted = np.array([np.nan if p is None else p for p in self.relation_pvalues])
        known = np.isfinite(adjusted)
        adjusted[known] = holm(adjusted[known])
        return adjusted

    def _pictures(self, columns: Columns, alpha: float) -> tuple[Picture, ...]:
        """Return the targets with their intervals, and which of them differ."""
        level, own = percent(1 - alpha), percent(self.confidence_level)
        measure = MEASURE_NAMES[self.measure]
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
            alpha=round(1.0 - self.confidence_level, 12),
            measure=self.measure,
        )
        return (
            Picture(
                targets,
                f"Dependence of {self.source} and each target with its interval, the strongest on "
                f"top; possibly the strongest: {listed(self.best)}.",
                f"Targets from the strongest to the weakest. Intervals ({level}) and the ranks at "
                f"the right ({own}) hold for all targets at once; diamonds may be the strongest.",
            ),
            *self._ruler(self.pairs, columns),
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
        place = np.argsort(self._strongest_first())
        rows, columns = place[found.first], place[found.second]
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        difference, adjusted = np.zeros((n, n)), np.ones((n, n))
        difference[low, high] = np.where(rows < columns, 1.0, -1.0) * found.estimate
        adjusted[low, high] = self.adjusted_pvalues
        return difference, adjusted

    def _strongest_first(self) -> IntArray:
        return np.asarray(np.lexsort((-self.estimates, self.ranks)))

    def __repr__(self) -> str:
        return (
            f"Ranking(source={self.source!r}, targets={len(self.targets)}, best={self.best!r}, "
            f"n_observations={self.n_observations})"
        )
