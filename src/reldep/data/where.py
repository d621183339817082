"""Which rows to use: a condition in the language of SQL's WHERE.

``age > 40 and sex = 'f'``: comparisons (``=`` or ``==``, ``!=`` or ``<>``, ``<``,
``<=``, ``>``, ``>=``), ``and``, ``or``, ``not``, ``in ('a', 'b')``, ``between 1 and 5``,
``like 'C%'``, ``is null``, ``is not null``, parentheses and arithmetic. Text values stand
in single quotes, dates are written ``date '2024-01-31'``, and a column whose name is not a
plain word stands in double quotes: ``"C16:0" > 1``. A row for which the condition is
unknown, because a value is missing, is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.data.failures import polars_errors, reason
from reldep.data.names import hint, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

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
        raise ValueError(
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
            raise ValueError(
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
) -> ValueError:
    return ValueError(
        f"cannot understand the condition {where!r}: {reason(error)}. It is written like "
        f"{_EXAMPLE}; columns: {listing(schema)}"
    )
