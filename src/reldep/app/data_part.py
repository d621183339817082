"""The part of the page about the data: files, columns with their kinds, the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.app.choices import IGNORED, KINDS, READING_FIELDS, TEXT
from reldep.app.fields import button, fields, form, labelled, option
from reldep.app.jobs import CANCELLED
from reldep.app.overview import MOST_COLUMNS
from reldep.app.sessions import ACCEPTED
from reldep.files.read import READING
from reldep.report.markup import Markup, element, joined, section
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.app.sessions import Session

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
    if not session.files or session.awaited:
        return section("1. Data", _expected(session) or WHAT, _drop_zone(session), name="data")
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


def _expected(session: Session) -> Markup:
    if not session.awaited:
        return Markup()
    names = ", ".join(session.awaited)
    return element("p", f"The session is open. Now choose its data again: {names}.", class_="note")


def _without_table(session: Session) -> list[Markup]:
    """Return that a file is being read; where that failed, let people say how it is to be read."""
    names = ", ".join(session.names)
    if session.is_busy:
        return [element("p", f"Reading {names} …", class_="note")]
    is_stopped = session.job is not None and session.job.state == CANCELLED
    why = "was not read to the end" if is_stopped else "could not be read as it is"
    return [
        element("p", f"{names} {why}.", class_="note"),
        _reading(session, opened=True),
    ]


def _drop_zone(session: Session) -> Markup:
    add = ""
    if session.files:
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
    join = [READING["join"]] if len(session.files) > 1 else []
    asked = form(
        "reading",
        *fields([*join, *READING_FIELDS], session.choices.reading, (), "reading"),
        button("Read again"),
        id="reading",
        class_="fields",
    )
    summary, unfolded = element("summary", "How the file is read"), "" if opened else None
    return element("details", summary, asked, id="how-read", open=unfolded)
