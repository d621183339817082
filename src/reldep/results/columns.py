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
    rounded,
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
    "statistic": "t",
    "pvalue": "p-value",
    "adjusted_pvalue": "adjusted p-value",
    "may_be_best": "may be the best",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "band_low": "band from",
    "band_high": "band to",
    "fdr": "false-discovery rate",
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


def as_table(
    columns: Columns,
    caption: str,
    headings: Mapping[str, str] | None = None,
    *,
    order: Sequence[int] | None = None,
    shown: str = Table.shown,
) -> Table:
    """Return a table whose columns are headed and written as everywhere.

    The first column names the rows. It may bear a name from the data, which is not translated.

    Parameters
    ----------
    columns : dict of str to list
    caption : str
    headings : mapping, optional
        Those that differ from the usual ones.
    order : sequence of int, optional
        The rows by weight, for pages that have no room for all.
    shown : str
        How to say which rows are left of a table that is cut.
    """
    first, *others = columns
    known = {**HEADINGS, **(headings or {})}
    writers = dict(WRITERS)
    for low, high in (("low", "high"), ("band_low", "band_high")):
        if low in columns:
            writers |= {low: rounded(3, columns[high]), high: rounded(3, columns[low])}
    named = [
        Column(
            name,
            known.get(name, name.replace("_", " ")),
            columns[name],
            writers.get(name, THREE_DIGITS),
        )
        for name in others
    ]
    return Table((Column(first, first, columns[first], each(_name)), *named), caption, order, shown)


def _name(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def as_rows(columns: Columns) -> list[dict[str, Any]]:
    """Return columns as rows, as JSON has them."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
