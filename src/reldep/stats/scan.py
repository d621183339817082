"""Thousands of comparisons on the same rows: one test each, and what holds for all of them.

Every source is tested as if it were alone. Degrees of freedom are pooled only for the p-values
that are adjusted for the number of sources, where the smallest of many counts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reldep.stats import student
from reldep.stats.estimates import degrees_of_freedom, estimates_of
from reldep.stats.intervals import Intervals, Score
from reldep.stats.pairwise import Tests, differences
from reldep.stats.simultaneous import (
    JointDraws,
    SingleArray,
    critical_value,
    holm,
    tail_probability,
)
from reldep.stats.units import ORDER, Units, square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.engine.scan import Batch, Batches, EngineBatches
    from reldep.stats.estimates import Estimates


def has_energy(batch: Batch) -> BoolArray:
    """Return which variables vary enough for a dependence to have a scale."""
    return np.asarray(batch.means[:, -1].mean(axis=1) > 0)


def batch_estimates(
    batches: Batches | EngineBatches,
    batch: Batch,
    measure: str,
    fixed_names: Sequence[str],
    share: float = 1.0,
) -> Estimates:
    """Estimate the dependence of each variable of a batch with each fixed one.

    The dependences of a variable stand next to each other, in the order of the fixed ones. For
    residuals, `share` is the share of the rows that they are worth.
    """
    n, width, m = batch.means.shape
    f = width - 1
    fixed, own = np.arange(f), f + np.arange(n)
    partners = np.column_stack([np.tile(fixed, (n, 1)), own])
    places = np.array(
        [np.r_[fixed, np.repeat(own, width)], np.r_[fixed, partners.ravel()]], dtype=np.int64
    )
    means = np.concatenate([batches.own_means, batch.means.reshape(-1, m)])
    moves = np.concatenate([batches.own_moves, batch.moves.reshape(-1, m)])
    hsics = square(f + n, places, means.mean(axis=1))
    hsics[:f, :f] = batches.hsics
    names = [*fixed_names, *(f"variable {i}" for i in range(n))]
    units = Units.rows(means, moves, names, places, hsics).widened(share)
    wanted = places[:, f:].reshape(2, n, width)[:, :, :f].reshape(2, -1)
    return estimates_of(units, measure, wanted)


class Joined:
    """Arrays with one entry per variable of a scan, which can be put together."""

    @classmethod
    def joined(cls, parts: Sequence[Self], order: IntArray) -> Self:
        """Put parts together, in a new order."""

        def column(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            is_array = isinstance(values[0], np.ndarray)
            return np.concatenate(values)[order] if is_array else values[0]

        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: column(name) for name in names})


@dataclass(frozen=True, eq=False)
class ScannedSources(Joined, Tests):
    """Tests of the difference of two dependences, one per source.

    Attributes
    ----------
    estimate, null, here, df, kurtosis : ndarray, shape (S,)
        See :class:`~reldep.stats.pairwise.Tests`.
    values : ndarray, shape (S, 2)
        The two dependences.
    n : ndarray of int, shape (S,)
        The observations of each.
    deviations : ndarray of single precision, shape (S, m)
        Of the differences without each row; 0 for rows that a source does not have.
    """

    values: FloatArray
    n: IntArray
    deviations: SingleArray

    @classmethod
    def of(cls, found: Estimates, rows: IntArray, n_rows: int) -> ScannedSources:
        """Compare the two dependences of every source.

        Parameters
        ----------
        found : Estimates
            Of 2S dependences.
        rows : ndarray of int
            The rows that these sources have.
        n_rows : int
            The rows of all sources.
        """
        first = np.arange(0, len(found.values), 2)
        tests = differences(found, first, first + 1)
        return cls(
            tests.estimate,
            tests.null,
            tests.here,
            tests.df,
            tests.kurtosis,
            found.values.reshape(-1, 2),
            np.full(len(first), found.n, dtype=np.int64),
            _directions(found.deviations[0::2] - found.deviations[1::2], rows, n_rows),
        )

    def ties(self) -> BoolArray:
        """Return the sources whose two dependences are one and the same."""
        return np.asarray(self.null == 0)

    def adjusted_pvalues(
        self, alternative: str, method: str, n_draws: int, rng: np.random.Generator
    ) -> FloatArray:
        """Adjust for the number of sources: the chance of any false claim is controlled.

        "single-step" compares the normal score of every statistic, by pooled degrees of freedom,
        with the largest of all sources under their joint law; "holm" does without that law.
        """
        df = degrees_of_freedom(self.kurtosis, self.n, is_pooled=True)
        raw = np.exp(student.log_pvalues(self.statistic, df, alternative))
        if method == "holm":
            return holm(raw)
        score = student.normal_scores(self.statistic, df)
        two_sided = alternative == "two-sided"
        maxima = JointDraws.of(self.deviations, n_draws, rng).value_maxima(signed=not two_sided)
        size = np.abs(score) if two_sided else score if alternative == "greater" else -score
        beyond = len(maxima) - np.searchsorted(maxima, size, side="left")
        bound = np.minimum(1.0, len(raw) * raw)
        return np.clip(tail_probability(beyond, len(maxima)), raw, bound)


@dataclass(frozen=True, eq=False)
class ScannedTargets(Joined):
    """Dependences of one source on many targets, and the tests that there is none.

    Attributes
    ----------
    values, standard_error, scale, variance, second, kurtosis : ndarray, shape (T,)
        The dependence, its standard error, the largest it could be, its jackknife variance, the
        variance of its second component, and the kurtosis of its deviations.
    n : ndarray of int, shape (T,)
        The observations of each.
    deviations : ndarray of single precision, shape (T, m)
        As for :class:`ScannedSources`.
    is_bounded : bool
        Whether the measure is at most 1.
    share : float
        The share of the rows that residuals are worth.
    """

    values: FloatArray
    standard_error: FloatArray
    scale: FloatArray
    variance: FloatArray
    second: FloatArray
    kurtosis: FloatArray
    n: IntArray
    deviations: SingleArray
    is_bounded: bool
    share: float

    @classmethod
    def of(cls, found: Estimates, rows: IntArray, n_rows: int) -> ScannedTargets:
        """Keep what intervals need of T dependences; parameters as for :class:`ScannedSources`."""
        return cls(
            found.values,
            found.standard_errors,
            found.scale,
            found.jackknife_variances,
            found.second_variances,
            found.kurtosis,
            np.full(len(found.values), found.n, dtype=np.int64),
            _directions(found.deviations, rows, n_rows),
            found.is_bounded,
            found.units.widening**-2,
        )

    def ties(self) -> BoolArray:
        """Return that no target is left out: a single dependence is not a difference."""
        return np.zeros(len(self.values), dtype=bool)

    def log_pvalues(self) -> FloatArray:
        """Test independence: natural logarithms of the p-values, by the chi-square law.

        As :func:`~reldep.stats.independence.independence_test` does for one pair.
        """
        statistic = self.share * (self.n * self.values / self.scale + 1.0)
        root = np.sqrt(np.maximum(statistic, 0.0))
        return student.log_pvalues(root, np.full(len(root), np.inf), "two-sided")

    def maxima(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draw the largest studentised error of all targets, sorted."""
        return JointDraws.of(self.deviations, n_draws, rng).value_maxima()

    def intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Return intervals that hold for all targets at once."""
        df = degrees_of_freedom(self.kurtosis, self.n, is_pooled=True)
        n, square_of_scale = self.n.astype(np.float64), self.scale**2
        score = Score(
            self.values / self.scale,
            self.variance / square_of_scale,
            self.second / square_of_scale,
            n,
            n / (n - ORDER),
            self.is_bounded,
        )
        quantiles = student.quantile_at(critical_value(maxima, confidence_level), df)
        low, high = score.limits(quantiles, is_floored=True)
        return Intervals(self.scale * low, self.scale * high)


def _directions(deviations: FloatArray, rows: IntArray, n_rows: int) -> SingleArray:
    """Return deviations of length 1 on all rows: only directions count, in single precision."""
    lengths = np.linalg.norm(deviations, axis=1, keepdims=True)
    whole = np.zeros((len(deviations), n_rows), dtype=np.float32)
    unit = np.divide(deviations, lengths, out=np.zeros_like(deviations), where=lengths > 0)
    whole[:, rows] = unit
    return whole
