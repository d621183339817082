"""Columns of words: missing values, numbers and dates in disguise, numbers with a stray word."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.files.queries import collect, column, named
from reldep.data.notation import (
    MISSING_CODES,
    NUMBER_LIKE,
    Disagreement,
    Form,
    find_form,
    looks_like_number,
    tidied,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in text files and Excel sheets, apart from blanks."""

ROW = "\0row"
"""The hidden column of a table: the number of the record, counted from 0."""

_DATE = "%Y-%m-%d"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_CELLS_LOOKED_AT = 2_000
_SHOWN = 3
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?")
_DAY_FIRST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{4}")
_SHORT_YEAR = re.compile(r"(\d{1,2})([./])(\d{1,2})\2\d\d")
_YEAR_FIRST = re.compile(r"\d{4}([./])\d{1,2}\1\d{1,2}")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d)?")


@dataclass(frozen=True)
class Refusal:
    """Why a column of numbers and words cannot be read without being told how.

    Attributes
    ----------
    reason : str
        What is wrong, as a clause.
    cells : tuple of (str, int or None)
        A few of the cells at fault, each with its record.
    kind : str
        What would help: one of the keys of `reldep.data.notation.WAYS_OUT`.
    """

    reason: str
    cells: tuple[tuple[str, int | None], ...]
    kind: str = "words"


@dataclass(frozen=True)
class Codes:
    """Words in a column of numbers that stand for missing values."""

    words: tuple[str, ...]
    n_cells: int
    n_values: int

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.words[:_SHOWN]))
        return f"{shown} read as missing ({self.n_cells} of {self.n_values} cells)"


@dataclass(frozen=True)
class Cleaned:
    """A table in which words have become what they stand for.

    Attributes
    ----------
    frame : LazyFrame
        The table.
    refusals : dict of str to Refusal
        The columns that may not be used as they are.
    said : dict of str to list of str
        By column: what was understood beyond plain numbers.
    codes : dict of str to tuple of str
        By column of numbers: the words in it that were read as missing.
    """

    frame: pl.LazyFrame
    refusals: dict[str, Refusal] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)
    codes: dict[str, Codes] = field(default_factory=dict)

    def in_words(self) -> dict[str, list[str]]:
        """Say everything that was understood, by column."""
        said = {name: [*words] for name, words in self.said.items()}
        for name, codes in self.codes.items():
            said.setdefault(name, []).append(str(codes))
        return said


@dataclass(frozen=True)
class _Verdict:
    """What a column of words is."""

    kind: str
    form: Form | None = None
    date_format: str = ""
    refusal: Refusal | None = None
    said: tuple[str, ...] = ()
    codes: Codes | None = None


def clean_words(
    frame: pl.LazyFrame,
    schema: Mapping[str, pl.DataType],
    default: Form | None = None,
    *,
    na: Sequence[str | float] = (),
    labels: Sequence[str] = (),
) -> Cleaned:
    """Trim columns of words, mark missing values, and find numbers and dates among them.

    A column in which every value is a number of one form, such as ``" 3"``, ``32.1%`` or
    ``1,234.50``, becomes numbers; one of dates becomes dates. One in which at least half of the
    values look like numbers, but that cannot be read as such, is refused with the cells at
    fault: nobody should get it as a category without knowing.

    Parameters
    ----------
    frame : LazyFrame
        The table; the hidden column `ROW` numbers its records.
    schema : mapping of str to DataType
        Its columns.
    default : Form, optional
        The marks that the file uses, where the cells of a column leave it open.
    na : sequence of str or float
        Further words for missing values.
    labels : sequence of str
        Columns that stay words whatever they look like.
    """
    import polars as pl

    words = [name for name, dtype in schema.items() if dtype == pl.String]
    if not words:
        return Cleaned(frame)
    missing = [*MISSING_WORDS, *map(str, na)]
    trimmed = frame.with_columns(
        named(words).str.strip_chars(" \t\r\n\u00a0\ufeff").replace(missing, None)
    )
    words = [name for name in words if name not in labels]
    if not words:
        return Cleaned(trimmed)
    evidence = collect(trimmed.select(_evidence(words)), n_expressions=len(words)).row(0)
    n_counts = len(evidence) // len(words)
    verdicts = {
        name: _judge(name, evidence[i :: len(words)][:n_counts], trimmed, default)
        for i, name in enumerate(words)
    }
    return Cleaned(
        trimmed.with_columns(_typed(name, verdict) for name, verdict in verdicts.items()),
        {name: v.refusal for name, v in verdicts.items() if v.refusal is not None},
        {name: list(v.said) for name, v in verdicts.items() if v.said},
        {name: v.codes for name, v in verdicts.items() if v.codes is not None},
    )


def _evidence(words: list[str]) -> list[pl.Expr]:
    """Count the values, and the numbers, codes and dates among them; show some cells.

    ``inf`` is a number to polars but a label to others, so the count of values
    written in digits decides whether a column is about numbers at all.
    """
    import polars as pl

    values = named(words)
    lower = values.str.to_lowercase()
    numbers = values.cast(pl.Float64, strict=False)
    return [
        values.count().name.suffix("\0values"),
        values.str.contains(_NUMBER).sum().name.suffix("\0digits"),
        numbers.count().name.suffix("\0numbers"),
        values.cast(pl.Int64, strict=False).count().name.suffix("\0integers"),
        values.str.to_date(_DATE, strict=False).count().name.suffix("\0dates"),
        (values.str.contains(NUMBER_LIKE) | numbers.is_not_null()).sum().name.suffix("\0like"),
        lower.is_in(list(MISSING_CODES)).sum().name.suffix("\0codes"),
        values.head(_CELLS_LOOKED_AT)
        .drop_nulls()
        .unique(maintain_order=True)
        .implode()
        .name.suffix("\0cells"),
    ]


def _judge(name: str, counts: Sequence[Any], frame: pl.LazyFrame, default: Form | None) -> _Verdict:
    """Tell what a column of words holds, by the counts of `_evidence`."""
    n_values, n_digits, n_numbers, n_integers, n_dates, n_like, n_codes, cells = counts
    if n_values and n_dates == n_values:
        return _Verdict("dates", date_format=_DATE)
    if n_digits and n_integers == n_values:
        return _Verdict("integers")
    # Where commas are decimal marks, a point may stand between thousands.
    has_commas = default is not None and default.decimal == ","
    if n_digits and n_numbers == n_values and not has_commas:
        return _Verdict("numbers", Form())
    if n_like and 2 * n_like >= n_values - n_codes:
        return _judge_numbers(name, n_values, cells, frame, default)
    return _judge_dates(name, n_values, cells, frame)


def _judge_numbers(
    name: str, n_values: int, cells: Sequence[str], frame: pl.LazyFrame, default: Form | None
) -> _Verdict:
    """Look for the one form of a column that is mostly numbers."""
    present = [text for text in cells if text.lower() not in MISSING_CODES]
    strange = [text for text in present if not looks_like_number(text)]
    if 2 * len(strange) > len(present):
        return _judge_dates(name, n_values, cells, frame)
    form = find_form(present, default)
    if isinstance(form, Disagreement):
        cells_at_fault = strange[:_SHOWN]
        if strange:
            form = Disagreement("holds numbers and words", tuple(cells_at_fault))
        return _refused(name, form, frame)
    if form is None:
        return _Verdict("words")
    values = column(name)
    is_code = values.str.to_lowercase().is_in(list(MISSING_CODES))
    read = form.read(values)
    wrong = values.is_not_null() & read.is_null() & ~is_code
    found = collect(
        frame.select(
            wrong.sum().alias("wrong"),
            values.filter(wrong).head(_SHOWN).implode().alias("cells"),
            column(ROW).filter(wrong).head(_SHOWN).implode().alias("records"),
            values.filter(is_code).unique(maintain_order=True).implode().alias("codes"),
            is_code.sum().alias("n_codes"),
            (read.is_not_null() & values.cast(float, strict=False).is_null()).any().alias("odd"),
        ),
        n_expressions=6,
    ).row(0, named=True)
    if found["wrong"]:
        faults = tuple(zip(found["cells"], found["records"], strict=True))
        return _Verdict("mixed", refusal=Refusal("holds numbers and words", faults))
    said = form.in_words()
    if found["odd"] and not said:
        said.append("special minus signs or spaces read as plain ones")
    codes = Codes(tuple(found["codes"]), found["n_codes"], n_values) if found["n_codes"] else None
    return _Verdict("numbers", form, said=tuple(said), codes=codes)


def _refused(name: str, why: Disagreement, frame: pl.LazyFrame) -> _Verdict:
    """Find the records of the cells at fault."""
    records = [
        collect(
            frame.filter(column(name) == text).select(column(ROW)).head(1), n_expressions=1
        ).item()
        for text in why.cells
    ]
    cells = tuple(zip(why.cells, records, strict=True))
    return _Verdict("mixed", refusal=Refusal(why.reason, cells, why.kind))


def _judge_dates(name: str, n_values: int, cells: Sequence[str], frame: pl.LazyFrame) -> _Verdict:
    """Look for the one way in which a column of dates or times is written."""
    form = date_format(cells)
    if form is None:
        strange = [text for text in cells if not _looks_like_date(text)]
        short = [text for text in cells if _has_short_year(text)]
        if cells and 2 * len(short) > len(cells):
            form = Disagreement("has dates with two digits for the year", (short[0],), "dates")
        elif 2 * len(strange) >= len(cells):
            return _Verdict("words")
        elif strange:
            form = Disagreement("holds dates and words", tuple(strange[:_SHOWN]), "dated")
        else:
            form = Disagreement("has dates in different forms", _one_of_each(cells), "dates")
    if isinstance(form, Disagreement):
        return _refused(name, form, frame)
    read = as_moment(column(name), form)
    if collect(frame.select(read.count()), n_expressions=1).item() != n_values:
        return _Verdict("words")
    iso = form.startswith("%Y-")
    said = () if iso else (f"read as dates of the form {form}",)
    return _Verdict("dates", date_format=form, said=said)


def _has_short_year(text: str) -> bool:
    """Tell whether a cell is a date such as 1/31/24 or 31.1.24."""
    parts = _SHORT_YEAR.fullmatch(text)
    if parts is None:
        return False
    small, large = sorted((int(parts[1]), int(parts[3])))
    return 1 <= small <= 12 and 1 <= large <= 31


def _one_of_each(cells: Sequence[str]) -> tuple[str, ...]:
    """Give a cell of every form: digits aside, they are written alike."""
    forms: dict[str, str] = {}
    for text in cells:
        forms.setdefault(re.sub(r"\d+", "0", text), text)
    return tuple(forms.values())[:_SHOWN]


def _looks_like_date(text: str) -> bool:
    if _ISO_DATE.fullmatch(text) is None:
        return date_format([text]) is not None
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False  # no month has so many days
    return True


def date_format(cells: Sequence[str]) -> str | Disagreement | None:
    """Find how dates or times are written; None if the cells are neither.

    Examples
    --------
    >>> date_format(["31/01/2024", "01/02/2024"]), date_format(["8:05", "12:30"])
    ('%d/%m/%Y', '%H:%M')
    >>> date_format(["01/02/2024"]).reason
    'has dates whose day and month cannot be told apart'
    """
    if not cells:
        return None
    first = cells[0]
    if all(_ISO_TIME.fullmatch(text) for text in cells):
        seconds = {len(text) > len("2024-01-31 10:00") for text in cells}
        clock = "%H:%M:%S%.f" if seconds == {True} else "%H:%M"
        return f"%Y-%m-%d{first[10]}{clock}" if len(seconds) == 1 else None
    if all(_CLOCK.fullmatch(text) for text in cells):
        return "%H:%M:%S" if first.count(":") == 2 else "%H:%M"
    year_first = _YEAR_FIRST.fullmatch(first)
    if year_first is not None:
        return f"%Y{year_first[1]}%m{year_first[1]}%d"
    parts = [_DAY_FIRST.fullmatch(text) for text in cells]
    if not all(parts):
        return None
    found = [match for match in parts if match is not None]
    mark = found[0][2]
    if mark == "." or any(int(match[1]) > 12 for match in found):
        return f"%d{mark}%m{mark}%Y"
    if any(int(match[3]) > 12 for match in found):
        return f"%m{mark}%d{mark}%Y"
    reason = "has dates whose day and month cannot be told apart"
    return Disagreement(reason, (first,), "dates")


def cycle(values: pl.Expr, rule: str, dtype: pl.DataType) -> pl.Expr:
    """Write dates and times as places on a circle: the cosine and the sine of an angle.

    On the circle the last hour of a day is near the first, as it is on no line.
    """
    import polars as pl

    is_day = dtype == pl.Date
    zero = pl.lit(0.0)
    seconds = values.dt.hour() * 3600.0 + values.dt.minute() * 60.0 + values.dt.second()
    of_day = zero if is_day else seconds / 86_400.0
    turn = of_day
    if rule == "weekday":
        turn = (values.dt.weekday() - 1 + of_day) / 7.0
    elif rule == "month":
        turn = (values.dt.ordinal_day() - 1 + of_day) / 365.25
    angle = 2 * np.pi * turn
    both = pl.concat_list(angle.cos(), angle.sin())
    return pl.when(values.is_not_null()).then(both).otherwise(None)


def as_moment(values: pl.Expr, form: str) -> pl.Expr:
    """Turn words into dates or times of one form, all others into missing values."""
    if form.startswith("%H"):
        return values.str.zfill(5 if form == "%H:%M" else 8).str.to_time(form, strict=False)
    if "%H" in form:
        return values.str.to_datetime(form, strict=False)
    return values.str.to_date(form, strict=False)


def _typed(name: str, verdict: _Verdict) -> pl.Expr:
    """Write how a column becomes what it holds."""
    import polars as pl

    values = column(name)
    if verdict.kind == "integers":
        return values.cast(pl.Int64)
    if verdict.kind == "numbers" and verdict.form is not None:
        plain = verdict.form == Form() and not verdict.said and verdict.codes is None
        return values.cast(pl.Float64) if plain else verdict.form.read(values)
    if verdict.kind == "dates":
        return as_moment(values, verdict.date_format)
    return values


__all__ = [
    "MISSING_WORDS",
    "ROW",
    "Cleaned",
    "Refusal",
    "as_moment",
    "clean_words",
    "date_format",
    "tidied",
]
