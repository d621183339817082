"""The blocks engine: HSICs of random blocks of rows, for any number of rows and any kernel.

The rows are dealt into G blocks of about b rows. A block is a small sample, and its HSICs use all
pairs of its rows. Averages over blocks are unbiased, and a table of G × pairs numbers is all that
is kept. Independent rows are dealt at random; the blocks are then independent, and their spread
gives the standard error. Rows that depend on each other go into different blocks, so that no block
needs a mask; what varies independently are then groups of clusters or runs of time, over which the
pseudo-values of rows are averaged.

A block is an ordinary small data set: the work on one is :func:`row_of`, and where its rows come
from does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import thread_time
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reldep.arguments import check_count
from reldep.data.variables import FloatArray, IntArray
from reldep.engine.block_table import Block, BlockTable, Row
from reldep.engine.centred import Pair, Places, conditional_means, hsic_of
from reldep.engine.dense import HELD_BYTES, Dense, is_many
from reldep.engine.threads import OnProgress, at_work, one_blas_thread, progress_bar, say_nothing
from reldep.engine.tiled import products_of_rows
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel
from reldep.system import available_cores, bytes_of

# Blocks of this many rows lose a few per cent of the standard error where a dependence is moderate;
# with fewer blocks than this the estimate of the error is the larger loss (research: 32 to 140 are
# best for 20,000 to 100,000 rows).
BLOCK_ROWS, LEAST_BLOCKS = 2_000, 50

# Fewer blocks leave Student's t too few degrees of freedom (levels hold from 5 on); smaller blocks
# have HSICs of few 4-tuples.
FEWEST_BLOCKS, FEWEST_ROWS = 5, 8

# A slow kernel gets smaller blocks, by halves down to this, if larger ones take more seconds.
SMALLEST_AUTO, BUDGET_SECONDS = 250, 60.0

# Units of dependent rows: groups of clusters and runs of time; with fewer than the last number
# levels were not shown to hold. A run is three times as long as the dependence reaches.
CLUSTER_GROUPS, RUNS, FEWEST_UNITS, LAGS_IN_A_RUN = 50, 40, 20, 3

# Maximum rows of a cluster, as a multiple of the mean number, and never below the second number:
# large clusters would need as many blocks, or be most of the sample.
CLUSTER_CAP, LEAST_CAP = 2, 10

# Number of blocks that are halved to estimate what pairs of rows add to the variance: a fifth of
# the work of 50 blocks for a relative error of about a third.
SPLIT_BLOCKS = 20


class Dealing(NamedTuple):
    """Which rows each block has and, where rows depend on each other, the unit of every row."""

    blocks: list[IntArray]
    units: IntArray | None


@dataclass(frozen=True)
class Blocks:
    """Average the HSICs of random blocks of rows.

    Parameters
    ----------
    size : int or "auto", default "auto"
        Rows of a block; the default is at most 2,000, with at least 50 blocks, and fewer for a
        kernel that would take more than about a minute.
    rng : int or numpy.random.Generator, optional
        Deals the rows; None is a fixed seed, so that answers repeat.
    threads : int, optional
        By default one for each core that this process may use. The result does not depend on it.
    memory : str or int, optional
        For Parquet files and other tables that can be read in parts: columns that need more, such
        as "1GB", are dealt to blocks on disk. By default a quarter of what is free.
    client : distributed.Client, optional
        For Dask data frames: whose workers deal and compute the blocks. By default the active one.
    on_progress : callable, optional
        Called with the number of blocks done and their total, in place of the bar.

    Notes
    -----
    Where the bar is shown, Ctrl-C after the first fifty blocks ends the work with the answer of the
    blocks done, and a note that says so.

    Examples
    --------
    >>> import numpy as np, reldep
    >>> from reldep.engine import Blocks
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y, z = x + rng.normal(size=2000), rng.normal(size=2000)
    >>> bool(reldep.compare(x, y, z, engine=Blocks(size=100)).pvalue < 0.05)
    True
    """

    size: Any = "auto"
    rng: Any = None
    threads: int | None = None
    memory: str | int | None = None
    client: Any = field(default=None, compare=False, repr=False)
    on_progress: OnProgress | None = field(default=None, compare=False)

    name: ClassVar[str] = "blocks"

    def __post_init__(self) -> None:
        if not (isinstance(self.size, str) and self.size == "auto"):
            check_count("size", self.size, at_least=FEWEST_ROWS)
        if self.threads is not None:
            check_count("threads", self.threads, at_least=1)
        if self.memory is not None:
            bytes_of(self.memory)

    @property
    def n_threads(self) -> int:
        """The number of threads that are used."""
        return self.threads or available_cores()

    def number_of_blocks(self, n: int, seconds: float = 0.0, at_least: int = 1) -> int:
        """Return G for n rows.

        Parameters
        ----------
        n : int
        seconds : float
            The time of one pair of rows.
        at_least : int
            For rows that depend on each other.
        """
        if n // FEWEST_ROWS < max(FEWEST_BLOCKS, at_least):
            raise InputError(
                f"{n} observations are too few for blocks; leave `engine` out: all pairs of "
                "these rows take no time."
            )
        size: Any = self.size
        if size == "auto":
            size = BLOCK_ROWS
            while size >= 2 * SMALLEST_AUTO and seconds * n * size > BUDGET_SECONDS:
                size //= 2
            wanted = max(LEAST_BLOCKS, ceil(n / size), at_least)
        else:
            wanted = max(FEWEST_BLOCKS, round(n / size), at_least)
        return int(min(wanted, n // FEWEST_ROWS))

    def deal(
        self,
        n: int,
        seconds: float = 0.0,
        *,
        clusters: IntArray | None = None,
        max_lag: int | str | None = None,
    ) -> Dealing:
        """Return the rows of every block.

        Parameters
        ----------
        n : int
        seconds : float
            The time of one pair of rows.
        clusters : ndarray of int, shape (n,), optional
            The cluster of every row.
        max_lag : int or "auto", optional
            How many steps apart rows in time order may depend on each other.
        """
        rng = np.random.default_rng(0 if self.rng is None else self.rng)
        check_units(n, clusters, max_lag)
        if clusters is not None:
            codes = np.unique(clusters, return_inverse=True)[1].reshape(-1)
            G = self.number_of_blocks(n, seconds, ceil(n / (codes.max() + 1)))
            return _deal_clusters(codes, G, rng)
        if max_lag is not None:
            lag = 0 if isinstance(max_lag, str) else int(max_lag)
            G = self.number_of_blocks(n, seconds, lag)
            # Each run of G rows gives one to each block; a fixed stride would alias cycles.
            label = np.argsort(rng.random((ceil(n / G), G)), axis=1).ravel()[:n]
            order = np.argsort(label, kind="stable")
            blocks = np.split(order, np.cumsum(np.bincount(label, minlength=G))[:-1])
            return Dealing(blocks, np.arange(n) * _n_runs(n, max_lag) // n)
        parts = np.array_split(rng.permutation(n), self.number_of_blocks(n, seconds))
        return Dealing([np.sort(rows) for rows in parts], None)

    def table(
        self,
        kernels: Sequence[FittedKernel],
        places: Places,
        pairs: Sequence[Pair],
        **dependence: Any,
    ) -> BlockTable:
        """Return the HSICs of all pairs in every block.

        Parameters
        ----------
        kernels : sequence of FittedKernel
        places : sequence of (int, int)
            The numbers of the kernels of every pair.
        pairs : sequence of Pair
            Their names.
        clusters, max_lag
            As for :meth:`deal`.
        """
        n = len(kernels[0])
        seconds = seconds_of_pair(kernels, places) / self.n_threads
        blocks, units = self.deal(n, seconds, **dependence)

        def block_of(number: int) -> Block:
            rows = blocks[number]
            return Block(kernels, rows, None if units is None else units[rows])

        n_units = 0 if units is None else int(units.max()) + 1
        found = self.over_blocks(
            lambda i: row_of(block_of(i), places, n_units, is_split=i < SPLIT_BLOCKS), len(blocks)
        )

        def each(function: Callable[[Block], FloatArray]) -> Iterable[FloatArray]:
            return self.over_blocks(lambda i: function(block_of(i)), len(found))

        return BlockTable.of(
            found,
            pairs,
            n_rows=n,
            n_planned=len(blocks),
            # All pairs have those within clusters or a lag, which only blocks leave out.
            seconds=0.0 if dependence else seconds * n**2,
            each=None if units is None else each,
        )

    def over_blocks(self, work: Callable[[int], Any], n_blocks: int) -> list[Any]:
        """Return what `work` makes of the number of every block; Ctrl-C keeps those done."""
        found: list[Any] = []
        with (
            progress_bar("blocks", self.on_progress) as on_progress,
            at_work(self.n_threads, n_blocks, on_progress) as results,
        ):
            try:
                found.extend(results(work, range(n_blocks)))
            except KeyboardInterrupt:
                if len(found) < LEAST_BLOCKS or on_progress is say_nothing:
                    raise
        return found


def row_of(block: Block, places: Places, n_units: int = 0, *, is_split: bool = False) -> Row:
    """Return what a block gives."""
    kernels, rows, units = block
    n = len(rows)
    if units is None:
        own, sums, counts = block_hsics(kernels, places, rows), None, None
    else:
        means = conditional_means(products_of_rows(kernels, places, rows))
        own = means.mean(axis=1)
        values = own[:, None] + 4.0 * n / (n - 4.0) * (means - own[:, None])
        sums = np.array([np.bincount(units, row, n_units) for row in values]).T
        counts = np.bincount(units, minlength=n_units)
    split = None
    if is_split:
        split = split_of(lambda half: block_hsics(kernels, places, half), rows, own)
    return Row(own, n, split, sums, counts)


def block_hsics(kernels: Sequence[FittedKernel], places: Places, rows: IntArray) -> FloatArray:
    """Return the HSICs of numbered pairs of kernels on some rows."""
    if is_many(len(places), len(kernels)):
        # Several threads hold matrices at a time.
        taken = [kernel.take(rows) for kernel in kernels]
        found = Dense(HELD_BYTES // 8).products(taken, (), places).sums
    else:
        found = products_of_rows(kernels, places, rows).sum(axis=1)
    return hsic_of(found, len(rows))


def split_of(
    hsics_of: Callable[[IntArray], FloatArray], rows: IntArray, own: FloatArray
) -> FloatArray:
    """Return how far HSICs averaged over random halves of a block are from those of the block.

    Given the rows, that average varies around the HSIC of the block by what pairs of rows in
    different halves add, whose variance is that of the second component of the block.
    """
    n = len(rows)
    halves = np.array_split(np.random.default_rng(n).permutation(n), 2)
    return np.asarray(np.mean([hsics_of(rows[np.sort(half)]) for half in halves], axis=0) - own)


def _deal_clusters(codes: IntArray, G: int, rng: np.random.Generator) -> Dealing:
    """Return blocks with rows of a cluster in different ones; units are groups of clusters."""
    n, count = len(codes), int(codes.max()) + 1
    most = min(G, max(LEAST_CAP, ceil(CLUSTER_CAP * n / count)))
    # Clusters in random order, and their rows in random order.
    place = rng.permutation(count)[codes]
    order = np.lexsort((rng.random(n), place))
    first = np.searchsorted(place[order], place[order])
    order = order[np.arange(n) - first < most]
    units = (rng.permutation(count) % min(CLUSTER_GROUPS, count))[codes]
    return Dealing([np.sort(order[g::G]) for g in range(G)], units)


def _n_runs(n: int, max_lag: int | str) -> int:
    lag = 0 if isinstance(max_lag, str) else int(max_lag)
    return min(RUNS, n // (LAGS_IN_A_RUN * (lag + 1)))


def check_units(n: int, clusters: IntArray | None, max_lag: int | str | None) -> None:
    """Raise if there are too few independent units among rows that depend on each other."""
    found, what = FEWEST_UNITS, ""
    if clusters is not None:
        found, what = len(np.unique(clusters)), "clusters"
    elif max_lag is not None:
        found, what = _n_runs(n, max_lag), f"runs of {LAGS_IN_A_RUN} times `max_lag={max_lag}` rows"
    if found < FEWEST_UNITS:
        raise InputError(
            f"`engine='blocks'` needs at least {FEWEST_UNITS} {what}, and there are {found}; leave "
            "`engine` out."
        )


def seconds_of_pair(
    kernels: Sequence[FittedKernel], places: Places, most: int = 256, enough: float = 0.02
) -> float:
    """Return the seconds of one pair of rows, with all kernels and products, by one thread.

    Blocks of more and more rows are timed until one takes `enough` seconds or has `most` rows.
    """
    with one_blas_thread():
        few = min(FEWEST_ROWS, len(kernels[0]))
        block_hsics(kernels, places, np.arange(few))  # loads compiled code
        n = 2 * FEWEST_ROWS
        while True:
            n = min(2 * n, len(kernels[0]))
            started = thread_time()
            block_hsics(kernels, places, np.arange(n))
            spent = thread_time() - started
            if spent > enough or n >= min(most, len(kernels[0])):
                return spent / n**2
