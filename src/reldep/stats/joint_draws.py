"""Draws from the joint law of many dependences, and the maxima of their studentised differences.

With leave-one-out deviations J and standard normal weights w, ``Z = J w`` has the joint normal
law of the errors of all dependences, up to a factor that studentising takes off. Draws come in
blocks and only maxima and counts are kept: no matrix of pairs by pairs ever exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.engine.many.leads import largest_leads
from reldep.exceptions import InputError
from reldep.stats.covariance import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.data.variables import FloatArray, IntArray

# Single precision: a critical value is a quantile of simulated numbers.
SingleArray: TypeAlias = npt.NDArray[np.float32]

# Draws in a block; each block has a random seed of its own, so that answers repeat.
BLOCK = 256
# Numbers in one working array: about 8 MB.
CHUNK = 2**21


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Draws of the errors of p dependences.

    Attributes
    ----------
    root : ndarray, shape (p, r)
        ``root @ root.T`` is proportional to the covariance of the errors.
    n_draws : int
    seed : int
    """

    root: SingleArray
    n_draws: int
    seed: int

    @classmethod
    def of(
        cls, deviations: FloatArray | SingleArray, n_draws: int, rng: np.random.Generator
    ) -> JointDraws:
        """Prepare draws for leave-one-out deviations, shape (p, n)."""
        p, n = deviations.shape
        largest = float(np.abs(deviations).max(initial=0.0))
        scaled = deviations / largest if largest > 0 else deviations
        if n > 2 * p:
            # Fewer numbers to draw: a root of the p×p covariance in place of the deviations.
            values, vectors = np.linalg.eigh(scaled @ scaled.T)
            scaled = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(scaled.astype(np.float32), n_draws, int(rng.integers(2**62)))

    def blocks(self) -> Iterator[SingleArray]:
        """Draw Z, shape (p, c), block by block."""
        for number, start in enumerate(range(0, self.n_draws, BLOCK)):
            rng = np.random.default_rng([self.seed, number])
            size = (self.root.shape[1], BLOCK)
            weights = rng.standard_normal(size, dtype=np.float32)
            yield self.root @ weights[:, : min(BLOCK, self.n_draws - start)]

    def value_maxima(self, *, signed: bool = False) -> FloatArray:
        """Draw the largest ``|Z_a| / s_a`` over all dependences, sorted; or of ``Z_a / s_a``."""
        inverse = _inverse_root(np.einsum("ij,ij->i", self.root, self.root), 0.0)
        scaled = (Z * inverse[:, None] for Z in self.blocks())
        drawn = [(Z if signed else np.abs(Z)).max(axis=0) for Z in scaled]
        return np.sort(np.concatenate(drawn)).astype(np.float64)

    def leads(self) -> Iterator[SingleArray]:
        """Draw ``max_b |Z_b - Z_a| / s_ab`` for every a, shape (p, c), block by block.

        The largest entry of a draw is the largest over all pairs.
        """
        gram = self.root.astype(np.float64)
        gram = gram @ gram.T
        own = np.diag(gram)
        total = own[:, None] + own[None, :]
        inverse = _inverse_root(total - 2.0 * gram, ROUNDING * total)
        for Z in self.blocks():
            yield largest_leads(Z, inverse)

    def comparison_maxima(self, first: IntArray, second: IntArray) -> FloatArray:
        """Draw the largest ``|Z_a - Z_b| / s_ab`` over chosen comparisons, sorted."""
        inverse = self._inverse_of(first, second)
        maxima = []
        for Z in self.blocks():
            largest = np.zeros(Z.shape[1], dtype=np.float32)
            for run in _runs(len(first)):
                extremes = np.abs(Z[first[run]] - Z[second[run]])
                extremes *= inverse[run, None]
                np.maximum(largest, extremes.max(axis=0), out=largest)
            maxima.append(largest)
        return np.sort(np.concatenate(maxima)).astype(np.float64)

    def successive_exceedances(
        self, first: IntArray, second: IntArray, scores: FloatArray
    ) -> IntArray:
        """Count, for every comparison, the draws in which it or one before it is as extreme.

        The comparisons are in rising order of ``|score|``, so that this is the count of the
        step-down procedure: each competes only with those that are not more extreme.
        """
        inverse = self._inverse_of(first, second)
        count = np.zeros(len(first), dtype=np.int64)
        bars = np.abs(scores).astype(np.float32)
        for Z in self.blocks():
            so_far = np.zeros(Z.shape[1], dtype=np.float32)
            for run in _runs(len(first)):
                extremes = np.abs(Z[first[run]] - Z[second[run]])
                extremes *= inverse[run, None]
                np.maximum(extremes[0], so_far, out=extremes[0])
                np.maximum.accumulate(extremes, axis=0, out=extremes)
                so_far = extremes[-1]
                count[run] += (extremes >= bars[run, None]).sum(axis=1)
        return count

    def _inverse_of(self, first: IntArray, second: IntArray) -> SingleArray:
        inverse = np.empty(len(first), dtype=np.float32)
        own = np.einsum("ij,ij->i", self.root, self.root)
        for run in _runs(len(first)):
            gap = (self.root[first[run]] - self.root[second[run]]).astype(np.float64)
            total = (own[first[run]] + own[second[run]]).astype(np.float64)
            inverse[run] = _inverse_root(np.einsum("ij,ij->i", gap, gap), ROUNDING * total)
        return inverse


def _inverse_root(variances: FloatArray, zero: FloatArray | float) -> SingleArray:
    """Give 1/√variance, and 0 where there is no variance: such a statistic is always 0."""
    inverse = np.zeros(variances.shape)
    np.divide(1.0, np.sqrt(np.maximum(variances, 0.0)), out=inverse, where=variances > zero)
    return inverse.astype(np.float32)


def _runs(length: int) -> Iterator[slice]:
    size = CHUNK // BLOCK
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def tail_probability(count: IntArray, n_draws: int) -> FloatArray:
    """Turn counts of draws at least as extreme into p-values that are never 0."""
    return np.asarray((1.0 + count) / (1.0 + n_draws))


def critical_value(sorted_maxima: FloatArray, confidence_level: float) -> float:
    """Give the quantile that agrees with :func:`tail_probability`.

    A score beyond it has an adjusted p-value of at most ``1 - confidence_level``.
    """
    n = len(sorted_maxima)
    place = math.ceil(confidence_level * (n + 1))
    if place > n:
        needed = math.ceil(1.0 / (1.0 - confidence_level))
        raise InputError(
            f"`confidence_level={confidence_level!r}` needs more than {n} draws of the joint law. "
            f"Pass `n_simulations={needed!r}` or more."
        )
    return float(sorted_maxima[place - 1])
