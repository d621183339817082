"""The records of a text: where each starts, and whether it has all its fields.

Every record is looked at, whichever columns are asked for. One with a field too many shifts its
values into other columns, so it is refused with its line.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from reldep.data.variables import BoolArray, IntArray

# Bytes that are looked at together: enough for polars to be fast, little to hold.
PIECE = 32_000_000
# Maximum number of bytes of a record: one of 200,000 columns of ten digits takes two million.
_LONGEST = 60_000_000
# Stands for a cell in quotes while delimiters are counted; no text contains it.
_CELL = "\0"


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text, without its header.

    Attributes
    ----------
    line : ndarray of int
        The line on which each record starts.
    n_fields : ndarray of int
    is_blank, is_comment, is_header : ndarray of bool
        Whether a record has no value, starts with ``#``, or repeats the header.
    """

    line: IntArray
    n_fields: IntArray
    is_blank: BoolArray
    is_comment: BoolArray
    is_header: BoolArray

    def __len__(self) -> int:
        return len(self.line)


def find_records(
    content: Path | bytes,
    delimiter: str,
    *,
    name: str,
    first_line: int,
    header: str = "",
    piece: int = PIECE,
) -> Records:
    r"""Return the records of a text.

    Parameters
    ----------
    content : path or bytes
        The text, in UTF-8 with line ends ``\n`` or ``\r\n``.
    delimiter : str
    name : str
        What to call the text in an error message.
    first_line : int
        The line of the first record, counted from 1.
    header : str
        The record with the names of columns: if it comes again, two files were put together.
    piece : int
        The number of bytes that are looked at together.

    Examples
    --------
    >>> found = find_records(b'a,b\n1,"x\ny"\n\n3\n', ",", name="x", first_line=2)
    >>> found.line.tolist(), found.n_fields.tolist(), found.is_blank.tolist()
    ([2, 4, 5], [2, 1, 1], [False, True, False])
    """
    empty = np.empty(0, dtype=np.int64)
    found = [(empty, empty, *[empty.astype(bool)] * 3)]
    for text, line in _pieces(content, name, first_line, piece):
        found.append(_look(text, line, delimiter, name, header))
    return Records(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _look(
    content: bytes, first_line: int, delimiter: str, name: str, header: str
) -> tuple[IntArray, IntArray, BoolArray, BoolArray, BoolArray]:
    """Return the fields of `Records` for a text of whole records."""
    import polars as pl

    lines = pl.read_lines(io.BytesIO(content))["line"]
    text, line = _joined(lines, first_line)
    bare = text
    if text.str.contains('"', literal=True).any():
        bare = text.str.replace_all(r'"(?:[^"]|"")*"', _CELL)
        _check_quotes(bare, line, delimiter, name)
    is_blank = text.str.strip_chars(f"{delimiter} \t\r") == ""
    is_header = (text.str.strip_chars_end("\r") == header) & bool(header)
    return (
        line,
        bare.str.count_matches(delimiter, literal=True).to_numpy().astype(np.int64) + 1,
        is_blank.to_numpy(),
        text.str.starts_with("#").to_numpy(),
        is_header.to_numpy(),
    )


def _joined(lines: pl.Series, first_line: int) -> tuple[pl.Series, IntArray]:
    """Return records and their first lines: an odd number of quotes goes on to the next line."""
    import polars as pl

    numbers = first_line + np.arange(len(lines), dtype=np.int64)
    is_odd = (lines.str.count_matches('"', literal=True) % 2 == 1).to_numpy()
    if not is_odd.any():
        return lines, numbers
    starts = np.concatenate([[True], np.cumsum(is_odd)[:-1] % 2 == 0])
    joined = (
        pl.DataFrame([pl.Series("record", np.cumsum(starts)), lines.alias("line")])
        .group_by("record", maintain_order=True)
        .agg(pl.col("line").str.join("\n"))
    )
    return joined["line"], numbers[starts]


def _check_quotes(bare: pl.Series, line: IntArray, delimiter: str, name: str) -> None:
    """Raise InputError for a double quote inside a value: what it means is unclear."""
    beside = rf"[^{re.escape(delimiter)}\r{_CELL}]"
    stray = bare.str.contains(rf'"|{beside}{_CELL}|{_CELL}{beside}')
    if stray.any():
        raise stray_quote(name, int(line[int(stray.arg_max() or 0)]))


def _pieces(
    content: Path | bytes, name: str, first_line: int, size: int
) -> Iterator[tuple[bytes, int]]:
    """Yield whole records from a line on, with the line of the first; refuse what is not text."""
    rest, line = b"", 1
    for block in _blocks(content, size):
        rest += block
        if b"\0" in block:
            raise binary(name, line + rest.count(b"\n", 0, rest.index(b"\0")))
        end = _last_end(rest)
        if not end and len(rest) > _LONGEST:
            raise stray_quote(name, line + rest.count(b"\n", 0, rest.find(b'"')))
        whole, rest = rest[:end], rest[end:]
        if whole:
            _check_text(whole, name, line)
            cut, n_lines = _skip(whole, first_line - line)
            if whole[cut:]:
                yield whole[cut:], line + n_lines
            line += whole.count(b"\n")
    if rest:
        _check_text(rest, name, line)
        if rest.count(b'"') % 2:
            raise stray_quote(name, line + rest.count(b"\n", 0, rest.rfind(b'"')))
        cut, n_lines = _skip(rest, first_line - line)
        if rest[cut:]:
            yield rest[cut:], line + n_lines


def _skip(text: bytes, n_lines: int) -> tuple[int, int]:
    """Return the byte after some lines, or after all if there are fewer, and their number."""
    cut = n_skipped = 0
    while n_skipped < n_lines and cut < len(text):
        cut = text.find(b"\n", cut) + 1 or len(text)
        n_skipped += 1
    return cut, n_skipped


def _blocks(content: Path | bytes, size: int) -> Iterator[bytes]:
    if isinstance(content, bytes):
        for position in range(0, len(content), size):
            yield content[position : position + size]
        return
    with content.open("rb") as file:
        while block := file.read(size):
            yield block


def _last_end(text: bytes) -> int:
    """Return the end of the last whole record: a line end with an even number of quotes before."""
    cut = text.rfind(b"\n") + 1
    n_quotes = text.count(b'"', 0, cut)
    while cut and n_quotes % 2:
        earlier = text.rfind(b"\n", 0, cut - 1) + 1
        n_quotes -= text.count(b'"', earlier, cut)
        cut = earlier
    return cut


def _check_text(text: bytes, name: str, line: int) -> None:
    """Raise InputError for bytes that are not UTF-8 text, with their line."""
    if text.isascii():
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(name, line + text.count(b"\n", 0, error.start)) from None


def binary(name: str, line: int) -> InputError:
    """Return the error for a text with a NUL byte."""
    return InputError(
        f"{name} is not a delimited text file: it looks like a binary file, with a NUL byte on "
        f"line {line}. If it is text of two bytes a letter, pass `encoding='utf-16'`."
    )


def not_utf8(name: str, line: int) -> InputError:
    """Return the error for a text in another encoding."""
    return InputError(
        f"line {line} of {name} is not UTF-8 text. Save the file as 'CSV UTF-8', or name its "
        "encoding: `encoding='cp1252'` for files from Excel on Windows, `encoding='latin1'` for "
        "many older ones."
    )


def stray_quote(name: str, line: int) -> InputError:
    """Return the error for a double quote that is not closed or stands inside a value."""
    return InputError(
        f"line {line} of {name} has a double quote that is not closed or stands inside a value. "
        'Write such a value in quotes, with its own quotes doubled: "5"" pipe".'
    )
