"""Lazy frames: single columns, the plain-word types of columns, running a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.data.columns import ColumnType

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    import polars as pl

# With more expressions than this the streaming engine spends its time on the
# plan, which grows as the square of their number.
_MOST_STREAMED = 300


def column(name: str) -> pl.Expr:
    """Return the column of exactly this name.

    ``polars.col`` would read the names ``*`` and ``^…$`` as patterns.
    """
    import polars.selectors as cs

    return cs.by_name(name).as_expr()


def named(names: Sequence[str]) -> pl.Expr:
    """Return the columns of exactly these names, in this order."""
    import polars.selectors as cs

    return cs.by_name(*names).as_expr()


def column_type(dtype: pl.DataType) -> ColumnType:
    """Return the type of a column in plain words.

    Examples
    --------
    >>> import polars
    >>> str(column_type(polars.Float32()))
    'number'
    """
    import polars as pl

    if dtype.is_integer():
        return ColumnType.INTEGER
    if dtype.is_numeric():
        return ColumnType.NUMBER
    for kind, members in (
        (ColumnType.BOOLEAN, (pl.Boolean,)),
        # A column of the null type has no value at all; text is what an empty
        # column of a CSV is taken for, too.
        (ColumnType.TEXT, (pl.String, pl.Null)),
        (ColumnType.CATEGORY, (pl.Categorical, pl.Enum)),
        (ColumnType.DATE, (pl.Date, pl.Datetime)),
    ):
        if dtype in members:
            return kind
    return ColumnType.OTHER


def typed_columns(
    schema: Mapping[str, pl.DataType], mixed: Container[str] = ()
) -> dict[str, ColumnType]:
    """Return the types of columns in plain words; `mixed` are those of numbers and words."""
    return {
        name: ColumnType.MIXED if name in mixed else column_type(dtype)
        for name, dtype in schema.items()
    }


def tidy_numbers(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make NaN a missing value, as it is meant in data, and decimals floats.

    Otherwise a row with NaN would pass ``--where "x > 3"``: polars orders NaN
    above every number.
    """
    import polars as pl
    import polars.selectors as cs

    return frame.with_columns(cs.float().fill_nan(None), cs.decimal().cast(pl.Float64))


def collect(frame: pl.LazyFrame, *, n_expressions: int) -> pl.DataFrame:
    """Run a query by the engine that suits its width."""
    import polars as pl

    major, minor = (int(part) for part in pl.__version__.split(".")[:2])
    if (major, minor) < (1, 25):  # the engines had no names before
        return frame.collect()
    return frame.collect(engine="streaming" if n_expressions <= _MOST_STREAMED else "in-memory")
