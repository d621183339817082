"""Rows in clusters: 4-tuples of rows from four different clusters, and leaving out a cluster.

Rows of one cluster may depend on each other in any way. An HSIC over all 4-tuples is then biased,
since rows of one cluster are alike in both variables; over tuples from four *different* clusters
it is unbiased. Everything here works on dense kernel matrices, O(m²) time and memory, and is
exact: the statistic, and the statistic without each cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reldep.exceptions import InputError, Option
from reldep.stats.jackknife import Jackknife, centred, check_energies
from reldep.stats.measures import NORMALISED
from reldep.stats.second_order import SecondMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.engine.terms import Pair

# Four clusters make one 4-tuple; leaving one out in turn needs two more.
FEWEST_CLUSTERS = 6


class _Counts(NamedTuple):
    """Weighted numbers of ordered pairs, triples and 4-tuples in different clusters."""

    pairs: FloatArray
    triples: FloatArray
    fours: FloatArray


def _counts(p1: FloatArray, p2: FloatArray, p3: FloatArray, p4: FloatArray) -> _Counts:
    """Count from the power sums of the clusters' weights."""
    return _Counts(
        p1**2 - p2,
        p1**3 - 3 * p1 * p2 + 2 * p3,
        p1**4 - 6 * p1**2 * p2 + 3 * p2**2 + 8 * p1 * p3 - 6 * p4,
    )


@dataclass(frozen=True, eq=False)
class Clustering:
    """Rows sorted by cluster, with weights.

    Attributes
    ----------
    order : ndarray of int, shape (m,)
        The rows, cluster by cluster.
    label : ndarray of int, shape (m,)
        The cluster of each row, in that order.
    start : ndarray of int, shape (G,)
        Where each cluster begins.
    weights : ndarray, shape (m,)
        Of rows, in that order.
    """

    order: IntArray
    label: IntArray
    start: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, codes: IntArray, *, by_rows: bool = False) -> Clustering:
        """Sort rows by their cluster.

        Parameters
        ----------
        codes : ndarray of int, shape (m,)
            The cluster of every row.
        by_rows : bool, default False
            Whether every row weighs the same. By default every cluster does, which keeps the
            level where sizes differ widely.
        """
        order = np.argsort(codes, kind="stable")
        _, start, label, sizes = np.unique(
            codes[order], return_index=True, return_inverse=True, return_counts=True
        )
        check_clusters(len(start), FEWEST_CLUSTERS)
        weights = np.ones(len(codes)) if by_rows else 1.0 / sizes[label]
        return cls(order, label, start, weights)

    @property
    def n(self) -> int:
        """The number of clusters, G."""
        return len(self.start)

    @property
    def sizes(self) -> IntArray:
        """The number of rows of every cluster."""
        return np.diff(self.start, append=len(self.label))

    @property
    def apart(self) -> BoolArray:
        """Whether two rows are in different clusters, shape (m, m)."""
        return np.asarray(self.label[:, None] != self.label[None, :])

    def sums(self, values: FloatArray, axis: int = 0) -> FloatArray:
        """Add up over the rows of every cluster."""
        return np.asarray(np.add.reduceat(values, self.start, axis=axis))

    def totals(self) -> FloatArray:
        """Give the weight of every cluster."""
        return self.sums(self.weights)

    def counts(self) -> tuple[_Counts, _Counts]:
        """Count tuples in different clusters, of all and without each cluster."""
        powers = [self.totals() ** k for k in (1, 2, 3, 4)]
        whole = _counts(*(np.asarray(power.sum()) for power in powers))
        return whole, _counts(*(power.sum() - power for power in powers))

    def shift(self, moves: FloatArray) -> FloatArray:
        """Tell how a bandwidth changes without each cluster.

        Parameters
        ----------
        moves : ndarray, shape (m,)
            The influence of every row on the bandwidth, in the order of the input.
        """
        return np.asarray(-self.sums(moves[self.order]) / (len(moves) - self.sizes))


def check_clusters(count: int, fewest: int) -> None:
    """Refuse fewer clusters than leaving one out in turn makes sense for."""
    if count < fewest:
        raise InputError(
            f"there are {count} clusters; leaving each out in turn needs at least {fewest}.",
            [
                "Use data from more clusters, or leave ",
                Option("clusters"),
                " out if rows are independent after all.",
            ],
        )


@dataclass(frozen=True, eq=False)
class ClusteredKernel:
    """A kernel matrix with the sums that every pair needs.

    Attributes
    ----------
    matrix : ndarray, shape (m, m)
        Sorted by cluster; 0 within clusters.
    to_clusters : ndarray, shape (m, G)
        R, weighted sums of each row over each cluster.
    slope : ClusteredKernel or None
        The derivative of the kernel in a bandwidth that the data chose.
    shift : ndarray, shape (G,), or None
        The change of that bandwidth without each cluster.
    """

    matrix: FloatArray
    to_clusters: FloatArray
    blocks: FloatArray
    slope: ClusteredKernel | None = None
    shift: FloatArray | None = None

    @classmethod
    def of(
        cls,
        matrix: FloatArray,
        clustering: Clustering,
        *,
        slope: FloatArray | None = None,
        shift: FloatArray | None = None,
    ) -> ClusteredKernel:
        """Sum up a kernel matrix whose rows are in the order of the input."""
        order = clustering.order
        sorted_matrix = np.where(clustering.apart, matrix[np.ix_(order, order)], 0.0)
        weights = clustering.weights
        to_clusters = clustering.sums(sorted_matrix * weights, axis=1)
        blocks = clustering.sums(to_clusters * weights[:, None])
        moved = None if slope is None else cls.of(slope, clustering)
        return cls(sorted_matrix, to_clusters, blocks, moved, shift)

    @property
    def row_sums(self) -> FloatArray:
        """Of the kernel over rows of other clusters, weighted: k."""
        return np.asarray(self.to_clusters.sum(axis=1))

    @property
    def cluster_sums(self) -> FloatArray:
        """Of the kernel between each cluster and all others: b."""
        return np.asarray(self.blocks.sum(axis=1))

    def centred(self, clustering: Clustering) -> FloatArray:
        """Centre the kernel by row means over other clusters; 0 within clusters."""
        G, totals = clustering.n, clustering.totals()
        pairs = clustering.counts()[0].pairs
        others = totals.sum() - totals[clustering.label]
        mean = self.row_sums / others * (G - 1) / (G - 2)
        middle = self.blocks.sum() / pairs * G / (G - 2)
        return np.where(clustering.apart, self.matrix - mean[:, None] - mean + middle, 0.0)


def masked_hsic(
    X: ClusteredKernel, Y: ClusteredKernel, clustering: Clustering
) -> tuple[float, FloatArray]:
    """Give the HSIC over tuples in different clusters, and the same without each cluster.

    With weights w, sums over rows of other clusters R, k, B, b, s as in
    :class:`ClusteredKernel` (primes for the second kernel)::

        T1 = Σ w_i w_j K_ij L_ij
        T2 = Σ w_i (k_i k'_i - Σ_h R_ih R'_ih)
        T3 = s s' - 4 b·b' + 2 Σ B∘B'
        H  = T1/N2 - 2 T2/N3 + T3/N4

    The bandwidths are held; see :func:`hsic_without_clusters`.
    """
    w = clustering.weights
    products = clustering.sums(w * ((X.matrix * Y.matrix) @ w))
    crossed = X.to_clusters * Y.to_clusters * w[:, None]
    own = crossed.sum(axis=0)
    k, l = X.row_sums, Y.row_sums  # noqa: E741
    rows = clustering.sums(w * k * l - crossed.sum(axis=1))
    blocks = X.blocks * Y.blocks
    between = blocks.sum(axis=0)
    b, c = X.cluster_sums, Y.cluster_sums
    s, t = b.sum(), c.sum()
    whole = (products.sum(), rows.sum(), s * t - 4.0 * (b @ c) + 2.0 * blocks.sum())
    without_rows = whole[1] - rows - ((w * l) @ X.to_clusters - own)
    without_rows -= (w * k) @ Y.to_clusters - own
    without_blocks = (s - 2.0 * b) * (t - 2.0 * c) + 2.0 * (blocks.sum() - 2.0 * between)
    without_blocks -= 4.0 * (b @ c - b * c - Y.blocks @ b - X.blocks @ c + between)
    of_all, of_rest = clustering.counts()
    return (
        float(_combined(*whole, of_all)),
        _combined(whole[0] - 2.0 * products, without_rows, without_blocks, of_rest),
    )


def _combined(
    pairs: FloatArray, triples: FloatArray, fours: FloatArray, counts: _Counts
) -> FloatArray:
    total = pairs / counts.pairs - 2.0 * triples / counts.triples + fours / counts.fours
    return np.asarray(total)


def hsic_without_clusters(
    X: ClusteredKernel, Y: ClusteredKernel, clustering: Clustering
) -> tuple[float, FloatArray]:
    """Give the HSIC, and the HSIC without each cluster when bandwidths move too."""
    value, without = masked_hsic(X, Y, clustering)
    for moving, other in ((X, Y), (Y, X)):
        if moving.slope is not None and moving.shift is not None:
            without = without + masked_hsic(moving.slope, other, clustering)[0] * moving.shift
    return value, without


def block_products(X: FloatArray, Y: FloatArray, clustering: Clustering) -> FloatArray:
    """Sum products of centred kernels between clusters, shape (G, G)."""
    w = clustering.weights
    weighted = X * Y * w[:, None] * w[None, :]
    return clustering.sums(clustering.sums(weighted, axis=0), axis=1)


def cluster_jackknife(
    kernels: Mapping[str, ClusteredKernel],
    wanted: Sequence[Pair],
    measure: str,
    clustering: Clustering,
) -> Jackknife:
    """Leave out every cluster in turn; the clusters take the place of the rows.

    Parameters
    ----------
    kernels : mapping of str to ClusteredKernel
        Of the variables.
    wanted : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    clustering : Clustering

    Returns
    -------
    Jackknife
        With ``n = G`` units and at most G - 1 degrees of freedom, for every test of rows.
    """
    names = list(dict.fromkeys(name for pair in wanted for name in pair))
    normalised = measure in NORMALISED
    selves = {
        name: hsic_without_clusters(kernels[name], kernels[name], clustering) for name in names
    }
    energies = np.array([[value, *without] for value, without in selves.values()])
    check_energies(energies if normalised else energies[:, :1], 0.0, np.arange(len(names)), names)
    middled = {name: kernels[name].centred(clustering) for name in names}
    own = {name: _second_part(middled[name], middled[name], clustering) for name in names}
    values, left_out, parts, scales = [], [], [], []
    for u, v in wanted:
        value, without = hsic_without_clusters(kernels[u], kernels[v], clustering)
        part = _second_part(middled[u], middled[v], clustering)
        scale = float(np.sqrt(selves[u][0] * selves[v][0]))
        if normalised:
            without = without / np.sqrt(selves[u][1] * selves[v][1])
            value, part = value / scale, part / scale
            for name in (u, v):
                part = part - value / (2.0 * selves[name][0]) * own[name]
        values.append(value)
        left_out.append(without)
        parts.append(part.ravel())
        scales.append(1.0 if normalised else scale)
    G = clustering.n
    stacked = np.array(parts)
    constant = 2.0 / float(clustering.counts()[0].pairs) ** 2 * (G - 1) / (G - 3)
    return Jackknife(
        np.array(values),
        *centred(np.array(left_out)),
        SecondMatrix(constant * stacked @ stacked.T),
        np.array(scales),
        measure,
        most_df=G - 1.0,
    )


def _second_part(X: FloatArray, Y: FloatArray, clustering: Clustering) -> FloatArray:
    """Give block products without their mean and row effects: what two clusters share."""
    products = block_products(X, Y, clustering)
    G, totals = clustering.n, clustering.totals()
    expected = np.outer(totals, totals)
    np.fill_diagonal(expected, 0.0)
    mean = products.sum() / clustering.counts()[0].pairs
    effect = products.sum(axis=1) / (totals * (totals.sum() - totals)) - mean
    effect *= (G - 1) / (G - 2)
    part = products - expected * (mean + effect[:, None] + effect)
    np.fill_diagonal(part, 0.0)
    return np.asarray(part)
