"""Sheets of workbooks (.xlsx, .xls, .ods) as cells."""

from __future__ import annotations

import html
import logging
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from reldep.arguments import check_choice
from reldep.exceptions import InputError
from reldep.files.byte_sources import Source
from reldep.files.cells import Cells, table_of_cells
from reldep.files.header import PREAMBLE, check_rows, first_full_record, header_of_records
from reldep.files.read import Reading
from reldep.files.table import Table
from reldep.system import import_extra
from reldep.words import counted, listing

# Maximum number of cells between the first and the last one, as a million rows of a hundred columns
# are a large sheet, not an attack; and if most are empty. The reader makes room for each.
_MOST_CELLS, _MOST_EMPTY_CELLS = 150_000_000, 20_000_000
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3})(\d{1,7})["']""")
_ROW_PLACE = re.compile(rb"""<(?:\w+:)?row\b[^>]*\br=["'](\d{1,7})["']""")
_ROW_TAG = re.compile(rb"<(?:\w+:)?row[ />]")
_HIDDEN_ROW = re.compile(rb"""<(?:\w+:)?row\b[^>]*\bhidden=["'](?:1|true)["']""")
_TAG = re.compile(rb"<(?:\w+:)?(?:sheet|Relationship)\b[^>]*>")
_ATTRIBUTE = re.compile(rb"""([\w:]+)=(?:"([^"]*)"|'([^']*)')""")
_ERROR = re.compile(rb"""\bt=["']e["']""")
# A formula whose value was not stored, by a program that does not compute.
_OPEN_FORMULA = re.compile(rb"<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*</(?:\w+:)?c>")
_CELL_TAG = re.compile(rb"<(?:\w+:)?c[ />]")
_COUNTED = {
    "cells": _CELL_TAG,
    "errors": _ERROR,
    "open formulas": _OPEN_FORMULA,
    "hidden rows": _HIDDEN_ROW,
}
# Bytes of XML that are looked at together: a piece of a large sheet is little memory.
_PIECE = 1 << 20
_DAMAGES = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError)


def read_workbook(source: Source, options: Reading) -> Table:
    """Return the table of one sheet: the first, or the one that the options name."""
    name = source.name
    fastexcel = import_extra("fastexcel", extra="excel", purpose=f"reading {name}")
    sheets = _look(source, name)
    with _quiet_reader():
        try:
            book = fastexcel.read_excel(source.content)
            sheet = _choose(book, options, name)
            cells = _read_sheet(book, sheet, source, options)
            names = [
                f"{one} (hidden)" if _is_hidden(book, one) else one for one in book.sheet_names
            ]
        except fastexcel.FastExcelError as error:
            if "Cell limit exceeded" in str(error):  # an OpenDocument sheet
                raise _too_far(name, "its values over more cells than are read") from error
            raise
    notes = [*source.notes]
    if options["sheet"] is None and len(names) > 1:
        notes.append(f"the sheet {sheet!r} was read, of {listing(names)}")
    facts = sheets.get(sheet, Counter())
    n_hidden = facts["hidden rows"]
    notes += cells.notes
    if facts["errors"]:
        n_errors = counted(facts["errors"], "cell")
        notes.append(f"{n_errors} with errors of formulas, such as #DIV/0!, read as missing")
    if facts["open formulas"]:
        notes.append(
            f"{counted(facts['open formulas'], 'formula')} without a value read as missing: open "
            "the workbook in a spreadsheet program and save it"
        )
    if n_hidden:
        rows = "1 row is" if n_hidden == 1 else f"{n_hidden:,} rows are"
        notes.append(f"{rows} hidden in the sheet, as by a filter, and read like the others")
    return table_of_cells(replace(cells, notes=tuple(notes)), options)


@contextmanager
def _quiet_reader() -> Iterator[None]:
    """Suppress what the reader logs about types that it guesses; they are found again here."""
    logs = [logging.getLogger(name) for name in ("fastexcel", "calamine")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _choose(book: Any, options: Reading, name: str) -> str:
    """Return the sheet to read: by default the first that people see."""
    names: list[str] = book.sheet_names
    wanted = options["sheet"]
    if not names:
        raise InputError(f"{name} is damaged, or empty: it has no sheets.")
    if wanted is None:
        return next((one for one in names if not _is_hidden(book, one)), names[0])
    # A number that was typed is a name if there is such a sheet.
    if isinstance(wanted, str) and wanted not in names and wanted.isdecimal():
        wanted = int(wanted)
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(names):
            raise InputError(
                f"`sheet={wanted!r}` is not there: {name} has the sheets {listing(names)}."
            )
        return names[wanted - 1]
    check_choice("sheet", wanted, names)
    return wanted


def _is_hidden(book: Any, sheet: str) -> bool:
    if len(book.sheet_names) == 1:
        return False
    loaded = book.load_sheet(sheet, header_row=None, n_rows=1)
    return bool(getattr(loaded, "visible", "visible") != "visible")


def _read_sheet(book: Any, sheet: str, source: Source, options: Reading) -> Cells:
    """Return the cells of a sheet below its header, without empty rows."""
    name, words = source.name, _load(book, sheet, dtypes="string")
    rows = [_texts(words, row) for row in range(min(PREAMBLE, words.height))]
    first = options["skip_rows"]
    while first < words.height and not any(_texts(words, first)):
        first += 1
    if first >= words.height:
        others = [one for one in book.sheet_names if one != sheet]
        also = f" It also has {listing(others)}: pass `sheet={others[0]!r}`." if others else ""
        raise InputError(f"{name} is empty: its sheet {sheet!r} has no columns and no rows.{also}")
    width = max(i + 1 for i, one in enumerate(_texts(words, first)) if one)
    if not options["header"]:
        width = words.width
    header = header_of_records(
        [_texts(words, row)[:width] for row in range(first, min(first + 3, words.height))],
        name,
        first + 1,
        has_header=options["header"],
        skip_rows=first_full_record(rows),
        is_text=False,
    )
    start = first + header.n_before
    check_rows(words.height - start, [one for one in header.names if one], name)
    nameless = [""] * (words.width - len(header.names))
    own = [one or f"\0{i}" for i, one in enumerate((*header.names, *nameless))]
    text, typed = words.slice(start), _load(book, sheet, skip=start)
    filled = text.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()

    def of(frame: pl.DataFrame, wanted: list[str]) -> pl.DataFrame:
        return pl.DataFrame([frame.to_series(own.index(one))[filled].alias(one) for one in wanted])

    def exact(one: str) -> pl.Series:
        return of(_load(book, sheet, skip=start, dtypes={own.index(one): "float"}), [one])[one]

    return Cells(
        source.name,
        tuple(own),
        lambda wanted: of(text, wanted),
        (filled + start + 1).to_numpy().astype("int64"),
        typed=lambda wanted: of(typed, wanted),
        exact=exact,
        skip_rows=header.skip_rows,
        notes=header.notes,
    )


def _load(book: Any, sheet: str, *, skip: int = 0, **options: Any) -> pl.DataFrame:
    frame: pl.DataFrame = book.load_sheet(
        sheet, header_row=None, skip_rows=skip, schema_sample_rows=None, **options
    ).to_polars()
    return frame


def _texts(words: pl.DataFrame, row: int) -> list[str]:
    return ["" if value is None else str(value).strip() for value in words.row(row)]


def _look(source: Source, name: str) -> dict[str, Counter[str]]:
    """Return what the XML of every sheet shows.

    Raises
    ------
    ValueError
        If a far cell would fill the memory.
    """
    found: dict[str, Counter[str]] = {}
    try:
        with zipfile.ZipFile(source.file()) as archive:
            known = {info.filename: info for info in archive.infolist()}
            for part, info in known.items():
                if not (part.startswith("xl/worksheets/") and part.endswith(".xml")):
                    continue
                with archive.open(info) as file:
                    facts = found[part] = _facts(iter(partial(file.read, _PIECE), b""))
                area, n_cells = facts["last row"] * facts["last column"], facts["cells"]
                if area > _MOST_CELLS or (area > _MOST_EMPTY_CELLS and area > 20 * n_cells):
                    what = f"{n_cells:,} values over {area:,} cells, more than are read"
                    raise _too_far(name, what)
            parts = _parts(archive, known)
    except _DAMAGES:
        return {}  # an old workbook, or the reader will say what is wrong with it
    return {sheet: found[part] for sheet, part in parts.items() if part in found}


def _too_far(name: str, what: str) -> InputError:
    return InputError(
        f"{name} spreads {what}. Delete stray cells far from the table, or save the sheet as CSV."
    )


def _parts(archive: zipfile.ZipFile, known: Container[str]) -> dict[str, str]:
    """Return the file of every sheet within the archive."""
    book, relations = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
    if book not in known or relations not in known:
        return {}
    targets = {one.get("Id"): one.get("Target", "") for one in _tags(archive.read(relations))}
    found = {}
    for sheet in _tags(archive.read(book)):
        target = targets.get(sheet.get("r:id", ""), "")
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if part in known:
            found[sheet.get("name", "")] = part
    return found


def _tags(data: bytes) -> list[dict[str, str]]:
    return [
        {
            name.decode(): html.unescape((one or two).decode("utf-8", "replace"))
            for name, one, two in _ATTRIBUTE.findall(tag)
        }
        for tag in _TAG.findall(data)
    ]


def _facts(pieces: Iterator[bytes]) -> Counter[str]:
    """Return the last place of a sheet, and how many rows and cells of a kind its XML shows.

    A cell or row without a place of its own follows the one before it.
    """
    facts, rest = Counter[str](), b""
    for piece in (*pieces, b"<row "):
        data = rest + piece
        starts = [match.start() for match in _ROW_TAG.finditer(data)]
        if not starts:
            rest = data
            continue
        whole, rest = data[: starts[-1]], data[starts[-1] :]
        here = {what: len(pattern.findall(whole)) for what, pattern in _COUNTED.items()}
        facts.update(here, rows=len(starts) - 1)
        found = _PLACE.findall(whole)
        rows = [int(number) for _, number in found] + [*map(int, _ROW_PLACE.findall(whole))]
        columns = {_column_number(name) for name, _ in found}
        if here["cells"] > len(found):
            columns |= {len(_CELL_TAG.findall(row)) for row in _ROW_TAG.split(whole)}
        facts["last row"] = max(facts["last row"], facts["rows"], *rows, 0)
        facts["last column"] = max(facts["last column"], *columns, 0)
    return facts


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
