"""Dependences of more rows than can be held: moments of the deviations in place of the deviations.

Tests and intervals see the leave-one-out deviations J of p dependences only through sums of their
products, of second order for variances and of fourth order for degrees of freedom. All of these
are in one small matrix, ``Σ_i w_i w_i'`` with w the monomials of J up to the second degree, which
is added up over pieces of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from reldep.stats.covariance import INDEPENDENT_ROWS
from reldep.stats.dependences import Jackknifed, PlugIn, root_of
from reldep.stats.jackknife import ORDER, Jackknife, check_energies, check_rows
from reldep.stats.jackknife import NumberedRows as Numbered
from reldep.stats.measures import NORMALISED
from reldep.stats.second_order import SecondFromHsics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair

# The moments of p dependences are p⁴/4 numbers.
MOST_DEPENDENCES = 12


@dataclass(frozen=True, eq=False)
class DeviationSums:
    """What is added up over rows.

    Attributes
    ----------
    n : int
    gram : ndarray
        Sums of products of 1, U and the products of U, with U as in :class:`Deviations`.
    lagged : ndarray, shape (p, p)
        ``Σ U_i U_{i+1}'`` over rows next to each other.
    largest : ndarray, shape (f,)
        The largest squares of single deviations and of differences.
    places : ndarray of int, shape (f, 2)
        In which piece, and where in it, they occur.
    """

    n: int
    gram: FloatArray
    lagged: FloatArray
    largest: FloatArray
    places: IntArray

    def __add__(self, other: DeviationSums) -> DeviationSums:
        later = other.largest > self.largest
        return DeviationSums(
            self.n + other.n,
            self.gram + other.gram,
            self.lagged + other.lagged,
            np.where(later, other.largest, self.largest),
            np.where(later[:, None], other.places, self.places),
        )


@dataclass(frozen=True, eq=False)
class Deviations:
    """Turns conditional means of some rows into sums of deviations.

    U holds the deviations of the first dependence and, for every other, its difference from the
    first, each times the number of rows: where two dependences are nearly equal their difference
    keeps its digits.

    Attributes
    ----------
    hsics : ndarray, shape (q,)
        Of the pairs whose conditional means come in.
    wanted : ndarray of int, shape (p,)
        Which of them the dependences are.
    energies : pair of ndarray of int, or None
        The self-pairs of each dependence, for normalised measures.
    n : int
        Rows in all.
    leaves_out : bool
        Whether rows are left out in turn; else the deviations are influence values.
    """

    hsics: FloatArray
    wanted: IntArray
    energies: tuple[IntArray, IntArray] | None
    n: int
    leaves_out: bool

    @property
    def p(self) -> int:
        """The number of dependences."""
        return len(self.wanted)

    @cached_property
    def values(self) -> FloatArray:
        """The dependences."""
        return self._measured(self.hsics[:, None])[:, 0]

    def _measured(self, hsics: FloatArray) -> FloatArray:
        if self.energies is None:
            return hsics[self.wanted]
        first, second = self.energies
        return np.asarray(hsics[self.wanted] / np.sqrt(hsics[first] * hsics[second]))

    def of_rows(self, means: FloatArray, moved: FloatArray | None) -> FloatArray:
        """Give the deviations of some rows, times the number of all rows.

        Parameters
        ----------
        means : ndarray, shape (q, k)
            Conditional means.
        moved : ndarray, shape (q, k), or None
            What the rows add to the influence values by moving bandwidths.
        """
        n, hsics = self.n, self.hsics[:, None]
        off = means - hsics
        if self.leaves_out:
            without = hsics - ORDER * off / (n - ORDER)
            if moved is not None:
                without = without - moved / (n - 1)
            return n * (self._measured(without) - self.values[:, None])
        psi = ORDER * off if moved is None else ORDER * off + moved
        if self.energies is None:
            return -psi[self.wanted]
        first, second = self.energies
        scale = np.sqrt(self.hsics[first] * self.hsics[second])
        change = psi[self.wanted] / scale[:, None]
        for side in (first, second):
            change -= (0.5 * self.values / self.hsics[side])[:, None] * psi[side]
        return -change

    def sums(
        self, means: FloatArray, moved: FloatArray | None, number: int, places: IntArray
    ) -> DeviationSums:
        """Add up over some rows of a piece."""
        deviations = self.of_rows(means, moved)
        U = deviations - deviations[0]
        U[0] = deviations[0]
        i, j = np.triu_indices(self.p)
        monomials = np.concatenate([np.ones((1, U.shape[1])), U, U[i] * U[j]])
        forms = self.forms @ deviations
        squares = forms * forms
        at = np.argmax(squares, axis=1)
        return DeviationSums(
            U.shape[1],
            monomials @ monomials.T,
            U[:, :-1] @ U[:, 1:].T,
            squares[np.arange(len(at)), at],
            np.column_stack([np.full(len(at), number), places[at]]),
        )

    @cached_property
    def forms(self) -> FloatArray:
        """Weights of the single dependences and of all differences."""
        own = np.eye(self.p)
        first, second = np.triu_indices(self.p, k=1)
        return np.concatenate([own, own[first] - own[second]])


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of second and fourth powers of centred deviations, of any weighted sum of them.

    Attributes
    ----------
    sums : DeviationSums
    forms : ndarray, shape (f, p)
        Of which the largest squares are known.
    p : int
        The number of dependences.
    lengths : tuple of int
        The rows of every piece.
    """

    sums: DeviationSums
    forms: FloatArray
    p: int
    lengths: tuple[int, ...] = ()

    @cached_property
    def _centred(self) -> FloatArray:
        """The matrix of sums for deviations less their means."""
        p, n = self.p, self.sums.n
        i, j = np.triu_indices(p)
        c = self.sums.gram[0, 1 : 1 + p] / n
        turn = np.eye(len(self.sums.gram))
        turn[1 : 1 + p, 0] = -c
        rows = 1 + p + np.arange(len(i))
        turn[rows, 0] = c[i] * c[j]
        np.add.at(turn, (rows, 1 + i), -c[j])
        np.add.at(turn, (rows, 1 + j), -c[i])
        return np.asarray(turn @ self.sums.gram @ turn.T)

    @property
    def centre(self) -> FloatArray:
        """The mean deviation of every dependence, times the number of rows."""
        c = self.sums.gram[0, 1 : 1 + self.p] / self.sums.n
        return np.concatenate([c[:1], c[1:] + c[0]])

    def _turned(self, weights: FloatArray) -> FloatArray:
        """Turn weights of deviations into weights of U."""
        turned = np.array(weights, dtype=np.float64)
        turned[:, 0] = weights.sum(axis=1)
        return turned

    def second(self, weights: FloatArray) -> FloatArray:
        """Sum the squares of weighted sums, one for each row of weights."""
        v, p = self._turned(weights), self.p
        return np.asarray(np.einsum("ki,ij,kj->k", v, self._centred[1 : 1 + p, 1 : 1 + p], v))

    def fourth(self, weights: FloatArray) -> FloatArray:
        """Sum the fourth powers of weighted sums."""
        v, p = self._turned(weights), self.p
        i, j = np.triu_indices(p)
        square = v[:, i] * v[:, j] * np.where(i == j, 1.0, 2.0)
        powers = np.einsum("ki,ij,kj->k", square, self._centred[1 + p :, 1 + p :], square)
        # A fourth power is at least the squared second by n, whatever rounding says.
        return np.asarray(np.maximum(powers, self.second(weights) ** 2 / self.sums.n))

    def root(self) -> FloatArray:
        """Give D, shape (p, p), with ``D D'`` the sums of products of the deviations."""
        p = self.p
        gram = self._centred[1 : 1 + p, 1 : 1 + p]
        scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
        scale[scale == 0] = 1.0
        related = gram / np.outer(scale, scale)
        try:
            root = np.linalg.cholesky(related)
        except np.linalg.LinAlgError:
            root = root_of(related)
        root = scale[:, None] * root
        root[1:] += root[0]
        return np.asarray(root)

    def lag_correlation(self, weights: FloatArray) -> float:
        """Correlate a weighted sum with itself in the next row."""
        v = self._turned(weights[None])[0]
        energy = float(self.second(weights[None])[0])
        return float(v @ self.sums.lagged @ v) / energy if energy > 0 else 0.0

    def largest_share(self, weights: FloatArray) -> tuple[float, int]:
        """Give the largest share of a row in a variance, and the number of the row.

        It is known of single dependences and of differences; 0 of other contrasts.
        """
        for form, square, place in zip(
            self.forms, self.sums.largest, self.sums.places, strict=True
        ):
            if np.array_equal(form, weights) or np.array_equal(form, -weights):
                energy = float(self.second(weights[None])[0])
                share = float(square) / energy if energy > 0 else 0.0
                return share, sum(self.lengths[: int(place[0])]) + int(place[1])
        return 0.0, 0


@dataclass(frozen=True, eq=False)
class StreamedJackknife(Jackknife):
    """A jackknife whose deviations are known by their moments.

    `deviations` is a square root of their sums of products.
    """

    moments: Moments = field(kw_only=True)

    keeps_rows = False

    @property
    def n(self) -> int:
        return self.moments.sums.n

    def fourth_powers(self, weights: FloatArray) -> FloatArray:
        return self.moments.fourth(weights) / float(self.n) ** 4


@dataclass(frozen=True, eq=False)
class StreamedDependences(Jackknifed):
    """Jackknifed dependences without their rows."""

    moments: Moments

    keeps_rows = False

    @property
    def n_observations(self) -> int:
        return self.moments.sums.n

    def lag_correlation(self, weights: FloatArray) -> float:
        return self.moments.lag_correlation(weights)

    def largest_share(self, weights: FloatArray) -> tuple[float, int]:
        return self.moments.largest_share(weights)

    def without(self, rows: IntArray) -> None:  # noqa: ARG002
        return None


@dataclass(frozen=True, eq=False)
class StreamedPlugIn(PlugIn):
    """Dependences with a plug-in variance, without their rows."""

    moments: Moments

    keeps_rows = False

    @property
    def n_observations(self) -> int:
        return self.moments.sums.n

    def lag_correlation(self, weights: FloatArray) -> float:
        return self.moments.lag_correlation(weights)

    def largest_share(self, weights: FloatArray) -> tuple[float, int]:
        return self.moments.largest_share(weights)


def deviations_of(
    numbered: Numbered, hsics: FloatArray, measure: str, n: int, *, leaves_out: bool
) -> Deviations:
    """Prepare the pass over conditional means.

    Parameters
    ----------
    numbered : NumberedRows
        The rows of A that come in.
    hsics : ndarray
        Of these.
    measure : {"hsic", "cka"}
    n : int
        Rows in all.
    leaves_out : bool
        Whether rows are left out in turn.
    """
    if leaves_out:
        check_rows(n)
    left, right = (side[numbered.wanted] for side in numbered.variables)
    used = np.unique(np.r_[left, right])
    own = numbered.hsics(used, used)
    check_energies(own[:, None], 0.0, used, numbered.names)
    energies = None
    if measure in NORMALISED:
        place = {
            int(a): row
            for row, (a, b) in enumerate(zip(*numbered.variables, strict=True))
            if a == b
        }
        energies = tuple(
            np.array([place[int(v)] for v in side], dtype=np.int64) for side in (left, right)
        )
        return Deviations(hsics, numbered.wanted, (energies[0], energies[1]), n, leaves_out)
    return Deviations(hsics, numbered.wanted, None, n, leaves_out)


def streamed_dependences(
    pairs: Sequence[Pair],
    measure: str,
    variance: str,
    deviations: Deviations,
    sums: DeviationSums,
    numbered: Numbered,
    lengths: tuple[int, ...] = (),
) -> StreamedDependences | StreamedPlugIn:
    """Finish dependences from the sums over all rows of pieces of these lengths."""
    moments = Moments(sums, deviations.forms, deviations.p, lengths)
    m = sums.n
    values = deviations.values
    root = moments.root() / m
    if variance != "jackknife":
        # The covariance of so many columns is their products by the square of their number.
        psi = root * root.shape[1]
        return StreamedPlugIn(
            tuple(pairs), measure, variance, values, psi, INDEPENDENT_ROWS, None, moments
        )
    left, right = (side[numbered.wanted] for side in numbered.variables)
    used = np.unique(np.r_[left, right])
    energies = np.ones(numbered.hsics.size)
    energies[used] = numbered.hsics(used, used)
    normalised = measure in NORMALISED
    second = SecondFromHsics(
        numbered.hsics, energies, left, right, normalised, 2.0 / (m * (m - 3.0))
    )
    scale = np.ones(len(values)) if normalised else np.sqrt(energies[left] * energies[right])
    left_out = StreamedJackknife(
        values, root, values + moments.centre / m, second, scale, measure, moments=moments
    )
    psi = -sqrt(m * (m - 1.0)) * root
    return StreamedDependences(
        tuple(pairs), measure, "jackknife", values, psi, INDEPENDENT_ROWS, left_out, moments
    )
