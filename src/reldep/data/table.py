"""A table on disk: its columns are known, its values are read when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reldep.data.columns import ColumnType, known_column, select_blocks, select_columns
from reldep.data.failures import explain, reading_errors
from reldep.data.lazy import collect, named
from reldep.data.where import check_types, parse_condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from reldep.data.cleaning import Stray
    from reldep.data.joining import JoinReport
    from reldep.data.textfile import TextFile


@dataclass(frozen=True, eq=False)
class Table:
    """A table, from one file or from several joined on a key.

    Attributes
    ----------
    name : str
        The file, as it was given; several joined with ``+``.
    columns : mapping of str to ColumnType
        The type of every column, in the file's order.
    join : JoinReport or None
        How many rows of each file found a partner, if files were joined.
    frame : polars.LazyFrame
        The table for polars, not yet read.
    strays : mapping of str to Stray
        The columns that hold numbers and words, with a word of each.
    texts : tuple of TextFile
        The text files the table comes from.
    """

    name: str
    frame: pl.LazyFrame = field(repr=False)
    columns: Mapping[str, ColumnType] = field(repr=False)
    strays: Mapping[str, Stray] = field(default_factory=dict, repr=False)
    texts: tuple[TextFile, ...] = field(default=(), repr=False)
    join: JoinReport | None = None

    def select(self, expression: str) -> list[str]:
        """Return the columns an expression such as ``"age,ge_*"`` names."""
        return select_columns(expression, self.columns, source=self.name)

    def blocks(self, definitions: Sequence[str]) -> dict[str, list[str]]:
        """Return the blocks of columns that ``NAME=COLS`` definitions name."""
        return select_blocks(definitions, self.columns, source=self.name)

    def read(self, columns: Sequence[str], where: str | None = None) -> pl.DataFrame:
        """Read some columns, and of these the rows for which a condition holds.

        Parameters
        ----------
        columns : sequence of str
            Names, as `select` returns them; a name given twice is read once.
        where : str, optional
            A condition such as ``"age > 40 and sex = 'f'"``, see `reldep.data.where`.

        Returns
        -------
        polars.DataFrame
            At least one row; missing values are null.

        Raises
        ------
        ValueError
            If a column is unknown or holds numbers and words, the condition
            does not fit, no row is left, or the file cannot be read.
        """
        names = list(dict.fromkeys(columns))
        if not names:
            raise ValueError(f"columns: name at least one column of {self.name}")
        for name in names:
            self._refuse_mixed(known_column(name, self.columns, self.name))
        frame = self._run(self._rows(where).select(named(names)), len(names))
        if frame.height == 0:
            raise ValueError(f"no row of {self.name} satisfies the condition {where!r}")
        return frame

    def count_rows(self, where: str | None = None) -> int:
        """Count the rows, or those for which a condition holds."""
        import polars as pl

        count: int = self._run(self._rows(where).select(pl.len()), 1).item()
        return count

    def has_rows(self) -> bool:
        """Tell whether there is a row at all, without reading the table."""
        import polars as pl

        return bool(self._run(self.frame.head(1).select(pl.len()), 1).item())

    def evaluate(self, expressions: Sequence[pl.Expr]) -> pl.DataFrame:
        """Evaluate polars expressions on the whole table, in one pass."""
        return self._run(self.frame.select(expressions), len(expressions))

    def _rows(self, where: str | None) -> pl.LazyFrame:
        """Return the table with the rows for which a condition holds."""
        if where is None:
            return self.frame
        schema = self.frame.collect_schema()
        expression = parse_condition(where, schema, self.name)
        for name in expression.meta.root_names():
            self._refuse_mixed(name)
        check_types(expression, where, schema)
        return self.frame.filter(expression)

    def _run(self, frame: pl.LazyFrame, n_expressions: int) -> pl.DataFrame:
        """Read, and say in plain words why a file could not be read."""
        try:
            return collect(frame, n_expressions=n_expressions)
        except reading_errors() as error:
            raise explain(error, self.name, self.texts) from error

    def _refuse_mixed(self, name: str) -> None:
        """Raise if a column holds numbers and words, for it would pass as a category."""
        stray = self.strays.get(name)
        if stray is None:
            return
        line = stray.line()
        place = "" if line is None else f" (line {line})"
        raise ValueError(
            f"column {name!r} of {self.name} holds numbers and words: {stray.value!r}{place} is "
            "not a number. Write missing values as NA or leave them empty; if its values are "
            f"labels, name the column among the categories; or leave it out with '!{name}'"
        )
