"""Delimited text files (CSV, TSV and their kin) as tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from reldep.data.cells import MISSING_WORDS, ROW, Cleaned, Refusal, clean_words
from reldep.data.checks import printable
from reldep.data.files.dialect import (
    UTF8_MARK,
    Dialect,
    Header,
    check_header,
    decode,
    detect,
    first_lines,
    has_row_names,
    header_further_down,
    lines_before,
    lines_to_skip,
    read_header,
    records,
    refuse_columns_of_blanks,
    units_in,
    values_without_name,
)
from reldep.data.files.layout import Layout, Odd, ragged, scan_records
from reldep.data.files.queries import collect, column, explain, named, reading_errors, settled
from reldep.data.files.sources import in_utf8, padding, start_of, without_padding
from reldep.data.files.table import Table, finished_table, with_categories
from reldep.data.files.totals import totals
from reldep.data.notation import Form
from reldep.exceptions import InputError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from reldep.data.files.options import ReadingOptions
    from reldep.data.rows import Places

_ROWS_LOOKED_AT = 10_000
_RECORDS_LOOKED_AT = 200
_SHOWN = 4
_ZERO_FIRST = re.compile(rb"(^|[\n,;\t|\" ])0\d")


@dataclass(frozen=True)
class TextFile:
    """A delimited text: on disk, or in memory if it came compressed or through a pipe.

    Attributes
    ----------
    name : str
        What to call it in messages.
    content : path or bytes
        The records, after `skip_lines` lines.
    names : tuple of str
        The columns.
    dialect : Dialect
        How it is written.
    skip_lines : int
        The lines before the first record.
    places : Places
        The line of each record.
    """

    name: str
    content: Path | bytes = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    dialect: Dialect
    skip_lines: int
    places: Places = field(repr=False)

    def scan(self, **options: Any) -> pl.LazyFrame:
        """Give the records to polars, with the hidden column of their numbers."""
        import polars as pl

        return pl.scan_csv(
            self.content,
            has_header=False,
            skip_lines=self.skip_lines,
            separator=self.dialect.delimiter,
            decimal_comma=self.dialect.decimal_comma,
            null_values=list(MISSING_WORDS),
            row_index_name=ROW,
            glob=False,
            **options,
        )

    def words(self) -> pl.LazyFrame:
        """Give the records with every cell as it is written."""
        frame = self.scan(infer_schema=False)
        return frame.rename(dict(zip(_own_names(frame), self.names, strict=True)))

    def place_of(self, position: int, value: str) -> str | None:
        """Find the line on which a column first holds a value."""
        name = self.names[position]
        cells = column(name).str.strip_chars() == value.strip()
        found = collect(self.words().filter(cells).select(column(ROW)).head(1), n_expressions=1)
        return self.places.name(found.item()) if found.height else None


def _own_names(frame: pl.LazyFrame) -> list[str]:
    return [name for name in frame.collect_schema() if name != ROW]


def open_text(content: Path | bytes, name: str, options: ReadingOptions) -> Table:
    """Find out how a text is written and what its columns are."""
    content = in_utf8(content, name, options)
    start, small = start_of(content)
    text = first_lines(decode(start, name))
    header, dialect = _read_header(text, name, options)
    if padding(dialect.delimiter).search(start):
        content = without_padding(content, dialect.delimiter)
        start, small = start_of(content)
        text = first_lines(decode(start, name))
        header, dialect = _read_header(text, name, options)
    _check_quotes(header, dialect, printable(name))
    offset = len(UTF8_MARK) if start.startswith(UTF8_MARK) else 0
    layout = scan_records(
        content,
        dialect.delimiter,
        len(header.names),
        name=printable(name),
        start=header.start + offset,
        line=header.first_line,
        header=header.text,
    )
    said = list(header.said)
    skip_lines = header.first_line - 1
    left_out = _lines_to_leave_out(layout, header, dialect, printable(name), text, said)
    if left_out:
        content = _without(content, left_out, header.start + offset)
        layout, skip_lines = layout.without(left_out), 0
    if layout.n_records == len(layout.blank):
        raise InputError(
            f"{printable(name)} has {counted(len(header.names), 'column')}, but no rows."
        )
    layout = replace(layout, skip=header_further_down(text, dialect.delimiter))
    file = TextFile(name, content, header.names, dialect, skip_lines, layout.places())
    return _make_table(file, layout, options, small=small, said=said)


def _check_quotes(header: Header, dialect: Dialect, name: str) -> None:
    """Refuse column names with a double quote that is not closed or stands inside one."""
    n_fields = len(header.names)
    scan_records(header.text, dialect.delimiter, n_fields, name=name, start=0, line=header.line)


def _read_header(text: str, name: str, options: ReadingOptions) -> tuple[Header, Dialect]:
    """Find the header, the records, and how both are written."""
    start, n_lines, own_delimiter, comments = lines_before(text, options.skip_rows)
    rest = text[start:]
    delimiter = options.delimiter or own_delimiter
    dialect = detect(rest, delimiter=delimiter, decimal=options.decimal)
    said = []
    if comments:
        count = "a comment" if len(comments) == 1 else f"{len(comments)} lines of comments"
        said.append(f"{count} before the table left out")
    names, record = read_header(rest, dialect.delimiter, name)
    if not options.header:
        names, record = [f"c{i + 1}" for i in range(len(names))], ""
    else:
        said += check_header([field for field in names if field], name, n_lines + 1)
    following = records(rest[len(record) :], dialect.delimiter)
    first, second = next(following, []), next(following, [])
    if len(first) == len(names) + 1 and not first[-1].strip():
        names.append("")  # every line ends with a delimiter, but for the first
    elif options.header and has_row_names(names, some_records(rest[len(record) :], dialect)):
        names.insert(0, "")
        said.append(
            f"line {n_lines + 1} names one column less than there are: the first one was taken to "
            "name the rows, as R writes them"
        )
    if len(names) == 1 and options.delimiter is None:
        refuse_columns_of_blanks(rest, name)
    if dialect.delimiter == " ":
        said.append("blanks were taken to separate the fields")
    line = n_lines + 1
    n_lines += record.count("\n") + (not record.endswith("\n") and record != "")
    units = 0
    if options.header and units_in(first, second):
        units = rest.find("\n", len(record)) + 1 - len(record)
        found = [f"{n}: {u.strip()}" for n, u in zip(names, first, strict=False) if u.strip()]
        more = ", …" if len(found) > _SHOWN else ""
        said.append(
            f"line {n_lines + 1} holds units, not an observation, and was left out "
            f"({printable(', '.join(found[:_SHOWN]))}{more})"
        )
    before = text[: start + len(record) + units]
    header = Header(
        tuple(names),
        record.encode(),
        line,
        len(before.encode()),
        n_lines + 1 + bool(units),
        tuple(said),
    )
    return header, dialect


def some_records(text: str, dialect: Dialect) -> list[list[str]]:
    """Give the first records of a text, without blank ones and comments."""
    found = islice(records(text, dialect.delimiter), _RECORDS_LOOKED_AT)
    return [record for record in found if any(record) and not record[0].startswith("#")]


def _lines_to_leave_out(
    layout: Layout, header: Header, dialect: Dialect, name: str, text: str, said: list[str]
) -> list[Odd]:
    """Pick the comments and repeated headers; refuse records with fields too many or too few."""
    comments = [odd for odd in layout.odd if odd.is_comment]
    wrong = next((odd for odd in layout.odd if not odd.is_comment), None)
    if wrong is not None:
        error = ragged(name, wrong, len(header.names), header.line, dialect.delimiter)
        skip = lines_to_skip(text)
        if skip is not None and wrong.line <= skip + 1:
            raise InputError(f"{error} If the table starts further down, pass `skip_rows={skip}`.")
        raise error
    if comments:
        said.append(f"{_lines(comments)} a comment and left out")
    if layout.repeats:
        said.append(f"{_lines(layout.repeats)} the header once more and left out")
    return sorted([*comments, *layout.repeats], key=lambda odd: odd.record)


def _lines(found: Sequence[Odd]) -> str:
    shown = ", ".join(str(odd.line) for odd in found[:_SHOWN])
    if len(found) == 1:
        return f"line {shown} was taken as"
    return f"lines {shown}{', …' * (len(found) > _SHOWN)} were each taken as"


def _without(content: Path | bytes, left_out: list[Odd], start: int) -> bytes:
    """Cut some records out of a text; what is left starts with the first record."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    parts, place = [], start
    for odd in left_out:
        parts.append(data[place : odd.start])
        place = odd.stop
    return b"".join([*parts, data[place:]])


def _make_table(
    file: TextFile,
    layout: Layout,
    options: ReadingOptions,
    *,
    small: bool,
    said: list[str],
    labels: Sequence[str] = (),
) -> Table:
    """Give every column its type; that of `labels` is words."""
    try:
        frame = settled(_typed(file, options, small=small, labels=labels))
        if len(layout.blank):
            import polars as pl

            blank = pl.Series(layout.blank).cast(pl.get_index_type())
            frame = frame.filter(~column(ROW).is_in(blank.implode()))
        frame = _without_nameless(frame, file, layout.skip)
        schema = {name: dtype for name, dtype in frame.collect_schema().items() if name != ROW}
        form = usual_form(file.dialect, options)
        cleaned = clean_words(frame, schema, form, na=options.na, labels=labels)
        _doubt_points(cleaned, schema, file)
        if _ZERO_FIRST.search(start_of(file.content)[0]):
            _doubt_codes(cleaned, schema, file, None if small else _ROWS_LOOKED_AT)
        said = [*said, *totals(cleaned, file.places, layout.n_records if small else 0)]
    except reading_errors() as error:
        raise explain(error, file.name, [file]) from error
    plain = replace(options, categories=None)
    table = finished_table(
        file.name, cleaned, plain, places=file.places, texts=(file,), said=tuple(said)
    )
    if options.categories is None:
        return table
    chosen = table.select(options.categories)
    if not labels:
        # Once more, for a label such as 007 must not have been a number before.
        return _make_table(file, layout, options, small=small, said=said, labels=chosen)
    return with_categories(table, labels)


def _typed(
    file: TextFile, options: ReadingOptions, *, small: bool, labels: Sequence[str]
) -> pl.LazyFrame:
    """Return the text as a lazy frame with fixed types and the header's names.

    The types are found once and then stated, for polars would look for them
    again in every query.
    """
    import polars as pl

    names = file.names
    own = [f"{position}" for position in range(len(names))]
    if options.decimal == "," or options.thousands == ".":
        # A point may stand between thousands, so no number may be read before its form is known.
        types: dict[str, pl.DataType] = {name: pl.String() for name in own}
    else:
        frame = file.scan(infer_schema_length=None if small else _ROWS_LOOKED_AT, new_columns=own)
        guessed = frame.collect_schema()
        types = {
            name: pl.Float64() if _as_floats(guessed[name], small) else guessed[name]
            for name in own
        }
    types |= {own[names.index(name)]: pl.String() for name in labels}
    frame = file.scan(infer_schema=False, new_columns=own, schema_overrides=types)
    unique = _unique(names)
    return frame.rename(dict(zip(own, unique, strict=True)))


def _unique(names: tuple[str, ...]) -> list[str]:
    """Give columns without a name a number, for polars; all others are unique already."""
    return [name or f"\0{position}" for position, name in enumerate(names)]


def _without_nameless(frame: pl.LazyFrame, file: TextFile, skip: int | None) -> pl.LazyFrame:
    """Drop columns without a name and without values: lines that end with delimiters."""
    unique = _unique(file.names)
    nameless = [name for name in unique if name.startswith("\0")]
    if not nameless:
        return frame
    counts = collect(frame.select(named(nameless).count()), n_expressions=len(nameless)).row(0)
    filled = [name for name, count in zip(nameless, counts, strict=True) if count]
    if len(filled) > 1:
        raise values_without_name(printable(file.name), f"{len(filled)} columns", skip)
    empty = [name for name in nameless if name not in filled]
    return frame.drop(empty).rename(dict.fromkeys(filled, ""))


def _as_floats(dtype: pl.DataType, small: bool) -> bool:
    """Tell whether a column of integers should be read as floats.

    Either they need more than 64 bits, or only the first rows are known and
    decimals may follow.
    """
    import polars as pl

    return dtype.is_integer() and (not small or dtype != pl.Int64)


def usual_form(dialect: Dialect, options: ReadingOptions) -> Form | None:
    """Say what settles a number such as 1,234: the options, or how the file is written."""
    if options.decimal is not None or options.thousands is not None:
        decimal = options.decimal or ("," if options.thousands == "." else ".")
        return Form(decimal, options.thousands or ("," if decimal == "." else "."))
    if dialect.decimal_comma:
        return Form(",", ".")
    # Who writes decimal commas does not delimit fields by commas.
    return Form(".", ",") if dialect.delimiter == "," else None


def _doubt_codes(
    cleaned: Cleaned, schema: dict[str, pl.DataType], file: TextFile, n_rows: int | None
) -> None:
    """Say which numbers start with zeros, as codes do, among all rows or the first `n_rows`."""
    # Integers of a large file are read as floats.
    numbers = [
        name
        for name, dtype in schema.items()
        if dtype.is_integer() or (n_rows is not None and dtype.is_float())
    ]
    if not numbers:
        return
    zeros = named(numbers).str.strip_chars().str.contains(r"^0\d+$").any()
    words = file.words() if n_rows is None else file.words().head(n_rows)
    flags = collect(words.select(zeros), n_expressions=len(numbers)).row(0)
    for name, flag in zip(numbers, flags, strict=True):
        if flag:
            text = "numbers that start with a zero, as codes do, read as numbers"
            cleaned.said.setdefault(name, []).append(text)


def _doubt_points(cleaned: Cleaned, schema: dict[str, pl.DataType], file: TextFile) -> None:
    """Refuse numbers such as 1.234 where another column has decimal commas."""
    said = "',' read as the decimal mark"
    if not any(said in words for words in cleaned.said.values()):
        return
    floats = [name for name, dtype in schema.items() if dtype.is_float()]
    if not floats:
        return
    cells = file.words().select(named(floats))
    grouped = named(floats).str.strip_chars().str.contains(r"^[+-]?[1-9]\d{0,2}\.\d{3}$")
    flags = collect(cells.select(grouped.all()), n_expressions=len(floats)).row(0)
    for name, doubtful in zip(floats, flags, strict=True):
        if doubtful:
            first = collect(cells.select(column(name)).head(1), n_expressions=1).item()
            reason = "has '.', which may be a thousands separator, as other columns use commas"
            cleaned.refusals[name] = Refusal(reason, ((first, 0),), "marks")
