"""What a file contains, as plain values: columns, their kinds, small histograms, the first rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reldep.app.fields import in_page
from reldep.exceptions import InputError
from reldep.files.read import read
from reldep.report.tables import plain
from reldep.words import cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from reldep.files.table import Table

# Columns that are shown one by one: the page stays below a megabyte, as each takes two kilobytes.
MOST_COLUMNS = 400
# Rows that histograms are drawn from: enough that a bar is right to a pixel.
HISTOGRAM_ROWS = 20_000
# What to do about a column that is neither numbers nor labels, by the kind of its doubt.
WAYS_ON = {
    "marks": "Say under “How the file is read” which marks the file uses, or choose the kind "
    "number to keep only cells that are written like most.",
    "units": "Convert them to one unit, or choose the kind category to make all cells labels.",
    "dates": "Write dates as 2024-01-31, or choose the kind category to make all cells labels.",
    "stated": "Choose another kind.",
}
WORKBOOKS = (".xlsx", ".xls", ".ods")


def described(files: Sequence[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is in files."""
    options = dict(reading)
    if len(files) > 1 and "join" not in options:
        options["join"] = _common_column(files, reading)
    table = read(list(files), **options)
    shown = list(table.columns)[:MOST_COLUMNS]
    descriptions = [asdict(column) for column in table.describe(shown)]
    # Of the others it is enough to know what they are called.
    others = list(table.columns.items())[MOST_COLUMNS:]
    descriptions += [{"name": name, "type": str(kind)} for name, kind in others]
    sample = table.load(shown).head(HISTOGRAM_ROWS)
    for name, column in zip(shown, descriptions, strict=False):
        column["picture"] = _picture(sample[name])
        column["fault"] = _fault(table, name)
        column["said"] = [f"{text}." for text in table.column_said.get(name, ())]
    result: dict[str, Any] = plain(
        {
            "name": table.name,
            "join": options.get("join"),
            "joined": table.joined,
            "n_rows": len(table),
            "columns": descriptions,
            "preview": [[_cell(value) for value in row] for row in sample.head(8).rows()],
            "cautions": [in_page(note) for note in table.notes_about([])],
            "sheets": _sheets(files),
        }
    )
    return result


def _common_column(files: Sequence[str], reading: Mapping[str, Any]) -> str:
    """Return the column that several files can be joined on: the first that all of them have."""
    columns = [list(read(file, **reading).columns) for file in files]
    common = [name for name in columns[0] if all(name in others for others in columns[1:])]
    if not common:
        raise InputError("the files have no column in common; they cannot be joined.")
    return common[0]


def _sheets(files: Sequence[str]) -> list[str]:
    """Return the sheets of a workbook; other files have none."""
    if len(files) != 1 or Path(files[0]).suffix.lower() not in WORKBOOKS:
        return []
    from fastexcel import read_excel

    return list(read_excel(files[0]).sheet_names)


def _fault(table: Table, name: str) -> str | None:
    """Return the cells that keep a column from being what the others are."""
    doubt = table.doubts.get(name)
    if doubt is None:
        return None
    cells = [
        f"{cell(text)} in {doubt.place(row)}"
        for text, row in zip(doubt.cells, doubt.rows, strict=True)
    ]
    noun = {"words": "number", "limits": "number", "dated": "date"}.get(doubt.kind)
    if noun is not None:
        shown = " ".join(f"{one} is not a {noun}." for one in cells)
        return (
            f"{shown} Choose the kind {noun} to make such cells missing, or category to make all "
            "cells labels."
        )
    return f"The column {doubt.reason}: {', '.join(cells)}. {WAYS_ON[doubt.kind]}"


def _picture(values: pl.Series) -> dict[str, Any] | None:
    """Count values for a small histogram, or for bars of the most frequent ones."""
    import polars as pl

    present = values.drop_nulls()
    if len(present) == 0:
        return None
    if present.dtype.is_numeric():
        finite = present.cast(pl.Float64)
        finite = finite.filter(finite.is_finite())
        if len(finite) == 0:
            return None
        return {"counts": _counts(finite.to_numpy())}
    if present.dtype.is_nested() or present.dtype.is_temporal():
        return None
    found = present.cast(pl.String).value_counts(sort=True).head(8)
    labels, counts = found.get_columns()
    return {"counts": counts.to_list(), "labels": [_cell(one) for one in labels.to_list()]}


def _counts(values: Any) -> list[int]:
    """Count numbers in equal bins; their range may be wider than a number can say."""
    import numpy as np

    bins = 16  # six pixels each
    low, high = float(values.min()), float(values.max())
    span = high / 2 - low / 2
    if span <= 0:
        return [len(values)]
    if 2 * span < bins and (values == np.round(values)).all():
        return [int(count) for count in np.bincount((values - low).astype(int))]
    places = ((values / 2 - low / 2) / span * bins).astype(int).clip(0, bins - 1)
    return [int(count) for count in np.bincount(places, minlength=bins)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
