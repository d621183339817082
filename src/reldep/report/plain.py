"""A description as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.words import listed, text_table

if TYPE_CHECKING:
    from reldep.description import Description

# Rows of a table that a terminal shows; data frames and files have all.
MOST_ROWS = 20
# Different kernels that are listed one by one; more would bury the answer.
MOST_KERNELS = 6


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
    shown = [one for one in parts.facts if one.heading and one.text]
    facts = "; ".join([f"{one.heading[0].lower()}{one.heading[1:]}: {one.text}" for one in shown])
    lines += ["", *parts.notes, f"{facts[:1].upper()}{facts[1:]}.", f"Kernels: {_kernels(parts)}."]
    lines += [f"Caution: {caution}" for caution in parts.cautions]
    return "\n".join(lines)


def _kernels(parts: Description) -> str:
    fitted = [kernel["kernel"] for kernel in parts.kernels.values()]
    if len(set(fitted)) > MOST_KERNELS:
        return listed(list(dict.fromkeys(fitted)), 3)
    return "; ".join(f"{name}: {one}" for name, one in zip(parts.kernels, fitted, strict=True))
