"""From a file or a frame and the names of columns to blocks of data.

This is what the command line does with its options, and what a question does with ``data=``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reldep.data.checks import printable
from reldep.data.rows import Rows
from reldep.data.selectors import select_variables
from reldep.exceptions import InputError
from reldep.files.partitions import Partitions, PiecesOf
from reldep.files.read import read
from reldep.files.table import Scope, Table
from reldep.files.wide_columns import TableColumns


@dataclass(frozen=True, eq=False)
class Selection:
    """Blocks of columns, taken from one table.

    Attributes
    ----------
    blocks : dict of str to data
        The data of every block: a series for one column, a frame for several.
    columns : dict of str to list of str
        The columns of every block.
    rows : Rows
        The rows that were taken, by place and name; pass them on as ``ids``.
    clusters : series or None
        The cluster labels.
    notes : tuple of str
        What was understood about the table and the columns used.
    table : Table or None
        The table that they come from.
    scope : str or None
        The rows that a condition chose; None for all rows.
    """

    blocks: dict[str, Any]
    columns: dict[str, list[str]]
    rows: Rows
    clusters: Any = None
    notes: tuple[str, ...] = ()
    table: Table | None = None
    scope: str | None = None


def select_data(
    data: Any,
    selectors: Sequence[str] | Mapping[str, str],
    *,
    where: str | None = None,
    ids: str | None = None,
    clusters: str | None = None,
    join: str | None = None,
    later: Sequence[str] = (),
    **options: Any,
) -> Selection:
    """Take blocks of columns from a file or a data frame.

    Parameters
    ----------
    data : path, sequence of paths, Table, data frame or mapping of str to arrays
        Where the columns are.
    selectors : sequence of str, or mapping of str to str
        Each names the columns of a block, as ``COLS`` or ``NAME=COLS``; or by the blocks' names.
    where : str, optional
        A condition on the rows, such as ``"age > 40"``.
    ids, clusters : str, optional
        The column that names the rows, and the one with cluster labels.
    join : str, optional
        The column on which several files are joined.
    options
        Further arguments of :func:`reldep.read`.
    later : sequence of str
        Blocks of a file that are not read yet, since they have thousands of columns: they become
        :class:`~reldep.files.wide_columns.TableColumns`.

    Examples
    --------
    >>> import polars
    >>> mice = polars.DataFrame({"diet": ["sun", "fish"], "C14": [0.1, 0.2], "C16": [0.3, 0.4]})
    >>> chosen = select_data(mice, ["diet", "lipids=C*"], where="C14 > 0.1")
    >>> chosen.columns, chosen.rows.values()
    ({'diet': ['diet'], 'lipids': ['C14', 'C16']}, [1])
    """
    asked = _Request(selectors, where, ids, clusters, later)
    if isinstance(data, Partitions):
        return asked.from_partitions(data)
    if not isinstance(data, Table):
        data = read(data, join=join, **options)
    return asked.from_table(data if where is None else data.restricted(where))


@dataclass(frozen=True)
class _Request:
    """What to take from a table."""

    selectors: Sequence[str] | Mapping[str, str]
    where: str | None
    ids: str | None
    clusters: str | None
    later: Sequence[str] = ()

    def _blocks(self, table: Table) -> dict[str, list[str]]:
        if isinstance(self.selectors, Mapping):
            return table.variables(self.selectors)
        blocks: dict[str, list[str]] = {}
        for definition in self.selectors:
            for name, columns in table.variables(definition).items():
                if name in blocks:
                    raise InputError(
                        f"two variables are named {name!r}. Give them names of their own, as in "
                        "NAME=COLS."
                    )
                blocks[name] = columns
        return blocks

    def _single(self, argument: str, expression: str | None, table: Table) -> str | None:
        """Return the one column that an option names."""
        if expression is None or expression in table.columns:
            return expression
        found = table.select(expression)
        if len(found) > 1:
            raise InputError(f"`{argument}={expression!r}` names {len(found)} columns; give one.")
        return found[0]

    def from_table(self, table: Table) -> Selection:
        """Read the blocks from a table."""
        columns = self._blocks(table)
        clusters = self._single("clusters", self.clusters, table)
        ids = self._single("ids", self.ids, table)
        if ids is not None:
            table = table.named_by(ids)
        used = [name for block in columns.values() for name in block]
        now = {name: block for name, block in columns.items() if name not in self.later}
        blocks = table.take(now)
        for name in self.later:
            if name in columns:
                blocks[name] = TableColumns(table, columns[name])
        return Selection(
            {name: blocks[name] for name in columns},
            columns,
            replace(table.rows, time=table.time_order()),
            None if clusters is None else table[clusters],
            table.notes_about(used),
            table,
            None if table.scope is None else str(table.scope),
        )

    def from_partitions(self, data: Partitions) -> Selection:
        """Name the columns of every block; nothing is read yet."""
        for argument in ("ids", "clusters"):
            if getattr(self, argument) is not None:
                raise InputError(
                    f"`{argument}` needs all rows in one place, which partitions are not. Leave it "
                    "out, or read the rows you need into a data frame, and pass that."
                )
        columns = select_variables(
            self.selectors, data.columns, several=True, source=printable(data.name)
        )
        blocks = {name: PiecesOf(data, tuple(block), self.where) for name, block in columns.items()}
        scope = None if self.where is None else str(Scope(self.where, 0, 0))
        return Selection(blocks, columns, Rows.of(0), scope=scope)
