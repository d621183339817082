"""Words that stand for a missing value."""

from __future__ import annotations

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""Cells of text files and sheets that are missing values in every column."""

_CODES = (
    "n/a #n/a #na n.a. na nan null none nil missing <na> . .. ? ?? - -- --- – — * "
    "#null! #value! #div/0! #ref! #num! #name?"
)
MISSING_CODES = frozenset(_CODES.split())
"""Lower-case words that are missing values where the rest of a column is numbers."""


def is_code(text: str) -> bool:
    """Return True if a cell among numbers stands for a missing value."""
    return text.strip().lower() in MISSING_CODES


def as_number(code: str | float) -> float | None:
    """Return a code as a number, or None if it is a word."""
    try:
        return float(code)
    except (ValueError, OverflowError):
        return None
