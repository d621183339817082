"""How a text file is written: encoding, delimiter, decimal sign, line ends."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from reldep.data.names import listing, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DELIMITERS = ",;\t|"
_UTF8_MARK = b"\xef\xbb\xbf"
_RECORDS_LOOKED_AT = 200
_CHARACTERS_LOOKED_AT = 4_000_000
# What a file is, when it is not the text its name promises.
_SIGNATURES: dict[bytes, str] = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file of the first version",
    b"PK\x03\x04": "a ZIP archive, such as .xlsx and .npz are",
    b"\xd0\xcf\x11\xe0": "an old Excel (.xls) or Word file",
    b"\x93NUMPY": "a NumPy .npy file",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"SQLite format 3": "an SQLite database",
}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Three digits after the comma may be thousands: they prove nothing.
_COMMA_NUMBER = re.compile(r"[+-]?\d*,(\d{1,2}|\d{4,})([eE][+-]?\d+)?")
# A line of nothing but delimiters and blanks; not the end of the last line.
_BLANK_LINE = re.compile(rb"\n[ \t\r,;|]*\n|\n[ \t\r,;|]+\Z")


@dataclass(frozen=True)
class Dialect:
    """The way a delimited text file is written."""

    delimiter: str = ","
    decimal_comma: bool = False
    line_end: str = "\n"


def signature(start: bytes) -> str | None:
    """Return what a file is by its first bytes, if they are a known mark.

    Examples
    --------
    >>> signature(b"PAR1...")
    'a Parquet file'
    """
    return next((what for mark, what in _SIGNATURES.items() if start.startswith(mark)), None)


def decode(data: bytes, name: str) -> str:
    """Return the text of whole lines of a file; raise if it is not text in UTF-8."""
    what = signature(data)
    if what is None and data.startswith(_UTF16_MARKS):
        raise ValueError(
            f"{name} is written in UTF-16; expected UTF-8. Save it as 'CSV UTF-8', "
            "or convert it: iconv -f utf-16 -t utf-8 OLD > NEW"
        )
    if what is None and b"\0" in data:
        what = "a binary file"
    if what is not None:
        raise ValueError(f"{name} is not a delimited text file: it looks like {what}")
    try:
        return data.removeprefix(_UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(not_utf8(name, line)) from None


def not_utf8(name: str, line: int | None = None) -> str:
    """Say that a file is not in UTF-8, and the way out."""
    where = name if line is None else f"line {line} of {name}"
    return (
        f"{where} is not UTF-8 text. Save the file as 'CSV UTF-8', or convert it: "
        "iconv -f latin1 -t utf-8 OLD > NEW"
    )


def has_blank_lines(data: bytes) -> bool:
    r"""Tell whether some line holds no value at all.

    Examples
    --------
    >>> has_blank_lines(b"a,b\n1,2\n"), has_blank_lines(b"a,b\n1,2\n,\n")
    (False, True)
    """
    return _BLANK_LINE.search(data) is not None


def first_lines(text: str) -> str:
    """Return whole lines from the start of a text: enough to see how it is written."""
    return text[: text.find("\n", _CHARACTERS_LOOKED_AT) + 1 or None]


def detect(text: str, *, delimiter: str | None = None) -> Dialect:
    r"""Find the delimiter, the decimal sign and the line ends of a text.

    Examples
    --------
    >>> detect("a;b\n1,5;2\n")
    Dialect(delimiter=';', decimal_comma=True, line_end='\n')
    """
    if delimiter is None:
        delimiter = _find_delimiter(text)
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    return Dialect(delimiter, _has_decimal_comma(text, delimiter), line_end)


def read_header(text: str, dialect: Dialect, name: str) -> list[str]:
    """Return the column names of the first line, trimmed; raise if one comes twice."""
    header = [field.strip() for field in next(records(text, dialect.delimiter), [])]
    if not header:
        raise ValueError(f"{name} has no column names: its first line is blank")
    refuse_duplicates(header, name)
    return header


def refuse_duplicates(header: Sequence[str], name: str) -> None:
    """Raise if two columns have one name."""
    twice = repeated(header)
    if twice:
        raise ValueError(
            f"{name} has more than one column named {listing(twice)}; "
            "give every column a name of its own"
        )


def records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the records of a text, as far as it can be read."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from reader
    except csv.Error:  # a field longer than the reader takes: what came before will do
        return


def _find_delimiter(text: str) -> str:
    """Return the delimiter that cuts most lines into as many fields as there are names.

    One field more is as good: R leaves out the name of the column of row names.
    A delimiter that does not fit half of the lines is none; a comma stands for
    a file of one column.
    """
    best, best_fit = ",", (0.5, 1)
    for candidate in DELIMITERS:
        some = islice(records(text, candidate), _RECORDS_LOOKED_AT)
        widths = [len(record) for record in some if record] or [0]
        names = widths[0]
        fit = (sum(width in (names, names + 1) for width in widths) / len(widths), names)
        if names > 1 and fit > best_fit:
            best, best_fit = candidate, fit
    return best


def _has_decimal_comma(text: str, delimiter: str) -> bool:
    """Tell whether numbers are written 1,5: some are, and none is written 1.5."""
    if delimiter == ",":
        return False
    found = False
    for record in islice(records(text, delimiter), 1, _RECORDS_LOOKED_AT):
        for field in record:
            number = field.strip()
            if _POINT_NUMBER.fullmatch(number):
                return False
            found = found or _COMMA_NUMBER.fullmatch(number) is not None
    return found
