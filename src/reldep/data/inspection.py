"""What is suspicious about values: codes for missing, twins of labels, mixed units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import MISSING_CODE, Labels, Mixed, Numeric, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray

# What people and programs write for a missing number.
_CODES = frozenset(
    (
        *(0, -1, -9, -99, -999, -9999, -99999, -999999),
        *(77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 77777, 88888, 99999, 999999, 9999999),
        *(-32768, 32767, 65535, -2147483648, 2147483647, 9.969209968386869e36),
    )
)
_FILL_VALUE = 1e15
_SHOWN = 5

# With fewer levels 0 may be one of them.
_LEVELS_OF_A_SCALE = 10


def suspected_codes(column: FloatArray) -> list[tuple[float, int]]:
    """Return the numbers of a column that may stand for missing values, with their counts.

    A code is suspected if it is the smallest or largest value and lies apart from the others:
    below 0 where all others are not, or farther from them than they are spread. A single 0, or
    one in a scale of few levels, is not.

    Examples
    --------
    >>> import numpy
    >>> suspected_codes(numpy.array([21.0, 35, -999, 62, 48, -999]))
    [(-999.0, 2)]
    >>> suspected_codes(numpy.array([-1.0, 1, 0, -1, 1, 0]))
    []
    """
    rest = column[np.isfinite(column)]
    found = []
    while len(rest) > 3:
        low, high = rest.min(), rest.max()
        code = next((end for end in (low, high) if _may_be_code(end)), None)
        if code is None or not _stands_apart(code, rest):
            other = high if code == low and _may_be_code(high) else None
            if other is None or not _stands_apart(other, rest):
                break
            code = other
        found.append((float(code), int((rest == code).sum())))
        rest = rest[rest != code]
    return found


def has_codes_at_ends(column: FloatArray) -> bool:
    """Return True if the smallest or the largest value may be a code."""
    ends = float(np.fmin.reduce(column)), float(np.fmax.reduce(column))
    return any(map(_may_be_code, ends))


def _may_be_code(value: float) -> bool:
    return value in _CODES or abs(value) >= _FILL_VALUE


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


def without_codes(variable: Variable, na: Sequence[str | float]) -> Variable:
    """Return a variable in which the values that mean missing are missing."""
    if not na:
        return variable
    if isinstance(variable, Mixed):
        parts = [without_codes(part, na) for part in variable.parts]
        kept = tuple(part for part in parts if isinstance(part, (Numeric, Labels)))
        return replace(variable, parts=kept)
    if isinstance(variable, Numeric):
        numbers = [number for number in map(_as_number, na) if number is not None]
        values = np.where(np.isin(variable.values, numbers), np.nan, variable.values)
        return replace(variable, values=values)
    if isinstance(variable, Labels):
        words = {str(code) for code in na}
        gone = [str(value).strip() in words for value in variable.categories]
        codes = np.where(np.append(gone, False)[variable.codes], MISSING_CODE, variable.codes)
        return replace(variable, codes=codes)
    return variable


def _as_number(code: str | float) -> float | None:
    try:
        return float(code)
    except (ValueError, OverflowError):
        return None


def starts_of_levels(values: FloatArray) -> IntArray:
    """Return the place of the first of each run of equal values, once these are sorted."""
    ordered = np.sort(values)
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def n_distinct(values: FloatArray) -> int:
    """Return the number of different values."""
    return len(starts_of_levels(values))
