"""The second Hoeffding component: what is left of dependences under independence.

An HSIC is a mean over rows (first component), plus a mean over pairs of rows (second component)
with covariance M, plus smaller parts. The plug-in covariance ``C = psi psi'/m²`` has in
expectation the first once and the second twice, as a jackknife variance does (Efron and Stein,
1981), so that tests take it off once: ``C - M`` is the covariance wanted, and M, which stays under
independence, bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from reldep.stats.covariance import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair

# Tables of at most this many variables are kept as a square matrix.
SQUARE = 2500


def pairs_of_second_component(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """List the pairs whose HSIC is needed: all pairs of the variables, with themselves too."""
    names = dict.fromkeys(name for pair in pairs if pair[0] != pair[1] for name in pair)
    return tuple(combinations_with_replacement(names, 2))


def second_component(hsic: Callable[[Pair], float], pairs: Sequence[Pair], n: int) -> FloatArray:
    """Estimate the covariance that the second component gives to the HSICs of the pairs.

    For the pairs (a, b) and (c, d)::

        2 (H_ac H_bd + H_ad H_bc) / n²

    exact where the two members of each pair are independent, of lower order than the whole
    covariance otherwise. A variable is never independent of itself: self-pairs get 0.

    Parameters
    ----------
    hsic : callable
        Gives the HSIC of a pair.
    pairs : sequence of Pair
    n : int
        Number of observations.
    """
    proper = [i for i, (first, second) in enumerate(pairs) if first != second]
    between = {(a, b): hsic((a, b)) for a, b in pairs_of_second_component(pairs)}
    between |= {(b, a): value for (a, b), value in between.items()}
    component = np.zeros((len(pairs), len(pairs)))
    for i in proper:
        for j in proper:
            (a, b), (c, d) = pairs[i], pairs[j]
            component[i, j] = between[a, c] * between[b, d] + between[a, d] * between[b, c]
    return component * (2.0 / n**2)


def second_order_covariance(plug_in: FloatArray, second: FloatArray) -> FloatArray:
    """Give the covariance matrix of several estimates, corrected for the second component.

    ``M + (C - 2M)₊``, with ₊ the positive semi-definite part: the matrix form of
    ``max(C - M, M)``. It is never smaller than either, whatever the contrast, and is ``C - M``
    wherever the first component dominates.

    Parameters
    ----------
    plug_in : ndarray, shape (p, p)
        C.
    second : ndarray, shape (p, p)
        M.
    """
    # In units of each estimate's own deviation, so that the result does not depend on scales.
    # A jackknife's C, less what it counts too often of M, may be below 0: then M is the larger.
    own = np.where(np.diag(plug_in) > 0, np.diag(plug_in), np.diag(second))
    units = np.sqrt(np.where(own > 0, own, 1.0))
    scale = np.outer(units, units)
    part = positive_part(second / scale)
    return np.asarray((part + positive_part(plug_in / scale - 2.0 * part)) * scale)


def agreeing_with(covariance: FloatArray, weights: FloatArray, variance: float) -> FloatArray:
    """Move a covariance matrix along one contrast so that the contrast has this variance.

    The change has rank one and keeps the matrix positive semi-definite.
    """
    direction = covariance @ weights
    present = float(weights @ direction)
    # One that agrees already keeps its last digits, and zeros stay exactly 0.
    if abs(variance - present) <= ROUNDING * variance:
        return covariance
    change = (variance - present) / present**2
    return np.asarray(covariance + change * np.outer(direction, direction))


def positive_part(matrix: FloatArray) -> FloatArray:
    """Give the positive semi-definite part of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


class SecondComponent(Protocol):
    """The covariance of the second Hoeffding components of p dependences."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """Give the covariances of the dependences numbered `first` with those in `second`."""

    def only(self, kept: list[int]) -> Self:
        """Keep some of the dependences."""


@dataclass(frozen=True, eq=False)
class SecondMatrix:
    """A second component that is known as a matrix.

    Attributes
    ----------
    matrix : ndarray, shape (p, p)
    """

    matrix: FloatArray

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        return np.asarray(self.matrix[first, second])

    def only(self, kept: list[int]) -> Self:
        return replace(self, matrix=self.matrix[np.ix_(kept, kept)])


class NoSecondComponent:
    """For units within which rows depend on each other: nothing is taken off."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """Give zeros."""
        return np.zeros(np.broadcast_shapes(np.shape(first), np.shape(second)))

    def only(self, kept: list[int]) -> Self:  # noqa: ARG002
        """Give itself."""
        return self


class HsicTable:
    """HSICs of pairs of numbered variables, in either order.

    Parameters
    ----------
    first, second : ndarray of int, shape (n,)
        The variables of each pair.
    values : ndarray, shape (n,)
        Their HSICs.
    size : int
        Number of variables.
    """

    def __init__(self, first: IntArray, second: IntArray, values: FloatArray, size: int) -> None:
        self.size = size
        self._square = np.full((size, size), np.nan) if size <= SQUARE else None
        if self._square is not None:
            self._square[first, second] = self._square[second, first] = values
            return
        keys = self._keys(first, second)
        rising = np.argsort(keys, kind="stable")
        self._known, self._values = keys[rising], values[rising]

    def _keys(self, first: IntArray, second: IntArray) -> IntArray:
        return np.asarray(np.minimum(first, second) * self.size + np.maximum(first, second))

    def __call__(self, first: IntArray, second: IntArray) -> FloatArray:
        """Look up the HSICs of pairs."""
        if self._square is not None:
            found = self._square[first, second]
        else:
            keys = self._keys(np.asarray(first), np.asarray(second))
            at = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
            found = np.where(self._known[at] == keys, self._values[at], np.nan)
        if np.isnan(found).any():
            raise KeyError("an HSIC that the second component needs was not computed")
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class SecondFromHsics:
    """The second component of dependences, from the HSICs of all pairs of their variables.

    For the HSICs of (a, b) and (c, d) it is ``2 (H_ac H_bd + H_ad H_bc) / (m(m-3))``, exact where
    the members of each pair are independent. A normalised measure has the self-pairs in its
    gradient; leaving them out would make the component about 20 times too large at a CKA of 0.85.

    Attributes
    ----------
    hsics : HsicTable
    energies : ndarray
        The HSIC of each variable with itself.
    left, right : ndarray of int, shape (p,)
        The variables of each dependence.
    normalised : bool
    constant : float
        ``2/(m(m-3))``.
    design : ndarray, shape (variables, variables), optional
        For clusters: the factor by which products of pairs of clusters vary more than those of
        pairs of rows, for each pair of variables. 1 for rows, and for clusters of one row.
    """

    hsics: HsicTable
    energies: FloatArray
    left: IntArray
    right: IntArray
    normalised: bool
    constant: float
    design: FloatArray | None = None

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        ones = self._terms(self.left[first], self.right[first])
        others = self._terms(self.left[second], self.right[second])
        total = sum(
            weight
            * other_weight
            * (self._hsic(u, a) * self._hsic(v, b) + self._hsic(u, b) * self._hsic(v, a))
            for u, v, weight in ones
            for a, b, other_weight in others
        )
        return np.asarray(self.constant * total)

    def _terms(self, u: IntArray, v: IntArray) -> list[tuple[IntArray, IntArray, FloatArray]]:
        """List the HSICs that a dependence has a derivative in, with that derivative.

        In units in which every self-HSIC is 1, the gradient of H_uv/√(H_uu H_vv) is 1 in H_uv and
        -θ/2 in H_uu and in H_vv.
        """
        if not self.normalised:
            return [(u, v, self._root_design(u, v))]
        half = -self._hsic(u, v) / 2
        return [
            (u, v, self._root_design(u, v)),
            (u, u, half * self._root_design(u, u)),
            (v, v, half * self._root_design(v, v)),
        ]

    def _root_design(self, u: IntArray, v: IntArray) -> FloatArray:
        return np.ones(np.shape(u)) if self.design is None else np.sqrt(self.design[u, v])

    def only(self, kept: list[int]) -> Self:
        return replace(self, left=self.left[kept], right=self.right[kept])

    def _hsic(self, first: IntArray, second: IntArray) -> FloatArray:
        value = self.hsics(first, second)
        if not self.normalised:
            return value
        return value / np.sqrt(self.energies[first] * self.energies[second])
