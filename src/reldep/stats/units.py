"""One jackknife for every question: HSICs, and the same without each of n units.

A unit is what varies independently: a row, a cluster of rows, a stretch of a series, a block of a
large sample. Nothing after :class:`Units` depends on which. Rows and clusters are small samples, so
they need scales, degrees of freedom from the kurtosis and the second component that a
jackknife counts twice; a block is a mean of many rows and needs none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations_with_replacement
from math import inf
from typing import TYPE_CHECKING, Self

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Pair
from reldep.engine.clusters import ROUNDING, hsic_without_clusters, masked_hsics, second_parts
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from reldep.engine.block_table import BlockTable
    from reldep.engine.clusters import ClusteredKernel, Clustering
    from reldep.engine.influence import Influence

NORMALISED = ("cka", "dcor")
# An HSIC is a mean over 4-tuples of rows.
ORDER = 4
# With 5 rows a leave-one-out HSIC is one single 4-tuple.
FEWEST_ROWS = ORDER + 2
# The published variance needs conditional means that differ: those of 4 rows are one tuple.
FEWEST_FOR_ERRORS = ORDER + 1
# Above this number of rows, screens for independence would cost more than the published test
# (benchmarks/speed.py), and standard errors show as much.
FEW_OBSERVATIONS = 5_000


@dataclass(frozen=True, eq=False)
class Units:
    """HSICs of pairs of variables, self-pairs included, and the same without each of n units.

    Attributes
    ----------
    noun : str
        What a unit is: "rows", "clusters" or "blocks".
    names : sequence of str
        The variables.
    hsics : ndarray, shape (variables, variables)
        NaN where an HSIC is not known.
    places : ndarray of int, shape (2, q)
        The variables of each row of `without`.
    without : ndarray, shape (q, n)
        The HSICs without each unit.
    constant : float
        Second Hoeffding components of HSICs have the covariance
        ``constant (H_ac H_bd + H_ad H_bc)``; 0 where nothing is counted twice.
    excess : float
        How many times too often the jackknife counts the second component.
    is_small : bool
        Whether a unit is a small sample, for which scales and kurtosis matter.
    most_df : float
        The largest number of degrees of freedom.
    design : ndarray, shape (variables, variables), or None
        For clusters: the factor by which products of pairs of clusters vary more than those of
        pairs of rows. Clusters of one row have a factor of 1.
    products : ndarray, shape (q, q), or None
        For clusters: the covariance of the second components of the HSICs from the products of
        pairs of clusters themselves.
    row_share : float
        The weight of what HSICs say of the second component; the rest is that of `products`.
        It is (G - 1)/(m - 1) for G clusters of m rows, so 1 for clusters of one row. Of few
        clusters HSICs say too much, and tests would reject too often.
    is_linear : bool
        Whether a normalised measure is taken to first order, as with the published variance.
    n_rows : int
        The number of rows, where they are not the units.
    splits : ndarray, shape (q, any), or None
        For blocks: deviations of the HSICs whose mean square is the variance of the second
        component of the averages.
    widening : float
        The factor on all standard errors, for units that are not as many as they seem: residuals
        of a regression.
    """

    noun: str
    names: Sequence[str]
    hsics: FloatArray
    places: IntArray
    without: FloatArray
    constant: float = 0.0
    excess: float = 0.0
    is_small: bool = False
    most_df: float = inf
    design: FloatArray | None = None
    products: FloatArray | None = None
    row_share: float = 1.0
    is_linear: bool = False
    n_rows: int = 0
    splits: FloatArray | None = None
    widening: float = 1.0

    @property
    def n(self) -> int:
        """The number of units."""
        return int(self.without.shape[1])

    @classmethod
    def of(cls, influence: Influence, variance: str) -> Self:
        """Leave out every row, or every block of rows, of conditional means.

        Parameters
        ----------
        influence : Influence
        variance : {"fixed-kernel", "jackknife"}
            `influence` must have been computed for it.
        """
        names, places, hsics = _numbered(influence)
        if influence.blocks is not None:
            places = numbers_of(influence.blocks.pairs, names)
            units = cls.blocks(influence.blocks, names, places)
        elif variance == "fixed-kernel":
            units = cls.published(influence.values, names, places, hsics)
        else:
            units = cls.rows(influence.values, _moves(influence), names, places, hsics)
        return units.widened(influence.share)

    @classmethod
    def rows(
        cls,
        means: FloatArray,
        moved: FloatArray,
        names: Sequence[str],
        places: IntArray,
        hsics: FloatArray,
    ) -> Self:
        """Leave out every row, exactly: ``H - ψ_i/(m-4)``.

        Parameters
        ----------
        means : ndarray, shape (q, m)
            The conditional means A.
        moved : ndarray, shape (q, m)
            What data-driven bandwidths add to the influence values; its part is linear,
            ``- b_i/(m-1)``.
        names, places, hsics
            See the attributes.
        """
        m = means.shape[1]
        check_rows(m)
        centre = means.mean(axis=1, keepdims=True)
        without = centre - ORDER * (means - centre) / (m - ORDER) - moved / (m - 1)
        # Under independence an order-r U-statistic has the variance of this many pairs of rows.
        constant = 2.0 / (m * (m - ORDER + 1))
        return cls("rows", names, hsics, places, without, constant, m / (m - ORDER), True, m - 1.0)

    @classmethod
    def published(
        cls, means: FloatArray, names: Sequence[str], places: IntArray, hsics: FloatArray
    ) -> Self:
        """Return units of the paper's variance: influence values, fixed kernels, the normal law."""
        m = means.shape[1]
        deviations = means - means.mean(axis=1, keepdims=True)
        # What is left of equal conditional means after their mean is taken off is rounding.
        rounding = ROUNDING * np.abs(means).max(axis=1, initial=0.0)
        is_rounding = np.abs(deviations).max(axis=1, initial=0.0) <= rounding
        deviations[is_rounding] = 0.0
        without = means.mean(axis=1, keepdims=True) - ORDER * deviations / np.sqrt(m * (m - 1.0))
        return cls("rows", names, hsics, places, without, is_linear=True)

    @classmethod
    def summed(cls, influence: Influence, codes: IntArray) -> Self:
        """Leave out whole clusters of rows to first order, from the conditional means alone.

        The first Hoeffding component of row i is ``(m-1)/(m-4) (a_i - H)``, so that without a
        cluster g of n rows the HSIC moves by ``-(m-1)/((m-4)(m-n)) Σ_g ψ_i``; for one row this is
        exact. The bias that similar rows give an HSIC stays; it is of the order of the largest
        cluster's share of the rows.
        """
        (names, places, hsics), means = _numbered(influence), influence.values
        m = means.shape[1]
        check_rows(m)
        groups = np.unique(codes, return_inverse=True)[1].reshape(-1)
        sizes = np.bincount(groups)
        check_clusters(len(sizes))
        centre = means.mean(axis=1, keepdims=True)
        moves = (m - 1) / (m - ORDER) * ORDER * (means - centre) + _moves(influence)
        sums = np.array([np.bincount(groups, weights=row) for row in moves])
        without = centre - sums / (m - sizes)
        return cls(
            "clusters", names, hsics, places, without, is_small=True, most_df=len(sizes) - 1.0
        )

    @classmethod
    def clusters(
        cls,
        kernels: Mapping[str, ClusteredKernel],
        pairs: Sequence[Pair],
        clustering: Clustering,
    ) -> Self:
        """Leave out every cluster, exactly, with tuples of rows from four different clusters.

        Parameters
        ----------
        kernels : mapping of str to ClusteredKernel
        pairs : sequence of Pair
            The pairs whose dependence is asked for; self-pairs are added.
        clustering : Clustering
        """
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        wanted = dict.fromkeys([*pairs, *((name, name) for name in names)])
        found = [hsic_without_clusters(kernels[x], kernels[y], clustering) for x, y in wanted]
        places = numbers_of(wanted, names)
        used = [kernels[name] for name in names]
        hsics = masked_hsics(used, clustering)
        # What is left of a variable that differs in one cluster only is rounding.
        sizes = np.array([np.abs(kernel.matrix).max(initial=0.0) for kernel in used])
        rounding = np.flatnonzero(hsics.diagonal() <= ROUNDING * sizes**2)
        hsics[rounding, rounding] = np.minimum(hsics[rounding, rounding], 0.0)
        G, weights = clustering.n, clustering.pair_weights()
        design, products = second_parts(used, places, clustering)
        return cls(
            "clusters",
            names,
            hsics,
            places,
            np.array([without for _, without in found]),
            float(2.0 * np.sum(weights**2) / np.sum(weights) ** 2 * (G - 1) / (G - 3)),
            G / (G - ORDER),
            True,
            G - 1.0,
            design,
            products,
            (G - 1) / (len(clustering.label) - 1),
        )

    @classmethod
    def blocks(cls, table: BlockTable, names: Sequence[str], places: IntArray) -> Self:
        """Leave out blocks of rows or, where rows depend on each other, groups of such rows.

        Blocks are independent, so that their spread contains every component once. The
        pseudo-values of groups contain the second component twice.

        Parameters
        ----------
        table : BlockTable
        names, places
            See the attributes.
        """
        values, sizes = table.hsics, table.sizes
        if table.unit_hsics is not None and table.unit_sizes is not None:
            values, sizes = table.unit_hsics, table.unit_sizes
        weights = (sizes / sizes.sum())[:, None]
        mean = (weights * values).sum(axis=0)
        without = ((mean - weights * values) / (1.0 - weights)).T
        return cls(
            "blocks",
            names,
            square(len(names), places, mean),
            places,
            without,
            table.constant,
            float(table.unit_hsics is not None),
            most_df=len(values) - 1.0,
            n_rows=table.n_rows,
            splits=table.split_deviations(),
        )

    def widened(self, share: float) -> Self:
        """Return the same with errors of fewer units: this share of their number."""
        return replace(self, widening=share**-0.5, constant=self.constant / share)

    @cached_property
    def _rows(self) -> IntArray:
        """The row of each pair of variables in `without`, shape (variables, variables)."""
        rows = np.full(self.hsics.shape, -1)
        everyone = np.arange(self.places.shape[1])
        rows[self.places[0], self.places[1]] = rows[self.places[1], self.places[0]] = everyone
        return rows

    def row_of(self, x: IntArray, y: IntArray) -> IntArray:
        """Return the rows of pairs of variables in `without`, or raise if one is not there."""
        found = self._rows[x, y]
        if (found < 0).any():
            raise KeyError("a pair of variables that was not left out in turn")
        return np.asarray(found)

    def second(self, one: IntArray, two: IntArray, is_normalised: bool) -> FloatArray:
        """Return the covariances of the second components of dependences.

        Exact where the members of each pair are independent. In units in which every self-HSIC is
        1, the gradient of H_uv/√(H_uu H_vv) is 1 in H_uv and -θ/2 in H_uu and in H_vv. Leaving the
        self-pairs out would make the component about 20 times too large at a CKA of 0.85.

        Parameters
        ----------
        one, two : ndarray of int, shape (2, any)
            The variables of the dependences.
        is_normalised : bool
        """
        (u, v), (a, b) = one, two
        u, v, a, b = np.broadcast_arrays(u, v, a, b)
        own = np.sqrt(self.hsics.diagonal()) if is_normalised else np.ones(len(self.hsics))
        H = self.hsics / np.outer(own, own)
        whole, of_first, of_second = np.ones(u.shape), -H[u, v] / 2, -H[a, b] / 2
        terms = [(u, v, whole), (u, u, of_first), (v, v, of_first)]
        A, B = np.stack([a, a, b]), np.stack([b, a, b])
        slopes = np.stack([whole, of_second, of_second])
        if not is_normalised:
            terms, A, B, slopes = terms[:1], A[:1], B[:1], slopes[:1]
        total = np.zeros(u.shape)
        for x, y, slope in terms:
            shared = self.constant * (H[x, A] * H[y, B] + H[x, B] * H[y, A])
            if self.design is not None and self.products is not None:
                products = self.products[self._rows[x, y], self._rows[A, B]]
                products = products / (own[x] * own[y] * own[A] * own[B])
                shared = shared * np.sqrt(self.design[x, y] * self.design[A, B])
                shared = self.row_share * shared + (1.0 - self.row_share) * products
            total += slope * (slopes * shared).sum(axis=0)
        if np.isnan(total).any():
            raise KeyError("an HSIC that the second component needs was not computed")
        return total


def pairs_needed(pairs: Sequence[Pair], measure: str) -> tuple[Pair, ...]:
    """Return the pairs that A must have: normalised measures need the self-pairs too."""
    if measure not in NORMALISED:
        return tuple(pairs)
    selves = [(name, name) for pair in pairs for name in pair]
    return tuple(dict.fromkeys([*pairs, *selves]))


def pairs_beside(pairs: Sequence[Pair], n: int, variance: str) -> tuple[Pair, ...]:
    """Return the pairs whose HSIC alone is needed, by the second component and by screens.

    The second component needs all pairs of the variables. Screens for independence need the
    self-pairs, up to a size beyond which standard errors show as much.
    """
    names = dict.fromkeys(chain.from_iterable(pairs))
    if variance == "jackknife":
        return tuple(combinations_with_replacement(names, 2))
    if n > FEW_OBSERVATIONS:
        return ()
    return tuple((name, name) for name in names)


def square(size: int, places: IntArray, values: FloatArray) -> FloatArray:
    """Return a symmetric table of the values of pairs of numbered variables, else NaN."""
    table = np.full((size, size), np.nan)
    table[places[0], places[1]] = table[places[1], places[0]] = values
    return table


def _numbered(influence: Influence) -> tuple[list[str], IntArray, FloatArray]:
    """Return the variables of A, the numbers of both of each pair, and all HSICs that are known."""
    further: Mapping[Pair, float] = influence.means
    names = list(dict.fromkeys(chain.from_iterable((*influence.pairs, *further))))
    hsics = square(len(names), numbers_of(further, names), np.array([*further.values()]))
    places = numbers_of(influence.pairs, names)
    hsics[places[0], places[1]] = hsics[places[1], places[0]] = influence.values.mean(axis=1)
    return names, places, hsics


def _moves(influence: Influence) -> FloatArray:
    """Return what data-driven bandwidths add to influence values, or raise if not computed."""
    if influence.bandwidth_psi is None:
        raise InputError(
            "the Influence was computed without what `variance='jackknife'` needs; compute it with "
            "`variance='jackknife'`."
        )
    return influence.bandwidth_psi


def numbers_of(pairs: Iterable[Pair], names: Sequence[str]) -> IntArray:
    """Return the places of both names of each pair, shape (2, pairs)."""
    place = {name: i for i, name in enumerate(names)}
    found = [(place[x], place[y]) for x, y in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2).T


def check_rows(m: int) -> None:
    """Raise if there are fewer rows than can be left out in turn."""
    if m < FEWEST_ROWS:
        raise InputError(
            f"{m} observations are too few to leave each out in turn; the jackknife needs at "
            f"least {FEWEST_ROWS}. Use more data, or `variance='fixed-kernel'`."
        )


def check_clusters(count: int) -> None:
    """Raise if there are fewer clusters than can be left out in turn."""
    if count < ORDER:
        raise InputError(
            f"there are {count} clusters; leaving each out in turn needs at least "
            f"{ORDER}. Use data from more clusters, or leave `clusters` out if rows are "
            "independent after all."
        )
