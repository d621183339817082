"""Questions about more rows than fit into memory: blocks of rows from disk, or from a cluster.

The question itself is asked of a random part of the rows, in memory: their kinds, kernels and
cautions. The kernels are frozen there, and every block of all rows is then an ordinary small data
set whose HSICs are one row of the table that estimates and errors come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep.data.dataset import complete_variables
from reldep.data.variables import Labels, Numeric
from reldep.engine.block_table import Block, BlockTable
from reldep.engine.blocks import SPLIT_BLOCKS, Blocks, row_of
from reldep.engine.centred import numbered
from reldep.engine.influence import from_blocks
from reldep.exceptions import InputError, NoVariationError
from reldep.files.dealt import UNIT, DealtRows
from reldep.kernels.custom import FittedPrecomputed
from reldep.kernels.explicit import Linear
from reldep.kernels.radial import Distance
from reldep.questions.on_cluster import ClusterRows
from reldep.stats.series import INDEPENDENT_ROWS, RowDependence
from reldep.stats.units import NORMALISED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from reldep.data.variables import FloatArray, Variable
    from reldep.engine import Influence, Pair
    from reldep.engine.block_table import Row
    from reldep.engine.centred import Places
    from reldep.kernels.base import FittedKernel, Kernel

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
        check_group(label, n_sampled, FEWEST_OF_GROUP, self.n_rows, " among those looked at")
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
        work, names = self.work(kernels, variables, pairs, means, options, scales)
        table = self._table(work, [(names[x], names[y]) for x, y in work.places])
        found = from_blocks(table, pairs, tuple(scales or kernels))
        fits = {name: kernel.fit(variables[name]) for name, kernel in work.kernels.items()}
        described = {
            name: fits[own.variable].scaled(own.factor).describe()
            for name, own in zip(names, work.scales, strict=True)
        }
        return replace(found, kernels=described)

    def work(
        self,
        kernels: Mapping[str, Kernel],
        variables: Mapping[str, Variable],
        pairs: Sequence[Pair],
        means: Sequence[Pair],
        options: Mapping[str, Any],
        scales: Mapping[str, Scaled] | None = None,
    ) -> tuple[BlockWork, list[str]]:
        """Return the work on a block, and the names of its kernels; parameters as for `influence`.

        Without pairs there are all kernels and no products.
        """
        scales = scales or {name: Scaled(name) for name in kernels}
        names, places, totals = list(scales), list[tuple[int, int]](), list[tuple[int, int]]()
        if pairs:
            names, _, places, totals, _ = numbered(dict.fromkeys(scales), pairs, means)  # type: ignore[arg-type, assignment]
        used = {scales[name].variable for name in names}
        frozen = {n: kernel.frozen(variables[n]) for n, kernel in kernels.items() if n in used}
        is_free = options["measure"] in NORMALISED
        work = BlockWork(
            {name: self.columns[name] for name in frozen},
            frozen,
            {n: _exponent(one, variables[n]) if is_free else 0 for n, one in frozen.items()},
            [scales[name] for name in names],
            [*places, *totals],
            options["missing"],
            self.n_units,
            [blocks.start for blocks in self.groups.values()] or [0],
        )
        return work, names

    def _table(self, work: BlockWork, pairs: Sequence[Pair]) -> BlockTable:
        key = (tuple(work.scales), tuple(work.places))
        if key not in self.found:
            self.found[key] = self.over_blocks(work)
        rows = self.found[key]
        is_whole = len(rows) == self.n_blocks
        if self.groups and not is_whole:
            # The blocks done are not a random part of every group.
            raise KeyboardInterrupt
        own = rows if self.own is None else rows[self.own.start : self.own.stop]
        present = [row for row in own if row is not None]
        if not present:
            raise InputError(f"no block of rows has {LEAST_ROWS} complete observations.")
        # Rows of large clusters are left out by choice, and those without a group are incomplete.
        n_there = self.n_rows if self.n_units else self.n_dealt
        n_lost = self.n_dealt - sum(row.n for row in present)

        def each(function: Callable[[Block], FloatArray]) -> Iterable[FloatArray]:
            parts = self.over_blocks(partial(work.made, function))
            return (part for part in parts if part is not None)

        return BlockTable.of(
            present,
            pairs,
            n_rows=n_there - (n_lost if is_whole else 0),
            n_planned=len(present) if is_whole else self.n_blocks,
            each=each if self.n_units else None,
        )

    def over_blocks(self, work: Callable[[pl.DataFrame, int], Any]) -> list[Any]:
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


def check_group(label: Any, n: int, least: int, n_all: int, where: str = "") -> None:
    """Raise InputError if a group has fewer than `least` of `n_all` rows."""
    if n < least:
        raise InputError(
            f"`by` has the group {label!r} with {n} of {n_all:,} rows{where}, and blocks of rows "
            f"need at least {least}; join it with others, or leave it out."
        )
