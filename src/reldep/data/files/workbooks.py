"""Workbooks (.xlsx, .xls, .ods) as tables: one sheet, read as a whole."""

from __future__ import annotations

import html
import logging
import re
import subprocess
import sys
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from reldep.data.cells import ROW, Cleaned, clean_words
from reldep.data.checks import check_choice, listing, printable
from reldep.data.files.dialect import check_header, first_full_record, units_in, values_without_name
from reldep.data.files.queries import column, not_as_named, reading_errors
from reldep.data.files.sources import check_archive
from reldep.data.files.table import Table, finished_table
from reldep.data.files.totals import totals
from reldep.data.rows import Places
from reldep.exceptions import InputError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    import polars as pl

    from reldep.data.files.options import ReadingOptions

# The reader makes room for every cell between the first and the last one.
MOST_CELLS = 150_000_000
MOST_EMPTY_CELLS = 20_000_000
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3})(\d{1,7})["']""")
_ROW_PLACE = re.compile(rb"""<(?:\w+:)?row\b[^>]*\br=["'](\d{1,7})["']""")
_ROW_TAG = re.compile(rb"<(?:\w+:)?row[ />]")
_HIDDEN_ROW = re.compile(rb"""<(?:\w+:)?row\b[^>]*\bhidden=["'](?:1|true)["']""")
_TAG = re.compile(rb"<(?:\w+:)?(?:sheet|Relationship)\b[^>]*>")
_ATTRIBUTE = re.compile(rb"""([\w:]+)=(?:"([^"]*)"|'([^']*)')""")
_ERROR = re.compile(rb"""\bt=["']e["']""")
_CELL_TAG = re.compile(rb"<(?:\w+:)?c[ />]")
_PIECE = 1 << 20
# A header is looked for among so many rows.
_PREAMBLE = 50
OLD_MARK = b"\xd0\xcf\x11\xe0"
# Reads all sheets, with no more memory than a workbook of 65,536 rows can need.
_ATTEMPT = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
except ImportError:
    pass
import fastexcel
try:
    book = fastexcel.read_excel(sys.argv[1])
    for name in book.sheet_names:
        book.load_sheet(name, header_row=None)
except fastexcel.FastExcelError:
    pass  # said again where it can be explained
"""


def open_workbook(path: Path, options: ReadingOptions) -> Table:
    """Open one sheet of a workbook: the first, or the one that the options name."""
    try:
        import fastexcel
    except ImportError:
        raise ImportError(
            f"reading {printable(path)} needs an extra package: pip install 'reldep[excel]'"
        ) from None
    failures: tuple[type[BaseException], ...] = (*reading_errors(), fastexcel.FastExcelError)
    with path.open("rb") as file:
        old = file.read(4) == OLD_MARK
    mark = OLD_MARK if path.suffix.lower() == ".xls" else b"PK"
    check_archive(path)
    n_errors = _check_extent(path)
    if old:
        _try_in_child(path)
    said = []
    if n_errors:
        said.append(f"{n_errors} cells hold errors of formulas, such as #DIV/0!, read as missing")
    try:
        with _quiet_reader():
            book = fastexcel.read_excel(path)
            sheet = _choose(book, options, path)
            table = _open_sheet(book, sheet, path, options)
        n_hidden = _hidden_rows(path, sheet)
    except failures as error:
        raise not_as_named(
            path, f"an Excel or OpenDocument workbook ({path.suffix.lower()})", mark, error
        ) from error
    if n_hidden:
        rows = "1 row is" if n_hidden == 1 else f"{n_hidden:,} rows are"
        said.append(f"{rows} hidden in the sheet, as by a filter, and read like the others")
    return replace(table, said=(*table.said, *said))


@contextmanager
def _quiet_reader() -> Iterator[None]:
    """Keep in what the reader logs about types that it guesses; they are found again here."""
    logs = [logging.getLogger(name) for name in ("fastexcel", "calamine")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _hidden_rows(path: Path, sheet: str) -> int:
    """Count the hidden rows of a sheet of an .xlsx file."""
    try:
        with zipfile.ZipFile(path) as archive:
            known = {info.filename: info for info in archive.infolist()}
            info = known.get(_part_of(archive, sheet, known))
            if info is None:
                return 0
            rest, count = b"", 0
            for piece in _pieces(archive, info):
                data = rest + piece
                cut = data.rfind(b"<") if data.rfind(b"<") > 0 else len(data)
                count += len(_HIDDEN_ROW.findall(data[:cut]))
                rest = data[cut:]
            return count
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError):
        return 0  # an old workbook, or one of another kind


def _part_of(archive: zipfile.ZipFile, sheet: str, known: Container[str]) -> str:
    """Find the file of a sheet within the archive."""
    book, relations = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
    if book not in known or relations not in known:
        return ""
    sheets = {one.get("name"): one.get("r:id", "") for one in _tags(archive.read(book))}
    targets = {one.get("Id"): one.get("Target", "") for one in _tags(archive.read(relations))}
    target = targets.get(sheets.get(sheet), "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _tags(data: bytes) -> list[dict[str, str]]:
    return [
        {
            name.decode(): html.unescape((one or two).decode("utf-8", "replace"))
            for name, one, two in _ATTRIBUTE.findall(tag)
        }
        for tag in _TAG.findall(data)
    ]


def _try_in_child(path: Path) -> None:
    """Refuse an old workbook that its reader does not survive: a damaged one may take all memory.

    The reader ends the process that it runs in, so another process tries first.
    """
    command = [sys.executable, "-P", "-c", _ATTEMPT, str(path.absolute())]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)  # noqa: S603
        survived = done.returncode == 0
    except subprocess.TimeoutExpired:
        survived = False
    if not survived:
        raise InputError(
            f"{printable(path)} is damaged, or too large to be read. Open it and save it as .xlsx "
            "or CSV."
        )


def _choose(book: Any, options: ReadingOptions, path: Path) -> str:
    """Find the sheet to read: by default the first that people see."""
    names: list[str] = book.sheet_names
    wanted = options.sheet
    if not names:
        raise InputError(f"{printable(path)} is damaged, or empty: it has no sheets.")
    if wanted is None:
        return next((name for name in names if not _is_hidden(book, name)), names[0])
    # A number that was typed is a name if there is such a sheet.
    if isinstance(wanted, str) and wanted not in names and wanted.isdecimal():
        wanted = int(wanted)
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(names):
            raise InputError(
                f"`sheet={wanted!r}` is not there: {printable(path)} has {len(names)} sheets, "
                f"{listing(names)}."
            )
        return names[wanted - 1]
    check_choice("sheet", wanted, names)
    return wanted


def _is_hidden(book: Any, sheet: str) -> bool:
    if len(book.sheet_names) == 1:
        return False
    loaded = book.load_sheet(sheet, header_row=None, n_rows=1)
    return getattr(loaded, "visible", "visible") != "visible"


def _open_sheet(book: Any, sheet: str, path: Path, options: ReadingOptions) -> Table:
    """Read a sheet: find its header, then the types of its columns."""
    names = book.sheet_names
    words = _load(book, sheet, 0, dtypes="string")
    first = options.skip_rows
    while first < words.height and not any(_text(value) for value in words.row(first)):
        first += 1
    if first >= words.height:
        others = [name for name in names if name != sheet]
        also = f" It also has {listing(others)}: pass `sheet={others[0]!r}`." if others else ""
        raise InputError(
            f"{printable(path)} is empty: its sheet {sheet!r} has no columns and no rows.{also}"
        )
    said = []
    if options.sheet is None and len(names) > 1:
        shown = [f"{name} (hidden)" if _is_hidden(book, name) else name for name in names]
        said.append(f"the sheet {sheet!r} was read, of {listing(shown)}")
    header = [_text(value) for value in words.row(first)]
    width = max((i + 1 for i, name in enumerate(header) if name), default=0)
    if options.header:
        said += check_header([name for name in header[:width] if name], str(path), first + 1)
        start = first + 1
        if start + 1 < words.height and units_in(
            *([_text(value) for value in words.row(start + i)][:width] for i in (0, 1))
        ):
            said.append(f"line {start + 1} holds units, not an observation, and was left out")
            start += 1
    else:
        width, start = words.width, first
        header = [f"c{i + 1}" for i in range(width)]
    if start >= words.height:
        raise InputError(f"{printable(path)} has {counted(width, 'column')}, but no rows.")
    frame = _typed(book, sheet, start, words, header, path)
    schema = {name: kind for name, kind in frame.collect_schema().items() if name != ROW}
    cleaned = clean_words(frame, schema, na=options.na)
    exact = _exact_numbers(cleaned, schema, book, sheet, start, header)
    places = Places("line", start + 1)
    said += totals(exact, places, words.height - start)
    return finished_table(str(path), exact, options, places=places, said=tuple(said))


def _load(book: Any, sheet: str, skip: int, **options: Any) -> pl.DataFrame:
    frame: pl.DataFrame = book.load_sheet(
        sheet, header_row=None, skip_rows=skip, schema_sample_rows=None, **options
    ).to_polars()
    return frame


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _typed(
    book: Any, sheet: str, start: int, words: pl.DataFrame, header: list[str], path: Path
) -> pl.LazyFrame:
    """Give the columns the types of their cells, words where these differ; drop empty rows."""
    import polars as pl

    typed = _load(book, sheet, start)
    text = words.slice(start)
    kept: list[pl.Series] = []
    for position, series in enumerate(typed.get_columns()):
        name = header[position] if position < len(header) else ""
        empty = text.to_series(position).is_null().all()
        if not name and empty:
            continue
        if not name and any(other.name == "" for other in kept):
            raise values_without_name(printable(path), "several columns", _skip(words))
        # A word such as n/a would be lost without a trace among numbers.
        lost = series.null_count() > text.to_series(position).null_count()
        is_text = series.dtype in (pl.String, pl.Null) or lost
        kept.append((text.to_series(position) if is_text else _whole(series)).alias(name))
    frame = pl.DataFrame(kept).with_row_index(ROW)
    some = pl.any_horizontal(pl.exclude(ROW).is_not_null())
    return frame.filter(some).lazy()


def _skip(words: pl.DataFrame) -> int | None:
    """Find how many rows stand before one that names every column."""
    return first_full_record(
        [[_text(value) for value in row] for row in words.head(_PREAMBLE).iter_rows()]
    )


def _whole(series: pl.Series) -> pl.Series:
    """Make integers of numbers without decimals: a workbook does not tell them apart."""
    import polars as pl

    if series.dtype == pl.Float64 and (series.abs() < 2**53).all() and (series % 1 == 0).all():
        return series.cast(pl.Int64)
    return series


def _exact_numbers(
    cleaned: Cleaned,
    schema: dict[str, pl.DataType],
    book: Any,
    sheet: str,
    start: int,
    header: list[str],
) -> Cleaned:
    """Take numbers beside words from the cells themselves: as words they are rounded."""
    import polars as pl

    found = cleaned.frame.collect_schema()
    now = [
        name
        for name, kind in schema.items()
        if kind == pl.String and found[name].is_numeric() and name not in cleaned.said
    ]
    if not now:
        return cleaned
    positions = [header.index(name) for name in now]
    floats = _load(book, sheet, start, dtypes=dict.fromkeys(positions, "float"))
    exact = pl.DataFrame(
        [floats.to_series(p).alias(name) for p, name in zip(positions, now, strict=True)]
    )
    frame = cleaned.frame.collect()
    numbers = exact[frame[ROW].cast(pl.Int64)]
    frame = frame.with_columns(
        pl.when(pl.lit(numbers[name]).is_not_null())
        .then(pl.lit(numbers[name]))
        .otherwise(column(name))
        .alias(name)
        for name in now
    )
    return replace(cleaned, frame=frame.lazy())


def _check_extent(path: Path) -> int:
    """Refuse a sheet whose last cell is so far out that the space between would fill memory.

    Return how many cells hold the error of a formula.
    """
    n_errors = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.startswith("xl/worksheets/") and info.filename.endswith(".xml"):
                    area, n_cells = _extent(_pieces(archive, info))
                    n_errors += sum(len(_ERROR.findall(part)) for part in _pieces(archive, info))
                elif info.filename == "content.xml":
                    area, n_cells = _extent_of_open(_pieces(archive, info))
                else:
                    continue
                if area > MOST_CELLS or (area > MOST_EMPTY_CELLS and area > 20 * n_cells):
                    raise InputError(
                        f"{printable(path)} spreads {n_cells:,} values over {area:,} cells, more "
                        "than are read. Delete stray cells far from the table, or save the sheet "
                        "as CSV."
                    )
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        expat.ExpatError,
    ):
        return 0  # the reader will say what is wrong with it
    return n_errors


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as file:
        while piece := file.read(_PIECE):
            yield piece


def _extent(pieces: Iterator[bytes]) -> tuple[int, int]:
    """Count the cells between A1 and the last one, and those that are there.

    A cell or row without a place of its own follows the one before it.
    """
    last_row = last_column = n_rows = n_cells = 0
    rest = b""
    for piece in (*pieces, b"<row "):
        data = rest + piece
        starts = [match.start() for match in _ROW_TAG.finditer(data)]
        if not starts:
            rest = data
            continue
        whole, rest = data[: starts[-1]], data[starts[-1] :]
        n_rows += len(starts) - 1
        found = _PLACE.findall(whole)
        n_here = len(_CELL_TAG.findall(whole))
        n_cells += n_here
        numbers = [int(number) for _, number in found]
        numbers += [int(number) for number in _ROW_PLACE.findall(whole)]
        columns = {_column_number(name) for name, _ in found}
        if n_here > len(found):
            columns |= {len(_CELL_TAG.findall(row)) for row in _ROW_TAG.split(whole)}
        last_row = max(last_row, n_rows, *numbers, 0)
        last_column = max(last_column, *columns, 0)
    return last_row * last_column, n_cells


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


@dataclass
class _OpenSheet:
    """The last cell with a value of an OpenDocument sheet, and how many there are."""

    row: int = 0
    column: int = 0
    times: int = 1
    last_row: int = 0
    last_column: int = 0
    n_cells: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Follow the places of rows and cells, which may be repeated."""
        if name == "table:table":
            self.row = 0
        elif name == "table:table-row":
            self.times = int(attributes.get("table:number-rows-repeated", "1"))
            self.row, self.column = self.row + self.times, 0
        elif name in ("table:table-cell", "table:covered-table-cell"):
            width = int(attributes.get("table:number-columns-repeated", "1"))
            self.column += width
            if "office:value-type" in attributes:
                self.n_cells += self.times * width
                self.last_row = max(self.last_row, self.row)
                self.last_column = max(self.last_column, self.column)


def _extent_of_open(pieces: Iterator[bytes]) -> tuple[int, int]:
    """Do for an OpenDocument sheet what `_extent` does for one of Excel."""
    sheet = _OpenSheet()
    parser = expat.ParserCreate()
    parser.StartElementHandler = sheet.start
    for piece in pieces:
        parser.Parse(piece)
    return sheet.last_row * sheet.last_column, sheet.n_cells
