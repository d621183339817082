"""The second Hoeffding component of dependences: what is left of them under independence.

An HSIC is a mean over rows, plus a mean over pairs of rows, plus smaller parts. The jackknife
counts the second of these about twice, so that tests take it off once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray, IntArray

# Tables of at most this many variables are kept as a square matrix.
SQUARE = 2500


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
    """

    hsics: HsicTable
    energies: FloatArray
    left: IntArray
    right: IntArray
    normalised: bool
    constant: float

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        u, v = self.left[first], self.right[first]
        a, b = self.left[second], self.right[second]
        ua, ub, va, vb = (self._hsic(one, two) for one in (u, v) for two in (a, b))
        total = ua * vb + ub * va
        if self.normalised:
            # In units in which every self-HSIC is 1, the gradient of H_uv/√(H_uu H_vv) is 1 in
            # H_uv and -θ/2 in H_uu and in H_vv.
            one, two = self._hsic(u, v), self._hsic(a, b)
            total = total - two * (ua * va + ub * vb) - one * (ua * ub + va * vb)
            total += one * two / 2 * (ua**2 + ub**2 + va**2 + vb**2)
        return np.asarray(self.constant * total)

    def only(self, kept: list[int]) -> Self:
        return replace(self, left=self.left[kept], right=self.right[kept])

    def _hsic(self, first: IntArray, second: IntArray) -> FloatArray:
        value = self.hsics(first, second)
        if not self.normalised:
            return value
        return value / np.sqrt(self.energies[first] * self.energies[second])
