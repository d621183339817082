"""Rows that depend on each other: clusters, series, and two clusterings at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import IntArray
from reldep.engine import Influence
from reldep.engine.clusters import ClusteredKernel, Clustering
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel
from reldep.stats.estimates import Estimates, estimates, row_influence
from reldep.stats.independence import IndependenceTest, circular_test, cluster_independence, t_test
from reldep.stats.pairwise import cells_of, crossed
from reldep.stats.series import RowDependence
from reldep.stats.units import Units

if TYPE_CHECKING:
    from reldep.questions.study import Study


def dependent_estimates(study: Study, influence: Influence, rows: RowDependence) -> Estimates:
    """Estimate dependences and their errors where rows depend on each other.

    Where kernel matrices are held, tuples of rows within one cluster are left out, so that
    what rows of a cluster share does not look like a dependence of the variables. Beyond, and
    without kernels, whole clusters are left out of A to first order.
    """
    pairs, measure, n = study.pairs, study.measure, influence.n_observations
    psi = row_influence(influence, pairs, measure)

    def summed(codes: IntArray) -> Estimates:
        return estimates(Units.summed(influence, codes), measure, pairs, rows=rows, row_psi=psi)

    codes, *second = rows.codes(n)
    if second:
        return crossed(*map(summed, (codes, second[0], cells_of(codes, second[0]))))
    clustering = Clustering.of(codes, by_rows=rows.clusters is None)
    if not study.fitted:
        return summed(codes)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    kernels = {name: _clustered(study.fitted[name], clustering) for name in names}
    units = Units.clusters(kernels, pairs, clustering)
    return estimates(units, measure, pairs, rows=rows, row_psi=psi)


def dependent_independence(
    study: Study, found: Estimates, n_permutations: int, rng: np.random.Generator
) -> IndependenceTest:
    """Test independence where rows depend on each other."""
    rows = found.rows
    if found.sides:
        error = float(found.standard_errors[0])
        if not error > 0:
            names = " and ".join(study.names)
            raise InputError(f"{names} are copies of each other; there is nothing to test.")
        return t_test(float(found.values[0]), error, found.n_units() - 1.0)
    x, y = (kernel(slice(None), slice(None)) for kernel in study.fitted.values())
    if rows.clusters is None:
        return circular_test(x, y)
    clustering = Clustering.of(rows.clusters)
    first, second = (ClusteredKernel.of(matrix, clustering) for matrix in (x, y))
    return cluster_independence(first, second, clustering, n_permutations, rng)


def _clustered(kernel: FittedKernel, clustering: Clustering) -> ClusteredKernel:
    """Sum up a kernel by clusters, with its slope if the data chose one bandwidth."""
    everything = (slice(None), slice(None))
    widths = kernel.bandwidths()
    if len(widths) != 1:
        return ClusteredKernel.of(kernel(*everything), clustering)
    score = widths[0].score(*everything)
    np.fill_diagonal(score, 0.0)
    leverage = widths[0].leverage(score.sum(axis=1) / (len(score) - 1))
    return ClusteredKernel.of(
        kernel(*everything),
        clustering,
        slope=widths[0].slope(*everything),
        shift=clustering.shift(leverage),
    )
