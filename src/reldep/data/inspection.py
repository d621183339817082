"""What is suspicious about values: codes for missing, twins of labels, mixed units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.checks import cell, quoted
from reldep.data.missing_codes import MISSING_CODES
from reldep.data.variables import MISSING_CODE, Labels, Mixed, Numeric, Variable
from reldep.exceptions import DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def value_cautions(variables: Mapping[str, Variable]) -> tuple[DataWarning, ...]:
    """Look for codes for missing values and for labels that may be one and the same."""
    found: list[DataWarning] = []
    for variable in variables.values():
        for part in variable.parts if isinstance(variable, Mixed) else (variable,):
            if isinstance(part, Numeric):
                found += _codes_in_words(part)
            elif isinstance(part, Labels):
                found += _twins_in_words(part)
    return tuple(found)


def suspected_codes(column: FloatArray) -> list[tuple[float, int]]:
    """Find numbers in a column that may stand for missing values, and how often they come.

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
    """Tell quickly whether the smallest or the largest value may be a code."""
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


def _codes_in_words(variable: Numeric) -> Iterator[DataWarning]:
    values = variable.values
    if not values.size:
        return
    # Incomplete rows are gone by now; where they are not, NaN is no code.
    ends = zip(values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True)
    found: dict[float, list[tuple[str, int]]] = {}
    for position, (low, high) in enumerate(ends):
        if _may_be_code(low) or _may_be_code(high):
            for code, times in suspected_codes(values[:, position]):
                found.setdefault(code, []).append((_name_of(variable, position), times))
    for code, places in found.items():
        shown = [f"{name} ({_often(times)})" for name, times in places[:_SHOWN]]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        yield DataWarning(
            f"{code:.15g} in {', '.join(shown)}{more} lies apart from all other values. If it "
            f"stands for a missing value, pass `na='{code:.15g}'`."
        )


def _often(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def _name_of(variable: Numeric, position: int) -> str:
    if variable.values.shape[1] == 1:
        return variable.name
    own = variable.columns[position] if variable.columns else str(position)
    return f"column {own!r} of {variable.name}"


def _twins_in_words(labels: Labels) -> Iterator[DataWarning]:
    used = [labels.categories[code] for code in np.unique(labels.codes) if code != MISSING_CODE]
    words = [value for value in used if isinstance(value, str)]
    alike: dict[str, list[str]] = {}
    for word in words:
        alike.setdefault(_plainly_written(word), []).append(word)
    twins = [group for group in alike.values() if len(group) > 1]
    if twins:
        shown = "; ".join(quoted(group[:3]) for group in twins[:3])
        yield DataWarning(
            f"{labels.name} has labels that differ only in capitals, spaces or the zeros of a "
            f"number ({shown}) and are taken as different. Write each label in one way."
        )
    blank = [word for word in words if word.strip().lower() in MISSING_CODES | {""}]
    if blank and len(words) > len(blank):
        counts = {
            word: int((labels.codes == labels.categories.index(word)).sum()) for word in blank
        }
        shown = ", ".join(f"{cell(word)} ({_often(times)})" for word, times in counts.items())
        yield DataWarning(
            f"{labels.name} has the label {shown}, which often stands for a missing value. If it "
            f"does, pass `na={blank[0]!r}`."
        )


def _plainly_written(word: str) -> str:
    """Write a label without what people write differently: capitals, spaces, 1.0 for 1."""
    plain = " ".join(word.lower().split())
    number = _as_number(plain) if plain[:1].isdigit() else None
    return plain if number is None else f"{number:g}"


def without_codes(variable: Variable, na: Sequence[str | float]) -> Variable:
    """Make the values of a variable missing that the user says stand for missing ones."""
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
    """Give the place of the first of each run of equal values, once these are sorted."""
    ordered = np.sort(values)
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def n_distinct(values: FloatArray) -> int:
    """Count the different values."""
    return len(starts_of_levels(values))
