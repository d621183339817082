"""Strings, dates and mixtures in Python objects: numbers in disguise, labels, or a doubt."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from reldep.data.missing_codes import MISSING_WORDS
from reldep.data.variables import MISSING_CODE, Labels, Numeric, Variable
from reldep.exceptions import InputError
from reldep.words import cell, composed

# Minimum number of rows, and share of them that differ, for a doubt about labels: that fewer all
# differ may be an accident.
_FEWEST_FOR_DOUBT, _MOST_LEVELS = 10, 0.9
# Minimum number of labels to look whether they are labels at all: a scale from 0 to 10 has 11.
_MANY_LABELS = 11
# A label that is a number with something else: 10-20, 3/4, 1.2 (0.1), 5±1, 1h 30m.
_LIKE_NUMBER = re.compile(r"\s*([+-]?[\d.]*\d\s*\D|['’‘`]\s*[+-]?\d)")
_INFINITE = (Decimal("inf"), Decimal("-inf"))
_MOMENTS = (
    (datetime.date, np.datetime64),
    (datetime.time,),
    (datetime.timedelta, np.timedelta64),
)


def labels_of(values: Sequence[Any], name: str) -> Labels:
    """Return the distinct values as labels, numbered in order of first appearance.

    Strings that only differ in how their accents are stored are one category.
    """
    try:
        distinct = dict.fromkeys(values)
    except TypeError:
        raise InputError(
            f"{name} has labels that cannot be compared, such as lists; pass numbers or strings."
        ) from None
    present = {value: composed(value) for value in distinct if not is_missing(value)}
    categories = list(dict.fromkeys(present.values()))
    code_of = {value: code for code, value in enumerate(categories)}
    numbering = dict.fromkeys(distinct, MISSING_CODE)
    numbering |= {value: code_of[own] for value, own in present.items()}
    codes = np.fromiter(map(numbering.__getitem__, values), dtype=np.int64, count=len(values))
    return Labels(name, codes, tuple(categories))


def read_words(values: Sequence[Any], name: str) -> Variable:
    """Read strings, and what stands beside them: as numbers or dates, or else as labels.

    They are numbers or dates only if all of them are, in one form, and a caution says so.
    Strings most of which look like numbers, or nearly all of which differ, become labels with
    a doubt.

    Examples
    --------
    >>> read_words(["32.1%", "8%"], "fat").values.ravel().tolist()
    [32.1, 8.0]
    >>> read_words(["f", "m", "f"], "sex").categories
    ('f', 'm')
    >>> read_words(["1.5", "<0.5", "2"], "x").doubt
    "has limits, which are not values: '<0.5' (row 1)"
    """
    labels = labels_of(values, name)
    words = [_text(category) for category in labels.categories]
    if not any(character.isdigit() for word in words for character in word[:40]):
        return _doubted(labels, None)
    if any(_is_code(word) for word in words):
        return _doubted(labels, _doubt_of_codes(words))
    import polars as pl

    from reldep.data.strings import missing_in_words, read_strings

    # Only the different strings are looked at, each once.
    column = read_strings(pl.Series(name, words, dtype=pl.String))
    if column.doubt is not None:
        # Each cell is a category, and named by the first row that has it.
        doubt = replace(column.doubt, place=lambda code: f"row {np.argmax(labels.codes == code)}")
        return _doubted(labels, str(doubt))
    understood = column.values
    if understood.dtype in (pl.String, pl.Boolean):
        return _doubted(labels, None)
    codes = labels.codes  # that of a missing value, -1, takes the NaN at the end
    said = [note for note in column.notes if "read as missing" not in note]
    gaps = {*MISSING_WORDS, *column.missing}
    absent = [code for code, word in enumerate(words) if word.strip() in gaps]
    if absent:
        n_cells, n_values = int(np.isin(codes, absent).sum()), int((codes != MISSING_CODE).sum())
        said.append(missing_in_words([words[code] for code in absent], n_cells, n_values))
    if understood.dtype.is_temporal():
        moments = read_moments(understood.to_list(), name)
        numbers = moments.values[:, 0]
        said.append(moments.notes[0].removeprefix(f"{name}: ").removesuffix("."))
    else:
        numbers = understood.cast(pl.Float64).fill_null(np.nan).to_numpy()
        said = said or ["strings were read as the numbers that they show"]
    each = np.append(numbers, np.nan)[codes]
    return Numeric(name, each[:, None], (name,), notes=(f"{name}: {'; '.join(said)}.",))


def read_moments(values: Any, name: str) -> Numeric:
    """Read dates as the days since the first one, times of the day as hours, spans as days.

    Examples
    --------
    >>> import datetime
    >>> days = [datetime.date(2024, 1, 31), datetime.date(2024, 2, 2)]
    >>> read_moments(days, "visit").values.ravel().tolist()
    [0.0, 2.0]
    """
    is_array = isinstance(values, np.ndarray)
    array = np.asarray(values if is_array else _moments(values, name))
    table, day = array.reshape(len(array), -1), np.timedelta64(1, "D")
    if table.dtype.kind == "f":
        numbers, how = table, "times of the day read as hours: those around midnight are far apart"
    elif table.dtype.kind == "m":
        numbers, how = table / day, "spans read as days"
    else:
        if np.isnat(table).all():
            raise only_missing(name)
        moments = table.astype("M8[us]")
        first = np.nanmin(moments)
        numbers = np.where(np.isnat(moments), np.nan, (moments - first) / day)
        date = str(first)[:19].removesuffix("T00:00:00")
        how = f"dates read as days since the first, {date}"
    return Numeric(name, numbers, () if is_array else (name,), notes=(f"{name}: {how}.",))


def _moments(values: Sequence[Any], name: str) -> npt.NDArray[Any]:
    """Return dates, spans or times of the day (in hours) as an array."""
    kind = next((type(value) for value in values if not is_missing(value)), datetime.date)
    if issubclass(kind, datetime.time):
        return np.array([np.nan if is_missing(value) else _hours(value) for value in values])
    known = [one for one in values if isinstance(one, datetime.datetime) and not is_missing(one)]
    zones = {one.tzinfo is None for one in known}
    if len(zones) > 1:
        raise InputError(f"{name} has moments with and without a time zone; give all of them one.")
    is_span = issubclass(kind, (datetime.timedelta, np.timedelta64))
    plain = ["NaT" if is_missing(value) else _without_zone(value) for value in values]
    return np.array(plain, dtype="m8[us]" if is_span else "M8[us]")


def only_missing(name: str) -> InputError:
    """Return the error for data without any value."""
    return InputError(f"{name} has only missing values; leave it out or fill it in.")


def are_moments(values: Sequence[Any]) -> bool:
    """Return True if all values are dates, or all times of the day, or all spans of time."""
    return any(all(isinstance(value, kind) for value in values) for kind in _MOMENTS)


def is_number(value: Any) -> bool:
    """Return True if a value is a number that has a place on the line."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_))


def is_missing(value: Any) -> bool:
    """Return True for None, NaN and the missing-value marks of the frame libraries."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in {"NAType", "NaTType"}


def float_of(value: Any, name: str) -> float:
    """Return a number as a float; raise InputError if it is too large for one."""
    if is_missing(value):
        return float("nan")
    try:
        number = float(value)
    except (OverflowError, ValueError, TypeError):
        number = float("inf")
    if np.isinf(number) and not (isinstance(value, (float, np.floating)) or value in _INFINITE):
        raise InputError(f"{name} has a number that is too large; pass numbers below 1e308.")
    return number


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _is_code(word: str) -> bool:
    """Return True for a code such as 007, which starts with zeros that a number leaves out."""
    text = word.strip()
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _doubt_of_codes(words: Sequence[str]) -> str | None:
    digits = sum(word.strip().isdigit() for word in words)
    if 2 * digits < len(words):
        return None
    example = next(word for word in words if _is_code(word))
    return f"may contain codes or numbers: {cell(example)} starts with a zero"


def _doubted(labels: Labels, doubt: str | None) -> Labels:
    """Return labels with a doubt: a given one, or that nearly all of them differ."""
    present = int((labels.codes != MISSING_CODE).sum())
    levels = len(labels.categories)
    # Where all differ, the kernel of labels refuses them, whoever chose it.
    many = _MOST_LEVELS * present < levels < present
    if doubt is None and many and present >= _FEWEST_FOR_DOUBT:
        doubt = (
            f"has {levels} different strings in {present} observations: as labels, hardly any two "
            "observations would match"
        )
    caution = _crowd_in_words(labels.categories, present)
    return Labels(labels.name, labels.codes, labels.categories, doubt=doubt, caution=caution)


def _crowd_in_words(categories: Sequence[Any], present: int) -> str | None:
    """Return a caution if labels are so many that they may be numbers or names of rows."""
    words = [value for value in categories if isinstance(value, str)]
    if len(words) < _MANY_LABELS:
        return None
    like_numbers = [word for word in words if _LIKE_NUMBER.match(word)]
    if 2 * len(like_numbers) > len(words):
        shown = ", ".join(cell(word) for word in like_numbers[:3])
        return (
            f"has {len(words)} labels such as {shown}: if they are numbers, their size is not "
            "used. Write them as plain numbers"
        )
    if 2 * len(words) > present:
        return (
            f"has {len(words)} labels in {present} rows: most rows share theirs with none or one "
            "other, which leaves little to compare. Put labels together that belong together"
        )
    return None


def _without_zone(value: Any) -> Any:
    """Return a moment in universal time, which is what NumPy counts in."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _hours(value: datetime.time) -> float:
    seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return seconds / 3600
