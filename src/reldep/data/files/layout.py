"""The layout of a delimited text: where its records are, and whether each has all its fields.

Every record is looked at, whichever columns are asked for. One with a field too many shifts its
values into other columns, so it is refused with its line. The scan is one pass of NumPy over the
bytes; no value is parsed.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.checks import cell
from reldep.data.rows import Places
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from reldep.data.variables import BoolArray, IntArray

_PIECE = 8_000_000
_MOST_ODD = 100_000
_SHOWN = 200
_QUOTE, _LINE_END, _RETURN = b'"\n\r'


@dataclass(frozen=True)
class Odd:
    """A record that is not like the others."""

    record: int
    line: int
    n_fields: int
    text: bytes
    start: int = 0
    stop: int = 0

    @property
    def is_comment(self) -> bool:
        """Whether it starts with the mark of a comment."""
        return self.text.startswith(b"#")


@dataclass(frozen=True)
class Layout:
    """What a scan found.

    Attributes
    ----------
    n_records : int
        The records, blank ones and comments too.
    first_line : int
        The line on which the first one starts.
    lines : ndarray of int or None
        The line on which each record starts; None if each is one line.
    blank : ndarray of int
        The records without any value.
    odd : tuple of Odd
        The records with too many or too few fields that are not blank.
    repeats : tuple of Odd
        The records that say the same as the header.
    skip : int or None
        The lines before what looks like a header further down, where there is one.
    """

    n_records: int
    first_line: int
    lines: IntArray | None
    blank: IntArray
    odd: tuple[Odd, ...]
    repeats: tuple[Odd, ...] = ()
    skip: int | None = None

    def places(self) -> Places:
        """Say on which line each record stands."""
        return Places("line", self.first_line, self.lines)

    def without(self, left_out: Sequence[Odd]) -> Layout:
        """Leave some records out."""
        kept = np.ones(self.n_records, dtype=bool)
        kept[[odd.record for odd in left_out]] = False
        lines = self.lines
        if lines is None:
            lines = self.first_line + np.arange(self.n_records)
        blank = np.zeros(self.n_records, dtype=bool)
        blank[self.blank] = True
        return replace(
            self,
            n_records=int(kept.sum()),
            lines=lines[kept],
            blank=np.flatnonzero(blank[kept]),
            odd=tuple(odd for odd in self.odd if odd not in left_out),
        )


@dataclass
class _Scan:
    """The state of a scan between two pieces of a text."""

    delimiter: int
    n_fields: int
    header: bytes
    name: str
    line: int
    offset: int
    n_records: int = 0
    lines: list[IntArray] = field(default_factory=list)
    plain: bool = True
    blank: list[IntArray] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)
    repeats: list[Odd] = field(default_factory=list)

    def add(self, piece: bytes) -> None:
        """Look at whole records."""
        data = np.frombuffer(piece, dtype=np.uint8)
        ends, is_delimiter, breaks = self._marks(data)
        starts = np.concatenate(([0], ends[:-1] + 1))
        fields = np.add.reduceat(is_delimiter, starts, dtype=np.int32) + 1
        whole = len(breaks) == len(ends)
        lines = self.line + (np.arange(len(ends)) if whole else np.searchsorted(breaks, starts))
        self.plain = self.plain and whole
        self.lines.append(lines.astype(np.int32))
        self._look(piece, starts, ends, fields, lines)
        self.n_records += len(ends)
        self.line += len(breaks)
        self.offset += len(piece)

    def _marks(self, data: npt.NDArray[np.uint8]) -> tuple[IntArray, BoolArray, IntArray]:
        """Find the ends of records, the delimiters between fields, and all line breaks."""
        is_end, is_delimiter = data == _LINE_END, data == self.delimiter
        breaks = np.flatnonzero(is_end)
        is_quote = data == _QUOTE
        if is_quote.any():
            inside = np.cumsum(is_quote, dtype=np.int64) % 2 == 1
            self._check_quotes(data, np.flatnonzero(is_quote & inside), -1, breaks)
            self._check_quotes(data, np.flatnonzero(is_quote & ~inside), 1, breaks)
            is_delimiter &= ~inside
            return np.flatnonzero(is_end & ~inside), is_delimiter, breaks
        return breaks, is_delimiter, breaks

    def _check_quotes(
        self, data: npt.NDArray[np.uint8], quotes: IntArray, step: int, breaks: IntArray
    ) -> None:
        """Refuse a double quote that opens or closes inside a value: what it means is unclear.

        `step` leads to the byte before an opening quote, or after a closing one.
        """
        beside = data[np.clip(quotes + step, 0, len(data) - 1)]
        allowed = np.isin(beside, [self.delimiter, _LINE_END, _RETURN, _QUOTE])
        allowed |= (quotes == 0) & (step < 0)
        if not allowed.all():
            place = quotes[np.argmin(allowed)]
            raise stray_quote(self.name, int(self.line + np.searchsorted(breaks, place)))

    def _look(
        self, piece: bytes, starts: IntArray, ends: IntArray, fields: IntArray, lines: IntArray
    ) -> None:
        """Pick out the records that are blank, odd, or the header once more."""
        data = np.frombuffer(piece, dtype=np.uint8)
        blank = self._blank(data, starts, ends)
        self.blank.append(self.n_records + np.flatnonzero(blank))

        def make(i: np.int64) -> Odd:
            text = piece[starts[i] : min(ends[i], starts[i] + _SHOWN)]
            place = self.offset + int(starts[i]), self.offset + int(ends[i]) + 1
            return Odd(self.n_records + int(i), int(lines[i]), int(fields[i]), text, *place)

        odd = np.flatnonzero((fields != self.n_fields) & ~blank)
        self.odd += [make(i) for i in odd[: _MOST_ODD - len(self.odd)]]
        for i in self._like_header(data, starts, ends):
            if piece[starts[i] : ends[i]].rstrip(b"\r") == self.header:
                self.repeats.append(make(i))

    def _blank(self, data: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray) -> BoolArray:
        """Mark the records of nothing but delimiters and blanks."""
        signs = np.zeros(256, dtype=bool)
        signs[[self.delimiter, *b" \t\r\n"]] = True
        blank = signs[data[starts]] & signs[data[np.maximum(ends - 1, starts)]]
        if blank.any():
            blank &= np.add.reduceat(~signs[data], starts, dtype=np.int32) == 0
        return blank

    def _like_header(
        self, data: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray
    ) -> IntArray:
        """Find the records of the header's length that start as it does."""
        length = len(self.header)
        like = np.flatnonzero((ends - starts >= length) & (ends - starts <= length + 1))
        for place, byte in enumerate(self.header[:8]):
            like = like[data[starts[like] + place] == byte]
        return like if self.header else like[:0]


def scan_records(
    content: Path | bytes,
    delimiter: str,
    n_fields: int,
    *,
    name: str,
    start: int,
    line: int,
    header: bytes = b"",
) -> Layout:
    r"""Look at every record of a text once.

    Parameters
    ----------
    content : path or bytes
        The text, in UTF-8 with line ends ``\n`` or ``\r\n``.
    delimiter : str
        What stands between two fields.
    n_fields : int
        How many fields a record must have.
    name : str
        What to call the text in an error message.
    start, line : int
        Where to start: the byte, and its line.
    header : bytes
        The header's record: where it comes again, two files were put together.

    Examples
    --------
    >>> layout = scan_records(b"1,2\n3\n\n4,5\n", ",", 2, name="x", start=0, line=2)
    >>> [(odd.line, odd.n_fields) for odd in layout.odd], layout.blank.tolist()
    ([(3, 1)], [2])
    """
    scan = _Scan(ord(delimiter), n_fields, header.rstrip(b"\r\n"), name, line, start)
    for piece in _pieces(content, start, name, line):
        scan.add(piece)
    return Layout(
        scan.n_records,
        line,
        None if scan.plain else np.concatenate(scan.lines),
        np.concatenate([np.empty(0, dtype=np.int64), *scan.blank]),
        tuple(scan.odd),
        tuple(scan.repeats),
    )


def _pieces(content: Path | bytes, start: int, name: str, line: int) -> Iterator[bytes]:
    """Yield a text in pieces of whole records; refuse what is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    rest, seen = b"", line
    for block in _blocks(content, start):
        try:
            # Not decoded if there is nothing to decode: the state is empty after plain text.
            decoder.decode(block if decoder.getstate()[0] or not block.isascii() else b"")
        except UnicodeDecodeError as error:
            raise not_utf8(name, seen + block.count(b"\n", 0, error.start)) from None
        seen += block.count(b"\n")
        rest += block
        cut = _last_end(rest)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        if rest.count(b'"') % 2:
            opened = rest.rfind(b'"')
            raise stray_quote(name, seen - rest.count(b"\n", opened))
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _blocks(content: Path | bytes, start: int) -> Iterator[bytes]:
    if isinstance(content, bytes):
        for position in range(start, len(content), _PIECE):
            yield content[position : position + _PIECE]
        return
    with content.open("rb") as file:
        file.seek(start)
        while block := file.read(_PIECE):
            yield block


def _last_end(text: bytes) -> int:
    """Find the end of the last whole record: a line end with an even number of quotes before."""
    cut = text.rfind(b"\n") + 1
    n_quotes = text.count(b'"', 0, cut)
    while cut and n_quotes % 2:
        earlier = text.rfind(b"\n", 0, cut - 1) + 1
        n_quotes -= text.count(b'"', earlier, cut)
        cut = earlier
    return cut


def not_utf8(name: str, line: int | None = None) -> InputError:
    """Say that a file is not in UTF-8, and the way out."""
    where = name if line is None else f"line {line} of {name}"
    return InputError(
        f"{where} is not UTF-8 text. Save the file as 'CSV UTF-8', or name its encoding: "
        "`encoding='cp1252'` for files from Excel on Windows, `encoding='latin1'` for many older "
        "ones."
    )


def stray_quote(name: str, line: int) -> InputError:
    """Say that a double quote is not closed or stands inside a value."""
    return InputError(
        f"line {line} of {name} has a double quote that is not closed or stands inside a value. "
        'Write such a value in quotes, with its own quotes doubled: "5"" pipe".'
    )


def ragged(name: str, odd: Odd, n_columns: int, header_line: int, delimiter: str) -> InputError:
    """Say which record has too many or too few fields, and what the causes may be."""
    sign = {"\t": "tab"}.get(delimiter, delimiter)
    fields = "1 field" if odd.n_fields == 1 else f"{odd.n_fields} fields"
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    text = cell(odd.text.decode("utf-8", "replace").strip())
    causes = (
        f"A value that holds the delimiter {sign!r} must stand in double quotes (is it a decimal "
        "comma?), and every column needs a name (R leaves out that of the row names)."
        if odd.n_fields > n_columns
        else "Was the line cut off, or is it a footer? Complete it or delete it."
    )
    return InputError(
        f"line {odd.line} of {name} has {fields}, but line {header_line} names {columns}: {text}. "
        f"{causes}"
    )
