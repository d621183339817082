"""Many columns next to a few variables, of more rows than fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.dataset import complete_variables
from reldep.engine.block_table import Row
from reldep.engine.fitted_columns import Ready
from reldep.engine.scan import Batch, Batches, BlockBatches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from reldep.data.variables import FloatArray, Variable
    from reldep.engine.block_table import Block
    from reldep.kernels.base import Kernel
    from reldep.questions.stored import BlockWork, StoredRows
    from reldep.questions.study import Study


@dataclass(frozen=True, eq=False)
class ColumnsWork:
    """The work on one block: the HSICs of columns with some variables and with themselves.

    Attributes
    ----------
    fixed : BlockWork
        The variables.
    kernels : mapping of str to Kernel
        Of every column, with everything fixed that data decide.
    """

    fixed: BlockWork
    kernels: Mapping[str, Kernel]

    def __call__(self, frame: pl.DataFrame, number: int) -> Row | None:
        """Return the HSICs of the variables, and then of every column."""
        found: Row | None = self.fixed.made(partial(self._row, frame), frame, number)
        return found

    def _row(self, frame: pl.DataFrame, block: Block) -> Row:
        fixed = dict(zip(self.fixed.kernels, block.kernels, strict=True))
        batches, f = Batches(fixed, n_threads=1), len(fixed)
        variables, _ = complete_variables({name: frame[name] for name in self.kernels})
        means = np.zeros((len(variables), f + 1))
        # A column that does not vary in the block has an HSIC of 0 there.
        varies = [i for i, one in enumerate(variables.values()) if not one.is_constant()]
        if varies:
            names = [list(self.kernels)[i] for i in varies]
            own = [variables[name] for name in names]
            kernels = [self.kernels[name] for name in names]
            ready = Ready.of(kernels, own, own_units=False, is_followed=False)
            means[varies] = batches.finish(ready).means.mean(axis=2)
        return Row(np.concatenate([batches.hsics.ravel(), means.ravel()]), len(block.rows))


class StoredBatches(BlockBatches):
    """The variables that many columns are compared with, in blocks of all rows.

    Parameters
    ----------
    stored : StoredRows
    study : Study
        Of the variables, with the rows in memory.
    """

    def __init__(self, stored: StoredRows, study: Study) -> None:  # the blocks are elsewhere
        self._stored, self._f = stored, len(study.names)
        self._work = stored.work(study.kernels, study.dataset.variables, (), (), study.options)[0]
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

    def _table(self, kernels: Mapping[str, Kernel]) -> tuple[FloatArray, Any]:
        """Return the HSICs of every block, and its rows."""
        rows = self._stored.over_blocks(ColumnsWork(self._work, kernels))
        if len(rows) < self._stored.n_blocks:
            raise KeyboardInterrupt
        found = [row for row in rows if row is not None]
        return np.array([row.hsics for row in found]), np.array([row.n for row in found])
