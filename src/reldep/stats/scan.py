"""Many comparisons on the same rows: columns of a scan, or one difference at several bandwidths.

Every source is tested as if it were alone. Degrees of freedom are pooled only for the p-values
that are adjusted for the number of sources, where the smallest of many counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray
from reldep.engine.block_table import BlockTable
from reldep.stats import student
from reldep.stats.estimates import Estimates, degrees_of_freedom, estimates
from reldep.stats.independence import independence_log_pvalues
from reldep.stats.intervals import Intervals, Score, margins
from reldep.stats.pairwise import Test, Tests, differences
from reldep.stats.simultaneous import JointDraws, critical_value, holm, maxima_pvalues, single_step
from reldep.stats.units import ORDER, Units, square

if TYPE_CHECKING:
    from reldep.engine.scan import Batch, Batches, BlockBatches
    from reldep.stats.simultaneous import SingleArray


def batch_estimates(
    batches: Batches | BlockBatches,
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
    hsics = square(f + n, places, np.average(means, axis=1, weights=batch.weights))
    hsics[:f, :f] = batches.hsics
    names = [*fixed_names, *(f"variable {i}" for i in range(n))]
    if batch.weights is not None:
        table = BlockTable(means.T, batch.weights, (), n_rows=batches.n)
        units = replace(Units.blocks(table, names, places), hsics=hsics)
    else:
        units = Units.rows(means, moves, names, places, hsics)
    wanted = places[:, f:].reshape(2, n, width)[:, :, :f].reshape(2, -1)
    return estimates(units.widened(share), measure, places=wanted)


class Joined:
    """Arrays with one entry per variable of a scan, which can be put together."""

    @classmethod
    def joined(cls, parts: Sequence[Self], order: IntArray) -> Self:
        """Return all parts as one, in a new order."""

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
        Of the differences without each row, or block of rows; 0 for rows that a source does not
        have.
    is_small : bool
        Whether rows are left out, for which the kurtosis matters, or blocks of rows.
    """

    values: FloatArray
    n: IntArray
    deviations: SingleArray
    is_small: bool

    @classmethod
    def of(
        cls,
        found: Estimates,
        rows: IntArray,
        n_rows: int,
        block_sizes: IntArray | None = None,  # noqa: ARG003
    ) -> ScannedSources:
        """Compare the two dependences of every source.

        Parameters
        ----------
        found : Estimates
            Of 2S dependences.
        rows : ndarray of int
            The rows that these sources have.
        n_rows : int
            The rows of all sources.
        block_sizes : ndarray of int, optional
            The rows of every block, if these are the units.
        """
        first = np.arange(0, len(found.values), 2)
        tests = differences(found, first, first + 1)
        gaps = found.deviations[0::2] - found.deviations[1::2]
        return cls(
            **vars(tests),
            values=found.values.reshape(-1, 2),
            n=np.full(len(first), len(rows)),
            deviations=_directions(found, gaps, rows, n_rows),
            is_small=found.units.is_small,
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
        df = self.df
        if self.is_small:
            df = degrees_of_freedom(self.kurtosis, self.n, is_pooled=True)
        raw = np.exp(student.log_pvalues(self.statistic, df, alternative))
        if method == "holm":
            return holm(raw)
        score = student.normal_scores(self.statistic, df)
        draws = JointDraws.of(self.deviations, n_draws, rng)
        maxima = draws.value_maxima(signed=alternative != "two-sided")
        return single_step(towards(score, alternative), maxima, raw)


@dataclass(frozen=True, eq=False)
class ScannedTargets(Joined):
    """Dependences of one source on many targets, and the tests that there is none.

    Attributes
    ----------
    values, standard_error, scale, variance, second, kurtosis, df : ndarray, shape (T,)
        The dependence, its standard error, the largest it could be, its jackknife variance, the
        variance of its second component, the kurtosis of its deviations and degrees of freedom.
    log_pvalues : ndarray, shape (T,)
        Natural logarithms of p-values of independence, by the chi-square law, as
        :func:`~reldep.stats.independence.independence_test` has them for one pair.
    n : ndarray of int, shape (T,)
        The observations of each.
    deviations : ndarray of single precision, shape (T, m)
    is_small : bool
        As for :class:`ScannedSources`.
    is_bounded : bool
        Whether the measure is at most 1.
    """

    values: FloatArray
    standard_error: FloatArray
    scale: FloatArray
    variance: FloatArray
    second: FloatArray
    kurtosis: FloatArray
    df: FloatArray
    log_pvalues: FloatArray
    n: IntArray
    deviations: SingleArray
    is_small: bool
    is_bounded: bool

    @classmethod
    def of(
        cls, found: Estimates, rows: IntArray, n_rows: int, block_sizes: IntArray | None = None
    ) -> ScannedTargets:
        """Return what intervals of T dependences need; as for :class:`ScannedSources`."""
        return cls(
            found.values,
            found.standard_errors,
            found.scale,
            found.jackknife_variances,
            found.second_variances,
            found.kurtosis,
            found.df(found.kurtosis),
            independence_log_pvalues(
                found.values / found.scale, len(rows), block_sizes, found.units.widening**-2
            ),
            np.full(len(found.values), len(rows)),
            _directions(found, found.deviations, rows, n_rows),
            found.units.is_small,
            found.is_bounded,
        )

    def ties(self) -> BoolArray:
        """Return that no target is left out: a single dependence is not a difference."""
        return np.zeros(len(self.values), dtype=bool)

    def maxima(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draw the largest studentised error of all targets, sorted."""
        return JointDraws.of(self.deviations, n_draws, rng).value_maxima()

    def intervals(self, maxima: FloatArray, confidence_level: float) -> Intervals:
        """Return intervals that hold for all targets at once."""
        critical = critical_value(maxima, confidence_level)
        if not self.is_small:
            quantiles = student.quantile_at(critical, self.df)
            return margins(self.values, quantiles * self.standard_error, self.is_bounded)
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
        quantiles = student.quantile_at(critical, df)
        low, high = score.limits(quantiles, is_floored=True)
        return Intervals(self.scale * low, self.scale * high)


def _directions(
    found: Estimates, deviations: FloatArray, rows: IntArray, n_rows: int
) -> SingleArray:
    """Return deviations of length 1 on all rows: only directions count, in single precision.

    All variables have the same blocks of rows, whichever rows they lack.
    """
    lengths = np.linalg.norm(deviations, axis=1, keepdims=True)
    unit = np.divide(deviations, lengths, out=np.zeros_like(deviations), where=lengths > 0)
    if not found.units.is_small:
        return np.asarray(unit, dtype=np.float32)
    whole = np.zeros((len(deviations), n_rows), dtype=np.float32)
    whole[:, rows] = unit
    return whole


def towards(scores: FloatArray, alternative: str) -> FloatArray:
    """Return scores that are the larger the more they speak for the alternative."""
    if alternative == "two-sided":
        return np.abs(scores)
    return scores if alternative == "greater" else -scores


@dataclass(frozen=True, eq=False)
class AcrossScales:
    """Tests of one difference at several scales of its kernels.

    They are strongly correlated, so that joint draws cost much less than a correction for their
    number would.

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
        """Return the tests as one.

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

    @cached_property
    def _maxima(self) -> FloatArray:
        return self.draws.value_maxima()

    @cached_property
    def _signed_maxima(self) -> FloatArray:
        return self.draws.value_maxima(signed=True)

    def bands(self, confidence_level: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals of the difference at all scales that hold at once."""
        return self.tests.intervals(critical_value(self._maxima, confidence_level))

    def bars(self, alpha: float, alternative: str) -> FloatArray:
        """Return the size beyond which a statistic counts at each scale, adjusted for all."""
        maxima = self._maxima if alternative == "two-sided" else self._signed_maxima
        return student.quantile_at(critical_value(maxima, 1.0 - alpha), self.tests.df)

    def at_some_scale(self, alternative: str) -> float:
        """Return the p-value of "there is no difference at any scale", adjusted for all."""
        scores = towards(self.tests.score, alternative)
        maxima = self._maxima if alternative == "two-sided" else self._signed_maxima
        simulated = float(maxima_pvalues(scores.max(), maxima))
        # Draws do not show how small a p-value is; Bonferroni's bound holds for any joint law.
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
