"""Measures of dependence from HSICs, and all that tests and intervals need of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray
from reldep.engine.centred import Pair
from reldep.engine.clusters import ROUNDING
from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.intervals import Interval, Intervals, limits
from reldep.stats.pairwise import Test, contrast, joined, kurtosis_of, positive_part
from reldep.stats.series import INDEPENDENT_ROWS, RowDependence
from reldep.stats.simultaneous import critical_value
from reldep.stats.units import FEWEST_ROWS, NORMALISED, Units, numbers_of, pairs_needed

if TYPE_CHECKING:
    from reldep.engine.influence import Influence


@dataclass(frozen=True, eq=False)
class Estimates:
    """Dependences with their leave-one-out deviations.

    Attributes
    ----------
    pairs : tuple of Pair
    measure : {"hsic", "cka", "dcor"}
    values : ndarray, shape (p,)
    deviations : ndarray, shape (p, n)
        The values without each unit, less their mean, times `Units.widening`.
    centre : ndarray, shape (p,)
        That mean.
    scale : ndarray, shape (p,)
        ``√(H_xx H_yy)`` of each pair for "hsic", on whose scale an HSIC is at most 1; else ones.
    places : ndarray of int, shape (2, p)
        The variables of each dependence.
    units : Units
    rows : RowDependence
        Which rows may depend on each other.
    row_psi : ndarray, shape (p, m), or None
        The influence of every row to first order, where rows are not the units.
    sides : tuple of Estimates
        For two crossed clusterings: the estimates by the first, by the second and by their cells.
    fragile : tuple of int
        The variables that do not vary without some unit, such as a label that two rows have.
        A normalised dependence on them has an estimate but no standard error.
    """

    pairs: tuple[Pair, ...]
    measure: str
    values: FloatArray
    deviations: FloatArray
    centre: FloatArray
    scale: FloatArray
    places: IntArray
    units: Units
    rows: RowDependence = INDEPENDENT_ROWS
    row_psi: FloatArray | None = None
    sides: tuple[Estimates, ...] = ()
    fragile: tuple[int, ...] = ()

    @cached_property
    def is_unknown(self) -> BoolArray:
        """Which values have no standard error: it is infinite, and their deviations are 0."""
        return np.asarray(np.isin(self.places, self.fragile).any(axis=0))

    @property
    def n(self) -> int:
        """The number of units that were left out in turn."""
        return int(self.deviations.shape[1])

    @cached_property
    def psi(self) -> FloatArray:
        """The influence of every row on every value, shape (p, m).

        Rows sum to 0, and for independent rows ``psi psi' / m²`` is the jackknife covariance.
        """
        if self.row_psi is not None:
            return self.row_psi
        return np.asarray(-np.sqrt(self.n * (self.n - 1.0)) * self.deviations)

    @property
    def keeps_rows(self) -> bool:
        """Whether `psi` has a column for every row, or one for every block of rows."""
        return self.row_psi is not None or self.units.noun != "blocks"

    @property
    def n_observations(self) -> int:
        """The number of rows."""
        if self.row_psi is not None:
            return int(self.row_psi.shape[1])
        return self.units.n_rows or self.n

    @property
    def variance(self) -> str:
        """How errors are assessed: "jackknife" or, with kernels held fixed, "fixed-kernel"."""
        return "fixed-kernel" if self.units.is_linear else "jackknife"

    def n_units(self) -> int:
        """Return the number of units that vary independently; of crossed clusterings the fewer."""
        return int(self.units.most_df) + 1 if self.rows.any else self.n_observations

    @property
    def is_bounded(self) -> bool:
        """Whether the measure is at most 1."""
        return self.measure in NORMALISED

    def second(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the covariances of the second components of dependences i and j.

        They are 0 where the jackknife counts no component too often.
        """
        if not self.units.excess:
            return np.zeros(np.broadcast_shapes(i.shape, j.shape))
        return self.units.second(self.places[:, i], self.places[:, j], self.is_bounded)

    def loss(self) -> float:
        """Return how much longer intervals by blocks are than with all pairs of rows, as a share.

        ``√(V/(V-C)) - 1`` with C the second component, of which all pairs have hardly any: of the
        difference where there are two dependences, else the median. Halves of blocks show C;
        without them it follows from HSICs, too small where dependences are strong.
        """
        at, J, by_splits = self.places, self.deviations, self._second_by_splits()
        is_difference = len(self.values) == 2
        if is_difference:
            J = np.diff(J, axis=0)
        if by_splits is not None:
            if is_difference:
                by_splits = np.diff(by_splits, axis=0)
            part = np.square(by_splits).mean(axis=1)
        else:
            part = self.units.second(at, at, self.is_bounded)
            if is_difference:
                crossed = self.units.second(at[:, :1], at[:, 1:], self.is_bounded)
                part = part.sum() - 2.0 * crossed
        whole = (self.n - 1) / self.n * np.einsum("ij,ij->i", J, J)
        whole = corrected(whole, part, self.units.excess)
        share = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
        return float(np.median(1.0 / np.sqrt(1.0 - np.clip(share, 0.0, 0.9)) - 1.0))

    def _second_by_splits(self) -> FloatArray | None:
        """Return the deviations of every value that come from pairs of rows, if known."""
        units, (x, y) = self.units, self.places
        if units.splits is None:
            return None
        change = units.splits[units.row_of(x, y)]
        if not self.is_bounded:
            return np.asarray(change)
        energies, used = units.hsics.diagonal(), np.unique(self.places)
        moved = energies[used, None] + units.splits[units.row_of(used, used)]
        own = dict(zip(used.tolist(), moved, strict=True))
        scale = np.sqrt(energies[x] * energies[y])
        return linear_change(self.places, self.values, scale, energies, change, own)

    @cached_property
    def second_variances(self) -> FloatArray:
        """The variance of the second component of every value."""
        everyone = np.arange(len(self.values))
        return self.second(everyone, everyone)

    @cached_property
    def jackknife_variances(self) -> FloatArray:
        """The jackknife variance of every value, ``(n-1)/n Σ J²``."""
        J = self.deviations
        found = (self.n - 1) / self.n * np.einsum("ij,ij->i", J, J)
        return np.where(self.is_unknown, np.inf, found)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """The standard error of every value."""
        if self.sides:
            return np.sqrt(joined(*(side.standard_errors**2 for side in self.sides)))
        return np.sqrt(
            corrected(self.jackknife_variances, self.second_variances, self.units.excess)
        )

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance of the values, positive semi-definite.

        ``C + (S - (k+1) C)₊`` with S the jackknife covariance, C that of the second component
        and k its excess: the matrix form of ``max(S - k C, C)``.
        """
        S = (self.n - 1) / self.n * self.deviations @ self.deviations.T
        if self.fragile:
            known = np.flatnonzero(~self.is_unknown)
            S = np.diag(np.where(self.is_unknown, np.inf, 0.0))
            S[np.ix_(known, known)] = replace(self.only(known.tolist()), fragile=()).covariance
        if self.fragile or not self.units.excess:
            return np.asarray(S)
        everyone = np.arange(len(self.values))
        C = self.second(everyone[:, None], everyone)
        left = S - (self.units.excess - 1.0) * C
        # In units of each value's own deviation, so that the result does not depend on scales.
        own = np.where(left.diagonal() > 0, left.diagonal(), C.diagonal())
        root = np.sqrt(np.where(own > 0, own, 1.0))
        scale = np.outer(root, root)
        C = positive_part(C / scale)
        return np.asarray((C + positive_part(left / scale - 2.0 * C)) * scale)

    def covariance_with(self, weights: FloatArray, variance: float) -> FloatArray:
        """Return the covariance moved along one contrast, so that it has this variance.

        The change has rank one and keeps the matrix positive semi-definite.
        """
        if not np.isfinite(variance):
            return self.covariance
        direction = self.covariance @ weights
        present = float(weights @ direction)
        # One that agrees already keeps its last digits, and zeros stay exactly 0.
        if abs(variance - present) <= ROUNDING * variance:
            return self.covariance
        change = (variance - present) / present**2
        return np.asarray(self.covariance + change * np.outer(direction, direction))

    @cached_property
    def kurtosis(self) -> FloatArray:
        """The kurtosis of the deviations of every value."""
        return kurtosis_of(self.deviations)

    def df(self, kurtosis: FloatArray, *, is_pooled: bool = False) -> FloatArray:
        """Return ``2(n-4)/(κ-1)``: a mean of n squares has relative variance (κ-1)/n.

        The 4 was chosen by simulation at n = 20. There are at most `Units.most_df`, and as many
        for fewer units than 6, whose kurtosis shows nothing. Of many tests the kurtosis is
        corrected for its bias and at least the mean of all, see :func:`degrees_of_freedom`.
        """
        if not self.units.is_small or self.n < FEWEST_ROWS:
            return np.full(np.shape(kurtosis), self.units.most_df)
        most = self.units.most_df
        return np.minimum(degrees_of_freedom(kurtosis, self.n, is_pooled=is_pooled), most)

    def interval(self, i: int, confidence_level: float) -> Interval:
        """Return the interval of one dependence."""
        return Interval(*(float(end[0]) for end in self.only([i]).intervals(confidence_level)))

    def intervals(self, confidence_level: float, maxima: FloatArray | None = None) -> Intervals:
        """Return the interval of every dependence by itself, or intervals that hold at once.

        Parameters
        ----------
        confidence_level : float
        maxima : ndarray, optional
            For intervals that hold at once: simulated largest studentised errors of the
            dependences, sorted.
        """
        df = self.df(self.kurtosis, is_pooled=maxima is not None)
        if maxima is None:
            return limits(self, student.quantile(0.5 + confidence_level / 2, df))
        critical = critical_value(maxima, confidence_level)
        return limits(self, student.quantile_at(critical, df), is_floored=True)

    def test(self, weights: FloatArray) -> Test:
        """Test whether a weighted sum of the dependences is 0."""
        test = contrast(self, weights)
        if not test.standard_error > 0:
            listed = ", ".join(f"{x} ~ {y}" for x, y in self.pairs)
            raise InputError(
                f"the estimated variance of the contrast of {listed} is 0: the dependences are "
                "the same for every observation, as when two variables are identical or copies "
                "of each other. There is nothing to test; compare different variables."
            )
        return test

    def only(self, which: Sequence[int]) -> Self:
        """Return some of the dependences, with the errors that they have among all."""
        kept = list(which)
        return replace(
            self,
            pairs=tuple(self.pairs[i] for i in kept),
            values=self.values[kept],
            deviations=self.deviations[kept],
            centre=self.centre[kept],
            scale=self.scale[kept],
            places=self.places[:, kept],
            row_psi=None if self.row_psi is None else self.row_psi[kept],
            sides=tuple(side.only(kept) for side in self.sides),
        )

    def without(self, rows: IntArray) -> FloatArray | None:
        """Return all values without one row, if rows are the units; else None."""
        if len(rows) != 1 or self.rows.any or self.units.is_linear:
            return None
        return np.asarray(self.centre + self.deviations[:, int(rows[0])] / self.units.widening)


def estimate_dependences(
    influence: Influence,
    pairs: Sequence[Pair],
    measure: str,
    variance: str = "fixed-kernel",
    rows: RowDependence = INDEPENDENT_ROWS,
) -> Estimates:
    """Estimate the measure of every pair from conditional means of independent rows, or by blocks.

    Parameters
    ----------
    influence : Influence
        Computed for this variance.
    pairs : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    variance : {"fixed-kernel", "jackknife"}
    rows : RowDependence
        For blocks of rows: which rows they were dealt by.
    """
    for pair in pairs_needed(pairs, measure):
        influence.row(pair)  # raises if it was not computed
    return estimates(Units.of(influence, variance), measure, pairs, rows=rows)


def estimates(
    units: Units,
    measure: str,
    pairs: Sequence[Pair] = (),
    *,
    places: IntArray | None = None,
    rows: RowDependence = INDEPENDENT_ROWS,
    row_psi: FloatArray | None = None,
) -> Estimates:
    """Compute the measure of pairs from their HSICs, of all units and without each.

    Parameters
    ----------
    units : Units
        With the self-pairs if the measure is normalised.
    measure : {"hsic", "cka", "dcor"}
    pairs : sequence of Pair
    places : ndarray of int, shape (2, p), optional
        The numbers of the variables of each pair, by default those of `pairs`.
    rows, row_psi
        See :class:`Estimates`.
    """
    if places is None:
        places = numbers_of(pairs, units.names)
    if rows.memory is not None:
        units = replace(units, most_df=min(units.most_df, rows.memory.most_df))
    row = units.row_of(places[0], places[1])
    energies = units.hsics.diagonal()
    hsics, without = units.hsics[places[0], places[1]], units.without[row]
    is_normalised, fragile = measure in NORMALISED, ()
    # The published variance of an HSIC needs no scale; one that is known serves for planning.
    known = energies[places].min(axis=0)
    scale = np.sqrt(np.where(known > 0, energies[places].prod(axis=0), 1.0))
    if is_normalised or not units.is_linear:
        used = np.unique(places)
        check_energies(energies[used], [units.names[v] for v in used])
        scale = np.sqrt(energies[places[0]] * energies[places[1]])
    if is_normalised:
        own = dict(zip(used.tolist(), units.without[units.row_of(used, used)], strict=True))
        if units.is_linear:
            values = hsics / scale
            moved = linear_change(places, values, scale, energies, without - hsics[:, None], own)
            without, hsics = values[:, None] + moved, values
        else:
            least = np.array([own[int(v)].min() for v in used])
            fragile = tuple(used[least <= ROUNDING * energies[used]].tolist())
            own |= dict.fromkeys(fragile, np.ones(units.n))
            x, y = (np.array([own[int(v)] for v in side]) for side in places)
            hsics, without = hsics / scale, without / np.sqrt(x * y)
            unknown = np.isin(places, fragile).any(axis=0)
            without[unknown] = hsics[unknown, None]
        scale = np.ones(len(row))
    centre = without.mean(axis=1)
    deviations = units.widening * (without - centre[:, None])
    return Estimates(
        tuple(pairs),
        measure,
        hsics,
        deviations,
        centre,
        scale,
        places,
        units,
        rows,
        row_psi,
        fragile=fragile,
    )


def linear_change(
    places: IntArray,
    values: FloatArray,
    scale: FloatArray,
    energies: FloatArray,
    change: FloatArray,
    own: dict[int, FloatArray],
) -> FloatArray:
    """Return the change of ``H_xy/√(H_xx H_yy)`` to first order in those of the HSICs."""
    moved = {v: (without - energies[v]) / energies[v] for v, without in own.items()}
    relative = np.array([moved[x] + moved[y] for x, y in places.T.tolist()])
    # One term after another: what a variable and its copy have in common cancels exactly.
    return np.asarray(change / scale[:, None] - 0.5 * values[:, None] * relative)


def row_influence(influence: Influence, pairs: Sequence[Pair], measure: str) -> FloatArray:
    """Return the influence of every row on the measure of every pair, to first order."""
    psi = influence.psi
    if influence.bandwidth_psi is not None:
        psi = psi + influence.bandwidth_psi
    rows = [influence.row(pair) for pair in pairs]
    if measure not in NORMALISED:
        return np.asarray(psi[rows])
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    at = [influence.row((name, name)) for name in names]
    energies = influence.estimates[at]
    places = numbers_of(pairs, names)
    scale = np.sqrt(energies[places[0]] * energies[places[1]])
    own = {i: psi[row] + energies[i] for i, row in enumerate(at)}
    values = influence.estimates[rows] / scale
    return linear_change(places, values, scale, energies, psi[rows], own)


def check_energies(energies: FloatArray, names: Sequence[str]) -> None:
    """Raise if the HSIC of a variable with itself is not positive."""
    for name, energy in zip(names, energies.tolist(), strict=True):
        if not energy > 0:
            raise InputError(
                f"{name} varies too little for its dependence on anything to have a scale (its "
                f"HSIC with itself is {energy:.2g}). Use more data, or leave it out."
            )


def corrected(variance: FloatArray, second: FloatArray, excess: float) -> FloatArray:
    """Return ``max(V - k C, C)``: a jackknife variance less what it counts too often."""
    part = np.maximum(second, 0.0)
    return np.asarray(np.maximum(variance - excess * part, part))


def degrees_of_freedom(
    kurtosis: FloatArray, n: int | IntArray, *, is_pooled: bool = False
) -> FloatArray:
    """Return ``2(n-4)/(κ-1)``, at most n - 1.

    The kurtosis of many tests is corrected for its bias,
    ``3 + (n-1)((n+1)(κ-3) + 6)/((n-2)(n-3))``, and is at least the mean of all: a kurtosis by
    itself is noisy and low where it matters. The number of units may differ from one to another.
    """
    if is_pooled:
        kurtosis = 3.0 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (kurtosis - 3.0) + 6.0)
        kurtosis = np.maximum(kurtosis, kurtosis.mean())
    # At most n - 1, and finite for a kurtosis of 1.
    return np.asarray(2.0 * (n - 4) / np.maximum(kurtosis - 1.0, 2.0 * (n - 4) / (n - 1.0)))
