"""Rows that depend on each other: clusters, series, and two clusterings at once.

Up to a few thousand rows the kernel matrices are held and tuples of rows within one cluster are
left out, so that what rows of a cluster share does not look like a dependence of the variables.
Beyond, whole clusters are left out of A to first order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.clusters import FEWEST_CLUSTERS as FEWEST_MASKED
from reldep.engine.clusters import ClusteredKernel, Clustering
from reldep.exceptions import InputError
from reldep.questions.options import generator
from reldep.stats.crossed import cells_of, crossed
from reldep.stats.estimates import estimate_dependences, estimates, moves_of, row_influence
from reldep.stats.independence import circular_test, cluster_independence, t_test
from reldep.stats.units import Numbered, Units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine import Influence, Pair
    from reldep.kernels.base import FittedKernel
    from reldep.questions.study import Study
    from reldep.stats.estimates import Estimates
    from reldep.stats.independence import IndependenceTest
    from reldep.stats.series import RowDependence

# Kernel matrices of this many rows take 72 MB each.
MOST_HELD = 3_000

# Number of random permutations or flips of whole clusters, where that is the test.
PERMUTATIONS = 999


def dependent_estimates(
    influence: Influence,
    pairs: Sequence[Pair],
    measure: str,
    rows: RowDependence,
    fitted: Mapping[str, FittedKernel] | None = None,
    most_held: int = MOST_HELD,
) -> Estimates:
    """Estimate dependences and their errors where rows depend on each other.

    Parameters
    ----------
    influence : Influence
    pairs : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    rows : RowDependence
    fitted : mapping of str to FittedKernel, optional
        Without the kernels whole clusters are left out of A to first order.
    most_held : int
        The largest number of rows whose kernel matrices are held.
    """
    n, table = influence.n_observations, influence.blocks
    if table is not None:
        if table.unit_sizes is None:
            raise InputError(
                "the Influence was computed in blocks of independent rows; pass the data in place "
                "of the Influence, with `clusters` or `max_lag`."
            )
        if rows.clusters is None:
            rows = replace(rows, n_blocks=len(table.unit_sizes))
        return estimate_dependences(influence, pairs, measure, rows=rows)
    psi = row_influence(influence, pairs, measure)

    def finished(units: Units) -> Estimates:
        if rows.memory is not None:
            units = replace(units, most_df=min(units.most_df, rows.memory.most_df))
        return estimates(units, measure, pairs, rows=rows, row_psi=psi)

    def summed(codes: IntArray) -> Estimates:
        known, moves = Numbered.of(influence), moves_of(influence)
        return finished(
            Units.summed(influence.values, moves, codes, known.names, known.places, known.hsics)
        )

    units_of_rows = rows.codes(n)
    if len(units_of_rows) == 2:
        first, second = units_of_rows
        return crossed(*(summed(codes) for codes in (first, second, cells_of(first, second))))
    (codes,) = units_of_rows
    if fitted is None or n > most_held or len(np.unique(codes)) < FEWEST_MASKED:
        return summed(codes)
    clustering = Clustering.of(codes, by_rows=rows.clusters is None)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    kernels = {name: _clustered(fitted[name], clustering) for name in names}
    return finished(Units.clusters(kernels, pairs, clustering))


def _clustered(kernel: FittedKernel, clustering: Clustering) -> ClusteredKernel:
    """Sum up a kernel by clusters, with its slope if the data chose one bandwidth."""
    widths = kernel.bandwidths()
    if len(widths) != 1:
        return ClusteredKernel.of(_matrix(kernel), clustering)
    score = _matrix(widths[0].score)
    np.fill_diagonal(score, 0.0)
    leverage = widths[0].leverage(score.sum(axis=1) / (len(score) - 1))
    return ClusteredKernel.of(
        _matrix(kernel),
        clustering,
        slope=_matrix(widths[0].slope),
        shift=clustering.shift(leverage),
    )


def _matrix(kernel: FittedKernel) -> FloatArray:
    return kernel(slice(None), slice(None))


def dependent_independence(
    study: Study, pair: Pair, found: Estimates, n_permutations: int | None = None
) -> IndependenceTest:
    """Test independence where rows depend on each other."""
    n, rows = len(study.dataset), found.rows
    is_held = n <= MOST_HELD and rows.second_clusters is None
    if not is_held or len(np.unique(rows.codes(n)[0])) < FEWEST_MASKED:
        error = float(found.standard_errors[0])
        if not error > 0:
            raise InputError(
                f"the dependence of {pair[0]} and {pair[1]} is the same without any cluster: they "
                "may be copies of each other, and there is nothing to test."
            )
        return t_test(float(found.values[0]), error, found.n_units() - 1.0)
    x, y = (_matrix(study.fitted[name]) for name in pair)
    if rows.clusters is None:
        return circular_test(x, y)
    clustering = Clustering.of(rows.clusters)
    first, second = (ClusteredKernel.of(matrix, clustering) for matrix in (x, y))
    return cluster_independence(
        first, second, clustering, n_permutations or PERMUTATIONS, generator(study.options)
    )
