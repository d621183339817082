"""Exact leave-one-out values of dependences, and their covariance: the jackknife.

Everything here is a function of the conditional means A, of the influence of data-driven
bandwidths and of HSICs; no kernel matrix is needed. For m rows the HSIC without row i is exactly
``H - ψ_i/(m-4)``, so that a measure can be computed anew without each row in O(m).

The jackknife counts the second Hoeffding component of an HSIC about twice, so its covariance is
kept beside it (:class:`SecondComponent`) and taken off by the tests that use a
:class:`Jackknife`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from reldep.exceptions import InputError
from reldep.stats.covariance import ROUNDING
from reldep.stats.measures import ALL_BUT_ONE, NORMALISED
from reldep.stats.second_order import HsicTable, SecondComponent, SecondFromHsics
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair

# An HSIC is a mean over 4-tuples of rows.
ORDER = 4
# With 5 rows a leave-one-out HSIC is one single 4-tuple.
FEWEST_ROWS = 6


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Dependences with their leave-one-out deviations.

    Attributes
    ----------
    values : ndarray, shape (p,)
        The measure of each pair.
    deviations : ndarray, shape (p, n)
        The measure without each of n units (rows, or clusters of rows), less the mean over units.
    centre : ndarray, shape (p,)
        That mean.
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
    centre: FloatArray
    second: SecondComponent
    scale: FloatArray
    measure: str
    order: int = ORDER
    most_df: float = inf

    keeps_rows: ClassVar[bool] = True
    """Whether `deviations` has a column for every unit, or only their sums of products."""

    @property
    def n(self) -> int:
        """The number of units that were left out in turn."""
        return int(self.deviations.shape[1])

    @property
    def excess(self) -> float:
        """How many times too often the jackknife counts the second component: ``n/(n-4)``."""
        # Clusters may be as few as 4; nothing is taken off of them.
        return self.n / max(self.n - self.order, 1)

    @property
    def bounded(self) -> bool:
        """Whether the measure is at most 1."""
        return self.measure in NORMALISED

    def only(self, kept: list[int]) -> Self:
        """Keep some of the dependences."""
        return replace(
            self,
            values=self.values[kept],
            deviations=self.deviations[kept],
            centre=self.centre[kept],
            second=self.second.only(kept),
            scale=self.scale[kept],
        )

    def without(self, unit: int) -> FloatArray:
        """Give every value without one unit."""
        return np.asarray(self.centre + self.deviations[:, unit])

    def variances(self) -> FloatArray:
        """Give the jackknife variance of every value, ``(n-1)/n Σ J²``."""
        factor = (self.n - 1) / self.n
        return np.asarray(factor * np.einsum("ij,ij->i", self.deviations, self.deviations))

    def covariance(self) -> FloatArray:
        """Give the jackknife covariance of the values, ``(n-1)/n J J'``."""
        return np.asarray((self.n - 1) / self.n * self.deviations @ self.deviations.T)

    def fourth_powers(self, weights: FloatArray) -> FloatArray:
        """Sum the fourth powers of weighted sums of deviations, one for each row of weights."""
        squares = (weights @ self.deviations) ** 2
        return np.asarray(np.einsum("ij,ij->i", squares, squares))

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
    order: int = ORDER,
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
    order : int, default 4
        The order of the U-statistic; 2 for statistics of residuals.
    """
    numbered = number_rows(means, pairs, wanted, further)
    return jackknife_of_rows(
        means,
        numbered.variables,
        numbered.wanted,
        measure,
        numbered.hsics,
        bandwidth_psi=bandwidth_psi,
        names=numbered.names,
        order=order,
    )


class NumberedRows(NamedTuple):
    """Rows of A with their variables numbered in place of named."""

    variables: tuple[IntArray, IntArray]
    wanted: IntArray
    hsics: HsicTable
    names: Sequence[str]


def number_rows(
    means: FloatArray,
    pairs: Sequence[Pair],
    wanted: Sequence[Pair],
    further: Mapping[Pair, float] | None = None,
) -> NumberedRows:
    """Replace the names of variables by numbers; parameters as for :func:`jackknife`."""
    known = dict(further or {})
    names = list(dict.fromkeys(name for pair in (*pairs, *known) for name in pair))
    number = {name: i for i, name in enumerate(names)}

    def numbers(some: Sequence[Pair]) -> tuple[IntArray, IntArray]:
        codes = np.array([(number[a], number[b]) for a, b in some], dtype=np.int64)
        codes = codes.reshape(-1, 2)
        return codes[:, 0], codes[:, 1]

    left, right = numbers(pairs)
    other_left, other_right = numbers(list(known))
    values = np.array(list(known.values()), dtype=np.float64)
    hsics = HsicTable(
        np.r_[other_left, left],
        np.r_[other_right, right],
        np.r_[values, means.mean(axis=1)],
        len(names),
    )
    row = {frozenset(pair): i for i, pair in enumerate(pairs)}
    rows = np.array([row[frozenset(pair)] for pair in wanted], dtype=np.int64)
    return NumberedRows((left, right), rows, hsics, names)


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
    values, left_out, scale = measured(
        means.mean(axis=1), without, variables, wanted, measure, hsics, names
    )
    left, right = (side[wanted] for side in variables)
    energies = _energies(np.r_[left, right], hsics)
    # Under independence an order-r U-statistic has the variance of so many pairs of rows.
    constant = 2.0 / (m * (m - order + 1))
    second = SecondFromHsics(hsics, energies, left, right, measure in NORMALISED, constant)
    return Jackknife(values, *centred(left_out), second, scale, measure, order)


def measured(
    hsic_values: FloatArray,
    without: FloatArray,
    variables: tuple[IntArray, IntArray],
    wanted: IntArray,
    measure: str,
    hsics: HsicTable,
    names: Sequence[str] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Turn HSICs, and HSICs without each unit, into the measure; give its scale too.

    Parameters
    ----------
    hsic_values : ndarray, shape (q,)
    without : ndarray, shape (q, n)
    variables, wanted, measure, hsics, names
        As for :func:`jackknife_of_rows`.
    """
    left, right = (side[wanted] for side in variables)
    used = np.unique(np.r_[left, right])
    energies = _energies(used, hsics)
    check_energies(energies[used][:, None], 0.0, used, names)
    scale = np.sqrt(energies[left] * energies[right])
    if measure not in NORMALISED:
        return hsic_values[wanted], without[wanted], scale
    energy_row = _self_rows(variables, hsics.size)
    check_energies(without[energy_row[used]], ROUNDING * energies[used], used, names)
    left_out = without[wanted] / np.sqrt(without[energy_row[left]] * without[energy_row[right]])
    return hsic_values[wanted] / scale, left_out, np.ones(len(wanted))


def _energies(used: IntArray, hsics: HsicTable) -> FloatArray:
    """Give the HSIC of each variable with itself; 1 for variables that are not used."""
    energies = np.ones(hsics.size)
    energies[used] = hsics(used, used)
    return energies


def centred(left_out: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take the mean over units off every row; give the rows and the means."""
    means = left_out.mean(axis=1)
    return left_out - means[:, None], means


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
            f"{counted(m, 'observation')} are too few to leave each out in turn; the jackknife "
            "needs at least "
            f"{FEWEST_ROWS}. Use more data, or `variance='fixed-kernel'`."
        )


def _self_rows(variables: tuple[IntArray, IntArray], size: int) -> IntArray:
    """Find the row of A that holds the self-pair of each variable."""
    rows = np.full(size, -1, dtype=np.int64)
    own = np.flatnonzero(variables[0] == variables[1])
    rows[variables[0][own]] = own
    return rows


def check_energies(
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
        "another variable has no scale. There are too few observations, or almost no variation in "
        f"{name} beyond rounding.{ALL_BUT_ONE} Use other data, or `measure='hsic'` with "
        "`variance='fixed-kernel'`."
    )
