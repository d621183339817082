"""How the columns of answers are headed and written, once for all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.description import (
    PVALUES,
    THREE_DIGITS,
    TWO_DECIMALS,
    Column,
    Table,
    each,
    errors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Columns = dict[str, list[Any]]

# Headings people read, for the columns that tables of different answers share.
HEADINGS = {
    "hsic": "HSIC",
    "cka": "CKA",
    "dcor": "squared distance correlation",
    "as_correlation": "as a correlation",
    "low": "from",
    "high": "to",
    "statistic": "z",
    "pvalue": "p-value",
    "adjusted_pvalue": "adjusted p-value",
    "may_be_best": "may be the best",
    "rank_low": "rank from",
    "rank_high": "rank to",
}

# How their cells are written; all others with three significant digits.
WRITERS = {
    "as_correlation": TWO_DECIMALS,
    "standard_error": errors,
    "statistic": TWO_DECIMALS,
    "pvalue": PVALUES,
    "adjusted_pvalue": PVALUES,
    "fdr": PVALUES,
    "share of variance": each("{:.1%}".format),
}


def described(
    columns: Columns,
    caption: str,
    headings: Mapping[str, str] = HEADINGS,
    *,
    order: Sequence[int] | None = None,
    shown: str = Table.shown,
) -> Table:
    """Return a table whose columns are headed and written as everywhere.

    The first column names the rows. It may bear a name from the data, which is not translated.
    """
    first, *others = columns
    named = [
        Column(
            name,
            headings.get(name, name.replace("_", " ")),
            columns[name],
            WRITERS.get(name, THREE_DIGITS),
        )
        for name in others
    ]
    return Table((Column(first, first, columns[first], each(_name)), *named), caption, order, shown)


def _name(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
