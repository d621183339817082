"""Delimited text (CSV, TSV and their kin) as cells.

Every record is looked at, whichever columns are asked for. One with a field too many shifts its
values into other columns, so it is refused with its line.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import polars as pl
import polars.selectors as cs

from reldep.data.variables import IntArray
from reldep.exceptions import InputError
from reldep.files.byte_sources import Source
from reldep.files.cells import Cells, table_of_cells
from reldep.files.header import Header, check_rows, find_header
from reldep.files.read import Reading
from reldep.files.table import Table
from reldep.system import available_memory
from reldep.words import cell, counted

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
# Maximum number of bytes of a record: one of 200,000 columns of ten digits takes two million.
_LONGEST = 60_000_000
# Stands for a cell in quotes while delimiters are counted; no text contains it.
_CELL = "\0"


def read_text(source: Source, options: Reading, *, largest: float | None = None) -> Table:
    """Return the table of a text.

    A text of more than `largest` bytes is scanned again for every load; by default this is a
    quarter of the free memory.
    """
    if largest is None:  # a small text is in memory anyway
        largest = _START if source.size <= _START else 0.25 * available_memory()
    is_large = source.size > largest
    source = _in_utf8(source, options["encoding"])
    start = _start_of(source)
    header = _header_of(start, source, options)
    sign = re.escape(header.delimiter.encode())
    # Blanks between a delimiter and a quote hide the quote. The pattern alone is slow.
    padding = rb"(?<=%b) +(?=\")|(?<=\") +(?=%b)" % (sign, sign)
    if (b' "' in start or b'" ' in start) and re.search(padding, start):
        source = _outside_quotes(source, padding, b"")
        header = _header_of(_start_of(source), source, options)
    found = find_records(
        source, header.delimiter, first_line=header.line, has_header=options["header"]
    )[header.n_before :]
    left_out, notes = _left_out(found, header, source)
    kept = found["line"].filter(~left_out).to_numpy()
    check_rows(len(kept), header.names, source.name)
    first_line = int(found["line"][0])
    if left_out.any():
        source = _without_lines(source, found["line"].filter(left_out).to_list(), first_line)
        first_line = 1
    own = {name or f"\0{i}": str(i) for i, name in enumerate(header.names)}

    def load(names: list[str]) -> pl.DataFrame:
        frame = pl.scan_csv(
            source.content,
            has_header=False,
            skip_lines=first_line - 1,
            separator=header.delimiter,
            schema=dict.fromkeys(own.values(), pl.String),
            glob=False,
        )
        # Of many columns it is faster to read all.
        wanted = names if len(names) < 50 else list(own)
        found = frame.select(cs.by_name(*(own[name] for name in wanted))).collect()
        source.check_unchanged()
        found.columns = wanted
        return found.select(cs.by_name(*names))

    cells = Cells(
        source.name,
        tuple(own),
        load,
        kept,
        has_commas_between_fields=header.delimiter == ",",
        is_large=is_large,
        skip_rows=header.skip_rows,
        notes=(*source.notes, *header.notes, *notes),
    )
    return table_of_cells(cells, options)


def _header_of(start: bytes, source: Source, options: Reading) -> Header:
    """Return the header in the start of a text."""
    _check_text(start, source)
    return find_header(
        start.removeprefix(codecs.BOM_UTF8).decode("utf-8"),
        source.name,
        delimiter=options["delimiter"] or _DELIMITERS.get(source.ending),
        has_header=options["header"],
        skip_rows=options["skip_rows"],
    )


def _start_of(source: Source) -> bytes:
    """Return the start of a text in whole lines."""
    with source.open() as file:
        return file.read(_START) + file.readline(_START)


def _left_out(found: pl.DataFrame, header: Header, source: Source) -> tuple[pl.Series, list[str]]:
    """Return the blank records, comments and repeated headers, with notes.

    Raises InputError for a record of another width.
    """
    is_odd = (found["n_fields"] != len(header.names)) & ~found["is_blank"]
    wrong = found.filter(is_odd & ~found["is_comment"])
    if wrong.height:
        raise _ragged(source, header, *wrong.row(0)[:2])
    is_comment = is_odd & found["is_comment"]
    notes = [
        _lines_in_words(found["line"].filter(chosen).to_list(), what)
        for chosen, what in (
            (is_comment, "a comment"),
            (found["is_header"], "the header once more"),
        )
        if chosen.any()
    ]
    return found["is_blank"] | is_comment | found["is_header"], notes


def _lines_in_words(lines: list[int], what: str) -> str:
    shown = ", ".join(map(str, lines[:4]))
    if len(lines) == 1:
        return f"line {shown} was taken as {what} and left out"
    return f"lines {shown}{', …' * (len(lines) > 4)} were each taken as {what} and left out"


def _ragged(source: Source, header: Header, line: int, n_fields: int) -> InputError:
    """Return the error for a record with too many or too few fields."""
    n_columns = len(header.names)
    sign = {"\t": "tab"}.get(header.delimiter, header.delimiter)
    with source.open() as file:
        text = next(islice(file, line - 1, None)).decode("utf-8", "replace")
    causes = (
        f"A value that contains the delimiter {sign!r} must stand in double quotes (is it a "
        "decimal comma?), and every column needs a name (R leaves out that of the row names)."
        if n_fields > n_columns
        else "Was the line cut off, or is it a footer? Complete it or delete it."
    )
    if header.skip_rows is not None and line <= header.skip_rows + 1:
        causes = f"If the table starts further down, pass `skip_rows={header.skip_rows}`."
    return InputError(
        f"line {line} of {source.name} has {counted(n_fields, 'field')}, but line {header.line} "
        f"names {counted(n_columns, 'column')}: {cell(text.strip())}. {causes}"
    )


def _without_lines(source: Source, left_out: list[int], first_line: int) -> Source:
    """Return a text from a line on, without some lines."""
    gone, lines = set(left_out), source.bytes().split(b"\n")[first_line - 1 :]
    kept = (line for i, line in enumerate(lines, first_line) if i not in gone)
    return replace(source, content=b"\n".join(kept))


def _in_utf8(source: Source, encoding: str | None) -> Source:
    """Return a text in UTF-8 with line ends that polars knows, if it is written otherwise."""
    start = source.start()
    own = next((own for mark, own in _WIDE_MARKS.items() if start.startswith(mark)), None)
    encoding = encoding or own
    if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        try:
            text = source.bytes().decode(encoding).removeprefix("\ufeff")
        except (UnicodeError, ValueError) as error:
            raise InputError(
                f"{source.name} is not text in the encoding {encoding!r}: {error}. Set `encoding`."
            ) from None
        source = replace(source, content=text.encode())
    # A line end of one old computer, or of two computers in one file.
    if b"\r" in _start_of(source).replace(b"\r\n", b""):
        return _outside_quotes(source, rb"\r(?!\n)", b"\n")
    return source


def _outside_quotes(source: Source, pattern: bytes, new: bytes) -> Source:
    """Return a text in which something else stands for a pattern outside of quotes."""
    either = rb'("[^"]*"?)|' + pattern
    return replace(source, content=re.sub(either, lambda found: found[1] or new, source.bytes()))


def find_records(
    source: Source, delimiter: str, *, first_line: int, has_header: bool, piece: int = 32_000_000
) -> pl.DataFrame:
    r"""Return the records of a text from a line on.

    Parameters
    ----------
    source : Source
        A text in UTF-8 with line ends ``\n`` or ``\r\n``.
    delimiter : str
    first_line : int
        The line of the first record, counted from 1.
    has_header : bool
        Whether the first record names columns: if it comes again, two files were put together.
    piece : int
        The number of bytes that are looked at together: enough for polars to be fast, little to
        hold.

    Returns
    -------
    polars.DataFrame
        The line on which each record starts, `n_fields`, and whether it has no value, starts with
        ``#``, or repeats the header.

    Examples
    --------
    >>> from reldep.files.byte_sources import Source
    >>> text = Source("x", b'a,b\n1,"x\ny"\n\n3\n')
    >>> found = find_records(text, ",", first_line=2, has_header=False)
    >>> found["line"].to_list(), found["n_fields"].to_list(), found["is_blank"].to_list()
    ([2, 4, 5], [2, 1, 1], [False, True, False])
    """
    found: list[pl.DataFrame] = []
    header = "\0"
    for content, start in _pieces(source, first_line, piece):
        bare = text = pl.read_lines(io.BytesIO(content))["line"]
        line = start + np.arange(len(text), dtype=np.int64)
        if b'"' in content:
            text, line = _joined(text, line)
            bare = text.str.replace_all(r'"(?:[^"]|"")*"', _CELL)
            _check_quotes(bare, line, delimiter, source)
        if has_header and not found:
            header = text[0].rstrip("\r")
        record, n_marks = pl.col("text"), pl.col("bare").str.count_matches(delimiter, literal=True)
        # All at once: every expression by itself takes a third of a millisecond.
        found.append(
            pl.DataFrame({"line": line, "text": text, "bare": bare}).select(
                "line",
                n_fields=n_marks.cast(pl.Int64) + 1,
                is_blank=record.str.strip_chars(f"{delimiter} \t\r") == "",
                is_comment=record.str.starts_with("#"),
                is_header=record.str.strip_chars_end("\r") == header,
            )
        )
    return pl.concat(found)


def _joined(lines: pl.Series, numbers: IntArray) -> tuple[pl.Series, IntArray]:
    """Return records and their first lines: an odd number of quotes goes on to the next line."""
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


def _check_quotes(bare: pl.Series, line: IntArray, delimiter: str, source: Source) -> None:
    """Raise InputError for a double quote inside a value: what it means is unclear."""
    beside = rf"[^{re.escape(delimiter)}\r{_CELL}]"
    stray = bare.str.contains(rf'"|{beside}{_CELL}|{_CELL}{beside}')
    if stray.any():
        raise _stray_quote(source, int(line[int(stray.arg_max() or 0)]))


def _pieces(source: Source, first_line: int, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole records from a line on, with the line of the first; refuse what is not text."""
    rest, line, is_end = b"", first_line, False
    with source.open() as file:
        for _ in range(first_line - 1):
            file.readline()
        while not is_end:
            block = file.read(size)
            is_end = not block
            rest += block.removeprefix(codecs.BOM_UTF8)
            end = len(rest) if is_end else _last_end(rest)
            if not end and len(rest) > _LONGEST:
                raise _stray_quote(source, line + rest.count(b"\n", 0, rest.find(b'"')))
            whole, rest = rest[:end], rest[end:]
            _check_text(whole, source, line)
            if is_end and whole.count(b'"') % 2:
                raise _stray_quote(source, line)
            if whole:
                yield whole, line
            line += whole.count(b"\n")


def _last_end(text: bytes) -> int:
    """Return the end of the last whole record: a line end with an even number of quotes before."""
    cut = text.rfind(b"\n") + 1
    n_quotes = text.count(b'"', 0, cut)
    while cut and n_quotes % 2:
        earlier = text.rfind(b"\n", 0, cut - 1) + 1
        n_quotes -= text.count(b'"', earlier, cut)
        cut = earlier
    return cut


def _check_text(text: bytes, source: Source, line: int = 1) -> None:
    """Raise InputError for bytes that are not UTF-8 text, with their line."""
    name = source.name
    if b"\0" in text:
        line += text.count(b"\n", 0, text.index(b"\0"))
        raise InputError(
            f"{name} is not a delimited text file: it looks like a binary file, with a NUL byte on "
            f"line {line}. If it is text of two bytes a letter, pass `encoding='utf-16'`."
        )
    if text.isascii():
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise InputError(
            f"line {line} of {name} is not UTF-8 text. Save the file as 'CSV UTF-8', or name its "
            "encoding: `encoding='cp1252'` (Excel on Windows), `encoding='latin1'` (many others)."
        ) from None


def _stray_quote(source: Source, line: int) -> InputError:
    """Return the error for a double quote that is not closed or stands inside a value."""
    return InputError(
        f"line {line} of {source.name} has a double quote that is not closed or stands "
        'inside a value. Write such a value in quotes, with its own quotes doubled: "5"" pipe".'
    )
