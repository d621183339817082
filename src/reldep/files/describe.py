"""What is in a table: one line for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.selectors import ColumnType

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    import polars as pl

    from reldep.files.table import Table

_NUMERIC = {ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.LIFETIME, ColumnType.GENE}
_NESTED = {ColumnType.OTHER, ColumnType.CYCLE}
_LABELS = {ColumnType.CATEGORY, ColumnType.TEXT}
# Columns that are read together.
_AT_A_TIME = 500


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
    import narwhals as nw

    found: list[ColumnDescription] = []
    for start in range(0, len(names), _AT_A_TIME):
        block = list(names[start : start + _AT_A_TIME])
        # A column that cannot be used as it is can be described.
        frame = nw.from_native(table.load(block), eager_only=True)
        found += [_described(name, table.columns[name], _as_polars(frame[name])) for name in block]
    return found


def _as_polars(series: nw.Series[Any]) -> pl.Series:
    import polars as pl

    if series.implementation.is_polars():
        values: pl.Series = series.to_native()
        return values
    made = pl.Series(series.name, series.to_list(), strict=False)
    return made.fill_nan(None) if made.dtype.is_float() else made


def _described(name: str, kind: ColumnType, values: pl.Series) -> ColumnDescription:
    present = values.drop_nulls()
    n_unique = None if kind in _NESTED or values.dtype.is_nested() else present.n_unique()
    if kind in _LABELS and n_unique is not None:
        kind = ColumnType.TEXT if n_unique == len(present) else ColumnType.CATEGORY
    is_number = kind in _NUMERIC and values.dtype.is_numeric()
    return ColumnDescription(
        name=name,
        type=str(kind),
        n_missing=values.null_count(),
        n_unique=n_unique,
        example=str(present[0]) if len(present) else "",
        minimum=present.min() if is_number else None,  # type: ignore[arg-type]
        maximum=present.max() if is_number else None,  # type: ignore[arg-type]
        kernel=_kernel(kind, len(present), n_unique),
    )


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
