"""Exact leave-one-out values of dependences, and their covariance: the jackknife.

Everything here is a function of the conditional means A, of the influence of data-driven
bandwidths and of HSICs; no kernel matrix is needed. For m rows the HSIC without row i is exactly
``H - ψ_i/(m-4)``, so that a measure can be computed anew without each row in O(m).

The jackknife counts the second Hoeffding component of an HSIC about twice, so its covariance is
kept beside it (:class:`SecondComponent`) and taken off by the tests that use a
:class:`Jackknife`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reldep.exceptions import InputError, Option
from reldep.stats.covariance import ROUNDING
from reldep.stats.measures import NORMALISED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair

# An HSIC is a mean over 4-tuples of rows.
ORDER = 4
# With 5 rows a leave-one-out HSIC is one single 4-tuple.
FEWEST_ROWS = 6
# Tables of at most this many variables are kept as a square matrix.
SQUARE = 2500


class SecondComponent(Protocol):
    """The covariance of the second Hoeffding components of p dependences."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """Give the covariances of the dependences numbered `first` with those in `second`."""


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

    def _hsic(self, first: IntArray, second: IntArray) -> FloatArray:
        value = self.hsics(first, second)
        if not self.normalised:
            return value
        return value / np.sqrt(self.energies[first] * self.energies[second])


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Dependences with their leave-one-out deviations.

    Attributes
    ----------
    values : ndarray, shape (p,)
        The measure of each pair.
    deviations : ndarray, shape (p, n)
        The measure without each of n units (rows, or clusters of rows), less the mean over units.
    second : SecondComponent
    scale : ndarray, shape (p,)
        ``√(H_xx H_yy)`` of each pair for "hsic", on whose scale an HSIC is at most 1; else ones.
    measure : {"hsic", "cka", "dcor"}
    order : int
        The order of the U-statistic behind it.
    most_df : float
        An upper limit of the degrees of freedom; ``G - 1`` for G clusters.
    """

    values: FloatArray
    deviations: FloatArray
    second: SecondComponent
    scale: FloatArray
    measure: str
    order: int = ORDER
    most_df: float = inf

    @property
    def n(self) -> int:
        """The number of units that were left out in turn."""
        return int(self.deviations.shape[1])

    @property
    def excess(self) -> float:
        """How many times too often the jackknife counts the second component: ``n/(n-4)``."""
        return self.n / (self.n - self.order)

    @property
    def bounded(self) -> bool:
        """Whether the measure is at most 1."""
        return self.measure in NORMALISED

    def variances(self) -> FloatArray:
        """Give the jackknife variance of every value, ``(n-1)/n Σ J²``."""
        factor = (self.n - 1) / self.n
        return np.asarray(factor * np.einsum("ij,ij->i", self.deviations, self.deviations))

    def covariance(self) -> FloatArray:
        """Give the jackknife covariance of the values, ``(n-1)/n J J'``."""
        return np.asarray((self.n - 1) / self.n * self.deviations @ self.deviations.T)

    def second_matrix(self) -> FloatArray:
        """Give the covariance of the second component as a matrix."""
        everyone = np.arange(len(self.values))
        return self.second.between(everyone[:, None], everyone[None, :])

    def second_own(self) -> FloatArray:
        """Give the variance of the second component of every value."""
        everyone = np.arange(len(self.values))
        return self.second.between(everyone, everyone)


def jackknife(
    means: FloatArray,
    pairs: Sequence[Pair],
    wanted: Sequence[Pair],
    measure: str,
    *,
    bandwidth_psi: FloatArray | None = None,
    further: Mapping[Pair, float] | None = None,
) -> Jackknife:
    """Leave out every row in turn.

    Parameters
    ----------
    means : ndarray, shape (q, m)
        The conditional means A.
    pairs : sequence of Pair
        The pair of each row of A; with the self-pairs if the measure is normalised.
    wanted : sequence of Pair
        The pairs whose dependence is asked for.
    measure : {"hsic", "cka", "dcor"}
    bandwidth_psi : ndarray, shape (q, m), optional
        What data-driven bandwidths add to the influence values.
    further : mapping of Pair to float, optional
        HSICs of pairs that are not in A. Tests need the HSICs of all pairs of the variables
        involved, self-pairs included.
    """
    known = {**(further or {})}
    names = list(dict.fromkeys(name for pair in (*pairs, *known) for name in pair))
    number = {name: i for i, name in enumerate(names)}

    def numbered(some: Sequence[Pair]) -> tuple[IntArray, IntArray]:
        codes = np.array([(number[a], number[b]) for a, b in some], dtype=np.int64)
        codes = codes.reshape(-1, 2)
        return codes[:, 0], codes[:, 1]

    left, right = numbered(pairs)
    other_left, other_right = numbered(list(known))
    hsics = HsicTable(
        np.r_[other_left, left],
        np.r_[other_right, right],
        np.r_[np.array(list(known.values()), dtype=np.float64), means.mean(axis=1)],
        len(names),
    )
    row = {frozenset(pair): i for i, pair in enumerate(pairs)}
    return jackknife_of_rows(
        means,
        (left, right),
        np.array([row[frozenset(pair)] for pair in wanted], dtype=np.int64),
        measure,
        hsics,
        bandwidth_psi=bandwidth_psi,
        names=names,
    )


def jackknife_of_rows(
    means: FloatArray,
    variables: tuple[IntArray, IntArray],
    wanted: IntArray,
    measure: str,
    hsics: HsicTable,
    *,
    bandwidth_psi: FloatArray | None = None,
    names: Sequence[str] | None = None,
    order: int = ORDER,
) -> Jackknife:
    """Leave out every row in turn, for variables that are numbered instead of named.

    Parameters
    ----------
    means : ndarray, shape (q, m)
        The conditional means A.
    variables : pair of ndarray of int, shape (q,)
        The two variables of each row of A.
    wanted : ndarray of int, shape (p,)
        The rows of A whose dependence is asked for.
    measure : {"hsic", "cka", "dcor"}
    hsics : HsicTable
        Of all pairs that will be compared, self-pairs included.
    bandwidth_psi : ndarray, shape (q, m), optional
    names : sequence of str, optional
        Of the variables, for error messages.
    order : int, default 4
        The order of the U-statistic; 2 for statistics of residuals.
    """
    m = means.shape[1]
    check_rows(m)
    without = left_out_hsics(means, bandwidth_psi, order)
    left, right = (side[wanted] for side in variables)
    values = means.mean(axis=1)[wanted]
    left_out = without[wanted]
    scale = np.ones(len(wanted))
    used = np.unique(np.r_[left, right])
    energies = np.ones(hsics.size)
    energies[used] = hsics(used, used)
    _check_energies(energies[used][:, None], 0.0, used, names)
    if measure in NORMALISED:
        energy_row = _self_rows(variables, hsics.size)
        _check_energies(without[energy_row[used]], ROUNDING * energies[used], used, names)
        values = values / np.sqrt(energies[left] * energies[right])
        left_out = left_out / np.sqrt(without[energy_row[left]] * without[energy_row[right]])
    else:
        scale = np.sqrt(energies[left] * energies[right])
    # Σ over the row pairs that an order-r U-statistic averages: 2/(m(m-3)) for r = 4.
    constant = 2.0 / (m * (m - order + 1))
    second = SecondFromHsics(hsics, energies, left, right, measure in NORMALISED, constant)
    deviations = left_out - left_out.mean(axis=1, keepdims=True)
    return Jackknife(values, deviations, second, scale, measure, order)


def left_out_hsics(
    means: FloatArray, bandwidth_psi: FloatArray | None = None, order: int = ORDER
) -> FloatArray:
    """Give every HSIC without each row: ``H - ψ_i/(m-4)``, exact for fixed kernels.

    A bandwidth that the data chose moves too; its part is linear, ``- b_i/(m-1)``.
    """
    m = means.shape[1]
    hsics = means.mean(axis=1, keepdims=True)
    without = hsics - order * (means - hsics) / (m - order)
    if bandwidth_psi is not None:
        without = without - bandwidth_psi / (m - 1)
    return np.asarray(without)


def check_rows(m: int) -> None:
    """Refuse fewer rows than leaving one out in turn makes sense for."""
    if m < FEWEST_ROWS:
        raise InputError(
            f"{m} observations are too few to leave each out in turn; the jackknife needs at "
            f"least {FEWEST_ROWS}.",
            ["Use more data, or ", Option("variance", "fixed-kernel"), "."],
        )


def _self_rows(variables: tuple[IntArray, IntArray], size: int) -> IntArray:
    """Find the row of A that holds the self-pair of each variable."""
    rows = np.full(size, -1, dtype=np.int64)
    own = np.flatnonzero(variables[0] == variables[1])
    rows[variables[0][own]] = own
    return rows


def _check_energies(
    energies: FloatArray,
    zero: FloatArray | float,
    variables: IntArray,
    names: Sequence[str] | None,
) -> None:
    """Refuse a variable whose HSIC with itself is not positive, with or without some row."""
    smallest = energies.min(axis=1)
    if (smallest > zero).all():
        return
    worst = int(np.argmin(smallest > zero))
    variable = int(variables[worst])
    name = f"variable {variable}" if names is None else names[variable]
    where = " once one observation is left out" if energies.shape[1] > 1 else ""
    raise InputError(
        f"the HSIC of {name} with itself is {smallest[worst]:.3g}{where}, so its dependence on "
        "another variable has no scale. There are too few observations or almost no variation "
        f"in {name}.",
        [
            "Use more data, or ",
            Option("measure", "hsic"),
            " with ",
            Option("variance", "fixed-kernel"),
            ".",
        ],
    )
