"""Blocks of rows on a Dask cluster: Dask shuffles the rows, and workers compute a row per block."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.blocks import BlockTable
from reldep.files.dealt import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine import Pair
    from reldep.questions.stored import BlockWork

# The place of a row in the data, by which the rows of a block are put in order again: the sums then
# do not depend on which worker sent its rows first.
PLACE = "__reldep_place__"


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """The rows of a Dask data frame, dealt into blocks by the workers of a cluster.

    Attributes
    ----------
    client : distributed.Client
    data : dask.dataframe.DataFrame
    names : list of str
        The columns that are used.
    n_rows, n_blocks : int
    seed : int
        Of the random block of every row.
    """

    client: Any
    data: Any
    names: list[str]
    n_rows: int
    n_blocks: int
    seed: int

    def table(self, work: BlockWork, pairs: Sequence[Pair]) -> BlockTable:
        """Return the HSICs of all blocks.

        A worker that is lost loses no number: the block of a row depends on the seed and on its
        place in the data only, and Dask repeats the work.
        """
        import pandas as pd

        own = self.data[self.names]
        dealt = own.map_partitions(
            _deal, self.n_blocks, self.seed, meta=_deal(own._meta, self.n_blocks, self.seed)
        )
        shuffled = dealt.shuffle(BLOCK, npartitions=max(1, min(self.n_blocks, own.npartitions)))
        columns = [BLOCK, "n", *(f"h{p}" for p in range(len(pairs)))]
        meta = pd.DataFrame({name: np.empty(0) for name in columns})
        rows = shuffled.map_partitions(_rows_of_table, work, columns, meta=meta)
        found = self._computed(rows).sort_values(BLOCK)
        hsics: FloatArray = found[columns[2:]].to_numpy()
        sizes = found["n"].to_numpy().astype(np.int64)
        return BlockTable(hsics, sizes, tuple(pairs), n_rows=int(sizes.sum()), n_planned=len(sizes))

    def sample(self, n: int) -> Any:
        """Return about n random rows as a data frame of pandas."""
        each = -(-n // self.data.npartitions)
        own = self.data[self.names]
        return self._computed(own.map_partitions(_some, each, self.seed, meta=own._meta))

    def _computed(self, frame: Any) -> Any:
        with self.client.as_current():
            return frame.compute()


def _generator(seed: int, info: Any) -> np.random.Generator:
    return np.random.default_rng([seed, 0 if info is None else info["number"]])


def _deal(part: Any, n_blocks: int, seed: int, partition_info: Any = None) -> Any:
    """Give every row of a partition a random block, and its place in the data."""
    rng = _generator(seed, partition_info)
    number = 0 if partition_info is None else partition_info["number"]
    place = np.arange(len(part)) + (number << 40)
    return part.assign(**{BLOCK: rng.integers(n_blocks, size=len(part)), PLACE: place})


def _some(part: Any, n: int, seed: int, partition_info: Any = None) -> Any:
    rng = _generator(seed, partition_info)
    return part.iloc[np.sort(rng.permutation(len(part))[:n])]


def _rows_of_table(part: Any, work: BlockWork, columns: list[str]) -> Any:
    """Return the HSICs of the blocks of a partition."""
    import pandas as pd
    import polars as pl

    rows = []
    frame = pl.from_pandas(part.reset_index(drop=True)).sort(BLOCK, PLACE)
    for block in frame.partition_by(BLOCK, maintain_order=True):
        found = work(block.drop(BLOCK, PLACE))
        if found is not None:
            rows.append([block[BLOCK][0], found[1], *found[0]])
    return pd.DataFrame(np.array(rows).reshape(-1, len(columns)), columns=columns)


def active_client(client: Any = None) -> Any:
    """Return a client of dask.distributed: the one given, else one that is active, else None."""
    if client is not None or "distributed" not in sys.modules:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None
