"""Rows of a table that does not fit into memory are dealt into blocks, on disk or on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep.checks.subjects import MOST_ROWS
from reldep.data.objects import read_labels
from reldep.data.variables import MISSING_CODE, IntArray, Labels
from reldep.engine.blocks import FEWEST_BLOCKS, FEWEST_ROWS, Blocks
from reldep.exceptions import InputError
from reldep.files.in_parts import BLOCK, UNIT, DealtRows
from reldep.files.table import Table, at_once
from reldep.questions.options import check_lag
from reldep.questions.stored import StoredRows, check_group
from reldep.stats.series import RowDependence
from reldep.system import available_memory, bytes_of

if TYPE_CHECKING:
    import polars as pl

    #: What is made of the frame and the number of a block.
    Work = Callable[[pl.DataFrame, int], Any]


# Columns stay in memory if they take no more than one in so many bytes that are free: variables,
# points and blocks are copies of them.
IN_MEMORY, VALUE_BYTES = 4, 8

# Rows that are read at a time, and rows that the question looks at for kinds, kernels and cautions:
# the mean distance of so many rows has an error of a few tenths of a per cent. Of many columns
# fewer rows are looked at, with no more numbers than this.
BATCH_ROWS, SAMPLE_ROWS, SAMPLE_NUMBERS = 250_000, 50_000, 12_500_000

# Rows that show whether a table is in the order of time.
ORDERED_ROWS = 20_000

# The place of a row in the data, by which the rows of a block are put in order again: the sums then
# do not depend on which worker sent its rows first.
PLACE = "__reldep_place__"
# The hash of a row and its place. Its sum over all rows is the same in every pass over the data.
HASH = "__reldep_hash__"


class Deal(NamedTuple):
    """How the rows of a table are dealt into blocks.

    Attributes
    ----------
    n_blocks : int
    numbers : ndarray of int, shape (n_rows,)
        The block of every row, -1 for a row that no block has; empty where workers draw them.
    units : ndarray of int, shape (n_rows,), or None
        The unit of every row, where rows depend on each other.
    groups : mapping of label to range
        The blocks of every group of rows.
    """

    n_blocks: int
    numbers: IntArray = np.empty(0, dtype=np.int64)
    units: IntArray | None = None
    groups: Mapping[Any, range] = {}

    @classmethod
    def of(cls, engine: Blocks, n: int, rows: RowDependence, labels: Labels | None) -> Deal:
        """Deal n rows as they are dealt in memory, those of every group by themselves."""
        blocks: list[IntArray] = []
        groups: dict[Any, range] = {}
        units = None
        if labels is None:
            blocks, units = engine.deal(n, clusters=rows.clusters, max_lag=rows.max_lag)
        else:
            for code, label in enumerate(labels.categories):
                members, start = np.flatnonzero(labels.codes == code), len(blocks)
                check_group(label, len(members), FEWEST_BLOCKS * FEWEST_ROWS, n)
                blocks += [members[own] for own in engine.deal(len(members)).blocks]
                groups[label] = range(start, len(blocks))
        numbers = np.full(n, -1, dtype=np.int64)
        for number, own in enumerate(blocks):
            numbers[own] = number
        return cls(len(blocks), numbers, units, groups)


def stored_rows(
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    names: Sequence[str],
    question: str,
    options: Mapping[str, Any],
) -> tuple[Table, StoredRows | None]:
    """Deal rows that do not fit into memory to disk; return those that the question looks at.

    Parameters
    ----------
    table : Table
    chosen : mapping of str to mapping of str to list of str
        The columns of every variable, by argument and name.
    names : sequence of str
        The variables of the question that `names` may give other names.
    question : str
    options : mapping of str to object

    Returns
    -------
    Table
        The table itself, or a random part of its rows in memory.
    StoredRows or None
        All rows, if they do not fit.
    """
    columns = {name: own for blocks in chosen.values() for name, own in blocks.items()}
    used = list(dict.fromkeys(name for own in columns.values() for name in own))
    asked, n = options.get("engine", "auto"), len(table)
    engine = asked if isinstance(asked, Blocks) else Blocks(rng=options.get("rng"))
    memory = bytes_of(engine.memory or available_memory() // IN_MEMORY)
    needed = VALUE_BYTES * len(used) * n
    client = None if table.distributed is None else active_client(engine.client)
    is_wanted = client is not None and getattr(asked, "name", asked) == "blocks"
    if not table.is_in_parts or (needed <= memory and not is_wanted):
        return table, None
    check_stored(question, options, table, used)
    size = int(np.clip(memory // (16 * VALUE_BYTES * len(used)), 1_000, BATCH_ROWS))
    clusters, labels = (_labels(name, table, chosen, options, size) for name in ("clusters", "by"))
    codes = None if clusters is None else clusters.codes
    rows = RowDependence.of(codes, None, options.get("max_lag"), n)
    _check_in_order(table, rows.max_lag, size)
    # Workers draw the blocks of independent rows by themselves.
    is_drawn = client is not None and not rows.any and labels is None
    deal = Deal(engine.number_of_blocks(n)) if is_drawn else Deal.of(engine, n, rows, labels)
    each_block, held = _dealt(table, used, deal, engine, client, memory, size)
    new_names = zip(options.get("names") or (), names, strict=False)
    return held, StoredRows(
        each_block,
        {**columns, **{new: columns[old] for new, old in new_names}},
        n,
        deal.n_blocks,
        rows,
        n_units=0 if deal.units is None else int(deal.units.max()) + 1,
        n_dealt=n - int((deal.numbers < 0).sum()),
        first=None if rows.max_lag is None else _first_rows(table.parts(used, size)),
        labels=labels,
        groups=deal.groups,
    )


def _dealt(
    table: Table, used: list[str], deal: Deal, engine: Blocks, client: Any, memory: int, size: int
) -> tuple[Callable[[Work], list[Any]], Table]:
    """Deal the rows; return what maps work over blocks, and a random part of the rows in memory."""
    seed = int(np.random.default_rng(engine.rng or 0).integers(2**31))
    share = min(SAMPLE_ROWS, SAMPLE_NUMBERS // len(used)) / len(table)
    if client is not None:
        cluster = ClusterRows(client, table.distributed, used, seed, deal)
        each_block, sample, noun = cluster.over_blocks, cluster.sample(share), "random row"
        places = np.arange(sample.height)
    else:
        is_sampled = np.random.default_rng(seed).random(len(table)) < share
        frames = table.parts(used, size)
        # Two parts are in memory at a time; a part is two copies while it is read.
        needed = 8 * VALUE_BYTES * len(used) * len(table)
        n_parts = min(deal.n_blocks, ceil(needed / memory))
        disk = DealtRows(frames, deal.numbers, n_parts, is_sampled, deal.units)

        def each_block(work: Work) -> list[Any]:
            def on_block(number: int) -> Any:
                frame = disk.block(number)
                return None if frame is None else work(frame, number)

            return engine.over_blocks(on_block, deal.n_blocks)

        sample, noun, places = disk.sample, "row", np.flatnonzero(is_sampled)
        places = places if table.positions is None else table.positions[places]
    # A kernel that looks at the first rows looks at random ones.
    order = np.random.default_rng(seed).permutation(sample.height)
    held = _in_memory(table, sample[order])
    return each_block, replace(held, row_names=(noun, places[order].tolist()))


def _labels(
    argument: str,
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    options: Mapping[str, Any],
    size: int,
) -> Labels | None:
    """Read the label of every row, numbered as in memory: in the order of appearance."""
    if argument not in chosen or not table.is_in_parts:
        return None
    ((column,),) = chosen[argument].values()
    numbers: dict[Any, int] = {}
    codes = []
    for frame in table.parts([column], size):
        labels = read_labels(frame[column], argument)
        own = [numbers.setdefault(label, len(numbers)) for label in labels.categories]
        codes.append(np.array([*own, MISSING_CODE], dtype=np.int64)[labels.codes])
    found = replace(labels, codes=np.concatenate(codes), categories=tuple(numbers))
    n_missing = int(found.missing().sum())
    if n_missing and (argument == "clusters" or options["missing"] == "raise"):
        raise InputError(
            f"`{argument}` has missing values in {n_missing:,} rows; give every row a label."
        )
    return found


def _check_in_order(table: Table, lag: int | str | None, size: int) -> None:
    """Raise InputError if a column shows that rows are not in the order of time."""
    import polars as pl

    dates = table.dates
    if lag is None or not dates:
        return
    every = ceil(len(table) / ORDERED_ROWS)
    some = pl.concat([part.gather_every(every) for part in table.parts(dates, size)])
    check_lag(lag, len(table), _in_memory(table, some).time_order())


def _first_rows(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return as many of the first rows as checks look at."""
    import polars as pl

    found: list[pl.DataFrame] = []
    for frame in frames:
        found.append(frame)
        if sum(one.height for one in found) >= MOST_ROWS:
            break
    return pl.concat(found).head(MOST_ROWS)


def _in_memory(table: Table, frame: pl.DataFrame) -> Table:
    """Return a table of some rows, which are in memory."""
    return replace(
        table,
        columns={name: table.columns[name] for name in frame.columns},
        source=at_once(frame.select),
        is_in_parts=False,
        distributed=None,
        n_rows=frame.height,
        positions=None,
        row_names=None,
        dated=None,
    )


def check_stored(
    question: str, options: Mapping[str, Any], table: Table, names: Sequence[str]
) -> None:
    """Raise InputError if a question, an option or a column needs all rows in memory."""
    engine = getattr(options.get("engine"), "name", options.get("engine", "auto"))
    if engine not in ("auto", "blocks"):
        raise InputError(
            f"for `engine={options['engine']!r}` the columns do not fit; use `engine='blocks'`."
        )
    refused = {
        "paper_test()": question == "paper_test",
        "`missing='drop'` of scan()": question == "scan" and options["missing"] == "drop",
        "`given`": options.get("given") is not None,
        "`clusters` of two columns": isinstance(options.get("clusters"), (list, tuple))
        and len(options["clusters"]) > 1,
        "`test='permutation'`": options.get("test") == "permutation",
        f"`variance={options.get('variance')!r}`": options.get("variance") == "fixed-kernel",
        **{f"column {name!r}": name in {*table.lifetimes, *table.orders} for name in names},
    }
    needing = [what for what, is_refused in refused.items() if is_refused]
    if needing:
        raise InputError(
            f"{needing[0]} needs its columns in memory, and {len(names)} columns of "
            f"{len(table):,} rows do not fit. Ask about a part of the rows, with `where` of "
            "reldep.read."
        )


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

    def over_blocks(self, work: Work) -> list[Any]:
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
                "two passes over the partitions give other values; persist the data, or make them "
                "the same every time."
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


def _on_blocks(part: Any, work: Work) -> tuple[dict[int, Any], int]:
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
