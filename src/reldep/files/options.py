"""How data are read, where they do not say so themselves: the arguments of ``reldep.read``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from reldep.data.checks import check_choice, check_count
from reldep.data.strings.dates import RULES
from reldep.data.strings.numbers import Evidence
from reldep.exceptions import InputError, InputTypeError
from reldep.files.text import check_encoding


@dataclass(frozen=True)
class CellOptions:
    """The arguments of :func:`reldep.read` that say how cells are read, checked."""

    na: tuple[str | float, ...] = ()
    categories: Any = None
    numbers: Any = None
    date_columns: Any = None
    dates: str | Mapping[str, str] = "elapsed"
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool = True
    skip_rows: int = 0
    sheet: str | int | None = None
    layer: str | None = None
    drop_summary: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "na", codes_for_missing(self.na))
        if self.decimal is not None:
            check_choice("decimal", self.decimal, (".", ","))
        if self.thousands is not None:
            check_choice("thousands", self.thousands, (",", ".", " ", "'"))
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(
                f"`thousands={self.thousands!r}` is also the decimal mark; a number cannot use "
                "one mark for both."
            )
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise InputError(f"`delimiter={self.delimiter!r}`; pass one plain character.")
        check_count("skip_rows", self.skip_rows, at_least=0)
        if self.encoding is not None:
            check_encoding(self.encoding)
        for rule in self.dates.values() if isinstance(self.dates, Mapping) else [self.dates]:
            check_choice("dates", rule, RULES)
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, (str, int, type(None))):
            raise InputTypeError(f"`sheet={self.sheet!r}`; pass a name or a number.")

    def date_rule(self, column: str) -> str:
        """Return what the dates of a column become."""
        if isinstance(self.dates, Mapping):
            return self.dates.get(column, "elapsed")
        return self.dates

    def evidence(self, *, has_commas_between_fields: bool) -> Evidence:
        """Return what is known about the decimal mark before any cell is read."""
        stated = self.decimal or {".": ",", ",": "."}.get(self.thousands or "", "")
        return Evidence(stated, has_commas_between_fields)


def codes_for_missing(na: Any) -> tuple[str | float, ...]:
    """Return the values that mean missing; a user may pass one or several.

    Examples
    --------
    >>> codes_for_missing(-999), codes_for_missing(["n.d.", -1])
    ((-999,), ('n.d.', -1))
    """
    if na is None:
        return ()
    are_several = isinstance(na, Iterable) and not isinstance(na, (str, Mapping))
    codes = [*na] if are_several else [na]
    if not all(isinstance(code, (str, Real)) for code in codes):
        raise InputTypeError(f"`na={na!r}`; pass a number, a string, or a list of these.")
    return tuple(codes)


def _is_delimiter(text: object) -> bool:
    return isinstance(text, str) and len(text) == 1 and ord(text) < 128 and text not in '"\n\r'
