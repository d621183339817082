"""Rows that depend on each other: clusters, series, and two clusterings at once.

Up to a few thousand rows the kernel matrices are held and tuples of rows within one cluster are
left out, so that what rows of a cluster share does not look like a dependence of the variables.
Beyond, whole clusters are left out of A to first order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError
from reldep.stats import student
from reldep.stats.clusters import FEWEST_CLUSTERS as FEWEST_MASKED
from reldep.stats.clusters import ClusteredKernel, Clustering, cluster_jackknife
from reldep.stats.dependences import Crossed, Dependences, Jackknifed
from reldep.stats.dependent_rows import cell_codes, clustered_jackknife, time_blocks
from reldep.stats.estimation import influence_of
from reldep.stats.independence import IndependenceTest, circular_test, cluster_independence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import IntArray
    from reldep.engine import Influence, Pair
    from reldep.kernels.base import FittedKernel
    from reldep.questions.study import Study
    from reldep.stats.covariance import RowDependence
    from reldep.stats.jackknife import Jackknife

# Kernel matrices of so many rows take 72 MB each.
MOST_HELD = 3_000

# Whole clusters are permuted so often, where that is the test.
PERMUTATIONS = 999


def dependent_jackknife(
    influence: Influence,
    pairs: Sequence[Pair],
    measure: str,
    rows: RowDependence,
    fitted: Mapping[str, FittedKernel] | None = None,
) -> Dependences:
    """Estimate dependences and their errors where rows depend on each other.

    Parameters
    ----------
    influence : Influence
    pairs : sequence of Pair
    measure : {"hsic", "cka", "dcor"}
    rows : RowDependence
    fitted : mapping of str to FittedKernel, optional
        Without the kernels whole clusters are left out of A to first order.
    """
    psi = influence_of(influence, pairs, measure)
    n = influence.n_observations
    if rows.second_clusters is not None and rows.clusters is not None:
        both = (rows.clusters, rows.second_clusters)
        found = [
            _first_order(influence, pairs, measure, codes) for codes in (*both, cell_codes(*both))
        ]
        values = found[0].values
        return Crossed(tuple(pairs), measure, "jackknife", values, psi, rows, tuple(found))
    codes = unit_codes(rows, n)
    n_units = len(np.unique(codes))
    if fitted is None or n > MOST_HELD or n_units < FEWEST_MASKED:
        jackknife = _first_order(influence, pairs, measure, codes)
    else:
        clustering = Clustering.of(codes, by_rows=rows.clusters is None)
        names = dict.fromkeys(name for pair in pairs for name in pair)
        kernels = {name: _clustered(fitted[name], clustering) for name in names}
        jackknife = cluster_jackknife(kernels, pairs, measure, clustering)
    settled = rows if rows.clusters is not None else rows.in_blocks(n_units)
    return Jackknifed(tuple(pairs), measure, "jackknife", jackknife.values, psi, settled, jackknife)


def unit_codes(rows: RowDependence, n: int) -> IntArray:
    """Give every row the number of its cluster, or of its block of time."""
    if rows.clusters is not None:
        return rows.clusters
    lag = rows.max_lag
    return time_blocks(n, int(lag) if isinstance(lag, (int, np.integer)) else None)


def _first_order(
    influence: Influence, pairs: Sequence[Pair], measure: str, codes: IntArray
) -> Jackknife:
    return clustered_jackknife(
        influence.values,
        influence.pairs,
        pairs,
        measure,
        codes,
        bandwidth_psi=influence.bandwidth_psi,
        further=influence.means,
    )


def _clustered(kernel: FittedKernel, clustering: Clustering) -> ClusteredKernel:
    """Sum up a kernel by clusters, with its slope if the data chose one bandwidth."""
    probes = kernel.bandwidth_probes()
    if len(probes) != 1:
        return ClusteredKernel.of(kernel.matrix(), clustering)
    (probe,) = probes
    side = probe.side.matrix()
    np.fill_diagonal(side, 0.0)
    moves = probe.influence(side.sum(axis=1) / (len(side) - 1))
    return ClusteredKernel.of(
        kernel.matrix(),
        clustering,
        slope=probe.slope.matrix(),
        shift=clustering.shift(moves),
    )


def dependent_independence(
    study: Study, pair: Pair, found: Dependences, n_permutations: int | None = None
) -> IndependenceTest:
    """Test independence where rows depend on each other, and say how."""
    n = len(study.dataset)
    crossed = study.rows.second_clusters is not None
    if n > MOST_HELD or crossed or len(np.unique(unit_codes(study.rows, n))) < FEWEST_MASKED:
        error = float(found.standard_errors[0])
        if not error > 0:
            raise InputError(
                f"the dependence of {pair[0]} and {pair[1]} is the same without any cluster; they "
                "may be copies of each other; there is nothing to test."
            )
        statistic = float(found.values[0]) / error
        df = found.n_units() - 1.0
        return IndependenceTest(
            statistic,
            student.pvalue(statistic, df, "greater"),
            student.log10_pvalue(statistic, df, "greater"),
            "t test of the estimate",
            statistic_name="t",
        )
    x, y = (study.fitted[name] for name in pair)
    if study.rows.clusters is None:
        test = circular_test(x.matrix(), y.matrix())
    else:
        clustering = Clustering.of(study.rows.clusters)
        first, second = (ClusteredKernel.of(k.matrix(), clustering) for k in (x, y))
        test = cluster_independence(
            first, second, clustering, n_permutations or PERMUTATIONS, study.settings.generator()
        )
    return IndependenceTest(
        test.statistic,
        test.pvalue,
        math.log10(test.pvalue),
        test.method,
        statistic_name="statistic",
    )
