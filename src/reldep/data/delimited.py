"""Delimited text files (CSV, TSV and their kin) as tables."""

from __future__ import annotations

import gzip
import sys
import zlib
from typing import TYPE_CHECKING, Any

from reldep.data.cleaning import MISSING_WORDS, clean_words
from reldep.data.dialect import decode, detect, first_lines, has_blank_lines, read_header
from reldep.data.failures import explain, reading_errors
from reldep.data.lazy import tidy_numbers, typed_columns
from reldep.data.table import Table
from reldep.data.textfile import TextFile

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

# Below this the whole file is looked at to find the types of its columns,
# above it the first rows; these then stand for the rest.
SMALL_FILE = 50_000_000
_ROWS_LOOKED_AT = 10_000
_PART_LOOKED_AT = 4_000_000
_GZIP = b"\x1f\x8b"


def open_delimited(path: Path, delimiter: str | None = None) -> Table:
    """Open a text file; the delimiter is found out if it is not given.

    A compressed file is known by its first bytes, whatever its name.
    """
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    content = _decompressed(path.read_bytes(), str(path)) if compressed else path
    return open_text(content, str(path), delimiter)


def open_standard_input() -> Table:
    """Open what comes through a pipe: delimited text, compressed or not."""
    name = "standard input"
    content = sys.stdin.buffer.read()
    if content.startswith(_GZIP):
        content = _decompressed(content, name)
    if not content:
        raise ValueError("standard input is empty; expected CSV or TSV text")
    return open_text(content, name)


def _decompressed(content: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{name} is a damaged gzip file: {error}") from error


def open_text(content: Path | bytes, name: str, delimiter: str | None = None) -> Table:
    """Find out how a text is written and what its columns are."""
    start, end, small = _ends(content)
    written = first_lines(decode(start, name))
    dialect = detect(written, delimiter=delimiter)
    header = read_header(written, dialect, name)
    text = TextFile(name, content, dialect, tuple(header))
    try:
        frame = _scan(text, small=small)
        frame, strays = clean_words(frame, frame.collect_schema(), text)
        schema = frame.collect_schema()
    except reading_errors() as error:
        raise explain(error, name, [text]) from error
    if has_blank_lines(start) or has_blank_lines(end):
        frame = _without_blank_rows(frame)
    return Table(
        name=name,
        frame=tidy_numbers(frame),
        columns=typed_columns(schema, strays),
        strays=strays,
        texts=(text,),
    )


def _ends(content: Path | bytes) -> tuple[bytes, bytes, bool]:
    """Return the start and the end of a text, and whether it is small.

    The start of a small text is all of it; otherwise it is whole lines.
    """
    if isinstance(content, bytes):
        size = len(content)
        if size < SMALL_FILE:
            return content, b"", True
        cut = content.find(b"\n", _PART_LOOKED_AT) + 1
        return content[:cut], content[-_PART_LOOKED_AT:], False
    size = content.stat().st_size
    if size < SMALL_FILE:
        return content.read_bytes(), b"", True
    with content.open("rb") as file:
        start = file.read(_PART_LOOKED_AT) + file.readline()
        file.seek(max(0, size - _PART_LOOKED_AT))
        return start, file.read(), False


def _scan(text: TextFile, *, small: bool) -> pl.LazyFrame:
    """Return the text as a lazy frame with fixed types and the header's names.

    The types are found once and then stated, for polars would look for them
    again in every query.
    """
    import polars as pl

    def scan(**options: Any) -> pl.LazyFrame:
        return pl.scan_csv(
            text.content,
            separator=text.dialect.delimiter,
            eol_char=text.dialect.line_end,
            decimal_comma=text.dialect.decimal_comma,
            null_values=list(MISSING_WORDS),
            glob=False,
            **options,
        )

    guessed = scan(infer_schema_length=None if small else _ROWS_LOOKED_AT).collect_schema()
    if len(guessed) != len(text.header):
        raise ValueError(
            f"cannot read the column names in the first line of {text.name}: "
            "a double quote there is not closed or stands inside a name"
        )
    types = {
        name: pl.Float64() if _as_floats(dtype, small) else dtype for name, dtype in guessed.items()
    }
    frame = scan(infer_schema=False, schema_overrides=types)
    return frame.rename(dict(zip(guessed, text.header, strict=True)))


def _as_floats(dtype: pl.DataType, small: bool) -> bool:
    """Tell whether a column of integers should be read as floats.

    Either they need more than 64 bits, or only the first rows are known and
    decimals may follow.
    """
    import polars as pl

    return dtype.is_integer() and (not small or dtype != pl.Int64)


def _without_blank_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out the rows without any value, which are blank lines."""
    import polars as pl

    return frame.filter(~pl.all_horizontal(pl.all().is_null()))
