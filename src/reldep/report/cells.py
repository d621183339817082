"""Tables of results in words: headings people read, numbers with a few digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.report.markup import Markup, element, joined
from reldep.words import MEASURE_NAMES, number, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADINGS = {
    **MEASURE_NAMES,
    "std_error": "standard error",
    "low_95": "95 % from",
    "high_95": "95 % to",
    "low": "from",
    "high": "to",
    "pvalue": "p-value",
    "adjusted_pvalue": "adjusted p-value",
    "best_pvalue": "p-value of being the best",
    "may_be_best": "may be the best",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "statistic": "z",
}


def heading(column: str) -> str:
    """Give the heading of a column."""
    return HEADINGS.get(column, column.replace("_", " "))


def cell(column: str, value: Any) -> str:
    """Write a value as people read it; the data frame has it unrounded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if column.endswith("pvalue"):
            return pvalue_text(value).removeprefix("p = ").removeprefix("p ")
        return number(value)
    return str(value)


def is_numeric(values: Sequence[Any]) -> bool:
    """Tell whether a column is set to the right, as numbers are."""
    present = [value for value in values if value is not None]
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present)


def html_table(columns: Mapping[str, Sequence[Any]], caption: str, *, most: int = 200) -> Markup:
    """Write a table with a caption; the first column names the rows.

    A table of more than `most` rows is cut, and says so.
    """
    names = list(columns)
    numeric = {name: is_numeric(columns[name]) for name in names} | {names[0]: False}
    rows = list(zip(*columns.values(), strict=True))
    head = [
        element("th", heading(name), scope="col", class_="number" if numeric[name] else None)
        for name in names
    ]
    body = [_row(names, row, numeric) for row in rows[:most]]
    left_out = f" The first {most} of {len(rows)} rows." if len(rows) > most else ""
    table = element(
        "table",
        element("caption", element("span", f"{caption}{left_out}")),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    # A wide table scrolls by itself, also with the keyboard, and the page does not.
    return element("div", table, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _row(names: Sequence[str], row: Sequence[Any], numeric: Mapping[str, bool]) -> Markup:
    first, *others = zip(names, row, strict=True)
    cells = [
        element("td", cell(name, value), class_="number" if numeric[name] else None)
        for name, value in others
    ]
    return element("tr", element("th", cell(*first), scope="row"), joined(*cells))
