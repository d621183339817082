"""How a text file is written: encoding, delimiter, decimal mark, header, units."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from reldep.data.checks import listing, printable, repeated
from reldep.data.files.layout import not_utf8
from reldep.data.files.sources import signature
from reldep.data.notation import MISSING_CODES, is_unit, looks_like_number
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DELIMITERS = ",;\t|"
UTF8_MARK = b"\xef\xbb\xbf"
_RECORDS_LOOKED_AT = 200
# So many rows that are all named may have no header for their names.
_FEWEST_NAMED = 3
# A header is looked for among so many records.
_PREAMBLE = 50
_CHARACTERS_LOOKED_AT = 4_000_000
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# Three digits after the comma may be thousands: they prove nothing.
_COMMA_NUMBER = re.compile(r"[+-]?\d*,(\d{1,2}|\d{4,})([eE][+-]?\d+)?")
_SEP_LINE = re.compile(r"sep=(?P<delimiter>.)\r?\n", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """The way a delimited text file is written."""

    delimiter: str = ","
    decimal_comma: bool = False


@dataclass(frozen=True)
class Header:
    """The column names of a text file, and where its records start.

    Attributes
    ----------
    names : tuple of str
        The columns.
    text : bytes
        The record of the header; empty if there is none.
    line : int
        The line of the header.
    start, first_line : int
        The byte and the line of the first record after it.
    said : tuple of str
        What was understood about the lines before the records.
    """

    names: tuple[str, ...]
    text: bytes
    line: int
    start: int
    first_line: int
    said: tuple[str, ...] = ()


def decode(data: bytes, name: str) -> str:
    """Return the text of whole lines of a file; raise if it is not text in UTF-8."""
    what = signature(data)
    if what is not None:
        raise InputError(f"{printable(name)} is not a delimited text file: it looks like {what}.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(
            f"{printable(name)} is not a delimited text file: it looks like a binary file, with a "
            f"NUL byte on line {line}. If it is text of two bytes a letter, pass "
            "`encoding='utf-16'`."
        )
    try:
        return data.removeprefix(UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(printable(name), data.count(b"\n", 0, error.start) + 1) from None


def first_lines(text: str) -> str:
    """Return whole lines from the start of a text: enough to see how it is written."""
    return text[: text.find("\n", _CHARACTERS_LOOKED_AT) + 1 or None]


def detect(text: str, *, delimiter: str | None = None, decimal: str | None = None) -> Dialect:
    r"""Find the delimiter and the decimal mark of a text that starts with its header.

    Examples
    --------
    >>> detect("a;b\n1,5;2\n")
    Dialect(delimiter=';', decimal_comma=True)
    """
    if delimiter is None:
        delimiter = _find_delimiter(text)
    if decimal is not None:
        return Dialect(delimiter, decimal == "," and delimiter != ",")
    return Dialect(delimiter, _has_decimal_comma(text, delimiter))


def lines_before(text: str, skip_rows: int) -> tuple[int, int, str | None, list[str]]:
    r"""Find where the header starts: after skipped lines, blank ones and comments.

    Returns
    -------
    start, n_lines : int
        Characters and lines before the header.
    delimiter : str or None
        Named by a line such as ``sep=;``, which Excel writes.
    comments : list of str
        The comments left out.

    Examples
    --------
    >>> lines_before("# made in May\n\na,b\n1,2\n", 0)
    (15, 2, None, ['# made in May'])
    """
    start = n_lines = 0
    delimiter, comments = None, []
    for line in io.StringIO(text, newline=""):
        if n_lines >= skip_rows:
            named = _SEP_LINE.fullmatch(line)
            if named is not None and n_lines == skip_rows:
                delimiter = named["delimiter"]
            elif line.startswith("#") and not _names_columns(line, text[start + len(line) :]):
                comments.append(line.strip())
            elif line.strip():
                break
        start, n_lines = start + len(line), n_lines + 1
    return start, n_lines, delimiter, comments


def _names_columns(line: str, rest: str) -> bool:
    """Tell whether a line that starts with # is the header, as in ``#id,age``."""
    following = rest[: rest.find("\n") + 1 or None]
    if following.startswith("#") or not following.strip():
        return False
    for delimiter in DELIMITERS:
        names = next(records(line, delimiter), [])
        cells = next(records(following, delimiter), [])
        if len(names) == len(cells) > 1 and any(map(looks_like_number, cells)):
            return not any(map(looks_like_number, names))
    return False


def read_header(text: str, delimiter: str, name: str) -> tuple[list[str], str]:
    """Return the column names of a text's first record, trimmed, and the record."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        fields = next(reader, [])
    except csv.Error:
        fields = []
    lines = io.StringIO(text, newline="")
    record = "".join(islice(lines, reader.line_num))
    header = [field.strip().strip("\ufeff") for field in fields]
    if not header:
        raise InputError(f"{printable(name)} has no column names: it has no lines but comments.")
    if record.startswith("#"):
        header[0] = header[0].lstrip("# ") or header[0]
    return header, record


def check_header(header: Sequence[str], name: str, line: int) -> list[str]:
    """Refuse names that come twice and numbers in their place; say what is doubtful."""
    refuse_duplicates(header, name)
    if not all(map(_is_number, header)) or not header:
        return []
    if not all(re.fullmatch(r"\d+", field) for field in header):
        raise InputError(
            f"line {line} of {printable(name)} holds numbers in place of column names: "
            f"{listing(header)}. If the file has no header, pass `header=False`."
        )
    return [f"line {line} holds whole numbers, which were taken as the names of columns"]


def _is_number(text: str) -> bool:
    return _POINT_NUMBER.fullmatch(text) is not None or re.fullmatch(r"[+-]?\d+", text) is not None


def refuse_duplicates(header: Sequence[str], name: str) -> None:
    """Raise if two columns have one name."""
    twice = repeated(header)
    if twice:
        raise InputError(
            f"{printable(name)} has more than one column named {listing(twice)}. Give every column "
            "a name of its own."
        )


def units_in(record: Sequence[str], following: Sequence[str]) -> bool:
    """Tell whether a record names the units of the columns, not an observation.

    Examples
    --------
    >>> units_in(["", "kg", "mmol/L"], ["m1", "0.5", "12"])
    True
    """
    if len(record) != len(following) or any(looks_like_number(text) for text in record):
        return False
    under = [
        text.strip()
        for text, below in zip(record, following, strict=True)
        if looks_like_number(below) and text.strip().lower() not in MISSING_CODES | {""}
    ]
    return bool(under) and all(map(is_unit, under))


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
        widths = _widths(text, candidate)
        names = widths[0]
        fit = (sum(width in (names, names + 1) for width in widths) / len(widths), names)
        if names > 1 and fit > best_fit:
            best, best_fit = candidate, fit
    if best_fit[1] == 1 and _has_blanks_between(text):
        return " "
    return best


def _has_blanks_between(text: str) -> bool:
    """Tell whether every line has as many fields between single blanks, as R writes them."""
    widths = _widths(text, " ")
    names = widths[0]
    return names > 1 and len(widths) > 1 and all(width in (names, names + 1) for width in widths)


def refuse_columns_of_blanks(text: str, name: str) -> None:
    """Refuse fields that are lined up with blanks: how many there are is not clear."""
    lines = [line.split() for line in islice(io.StringIO(text), _PREAMBLE) if line.strip()]
    widths = {len(fields) for fields in lines}
    if len(lines) > 1 and len(widths) == 1 and widths.pop() > 1:
        raise InputError(
            f"{printable(name)} seems to have several blanks between its fields. Put commas or "
            "tabs between them: save it as CSV."
        )


def has_row_names(names: Sequence[str], found: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first field of every record names it, and the header does not, as in R.

    They are different words, or count from 1: other numbers may be values.

    Examples
    --------
    >>> has_row_names(["age"], [["m1", "40"], ["m2", "38"], ["m3", "41"]])
    True
    >>> has_row_names(["age"], [["40", "5"], ["38", "2"], ["41", "5"]])
    False
    """
    if len(found) < _FEWEST_NAMED or any(len(record) != len(names) + 1 for record in found):
        return False
    first = [record[0].strip() for record in found]
    if first == [str(i + 1) for i in range(len(first))]:
        return True
    return len(set(first)) == len(first) and not any(map(looks_like_number, first))


def _widths(text: str, delimiter: str) -> list[int]:
    some = islice(records(text, delimiter), _RECORDS_LOOKED_AT)
    return [len(record) for record in some if record] or [0]


def lines_to_skip(text: str) -> int | None:
    r"""Find how many lines stand before what looks like a table; None if there are none.

    Examples
    --------
    >>> lines_to_skip("Our study\nin 2024\na,b\n1,2\n3,4\n")
    2
    """
    for delimiter in DELIMITERS:
        found = list(islice(records(text, delimiter), _RECORDS_LOOKED_AT))
        widths = [len(record) for record in found]
        if not widths:
            continue
        common, times = Counter(widths).most_common(1)[0]
        start = widths.index(common)
        # A header holds no numbers: where it would, it is a record with a field too many.
        header = common > 1 and not any(map(looks_like_number, found[start]))
        if header and start > 0 and times == len(widths) - start:
            return start
    return None


def header_further_down(text: str, delimiter: str) -> int | None:
    r"""Count the lines before a record that names every column, where the first does not.

    Examples
    --------
    >>> header_further_down("made by,a machine,\n,,\nid,age,fat\n1,40,20.5\n", ",")
    2
    """
    found = list(islice(records(text, delimiter), _PREAMBLE))
    return first_full_record(found)


def first_full_record(found: Sequence[Sequence[str]]) -> int | None:
    """Find the first record of names only, each a different one, if the first of all has gaps."""
    width = max(map(len, found), default=0)
    for i, record in enumerate(found):
        names = [field.strip() for field in record]
        full = len(names) == width and all(names) and len(set(names)) == width
        if full and not any(map(looks_like_number, names)):
            return i or None
    return None


def values_without_name(name: str, which: str, skip: int | None) -> InputError:
    """Say that columns have values and no name, and that the table may start further down."""
    way_out = "Give every column a name of its own."
    if skip is not None:
        way_out = f"If the table starts further down, pass `skip_rows={skip}`."
    return InputError(f"{name} has {which} without a name that hold values. {way_out}")


def _has_decimal_comma(text: str, delimiter: str) -> bool:
    """Tell whether numbers are written 1,5: some are, and none is written 1.5."""
    if delimiter == ",":
        return False
    found = False
    for record in islice(records(text, delimiter), 1, _RECORDS_LOOKED_AT):
        for text_of_field in record:
            number = text_of_field.strip()
            if _POINT_NUMBER.fullmatch(number):
                return False
            found = found or _COMMA_NUMBER.fullmatch(number) is not None
    return found
