"""How dates and times are written, and their places in a cycle."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from reldep.data.numbers import Doubt

# A format is tried only on cells of its shape: "%Y" alone takes "24" for a year.
_SHAPES = tuple(
    (re.compile(shape), form)
    for shape, form in (
        (r"\d{4}-\d\d-\d\d", "%Y-%m-%d"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d", "%Y-%m-%d %H:%M"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d", "%Y-%m-%dT%H:%M"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", "%Y-%m-%d %H:%M:%S%.f"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", "%Y-%m-%dT%H:%M:%S%.f"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", "%Y-%m-%d %H:%M:%S%.f%#z"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", "%Y-%m-%dT%H:%M:%S%.f%#z"),
        (r"\d{1,2}:\d\d", "%H:%M"),
        (r"\d{1,2}:\d\d:\d\d", "%H:%M:%S"),
        (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
        (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
        (r"\d{1,2}-[A-Za-z]{3,9}-\d{4}", "%d-%B-%Y"),
        (r"\d{1,2} [A-Za-z]{3,9} \d{4}", "%d %B %Y"),
        (r"[A-Za-z]{3,9} \d{1,2}, \d{4}", "%B %d, %Y"),
    )
)
_DAY_AND_MONTH = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{4}")
_SHORT_YEAR = re.compile(r"(\d{1,2})([./])(\d{1,2})\2\d\d")
COMPACT = "%Y%m%d"
"""Dates such as 20240131, which are whole numbers unless the user says that they are dates."""

SPANS = {"hour": "day", "weekday": "week", "month": "year"}


def date_format(cells: Sequence[str]) -> str | Doubt | None:
    """Return how dates or times are written, or None if not all cells are of one shape.

    Examples
    --------
    >>> date_format(["31/01/2024", "01/02/2024"]), date_format(["8:05", "12:30"])
    ('%d/%m/%Y', '%H:%M')
    >>> date_format(["01/02/2024"]).reason
    'has dates whose day and month cannot be told apart'
    """
    if not cells:
        return None
    for shape, form in _SHAPES:
        if shape.fullmatch(cells[0]):
            return form if all(map(shape.fullmatch, cells)) else None
    parts = [match for text in cells if (match := _DAY_AND_MONTH.fullmatch(text))]
    if len(parts) < len(cells) or len({match[2] for match in parts}) > 1:
        return None
    mark = parts[0][2]
    if mark == "." or any(int(match[1]) > 12 for match in parts):
        return f"%d{mark}%m{mark}%Y"
    if any(int(match[3]) > 12 for match in parts):
        return f"%m{mark}%d{mark}%Y"
    reason = "has dates whose day and month cannot be told apart"
    return Doubt(reason, (cells[0],), "dates")


def judge_dates(cells: Sequence[str]) -> str | Doubt | None:
    """Return the format of a column of dates, why most of it are dates but not all, or None."""
    form = date_format(cells)
    if form is not None or not cells:
        return form
    short = [text for text in cells if _has_short_year(text)]
    if 2 * len(short) > len(cells):
        return Doubt("has dates with two digits for the year", (short[0],), "dates")
    strange = [text for text in cells if not _is_date(text)]
    if 2 * len(strange) >= len(cells):
        return None
    if strange:
        return Doubt("contains dates and words", tuple(strange), "dated")
    shapes: dict[str, str] = {}
    for text in cells:
        shapes.setdefault(re.sub(r"\d+", "0", text), text)
    return Doubt("has dates in different forms", tuple(shapes.values()), "dates")


def usual_format(cells: Sequence[str]) -> str | Doubt | None:
    """Return how most cells write dates, where some are something else."""
    if cells and all(len(text) == 8 and text.isdigit() for text in cells):
        return COMPACT
    dated = [text for text in cells if date_format([text]) is not None]
    dated = dated or [text for text in cells if text[:4].isdigit() and text[4:5] == "-"]
    return date_format(cells) or date_format(dated) or ("%Y-%m-%d" if dated else None)


def _has_short_year(text: str) -> bool:
    """Return True for a date such as 1/31/24 or 31.1.24."""
    parts = _SHORT_YEAR.fullmatch(text)
    if parts is None:
        return False
    small, large = sorted((int(parts[1]), int(parts[3])))
    return 1 <= small <= 12 and 1 <= large <= 31


def _is_date(text: str) -> bool:
    form = date_format([text])
    if form != "%Y-%m-%d":
        return form is not None
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False  # the month has fewer days
    return True


def read_moments(cells: pl.Series, form: str) -> pl.Series:
    """Return cells of one form as dates, times or both; those that do not fit are null."""
    if form.startswith("%H"):
        return cells.str.zfill(5 if form == "%H:%M" else 8).str.to_time(form, strict=False)
    if "%H" in form:
        return cells.str.to_datetime(form, strict=False)
    return cells.str.to_date(form, strict=False)


def on_circle(moments: pl.Series, rule: str) -> pl.Series:
    """Return dates and times as places on a circle: the cosine and the sine of an angle.

    On the circle the last hour of a day is near the first.
    """
    kind, values = moments.dtype, pl.col(moments.name)
    seconds = values.dt.hour() * 3600.0 + values.dt.minute() * 60.0 + values.dt.second()
    of_day = pl.lit(0.0) if kind == pl.Date else seconds / 86_400.0
    turn = of_day
    if rule == "weekday":
        turn = (values.dt.weekday() - 1 + of_day) / 7.0
    elif rule == "month":
        turn = (values.dt.ordinal_day() - 1 + of_day) / 365.25
    angle = 2 * np.pi * turn
    both = pl.concat_list(angle.cos(), angle.sin())
    place = pl.when(values.is_not_null()).then(both).otherwise(None).alias(moments.name)
    return moments.to_frame().select(place).to_series()
