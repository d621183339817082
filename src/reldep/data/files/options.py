"""How a file is to be read, where it does not say so itself."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from reldep.data.checks import check_choice, check_count
from reldep.exceptions import InputError, InputTypeError

DATES = ("elapsed", "hour", "weekday", "month")


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a file or a frame; what is left out is found in the data.

    Attributes
    ----------
    na : tuple of str or float
        Values that stand for missing ones, besides blanks and ``NA``: ``(-999, "unknown")``.
    decimal : {".", ","}, optional
        The decimal mark of numbers.
    thousands : str, optional
        The mark between groups of three digits.
    delimiter : str, optional
        What stands between two fields of a text file.
    encoding : str, optional
        The encoding of a text file, such as ``"latin1"``; UTF-8 without it.
    header : bool
        Whether the first line names the columns; without names they are ``c1``, ``c2`` and so on.
    skip_rows : int
        How many lines of a file (rows of a sheet) stand before the header.
    sheet : str or int, optional
        The sheet of a workbook, by name or by number from 1; the first one without it.
    layer : str, optional
        The layer of an AnnData file or object that holds the genes; ``X`` without it.
    categories : str, optional
        Columns, as an expression, whose values are labels even if they look like numbers.
    numbers, date_columns : str, optional
        Columns, as expressions, whose values are numbers or dates; cells that are something else
        become missing, which is said.
    dates : str or mapping of str to str
        What a date or time becomes: ``"elapsed"``, the days since the first one, or its place in
        a cycle, ``"hour"`` of the day, ``"weekday"`` or ``"month"``; for all columns or by name.
    survival : tuple of str
        Lifetimes, each by its columns: ``"days,died"``, or ``"days,status=2"`` if 2 marks an
        event. The column of times then holds lifetimes (:class:`~reldep.Survival`).

    Examples
    --------
    >>> ReadingOptions(na=(-999,), dates={"visit": "weekday"}).date_rule("visit")
    'weekday'
    """

    na: tuple[str | float, ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    skip_rows: int = 0
    sheet: str | int | None = None
    layer: str | None = None
    categories: str | None = None
    numbers: str | None = None
    date_columns: str | None = None
    dates: str | Mapping[str, str] = "elapsed"
    survival: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "na", codes_for_missing(self.na))
        survival: str | tuple[str, ...] = self.survival
        given = (survival,) if isinstance(survival, str) else tuple(survival)
        object.__setattr__(self, "survival", given)
        if self.decimal is not None:
            check_choice("decimal", self.decimal, (".", ","))
        if self.thousands is not None:
            check_choice("thousands", self.thousands, (",", ".", " ", "'"))
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(
                f"`thousands={self.thousands!r}` is also the decimal mark; a number cannot use one "
                "mark for both."
            )
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise InputError(f"`delimiter={self.delimiter!r}`; pass one plain character.")
        check_count("skip_rows", self.skip_rows, at_least=0)
        self._check_encoding()
        for rule in self.dates.values() if isinstance(self.dates, Mapping) else [self.dates]:
            check_choice("dates", rule, DATES)
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, (str, int, type(None))):
            raise InputTypeError(f"`sheet={self.sheet!r}`; pass a name or a number.")

    def _check_encoding(self) -> None:
        if self.encoding is None:
            return
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise InputError(
                f"`encoding={self.encoding!r}` is not known; pass the name of an encoding, such as "
                "'utf-8', 'latin1', 'cp1252' or 'utf-16'."
            ) from None

    def date_rule(self, column: str) -> str:
        """Say what the dates of a column become."""
        if isinstance(self.dates, Mapping):
            return self.dates.get(column, "elapsed")
        return self.dates


def codes_for_missing(na: Any) -> tuple[str | float, ...]:
    """Give the values that stand for missing ones, of which a user may pass one or several.

    Examples
    --------
    >>> codes_for_missing(-999), codes_for_missing(["n.d.", -1])
    ((-999,), ('n.d.', -1))
    """
    if na is None:
        return ()
    several = isinstance(na, Iterable) and not isinstance(na, (str, Mapping))
    codes = [*na] if several else [na]
    if not all(isinstance(code, (str, Real)) for code in codes):
        raise InputTypeError(f"`na={na!r}`; pass a number, a string, or a list of these.")
    return tuple(codes)


def _is_delimiter(text: object) -> bool:
    return isinstance(text, str) and len(text) == 1 and ord(text) < 128 and text not in '"\n\r'
