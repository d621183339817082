"""Columns of words: missing values, numbers and dates in disguise, numbers with a stray word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.lazy import collect, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from reldep.data.textfile import TextFile

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in text files and Excel sheets, apart from blanks."""

_DATE = "%Y-%m-%d"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class Stray:
    """A word in a column that holds mostly numbers."""

    value: str
    position: int
    text: TextFile | None = None

    def line(self) -> int | None:
        """Search for the line on which the word stands, if the column is from a text file."""
        return None if self.text is None else self.text.line_of_value(self.position, self.value)


def clean_words(
    frame: pl.LazyFrame, schema: Mapping[str, pl.DataType], text: TextFile | None = None
) -> tuple[pl.LazyFrame, dict[str, Stray]]:
    """Trim columns of words, mark missing values, and find the numbers among them.

    A column in which every value is a number, such as ``" 3"`` or ``"+3"``,
    becomes numbers; one of dates such as ``2024-01-31`` becomes dates. One in
    which at least half of the values are numbers, but not all, is returned with
    the first word found: nobody should get it as a category without knowing.

    Parameters
    ----------
    frame : LazyFrame
        The table.
    schema : mapping of str to DataType
        Its columns.
    text : TextFile, optional
        Where it came from: gives the decimal sign, and the lines of strays.
    """
    import polars as pl

    decimal_comma = text is not None and text.dialect.decimal_comma
    words = [name for name, dtype in schema.items() if dtype == pl.String]
    if not words:
        return frame, {}
    trimmed = frame.with_columns(named(words).str.strip_chars().replace(MISSING_WORDS, None))
    evidence = collect(
        trimmed.select(_evidence(words, decimal_comma)), n_expressions=len(words)
    ).row(0, named=True)
    kinds = {name: _kind(name, evidence) for name in words}
    position = {name: place for place, name in enumerate(schema)}
    strays = {
        name: Stray(evidence[f"stray {name}"], position[name], text)
        for name, kind in kinds.items()
        if kind == "mixed"
    }

    def all_of(kind: str) -> list[str]:
        return [name for name in words if kinds[name] == kind]

    typed = trimmed.with_columns(
        named(all_of("integers")).cast(pl.Int64),
        _with_point(all_of("numbers"), decimal_comma).cast(pl.Float64),
        named(all_of("dates")).str.to_date(_DATE),
    )
    return typed, strays


def _kind(name: str, evidence: Mapping[str, Any]) -> str:
    """Tell what a column of words holds, by the counts of `_evidence`."""
    n_values, n_digits = evidence[f"values {name}"], evidence[f"digits {name}"]
    if n_digits == 0:
        return "dates" if evidence[f"dates {name}"] == n_values > 0 else "words"
    for kind in ("integers", "numbers"):
        if evidence[f"{kind} {name}"] == n_values:
            return kind
    return "mixed" if 2 * n_digits >= n_values else "words"


def _with_point(words: list[str], decimal_comma: bool) -> pl.Expr:
    """Return columns of words with the decimal sign that polars reads."""
    return named(words).str.replace(",", ".", literal=True) if decimal_comma else named(words)


def _evidence(words: list[str], decimal_comma: bool) -> list[pl.Expr]:
    """Count the values, the numbers and dates among them; show the first that is no number.

    ``inf`` is a number to polars but a label to others, so the count of values
    written in digits decides whether a column is about numbers at all.
    """
    import polars as pl

    values = named(words)
    pointed = _with_point(words, decimal_comma)
    numbers = pointed.cast(pl.Float64, strict=False)
    return [
        values.count().name.prefix("values "),
        pointed.str.contains(_NUMBER).sum().name.prefix("digits "),
        numbers.count().name.prefix("numbers "),
        pointed.cast(pl.Int64, strict=False).count().name.prefix("integers "),
        values.str.to_date(_DATE, strict=False).count().name.prefix("dates "),
        values.filter(values.is_not_null() & numbers.is_null()).first().name.prefix("stray "),
    ]
