"""Workbooks (.xlsx, .xls, .ods) as tables: one sheet, read as a whole."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from reldep.data.cells import ROW, Cleaned, clean_words
from reldep.data.checks import check_choice, listing, printable
from reldep.data.dialect import check_header, units_in
from reldep.data.queries import column, not_as_named, reading_errors
from reldep.data.rows import Places
from reldep.data.sources import check_archive
from reldep.data.table import Table, finished_table
from reldep.exceptions import InputError, Option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from reldep.data.options import ReadingOptions

# The reader makes room for every cell between the first and the last one.
MOST_CELLS = 150_000_000
MOST_EMPTY_CELLS = 20_000_000
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3})(\d{1,7})["']""")
_PIECE = 1 << 20


def open_workbook(path: Path, options: ReadingOptions) -> Table:
    """Open one sheet of a workbook: the first, or the one that the options name."""
    try:
        import fastexcel
    except ImportError:
        raise ImportError(
            f"reading {printable(path)} needs an extra package: pip install 'reldep[excel]'"
        ) from None
    failures: tuple[type[BaseException], ...] = (*reading_errors(), fastexcel.FastExcelError)
    mark = b"\xd0\xcf\x11\xe0" if path.suffix.lower() == ".xls" else b"PK"
    check_archive(path)
    _check_extent(path)
    try:
        book = fastexcel.read_excel(path)
        sheet = _choose(book.sheet_names, options, path)
        return _open_sheet(book, sheet, path, options)
    except failures as error:
        raise not_as_named(
            path, f"an Excel or OpenDocument workbook ({path.suffix.lower()})", mark, error
        ) from error


def _choose(names: list[str], options: ReadingOptions, path: Path) -> str:
    """Find the sheet to read."""
    wanted = options.sheet
    if wanted is None:
        return names[0]
    # A number that was typed is a name if there is such a sheet.
    if isinstance(wanted, str) and wanted not in names and wanted.isdecimal():
        wanted = int(wanted)
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(names):
            raise InputError(
                f"is not there: {printable(path)} has {len(names)} sheets, {listing(names)}.",
                argument="sheet",
                value=wanted,
            )
        return names[wanted - 1]
    check_choice("sheet", wanted, names)
    return wanted


def _open_sheet(book: Any, sheet: str, path: Path, options: ReadingOptions) -> Table:
    """Read a sheet: find its header, then the types of its columns."""
    names = book.sheet_names
    words = _load(book, sheet, 0, dtypes="string")
    first = options.skip_rows
    while first < words.height and not any(_text(value) for value in words.row(first)):
        first += 1
    if first >= words.height:
        others = [name for name in names if name != sheet]
        also: list[str | Option] = []
        if others:
            also = [f"It also has {listing(others)}: pass ", Option("sheet", others[0]), "."]
        raise InputError(
            f"{printable(path)} is empty: its sheet {sheet!r} has no columns and no rows.", also
        )
    said = []
    if options.sheet is None and len(names) > 1:
        said.append(f"the sheet {sheet!r} was read, the first of {listing(names)}")
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
        raise InputError(f"{printable(path)} has {width} columns, but no rows.")
    frame = _typed(book, sheet, start, words, header, path)
    schema = {name: kind for name, kind in frame.collect_schema().items() if name != ROW}
    cleaned = clean_words(frame, schema, na=options.na)
    exact = _exact_numbers(cleaned, schema, book, sheet, start, header)
    return finished_table(
        str(path), exact, options, places=Places("line", start + 1), said=tuple(said)
    )


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
            raise InputError(
                f"{printable(path)} has several columns without a name that hold values.",
                "Give every column a name of its own.",
            )
        is_text = series.dtype in (pl.String, pl.Null)
        kept.append((text.to_series(position) if is_text else _whole(series)).alias(name))
    frame = pl.DataFrame(kept).with_row_index(ROW)
    some = pl.any_horizontal(pl.exclude(ROW).is_not_null())
    return frame.filter(some).lazy()


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


def _check_extent(path: Path) -> None:
    """Refuse a sheet whose last cell is so far out that the space between would fill memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.startswith("xl/worksheets/") and info.filename.endswith(".xml"):
                    area, n_cells = _extent(_pieces(archive, info))
                elif info.filename == "content.xml":
                    area = n_cells = _repeated_cells(_pieces(archive, info))
                else:
                    continue
                if area > MOST_CELLS or (area > MOST_EMPTY_CELLS and area > 20 * n_cells):
                    raise InputError(
                        f"{printable(path)} spreads {n_cells:,} values over {area:,} cells, more "
                        "than are read.",
                        "Delete stray cells far from the table, or save the sheet as CSV.",
                    )
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        expat.ExpatError,
    ):
        return  # the reader will say what is wrong with it


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as file:
        while piece := file.read(_PIECE):
            yield piece


def _extent(pieces: Iterator[bytes]) -> tuple[int, int]:
    """Count the cells between the first and the last one, and those that are there."""
    rows, columns = [1 << 30, 0], [1 << 30, 0]
    n_cells, rest = 0, b""
    for piece in pieces:
        data = rest + piece
        found = _PLACE.findall(data)
        rest = data[-40:] if len(data) > 40 else b""
        if not found:
            continue
        n_cells += len(found)
        letters = {_column_number(name) for name, _ in found}
        numbers = np.array([int(number) for _, number in found])
        columns = [min(columns[0], *letters), max(columns[1], *letters)]
        rows = [min(rows[0], int(numbers.min())), max(rows[1], int(numbers.max()))]
    if not n_cells:
        return 0, 0
    return (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1), n_cells


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _repeated_cells(pieces: Iterator[bytes]) -> int:
    """Count the cells with a value of an OpenDocument sheet, repeated ones as often as they are."""
    total = 0
    times = 1

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal total, times
        if name == "table:table-row":
            times = int(attributes.get("table:number-rows-repeated", "1"))
        elif name == "table:table-cell" and "office:value-type" in attributes:
            total += times * int(attributes.get("table:number-columns-repeated", "1"))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    for piece in pieces:
        parser.Parse(piece)
    return total
