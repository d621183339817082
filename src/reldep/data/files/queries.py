"""Queries to polars: single columns, types in plain words, conditions on rows, failures.

A condition is written in the language of SQL's WHERE, ``age > 40 and sex = 'f'``: comparisons
(``=`` or ``==``, ``!=`` or ``<>``, ``<``, ``<=``, ``>``, ``>=``), ``and``, ``or``, ``not``,
``in ('a', 'b')``, ``between 1 and 5``, ``like 'C%'``, ``is null``, ``is not null``, parentheses
and arithmetic. Text values stand in single quotes, dates are written ``date '2024-01-31'``, and a
column whose name is not a plain word stands in double quotes: ``"C16:0" > 1``. A row for which
the condition is unknown, because a value is missing, is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.data.checks import cell, hint, listing, printable
from reldep.data.files.sources import signature
from reldep.data.selectors import ColumnType
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from reldep.data.files.delimited import TextFile

# A table with more columns is read as a whole: to plan a query for so many takes longer.
WIDE = 2_000
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
        (ColumnType.DATE, (pl.Date, pl.Datetime, pl.Time, pl.Duration)),
    ):
        if dtype in members:
            return kind
    return ColumnType.OTHER


def settled(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Read a wide table once and for all; leave any other to be read when it is needed."""
    if len(frame.collect_schema()) <= WIDE:
        return frame
    return frame.collect(engine="in-memory").lazy()


def typed_columns(
    schema: Mapping[str, pl.DataType], mixed: Container[str] = ()
) -> dict[str, ColumnType]:
    """Return the types of columns in plain words; `mixed` are those of numbers and words."""
    return {
        name: ColumnType.MIXED if name in mixed else column_type(dtype)
        for name, dtype in schema.items()
        if not name.startswith("\0")
    }


def tidied(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make NaN a missing value, as it is meant in data, decimals floats, and words composed.

    Otherwise a row with NaN would pass ``--where "x > 3"``: polars orders NaN
    above every number.
    """
    import polars as pl
    import polars.selectors as cs

    if len(frame.collect_schema()) > WIDE:
        # To plan so many expressions takes more memory than the table.
        columns = frame.collect(engine="in-memory").get_columns()
        return pl.DataFrame([_tidied(values) for values in columns]).lazy()
    return frame.with_columns(
        cs.float().fill_nan(None),
        cs.decimal().cast(pl.Float64),
        cs.string().str.normalize("NFC"),
    )


def _tidied(values: pl.Series) -> pl.Series:
    import polars as pl

    if values.dtype.is_float():
        return values.fill_nan(None)
    if values.dtype.is_decimal():
        return values.cast(pl.Float64)
    return values.str.normalize("NFC") if values.dtype == pl.String else values


def collect(frame: pl.LazyFrame, *, n_expressions: int) -> pl.DataFrame:
    """Run a query by the engine that suits its width."""
    return frame.collect(engine="streaming" if n_expressions <= _MOST_STREAMED else "in-memory")


_EXAMPLE = "\"age > 40 and sex = 'f'\""
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", re.DOTALL)
# A query inside the condition could read other files.
_QUERY = re.compile(r"\bselect\b|\(\s*(from|values|with|table)\b|;|--|/\*|\$\$|`", re.IGNORECASE)


def parse_condition(where: str, schema: Mapping[str, pl.DataType], source: str) -> pl.Expr:
    """Return a condition on rows as an expression of known columns.

    Parameters
    ----------
    where : str
        The condition; see the module's text for its language.
    schema : mapping of str to DataType
        The columns it may speak of.
    source : str
        What to call the table in an error message.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [39, 41], "sex": ["m", "f"]})
    >>> frame.filter(parse_condition("age > 40 and sex == 'f'", frame.schema, "mice.csv")).height
    1
    """
    import polars as pl

    refused = _QUERY.search(_QUOTED.sub(" ", where))
    if refused is not None:
        raise InputError(
            f"the condition {where!r} holds {refused[0]!r}: a condition compares columns and "
            f"values, such as {_EXAMPLE}; it cannot hold a query or a comment"
        )
    try:
        # In parentheses, for some versions of polars ignore what follows a comma.
        expression = pl.sql_expr(f"({where})")
    except polars_errors() as error:
        raise _not_understood(where, schema, error) from error
    for name in expression.meta.root_names():
        if name not in schema:
            raise InputError(
                f"no column {name!r} in {source}, in the condition {where!r}; "
                f"{hint(name, schema, kind='columns')}. Text values stand in single quotes: "
                f"'{name}'"
            )
    return expression


def check_types(expression: pl.Expr, where: str, schema: Mapping[str, pl.DataType]) -> None:
    """Raise if a condition compares what cannot be compared, or is no condition.

    It is tried on an empty table, so that no file is read in vain.
    """
    import polars as pl

    try:
        pl.DataFrame(schema=dict(schema)).lazy().filter(expression).collect()
    except polars_errors() as error:
        raise _not_understood(where, schema, error) from error


def _not_understood(
    where: str, schema: Mapping[str, pl.DataType], error: BaseException
) -> InputError:
    known = [name for name in schema if not name.startswith("\0")]
    if any(dtype.is_temporal() for dtype in schema.values()) and "to a string" in str(error):
        return InputError(
            f"cannot understand the condition {where!r}: a date is compared with a text. Dates are "
            "written like DATE '2024-01-31'."
        )
    return InputError(
        f"cannot understand the condition {where!r}: {reason(error)}. It is written like "
        f"{_EXAMPLE}; columns: {listing(known)}"
    )


# Such a column is known to polars by its position, for its name may hold anything.
_UNPARSED = re.compile(
    r"could not parse `(?P<value>.*?)` as dtype `(?P<dtype>\w+)` "
    r"at column '(?P<column>.*?)' \(column number (?P<number>\d+)\)",
    re.DOTALL,
)
_LONGEST_REASON = 200


def polars_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises; a panic in its core is no ordinary exception."""
    import polars as pl

    return (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def reading_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises while it reads: also OSError, for a file cut short or gone."""
    return (*polars_errors(), OSError)


def reason(error: BaseException) -> str:
    """Return the first line of what polars says, cut if it is long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = printable(lines[0].strip())
    return first if len(first) <= _LONGEST_REASON else f"{first[:_LONGEST_REASON]}…"


def not_as_named(path: Path, expected: str, mark: bytes, error: BaseException) -> InputError:
    """Return the error to raise if a file is not of the kind that its name promises.

    `mark` is how a file of that kind starts: one that does is of the kind, but damaged.
    """
    with path.open("rb") as file:
        start = file.read(16)
    name = printable(path)
    if start.startswith(mark):
        return InputError(f"{name} is damaged, or only a part of {expected}: {reason(error)}")
    what = signature(start)
    looks = f"it looks like {what}" if what else reason(error)
    return InputError(f"{name} is not {expected}: {looks}")


def explain(error: BaseException, name: str, texts: Sequence[TextFile]) -> InputError:
    """Return the error to raise in place of one that came while reading `name`.

    Parameters
    ----------
    error : exception
        What polars raised.
    name : str
        The file, or the files joined.
    texts : sequence of TextFile
        The text files among them: searched for the line at fault.
    """
    unparsed = _UNPARSED.search(str(error))
    if unparsed is None or not texts:
        return InputError(f"cannot read {printable(name)}: {reason(error)}")
    # The hidden column of record numbers is not counted.
    position, value = int(unparsed["number"]) - 1, unparsed["value"]
    found = [(text, text.place_of(position, value)) for text in texts]
    text, place = next(((text, place) for text, place in found if place), found[0])
    where = f"{place} of {printable(text.name)}" if place else printable(name)
    return InputError(
        f"{where}: column {text.names[position]!r} holds {cell(value)}, which is not of the type "
        "seen in the rows before it. Write missing values as NA or leave them empty; if the "
        "column holds labels, name it among `categories`."
    )
