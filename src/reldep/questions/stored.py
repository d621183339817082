"""Questions about more rows than fit into memory: blocks of rows from disk, or from a cluster.

The question itself is asked of a random part of the rows, in memory: their kinds, kernels and
cautions. The kernels are frozen there, and every block of all rows is then an ordinary small data
set whose HSICs are one row of the table that estimates and errors come from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.dataset import complete_variables
from reldep.engine.block_table import Block, BlockTable
from reldep.engine.blocks import Blocks, row_of
from reldep.engine.centred import numbered
from reldep.engine.influence import from_blocks
from reldep.exceptions import InputError, NoVariationError
from reldep.files.dealt import DealtRows
from reldep.kernels.custom import FittedPrecomputed
from reldep.questions.on_cluster import ClusterRows, active_client
from reldep.system import available_memory, bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from reldep.data.variables import Variable
    from reldep.engine import Influence, Pair
    from reldep.engine.block_table import Row
    from reldep.engine.centred import Places
    from reldep.files.table import Table
    from reldep.kernels.base import FittedKernel, Kernel

# Questions whose answers are functions of the HSICs of all rows. The others compute with parts of
# the rows, or with several bandwidths.
TAKEN_BY = ("compare", "contrast", "rank", "dependence", "matrix")

IN_MEMORY_ONLY = ("given", "clusters", "max_lag")

# Columns stay in memory if they take no more than one in so many bytes that are free: variables,
# points and blocks are copies of them.
IN_MEMORY, VALUE_BYTES = 4, 8

# Rows that are read at a time, and rows that the question looks at for kinds, kernels and cautions:
# the mean distance of so many rows has an error of a few tenths of a per cent.
BATCH_ROWS, SAMPLE_ROWS = 250_000, 50_000

# An unbiased HSIC has four different rows; a smaller block says nothing.
LEAST_ROWS = 4


@dataclass(frozen=True, eq=False)
class BlockWork:
    """The work on one block: from its columns to the HSICs of all pairs.

    Attributes
    ----------
    columns : mapping of str to sequence of str
        Of every variable.
    kernels : mapping of str to Kernel
        With everything fixed that data decide.
    places : sequence of (int, int)
        The numbers of the kernels of every pair.
    missing : {"raise", "drop"}
    """

    columns: Mapping[str, Sequence[str]]
    kernels: Mapping[str, Kernel]
    places: Places
    missing: str

    def __call__(self, frame: Any) -> Row | None:
        """Return a row of the table; None for too few complete rows."""
        block = self.block(frame)
        return None if block is None else row_of(block, self.places)

    def block(self, frame: Any) -> Block | None:
        """Return the kernels of the complete rows; None for too few of them."""
        data = {
            name: frame[own[0]] if len(own) == 1 else frame.select(own)
            for name, own in self.columns.items()
        }
        variables, n = complete_variables(data, self.missing)
        if n < LEAST_ROWS:
            return None
        fitted = [self._fit(name, variable) for name, variable in variables.items()]
        return Block(fitted, np.arange(n))

    def _fit(self, name: str, variable: Variable) -> FittedKernel:
        try:
            return self.kernels[name].fit(variable)
        except NoVariationError:
            # What does not vary within a block has an HSIC of 0 there.
            return FittedPrecomputed(np.zeros((len(variable), len(variable))))


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
    """

    dealt: DealtRows | ClusterRows
    columns: Mapping[str, Sequence[str]]
    engine: Blocks
    n_rows: int

    def influence(
        self,
        kernels: Mapping[str, Kernel],
        variables: Mapping[str, Variable],
        pairs: Sequence[Pair],
        means: Sequence[Pair],
        missing: str,
    ) -> Influence:
        """Compute the HSICs of all blocks.

        Parameters
        ----------
        kernels : mapping of str to Kernel
        variables : mapping of str to Variable
            The rows in memory, which decide the parameters of the kernels.
        pairs, means : sequence of Pair
        missing : {"raise", "drop"}
        """
        frozen = {name: kernel.frozen(variables[name]) for name, kernel in kernels.items()}
        names, _, places, totals, _ = numbered(dict.fromkeys(kernels), pairs, means)  # type: ignore[arg-type]
        both = [*places, *totals]
        work = BlockWork(
            {name: self.columns[name] for name in names},
            {name: frozen[name] for name in names},
            both,
            missing,
        )

        table = self._table(work, [(names[x], names[y]) for x, y in both])
        found = from_blocks(table, pairs, tuple(kernels))
        fitted = {name: frozen[name].fit(variables[name]).describe() for name in names}
        return replace(found, kernels=fitted)

    def _table(self, work: BlockWork, pairs: Sequence[Pair]) -> BlockTable:
        dealt = self.dealt
        if not isinstance(dealt, DealtRows):
            return dealt.table(work, pairs)

        def block_of(number: int) -> Block | None:
            frame = dealt.block(number)
            return None if frame is None else work.block(frame)

        rows = self.engine.rows_of_table(block_of, dealt.n_blocks, work.places, 0)
        n = None if len(rows) == dealt.n_blocks else self.n_rows
        return BlockTable.of(
            rows, pairs, n_planned=dealt.n_blocks, **({} if n is None else {"n_rows": n})
        )


def stored_rows(
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    question: str,
    options: Mapping[str, Any],
) -> tuple[Table, StoredRows | None]:
    """Deal rows that do not fit into memory to disk; return those that the question looks at.

    Parameters
    ----------
    table : Table
    chosen : mapping of str to mapping of str to list of str
        The columns of every variable, by argument and name.
    question : str
    options : mapping of str to object

    Returns
    -------
    Table
        The table itself, or a random part of its rows in memory.
    StoredRows or None
        All rows, if they do not fit.
    """
    import polars as pl

    columns = {name: own for blocks in chosen.values() for name, own in blocks.items()}
    names = list(dict.fromkeys(name for own in columns.values() for name in own))
    engine = options.get("engine", "auto")
    is_blocks = isinstance(engine, Blocks)
    limit = (engine.memory if is_blocks else None) or available_memory() // IN_MEMORY
    memory, row = bytes_of(limit), VALUE_BYTES * len(names)
    is_named = is_blocks or engine == "blocks"
    asked = engine.client if is_blocks else None
    client = None if table.distributed is None else active_client(asked)
    is_small = row * len(table) <= memory
    if table.slices is None or (is_small and not (client is not None and is_named)):
        return table, None
    check_stored(question, options, table, names)
    if not is_named and engine != "auto":
        raise InputError(
            f"`engine={engine!r}` needs the columns in memory, where they do not fit; use "
            "`engine='blocks'`."
        )
    blocks = engine if is_blocks else Blocks(rng=options.get("rng"))
    if client is not None:
        n_blocks = blocks.number_of_blocks(len(table))
        seed = int(np.random.default_rng(blocks.rng or 0).integers(2**31))
        on_cluster = ClusterRows(client, table.distributed, names, len(table), n_blocks, seed)
        sample = pl.from_pandas(on_cluster.sample(SAMPLE_ROWS).reset_index(drop=True))
        return _in_memory(table, sample), StoredRows(on_cluster, columns, blocks, len(table))
    numbers = np.empty(len(table), dtype=np.int64)
    dealing = blocks.deal(len(table)).blocks
    for number, rows in enumerate(dealing):
        numbers[rows] = number
    # Two parts are in memory at a time; a part is two copies while it is read.
    n_parts = min(len(dealing), ceil(8 * row * len(table) / memory))
    size = int(np.clip(memory // (16 * row), 1_000, BATCH_ROWS))
    dealt = DealtRows(table.slices(names, size), numbers, n_parts)
    first: list[pl.DataFrame] = []
    n_first = 0
    for number in range(len(dealing)):
        if n_first < SAMPLE_ROWS and (block := dealt.block(number)) is not None:
            first.append(block)
            n_first += block.height
    some = _in_memory(table, pl.concat(first).head(SAMPLE_ROWS))
    return some, StoredRows(dealt, columns, blocks, len(table))


def _in_memory(table: Table, frame: pl.DataFrame) -> Table:
    """Return a table of some random rows, which are in memory."""
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
    needing = [f"{question}()"] if question not in TAKEN_BY else []
    needing += [f"`{name}`" for name in IN_MEMORY_ONLY if options.get(name) is not None]
    needing += [f"column {name!r}" for name in names if name in {*table.lifetimes, *table.orders}]
    if options.get("variance", "jackknife") != "jackknife":
        needing += [f"`variance={options['variance']!r}`"]
    if needing:
        raise InputError(
            f"{needing[0]} needs its columns in memory, and {len(names)} columns of "
            f"{len(table):,} rows do not fit. {way_out}"
        )
