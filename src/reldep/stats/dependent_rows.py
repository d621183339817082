"""Rows that depend on each other, from A alone: clusters, time order, crossed clusters.

For samples that are too large for kernel matrices (else see :mod:`reldep.stats.clusters`, which
is exact). The HSICs without a cluster are taken to first order from the conditional means, the
measure is then computed anew, and the clusters take the place of the rows. The bias that alike
rows give an HSIC stays; it is of the order of the largest cluster's share of the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError
from reldep.stats.clusters import check_clusters
from reldep.stats.differences import Differences, TTest, compare_pairs
from reldep.stats.jackknife import (
    ORDER,
    Jackknife,
    centred,
    check_rows,
    measured,
    number_rows,
)
from reldep.stats.second_order import NoSecondComponent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair

FEWEST_CLUSTERS = 4
# Below this many clusters an answer deserves a caution.
FEW_CLUSTERS = 40
# Blocks of a series: more of them mean more power, fewer a better level under long memory.
FEWEST_BLOCKS, MOST_BLOCKS = 6, 16
SHORT_SERIES = 200
LAGS_IN_A_BLOCK = 3


def clustered_jackknife(
    means: FloatArray,
    pairs: Sequence[Pair],
    wanted: Sequence[Pair],
    measure: str,
    codes: IntArray,
    *,
    bandwidth_psi: FloatArray | None = None,
    further: Mapping[Pair, float] | None = None,
) -> Jackknife:
    """Leave out every cluster in turn, to first order.

    Parameters
    ----------
    means, pairs, wanted, measure, bandwidth_psi, further
        As for :func:`reldep.stats.jackknife.jackknife`.
    codes : ndarray of int, shape (m,)
        The cluster of every row.

    Returns
    -------
    Jackknife
        With one unit a cluster, no second component and at most G - 1 degrees of freedom.
    """
    groups = np.unique(codes, return_inverse=True)[1]
    count = int(groups.max()) + 1
    check_clusters(count, FEWEST_CLUSTERS)
    check_rows(means.shape[1])
    numbered = number_rows(means, pairs, wanted, further)
    values, left_out, scale = measured(
        means.mean(axis=1),
        hsics_without_clusters(means, groups, bandwidth_psi),
        numbered.variables,
        numbered.wanted,
        measure,
        numbered.hsics,
        numbered.names,
    )
    return Jackknife(
        values, *centred(left_out), NoSecondComponent(), scale, measure, most_df=count - 1.0
    )


def hsics_without_clusters(
    means: FloatArray, groups: IntArray, bandwidth_psi: FloatArray | None = None
) -> FloatArray:
    """Give every HSIC without each cluster, to first order in its rows.

    The first Hoeffding component of row i is ``(m-1)/(m-4) (a_i - H)``, so that without a cluster
    g of n rows the HSIC moves by ``-(m-1)/((m-4)(m-n)) Σ_g ψ_i``; for one row this is exact.
    """
    m = means.shape[1]
    sizes = np.bincount(groups)
    hsics = means.mean(axis=1, keepdims=True)
    moves = (m - 1) / (m - ORDER) * ORDER * (means - hsics)
    if bandwidth_psi is not None:
        moves = moves + bandwidth_psi
    sums = np.array([np.bincount(groups, weights=row) for row in moves])
    return np.asarray(hsics - sums / (m - sizes))


def time_blocks(m: int, max_lag: int | None = None) -> IntArray:
    """Cut a series into contiguous blocks that stand for clusters.

    Parameters
    ----------
    m : int
        Number of rows, in time order.
    max_lag : int, optional
        How far the dependence reaches, L; blocks are then at least 3 (L + 1) rows long, and fewer
        than 6 such blocks are an error. By default there are 8 blocks below 200 rows and 10 to
        16 beyond.

    Returns
    -------
    ndarray of int, shape (m,)
        The block of every row.
    """
    count = 8 if m < SHORT_SERIES else min(10 + (m - SHORT_SERIES) // 200, MOST_BLOCKS)
    if max_lag is not None:
        longest = m // (LAGS_IN_A_BLOCK * (max_lag + 1))
        if longest < FEWEST_BLOCKS:
            most = m // (LAGS_IN_A_BLOCK * FEWEST_BLOCKS) - 1
            way_out = f"Pass at most `max_lag={most}`, or" if most > 0 else "Use"
            raise InputError(
                f"`max_lag={max_lag}` needs {FEWEST_BLOCKS} blocks of at least "
                f"{LAGS_IN_A_BLOCK * (max_lag + 1)} rows, and there are {m} rows. {way_out} "
                "`max_lag='auto'`."
            )
        count = min(longest, MOST_BLOCKS)
    edges = np.linspace(0, m, count + 1).round().astype(np.int64)
    return np.repeat(np.arange(count), np.diff(edges))


def crossed_test(both: tuple[Jackknife, Jackknife], cells: Jackknife, i: int, j: int) -> TTest:
    """Test a difference where rows share either of two crossed clusterings.

    Subjects and stimuli, say: ``V = max(V_1 + V_2 - V_12, V_1, V_2)`` with V_12 of the cells
    that have both in common, and t with the fewer clusters less 1 degrees of freedom
    (Cameron, Gelbach and Miller, 2011).

    Parameters
    ----------
    both : pair of Jackknife
        By either clustering, of :func:`clustered_jackknife`.
    cells : Jackknife
        By their cells; see :func:`cell_codes`.
    i, j : int
        The two dependences.
    """
    one, two, cell = (
        compare_pairs(found, np.array([i]), np.array([j])) for found in (*both, cells)
    )
    return TTest(
        float(one.estimate[0]),
        math.sqrt(_crossed(one, two, cell, "null_variance")),
        min(found.n for found in both) - 1.0,
        math.sqrt(_crossed(one, two, cell, "here_variance")),
    )


def _crossed(one: Differences, two: Differences, cell: Differences, name: str) -> float:
    first, second, shared = (float(getattr(found, name)[0]) for found in (one, two, cell))
    return max(first + second - shared, first, second)


def cell_codes(first: IntArray, second: IntArray) -> IntArray:
    """Give a number to every cell of two crossed clusterings."""
    together = np.column_stack([first, second])
    return np.asarray(np.unique(together, axis=0, return_inverse=True)[1]).ravel()
