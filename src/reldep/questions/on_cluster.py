"""Blocks of rows on a Dask cluster: Dask shuffles the rows, and workers compute a row per block."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.block_table import BlockTable
from reldep.exceptions import InputError
from reldep.files.dealt import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine import Pair
    from reldep.questions.stored import BlockWork

# The place of a row in the data, by which the rows of a block are put in order again: the sums then
# do not depend on which worker sent its rows first.
PLACE = "__reldep_place__"
# The hash of a row and its place. Its sum over all rows is the same in every pass over the data.
HASH = "__reldep_hash__"


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
    sums : list of int
        The sum of the hashes in every pass.
    """

    client: Any
    data: Any
    names: list[str]
    n_rows: int
    n_blocks: int
    seed: int
    sums: list[int] = field(default_factory=list)

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
        meta[HASH] = np.empty(0, dtype=np.uint64)
        rows = shuffled.map_partitions(_rows_of_table, work, columns, meta=meta)
        found = self._computed(rows).sort_values(BLOCK)
        found = found[found["n"] > 0]
        hsics: FloatArray = found[columns[2:]].to_numpy()
        sizes = found["n"].to_numpy().astype(np.int64)
        return BlockTable(hsics, sizes, tuple(pairs), n_rows=int(sizes.sum()), n_planned=len(sizes))

    def sample(self, n: int) -> Any:
        """Return about n random rows as a data frame of pandas."""
        each = -(-n // self.data.npartitions)
        own = self.data[self.names]
        meta = _some(own._meta, each, self.seed)
        found = self._computed(own.map_partitions(_some, each, self.seed, meta=meta))
        return found.drop(columns=HASH)

    def _computed(self, frame: Any) -> Any:
        """Compute one pass over the data; raise InputError if they are not those of the others."""
        with self.client.as_current():
            found = frame.compute()
        self.sums.append(int(found[HASH].to_numpy(np.uint64).sum()))
        if self.sums[-1] != self.sums[0]:
            raise InputError(
                "the data have changed while they were computed: two passes over the partitions "
                "give other values. Make them the same every time, or persist them."
            )
        return found


def _generator(seed: int, info: Any) -> np.random.Generator:
    return np.random.default_rng([seed, 0 if info is None else info["number"]])


def _deal(part: Any, n_blocks: int, seed: int, partition_info: Any = None) -> Any:
    """Give every row of a partition a random block, its place in the data, and its hash."""
    rng = _generator(seed, partition_info)
    place, hashes = _places(part, partition_info)
    block = rng.integers(n_blocks, size=len(part))
    return part.assign(**{BLOCK: block, PLACE: place, HASH: hashes})


def _places(part: Any, info: Any) -> tuple[Any, Any]:
    """Return the place of every row of a partition in the data, and its hash there."""
    from pandas.util import hash_pandas_object

    number = 0 if info is None else info["number"]
    place = np.arange(len(part)) + (number << 40)
    hashes = hash_pandas_object(part, index=False).to_numpy()
    return place, hashes * (2 * place.astype(np.uint64) + np.uint64(1))


def _some(part: Any, n: int, seed: int, partition_info: Any = None) -> Any:
    """Return some rows of a partition; the first has the sum of the hashes of all."""
    rng = _generator(seed, partition_info)
    some = part.iloc[np.sort(rng.permutation(len(part))[:n])]
    hashes = np.zeros(len(some), dtype=np.uint64)
    hashes[:1] = _places(part, partition_info)[1].sum(dtype=np.uint64)
    return some.assign(**{HASH: hashes})


def _rows_of_table(part: Any, work: BlockWork, columns: list[str]) -> Any:
    """Return the HSICs of the blocks of a partition."""
    import pandas as pd
    import polars as pl

    rows = []
    frame = pl.from_pandas(part.reset_index(drop=True)).sort(BLOCK, PLACE)
    for block in frame.partition_by(BLOCK, maintain_order=True):
        found = work(block.drop(BLOCK, PLACE, HASH))
        hsics, n = (np.zeros(len(columns) - 2), 0) if found is None else (found.hsics, found.n)
        rows.append([block[BLOCK][0], n, *hsics])
    table = pd.DataFrame(np.array(rows).reshape(-1, len(columns)), columns=columns)
    hashes = np.zeros(len(table), dtype=np.uint64)
    hashes[:1] = part[HASH].to_numpy(np.uint64).sum()
    return table.assign(**{HASH: hashes})


def active_client(client: Any = None) -> Any:
    """Return a client of dask.distributed: the one given, else one that is active, else None."""
    if client is not None or "distributed" not in sys.modules:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None
