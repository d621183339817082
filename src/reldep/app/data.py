"""The data: what files contain, as plain values, and the part of the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reldep.app.choices import IGNORED, KINDS, READING_FIELDS, TEXT
from reldep.app.fields import button, fields, form, in_page, labelled, option
from reldep.app.jobs import CANCELLED
from reldep.app.sessions import ACCEPTED, Session
from reldep.exceptions import InputError
from reldep.files.read import READING, read
from reldep.files.table import Table
from reldep.report.html import Markup, element, joined, section
from reldep.report.text import plain
from reldep.words import cell, counted

if TYPE_CHECKING:
    import polars as pl

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
        column["picture"] = _histogram(sample[name])
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
            "sheets": _sheet_names(files),
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


def _sheet_names(files: Sequence[str]) -> list[str]:
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


def _histogram(values: pl.Series) -> dict[str, Any] | None:
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
    """Count numbers in at most 16 equal bins, of six pixels each."""
    import numpy as np

    halves = values / 2  # a range may be wider than a number can say
    bins = min(16, len(np.unique(halves)))
    span = float(halves.max() - halves.min()) or 1.0
    places = ((halves - halves.min()) / span * bins).astype(int).clip(0, bins - 1)
    counts: list[int] = np.bincount(places, minlength=bins).tolist()
    return counts


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


# Kinds whose name does not say enough.
KIND_WORDS = {TEXT: "text, compared by its words"}
# The word of the readers is long, and the cells below say more.
FOUND_WORDS = {"numbers and words": "unclear", "integer": "number"}
WHAT = element(
    "p",
    "Is X more closely related to Y or to Z? Give a table, put its columns into a question, and "
    "read the answer.",
    class_="what",
)


def data_part(session: Session) -> Markup:
    """Return the first part of the page."""
    if not session.names or session.awaited:
        names = ", ".join(session.awaited)
        open_ = f"The session is open. Now choose its data again: {names}."
        said = element("p", open_, class_="note") if names else WHAT
        return section("1. Data", said, _drop_zone(session), name="data")
    table = session.table
    if table is None:
        return section("1. Data", *_without_table(session), _drop_zone(session), name="data")
    return section(
        "1. Data",
        _opening(table),
        *(element("p", text, class_="caution") for text in table["cautions"]),
        _sheets(session, table),
        _columns(session, table),
        _preview(table),
        _reading(session),
        element("details", element("summary", "Another file"), _drop_zone(session), id="other"),
        name="data",
    )


def _without_table(session: Session) -> list[Markup]:
    """Return that a file is being read; where that failed, let people say how it is to be read."""
    names = ", ".join(session.names)
    if session.is_busy:
        return [element("p", f"Reading {names} …", class_="note")]
    is_stopped = session.job is not None and session.job.state == CANCELLED
    why = "was not read to the end" if is_stopped else "could not be read as it is"
    return [element("p", f"{names} {why}.", class_="note"), _reading(session, opened=True)]


def _drop_zone(session: Session) -> Markup:
    add = ""
    if session.names:
        text = "Join another file to this one: "
        add = element("p", element("label", text, for_="add-file"), _file("add-file", "add"))
    kinds = "CSV, Excel, Parquet, SPSS, Stata, R and others. It stays on this machine."
    saved = element("input", type="file", id="session-file", accept=".json")
    label = element("label", "Open a saved session: ", for_="session-file")
    return joined(
        element(
            "div",
            element("label", "Drop a file here, or choose one:", for_="file"),
            _file("file", "new"),
            element("p", kinds, class_="hint"),
            class_="drop",
            id="drop",
        ),
        add,
        element(
            "div",
            form("mice", button("Try it with the mice")),
            element("p", label, saved),
            class_="row",
        ),
    )


def _file(name: str, upload: str) -> Markup:
    return element("input", type="file", id=name, data_upload=upload, accept=ACCEPTED)


def _opening(table: dict[str, Any]) -> Markup:
    size = f"{counted(table['n_rows'], 'row')}, {counted(len(table['columns']), 'column')}"
    return joined(
        element("p", element("strong", table["name"]), f": {size}", id="size"),
        element("p", table["joined"], class_="note") if table["joined"] else "",
    )


def _sheets(session: Session, table: dict[str, Any]) -> Markup:
    if len(table["sheets"]) < 2:
        return Markup()
    now = str(session.choices.reading.get("sheet", table["sheets"][0]))
    entries = [option(name, name, now) for name in table["sheets"]]
    control = element("select", *entries, name="sheet", id="sheet", form="reading", data_auto="")
    return labelled("sheet", "Sheet", control)


def _columns(session: Session, table: dict[str, Any]) -> Markup:
    """Return the columns, to be chosen, dragged, and given another kind."""
    shown = table["columns"][:MOST_COLUMNS]
    rows = [_column(session, position, column) for position, column in enumerate(shown)]
    heads = [element("th", h, scope="col") for h in ("Column", "Kind", "Missing", "Values")]
    how = "Tick columns, then put them into a place of the question; or drag them there."
    more = len(table["columns"]) - len(shown)
    find = {"type": "search", "id": "find", "autocomplete": "off", "placeholder": "gene_*"}
    listed = element(
        "table",
        element("caption", element("span", how)),
        element("thead", element("tr", *heads)),
        element("tbody", *rows, id="columns"),
    )
    return element(
        "div",
        element(
            "div",
            element("label", "Find columns", for_="find"),
            element("input", **find),
            element("button", "Select all shown", type="button", id="select-shown"),
            element("button", "Clear", type="button", id="clear"),
            element("span", "", id="selected", role="status"),
            class_="tools",
        ),
        form("place", id="place"),
        form("kinds", button("Apply kinds", class_="without-script"), id="kinds"),
        _scrolled(listed, "Columns", "scroll columns"),
        element("p", f"And {more:,} more columns: write their names or a pattern.") if more else "",
    )


def _scrolled(table: Markup, name: str, look: str = "scroll") -> Markup:
    """Return a table that scrolls, also by keyboard."""
    return element("div", table, class_=look, tabindex="0", role="group", aria_label=name)


def _column(session: Session, position: int, column: dict[str, Any]) -> Markup:
    name, box = column["name"], f"column-{position}"
    fault = column.get("fault")
    kind = session.choices.kinds.get(name, "")
    notes = [element("p", text, class_="hint") for text in column.get("said") or ()]
    if fault:
        notes.insert(0, element("p", fault, class_="fault"))
    tick = element("input", type="checkbox", name="column", value=position, id=box, form="place")
    pick = element("span", tick, element("label", name, for_=box), class_="pick")
    row = element(
        "tr",
        element("th", pick, scope="row"),
        element("td", _kind(position, column, kind)),
        element("td", f"{column['n_missing']:,}", class_="number"),
        element("td", _picture(column)),
        draggable="true",
        data_column=position,
        class_="ignored" if kind == IGNORED else None,
    )
    about = element("td", *notes, colspan="4")
    return joined(row, element("tr", about, class_="about", data_about=position) if notes else "")


def _kind(position: int, column: dict[str, Any], kind: str) -> Markup:
    """Return the list of kinds that a column can be given."""
    found = column["type"]
    entries = [option("", "as found" if kind else FOUND_WORDS.get(found, found), kind)]
    entries += [
        option(word, KIND_WORDS.get(word, word), kind)
        for word in KINDS
        if kind or not FOUND_WORDS.get(found, found).startswith(word)
    ]
    name, about = f"kind-{position}", f"Kind of {column['name']}"
    sent = {"name": name, "id": name, "form": "kinds", "data_auto": "", "aria_label": about}
    return element("select", *entries, **sent)


def _picture(column: dict[str, Any]) -> Markup:
    """Return a small histogram; those who do not see it hear the range or the labels."""
    drawn = column.get("picture")
    if not drawn:
        return element("span", column["example"], class_="hint")
    counts, most = drawn["counts"], max(drawn["counts"])
    width, high = 96, 22  # pixels
    wide = width / max(len(counts), 2)
    bars = [
        element(
            "rect",
            x=f"{i * wide:.1f}",
            y=f"{high - high * count / most:.1f}",
            width=f"{wide - 1:.1f}",
            height=f"{high * count / most:.1f}",
        )
        for i, count in enumerate(counts)
    ]
    words = _in_words(column, drawn)
    size = {"width": width, "height": high, "viewBox": f"0 0 {width} {high}"}
    look = {"role": "img", "aria_label": words, "class_": "bars"}
    drawing = element("svg", element("title", words), *bars, **size, **look)
    return joined(drawing, element("span", words, class_="hint small"))


def _in_words(column: dict[str, Any], drawn: dict[str, Any]) -> str:
    if column["minimum"] is not None:
        return f"{column['minimum']:.4g} to {column['maximum']:.4g}"
    if column["n_unique"] == 2:
        return ", ".join(drawn["labels"])
    return f"{column['n_unique']:,} different" if column["n_unique"] is not None else ""


def _preview(table: dict[str, Any]) -> Markup:
    """Return the first rows, folded away."""
    names = [column["name"] for column in table["columns"][:MOST_COLUMNS]]
    head = element("tr", *(element("th", name, scope="col") for name in names))
    rows = [element("tr", *(element("td", cell) for cell in row)) for row in table["preview"]]
    shown = element("table", element("thead", head), element("tbody", *rows))
    summary = element("summary", f"The first {counted(len(rows), 'row')}")
    return element("details", summary, _scrolled(shown, "The first rows"), id="preview")


def _reading(session: Session, *, opened: bool = False) -> Markup:
    """Return how the file is read, folded away."""
    join = {"join": READING["join"]} if len(session.names) > 1 else {}
    asked = form(
        "reading",
        *fields({**join, **READING_FIELDS}, session.choices.reading, (), "reading"),
        button("Read again"),
        id="reading",
        class_="fields",
    )
    summary, unfolded = element("summary", "How the file is read"), "" if opened else None
    return element("details", summary, asked, id="how-read", open=unfolded)
