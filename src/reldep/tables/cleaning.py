"""Columns of words: missing values, numbers in disguise, numbers with a stray word among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reldep.tables.frames import collect, column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from reldep.tables.textfile import TextFile

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in text files and Excel sheets, apart from blanks."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class Stray:
    """A word in a column that holds mostly numbers."""

    value: str
    position: int
    text: TextFile | None = None

    @property
    def line(self) -> int | None:
        """The line on which the word stands, if the column is from a text file."""
        return None if self.text is None else self.text.line_of_value(self.position, self.value)


def clean_words(
    frame: pl.LazyFrame, schema: Mapping[str, pl.DataType], text: TextFile | None = None
) -> tuple[pl.LazyFrame, dict[str, Stray]]:
    """Trim columns of words, mark missing values, and find the numbers among them.

    A column in which every value is a number, such as ``" 3"`` or ``"+3"``,
    becomes numbers. One in which at least half of the values are numbers, but
    not all, is returned with the first word found: nobody should get it as a
    category without knowing.

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
    frame = frame.with_columns(_trimmed(name) for name in words)
    evidence = collect(
        frame.select(
            _evidence(name, decimal_comma).alias(str(position))
            for position, name in enumerate(words)
        ),
        n_expressions=len(words),
    ).row(0)
    numbers: list[pl.Expr] = []
    strays: dict[str, Stray] = {}
    order = list(schema)
    for name, found in zip(words, evidence, strict=True):
        if found["digits"] and found["numbers"] == found["values"]:
            whole = found["integers"] == found["values"]
            numbers.append(_as_number(name, decimal_comma, whole=whole))
        elif 2 * found["digits"] >= found["values"] > 0:
            strays[name] = Stray(found["stray"], order.index(name), text)
    return frame.with_columns(numbers), strays


def _trimmed(name: str) -> pl.Expr:
    """Return a column of words without outer blanks and words for missing values."""
    import polars as pl

    trimmed = column(name).str.strip_chars()
    return pl.when(~trimmed.is_in(MISSING_WORDS)).then(trimmed).alias(name)


def _as_number(name: str, decimal_comma: bool, *, whole: bool = False) -> pl.Expr:
    """Return a column of words as numbers; missing where a word is none."""
    import polars as pl

    words = column(name)
    if decimal_comma:
        words = words.str.replace(",", ".", literal=True)
    return words.cast(pl.Int64 if whole else pl.Float64, strict=False)


def _evidence(name: str, decimal_comma: bool) -> pl.Expr:
    """Count the values, the numbers and integers among them; show the first that is none.

    ``inf`` is a number to polars but a label to others, so the count of values
    written in digits decides whether a column is about numbers at all.
    """
    import polars as pl

    words = column(name)
    digits = words.str.replace(",", ".", literal=True) if decimal_comma else words
    numbers = _as_number(name, decimal_comma)
    return pl.struct(
        words.count().alias("values"),
        digits.str.contains(_NUMBER).sum().alias("digits"),
        numbers.count().alias("numbers"),
        _as_number(name, decimal_comma, whole=True).count().alias("integers"),
        words.filter(words.is_not_null() & numbers.is_null()).first().alias("stray"),
    )
