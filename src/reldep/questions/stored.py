"""Questions about more rows than fit into memory: blocks of rows from disk, or from a cluster.

The question itself is asked of a random part of the rows, in memory: their kinds, kernels and
cautions. The kernels are frozen there, and every block of all rows is then an ordinary small data
set whose HSICs are one row of the table that estimates and errors come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep.data.dataset import complete_variables
from reldep.data.objects import read_labels
from reldep.data.variables import MISSING_CODE, Labels, Numeric
from reldep.engine.block_table import Block, BlockTable
from reldep.engine.blocks import FEWEST_BLOCKS, FEWEST_ROWS, SPLIT_BLOCKS, Blocks, row_of
from reldep.engine.centred import numbered
from reldep.engine.influence import from_blocks
from reldep.exceptions import InputError, NoVariationError
from reldep.files.dealt import UNIT, DealtRows
from reldep.kernels.custom import FittedPrecomputed
from reldep.kernels.explicit import Linear
from reldep.kernels.radial import Distance
from reldep.questions.on_cluster import ClusterRows, active_client
from reldep.stats.series import INDEPENDENT_ROWS, RowDependence
from reldep.stats.units import NORMALISED
from reldep.system import available_memory, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.engine import Influence, Pair
    from reldep.engine.block_table import Row
    from reldep.engine.centred import Places
    from reldep.files.table import Table
    from reldep.kernels.base import FittedKernel, Kernel

# Columns stay in memory if they take no more than one in so many bytes that are free: variables,
# points and blocks are copies of them.
IN_MEMORY, VALUE_BYTES = 4, 8

# Rows that are read at a time, and rows that the question looks at for kinds, kernels and cautions:
# the mean distance of so many rows has an error of a few tenths of a per cent. Of many columns
# fewer rows are looked at, with no more numbers than this.
BATCH_ROWS, SAMPLE_ROWS, SAMPLE_NUMBERS = 250_000, 50_000, 12_500_000

# Rows that show whether a table is in the order of time.
ORDERED_ROWS = 20_000

# An unbiased HSIC has four different rows; a smaller block says nothing.
LEAST_ROWS = 4
# With fewer random rows of a group nothing is known of its variables.
FEWEST_OF_GROUP = 8


class Scaled(NamedTuple):
    """A variable's kernel with a multiple of its bandwidth."""

    variable: str
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class BlockWork:
    """The work on one block: from its columns to the HSICs of all pairs.

    Attributes
    ----------
    columns : mapping of str to sequence of str
        Of every variable.
    kernels : mapping of str to Kernel
        Of every variable, with everything fixed that data decide.
    exponents : mapping of str to int
        The powers of two that variables are divided by.
    scales : sequence of Scaled
        The numbered kernels.
    places : sequence of (int, int)
        The numbers of the kernels of every pair.
    missing : {"raise", "drop"}
    n_units : int
        Of rows that depend on each other; 0 for independent rows.
    starts : sequence of int
        The first block of every group of blocks.
    """

    columns: Mapping[str, Sequence[str]]
    kernels: Mapping[str, Kernel]
    exponents: Mapping[str, int]
    scales: Sequence[Scaled]
    places: Places
    missing: str
    n_units: int = 0
    starts: Sequence[int] = (0,)

    def __call__(self, frame: pl.DataFrame, number: int) -> Row | None:
        """Return a row of the table; None for too few complete rows."""
        is_split = any(0 <= number - start < SPLIT_BLOCKS for start in self.starts)
        row = partial(row_of, places=self.places, n_units=self.n_units, is_split=is_split)
        found: Row | None = self.made(row, frame)
        return found

    def made(self, function: Callable[[Block], Any], frame: pl.DataFrame, _: int = 0) -> Any:
        """Return what a function makes of the block; None for too few complete rows."""
        data = {
            name: frame[own[0]] if len(own) == 1 else frame.select(own)
            for name, own in self.columns.items()
        }
        variables, complete = complete_variables(data, self.missing)
        if len(complete) < LEAST_ROWS:
            return None
        fits = {name: self._fit(name, variable) for name, variable in variables.items()}
        kernels = [
            fits[name] if factor == 1 else fits[name].scaled(factor) for name, factor in self.scales
        ]
        units = frame[UNIT].to_numpy()[complete] if self.n_units else None
        return function(Block(kernels, np.arange(len(complete)), units))

    def _fit(self, name: str, variable: Variable) -> FittedKernel:
        if self.exponents[name] and isinstance(variable, Numeric):
            variable = replace(variable, values=np.ldexp(variable.values, -self.exponents[name]))
        try:
            return self.kernels[name].fit(variable)
        except NoVariationError:
            # What does not vary within a block has an HSIC of 0 there.
            return FittedPrecomputed(np.zeros((len(variable), len(variable))))


class Deal(NamedTuple):
    """How the rows of a table are dealt into blocks.

    Attributes
    ----------
    numbers : ndarray of int, shape (n_rows,)
        The block of every row; -1 for a row that no block has.
    units : ndarray of int, shape (n_rows,), or None
        The unit of every row, where rows depend on each other.
    groups : mapping of label to range
        The blocks of every group of rows.
    """

    numbers: IntArray
    units: IntArray | None = None
    groups: Mapping[Any, range] = {}

    @classmethod
    def of(cls, engine: Blocks, n: int, rows: RowDependence, labels: Labels | None) -> Deal:
        """Deal n rows as they are dealt in memory, those of every group by themselves."""
        numbers = np.full(n, -1, dtype=np.int64)
        if labels is None:
            dealing = engine.deal(n, clusters=rows.clusters, max_lag=rows.max_lag)
            _number(numbers, dealing.blocks, 0)
            return cls(numbers, dealing.units)
        groups, start = {}, 0
        for code, label in enumerate(labels.categories):
            members = np.flatnonzero(labels.codes == code)
            _check_group(label, len(members), FEWEST_BLOCKS * FEWEST_ROWS, n)
            stop = _number(
                numbers, [members[own] for own in engine.deal(len(members)).blocks], start
            )
            groups[label], start = range(start, stop), stop
        return cls(numbers, None, groups)


def _number(numbers: IntArray, blocks: Sequence[IntArray], start: int) -> int:
    """Write the number of every block to its rows, from `start` on; return the next one."""
    for number, own in enumerate(blocks, start):
        numbers[own] = number
    return start + len(blocks)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """All rows of a question whose study has some of them.

    Attributes
    ----------
    dealt : DealtRows or ClusterRows
    columns : mapping of str to sequence of str
        Of every variable.
    engine : Blocks
    n_rows : int
    n_blocks : int
    rows : RowDependence
        Which of all rows depend on each other.
    n_units, n_dealt : int
        The units of such rows, and the rows that some block has.
    labels : Labels or None
        The group of every row.
    groups : mapping of label to range
        The blocks of every group.
    own : range or None
        The blocks of one group, if the question is about it alone.
    found : dict
        The rows of the tables that were computed for all groups.
    """

    dealt: DealtRows | ClusterRows
    columns: Mapping[str, Sequence[str]]
    engine: Blocks
    n_rows: int
    n_blocks: int
    rows: RowDependence = INDEPENDENT_ROWS
    n_units: int = 0
    n_dealt: int = 0
    labels: Labels | None = None
    groups: Mapping[Any, range] = field(default_factory=dict)
    own: range | None = None
    found: dict[Any, list[Row | None]] = field(default_factory=dict)

    def group(self, label: Any, n_sampled: int) -> StoredRows:
        """Return the rows of one group, of which `n_sampled` are among the random rows."""
        labels = self.labels
        if labels is None:
            raise TypeError("the rows have no groups")
        n = int((labels.codes == labels.categories.index(label)).sum())
        _check_group(label, n_sampled, FEWEST_OF_GROUP, self.n_rows, " among those looked at")
        return replace(self, own=self.groups[label], n_rows=n, n_dealt=n)

    def influence(
        self,
        kernels: Mapping[str, Kernel],
        variables: Mapping[str, Variable],
        pairs: Sequence[Pair],
        means: Sequence[Pair],
        options: Mapping[str, Any],
        scales: Mapping[str, Scaled] | None = None,
    ) -> Influence:
        """Compute the HSICs of all blocks.

        Parameters
        ----------
        kernels : mapping of str to Kernel
        variables : mapping of str to Variable
            The rows in memory, which decide the parameters of the kernels.
        pairs, means : sequence of Pair
            Of names of variables or, if `scales` are given, of names among these.
        options : mapping of str to object
        scales : mapping of str to Scaled, optional
            Kernels at several bandwidths.
        """
        frozen = {name: kernel.frozen(variables[name]) for name, kernel in kernels.items()}
        scales = scales or {name: Scaled(name) for name in kernels}
        names, _, places, totals, _ = numbered(dict.fromkeys(scales), pairs, means)  # type: ignore[arg-type]
        used = {scales[name].variable for name in names}
        is_free = options["measure"] in NORMALISED
        work = BlockWork(
            {name: self.columns[name] for name in kernels if name in used},
            {name: frozen[name] for name in kernels if name in used},
            {name: _exponent(frozen[name], variables[name]) if is_free else 0 for name in used},
            [scales[name] for name in names],
            [*places, *totals],
            options["missing"],
            self.n_units,
            [blocks.start for blocks in self.groups.values()] or [0],
        )
        table = self._table(work, [(names[x], names[y]) for x, y in work.places])
        found = from_blocks(table, pairs, tuple(scales))
        fits = {name: frozen[name].fit(variables[name]) for name in used}
        described = {n: fits[scales[n].variable].scaled(scales[n].factor).describe() for n in names}
        return replace(found, kernels=described)

    def _table(self, work: BlockWork, pairs: Sequence[Pair]) -> BlockTable:
        key = (tuple(work.scales), tuple(work.places))
        if key not in self.found:
            self.found[key] = self._over_blocks(work)
        rows = self.found[key]
        is_whole = len(rows) == self.n_blocks
        if self.groups and not is_whole:
            # The blocks done are not a random part of every group.
            raise KeyboardInterrupt
        own = rows if self.own is None else rows[self.own.start : self.own.stop]
        present = [row for row in own if row is not None]
        if not present:
            raise InputError(f"no block of rows has {LEAST_ROWS} complete observations.")
        n_lost = self.n_dealt - sum(row.n for row in present)

        def each(function: Callable[[Block], FloatArray]) -> Iterable[FloatArray]:
            parts = self._over_blocks(partial(work.made, function))
            return (part for part in parts if part is not None)

        return BlockTable.of(
            present,
            pairs,
            n_rows=self.n_rows - (n_lost if is_whole else 0),
            n_planned=len(present) if is_whole else self.n_blocks,
            each=each if self.n_units else None,
        )

    def _over_blocks(self, work: Callable[[pl.DataFrame, int], Any]) -> list[Any]:
        """Return what `work` makes of every block; Ctrl-C keeps those done."""
        dealt = self.dealt
        if not isinstance(dealt, DealtRows):
            return dealt.over_blocks(work)

        def on_rows(number: int) -> Any:
            frame = dealt.block(number)
            return None if frame is None else work(frame, number)

        return self.engine.over_blocks(on_rows, self.n_blocks)


def _exponent(kernel: Kernel, variable: Variable) -> int:
    """Return the power of two in which linear and distance kernels have ordinary values."""
    if not (isinstance(kernel, (Linear, Distance)) and isinstance(variable, Numeric)):
        return 0
    return int(np.frexp(np.abs(variable.values).max())[1])


def _check_group(label: Any, n: int, least: int, n_all: int, where: str = "") -> None:
    if n < least:
        raise InputError(
            f"`by` has the group {label!r} with {n} of {n_all:,} rows{where}, and blocks of rows "
            f"need at least {least}; join it with others, or leave it out."
        )


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
    engine, n = options.get("engine", "auto"), len(table)
    is_blocks = isinstance(engine, Blocks)
    limit = (engine.memory if is_blocks else None) or available_memory() // IN_MEMORY
    memory, row = bytes_of(limit), VALUE_BYTES * len(used)
    is_named = is_blocks or engine == "blocks"
    asked = engine.client if is_blocks else None
    client = None if table.distributed is None else active_client(asked)
    is_small = row * n <= memory
    if table.slices is None or (is_small and not (client is not None and is_named)):
        return table, None
    check_stored(question, options, table, used)
    if not is_named and engine != "auto":
        raise InputError(
            f"`engine={engine!r}` needs the columns in memory, where they do not fit; use "
            "`engine='blocks'`."
        )
    blocks = engine if is_blocks else Blocks(rng=options.get("rng"))
    columns |= {
        new: columns[old] for new, old in zip(options.get("names") or (), names, strict=False)
    }
    size = int(np.clip(memory // (16 * row), 1_000, BATCH_ROWS))
    clusters, labels = (_labels(name, table, chosen, options, size) for name in ("clusters", "by"))
    lag = options.get("max_lag")
    rows = RowDependence.of(None if clusters is None else clusters.codes, None, lag, n)
    if rows.max_lag is not None:
        _check_in_order(table, rows.max_lag, size)
    # Workers draw the blocks of independent rows by themselves.
    deal, n_blocks = Deal(np.empty(0, dtype=np.int64)), blocks.number_of_blocks(n)
    if client is None or rows.any or labels is not None:
        deal = Deal.of(blocks, n, rows, labels)
        n_blocks = int(deal.numbers.max()) + 1
    share = min(SAMPLE_ROWS, SAMPLE_NUMBERS // len(used)) / n
    seed = int(np.random.default_rng(blocks.rng or 0).integers(2**31))
    dealt: DealtRows | ClusterRows
    if client is not None:
        dealt = ClusterRows(client, table.distributed, used, n_blocks, seed, deal)
        sample = dealt.sample(share)
    else:
        # Two parts are in memory at a time; a part is two copies while it is read.
        n_parts = min(n_blocks, ceil(8 * row * n / memory))
        is_sampled = np.random.default_rng(seed).random(n) < share
        dealt = DealtRows(table.slices(used, size), deal.numbers, n_parts, is_sampled, deal.units)
        sample = dealt.sample
    # A kernel that looks at the first rows looks at random ones.
    order = np.random.default_rng(seed).permutation(sample.height)
    stored = StoredRows(
        dealt,
        columns,
        blocks,
        n,
        n_blocks,
        rows,
        0 if deal.units is None else int(deal.units.max()) + 1,
        n - int((deal.numbers < 0).sum()),
        labels,
        deal.groups,
    )
    return _in_memory(table, sample[order]), stored


def _labels(
    argument: str,
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    options: Mapping[str, Any],
    size: int,
) -> Labels | None:
    """Read the label of every row, numbered as in memory: in the order of appearance."""
    if argument not in chosen or table.slices is None:
        return None
    ((column,),) = chosen[argument].values()
    numbers: dict[Any, int] = {}
    codes = []
    for frame in table.slices([column], size):
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


def _check_in_order(table: Table, lag: int | str, size: int) -> None:
    """Raise InputError if a column shows that rows are not in the order of time."""
    import polars as pl

    dates = table.dates
    if not dates or table.slices is None:
        return
    every = ceil(len(table) / ORDERED_ROWS)
    some = pl.concat([part.gather_every(every) for part in table.slices(dates, size)])
    time = _in_memory(table, some).time_order()
    if time is not None and not time.is_sorted:
        raise InputError(
            f"`max_lag={lag!r}` needs rows in the order of time, but {time.column!r} is not in "
            "order; sort the rows by it, or ask about one of several series."
        )


def _in_memory(table: Table, frame: pl.DataFrame) -> Table:
    """Return a table of some rows, which are in memory."""
    return replace(
        table,
        columns={name: table.columns[name] for name in frame.columns},
        load=lambda wanted: frame.select(wanted),
        slices=None,
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
    way_out = "Ask about a part of the rows, with `where` of reldep.read."
    refused = {
        "paper_test()": question == "paper_test",
        "scan()": question == "scan",
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
            f"{len(table):,} rows do not fit. {way_out}"
        )
