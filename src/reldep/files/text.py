"""Delimited text (CSV, TSV and their kin) as cells."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.checks import cell, printable
from reldep.data.rows import Places
from reldep.exceptions import InputError
from reldep.files.cells import Cells
from reldep.files.header import Header, find_header, lines_to_skip
from reldep.files.lines import Records, binary, find_records, not_utf8
from reldep.system import available_memory
from reldep.words import counted

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from reldep.data.variables import IntArray
    from reldep.files.byte_sources import Source
    from reldep.files.reading import Reading

_UTF8_MARK = b"\xef\xbb\xbf"
# The longer mark first: UTF-32's starts with UTF-16's.
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DELIMITERS = {"tsv": "\t", "tab": "\t"}
# Bytes that show how a text is written: enough for the names of 100,000 columns.
_START = 4_000_000
# Share of the free memory that the strings of a text may take.
_LARGEST_SHARE = 0.25
_SHOWN = 4


def read_text(source: Source, options: Reading, *, largest: float | None = None) -> Cells:
    """Return the cells of a text as strings.

    A text of more than `largest` bytes is scanned again for every load; by default this is a
    quarter of the free memory.
    """
    name = printable(source.name)
    largest = _LARGEST_SHARE * available_memory() if largest is None else largest
    content = _in_utf8(source.content, name, options["encoding"])
    header = _header_of(content, source, options)
    if _has_padding(_start_of(content), header.delimiter):
        content = _without_padding(content, header.delimiter)
        header = _header_of(content, source, options)
    if header.text:  # refuse a stray quote in it
        above = "\n" * (header.line - 1)
        written = f"{above}{header.text}".encode()
        find_records(written, header.delimiter, name=name, first_line=header.line)
    found = find_records(
        content,
        header.delimiter,
        name=name,
        first_line=header.first_line,
        header=header.text,
    )
    left_out, notes = _left_out(found, header, content, name)
    kept = np.flatnonzero(~left_out)
    if not len(kept):
        raise InputError(f"{name} has {counted(len(header.names), 'column')}, but no rows.")
    first_line = header.first_line
    if left_out.any():
        content = _without_lines(content, found.line[left_out], first_line)
        first_line = 1
    follow_each_other = len(kept) == len(found) and found.line[-1] - found.line[0] + 1 == len(found)
    numbers = None if follow_each_other else found.line[kept]
    cells = _Text(content, header, first_line)
    return Cells(
        source.name,
        tuple(cells.own),
        cells.load,
        len(kept),
        Places("line", header.first_line, numbers),
        has_commas_between_fields=header.delimiter == ",",
        is_large=source.size > largest,
        skip_rows=header.skip_rows,
        notes=(*source.notes, *header.notes, *notes),
    )


class _Text:
    """The records of a text for polars; those of a small one are read once."""

    def __init__(self, content: Path | bytes, header: Header, first_line: int) -> None:
        self.content, self.header, self.first_line = content, header, first_line
        self.own = [name or f"\0{i}" for i, name in enumerate(header.names)]

    def load(self, names: list[str]) -> pl.DataFrame:
        """Return some columns as strings."""
        import polars as pl
        import polars.selectors as cs

        places = [str(i) for i in range(len(self.own))]
        frame = pl.scan_csv(
            self.content,
            has_header=False,
            skip_lines=self.first_line - 1,
            separator=self.header.delimiter,
            schema=dict.fromkeys(places, pl.String),
            glob=False,
        )
        wanted = [str(self.own.index(name)) for name in names] if len(names) < 50 else places
        found = frame.select(cs.by_name(*wanted)).collect()
        if wanted is places:
            found.columns = self.own
            return found.select(cs.by_name(*names))
        found.columns = names
        return found


def _header_of(content: Path | bytes, source: Source, options: Reading) -> Header:
    """Return the header in the start of a text."""
    start, name = _start_of(content), printable(source.name)
    if b"\0" in start:
        raise binary(name, start.count(b"\n", 0, start.index(b"\0")) + 1)
    try:
        text = start.removeprefix(_UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(name, start.count(b"\n", 0, error.start) + 1) from None
    return find_header(
        text,
        name,
        delimiter=options["delimiter"] or _DELIMITERS.get(source.ending),
        has_header=options["header"],
        skip_rows=options["skip_rows"],
    )


def _start_of(content: Path | bytes) -> bytes:
    """Return the start of a text in whole lines."""
    if isinstance(content, bytes):
        return content[: content.find(b"\n", _START, 2 * _START) + 1 or 2 * _START]
    with content.open("rb") as file:
        return file.read(_START) + file.readline(_START)


def _left_out(
    found: Records, header: Header, content: Path | bytes, name: str
) -> tuple[np.ndarray, list[str]]:
    """Return the blank records, comments and repeated headers, with notes.

    Raises InputError for a record of another width.
    """
    is_odd = (found.n_fields != len(header.names)) & ~found.is_blank
    wrong = np.flatnonzero(is_odd & ~found.is_comment)
    if len(wrong):
        first = int(wrong[0])
        raise _ragged(content, header, name, int(found.line[first]), int(found.n_fields[first]))
    is_comment = is_odd & found.is_comment
    notes = [
        _lines_in_words(found.line[chosen], what)
        for chosen, what in (
            (is_comment, "a comment"),
            (found.is_header, "the header once more"),
        )
        if chosen.any()
    ]
    return found.is_blank | is_comment | found.is_header, notes


def _lines_in_words(lines: IntArray, what: str) -> str:
    shown = ", ".join(map(str, lines[:_SHOWN].tolist()))
    if len(lines) == 1:
        return f"line {shown} was taken as {what} and left out"
    return f"lines {shown}{', …' * (len(lines) > _SHOWN)} were each taken as {what} and left out"


def _ragged(
    content: Path | bytes, header: Header, name: str, line: int, n_fields: int
) -> InputError:
    """Return the error for a record with too many or too few fields."""
    n_columns = len(header.names)
    sign = {"\t": "tab"}.get(header.delimiter, header.delimiter)
    fields = "1 field" if n_fields == 1 else f"{n_fields} fields"
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    shown = cell(_line(content, line).strip())
    causes = (
        f"A value that holds the delimiter {sign!r} must stand in double quotes (is it a decimal "
        "comma?), and every column needs a name (R leaves out that of the row names)."
        if n_fields > n_columns
        else "Was the line cut off, or is it a footer? Complete it or delete it."
    )
    skip = lines_to_skip(_start_of(content).decode("utf-8", "replace"))
    if skip is not None and line <= skip + 1:
        causes = f"If the table starts further down, pass `skip_rows={skip}`."
    return InputError(
        f"line {line} of {name} has {fields}, but line {header.line} names {columns}: {shown}. "
        f"{causes}"
    )


def _line(content: Path | bytes, number: int) -> str:
    """Return one line of a text."""
    if isinstance(content, bytes):
        return content.split(b"\n", number)[number - 1].decode("utf-8", "replace")
    with content.open("rb") as file:
        for _ in range(number - 1):
            file.readline()
        return file.readline().decode("utf-8", "replace")


def _without_lines(content: Path | bytes, left_out: IntArray, first_line: int) -> bytes:
    """Return a text from a line on, without some lines."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    gone = set(left_out.tolist())
    lines = data.split(b"\n")[first_line - 1 :]
    return b"\n".join(line for i, line in enumerate(lines, first_line) if i not in gone)


def _in_utf8(content: Path | bytes, name: str, encoding: str | None) -> Path | bytes:
    """Return a text in UTF-8 with line ends that polars knows, if it is written otherwise."""
    start = _start_of(content)
    own = next((own for mark, own in _WIDE_MARKS.items() if start.startswith(mark)), None)
    encoding = encoding or own
    if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        data = content if isinstance(content, bytes) else content.read_bytes()
        try:
            content = start = data.decode(encoding).removeprefix("\ufeff").encode()
        except (UnicodeError, ValueError) as error:
            raise InputError(
                f"{name} is not text in the encoding {encoding!r}: {error}. Name another one with "
                "`encoding`."
            ) from None
    # A line end of one old computer, or of two computers in one file.
    if b"\r" in start.replace(b"\r\n", b""):
        data = content if isinstance(content, bytes) else content.read_bytes()
        return _with_line_ends(data)
    return content


def _with_line_ends(data: bytes) -> bytes:
    r"""Return a text with ``\n`` for every ``\r`` that stands alone outside of quotes."""
    signs = np.frombuffer(data, dtype=np.uint8).copy()
    is_inside = np.cumsum(signs == ord('"')) % 2 == 1
    is_followed = np.append(signs[1:] == ord("\n"), False)
    signs[(signs == ord("\r")) & ~is_followed & ~is_inside] = ord("\n")
    return signs.tobytes()


def _has_padding(start: bytes, delimiter: str) -> bool:
    # The pattern alone takes a second for the start of a large text.
    may_have = b' "' in start or b'" ' in start
    return may_have and _padding(delimiter).search(start) is not None


def _padding(delimiter: str) -> re.Pattern[bytes]:
    """Return a pattern for blanks around quotes, as in ``"a", "b"``."""
    sign = re.escape(delimiter.encode())
    return re.compile(rb"(?<=%b) +(?=\")|(?<=\") +(?=%b)" % (sign, sign))


def _without_padding(content: Path | bytes, delimiter: str) -> bytes:
    """Return a text without blanks between a delimiter and a quote, which hide the quote."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    signs = np.frombuffer(data, dtype=np.uint8)
    is_inside = np.cumsum(signs == ord('"')) % 2 == 1
    kept = np.ones(len(signs), dtype=bool)
    for match in _padding(delimiter).finditer(data):
        if not is_inside[match.start()]:
            kept[match.start() : match.end()] = False
    return signs[kept].tobytes()
