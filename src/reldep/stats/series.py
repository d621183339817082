"""Which rows may depend on each other: clusters, rows in time order, two crossed clusterings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from reldep.data.variables import IntArray

# Stretches of a series: more of them mean more power, fewer a better level under long memory
# (measured for 8 to 16 of them).
FEWEST_BLOCKS, MOST_BLOCKS = 6, 16
BLOCKS_OF_SHORT_SERIES, SHORT_SERIES = 8, 200
# A stretch is at least three times as long as the dependence reaches.
LAGS_IN_A_BLOCK = 3


@dataclass(frozen=True, eq=False)
class RowDependence:
    """Which rows may depend on each other.

    Attributes
    ----------
    clusters : ndarray of int or None
        The number of each row's cluster.
    max_lag : int, "auto" or None
        How many steps apart rows in time order may depend on each other.
    second_clusters : ndarray of int or None
        A second clustering, crossed with the first.
    n_blocks : int or None
        The number of stretches that a series was cut into.
    """

    clusters: IntArray | None = None
    max_lag: int | str | None = None
    second_clusters: IntArray | None = None
    n_blocks: int | None = None

    @classmethod
    def of(
        cls, clusters: IntArray | None, second: IntArray | None, max_lag: int | str | None, n: int
    ) -> RowDependence:
        """Leave out clusterings that have one row in every cluster: these are independent rows."""
        shared = [
            codes
            for codes in (clusters, second)
            if codes is not None and len(np.unique(codes)) < len(codes)
        ]
        first, other = (*shared, None, None)[:2]
        found = cls(first, max_lag or None, other)
        if found.max_lag is None:
            return found
        return replace(found, n_blocks=int(found.codes(n)[0].max()) + 1)

    @property
    def any(self) -> bool:
        """Whether rows may depend on each other at all."""
        return self.clusters is not None or self.max_lag is not None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def codes(self, n: int) -> tuple[IntArray, ...]:
        """Return the unit of each of n rows: one array, or two for crossed clusterings."""
        if self.clusters is None:
            lag = self.max_lag
            return (stretches(n, None if lag is None or isinstance(lag, str) else int(lag)),)
        if self.second_clusters is None:
            return (self.clusters,)
        return self.clusters, self.second_clusters

    def in_words(self) -> str:
        """Return which rows may depend on each other; empty if none do."""
        if self.n_blocks is not None:
            return f"rows in time order, in {self.n_blocks} blocks"
        if self.second_clusters is not None:
            second = len(np.unique(self.second_clusters))
            return f"{self.n_clusters} clusters crossed with {second}"
        return "" if self.n_clusters is None else f"{self.n_clusters} clusters"


INDEPENDENT_ROWS = RowDependence()


def stretches(n: int, max_lag: int | None = None) -> IntArray:
    """Cut a series into contiguous stretches that stand for clusters.

    Parameters
    ----------
    n : int
        Number of rows, in time order.
    max_lag : int, optional
        How far the dependence reaches, L; stretches are then at least 3 (L + 1) rows long, and
        fewer than 6 such stretches are an error. By default there are 8 below 200 rows and 10 to
        16 beyond.

    Returns
    -------
    ndarray of int, shape (n,)
        The stretch of every row.
    """
    count = min(10 + (n - SHORT_SERIES) // 200, MOST_BLOCKS)
    if n < SHORT_SERIES:
        count = BLOCKS_OF_SHORT_SERIES
    if max_lag is not None:
        longest = n // (LAGS_IN_A_BLOCK * (max_lag + 1))
        if longest < FEWEST_BLOCKS:
            most = n // (LAGS_IN_A_BLOCK * FEWEST_BLOCKS) - 1
            at_most = f"Pass at most `max_lag={most}`, or " if most > 0 else "Use "
            raise InputError(
                f"`max_lag={max_lag}` needs {FEWEST_BLOCKS} blocks of at least "
                f"{LAGS_IN_A_BLOCK * (max_lag + 1)} rows, and there are {n} rows. "
                f"{at_most}`max_lag='auto'`."
            )
        count = min(longest, MOST_BLOCKS)
    edges = np.linspace(0, n, count + 1).round().astype(np.int64)
    return np.repeat(np.arange(count), np.diff(edges))
