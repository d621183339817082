"""Words and numbers that stand for a missing value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from reldep.data.variables import FloatArray

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


def as_number(code: Any) -> float | None:
    """Return a code as a number, or None if it is a word."""
    try:
        return float(code)
    except (ValueError, TypeError, OverflowError):
        return None


# What people and programs write for a missing number.
_NUMBERS = frozenset(
    (
        *(0, -1, -9, -66, -77, -88, -97, -98, -99, -777, -888, -997, -998, -999),
        *(-9999, -99999, -999999, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999),
        *(7777, 8888, 9997, 9998, 9999, 77777, 88888, 99999, 999999, 9999999),
        *(-32768, 32767, 65535, -2147483648, 2147483647, 9.969209968386869e36),
    )
)
# The smallest of the fill values of climate data: 1e15, 1e20 and 9.97e36 (netCDF).
_FILL_VALUE = 1e15

# With fewer levels 0 may be one of them.
_LEVELS_OF_A_SCALE = 10


def suspected_codes(column: FloatArray) -> list[tuple[float, int]]:
    """Return the numbers of a column that may stand for missing values, with their counts.

    A code is suspected if it is the smallest or largest value and lies apart from the others:
    below 0 where all others are not, or farther from them than they are spread. So are several
    codes next to each other, such as -99 and -98. A single 0, or one in a scale of few levels, is
    not.

    Examples
    --------
    >>> import numpy
    >>> suspected_codes(numpy.array([21.0, 35, -999, 62, 48, -999]))
    [(-999.0, 2)]
    >>> suspected_codes(numpy.array([21.0, 35, -99, 62, 48, -98]))
    [(-99.0, 1), (-98.0, 1)]
    >>> suspected_codes(numpy.array([-1.0, 1, 0, -1, 1, 0]))
    []
    """
    rest = column[np.isfinite(column)]
    found: list[tuple[float, int]] = []
    while len(rest) > 3:
        levels = np.unique(rest)
        codes = _codes_at_end(levels, rest) or _codes_at_end(levels[::-1], rest)
        if not codes:
            break
        found += [(code, int((rest == code).sum())) for code in codes]
        rest = rest[~np.isin(rest, codes)]
    return found


def suspected_labels(labels: Sequence[Any]) -> list[Any]:
    """Return the labels that may stand for missing values.

    These are words for it, and codes such as -99 and 999 next to numbers: below 0 where all others
    are not, or farther from them than they are spread.

    Examples
    --------
    >>> suspected_labels(["a", "b", "n/a"]), suspected_labels([1, 2, -99])
    (['n/a'], [-99])
    >>> suspected_labels([-1, 1])
    []
    """
    numbers = {label: as_number(label) for label in labels if not isinstance(label, bool)}
    known = {label: number for label, number in numbers.items() if number is not None}
    codes = {label for label, number in known.items() if number in _NUMBERS and abs(number) >= 9}
    usual = [number for label, number in known.items() if label not in codes]
    low, high = min(usual, default=-math.inf), max(usual, default=math.inf)

    def is_suspected(label: Any) -> bool:
        if label in codes:
            return known[label] < 0 <= low or known[label] - high > high - low > 0
        return isinstance(label, str) and (is_code(label) or not label.strip())

    return [label for label in labels if is_suspected(label)]


def _codes_at_end(levels: FloatArray, values: FloatArray) -> list[float]:
    """Return the most levels in a row, from the first on, that are codes apart from the others."""
    first = float(levels[0])
    if first not in _NUMBERS and abs(first) < _FILL_VALUE:
        return []
    # A fill value stands alone: in a large unit, all values can be as large.
    run = list(takewhile(_NUMBERS.__contains__, levels.tolist())) or [first]
    while run and not _stands_apart(run[-1], values[~np.isin(values, run[:-1])]):
        run.pop()
    return run


def have_codes_at_ends(columns: FloatArray) -> list[bool]:
    """Return, for each row of `columns`, whether its smallest or largest value may be a code."""
    ends = np.column_stack([np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)])
    is_fill = (np.abs(ends) >= _FILL_VALUE).any(axis=1).tolist()
    pairs = zip(ends.tolist(), is_fill, strict=True)
    return [is_fill or not _NUMBERS.isdisjoint(both) for both, is_fill in pairs]


def _stands_apart(code: float, values: FloatArray) -> bool:
    levels = np.unique(values[values != code])
    if len(levels) < 3:
        return False
    low, high = levels[0], levels[-1]
    if code == 0 and ((values == 0).sum() < 2 or len(levels) < _LEVELS_OF_A_SCALE):
        return False
    if -10 < code < 0:
        return bool(low > 0 or (low == 0 and len(levels) > 5))
    if code < 0 and low >= 0:
        return True
    return bool(min(abs(code - low), abs(code - high)) > high - low)
