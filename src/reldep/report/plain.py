"""A description as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.words import text_table

if TYPE_CHECKING:
    from reldep.description import Description

# Rows of a table that a terminal shows; data frames and files have all.
MOST_ROWS = 20


def plain_text(parts: Description) -> str:
    """Return the sentence, the table, how the numbers were computed, and the cautions.

    The columns bear the names that programs use, so that a reader finds them in the data frame.
    """
    # A table without an order of weight has a row for each thing that was asked about.
    is_long = parts.table.order is not None
    table = parts.table.by_weight().top(MOST_ROWS) if is_long else parts.table
    lines = [parts.sentence, "", text_table([c.name for c in table.columns], table.rows)]
    if len(table) < len(parts.table):
        which = table.shown.format(n=len(table), all=len(parts.table))
        lines += [f"{which} to_frame() and --csv give all."]
    lines += ["", *parts.notes, *(f"Caution: {caution}" for caution in parts.cautions)]
    return "\n".join(lines).rstrip()
