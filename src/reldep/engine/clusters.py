"""Rows in clusters: 4-tuples of rows from four different clusters, and leaving out a cluster.

Rows of one cluster may depend on each other in any way. An HSIC over all 4-tuples is then biased,
since rows of one cluster are alike in both variables; over tuples from four *different* clusters
it is unbiased. Everything here works on dense kernel matrices, O(m²) time and memory, and is
exact: the statistic, and the statistic without each cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray
from reldep.exceptions import InputError

# Four clusters make one 4-tuple; leaving one out in turn needs two more.
FEWEST_CLUSTERS = 6
# Kernel values, or variances, that differ by less than this share of the largest are equal: a
# difference of numbers with sixteen digits.
ROUNDING = 1e-12


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
        if len(start) < FEWEST_CLUSTERS:
            raise InputError(
                f"there are {len(start)} clusters; leaving each out in turn needs at least "
                f"{FEWEST_CLUSTERS}. Use data from more clusters."
            )
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

    def pair_weights(self) -> FloatArray:
        """Return the weight of every pair of rows, 0 within clusters, shape (m, m)."""
        return np.asarray(self.apart * np.outer(self.weights, self.weights))

    def totals(self) -> FloatArray:
        """Return the weight of every cluster."""
        return self.sums(self.weights)

    def counts(self) -> tuple[_Counts, _Counts]:
        """Count tuples in different clusters, of all and without each cluster."""
        powers = [self.totals() ** k for k in (1, 2, 3, 4)]
        whole = _counts(*(np.asarray(power.sum()) for power in powers))
        return whole, _counts(*(power.sum() - power for power in powers))

    def shift(self, moves: FloatArray) -> FloatArray:
        """Return how a bandwidth changes without each cluster.

        Parameters
        ----------
        moves : ndarray, shape (m,)
            The influence of every row on the bandwidth, in the order of the input.
        """
        return np.asarray(-self.sums(moves[self.order]) / (len(moves) - self.sizes))


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

    def is_constant(self, clustering: Clustering) -> bool:
        """Return True if the variable has one value per cluster, as far as its kernel shows."""
        first = self.matrix[clustering.start][clustering.label]
        # Rows of other clusters: 0 stands for the cluster itself.
        change = np.abs(self.matrix - first).max(initial=0.0)
        return bool(change <= ROUNDING * np.abs(self.matrix).max(initial=0.0))

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
    """Return the HSIC over tuples in different clusters, and the same without each cluster.

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
    """Return the HSIC, and the HSIC without each cluster when bandwidths move too."""
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


def masked_hsics(kernels: Sequence[ClusteredKernel], clustering: Clustering) -> FloatArray:
    """Return the HSICs of all pairs of variables over tuples in different clusters.

    The terms of :func:`masked_hsic` for all pairs at once, as products of matrices.
    """
    p, w = len(kernels), clustering.weights
    products = np.zeros((p, p))
    # Some rows of all kernels at a time keep the working array small.
    for start in range(0, len(w), 64):
        run = slice(start, start + 64)
        part = np.array([kernel.matrix[run].ravel() for kernel in kernels])
        products += (part * np.outer(w[run], w).ravel()) @ part.T

    def gram(arrays: list[FloatArray], weights: FloatArray | float = 1.0) -> FloatArray:
        flat = np.array([array.ravel() for array in arrays])
        return np.asarray((flat * weights) @ flat.T)

    b = [kernel.cluster_sums for kernel in kernels]
    shared = gram([kernel.to_clusters for kernel in kernels], np.repeat(w, clustering.n))
    triples = gram([kernel.row_sums for kernel in kernels], w) - shared
    totals = np.array([part.sum() for part in b])
    fours = np.outer(totals, totals) - 4.0 * gram(b) + 2.0 * gram([k.blocks for k in kernels])
    return _combined(products, triples, fours, clustering.counts()[0])


def second_parts(
    kernels: Sequence[ClusteredKernel], places: IntArray, clustering: Clustering
) -> tuple[FloatArray, FloatArray]:
    """Return what pairs of clusters show of the second components of HSICs.

    The second component of an HSIC is a sum over pairs of units. For independent rows its
    variance follows from HSICs; where rows of a cluster go together, sums of products over
    pairs of clusters vary more than products of pairs of rows, by the design factor.

    Parameters
    ----------
    kernels : sequence of ClusteredKernel
    places : ndarray of int, shape (2, q)
        The variables of each HSIC.
    clustering : Clustering

    Returns
    -------
    design : ndarray, shape (variables, variables)
        The design factor of each HSIC; 1 where none is needed, and for clusters of one row.
    covariance : ndarray, shape (q, q)
        Of the second components, from the products of pairs of clusters themselves.
    """
    G = clustering.n
    middled = [kernel.centred(clustering) for kernel in kernels]
    of_rows = clustering.pair_weights()
    of_clusters = clustering.sums(clustering.sums(of_rows, axis=0), axis=1)
    design = np.ones((len(kernels), len(kernels)))
    parts = []
    for u, v in places.T:
        products = of_rows * middled[u] * middled[v]
        sums = clustering.sums(clustering.sums(products, axis=0), axis=1)
        parts.append(_interaction(sums, of_clusters, G).ravel())
        by_rows = np.sum(_interaction(products, of_rows, G) ** 2)
        if by_rows > 0:
            design[u, v] = design[v, u] = parts[-1] @ parts[-1] / by_rows
    flat = np.array(parts)
    scale = 2.0 / np.sum(of_rows) ** 2 * (G - 1) / (G - 3)
    return design, np.asarray(scale * flat @ flat.T)


def _interaction(products: FloatArray, weights: FloatArray, G: int) -> FloatArray:
    """Return products of two units less their mean and row effects."""
    mean = products.sum() / weights.sum()
    effect = (products.sum(axis=1) / weights.sum(axis=1) - mean) * (G - 1) / (G - 2)
    return np.asarray(products - weights * (mean + effect[:, None] + effect))
