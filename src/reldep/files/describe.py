"""What is in a table, one line for each column; and what is to be said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl
import polars.selectors as cs

from reldep.data.frames import as_polars
from reldep.data.selectors import ColumnType
from reldep.data.strings import WAYS_OUT
from reldep.exceptions import InputError
from reldep.files.table import SHOWN_NAMES, Table
from reldep.words import printable

_NUMERIC = {ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.LIFETIME, ColumnType.GENE}
_NESTED = {ColumnType.OTHER, ColumnType.CYCLE}
_LABELS = {ColumnType.CATEGORY, ColumnType.TEXT}
# Columns that are read together, if their values take no more than 160 MB; a file with many columns
# takes as long to read few of them. Fewer are described together: expressions take memory too.
_COLUMNS_AT_A_TIME, _VALUES_AT_A_TIME, _COLUMNS_AT_ONCE = 20_000, 20_000_000, 1_000


@dataclass(frozen=True)
class ColumnDescription:
    """What a column contains, and the kernel that ``kernel="auto"`` would give it.

    Attributes
    ----------
    name : str
    type : str
        In plain words: number, integer, category, boolean, text, date, numbers and words, or
        other. Words that repeat are a category; text is all different.
    n_missing : int
    n_unique : int or None
        Different values, missing ones not counted; None for nested values.
    example : str
        The first value present; empty if there is none.
    minimum, maximum : int, float or None
        For numbers.
    kernel : str
        ``"Laplace (mean)"``, ``"Delta"``, or ``"none: …"`` with the reason.
    """

    name: str
    type: str
    n_missing: int
    n_unique: int | None
    example: str
    minimum: float | None
    maximum: float | None
    kernel: str


def describe(table: Table, names: Sequence[str]) -> list[ColumnDescription]:
    r"""Describe columns of a table.

    Examples
    --------
    >>> import reldep
    >>> table = reldep.read({"id": ["m1", "m2", "m3"], "diet": ["a", "b", "b"], "x": [1, 2, None]})
    >>> [(column.name, column.kernel) for column in describe(table, ["id", "diet", "x"])]
    [('id', 'none: all different'), ('diet', 'Delta'), ('x', 'Laplace (mean)')]
    """
    n_at_a_time = min(_COLUMNS_AT_A_TIME, max(1, _VALUES_AT_A_TIME // max(len(table), 1)))
    found: list[ColumnDescription] = []
    for start in range(0, len(names), n_at_a_time):
        block = list(names[start : start + n_at_a_time])
        # A column that cannot be used as it is can be described.
        frame = nw.from_native(table.load(block), eager_only=True)
        for first in range(0, len(block), _COLUMNS_AT_ONCE):
            some = block[first : first + _COLUMNS_AT_ONCE]
            values = as_polars(frame.select(*some).to_native())
            found += _described(values, [table.columns[name] for name in some])
    return found


def _described(frame: pl.DataFrame, kinds: Sequence[ColumnType]) -> list[ColumnDescription]:
    """Describe all columns of a frame at once: one by one, 200,000 take a minute."""

    def each(values: pl.Expr) -> dict[str, Any]:
        found = frame.select(values)
        return found.row(0, named=True) if found.width else {}

    n_missing = each(pl.all().null_count())
    n_unique = each((~cs.nested()).drop_nulls().n_unique())
    examples = each(pl.all().drop_nulls().first())
    lowest, highest = each(cs.numeric().min()), each(cs.numeric().max())
    made = []
    for name, kind in zip(frame.columns, kinds, strict=True):
        unique = None if kind in _NESTED else n_unique.get(name)
        n_present = frame.height - n_missing[name]
        if kind in _LABELS and unique is not None:
            kind = ColumnType.TEXT if unique == n_present else ColumnType.CATEGORY
        made.append(
            ColumnDescription(
                name=name,
                type=str(kind),
                n_missing=n_missing[name],
                n_unique=unique,
                example=str(examples[name]) if n_present else "",
                minimum=lowest.get(name) if kind in _NUMERIC else None,
                maximum=highest.get(name) if kind in _NUMERIC else None,
                kernel=_kernel(kind, n_present, unique),
            )
        )
    return made


def _kernel(kind: ColumnType, n_present: int, n_unique: int | None) -> str:
    """Return the kernel that a column would get, or the reason why it gets none."""
    if n_present == 0:
        return "none: all missing"
    if n_unique == 1:
        return "none: constant"
    if kind is ColumnType.LIFETIME:
        return "LogRank"
    if kind in _NUMERIC or kind in (ColumnType.CYCLE, ColumnType.DATE):
        return "Laplace (mean)"
    if kind is ColumnType.TEXT:
        return "none: all different"
    if kind in (ColumnType.CATEGORY, ColumnType.BOOLEAN):
        return "Delta"
    return f"none: {kind}"


def refused(table: Table, doubtful: Sequence[str]) -> InputError:
    """Return the error for columns that cannot be used as they are."""
    faults = [f"column {name!r} {table.doubts[name]}" for name in doubtful[:SHOWN_NAMES]]
    n_more = len(doubtful) - SHOWN_NAMES
    more = f"; and {n_more} more columns" if n_more > 0 else ""
    ways = dict.fromkeys(WAYS_OUT[table.doubts[name].kind] for name in doubtful)
    found = [table.doubts[name] for name in doubtful]
    if all(one.kind == "words" and one.rows == (0,) for one in found):
        ways["If the header has two lines, leave out the first with `skip_rows`."] = None
    if any("`drop_summary=True`" in text for text in table.said):
        ways["Leave out rows that sum up others with `drop_summary=True`."] = None
    return InputError(
        f"{table.name}: {'; '.join(faults)}{more}. {' '.join(ways)} Or leave a "
        f"column out with '!{printable(doubtful[0])}'."
    )
