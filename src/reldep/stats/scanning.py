"""Thousands of comparisons on the same rows: one test each, and what holds for all of them.

Every source is tested as if it were alone. Degrees of freedom are pooled only for the p-values
that are adjusted for the number of sources, where the smallest of many counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from reldep.stats import student
from reldep.stats.comparisons import holm
from reldep.stats.covariance import ROUNDING
from reldep.stats.differences import compare_pairs
from reldep.stats.jackknife import ORDER, jackknife_of_rows, left_out_hsics
from reldep.stats.joint_draws import JointDraws, SingleArray, critical_value, tail_probability
from reldep.stats.measures import NORMALISED
from reldep.stats.pooling import pooled_degrees
from reldep.stats.score_intervals import ScoreVariance, own_kurtosis
from reldep.stats.second_order import HsicTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.engine.many.batches import Batch, Batches, EngineBatches
    from reldep.stats.jackknife import Jackknife


def has_energy(batch: Batch, measure: str) -> BoolArray:
    """Tell which variables vary enough for a dependence to have a scale, without any one row."""
    means, moves = batch.means[:, -1], batch.moves[:, -1]
    energies = means.mean(axis=1)
    fine = energies > 0
    if measure in NORMALISED:
        fine &= left_out_hsics(means, moves).min(axis=1) > ROUNDING * energies
    return np.asarray(fine)


def batch_jackknife(
    batches: Batches | EngineBatches, batch: Batch, measure: str, fixed_names: Sequence[str]
) -> Jackknife:
    """Leave out every row in turn, for each variable of a batch with each fixed one.

    The dependences of a variable stand next to each other, in the order of the fixed ones.
    """
    n, width, m = batch.means.shape
    f = width - 1
    fixed, own = np.arange(f), f + np.arange(n)
    partners = np.column_stack([np.tile(fixed, (n, 1)), own])
    left = np.r_[fixed, np.repeat(own, width)]
    right = np.r_[fixed, partners.ravel()]
    means = np.concatenate([batches.own_means, batch.means.reshape(-1, m)])
    moves = np.concatenate([batches.own_moves, batch.moves.reshape(-1, m)])
    a, b = np.triu_indices(f)
    hsics = HsicTable(
        np.r_[a, left[f:]],
        np.r_[b, right[f:]],
        np.r_[batches.hsics[a, b], means[f:].mean(axis=1)],
        f + n,
    )
    wanted = (f + np.arange(n * width).reshape(n, width)[:, :f]).ravel()
    names = [*fixed_names, *(f"variable {i}" for i in range(n))]
    return jackknife_of_rows(
        means, (left, right), wanted, measure, hsics, bandwidth_psi=moves, names=names
    )


@dataclass(frozen=True, eq=False)
class SourceTests:
    """Tests of the difference of two dependences, one a source.

    Attributes
    ----------
    values : ndarray, shape (S, 2)
        The two dependences.
    estimate, standard_error, df, kurtosis : ndarray, shape (S,)
        The standard error is 0 for a tie.
    n : ndarray of int, shape (S,)
        The observations of each.
    deviations : ndarray of single precision, shape (S, m)
        Of the differences without each row; 0 for rows that a source does not have.
    """

    values: FloatArray
    estimate: FloatArray
    standard_error: FloatArray
    df: FloatArray
    kurtosis: FloatArray
    n: IntArray
    deviations: SingleArray

    @classmethod
    def of(cls, jackknife: Jackknife, rows: IntArray, n_rows: int) -> SourceTests:
        """Compare the two dependences of every source.

        Parameters
        ----------
        jackknife : Jackknife
            Of 2S dependences.
        rows : ndarray of int
            The rows that these sources have.
        n_rows : int
            The rows of all sources.
        """
        first = np.arange(0, len(jackknife.values), 2)
        found = compare_pairs(jackknife, first, first + 1)
        deviations = np.zeros((len(first), n_rows), dtype=np.float32)
        deviations[:, rows] = _unit(jackknife.deviations[0::2] - jackknife.deviations[1::2])
        return cls(
            jackknife.values.reshape(-1, 2),
            found.estimate,
            np.sqrt(found.null_variance),
            found.df,
            found.kurtosis,
            np.full(len(first), jackknife.n, dtype=np.int64),
            deviations,
        )

    @classmethod
    def joined(cls, parts: Sequence[SourceTests], order: IntArray) -> SourceTests:
        """Put parts together, in a new order."""
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])[order]
            for name in cls.__dataclass_fields__
        }
        return cls(**columns)

    def ties(self) -> BoolArray:
        """Tell the sources whose two dependences are one and the same."""
        return np.asarray(self.standard_error == 0)

    def columns(self) -> dict[str, Any]:
        """Give all numbers by their names."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def statistic(self) -> FloatArray:
        """The estimate over its standard error; 0 for a tie."""
        ratio = np.zeros_like(self.estimate)
        np.divide(self.estimate, self.standard_error, out=ratio, where=self.standard_error > 0)
        return ratio

    def log_pvalues(self, alternative: str, df: FloatArray | None = None) -> FloatArray:
        """Give natural logarithms of the p-values, each by its own degrees of freedom."""
        degrees = self.df if df is None else df
        return log_pvalues(self.statistic, degrees, alternative)

    def adjusted_pvalues(
        self, alternative: str, method: str, n_draws: int, rng: np.random.Generator
    ) -> FloatArray:
        """Adjust for the number of sources: the chance of any false claim is controlled.

        "single-step" compares the normal score of every statistic, by pooled degrees of freedom,
        with the largest of all sources under their joint law; "holm" does without that law.
        """
        df = pooled_degrees(self.kurtosis, self.n)
        raw = np.exp(self.log_pvalues(alternative, df))
        if method == "holm":
            return holm(raw)
        score = student.normal_scores(self.statistic, df)
        draws = JointDraws.of(self.deviations, n_draws, rng)
        two_sided = alternative == "two-sided"
        maxima = draws.value_maxima(signed=not two_sided)
        size = np.abs(score) if two_sided else score if alternative == "greater" else -score
        beyond = len(maxima) - np.searchsorted(maxima, size, side="left")
        bound = np.minimum(1.0, len(raw) * raw)
        return np.clip(tail_probability(beyond, len(maxima)), raw, bound)


def log_pvalues(statistic: FloatArray, df: FloatArray, alternative: str) -> FloatArray:
    """Give natural logarithms of the p-values of many t statistics."""
    if alternative == "two-sided":
        both = math.log(2.0) + student.log_tail(np.abs(statistic), df)
        return np.asarray(np.minimum(both, 0.0))
    return np.asarray(student.log_tail(statistic if alternative == "greater" else -statistic, df))


def _unit(deviations: FloatArray) -> FloatArray:
    """Give every row the length 1: only directions count, and single precision holds them."""
    lengths = np.linalg.norm(deviations, axis=1, keepdims=True)
    unit = np.zeros_like(deviations)
    np.divide(deviations, lengths, out=unit, where=lengths > 0)
    return unit


@dataclass(frozen=True, eq=False)
class TargetTests:
    """Dependences of one source on many targets, and the tests that there is none.

    Attributes
    ----------
    values, scale, variance, second, kurtosis : ndarray, shape (T,)
        The dependence, the largest it could be, its jackknife variance, the variance of its
        second component, and the kurtosis of its deviations.
    n : ndarray of int, shape (T,)
        The observations of each.
    deviations : ndarray of single precision, shape (T, m)
        As for :class:`SourceTests`.
    bounded : bool
        Whether the measure is at most 1.
    """

    values: FloatArray
    scale: FloatArray
    variance: FloatArray
    second: FloatArray
    kurtosis: FloatArray
    n: IntArray
    deviations: SingleArray
    bounded: bool

    @classmethod
    def of(cls, jackknife: Jackknife, rows: IntArray, n_rows: int) -> TargetTests:
        """Keep what intervals need of T dependences; parameters as for :class:`SourceTests`."""
        deviations = np.zeros((len(jackknife.values), n_rows), dtype=np.float32)
        deviations[:, rows] = _unit(jackknife.deviations)
        return cls(
            jackknife.values,
            jackknife.scale,
            jackknife.variances(),
            jackknife.second_own(),
            own_kurtosis(jackknife),
            np.full(len(jackknife.values), jackknife.n, dtype=np.int64),
            deviations,
            jackknife.bounded,
        )

    @classmethod
    def joined(cls, parts: Sequence[TargetTests], order: IntArray) -> TargetTests:
        """Put parts together, in a new order."""
        names = [name for name in cls.__dataclass_fields__ if name != "bounded"]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])[order] for name in names
        }
        return replace(parts[0], **columns)

    def ties(self) -> BoolArray:
        """Tell that no target is left out: a single dependence is no difference."""
        return np.zeros(len(self.values), dtype=bool)

    def columns(self) -> dict[str, Any]:
        """Give all numbers by their names."""
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return columns | {"bounded": np.array(self.bounded)}

    @property
    def excess(self) -> FloatArray:
        """How many times too often the jackknife counts the second component."""
        return np.asarray(self.n / np.maximum(self.n - ORDER, 1))

    @property
    def standard_error(self) -> FloatArray:
        """Of every dependence."""
        part = np.maximum(self.second, 0.0)
        whole = self.variance - (self.excess - 1.0) * self.second
        return np.sqrt(np.maximum(whole - part, part))

    def log_pvalues(self) -> FloatArray:
        """Test independence: natural logarithms of the p-values, by the chi-square law.

        As :func:`~reldep.stats.independence.independence_test` does for one pair.
        """
        statistic = self.n * self.values / self.scale + 1.0
        root = np.sqrt(np.maximum(statistic, 0.0))
        return np.asarray(np.minimum(math.log(2.0) + scipy.special.log_ndtr(-root), 0.0))

    def maxima(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draw the largest studentised error of all targets, sorted."""
        return JointDraws.of(self.deviations, n_draws, rng).value_maxima()

    def intervals(
        self, maxima: FloatArray, confidence_level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Give intervals that hold for all targets at once."""
        df = pooled_degrees(self.kurtosis, self.n)
        critical = student.quantile_at(critical_value(maxima, confidence_level), df)
        curve = ScoreVariance.of(
            self.values / self.scale,
            self.variance / self.scale**2,
            self.second / self.scale**2,
            self.n.astype(np.float64),
            self.excess,
            self.bounded,
        )
        low, high = curve.limits(critical, floor=True)
        return self.scale * low, self.scale * high
