"""What is in a table: one line for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.files.queries import column
from reldep.data.selectors import ColumnType

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from reldep.data.files.table import Table

_NUMERIC = {ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.LIFETIME, ColumnType.GENE}
_NESTED = {ColumnType.OTHER, ColumnType.CYCLE}
_LABELS = {ColumnType.CATEGORY, ColumnType.TEXT}


@dataclass(frozen=True)
class ColumnDescription:
    """What a column holds, and the kernel that ``kernel="auto"`` would give it.

    Attributes
    ----------
    name : str
        The column.
    type : str
        In plain words: number, integer, category, boolean, text, date, numbers
        and words, or other. Words that repeat are a category; text is all
        different.
    n_missing : int
        Missing values.
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


def describe(table: Table) -> list[ColumnDescription]:
    r"""Describe every column of a table, in one pass over it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from reldep.data import open_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14\nm1,fish,0.5\nm2,sun,\nm3,sun,0.7\n")
    >>> [(column.name, column.kernel) for column in describe(open_table(path))]
    [('id', 'none: all different'), ('diet', 'Delta'), ('C14', 'Laplace (mean)')]
    """
    kinds = table.columns.values()
    if table.is_wide():
        found = [_count(series, kind) for series, kind in zip(table.series(), kinds, strict=True)]
    else:
        expressions = [
            _counts(name, kind).alias(str(position))
            for position, (name, kind) in enumerate(table.columns.items())
        ]
        found = list(table.evaluate(expressions).row(0))
    return [
        _described(name, kind, counts)
        for (name, kind), counts in zip(table.columns.items(), found, strict=True)
    ]


def describe_frame(
    columns: Mapping[str, ColumnType], frame: pl.DataFrame
) -> list[ColumnDescription]:
    """Return the descriptions of columns that are in memory."""
    return [_described(name, kind, _count(frame[name], kind)) for name, kind in columns.items()]


def _count(values: pl.Series, kind: ColumnType) -> dict[str, Any]:
    """Find what has to be known of a column that is read already."""
    present = values.drop_nulls()
    counts: dict[str, Any] = {
        "n_missing": values.null_count(),
        "n_present": len(present),
        "example": present[0] if len(present) else None,
    }
    if kind not in _NESTED:
        counts["n_unique"] = present.n_unique()
    if kind in _NUMERIC:
        counts |= {"minimum": present.min(), "maximum": present.max()}
    return counts


def _counts(name: str, kind: ColumnType) -> pl.Expr:
    """Return what has to be known of a column, as one struct."""
    import polars as pl

    values = column(name)
    counts = [
        values.null_count().alias("n_missing"),
        values.count().alias("n_present"),
        values.drop_nulls().first().alias("example"),
    ]
    if kind not in _NESTED:
        counts.append(values.drop_nulls().n_unique().alias("n_unique"))
    if kind in _NUMERIC:
        counts += [values.min().alias("minimum"), values.max().alias("maximum")]
    return pl.struct(counts)


def _described(name: str, kind: ColumnType, counts: dict[str, Any]) -> ColumnDescription:
    """Put the counts of a column into words."""
    n_present, n_unique = counts["n_present"], counts.get("n_unique")
    if kind in _LABELS and n_unique is not None:
        kind = ColumnType.TEXT if n_unique == n_present else ColumnType.CATEGORY
    example = counts["example"]
    return ColumnDescription(
        name=name,
        type=str(kind),
        n_missing=counts["n_missing"],
        n_unique=n_unique,
        example="" if example is None else str(example),
        minimum=counts.get("minimum"),
        maximum=counts.get("maximum"),
        kernel=_kernel(kind, n_present, n_unique),
    )


def _kernel(kind: ColumnType, n_present: int, n_unique: int | None) -> str:
    """Return the kernel a column would get, or the reason why it gets none."""
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
