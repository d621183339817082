"""Questions about more rows than fit into memory: blocks of rows from disk, or from a cluster.

The question itself is asked of a random part of the rows, in memory: their kinds, kernels and
cautions. The kernels are frozen there, and every block of all rows is then an ordinary small data
set whose HSICs are one row of the table that estimates and errors come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks.rows import ranks_of
from reldep.checks.subjects import Data
from reldep.data.dataset import AlignedData, complete_variables
from reldep.data.variables import FloatArray, IntArray, Labels, Numeric, Rows, Variable
from reldep.engine import Influence, Pair
from reldep.engine.block_table import Block, BlockTable, Row
from reldep.engine.blocks import SPLIT_BLOCKS, row_of
from reldep.engine.centred import Places, numbered
from reldep.engine.fitted_columns import Ready
from reldep.engine.influence import from_blocks
from reldep.engine.scan import Batch, Batches, BlockBatches
from reldep.exceptions import InputError, NoVariationError
from reldep.files.in_parts import UNIT
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.custom import FittedPrecomputed
from reldep.kernels.explicit import Linear
from reldep.kernels.radial import Distance
from reldep.stats.series import INDEPENDENT_ROWS, RowDependence
from reldep.stats.units import NORMALISED

if TYPE_CHECKING:
    import polars as pl

    from reldep.questions.study import Study


# An unbiased HSIC has four different rows; a smaller block says nothing.
LEAST_ROWS = 4
# With fewer random rows of a group nothing is known of its variables.
FEWEST_OF_GROUP = 8


@dataclass(frozen=True, eq=False)
class FrozenKernels:
    """Kernels with everything fixed that data decide, ready for any block of rows.

    Attributes
    ----------
    columns : mapping of str to sequence of str
        Of every variable.
    kernels : mapping of str to Kernel
        Of every variable.
    exponents : mapping of str to int
        The powers of two that variables are divided by.
    factor : float
        By what their bandwidths are multiplied.
    missing : {"raise", "drop"}
    """

    columns: Mapping[str, Sequence[str]]
    kernels: Mapping[str, Kernel]
    exponents: Mapping[str, int]
    factor: float
    missing: str

    def __call__(self, frame: pl.DataFrame) -> Block | None:
        """Fit the kernels to the complete rows of a block; None for too few of them."""
        variables, complete = _variables_in(frame, self.columns, self.missing)
        if len(complete) < LEAST_ROWS:
            return None
        fits = [self._fit(name, variable) for name, variable in variables.items()]
        kernels = [one if self.factor == 1 else one.scaled(self.factor) for one in fits]
        units = frame[UNIT].to_numpy()[complete] if UNIT in frame.columns else None
        return Block(kernels, np.arange(len(complete)), units)

    def _fit(self, name: str, variable: Variable) -> FittedKernel:
        if self.exponents[name] and isinstance(variable, Numeric):
            variable = replace(variable, values=np.ldexp(variable.values, -self.exponents[name]))
        try:
            return self.kernels[name].fit(variable)
        except NoVariationError:
            # What does not vary within a block has an HSIC of 0 there.
            return FittedPrecomputed(np.zeros((len(variable), len(variable))))


def _variables_in(
    frame: pl.DataFrame, columns: Mapping[str, Sequence[str]], missing: str
) -> tuple[dict[str, Variable], IntArray]:
    """Return the variables of a frame in its complete rows, and these."""
    data = {
        name: frame[own[0]] if len(own) == 1 else frame.select(own) for name, own in columns.items()
    }
    return complete_variables(data, missing)


def _row(
    block: Block, _: Any, number: int, places: Places, n_units: int, starts: Sequence[int]
) -> Row:
    """Return a row of the table; the first blocks of every group of blocks are split, too."""
    is_split = any(0 <= number - start < SPLIT_BLOCKS for start in starts)
    return row_of(block, places, n_units, is_split=is_split)


def _row_of_columns(
    block: Block, frame: pl.DataFrame, _number: int, columns: Mapping[str, Kernel]
) -> Row:
    """Return the HSICs of the kernels, and then those of every column with them and itself."""
    fixed = {str(i): kernel for i, kernel in enumerate(block.kernels)}
    batches, f = Batches(fixed, n_threads=1), len(fixed)
    variables, _ = complete_variables({name: frame[name] for name in columns})
    means = np.zeros((len(variables), f + 1))
    # A column that does not vary in the block has an HSIC of 0 there.
    varies = [i for i, one in enumerate(variables.values()) if not one.is_constant()]
    if varies:
        names = [list(columns)[i] for i in varies]
        kernels, own = [columns[name] for name in names], [variables[name] for name in names]
        ready = Ready.of(kernels, own, own_units=False, is_followed=False)
        means[varies] = batches.finish(ready).means.mean(axis=2)
    return Row(np.concatenate([batches.hsics.ravel(), means.ravel()]), len(block.rows))


def _on_block(frame: pl.DataFrame, number: int, kernels: FrozenKernels, work: Any) -> Any:
    """Return what `work` makes of a block, its frame and its number; None for too few rows."""
    block = kernels(frame)
    return None if block is None else work(block, frame, number)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """All rows of a question whose study has some of them.

    Attributes
    ----------
    each_block : callable
        Returns what a function makes of the frame and the number of every block, on this machine
        or on a cluster; Ctrl-C keeps those done.
    columns : mapping of str to sequence of str
        Of every variable.
    n_rows, n_blocks : int
    rows : RowDependence
        Which of all rows depend on each other.
    n_units, n_dealt : int
        The units of such rows, and the rows that some block has.
    first : DataFrame or None
        The first rows of a series.
    labels : Labels or None
        The group of every row.
    groups : mapping of label to range
        The blocks of every group.
    own : range or None
        The blocks of one group, if the question is about it alone.
    found : dict
        The rows of the tables that were computed for all groups.
    """

    each_block: Callable[[Callable[[pl.DataFrame, int], Any]], list[Any]]
    columns: Mapping[str, Sequence[str]]
    n_rows: int
    n_blocks: int
    rows: RowDependence = INDEPENDENT_ROWS
    n_units: int = 0
    n_dealt: int = 0
    first: pl.DataFrame | None = None
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

    def ranks(self, study: Study) -> dict[str, FloatArray]:
        """Return the ranks of the variables in the first rows of a series."""
        if self.first is None:
            return {}
        columns = {name: self.columns[name] for name in study.names}
        variables, _ = _variables_in(self.first, columns, study.options["missing"])
        return ranks_of(Data(dataset=AlignedData(variables, Rows.of(self.first.height))))

    def frozen(self, study: Study, names: Iterable[str] | None = None) -> FrozenKernels:
        """Freeze kernels as the rows of a study decide, all or those of some names."""
        is_free = study.measure in NORMALISED
        kernels, exponents = {}, {}
        for name in study.kernels if names is None else names:
            variable = study.dataset.variables[name]
            kernels[name] = study.kernels[name].frozen(variable)
            exponents[name] = _exponent(kernels[name], variable) if is_free else 0
        columns = {name: self.columns[name] for name in kernels}
        return FrozenKernels(columns, kernels, exponents, study.factor, study.options["missing"])

    def influence(self, study: Study, pairs: Sequence[Pair], means: Sequence[Pair]) -> Influence:
        """Compute the HSICs of all blocks.

        Parameters
        ----------
        study : Study
            Of the rows in memory, which decide the parameters of the kernels.
        pairs, means : sequence of Pair
        """
        names, _, places, totals, _ = numbered(study.fitted, pairs, means)
        kernels, every = self.frozen(study, names), [*places, *totals]
        starts = [blocks.start for blocks in self.groups.values()] or [0]
        row = partial(_row, places=every, n_units=self.n_units, starts=starts)
        key = (study.factor, tuple(names), tuple(every))
        if key not in self.found:
            self.found[key] = self.over_blocks(kernels, row)
        table = self._table(self.found[key], [(names[x], names[y]) for x, y in every], kernels)
        found = from_blocks(table, pairs, tuple(study.fitted))
        return replace(found, kernels=_described(names, kernels, study))

    def _table(
        self, rows: Sequence[Row | None], pairs: Sequence[Pair], kernels: FrozenKernels
    ) -> BlockTable:
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
            parts = self.over_blocks(kernels, lambda block, *_: function(block))
            return (part for part in parts if part is not None)

        return BlockTable.of(
            present,
            pairs,
            n_rows=n_there - (n_lost if is_whole else 0),
            n_planned=len(present) if is_whole else self.n_blocks,
            each=each if self.n_units else None,
        )

    def over_blocks(self, kernels: FrozenKernels, work: Callable[..., Any]) -> list[Any]:
        """Return what `work` makes of every block; Ctrl-C keeps those done."""
        return self.each_block(partial(_on_block, kernels=kernels, work=work))


class StoredBatches(BlockBatches):
    """The variables that many columns are compared with, in blocks of all rows.

    Parameters
    ----------
    stored : StoredRows
    study : Study
        Of the variables, with the rows in memory.
    """

    def __init__(self, stored: StoredRows, study: Study) -> None:  # the blocks are elsewhere
        self._stored, self._frozen, self._f = stored, stored.frozen(study), len(study.names)
        table, self.sizes = self._table({})
        hsics = table.reshape(-1, self._f, self._f)
        self.n = int(self.sizes.sum())
        self.hsics: FloatArray = np.average(hsics, axis=0, weights=self.sizes)
        self.own_means = np.einsum("gaa->ag", hsics)
        self.own_moves = np.zeros_like(self.own_means)

    def batch(self, kernels: Sequence[Kernel], variables: Sequence[Variable]) -> Batch:
        """Compute HSICs for some columns, whose rows in memory decide the parameters of kernels."""
        both = zip(kernels, variables, strict=True)
        table, sizes = self._table({one.name: kernel.frozen(one) for kernel, one in both})
        own = table[:, self._f**2 :].reshape(len(sizes), len(variables), self._f + 1)
        means = np.ascontiguousarray(own.transpose(1, 2, 0))
        return Batch(means, np.zeros_like(means), sizes)

    def _table(self, columns: Mapping[str, Kernel]) -> tuple[FloatArray, Any]:
        """Return the HSICs of every block, and its rows."""
        rows = self._stored.over_blocks(self._frozen, partial(_row_of_columns, columns=columns))
        if len(rows) < self._stored.n_blocks:
            raise KeyboardInterrupt
        found = [row for row in rows if row is not None]
        return np.array([row.hsics for row in found]), np.array([row.n for row in found])


def _described(
    names: Sequence[str], kernels: FrozenKernels, study: Study
) -> dict[str, dict[str, Any]]:
    """Return kernels with the rules by which the rows in memory decided their parameters."""
    own = study.dataset.variables
    fits = {name: kernel.fit(own[name]) for name, kernel in kernels.kernels.items()}
    found = {}
    for name in names:
        found[name] = fits[name].scaled(kernels.factor).describe()
        if "rule" in found[name]:
            found[name]["rule"] = study.fitted[name].describe()["rule"]
    return found


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
