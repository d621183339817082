"""Blocks of rows on a Dask cluster: Dask shuffles the rows, and workers compute a row per block."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.files.dealt import BLOCK, UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from reldep.questions.dealing import Deal

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
    seed : int
        Of the random block of every row.
    deal : Deal
        The block of every row, where labels or the order of rows decide it. Without numbers the
        workers draw them.
    sums : list of int
        The sum of the hashes in every pass.
    """

    client: Any
    data: Any
    names: list[str]
    seed: int
    deal: Deal
    sums: list[int] = field(default_factory=list)

    def over_blocks(self, work: Callable[[pl.DataFrame, int], Any]) -> list[Any]:
        """Return what `work` makes of every block.

        A worker that is lost loses no number: the block of a row depends on the seed and on its
        place in the data only, and Dask repeats the work.
        """
        from dask.delayed import delayed

        own, settings, n_blocks = self.data[self.names], (self.seed, self.deal), self.deal.n_blocks
        starts = [0, 0]
        if len(self.deal.numbers):
            starts = np.cumsum([0, *own.map_partitions(len).compute()]).tolist()
        dealt = own.map_partitions(
            _deal, delayed((*settings, starts)), meta=_deal(own._meta, (*settings, [0, 0]))
        )
        shuffled = dealt.shuffle(BLOCK, npartitions=max(1, min(n_blocks, own.npartitions)))
        parts = self._computed([delayed(_on_blocks)(one, work) for one in shuffled.to_delayed()])
        made = {number: one for part in parts for number, one in part.items()}
        return [made.get(number) for number in range(n_blocks)]

    def sample(self, share: float) -> pl.DataFrame:
        """Return a random share of the rows."""
        import polars as pl
        from dask.delayed import delayed

        parts = self.data[self.names].to_delayed()
        found = [delayed(_some)(part, i, share, self.seed) for i, part in enumerate(parts)]
        sampled: list[pl.DataFrame] = self._computed(found)
        return pl.concat(sampled, how="vertical_relaxed")

    def _computed(self, tasks: list[Any]) -> list[Any]:
        """Compute one pass over the data; raise InputError if they are not those of the others.

        Every task returns what it found, and the sum of the hashes of its rows.
        """
        from dask.base import compute

        with self.client.as_current():
            found = compute(*tasks)  # type: ignore[no-untyped-call]
        self.sums.append(sum(total for _, total in found) % 2**64)
        if self.sums[-1] != self.sums[0]:
            raise InputError(
                "the data have changed while they were computed: two passes over the partitions "
                "give other values. Make them the same every time, or persist them."
            )
        return [one for one, _ in found]


def _deal(part: Any, settings: Any, partition_info: Any = None) -> Any:
    """Give every row of a partition its block, its unit, its place in the data, and its hash."""
    seed, deal, starts = settings
    number = 0 if partition_info is None else partition_info["number"]
    place, hashes = _places(part, number)
    beside = {PLACE: place, HASH: hashes}
    if not len(deal.numbers):
        rng = np.random.default_rng([seed, number])
        return part.assign(**{BLOCK: rng.integers(deal.n_blocks, size=len(part))}, **beside)
    rows = slice(starts[number], starts[number + 1])
    if deal.units is not None:
        beside[UNIT] = deal.units[rows]
    return part.assign(**{BLOCK: deal.numbers[rows]}, **beside)


def _places(part: Any, number: int) -> tuple[Any, Any]:
    """Return the place of every row of a partition in the data, and its hash there."""
    from pandas.util import hash_pandas_object

    place = np.arange(len(part)) + (number << 40)
    hashes = hash_pandas_object(part, index=False).to_numpy()
    return place, hashes * (2 * place.astype(np.uint64) + np.uint64(1))


def _some(part: Any, number: int, share: float, seed: int) -> tuple[pl.DataFrame, int]:
    """Return some rows of a partition, and the sum of the hashes of all."""
    import polars as pl

    is_chosen = np.random.default_rng([seed, number]).random(len(part)) < share
    some = pl.from_pandas(part[is_chosen].reset_index(drop=True))
    return some, int(_places(part, number)[1].sum(dtype=np.uint64))


def _on_blocks(part: Any, work: Callable[[pl.DataFrame, int], Any]) -> tuple[dict[int, Any], int]:
    """Return what `work` makes of the blocks of a partition, and the sum of its hashes."""
    import polars as pl

    frame = pl.from_pandas(part.reset_index(drop=True)).sort(BLOCK, PLACE)
    made = {}
    for block in frame.partition_by(BLOCK, maintain_order=True):
        number = int(block[BLOCK][0])
        if number >= 0:
            made[number] = work(block.drop(BLOCK, PLACE, HASH), number)
    return made, int(part[HASH].to_numpy(np.uint64).sum(dtype=np.uint64))


def active_client(client: Any = None) -> Any:
    """Return a client of dask.distributed: the one given, else one that is active, else None."""
    if client is not None or "distributed" not in sys.modules:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None
