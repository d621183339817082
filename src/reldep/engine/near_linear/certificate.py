"""How far low-rank features can be from the kernels themselves: a bound, not an estimate.

Write ``K = ΦΦ' + R``. R is a Schur complement, so it is positive semi-definite with the diagonal
``d_i = k_ii - |φ_i|²``, and ``|R_ij| ≤ √(d_i d_j)``. The unbiased HSIC is the average over distinct
t, u, v, w of ``K_tu (L_tu + L_vw - 2 L_tv)``, linear in each kernel, so that::

    H(K, L) - H(K^, L^) = H(R_K, L) + H(R_L, K^)

With S = Σ√d_i and s the spread of L, the largest value minus the smallest::

    |ΔH|   ≤ 2s S² / (m(m-1))
    |Δa_i| ≤ s (√d_i S/(m-1) + S²/((m-1)(m-2)))

The second holds because {t, u} contains i in half of the tuples that do. The bounds of the two
kernels add. They are rigorous in exact arithmetic; the rounding of d is covered by a floor of
``4 (r + 4) u`` for rank r, the rounding of sums is not, as in every engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Pair

UNIT = float(np.finfo(np.float64).eps) / 2.0


@dataclass(frozen=True)
class Bounds:
    """How far off a contrast of HSICs can be.

    Attributes
    ----------
    estimate, standard_error, statistic : float
        Bounds of the absolute errors of the contrast, its standard error and their ratio z.
    """

    estimate: float
    standard_error: float
    statistic: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known about the remainders of low-rank kernels.

    Attributes
    ----------
    roots : mapping of str to ndarray, shape (m,)
        ``√d`` of each kernel that has a remainder, rounding included.
    ranks : mapping of str to int
        The number of features of these kernels.
    spreads : mapping of str to float
        A bound of the largest minus the smallest value, of every kernel.
    """

    roots: Mapping[str, FloatArray]
    ranks: Mapping[str, int]
    spreads: Mapping[str, float]

    def hsic(self, pair: Pair) -> float:
        """Bound the error of the HSIC of a pair."""
        bound = 0.0
        for own, other in (pair, pair[::-1]):
            root = self.roots.get(own)
            if root is not None:
                m = len(root)
                bound += 2.0 * self._spread(other) * float(root.sum()) ** 2 / (m * (m - 1.0))
        return bound

    def rows(self, pair: Pair) -> FloatArray | float:
        """Bound the error of each conditional mean of a pair."""
        bound: FloatArray | float = 0.0
        for own, other in (pair, pair[::-1]):
            root = self.roots.get(own)
            if root is not None:
                m, total = len(root), float(root.sum())
                row = root * (total / (m - 1.0)) + total**2 / ((m - 1.0) * (m - 2.0))
                bound = bound + self._spread(other) * row
        return bound

    def _spread(self, name: str) -> float:
        """Bound the spread of a kernel or of its low-rank part."""
        root = self.roots.get(name)
        remainder = 0.0 if root is None else 2.0 * float(root.max()) ** 2
        return self.spreads[name] + remainder

    def standard_error(self, pair: Pair, m: int) -> float:
        """Bound the error of ``(4/m) ‖a - H‖``."""
        return 4.0 / m * float(np.linalg.norm(np.broadcast_to(self.rows(pair), m)))

    def of(
        self,
        weights: Mapping[Pair, float],
        standard_error: float,
        statistic: float,
        n_observations: int,
    ) -> Bounds:
        """Bound the errors of a contrast ``Σ w H`` with the fixed-kernel standard error.

        Parameters
        ----------
        weights : mapping of (str, str) to float
        standard_error, statistic : float
            Of the contrast, as computed.
        n_observations : int
        """
        estimate = sum(abs(weight) * self.hsic(pair) for pair, weight in weights.items())
        error = sum(
            abs(weight) * self.standard_error(pair, n_observations)
            for pair, weight in weights.items()
        )
        left = standard_error - error
        ratio = (estimate + abs(statistic) * error) / left if left > 0 else float("inf")
        return Bounds(float(estimate), float(error), float(ratio))


@dataclass(frozen=True, eq=False)
class SummedRoots:
    """Sums over some rows of ``√d`` of several kernels, for a certificate without its rows.

    Attributes
    ----------
    names : tuple of str
        The kernels that have a remainder.
    products : ndarray, shape (v + 1, v + 1)
        Sums of products of 1 and the roots.
    largest : ndarray, shape (v,)
        The largest root of each.
    norms : mapping of str to float
        The largest squared length of the features of every kernel.
    worst : float
        The most negative remainder, in tolerances.
    """

    names: tuple[str, ...]
    products: FloatArray
    largest: FloatArray
    norms: Mapping[str, float]
    worst: float = 0.0

    @classmethod
    def none(cls, names: Sequence[str]) -> SummedRoots:
        """Begin with no rows."""
        size = len(names)
        return cls(tuple(names), np.zeros((size + 1, size + 1)), np.zeros(size), {})

    @classmethod
    def of(
        cls, roots: Mapping[str, FloatArray], norms: Mapping[str, float], worst: float, n: int
    ) -> SummedRoots:
        """Add up over some rows."""
        table = np.array([np.ones(n), *roots.values()])
        largest = table[1:].max(axis=1, initial=0.0)
        return cls(tuple(roots), table @ table.T, largest, norms, worst)

    def __add__(self, other: SummedRoots) -> SummedRoots:
        norms = {
            name: max(self.norms.get(name, 0.0), other.norms.get(name, 0.0))
            for name in (*self.norms, *other.norms)
        }
        return SummedRoots(
            self.names,
            self.products + other.products,
            np.maximum(self.largest, other.largest),
            norms,
            max(self.worst, other.worst),
        )


@dataclass(frozen=True, eq=False)
class SummedCertificate(Certificate):
    """A certificate from sums: the same bounds, without those of single rows."""

    sums: SummedRoots = field(kw_only=True)

    def hsic(self, pair: Pair) -> float:
        bound, m = 0.0, float(self.sums.products[0, 0])
        for own, other in (pair, pair[::-1]):
            if own in self.sums.names:
                total = self._total(own)
                bound += 2.0 * self._spread(other) * total**2 / (m * (m - 1.0))
        return bound

    def _total(self, name: str) -> float:
        return float(self.sums.products[0, 1 + self.sums.names.index(name)])

    def rows(self, pair: Pair) -> FloatArray | float:
        raise NotImplementedError(f"the rows of {pair} are not held.")

    def _spread(self, name: str) -> float:
        remainder = 0.0
        if name in self.sums.names:
            remainder = 2.0 * float(self.sums.largest[self.sums.names.index(name)]) ** 2
        return self.spreads[name] + remainder

    def standard_error(self, pair: Pair, m: int) -> float:
        # The bound of a row is a weighted sum of 1 and its roots.
        weights = np.zeros(len(self.sums.products))
        for own, other in (pair, pair[::-1]):
            if own in self.sums.names:
                total, spread = self._total(own), self._spread(other)
                weights[1 + self.sums.names.index(own)] += spread * total / (m - 1.0)
                weights[0] += spread * total**2 / ((m - 1.0) * (m - 2.0))
        square = float(weights @ self.sums.products @ weights)
        return 4.0 / m * float(np.sqrt(max(square, 0.0)))


def root_residuals(residuals: FloatArray, rank: int, diagonal: float) -> FloatArray:
    """Give ``√d`` with room for the rounding of d."""
    floor = 4.0 * (rank + 4) * UNIT * diagonal
    return np.sqrt(np.maximum(residuals, 0.0) + floor)
